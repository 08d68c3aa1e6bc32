"""How the weights of a model vary over halves of its data, where that does not take too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..families import Parametric
from ..fitting.model import Model
from ..inspection import Stability
from ..report.widths import finds_widths
from ._console import Voice, one_line

RESAMPLES = 20
SECONDS = 60.0  # that the resamples may take in all


@dataclass(frozen=True)
class Again:
    """Functions that learn anew: from one half of the samples, and from several."""

    half: Callable[[], Any]
    weights: Callable[..., Stability]
    widths: Callable[..., dict[str, Any]]
    finalists: int = 1  # models that a search chooses from in each half
    pairs: bool = False  # whether two halves can have samples of every class


def resampled(voice: Voice, model: Model, kernels: Any, again: Again, jobs: int = 1) -> dict[str, Any]:
    """Intervals for the weights or widths in a report; none, with a note, where they would take too long.

    A search chooses anew among its finalists where there is time, else what it chose on all samples is
    learned anew, and a note says so. Kernels of a continuum have other names in every
    resample: of them the widths are compared. Of models with weights for each class or cluster nothing is,
    since clusters have no names either. Halves of the samples are drawn: a bootstrap repeats samples, which
    then look like close neighbours and favour narrow kernels, so that the weights of all samples can lie
    outside its intervals.
    """
    if np.ndim(model.weights) > 1:
        return {}
    named, widths = not isinstance(kernels, Parametric), finds_widths(kernels)
    with voice.waiting("learning from half of the data"):
        one = _seconds(again.half)
    seconds = RESAMPLES * one * (named / jobs + widths / again.finalists)
    how: dict[str, Any] = {}
    if seconds > SECONDS >= seconds / again.finalists:
        voice.note(
            f"the choice of the search is not repeated on halves of the data: that would take about "
            f"{seconds:.0f} s. In Python: manykernels.inspection.weight_stability."
        )
        how, seconds = {"searched": "before"}, seconds / again.finalists
    if seconds > SECONDS:
        voice.note(
            f"the stability of the weights was skipped: {RESAMPLES} more fits would take about "
            f"{seconds:.0f} s. In Python: manykernels.inspection.weight_stability."
        )
        return {}
    draws: dict[str, Any] = {"n_resamples": RESAMPLES, "random_state": 0}
    spread: dict[str, Any] = {}
    try:
        if named:
            verbose = 1 if voice.interactive and seconds > 1.0 else 0
            at_once = jobs if one > 0.2 else 1
            how |= {"method": "pairs" if again.pairs else "subsample"}
            spread["stability"] = again.weights(**draws, **how, n_jobs=at_once, verbose=verbose)
        if widths:
            with voice.waiting(f"widths in {RESAMPLES} halves of the data"):
                spread["widths"] = again.widths(**draws)
    except KeyboardInterrupt:
        voice.stopped = True
        voice.note("Stopped by Ctrl-C; the report lacks the stability of some weights.")
    except (ValueError, AttributeError) as error:
        voice.note(f"the report lacks the stability of some weights: {one_line(error)}")
    return spread


def _seconds(fit: Callable[[], Any]) -> float:
    """That one fit takes, on half of the samples as the others are."""
    started = time.perf_counter()
    try:
        fit()
    except ValueError:  # that half may lack a class
        return 0.0
    return time.perf_counter() - started

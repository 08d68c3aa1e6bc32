"""How the weights of a model vary over halves of its data, where that does not take too long."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators._data import take
from ..families import Parametric
from ..inspection import weight_stability
from ..plots.reading import unwrap
from ..report import learns_widths, width_stability
from ._console import Voice, one_line
from .data import Data

RESAMPLES = 20
SECONDS = 60.0  # that the resamples may take in all


def resampled(voice: Voice, model: Any, data: Data, jobs: int = 1) -> dict[str, Any]:
    """Intervals for the weights or widths in a report; none, with a note, where they would take too long.

    What a search chose is learned anew, not the choice. Kernels of a continuum have other names in every
    resample: of them the widths are compared. Of models with weights for each class or cluster nothing is,
    since clusters have no names either. Halves of the samples are drawn: a bootstrap repeats samples, which
    then look like close neighbours and favour narrow kernels, so that the weights of all samples can lie
    outside its intervals.
    """
    mkl, X = unwrap(model, data.X)
    if np.ndim(mkl.weights_) > 1:
        return {}
    named, widths = not isinstance(mkl.kernels, Parametric), learns_widths(mkl)
    one = _seconds(mkl, X, data.y)
    seconds = RESAMPLES * one * (named / jobs + widths)
    if seconds > SECONDS:
        voice.note(
            f"the report says nothing of how stable the weights are: {RESAMPLES} more fits would take about "
            f"{seconds:.0f} s. In Python: manykernels.inspection.weight_stability."
        )
        return {}
    how: dict[str, Any] = {"n_resamples": RESAMPLES, "random_state": 0}
    spread: dict[str, Any] = {}
    try:
        if named:
            verbose = 1 if voice.interactive and seconds > 1.0 else 0
            at_once = jobs if one > 0.2 else 1
            spread["stability"] = weight_stability(mkl, X, data.y, **how, n_jobs=at_once, verbose=verbose)
        if widths:
            with voice.waiting(f"widths in {RESAMPLES} halves of the data"):
                spread["widths"] = width_stability(mkl, X, data.y, **how)
    except KeyboardInterrupt:
        voice.stopped = True
        voice.note("stopped by Ctrl-C; the report does not say how stable all weights are.")
    except (ValueError, AttributeError) as error:
        voice.note(f"the report does not say how stable all weights are: {one_line(error)}")
    return spread


def _seconds(mkl: Any, X: Any, y: Any) -> float:
    """That one fit takes, tried on half of the samples as the others are."""
    rows = np.arange(0, len(y), 2)
    part = X[np.ix_(rows, rows)] if mkl._kind == "stack" else take(X, rows)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            clone(mkl).fit(part, y[rows])
        except ValueError:  # that half may lack a class
            return 0.0
    return time.perf_counter() - started

"""Times to an event in a report: survival by risk group, predicted curves, and samples worth a look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fitting.survival import Survival, read_survival
from ..survival import (
    Baseline,
    KaplanMeier,
    censoring_curve,
    curves_by_risk,
    group_curves,
    kaplan_meier,
    median_time,
    risk_groups,
)
from ..survival.groups import GroupCurves, risk_names

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """Samples of a sort: those of the smallest key are the most striking."""

    key: Array
    rows: NDArray[np.intp] | None = None  # of all samples, where they are not all of the sort

    @property
    def order(self) -> NDArray[np.intp]:
        """Their rows, the most striking first."""
        rows = np.arange(self.key.size) if self.rows is None else self.rows
        return np.asarray(rows[np.argsort(self.key[rows], kind="stable")])


TITLE = "Survival by predicted risk"
_GROUPS = 3
_STEPS = 400  # of a curve that are drawn
_BINS = 20
_QUANTILES = {"low risk": 0.1, "median risk": 0.5, "high risk": 0.9}  # of the risks, whose curves are shown
_STRATA = 9  # that have a curve


def survival_section(y: Any, risk: Array, baseline: Baseline, held_out: Any = None) -> dict[str, Any]:
    """Survival by risk group, of risks predicted in cross-validation where these are known, and predictions.

    `held_out` has the group of each sample, and −1 where there is none; `risk` is that of the model, for the
    training samples.
    """
    predicted = _predicted(read_survival(y), risk, baseline)
    return groups_section(y, risk, held_out) | {"predicted": predicted}


def groups_section(y: Any, risk: Any, held_out: Any = None) -> dict[str, Any]:
    """Survival by risk group alone, by `held_out` or else by `risk`; see :func:`survival_section`."""
    found = _grouped(read_survival(y), risk, held_out)
    end = max(float(one.time.max()) for one in found.samples)
    ticks = _ticks(end)
    counts = found.at_risk(ticks)
    rows = [
        {"name": name, **_curve(curve, one.time.max()), **_counts(one, curve, at_risk), "censored": ends}
        for name, curve, one, at_risk, ends in zip(
            found.names,
            found.curves,
            found.samples,
            counts,
            [_thinned(found.censored(g)) for g in range(len(found.names))],
            strict=True,
        )
    ]
    return {
        "groups": rows,
        "ticks": ticks,
        "end": end,
        "held_out": held_out is not None,
        "p_value": None if found.test is None else found.test.p_value,
    }


def held_out_groups(y: Any, splits: Sequence[Any], risks: Sequence[Any]) -> NDArray[np.intp]:
    """The risk group of each sample among those that it was held out with; −1 for those that never were.

    Risks of different folds are those of different models, and are not compared with each other.
    """
    groups = np.full(len(y), -1)
    for (_, test), risk in zip(splits, risks, strict=True):
        groups[test] = risk_groups(risk, _GROUPS)
    return groups


def target_section(y: Any, name: str) -> dict[str, Any]:
    """The times at a glance: events and those censored, and how long people were followed."""
    seen = read_survival(y)
    edges = np.histogram_bin_edges(seen.time, bins=_BINS)
    whole = kaplan_meier(seen.event, seen.time, entry=seen.entry)
    return {
        "name": name,
        "task": "survival",
        "outputs": 1,
        "edges": edges,
        "counts": np.histogram(seen.time, edges)[0],
        "events": np.histogram(seen.time[seen.event], edges)[0],
        "median": median_time(whole.curve),
        "followed": median_time(censoring_curve(seen.event, seen.time)),
    }


def striking(y: Any, risk: Array) -> tuple[dict[str, Ranked], list[str]]:
    """Sorts of samples, and what happened to each sample, in words."""
    seen = read_survival(y)
    words = [f"{'event' if e else 'censored'} at {t:.4g}" for e, t in zip(seen.event, seen.time, strict=True)]
    rank = np.argsort(np.argsort(risk, kind="stable"), kind="stable") / max(risk.size - 1, 1)
    late = np.argsort(np.argsort(seen.time, kind="stable"), kind="stable") / max(risk.size - 1, 1)
    return {
        "early event at a low risk": Ranked(rank + late, np.flatnonzero(seen.event)),
        "long without event at a high risk": Ranked(-(rank + late)),
        "highest risk": Ranked(-risk),
        "lowest risk": Ranked(risk),
    }, words


def _grouped(seen: Survival, risk: Array, held_out: Any) -> GroupCurves:
    entry, stratum = seen.entry, seen.stratum
    if held_out is None:
        return curves_by_risk(seen.event, seen.time, risk, _GROUPS, None, entry, stratum)
    known = np.flatnonzero(np.asarray(held_out) >= 0)
    entry, stratum = (None if one is None else one[known] for one in (entry, stratum))
    group = np.asarray(held_out)[known]
    names = risk_names(np.unique(group).size)
    return group_curves(seen.event[known], seen.time[known], group, None, entry, stratum, names=names)


def _curve(curve: KaplanMeier, end: Any) -> dict[str, Any]:
    """The corners of a curve from 1 on, and of its band, which ends where the curve is 0."""
    at = _thinned(curve.times)
    rows = np.searchsorted(curve.times, at)
    known = ~np.isnan(curve.lower[rows])
    return {
        "x": [0.0, *at, float(end)],
        "y": [1.0, *curve.survival[rows], curve.curve.at(np.asarray(end, dtype=np.float64))],
        "band": {
            "x": [0.0, *at[known], float(end) if known.all() else float(at[~known][0])],
            "low": [1.0, *curve.lower[rows][known]],
            "high": [1.0, *curve.upper[rows][known]],
        },
    }


def _counts(seen: Any, curve: KaplanMeier, at_risk: Array) -> dict[str, Any]:
    return {
        "samples": int(seen.time.size),
        "events": int(seen.event.sum()),
        "median": median_time(curve.curve),
        "at_risk": np.round(at_risk).astype(int),
    }


def _predicted(seen: Survival, risk: Array, baseline: Baseline) -> dict[str, Any]:
    """Survival that the model predicts: at three risks, or at the median risk in each stratum."""
    if baseline.labels is None:
        levels = [float(np.quantile(risk, q)) for q in _QUANTILES.values()]
        curves, names = baseline.survival(levels), list(_QUANTILES)
    else:
        labels = baseline.labels[:_STRATA]
        levels = [float(np.median(risk))] * len(labels)
        curves, names = baseline.survival(levels, labels), [f"stratum {label}" for label in labels]
    rows = []
    for name, level, one in zip(names, levels, curves, strict=True):
        t = _thinned(one.times[one.times <= one.last])
        corners = np.concatenate([[0.0], t, [float(one.last)]])
        rows.append(
            {"name": name, "risk": level, "x": corners, "y": one.at(corners), "median": median_time(one)}
        )
    return {"by": "risk" if baseline.labels is None else "stratum", "curves": rows}


def _thinned(times: Array) -> Array:
    """So many of the times that steps between them cannot be seen."""
    if times.size <= _STEPS:
        return times
    return times[np.unique(np.linspace(0, times.size - 1, _STEPS).astype(np.intp))]


def _ticks(end: float) -> list[float]:
    """Plain numbers from 0 on, about five of them."""
    rough = (end or 1.0) / 6.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough)
    return [float(f"{i * step:.12g}") for i in range(int(end / step + 1e-9) + 1)]

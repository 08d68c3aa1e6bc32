"""Survival of groups of samples beside each other, such as those of low, medium and high predicted risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import is_whole
from .curves import KaplanMeier, kaplan_meier
from .log_rank import LogRank, log_rank
from .observed import Observed, labels_of, observed, risks

Array = NDArray[np.float64]
_NAMES = {1: ["all samples"], 2: ["low risk", "high risk"], 3: ["low risk", "medium risk", "high risk"]}


@dataclass(frozen=True)
class GroupCurves:
    """Kaplan and Meier's curve of each group, and the log-rank test of whether they differ."""

    names: list[str]
    curves: tuple[KaplanMeier, ...]
    samples: tuple[Observed, ...]  # of each group
    test: LogRank | None  # None for a single group

    def at_risk(self, times: Any) -> Array:
        """(groups, times): the weight of the samples that are observed at each time."""
        t, back = np.unique(np.asarray(times, dtype=np.float64), return_inverse=True)
        return np.stack([seen.at_risk(t)[back] for seen in self.samples])

    def censored(self, group: int) -> Array:
        """The times at which samples of a group were observed last, without an event."""
        seen = self.samples[group]
        return np.unique(seen.time[~seen.event])


def risk_groups(risk: Any, count: int = 3, sample_weight: Any = None) -> NDArray[np.intp]:
    """The group of each sample, from 0 for the lowest risks on: `count` groups of nearly equal weight.

    Samples with equal risks are in one group, so that there may be fewer groups.
    """
    if not is_whole(count) or count < 1:
        raise ValueError(f"count={count!r} was given; expected a whole number of groups, such as 3.")
    f = risks(risk, None)
    weight = observed(np.zeros(f.size), np.zeros(f.size), sample_weight).weight
    levels, which = np.unique(f, return_inverse=True)
    mass = np.bincount(which, weight, levels.size)
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    group = np.minimum((count * middle).astype(np.intp), count - 1)[which]
    return np.asarray(np.unique(group, return_inverse=True)[1], dtype=np.intp)


def group_curves(
    event: Any,
    time: Any,
    group: Any,
    sample_weight: Any = None,
    entry: Any = None,
    stratum: Any = None,
    *,
    names: list[str] | None = None,
    level: float = 0.95,
) -> GroupCurves:
    """The survival of each group, in the order of their labels; other arguments as in `log_rank`."""
    seen = observed(event, time, sample_weight, entry)
    of, counts = labels_of(group, "group", seen.time.size), seen.weight > 0.0
    labels = np.unique(of[counts])
    parts = tuple(seen.part((of == label) & counts) for label in labels)
    curves = tuple(
        kaplan_meier(one.event, one.time, one.weight, np.maximum(one.entry, 0.0), level=level)
        for one in parts
    )
    several = labels.size > 1 and bool(seen.event[counts].any())
    test = log_rank(event, time, group, sample_weight, entry, stratum) if several else None
    return GroupCurves([str(x) for x in labels] if names is None else names, curves, parts, test)


def curves_by_risk(
    event: Any,
    time: Any,
    risk: Any,
    count: int = 3,
    sample_weight: Any = None,
    entry: Any = None,
    stratum: Any = None,
) -> GroupCurves:
    """The survival of groups at quantiles of a predicted risk."""
    group = risk_groups(risk, count, sample_weight)
    names = risk_names(int(group.max()) + 1)
    return group_curves(event, time, group, sample_weight, entry, stratum, names=names)


def risk_names(count: int) -> list[str]:
    """What groups from the lowest to the highest risk are called."""
    between = [f"risk {g + 1} of {count}" for g in range(1, count - 1)]
    return _NAMES.get(count) or ["lowest risk", *between, "highest risk"]

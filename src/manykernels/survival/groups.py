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
    """Kaplan and Meier's curve of each group, and the log-rank test of whether they differ.

    Attributes
    ----------
    names : list of str
        Names of the groups.
    curves : tuple of KaplanMeier
        The curve of each group.
    samples : tuple of Observed
        The samples of each group.
    test : LogRank or None
        The test; None for a single group.

    References
    ----------
    Kaplan & Meier (1958), "Nonparametric estimation from incomplete observations", Journal of the American
    Statistical Association 53.

    Mantel (1966), "Evaluation of survival data and two new rank order statistics arising in its
    consideration", Cancer Chemotherapy Reports 50.

    Examples
    --------
    >>> from manykernels.survival import group_curves
    >>> found = group_curves([1, 1, 1, 1], [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    >>> found.names, found.at_risk([2.0]).tolist()
    (['a', 'b'], [[1.0], [2.0]])
    """

    names: list[str]
    curves: tuple[KaplanMeier, ...]
    samples: tuple[Observed, ...]  # of each group
    test: LogRank | None  # None for a single group

    def at_risk(self, times: Any) -> Array:
        """Return the weight of the samples that are observed at each time.

        Parameters
        ----------
        times : array-like of shape (n_times,)
            Times.

        Returns
        -------
        ndarray of shape (n_groups, n_times)
            The weights.

        Examples
        --------
        >>> from manykernels.survival import group_curves
        >>> found = group_curves([1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], ["old", "old", "new", "new"])
        >>> found.names, found.at_risk([1.0, 2.0, 3.0]).tolist()
        (['new', 'old'], [[2.0, 2.0, 2.0], [2.0, 1.0, 0.0]])
        """
        t, back = np.unique(np.asarray(times, dtype=np.float64), return_inverse=True)
        return np.stack([seen.at_risk(t)[back] for seen in self.samples])

    def censored(self, group: int) -> Array:
        """Return the times at which samples of a group were observed last, without an event.

        Parameters
        ----------
        group : int
            Number of the group.

        Returns
        -------
        ndarray
            Sorted times, once each.

        Examples
        --------
        >>> from manykernels.survival import group_curves
        >>> found = group_curves([1, 0, 1, 0], [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
        >>> found.censored(0), found.censored(1)
        (array([2.]), array([4.]))
        """
        seen = self.samples[group]
        return np.unique(seen.time[~seen.event])


def risk_groups(risk: Any, count: int = 3, sample_weight: Any = None) -> NDArray[np.intp]:
    """Divide samples into groups of nearly equal weight by their predicted risk.

    Samples with equal risks are in one group, so that there may be fewer groups.

    Parameters
    ----------
    risk : array-like of shape (n_samples,)
        Predicted risks.
    count : int, default=3
        Number of groups.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the samples.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        The group of each sample, from 0 for the lowest risks on.

    Examples
    --------
    >>> from manykernels.survival import risk_groups
    >>> risk_groups([0.1, 0.9, 0.2, 0.8], count=2).tolist()
    [0, 1, 0, 1]
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
    """Estimate the survival of each group, in the order of their labels, and test whether they differ.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        1 or True where the event was observed, 0 where the sample is censored.
    time : array-like of shape (n_samples,)
        Times of the event or of the last observation.
    group : array-like of shape (n_samples,)
        Labels of the groups.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a weight of 2 is a sample given twice.
    entry : array-like of shape (n_samples,) or None, default=None
        Times from which samples are observed (left truncation).
    stratum : array-like of shape (n_samples,) or None, default=None
        Labels of samples that the test compares only among themselves.
    names : list of str or None, default=None
        Names of the groups; None takes their labels.
    level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    GroupCurves
        The curves and the test.

    Examples
    --------
    >>> from manykernels.survival import group_curves
    >>> found = group_curves([1, 1, 1, 1], [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    >>> [curve.survival.tolist() for curve in found.curves]
    [[0.5, 0.0], [0.5, 0.0]]
    """
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
    """Estimate the survival of groups at quantiles of a predicted risk.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        1 or True where the event was observed, 0 where the sample is censored.
    time : array-like of shape (n_samples,)
        Times of the event or of the last observation.
    risk : array-like of shape (n_samples,)
        Predicted risks, larger for earlier events.
    count : int, default=3
        Number of groups.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a weight of 2 is a sample given twice.
    entry : array-like of shape (n_samples,) or None, default=None
        Times from which samples are observed (left truncation).
    stratum : array-like of shape (n_samples,) or None, default=None
        Labels of samples that the test compares only among themselves.

    Returns
    -------
    GroupCurves
        The curves, from the lowest risks on, and the test.

    Examples
    --------
    >>> from manykernels.survival import curves_by_risk
    >>> found = curves_by_risk([1, 1, 1, 1], [4.0, 3.0, 2.0, 1.0], [0.1, 0.2, 0.8, 0.9], count=2)
    >>> len(found.curves), bool(found.test.p_value < 0.2)
    (2, True)
    """
    group = risk_groups(risk, count, sample_weight)
    names = risk_names(int(group.max()) + 1)
    return group_curves(event, time, group, sample_weight, entry, stratum, names=names)


def risk_names(count: int) -> list[str]:
    """Name groups from the lowest to the highest risk."""
    between = [f"risk {g + 1} of {count}" for g in range(1, count - 1)]
    return _NAMES.get(count) or ["lowest risk", *between, "highest risk"]

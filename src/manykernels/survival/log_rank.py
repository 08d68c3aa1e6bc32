"""Do groups differ in survival? The log-rank test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from .observed import Observed, by_label, labels_of, observed

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LogRank:
    """The result of a log-rank test: groups with more events than expected have the worse survival.

    Attributes
    ----------
    statistic : float
        The χ², with one degree of freedom less than there are groups.
    p_value : float
        The probability of a larger statistic if survival were the same in all groups.
    groups : ndarray of shape (n_groups,)
        Labels of the groups.
    events : ndarray of shape (n_groups,)
        Events of each group, by weight.
    expected : ndarray of shape (n_groups,)
        Events of each group that are expected if survival were the same in all.

    References
    ----------
    Mantel (1966), "Evaluation of survival data and two new rank order statistics arising in its
    consideration", Cancer Chemotherapy Reports 50.

    Examples
    --------
    >>> from manykernels.survival import log_rank
    >>> found = log_rank([1, 1, 1, 1], [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    >>> found.events.tolist(), found.expected.round(3).tolist()
    ([2.0, 2.0], [0.833, 3.167])
    """

    statistic: float  # χ², with one degree of freedom less than there are groups
    p_value: float
    groups: NDArray[Any]
    events: Array  # of each group, by weight
    expected: Array  # of each group, if survival were the same in all


def log_rank(
    event: Any, time: Any, group: Any, sample_weight: Any = None, entry: Any = None, stratum: Any = None
) -> LogRank:
    """Test whether the survival of all groups is the same.

    At each event time, with n at risk, n_g of them in group g, and d events, group g is expected to have
    d n_g/n of them. O − E is summed over times (and strata), with the covariance

        V = Σ d (n − d)/(n − 1) (diag(n_g/n) − (n_g/n)(n_h/n)),      χ² = (O − E)ᵀ V⁺ (O − E)

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
        Labels of samples that are compared only among themselves.

    Returns
    -------
    LogRank
        The statistic, its p-value, and the events of each group.

    References
    ----------
    Mantel (1966), "Evaluation of survival data and two new rank order statistics arising in its
    consideration", Cancer Chemotherapy Reports 50.

    Examples
    --------
    >>> from manykernels.survival import log_rank
    >>> round(log_rank([1, 1, 1, 1], [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"]).p_value, 3)
    0.09
    """
    seen = observed(event, time, sample_weight, entry)
    of = labels_of(group, "group", seen.time.size)
    apart = np.zeros(of.size) if stratum is None else labels_of(stratum, "stratum", of.size)
    counts = seen.weight > 0.0
    groups, which = np.unique(of[counts], return_inverse=True)
    if groups.size < 2:
        raise ValueError(f"there is one group ({groups[0]}); expected at least two to compare.")
    seen, apart = seen.part(counts), apart[counts]
    observed_, expected = np.zeros(groups.size), np.zeros(groups.size)
    V = np.zeros((groups.size, groups.size))
    for _, rows in by_label(apart):
        O, E, more = _sums(seen.part(rows), which[rows], groups.size)
        observed_, expected, V = observed_ + O, expected + E, V + more
    difference = (observed_ - expected)[1:]
    statistic = float(difference @ np.linalg.pinv(V[1:, 1:], hermitian=True) @ difference)
    return LogRank(statistic, float(chdtrc(groups.size - 1, statistic)), groups, observed_, expected)


def _sums(seen: Observed, which: NDArray[np.intp], count: int) -> tuple[Array, Array, Array]:
    """O, E and V of one stratum."""
    t = seen.event_times
    parts = [seen.part(which == g) for g in range(count)]
    n_g = np.stack([part.at_risk(t) for part in parts])  # (groups, times)
    d_g = np.stack([part.events_at(t) for part in parts])
    n, d = n_g.sum(axis=0), d_g.sum(axis=0)
    share = n_g / n
    spread = np.where(n > 1.0, d * (n - d) / np.where(n > 1.0, n - 1.0, 1.0), 0.0)
    V = np.diag(share @ spread) - (share * spread) @ share.T
    return d_g.sum(axis=1), share @ d, V

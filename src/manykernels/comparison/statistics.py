"""Tests of differences between methods that were scored in the same folds, or on the same datasets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

Array = NDArray[np.float64]
LEVEL = 0.95  # of intervals
ALPHA = 0.05  # a smaller p-value is called a difference
_SAME = 1e-12  # of their size: differences that vary less than this vary by rounding alone


@dataclass(frozen=True)
class Difference:
    """The mean difference of two methods over folds, what it may be, and how likely it is by chance.

    ``low`` and ``high`` bound the interval of ``level``, ``p_value`` is two-sided, and ``ahead`` and
    ``behind`` count the folds in which the first method is better and worse.
    """

    mean: float
    low: float
    high: float
    p_value: float
    ahead: int
    behind: int
    folds: int
    level: float = LEVEL

    @property
    def clear(self) -> bool:
        """Whether p ≤ 0.05."""
        return self.p_value <= ALPHA

    @property
    def shown(self) -> str:
        """The interval and the p-value, for people."""
        if math.isnan(self.p_value):
            return "one fold says nothing of the noise"
        return f"{self.interval}, {p_shown(self.p_value)}"

    @property
    def interval(self) -> str:
        """The interval alone."""
        return f"{100 * self.level:g} % interval {signed(self.low)} to {signed(self.high)}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("mean", "low", "high", "p_value", "ahead", "behind", "folds", "level")
        return {name: getattr(self, name) for name in names}


def corrected_ttest(differences: ArrayLike, test_share: float, *, level: float = LEVEL) -> Difference:
    """The corrected resampled paired t-test of Nadeau and Bengio (2003, §3).

    Scores in the folds of a cross-validation, repeated or not, depend on each other, since their training
    parts overlap. Their plain variance s²/J makes differences look certain that are not. The test takes

        Var(d̄) ≈ (1/J + n_test/n_train) s²,      t = d̄/√Var(d̄) with J − 1 degrees of freedom

    Parameters
    ----------
    differences : array-like of shape (J,)
        Score of one method minus that of the other, in each fold of each repetition.
    test_share : float
        n_test/n_train: 1/(k − 1) for k folds.
    level : float, default=0.95
        Of the interval.

    Returns
    -------
    Difference
        Its interval and p-value are NaN for one fold. Where all differences are equal the estimate of the
        variance is 0; then p is 0, or 1 if they are all 0.

    Examples
    --------
    >>> from manykernels.comparison.statistics import corrected_ttest
    >>> found = corrected_ttest([0.02, 0.04, 0.01, 0.03, 0.05], 1 / 4)
    >>> round(found.mean, 3), round(found.p_value, 3)
    (0.03, 0.047)
    """
    d = np.asarray(differences, dtype=np.float64)
    J, mean = d.size, float(d.mean())
    ahead, behind = int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))
    if J < 2:
        return Difference(mean, math.nan, math.nan, math.nan, ahead, behind, J, level)
    s = float(d.std(ddof=1))
    if s <= _SAME * float(np.abs(d).max()):
        return Difference(mean, mean, mean, 0.0 if mean else 1.0, ahead, behind, J, level)
    error = math.sqrt(1.0 / J + test_share) * s
    p = 2.0 * float(stdtr(J - 1, -abs(mean) / error))
    half = float(stdtrit(J - 1, 0.5 + 0.5 * level)) * error
    return Difference(mean, mean - half, mean + half, p, ahead, behind, J, level)


def holm(p_values: ArrayLike) -> Array:
    """p-values adjusted for their number by the method of Holm (1979); NaN stays, and is not counted.

    Examples
    --------
    >>> from manykernels.comparison.statistics import holm
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(p.size, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(np.arange(order.size, 0, -1) * p[order]), 1.0)
    return adjusted


# -- several datasets -----------------------------------------------------------------------------
@dataclass(frozen=True)
class Ranking:
    """Methods over several datasets, by ranks (Demšar 2006).

    ``mean_ranks`` has 1 for the best. ``p_value`` is Friedman's, of the hypothesis that all are alike;
    methods whose mean ranks are less than ``critical_difference`` apart do not differ by Nemenyi's test.
    ``against`` names the best method, and ``p_adjusted`` has the p-values of the others against it, by
    Wilcoxon's signed-rank test and Holm's method.
    """

    mean_ranks: Mapping[str, float]
    p_value: float
    critical_difference: float
    against: str
    p_adjusted: Mapping[str, float]
    datasets: int


def ranking(scores: Mapping[str, ArrayLike], *, alpha: float = ALPHA) -> Ranking:
    """Ranks of methods with a score on each of several datasets, and the tests of Demšar (2006).

    Parameters
    ----------
    scores : mapping of names to array-like of shape (n_datasets,)
        Larger is better.
    alpha : float, default=0.05
        Of Nemenyi's test: CD = q_α √(k(k + 1)/(6N)) for k methods and N datasets, q_α the quantile of the
        studentized range over √2.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range  # slow to import

    names = list(scores)
    table = np.array([np.asarray(scores[name], dtype=np.float64) for name in names])
    k, N = table.shape
    if k < 2 or N < 2:
        raise ValueError(f"{k} methods on {N} datasets were given; ranks are compared from two of each on.")
    ranks = rankdata(-np.round(table, 12), axis=0).mean(axis=1)
    spread = np.ptp(np.round(table, 12), axis=0).any()
    p = float(friedmanchisquare(*table).pvalue) if k > 2 and spread else _wilcoxon(table[0] - table[1])
    q = float(studentized_range.ppf(1.0 - alpha, k, np.inf)) / math.sqrt(2.0)
    best = int(ranks.argmin())
    others = [m for m in range(k) if m != best]
    adjusted = holm([_wilcoxon(table[best] - table[m]) for m in others])
    return Ranking(
        dict(zip(names, map(float, ranks), strict=True)),
        p,
        q * math.sqrt(k * (k + 1) / (6.0 * N)),
        names[best],
        {names[m]: float(value) for m, value in zip(others, adjusted, strict=True)},
        N,
    )


def _wilcoxon(d: Array) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test; differences of 0 are split among both signs."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(np.round(d, 12), zero_method="zsplit").pvalue) if d.any() else 1.0


# -- for people -----------------------------------------------------------------------------------
def signed(value: float) -> str:
    """+0.03, −0.03, or 0 for what rounds to it."""
    text = f"{abs(value):.3f}"
    return "0" if float(text) == 0.0 else f"{'+' if value > 0 else '−'}{text}"


def p_shown(p: float) -> str:
    """p = 0.03, or p < 0.001."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.995 else "p = 1"

"""Tests of differences between methods with scores in the same folds, or on the same datasets."""

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
    """The mean difference of two methods over folds, with an interval and a p-value.

    Parameters
    ----------
    mean : float
        The mean of the differences.
    low : float
        The lower end of the interval.
    high : float
        The upper end of the interval.
    p_value : float
        The two-sided p-value.
    ahead : int
        The number of folds in which the first method is better.
    behind : int
        The number of folds in which it is worse.
    folds : int
        The number of folds.
    level : float, default=0.95
        The level of the interval.
    p_adjusted : float or None, default=None
        The p-value adjusted by Holm's method, where the difference is one of several that are tested
        together. None if it is the only one.

    Attributes
    ----------
    clear : bool
        Whether the p-value (the adjusted one, if there is one) is at most 0.05.
    interval : str
        The interval in words.
    shown : str
        The interval and the p-value in words.

    Examples
    --------
    >>> from manykernels.comparison import corrected_ttest
    >>> found = corrected_ttest([0.02, 0.04, 0.01, 0.03, 0.05], 1 / 4)
    >>> found.clear, found.ahead
    (True, 5)
    """

    mean: float
    low: float
    high: float
    p_value: float
    ahead: int
    behind: int
    folds: int
    level: float = LEVEL
    p_adjusted: float | None = None

    @property
    def clear(self) -> bool:
        """True if the p-value (the adjusted one, if there is one) is at most 0.05."""
        return (self.p_value if self.p_adjusted is None else self.p_adjusted) <= ALPHA

    @property
    def shown(self) -> str:
        """The interval and the p-value in words."""
        if math.isnan(self.p_value):
            return "one fold says nothing of the noise"
        p = p_shown(self.p_value) if self.p_adjusted is None else f"adjusted {p_shown(self.p_adjusted)}"
        return f"{self.interval}, {p}"

    @property
    def interval(self) -> str:
        """The interval in words."""
        return f"{100 * self.level:g} % interval {signed(self.low)} to {signed(self.high)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values.

        Returns
        -------
        dict
            The fields by name.

        Examples
        --------
        >>> from manykernels.comparison import corrected_ttest
        >>> found = corrected_ttest([0.02, 0.04, -0.01, 0.03], 1 / 3).as_dict()
        >>> round(found["mean"], 3), found["ahead"], found["behind"], found["folds"]
        (0.02, 3, 1, 4)
        """
        names = ("mean", "low", "high", "p_value", "ahead", "behind", "folds", "level", "p_adjusted")
        return {name: getattr(self, name) for name in names}


def corrected_ttest(differences: ArrayLike, test_share: float, *, level: float = LEVEL) -> Difference:
    """Compare two methods by the corrected resampled paired t-test of Nadeau and Bengio (2003, §3).

    Scores in the folds of a cross-validation depend on each other, since their training parts overlap. Their
    plain variance s²/J makes differences look certain that are not. The test takes

        Var(d̄) ≈ (1/J + n_test/n_train) s²,      t = d̄/√Var(d̄) with J − 1 degrees of freedom

    Parameters
    ----------
    differences : array-like of shape (J,)
        The score of one method minus that of the other, in each fold of each repetition.
    test_share : float
        The ratio n_test/n_train: 1/(k − 1) for k folds.
    level : float, default=0.95
        The level of the interval.

    Returns
    -------
    Difference
        The mean with its interval and p-value, which are NaN for one fold. If all differences are equal, the
        estimate of the variance is 0; then p is 0, or 1 if they are all 0.

    References
    ----------
    - Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52.

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
    """Adjust p-values for their number by the method of Holm (1979).

    Parameters
    ----------
    p_values : array-like of shape (n,)
        The p-values. NaN stays, and is not counted.

    Returns
    -------
    ndarray of shape (n,)
        The adjusted p-values, at most 1.

    References
    ----------
    - Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics
      6.

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
    """Mean ranks of methods over several datasets, with tests (Demšar 2006).

    Parameters
    ----------
    mean_ranks : dict
        The mean rank of each method, 1 for the best.
    p_value : float
        The p-value of Friedman's test that all methods are alike; for two methods that of Wilcoxon's test.
    critical_difference : float
        Methods whose mean ranks are less than this apart do not differ by Nemenyi's test.
    against : str
        The best method.
    p_adjusted : dict
        The p-values of the other methods against the best, by Wilcoxon's signed-rank test and Holm's method.
    datasets : int
        The number of datasets.

    Examples
    --------
    >>> from manykernels.comparison import ranking
    >>> found = ranking({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.7, 0.6]})
    >>> found.against, found.mean_ranks
    ('a', {'a': 1.0, 'b': 2.0})
    """

    mean_ranks: Mapping[str, float]
    p_value: float
    critical_difference: float
    against: str
    p_adjusted: Mapping[str, float]
    datasets: int


def ranking(scores: Mapping[str, ArrayLike], *, alpha: float = ALPHA) -> Ranking:
    """Rank methods with a score on each of several datasets, and test the ranks (Demšar 2006).

    Parameters
    ----------
    scores : dict
        An array of shape (n_datasets,) for each method, by its name. Larger is better.
    alpha : float, default=0.05
        The level of Nemenyi's test: CD = q_α √(k(k + 1)/(6N)) for k methods and N datasets, with q_α the
        quantile of the studentized range over √2.

    Returns
    -------
    Ranking
        The mean ranks and the tests.

    Raises
    ------
    ValueError
        If there are fewer than two methods or two datasets.

    References
    ----------
    - Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of Machine
      Learning Research 7.

    Examples
    --------
    >>> from manykernels.comparison import ranking
    >>> found = ranking({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.7, 0.6], "c": [0.85, 0.6, 0.5]})
    >>> round(found.mean_ranks["b"], 2), round(found.critical_difference, 2)
    (2.33, 1.91)
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
    """Compute the two-sided p-value of Wilcoxon's signed-rank test; zeros are split among both signs."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(np.round(d, 12), zero_method="zsplit").pvalue) if d.any() else 1.0


# -- for people -----------------------------------------------------------------------------------
def signed(value: float) -> str:
    """Format a number with its sign: +0.030, −0.030, or 0."""
    text = f"{abs(value):.3f}"
    return "0" if float(text) == 0.0 else f"{'+' if value > 0 else '−'}{text}"


def p_shown(p: float) -> str:
    """Format a p-value: p = 0.03, or p < 0.001."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.995 else "p = 1"

"""Tests of differences: by hand, against scipy, and on data where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from manykernels.comparison.statistics import corrected_ttest, holm, p_shown, ranking, signed


def test_the_corrected_t_test_by_hand():
    """Four differences of mean 2 and variance 2: the standard error is √((1/4 + 1/3) · 2)."""
    found = corrected_ttest([1.0, 1.0, 3.0, 3.0], 1 / 3)
    error = math.sqrt((0.25 + 1 / 3) * 4 / 3)
    t = 2.0 / error
    assert found.p_value == pytest.approx(2 * stats.t.sf(t, 3))
    half = stats.t.ppf(0.975, 3) * error
    assert (found.low, found.high) == pytest.approx((2.0 - half, 2.0 + half))
    assert (found.ahead, found.behind, found.folds) == (4, 0, 4)


def test_without_overlap_it_is_the_paired_t_test():
    d = np.random.default_rng(0).standard_normal(12) + 0.5
    assert corrected_ttest(d, 0.0).p_value == pytest.approx(stats.ttest_1samp(d, 0.0).pvalue)


@pytest.mark.parametrize(("given", "p"), [([0.0] * 4, 1.0), ([0.1] * 5, 0.0)])
def test_differences_that_are_all_equal(given, p):
    found = corrected_ttest(given, 0.25)
    assert found.p_value == p and found.low == found.high == pytest.approx(given[0])
    assert math.isnan(corrected_ttest([0.3], 0.25).p_value)
    assert corrected_ttest([0.3], 0.25).shown == "one fold says nothing of the noise"


def accuracy(X, y, train, test):
    """Of the nearest mean."""
    means = np.array([X[train][y[train] == label].mean(axis=0) for label in (0, 1)])
    distance = ((X[test][:, None] - means) ** 2).sum(axis=2)
    return np.mean(distance.argmin(axis=1) == y[test])


def test_the_corrected_test_keeps_its_level_where_the_plain_one_does_not():
    """Two methods that are alike: each sees its own half of columns that say the same.

    Over 4 × 5 folds the plain t-test calls more than a third of such differences real, the corrected one
    should call 5 % so.
    """
    draw, plain, corrected, cases = np.random.default_rng(7), 0, 0, 300
    y, rows = np.tile([0, 1], 30), np.arange(60)
    for _ in range(cases):
        X = draw.standard_normal((60, 6)) + 0.5 * y[:, None]
        d = []
        for order in [draw.permutation(60) for _ in range(4)]:
            for test in np.array_split(order, 5):
                train = np.setdiff1d(rows, test)
                d.append(accuracy(X[:, :3], y, train, test) - accuracy(X[:, 3:], y, train, test))
        plain += stats.ttest_1samp(d, 0.0).pvalue <= 0.05
        corrected += corrected_ttest(d, 0.25).p_value <= 0.05
    assert plain > 0.25 * cases
    assert corrected < 0.1 * cases


def test_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, np.nan, 0.9]) == pytest.approx([1.0, np.nan, 1.0], nan_ok=True)
    assert holm([]).size == 0


def test_ranks_over_datasets():
    """The table of Demšar (2006, Table 6) has Friedman's χ² = 9.28 and F = 3.69 over 14 datasets."""
    scores = {
        "C4.5": "0.763 0.599 0.954 0.628 0.882 0.936 0.661 0.583 0.775 1.000 0.940 0.619 0.972 0.957",
        "C4.5+m": "0.768 0.591 0.971 0.661 0.888 0.931 0.668 0.583 0.838 1.000 0.962 0.666 0.981 0.978",
        "C4.5+cf": "0.771 0.590 0.968 0.654 0.886 0.916 0.609 0.563 0.866 1.000 0.965 0.614 0.9751 0.946",
        "C4.5+m+cf": "0.798 0.569 0.967 0.657 0.898 0.931 0.685 0.625 0.875 1.000 0.962 0.669 0.975 0.970",
    }
    found = ranking({name: np.array(text.split(), dtype=float) for name, text in scores.items()}, alpha=0.05)
    assert list(found.mean_ranks.values()) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=1e-3)
    assert found.critical_difference == pytest.approx(1.25, abs=0.01)
    assert found.against == "C4.5+m+cf" and set(found.p_adjusted) == {"C4.5", "C4.5+m", "C4.5+cf"}
    assert found.p_value == pytest.approx(stats.chi2.sf(9.28, 3), abs=0.01)


def test_ranks_need_two_of_each():
    with pytest.raises(ValueError, match="1 methods on 2 datasets"):
        ranking({"a": [0.1, 0.2]})
    same = ranking({"a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3]})
    assert same.p_value == 1.0 and same.p_adjusted == {"b": 1.0}


def test_numbers_for_people():
    assert signed(0.0301) == "+0.030" and signed(-0.065) == "−0.065" and signed(1e-5) == "0"
    assert p_shown(1e-5) == "p < 0.001" and p_shown(0.034) == "p = 0.034" and p_shown(1.0) == "p = 1"

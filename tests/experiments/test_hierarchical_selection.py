"""Hulls of the truth, the point of a path that is told, and the quick form of the experiment."""

import numpy as np
import pytest
from experiments import hierarchical_selection as experiment


def test_the_true_hull_holds_all_divisors():
    hull = experiment.true_hull([(0, 0, 3), ()])
    assert hull == {(), ((0, 1),), ((0, 2),), ((3, 1),), ((0, 1), (3, 1)), ((0, 2), (3, 1))}


def test_interactions_are_of_the_first_features():
    X, y, terms = experiment.interactions(0, 6, 2000, test=10, s=3)
    assert terms == [(0, 1), (0, 2), (1, 2)] and X.shape == (2010, 6)
    products = np.stack([X[:, i] * X[:, j] for i, j in terms] + [np.ones(2010)], axis=1)
    left = y - products @ np.linalg.lstsq(products, y, rcond=None)[0]
    assert 0.02 < left.var() < 0.06  # the noise


@pytest.mark.slow
def test_the_quick_form(quick):
    first, second, by_features, by_hull = quick("hierarchical_selection").values()
    assert len(first) == len(second) == 2 and [row["r"] for row in by_features] == [5, 8]
    for row in first + second:
        assert row["extras, %"] == pytest.approx(100.0 * row["extras"] / row["true hull"], rel=1e-4)
        assert 0 <= row["missing"] <= row["true hull"] and row["corrective: missing"] >= 0
    assert all(row["missing"] == 0 for row in second)  # eleven nodes, found with 100 samples
    assert all(row["certified"] == "1 of 1" for row in by_features)
    assert [row["true hull"] for row in by_hull] == ["4", "7"]  # 1, s features and their pairs


def test_exponents_are_slopes_of_logarithms():
    rows = [{"s": 3.0 * x**1.5} for x in (2.0, 4.0)] + [{"s": 3.0 * 8.0**1.5 * 2.0}]
    assert experiment.exponent([2.0, 4.0], rows[:2]) == "1.50 over all, 1.50 between the last two"
    assert experiment.exponent([2.0, 4.0, 8.0], rows).endswith("2.50 between the last two")

"""The experiments of continuous families: problems as they say, and quick runs."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import continuous_relevance, continuous_sines


def test_labels_are_the_sign_of_three_sines():
    parts = continuous_sines.problem(1, (300, 20, 30))
    assert [len(y) for _, y in parts] == [300, 20, 30]
    for X, y in parts:
        x = X[:, 0]
        f = np.sin(np.sqrt(2.0) * x) + np.sin(np.sqrt(12.0) * x) + np.sin(np.sqrt(60.0) * x)
        assert np.all(np.abs(x) <= 10.0) and np.array_equal(y, np.sign(f))
    assert np.abs(parts[0][0]).max() > 9.5


def test_frequencies_are_looked_for_among_the_largest_weights():
    """All three within 0.1, by the fewest of the first; a fourth may be needed, or none may do."""
    first, second, third = continuous_sines.TRUE
    near = [third + 0.09, first - 0.05, second]
    assert continuous_sines.rank(near) == 3
    assert continuous_sines.rank([near[0], near[1], near[1] + 0.01, near[2]]) == 4
    assert continuous_sines.rank([third + 0.11, first, second]) == float("inf")
    np.testing.assert_allclose(continuous_sines.distances(near), [0.05, 0.0, 0.09])


def test_candidates_are_chosen_on_the_validation_set():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    parts = [(np.zeros((4, 1)), y)] * 3
    good, bad = y, -y
    fits = [(1.0, [bad, good], {"C": 1.0}), (2.0, [good, bad], {"C": 2.0}), (3.0, [good, good], {"C": 3.0})]
    assert continuous_sines.tuned(iter(fits), parts) == {"error": 100.0, "seconds": 2.0, "C": 2.0}
    others = [(facts, predicted) for _, predicted, facts in fits]
    assert continuous_relevance.tuned(iter(others), parts) == {"error": 100.0, "C": 2.0}


@pytest.mark.parametrize("gamma", [0, 5, 40])
def test_the_classes_are_as_far_apart_for_every_relevance(gamma):
    """‖μ‖ = 1.75, μ_i in proportion to (i/50)^γ, variance 1."""
    (X, y), *_ = continuous_relevance.problem(gamma, 0, (40_000, 1, 1))
    mean = (X * y[:, None]).mean(axis=0)
    beta = (np.arange(1, 51) / 50.0) ** gamma
    np.testing.assert_allclose(mean, 1.75 * beta / np.linalg.norm(beta), atol=0.025)
    np.testing.assert_allclose((X - np.outer(y, mean)).std(axis=0), 1.0, atol=0.02)
    assert abs(y.mean()) < 0.02


@pytest.mark.slow
def test_searched_frequencies_come_before_the_grid(quick):
    errors, frequencies = quick("continuous_sines").values()
    wrong = {row["method"]: row["error"].mean for row in errors}
    assert len(wrong) == 8
    grid = min(value for method, value in wrong.items() if "grid" in method)
    assert wrong["the three"] < 15.0 < wrong["CKL"] + 15.0 < grid
    assert [row["method"] for row in frequencies] == list(continuous_sines.CONTINUOUS)


@pytest.mark.slow
def test_a_width_for_each_feature_pays_where_few_matter(quick):
    tables = list(quick("continuous_relevance").values())
    wrong, _, alignment, seconds, chosen = tables
    rows = {row["method"]: row for row in alignment}
    ours, one = rows[continuous_relevance.OURS], rows["GCD-2s, one width"]
    assert ours["γ = 40"].mean > one["γ = 40"].mean + 0.1
    assert ours["γ = 0"].mean > rows[continuous_relevance.FREE]["γ = 0"].mean + 0.05
    assert {row["method"] for row in wrong} == {row["method"] for row in seconds} == set(rows)
    assert sum(row["γ = 0"] for row in chosen) == 2

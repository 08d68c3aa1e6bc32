"""Small tables, intervals, probabilities and candidates: what is drawn, and how runs become rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from experiments import selection_candidates, selection_clinics, selection_trust
from experiments.selection import candidates, clinics
from experiments.selection.resume import Runs


@pytest.mark.parametrize("name", clinics.TABLES)
def test_made_tables_are_as_clinics_have_them(name):
    frame, y = clinics.table(name)
    assert frame.shape == (200, 9) and 15 <= frame["site"].nunique() <= 40
    assert frame[["crp", "bmi"]].isna().any().all() and frame["grade"].cat.ordered
    again, other = clinics.table(name), clinics.table(name, draw=1)
    np.testing.assert_array_equal(again[1], y)
    assert not np.array_equal(other[1], y)
    if clinics.TABLES[name] == "classification":
        assert set(y) == {0.0, 1.0} and 0.25 < clinics.table(name, 3000)[1].mean() < 0.75


def test_a_rival_is_ahead_by_the_corrected_test():
    runs = Runs()
    facts = {"share": 0.25, "seconds": 1.0, "n": 200, "d": 9}
    runs.add(("clinic 0", 0, "ours"), facts | {"scores": [0.60, 0.61, 0.62, 0.60, 0.61]})
    runs.add(("clinic 0", 0, "plain sum"), facts | {"scores": [0.70, 0.72, 0.71, 0.71, 0.70]})
    runs.add(("clinic 0", 0, "sparse linear"), facts | {"scores": [0.62, 0.58, 0.63, 0.59, 0.62]})
    (row,) = selection_clinics.difference_rows(runs)
    assert row["behind"] == row["behind one by one"] == "plain sum"
    assert row["plain sum"].startswith("-0.100")
    (scores,) = selection_clinics.score_rows(runs)
    assert scores["plain sum"].mean == pytest.approx(0.708) and scores["tuned one kernel"] is None


def test_rivals_that_are_ahead_one_by_one_may_not_be_so_among_five():
    runs, base = Runs(), np.array([0.60, 0.61, 0.62, 0.60, 0.61])
    facts = {"share": 0.25, "seconds": 1.0, "n": 200, "d": 9}
    runs.add(("clinic 0", 0, "ours"), facts | {"scores": base.tolist()})
    for rival in selection_clinics.RIVALS:
        gain = (
            np.array([0.02, 0.05, 0.03, 0.01, 0.04]) if rival == "plain sum" else np.array([1, -1, 1, -1, 0])
        )
        runs.add(("clinic 0", 0, rival), facts | {"scores": (base + gain).tolist()})
    (row,) = selection_clinics.difference_rows(runs)
    assert row["behind"] == "none" and row["behind one by one"] == "plain sum"


def test_coverage_and_losses_are_means_over_splits():
    runs = Runs()
    for seed in (0, 1):
        made = {"seconds": 2.0, "test": 10}
        runs.add(("a", seed, "ours"), made | {"coverage": 90.0 + seed, "width": 2.0})
        runs.add(("a", seed, "MAPIE"), made | {"coverage": 91.0, "width": 4.0})
        runs.add(("b", seed, "ours"), made | {"loss": 0.5})
        runs.add(("b", seed, "calibrated"), made | {"loss": 0.6 + 0.2 * seed})
    one, every = selection_trust.interval_rows(runs)
    assert one["coverage, ours"] == 90.5 and one["width"] == 0.5 and every["set"] == "all"
    loss, _ = selection_trust.loss_rows(runs)
    assert loss["less"] == pytest.approx(-0.2) and loss["standard error"] == pytest.approx(0.1)


def test_what_a_candidate_changes_is_a_mean_over_sets():
    runs = Runs()
    for name, factor in (("a", 0.5), ("b", 2.0)):
        for seed in (0, 1):
            error = 10.0 + seed
            found = dict.fromkeys(selection_candidates.CANDIDATES, error) | {"default": error}
            runs.add((name, seed, "all"), found | {"bagged": factor * error, "stacked": error - 1.0})
    by_name = {row["candidate"]: row for row in selection_candidates.summary(runs)}
    assert abs(by_name["bagged"]["change"]) < 1.0 and by_name["trees, stacked"]["change"] == pytest.approx(
        0.0
    )
    assert (by_name["bagged"]["better"], by_name["bagged"]["worse"]) == (1, 1)
    assert by_name["stacked"]["better"] == 2 and selection_candidates.rows(runs)[0]["stacked"] == -1.0


def test_the_ridge_with_the_least_leave_one_out_error_is_the_one_that_refits_say():
    rng = np.random.default_rng(0)
    A, Y = rng.standard_normal((12, 3)), rng.standard_normal((12, 2))
    K = A @ A.T + np.eye(12)
    found = candidates.ridge(K, Y)
    losses = []
    for shrink in candidates.RIDGES * np.trace(K) / 12:
        hat = K @ np.linalg.inv(K + shrink * np.eye(12))
        left = (np.eye(12) - hat) @ (Y - Y.mean(axis=0)) / (1.0 - np.diag(hat))[:, None]
        losses.append(np.mean(left**2))
    assert found.loss == pytest.approx(min(losses))


def test_sums_of_products_of_columns_are_those_of_all_subsets():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((3, 4)), rng.standard_normal((2, 4))
    K = np.exp(-0.5 * (A[:, None] - B) ** 2)
    for order, found in enumerate(candidates._orders(A, B), 1):
        each = [np.prod(K[:, :, list(some)], axis=2) for some in itertools.combinations(range(4), order)]
        np.testing.assert_allclose(found, np.sum(each, axis=0), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["selection_candidates", "selection_clinics", "selection_trust"])
def test_the_quick_forms(name, quick):
    tables = quick(name)
    assert len(tables) == (3 if name == "selection_clinics" else 2)
    assert all(rows for rows in tables.values())

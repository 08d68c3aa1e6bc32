"""The experiment of localized learning: its problems, its baseline, its choices, and a quick run."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import localized_views
from experiments.localized_regions import (
    EITHER,
    GATES,
    GLOBAL,
    HARD,
    PROBLEMS,
    REAL,
    SOFT,
    candidates,
    less_global,
    paired_rows,
    trial,
    views_problem,
    widths_problem,
)
from sklearn.linear_model import LinearRegression

from manykernels.kernels import Linear


def test_a_quick_run_has_all_tables(quick):
    made, chosen, real, paired = quick("localized_regions").values()
    assert [row["method"] for row in made] == [GLOBAL, SOFT, HARD, *GATES]
    for problem in PROBLEMS:  # the margin is wide enough to show in two small draws
        means = {row["method"]: row[problem].mean for row in made}
        assert means[SOFT] < 0.85 * means[GLOBAL] and means[HARD] < 0.85 * means[GLOBAL]
    assert len(chosen) == 10 and real[0]["set"] == "ida_banana" and paired[-1]["set"] == "mean"
    assert len(REAL) == 10


def test_a_quick_run_on_views(quick):
    wrong, paired, chosen = quick("localized_views").values()
    assert wrong[0]["kernels"] == 3 and wrong[0]["classes"] == 3
    assert paired[-1]["set"] == "mean" and len(chosen) == 1 + len(localized_views.OTHERS)


def test_the_label_is_in_one_view_here_and_in_the_other_there():
    (X, _), _, (Z, y) = views_problem(0, (50, 50, 4000))
    assert X.shape == (50, 14) and set(y) == {-1.0, 1.0}
    for left in (True, False):
        part = (Z[:, 0] < 0) == left
        scores = [
            LinearRegression().fit(Z[part, a:b], y[part]).score(Z[part, a:b], y[part])
            for a, b in ((2, 8), (8, 14))
        ]
        assert scores[1 - left] > 0.4 and scores[left] < 0.02


def test_one_side_is_smooth_and_the_other_wiggly():
    (X, y), _, (Z, truth) = widths_problem(0, (100, 100, 4000))
    right = Z[:, 0] > 0
    assert np.all(Z[right, 1:] == 0.0) and 0.4 < right.mean() < 0.6
    line = np.argsort(Z[right, 0])
    turns = np.count_nonzero(np.diff(np.sign(np.diff(truth[right][line]))))
    assert turns == 10  # five periods
    again, _, _ = widths_problem(0, (100, 0, 1))
    np.testing.assert_array_equal(again[0].shape, X.shape)
    cubic = np.column_stack([Z, Z**2, Z**3, Z[:, :1] * Z[:, 1:], Z[:, 1:2] * Z[:, 2:]])
    smooth = LinearRegression().fit(cubic[~right], truth[~right])
    assert smooth.score(cubic[~right], truth[~right]) > 0.8
    assert np.std(y) == pytest.approx(np.std(truth), rel=0.3)


def test_choices_are_made_on_the_validation_part_only():
    """The model that is right on the validation part is taken, however wrong it is on the test part."""

    class Fixed:
        def __init__(self, value):
            self.value = value

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), self.value)

    X = np.zeros((4, 1))
    parts = [(X, np.ones(4)), (X, np.ones(4)), (X, -np.ones(4))]
    methods = [
        (name, {"C": value}, lambda value=value: Fixed(value))
        for name in (GLOBAL, SOFT)
        for value in (-1.0, 1.0)
    ]
    found = trial(parts, iter(methods), "classification")
    assert found[GLOBAL] == {"C": 1.0, "validation": 0.0, "error": 100.0, "gap": 0.0}
    assert found[EITHER] is found[GLOBAL]  # of equal ones, the simpler


def test_all_methods_have_the_same_costs_and_norms():
    made = list(candidates([Linear()], "regression", (1.0, 2.0), False))
    for name in (GLOBAL, SOFT, HARD):
        options = {(o["C"], o["norm"]) for method, o, _ in made if method == name}
        assert options == {(10.0**k, p) for k in range(4) for p in (1.0, 2.0)}
    assert {o["n_clusters"] for method, o, _ in made if method == SOFT} == {2, 3}
    soft = next(make() for method, _, make in made if method == SOFT)
    assert soft.gating == "kernel-kmeans" and soft.C == 1.0
    assert {make().gating for method, _, make in made if method in GATES} == {"softmax", "sigmoid"}


def test_differences_are_paired():
    trials = [{GLOBAL: {"error": a}, SOFT: {"error": a - d}} for a, d in ((10.0, 1.0), (30.0, 3.0))]
    assert less_global(trials, SOFT) == pytest.approx((-2.0, 1.0))
    for found in trials:
        found[HARD], found[EITHER] = found[GLOBAL], found[SOFT]
        found.update(dict.fromkeys(GATES, found[GLOBAL]))
    rows = paired_rows({"a": trials, "b": trials})
    assert rows[0][SOFT] == "-2.00 ± 1.00 (-2.0)" and rows[0][HARD] == "+0.00 ± 0.00 (+0.0)"
    level = dict.fromkeys((HARD, *GATES), rows[0][HARD])
    assert rows[2] == {"set": "mean", SOFT: "-2.00 ± 0.71 (-2.8)", EITHER: rows[2][SOFT]} | level

"""The experiment of localized learning: its problems, its baseline, its choices, and a quick run."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.localized_regions import (
    EITHER,
    GATED,
    GLOBAL,
    HARD,
    PROBLEMS,
    REAL,
    SOFT,
    GatedKernels,
    candidates,
    less_global,
    paired_rows,
    trial,
    views_problem,
    widths_problem,
)
from scipy.special import softmax
from sklearn.linear_model import LinearRegression

from manykernels.kernels import Gaussian, Linear


def test_a_quick_run_has_all_tables(quick):
    made, chosen, real, paired = quick("localized_regions").values()
    assert [row["method"] for row in made] == [GLOBAL, SOFT, HARD, GATED]
    for problem in PROBLEMS:  # the margin is wide enough to show in two small draws
        means = {row["method"]: row[problem].mean for row in made}
        assert means[SOFT] < 0.85 * means[GLOBAL] and means[HARD] < 0.85 * means[GLOBAL]
    assert len(chosen) == 8 and real[0]["set"] == "ida_banana" and paired[-1]["set"] == "mean"
    assert len(REAL) == 10


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


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_gradient_of_learned_gates(task):
    rng = np.random.RandomState(0)
    X = rng.randn(30, 2)
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0) if task == "classification" else X[:, 0] * X[:, 1]
    model = GatedKernels([Linear(), Gaussian(1.0)], 0.5, task, 3).fit(X, y)
    stack, Z = np.array([kernel(X) for kernel in model.fitted]), model._inputs(X)
    V, h = rng.randn(2, 3), 1e-4
    _, g = model._value(V, stack, Z, y)
    for step in h * np.eye(6).reshape(6, 2, 3):
        slope = (model._value(V + step, stack, Z, y)[0] - model._value(V - step, stack, Z, y)[0]) / (2 * h)
        assert np.sum(g * step) / h == pytest.approx(slope, rel=2e-2, abs=2e-3 * np.abs(g).max())


def test_learned_gates_descend_and_decide_as_trained():
    rng = np.random.RandomState(1)
    X = rng.randn(40, 2)
    y = np.where(X[:, 0] > 0, X[:, 1], np.sin(3.0 * X[:, 1]))
    values = []
    for steps in (0, 1, 5, 30):
        model = GatedKernels([Linear(), Gaussian(0.5)], 10.0, "regression", steps).fit(X, y)
        stack = np.array([kernel(X) for kernel in model.fitted])
        values.append(model._value(model.V, stack, model._inputs(X), y)[0])
    assert values[0] > values[1] > values[2] >= values[3]
    eta = softmax(model._inputs(X) @ model.V.T, axis=1)
    K = np.einsum("im,mij,jm->ij", eta, stack, eta)
    np.testing.assert_allclose(model.predict(X), K @ model.alpha + model.b, atol=1e-9)


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


def test_differences_are_paired():
    trials = [{GLOBAL: {"error": a}, SOFT: {"error": a - d}} for a, d in ((10.0, 1.0), (30.0, 3.0))]
    assert less_global(trials, SOFT) == pytest.approx((-2.0, 1.0))
    for found in trials:
        found[HARD], found[EITHER] = found[GLOBAL], found[SOFT]
    rows = paired_rows({"a": trials, "b": trials})
    assert rows[0][SOFT] == "-2.00 ± 1.00 (-2.0)" and rows[0][HARD] == "+0.00 ± 0.00 (+0.0)"
    assert rows[2] == {"set": "mean", SOFT: "-2.00 ± 0.71 (-2.8)", HARD: rows[0][HARD], EITHER: rows[2][SOFT]}

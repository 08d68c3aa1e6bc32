"""OBSCURE minimises what UFO-MKL and the batch solver minimise, and its parts are what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from experiments import ufo_accuracy, ufo_batch, ufo_obscure
from experiments.baselines.obscure import Obscure, norm
from experiments.tables import Report

from manykernels import UFOMKLClassifier
from manykernels.kernels import Gaussian, evaluate
from manykernels.solvers.ufo import dual_exponent


def small(n: int = 60, F: int = 6, classes: int = 2) -> tuple[Any, Any]:
    """Gaussian kernels of several widths, and classes that overlap."""
    rng = np.random.RandomState(0)
    X, stack = rng.standard_normal((n, 3)), np.empty((F, n, n))
    for m, K in evaluate([Gaussian(float(width)) for width in np.geomspace(0.5, 8.0, F)], X):
        stack[m] = K
    signal = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n)
    return stack, np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))


def passed(model: Obscure, passes: int, seed: int = 0) -> Obscure:
    rng = np.random.RandomState(seed)
    for _ in range(passes):
        model.advance(rng.permutation(len(model.y)))
    return model


@pytest.mark.parametrize("online", [0, 5])
def test_two_classes_reach_the_minimum_of_the_batch_solver(online):
    """With f = f_1 − f_2 two classes are the hinge loss at λ/2: ‖w^j‖² = ½ ‖w_1^j − w_2^j‖² at best."""
    stack, y = small()
    lam = 1.0 / len(y)
    theirs, bound = ufo_batch.batch(stack, np.where(y[:, None] > 0, 1.0, -1.0), lam / 2.0)
    early, late = (passed(Obscure(stack, y, lam, dual_exponent(6), online), k).objective for k in (8, 1500))
    assert bound <= late <= 1.01 * theirs.objective[-1] < early


def test_three_classes_reach_the_bound_of_ufo():
    stack, y = small(classes=3)
    lam, q = 1.0 / len(y), dual_exponent(6)
    given = ufo_obscure.Problem(stack, y, stack, y)
    bound = ufo_obscure.bound(given, lam, lam, q, 1500)
    late = passed(Obscure(stack, y, lam, q), 1500).objective
    assert bound <= late <= 1.02 * bound


def test_what_is_kept_is_what_the_coefficients_say():
    """Scores, norms and the objective from the coefficients alone; ‖w‖ = ‖θ‖/q ≤ R."""
    stack, y = small(classes=3)
    lam, q = 0.1 / len(y), dual_exponent(6)
    for passes in (3, 9):  # in the first stage, and in the second
        model = passed(Obscure(stack, y, lam, q), passes)
        coef = model.state[0] * model.coef
        theta = np.sqrt(np.einsum("kn,jnm,km->j", coef, stack, coef))
        expected = theta * (theta / norm(theta, q)) ** (q - 2.0) / q
        np.testing.assert_allclose(model.norms, expected, rtol=1e-6)
        size = norm(model.norms, q / (q - 1.0))
        assert size == pytest.approx(norm(theta, q) / q)
        f = model.decide(stack)
        own = f[np.arange(len(y)), y]
        f[np.arange(len(y)), y] = -np.inf
        loss = np.maximum(1.0 - own + f.max(axis=1), 0.0).mean()
        assert model.objective == pytest.approx(0.5 * lam * size**2 + loss)
    assert size <= model.radius * (1.0 + 1e-9)


def test_the_first_stage_bounds_the_solution():
    stack, y = small(classes=3)
    lam, q = 1.0 / len(y), dual_exponent(6)
    model = passed(Obscure(stack, y, lam, q), 5)
    assert model.left == 0 and model.radius == pytest.approx(np.sqrt(2.0 * min(model.objective, 1.0) / lam))
    best = passed(model, 600)
    assert norm(best.norms, q / (q - 1.0)) < model.radius


def test_a_pass_without_violations_ends_the_first_stage():
    """Two samples far apart are told apart soon."""
    stack, y = np.eye(2)[None] * np.ones((3, 1, 1)), np.array([0, 1])
    model = passed(Obscure(stack, y, 1e-3, 2.5, online=1000), 100)
    assert model.left == 0 and np.isfinite(model.radius)


def test_ufo_in_the_race_is_that_of_the_estimator():
    given = ufo_obscure.problem("mfeat", 8, 2, 0, quick=True)
    lam, alpha = 0.1 / len(given.y), 1e-2
    model = UFOMKLClassifier("precomputed", loss="multiclass_hinge", lam=lam, alpha=alpha, normalize=None)
    model.set_params(epochs=300, random_state=1, fit_intercept=False)
    model.fit(given.stack.transpose(1, 2, 0), given.y)
    ours, rng = (
        ufo_obscure.Ultra(given, lam, alpha, dual_exponent(len(given.stack))),
        np.random.RandomState(0),
    )
    for _ in range(300):
        ours.advance(rng.permutation(len(given.y)))
    assert ours.bound <= ours.objective <= 1.05 * ours.bound
    assert ours.bound <= model.objective_ <= 1.05 * ours.bound
    assert model.active_.size == np.count_nonzero(ours.norms)


def test_training_and_test_samples_are_different_and_classes_of_the_size_asked_for(monkeypatch):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    D, y, D_test, y_test = ufo_obscure.distances("mfeat", 8, 3, quick=True)
    assert np.bincount(y).tolist() == [8, 8, 8] and D.shape == (24, 24, 3)
    assert D_test.shape == (48, 24, 3) and y_test.size == 48
    np.testing.assert_allclose(D.mean(axis=(0, 1)), 1.0)
    assert D_test.min() > 0.0 and np.all(np.diagonal(D).T == 0.0)
    assert np.bincount(ufo_obscure.distances("mfeat", 100, 3, quick=True)[1]).tolist() == [12, 12, 12]


@pytest.mark.parametrize(("module", "tables"), [(ufo_obscure, 2 * 2), (ufo_accuracy, 2 * 2)])
def test_a_quick_run(module, tables, monkeypatch, capsys):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    report = Report(module.__name__, "", quick=True)
    module.run(report)
    assert len(report.tables) == tables
    assert "OBSCURE" in capsys.readouterr().out

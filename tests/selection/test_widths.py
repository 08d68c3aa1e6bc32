"""Widths that are learned again at landmarks: derivatives, costs, and what they find."""

from __future__ import annotations

import numpy as np
import pytest

from manykernels import MKLRegressor, MKLRegressorCV
from manykernels.families import Relevance
from manykernels.kernels import Gaussian
from manykernels.selection import plan
from manykernels.selection.widths import _Error, has_widths, learn_again


@pytest.fixture(scope="module")
def known():
    """Kernels whose widths were learned from rows in which the third feature hardly matters."""
    rng = np.random.RandomState(0)
    X = rng.randn(90, 3)
    return MKLRegressor(Relevance(), C=1.0).fit(X, np.sin(X[:, 0]) + 0.1 * rng.randn(90)), X


@pytest.mark.parametrize("clip", [False, True])
def test_derivatives_are_those_of_the_error(known, clip):
    model, X = known
    rng = np.random.RandomState(1)
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.1 * rng.randn(90, 2)
    error = _Error(model.kernels_, X, np.sign(Y) if clip else Y, rng.rand(90), 15, clip)
    p = 0.3 * rng.randn(X.shape[1] + len(model.kernels_))
    _, slope = error(p)
    steps = 1e-5 * np.eye(p.size)
    numeric = [(error(p + step)[0] - error(p - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(slope, numeric, atol=1e-5)


def test_the_error_is_that_of_models_learned_outside_of_each_fold(known):
    model, X = known
    y, cost, rng = np.cos(X[:, 1]), np.ones(90), np.random.RandomState(2)
    cost[::4] = 3.0
    error = _Error(model.kernels_, X, y[:, None], cost, 15, False)
    gamma, theta = np.exp(rng.randn(3)), np.exp(rng.randn(len(model.kernels_)))
    error(np.log(np.concatenate([gamma, theta])))
    c, z = cost / cost.mean(), (y - y.mean()) / y.std()
    parts = error._parts(gamma)
    K = sum(t * part for t, part in zip(theta, parts, strict=True)) + theta.sum()
    naive = 0.0
    for fold in error.folds:
        rest = np.ones(90, dtype=bool)
        rest[fold] = False
        M = K[rest].T @ (c[rest, None] * K[rest]) + K[:15]
        beta = np.linalg.solve(M, K[rest].T @ (c[rest] * z[rest]))
        naive += np.sum(c[fold] * (K[fold] @ beta - z[fold]) ** 2)
    np.testing.assert_allclose(error.unit, naive / 90, rtol=1e-3)


def test_a_feature_that_few_rows_hide_gets_a_width(known):
    model, _ = known
    rng = np.random.RandomState(3)
    X = rng.randn(600, 3)
    y = np.sin(X[:, 0]) + np.sin(2 * X[:, 2])
    found = learn_again(model.kernels_, model.weights_, X, y[:, None], None, 60, False)
    before, after = (
        np.asarray(kernels[1].kernel.kernel.widths) for kernels in (model.kernels_, found.kernels)
    )
    assert after[2] < 0.5 * before[2] and after[2] < after[1]
    ratio = np.asarray(found.kernels[3].kernel.kernel.widths) / after
    np.testing.assert_allclose(ratio, 2.0)
    np.testing.assert_allclose(found.kernels[1].diag(X[:5]), 1.0)


def test_only_kernels_of_one_set_of_widths_have_them_learned_again(known):
    model, X = known
    assert has_widths(model.kernels_)
    plain = MKLRegressor({"one": Gaussian(1.0)}).fit(X, X[:, 0])
    centred = MKLRegressor(Relevance(), center=True).fit(X, X[:, 0])
    assert not has_widths(plain.kernels_) and not has_widths(centred.kernels_)


def test_a_search_over_many_rows_says_that_it_learned_widths_again(monkeypatch):
    sizes = {"WHOLE": 60, "EXACT": 100, "FEW": 80, "_RACE": (60, 60), "_SECOND": 80, "_MOST": 80}
    for name, value in sizes.items():
        monkeypatch.setattr(plan, name, value)
    rng = np.random.RandomState(4)
    X = rng.randn(1000, 6)
    y = np.sin(2 * X[:, 0]) + np.sin(2 * X[:, 2]) + rng.randn(1000)
    model = MKLRegressorCV(strategy="continuous", norms=[2.0], cv=2, random_state=0).fit(X, y)
    assert "learned again from more rows" in model.describe()
    widths = np.asarray(model.best_estimator_.kernels_[1].kernel.kernel.widths)
    assert widths[[0, 2]].max() < widths[[1, 3, 4, 5]].min()
    assert model.best_params_["strategy"] == "continuous"
    assert np.linalg.norm(model.weights_) == pytest.approx(1.0)

"""Leave-one-out from one factorisation against leaving one out."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from manykernels import MKLClassifierCV, MKLRegressorCV
from manykernels.families import Products
from manykernels.kernels import Gaussian, Linear
from manykernels.selection.left_out import left_out

rng = np.random.RandomState(0)
X = rng.randn(40, 3)
Y = np.c_[np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2]
K = 0.3 * Linear()(X) + Gaussian(1.5)(X)


@pytest.mark.parametrize("intercept", [True, False])
def test_equals_brute_force(intercept):
    cost = rng.uniform(0.5, 3.0, 40)
    found = left_out(K, Y, cost, intercept)
    for i in range(40):
        rest = np.delete(np.arange(40), i)
        A = K[np.ix_(rest, rest)] + np.diag(1.0 / cost[rest])
        ones = np.ones(39)
        b = np.linalg.solve(A, Y[rest]).sum(axis=0) / np.linalg.solve(A, ones).sum() if intercept else 0.0
        alpha = np.linalg.solve(A, Y[rest] - b)
        np.testing.assert_allclose(K[i, rest] @ alpha + b - Y[i], found[i], rtol=1e-8, atol=1e-10)


def test_one_of_several_equal_samples():
    """Merged rows give the errors of the machine that is fitted to all samples but one."""
    owner = np.repeat(np.arange(15), rng.randint(1, 5, 15))
    weight = rng.uniform(0.5, 2.0, owner.size)
    cost = np.bincount(owner, weight)
    copies = owner, weight / cost[owner]
    found = left_out(K[:15, :15], Y[:15], cost, True, copies=copies)
    alone = left_out(K[np.ix_(owner, owner)], Y[owner], weight, True)
    np.testing.assert_allclose(found, alone, rtol=1e-6, atol=1e-8)


def test_chooses_the_cost_of_kernel_ridge_regression():
    y, Cs = Y[:, 0] + 0.3 * rng.randn(40), [0.1, 1.0, 10.0, 100.0]
    model = MKLRegressorCV([Gaussian(1.5)], norms=[1.0], Cs=Cs, cv="loo", fit_intercept=False, tol=1e-8)
    model.fit(X, y)
    errors = []
    for C in Cs:
        machine = KernelRidge(alpha=1.0 / C, kernel="precomputed")
        G, fold = Gaussian(1.5)(X), []
        for i in range(40):
            rest = np.delete(np.arange(40), i)
            machine.fit(G[np.ix_(rest, rest)], y[rest])
            fold.append((machine.predict(G[[i]][:, rest])[0] - y[i]) ** 2)
        errors.append(np.mean(fold))
    np.testing.assert_allclose(model.path_["finite"]["loss"], errors, rtol=1e-6)
    assert model.best_params_["C"] == Cs[int(np.argmin(errors))] == model.best_estimator_.C
    assert model.comparison_["folds"] == [1]


def test_classes():
    labels = np.digitize(Y[:, 0], [-0.5, 0.7])
    model = MKLClassifierCV([Linear(), Gaussian(1.5)], norms=[2.0], cv="loo").fit(X, labels)
    assert 0.6 < model.best_score_ < 1.0 and model.score(X, labels) >= model.best_score_


def test_class_weights_count_in_the_choice():
    labels = Y[:, 0] > 0.8
    plain, costly = (
        MKLClassifierCV([Gaussian(1.5)], norms=[1.0], cv="loo", class_weight=given).fit(X, labels)
        for given in (None, {False: 1.0, True: 20.0})
    )
    assert not np.allclose(plain.path_["finite"]["loss"], costly.path_["finite"]["loss"])
    balanced = MKLClassifierCV([Gaussian(1.5)], norms=[1.0], cv="loo", class_weight={False: 3.0, True: 3.0})
    assert balanced.fit(X, labels).best_score_ >= 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norms": [1.0, 2.0]}, "Give one norm"),
        ({"strategy": ["finite", "aligned"]}, "'finite', 'aligned'"),
        ({"kernels": Products(), "norms": [1.0]}, "can be listed"),
        ({"loss": "epsilon_insensitive", "norms": [1.0]}, "loss='squared'"),
        ({"scoring": "r2", "norms": [1.0]}, "scoring=None"),
        ({"scoring": ["r2"], "norms": [1.0]}, "one score to choose by"),
    ],
)
def test_what_it_cannot_choose(options, message):
    with pytest.raises(ValueError, match=message):
        MKLRegressorCV(**{"kernels": [Linear(), Gaussian(1.0)], "cv": "loo", **options}).fit(X, Y[:, 0])

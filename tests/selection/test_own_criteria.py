"""Errors of many targets from eigendecompositions, against machines that are fitted one by one."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from manykernels import MKLRegressor
from manykernels.approx import Nystroem
from manykernels.fitting.samples import read
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.selection.own import criteria
from manykernels.selection.own.criteria import LeaveOneOut, coefficients
from manykernels.selection.own.descent import descend, error, slope
from manykernels.selection.own.folded import folded
from manykernels.selection.own.ridge import FeatureRidge, ListedRidge, ridge_of

rng = np.random.RandomState(0)
X = rng.randn(36, 6)
Y = np.c_[X[:, 0] - X[:, 1], np.sin(2 * X[:, 2]), rng.randn(36), 3.0 + X[:, 4]] + 0.3 * rng.randn(36, 4)
WIDE = {"left": OnColumns(Linear(), [0, 1]), "right": OnColumns(Gaussian(2.0), [2, 3]), "all": Linear()}
THIN = {"left": OnColumns(Linear(), [0, 1]), "right": OnColumns(Linear(), [2, 3, 4, 5])}
CASES = {
    "matrices": (WIDE, {}),
    "no intercept": (WIDE, {"fit_intercept": False}),
    "centred": (WIDE, {"center": True}),
    "features": (THIN, {}),
    "features without intercept": (THIN, {"fit_intercept": False}),
    "approximate": (WIDE, {"approx": Nystroem(12), "random_state": 0}),
}
CS = np.array([0.1, 1.0, 30.0])


def posed(name, weight=None, Y=Y):
    kernels, options = CASES[name]
    face = MKLRegressor(kernels, **options)
    return face._options(), read(face._options(), X, Y, weight, face._target())


def gram(ridge, theta):
    """K_θ of the samples, and of the mean of the features with them."""
    if isinstance(ridge, ListedRidge):
        return ridge.gram.combine(theta)
    Phi = ridge.mapped.centred(ridge.known).transform(ridge.samples.data) * ridge.roots
    return (Phi * theta[ridge.owner]) @ Phi.T


def machine(K, y, cost, intercept):
    """α and b of (K + diag(1/cost))α + b1 = y, 1ᵀα = 0."""
    n = len(K)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K + np.diag(1.0 / cost)
    A[n, :n] = A[:n, n] = 1.0 if intercept else 0.0
    A[n, n] = 0.0 if intercept else 1.0
    found = np.linalg.solve(A, np.concatenate([y, np.zeros((1, y.shape[1]))]))
    return found[:n], found[n]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_leave_one_out_equals_leaving_one_out(name, weighted):
    weight = rng.uniform(0.5, 3.0, 36) if weighted else None
    options, given = posed(name, weight)
    ridge = ridge_of(options, given.samples(in_order=True))
    assert isinstance(ridge, FeatureRidge) == (not name.startswith(("matrices", "no", "centred")))
    theta = rng.dirichlet(np.ones(len(ridge.names)))
    samples, intercept = ridge.samples, options.fit_intercept
    K, w, target = gram(ridge, theta), samples.costs, samples.Y
    criterion = LeaveOneOut(ridge, target, CS)
    places = np.array([0, 1, 2, 1])
    spectrum = ridge.spectrum(theta)
    alpha = coefficients(ridge, spectrum, ridge.whitened(target), 1.0 / CS[places])
    error = criterion.exact(spectrum, np.arange(4), 1.0 / CS[places], alpha, np.zeros(4))
    alpha *= ridge.root[:, None]
    mean = w @ target / w.sum()
    for k, C in enumerate(CS[places]):
        y = target[:, [k]]
        whole, _ = machine(K, y, C * w, intercept)
        np.testing.assert_allclose(alpha[:, [k]], whole, rtol=1e-7, atol=1e-9)
        missed = 0.0
        for i in range(len(K)):
            rest = np.delete(np.arange(len(K)), i)
            a, b = machine(K[np.ix_(rest, rest)], y[rest], C * w[rest], intercept)
            missed += w[i] * float(K[i, rest] @ a[:, 0] + b[0] - y[i, 0]) ** 2
        total = float(w @ (y[:, 0] - mean[k]) ** 2)
        assert error[k] == pytest.approx(missed / total, rel=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_generalised_cross_validation_has_the_mean_of_the_diagonal(name):
    options, given = posed(name)
    ridge = ridge_of(options, given.samples(in_order=True))
    theta = rng.dirichlet(np.ones(len(ridge.names)))
    least, place = LeaveOneOut(ridge, ridge.samples.Y, CS).screen(theta)
    K, n = gram(ridge, theta), ridge.n
    found = []
    for C in CS:
        alpha, _ = machine(K, ridge.samples.Y, np.full(n, C), options.fit_intercept)
        P, _ = machine(K, np.eye(n), np.full(n, C), options.fit_intercept)
        found.append((alpha**2).sum(axis=0) / (np.trace(P) / n) ** 2)
    found = np.array(found) / ((ridge.samples.Y - ridge.samples.Y.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(least, found.min(axis=0), rtol=1e-7)
    np.testing.assert_array_equal(place, found.argmin(axis=0))


@pytest.mark.parametrize("name", CASES)
def test_folds_equal_models_that_are_fitted_without_them(name):
    weight = rng.uniform(0.5, 3.0, 36)
    options, given = posed(name, weight)
    folds = list(KFold(3).split(X))
    ridge = ridge_of(options, given.samples(in_order=True))
    criterion = folded(options, given, folds, CS)
    theta = rng.dirichlet(np.ones(len(ridge.names)))
    least, place = criterion.screen(theta)
    missed, total = np.zeros(4), np.zeros(4)
    mean = weight @ Y / weight.sum()
    for fold, (train, test) in zip(criterion.folds, folds, strict=True):
        own, w, truth = fold.ridge, weight[test], Y[test]
        K = gram(own, theta)
        if isinstance(own, ListedRidge):
            parts = [kernel(X[test], own.samples.data) for kernel in own.kernels]
            new = np.tensordot(theta, np.array(parts), axes=1)
        else:
            mapped = own.mapped.centred(own.known)
            Phi, there = mapped.transform(own.samples.data) * own.roots, mapped.transform(X[test]) * own.roots
            new = (there * theta[own.owner]) @ Phi.T
        seen = given.part(train).samples(in_order=True).Y
        for k in range(4):
            y = seen[:, [k]]
            a, b = machine(K, y, CS[place[k]] * own.samples.costs, options.fit_intercept)
            missed[k] += w @ (new @ a[:, 0] + b[0] - truth[:, k]) ** 2
        total += w @ (truth - mean) ** 2
    np.testing.assert_allclose(least, missed / total, rtol=1e-6)


def test_single_precision_and_batches_change_rounding_only(monkeypatch):
    options, given = posed("matrices", Y=np.tile(Y, (1, 5)))
    ridge = ridge_of(options, given.samples(in_order=True))
    theta = np.array([0.2, 0.3, 0.5])
    least, _ = LeaveOneOut(ridge, ridge.samples.Y, CS).screen(theta)
    monkeypatch.setattr(criteria, "_BATCH", 3)
    few, _ = LeaveOneOut(ridge, ridge.samples.Y, CS).screen(theta)
    np.testing.assert_allclose(few, least, rtol=1e-9)
    monkeypatch.setattr(criteria, "_SINGLE", 1)
    single = LeaveOneOut(ridge, ridge.samples.Y, CS)
    assert single.inside.Y.dtype == np.float32
    np.testing.assert_allclose(single.screen(theta)[0], least, atol=1e-5)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_sizes_of_targets_do_not_matter(monkeypatch, size):
    monkeypatch.setattr(criteria, "_SINGLE", 1)  # where squares of such numbers would vanish or overflow
    found = []
    for factor in (1.0, size):
        options, given = posed("matrices", Y=factor * Y)
        ridge = ridge_of(options, given.samples(in_order=True))
        found.append(LeaveOneOut(ridge, ridge.samples.Y, CS).screen(np.array([0.2, 0.3, 0.5]))[0])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


# -- downhill ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_slope_of_the_error_is_that_of_finite_differences(name, weighted):
    options, given = posed(name, rng.uniform(0.5, 3.0, 36) if weighted else None)
    ridge = ridge_of(options, given.samples(in_order=True))
    psi = rng.uniform(0.2, 2.0, len(ridge.names))
    white = ridge.whitened(ridge.samples.Y[:, [1]])
    value, slopes = slope(ridge, white, psi)
    assert value == pytest.approx(error(ridge, white, psi), rel=1e-10)
    for m in range(psi.size):
        step = np.zeros_like(psi)
        step[m] = 1e-5
        change = error(ridge, white, psi + step) - error(ridge, white, psi - step)
        assert slopes[m] == pytest.approx(change / 2e-5, rel=1e-4, abs=1e-6 * value)


@pytest.mark.parametrize("name", ["matrices", "features"])
def test_a_descent_ends_lower_and_on_the_simplex(name):
    options, given = posed(name)
    ridge = ridge_of(options, given.samples(in_order=True))
    y = ridge.samples.Y[:, [1]]
    begin = np.full(len(ridge.names), 1.0 / len(ridge.names))
    theta, C = descend(ridge, y, begin, 0.3, 1e6, 30)
    white = ridge.whitened(y)
    assert theta.sum() == pytest.approx(1.0) and theta.min() >= 0.0 and C > 0.0
    assert error(ridge, white, C * theta) < 0.98 * error(ridge, white, 0.3 * begin)
    again, larger = descend(ridge, y, theta, C, 1e6, 1)  # what is best already stays
    assert error(ridge, white, larger * again) <= error(ridge, white, C * theta) * (1.0 + 1e-9)


@pytest.mark.parametrize("folds", [False, True])
def test_some_targets_have_the_errors_that_they_have_among_all(folds):
    options, given = posed("matrices")
    ridge = ridge_of(options, given.samples(in_order=True))
    splits = list(KFold(3).split(X))
    criterion = folded(options, given, splits, CS) if folds else LeaveOneOut(ridge, ridge.samples.Y, CS)
    theta, some = np.array([0.2, 0.3, 0.5]), np.array([3, 1])
    whole, all_places = criterion.screen(theta)
    least, places = criterion.screen(theta, some)
    np.testing.assert_allclose(least, whole[some], rtol=1e-9)
    np.testing.assert_array_equal(places, all_places[some])

"""Continua learned from blocks of rows in random features: the same answers as from the matrices of these."""

import pickle

import numpy as np
import pytest

from manykernels import AlignMKLRegressor, MKLClassifier, MKLRegressor, MKLRegressorCV
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.families import ARDGaussians, Dirichlets, Gaussians, Laplacians, Parametric
from manykernels.fitting.passed import Passed
from manykernels.inspection import certificate
from manykernels.kernels import FeatureMap, Gaussian, Matern, Polynomial
from manykernels.oracles import _waves, row_waves
from manykernels.persistence import load, save
from manykernels.solvers import corrective

N = 100


class Materns(Parametric):
    bounds = ((0.3, 6.0),)

    def kernel(self, width):
        return Matern(1.5, width)


ONE = {
    "gaussians": Gaussians(0.5, 10.0),
    "laplacians": Laplacians(1.0, 8.0),
    "dirichlets": Dirichlets(0.2, 3.0),  # 14 waves: all of them
    "drawn dirichlets": Dirichlets(0.2, 2.0, degree=3),
    "materns": Materns(),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = rng.randn(N, 3) + 0.5
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * np.cos(X[:, 2]) + 0.2 * rng.randn(N) + 3.0


def bound(family, X, y, **options):
    """The family on the samples, as a fit sees it."""
    seen = []
    whole = Passed.model

    def model(self, *given):
        seen.append(self)
        return whole(self, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Passed, "model", model)
        fitted = MKLRegressor(family, approx=RandomFeatures(40), random_state=0, **options).fit(X, y)
    return fitted, seen[0].space


def held(oracle):
    """The samples in the order in which the oracle holds them."""
    return oracle.source.values(np.asarray)


def grams(oracle, X, atoms):
    """K_z of the features, one by one, by cos(ωᵀ(x − x')) of every pair."""
    omega, power = oracle.waves.omega, oracle.scale * oracle.waves.power
    for atom in atoms:
        P = (X * oracle.waves.rates(atom)) @ omega
        yield np.cos(P[:, None] - P[None]) @ power


@pytest.mark.parametrize("name", ONE)
def test_the_bound_holds_at_every_width(data, name):
    X, y = data
    _, oracle = bound(ONE[name], X, y, tol=0.3)
    low, high = float(oracle.coordinates.low[0]), float(oracle.coordinates.high[0])
    rng, grid, X = np.random.RandomState(1), np.geomspace(low, high, 40), held(oracle)
    for A in (rng.randn(N, 1), np.sin(3.0 * X[:, :2])):
        found = oracle.best(A, 5)
        q = np.array([np.sum(A * (K @ A)) for K in grams(oracle, X, [(s,) for s in grid])])
        assert found.upper >= q.max() * (1.0 - 1e-12)
        assert found.upper <= found.values[0] * (1.0 + 1e-6)
        assert found.values[0] >= q.max() * (1.0 - 1e-9)
        again = [np.sum(A * (K @ A)) for K in grams(oracle, X, found.atoms)]
        np.testing.assert_allclose(found.values, again, rtol=1e-7)
        np.testing.assert_allclose(oracle.quad(A, found.atoms), again, rtol=1e-9)


def test_features_of_few_waves_are_the_kernel(data):
    X, y = data
    model, oracle = bound(ONE["dirichlets"], X, y, tol=0.1)
    for kernel, K in zip(model.kernels_, grams(oracle, X, model._model.atoms), strict=True):
        np.testing.assert_allclose(K, kernel(X), atol=1e-9)


@pytest.mark.parametrize("name", [*ONE, "ard"])
def test_a_fit_is_that_of_a_list_of_the_kernels_of_these_features(data, name):
    """Two solvers: passes over rows, and matrices of the same features of the kernels that were found."""
    X, y = data
    family = ARDGaussians(0.3, 10.0) if name == "ard" else ONE[name]
    model, oracle = bound(family, X, y, C=0.3, tol=1e-4)
    assert model.certified_ == (name != "ard") and 0.0 <= model.dual_gap_ <= 1e-4
    atoms = model._model.atoms
    listed = [FeatureMap(lambda A, z=z: oracle.map([z])(np.asarray(A)).T) for z in atoms]
    exact = MKLRegressor(listed, C=0.3, tol=1e-6, normalize=None).fit(X, y)
    assert model.objective_ == pytest.approx(exact.objective_, rel=2e-4)
    assert model.objective_ >= exact.objective_ * (1.0 - 1e-6)
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=0.05)
    P = 0.5 * sum(np.linalg.norm(part) for part in parts(model)) ** 2
    P += 0.15 * np.sum((model.predict(X) - y) ** 2)
    assert model.objective_ == pytest.approx(P, rel=1e-9)


def parts(model):
    """The coefficients of every kernel, of features as the problem scales them."""
    ptr, scale = model.features_.ptr, [kernel.scale_ for kernel in model.kernels_]
    return [model.feature_coef_[a:b] / s**0.5 for a, b, s in zip(ptr[:-1], ptr[1:], scale, strict=True)]


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "squared"])
def test_classes_are_certified_with_every_loss(data, loss):
    X, y = data
    weight = np.random.RandomState(2).randint(0, 3, N).astype(float)
    model = MKLClassifier(
        Gaussians(0.5, 10.0), loss=loss, C=0.5, approx=RandomFeatures(30), random_state=0, tol=1e-2
    ).fit(X, np.where(y > 3.0, "b", "a"), sample_weight=weight)
    assert model.certified_ and 0.0 <= model.dual_gap_ <= 1e-2
    again = np.repeat(np.arange(N), weight.astype(int))
    labels = np.where(y > 3.0, "b", "a")[again]
    twice = model.fit(X[again], labels)
    assert twice.score(X[again], labels) > 0.8


def test_outputs_share_widths(data):
    X, y = data
    Y = np.column_stack([y, X[:, 1] - X[:, 2] ** 2])
    for options in ({"multi_output": "shared"}, {"multi_output": "own"}):
        model = MKLRegressor(Gaussians(), approx=RandomFeatures(40), C=0.3, random_state=0, **options)
        model.fit(X, Y)
        assert np.all(model.certified_) and np.all(model.dual_gap_ >= 0.0)
        assert model.predict(X).shape == Y.shape


def test_covariates_stand_beside(data):
    """Residuals of least squares are what the covariates cannot explain."""
    X, y = data
    for loss in ("squared", "huber"):
        model = MKLRegressor(
            Gaussians(0.5, 9.0), loss=loss, covariates=[1], approx=RandomFeatures(20), C=0.3, tol=0.01
        ).fit(X, y + 5.0 * X[:, 1])
        assert model.certified_ and 0.0 <= model.dual_gap_ <= 0.01
    residual = y + 5.0 * X[:, 1] - model.set_params(loss="squared").fit(X, y + 5.0 * X[:, 1]).predict(X)
    assert abs(residual.sum()) < 1e-6 * np.abs(residual).sum()
    assert abs(residual @ X[:, 1]) < 1e-6 * np.abs(residual) @ np.abs(X[:, 1])


def test_all_that_a_model_is_asked_for(data, tmp_path):
    X, y = data
    model = MKLRegressor(Gaussians(), C=0.3, approx=RandomFeatures(60), random_state=0).fit(X, y)
    decided = model.features_.transform(X) @ model.feature_coef_ + model.intercept_
    np.testing.assert_allclose(decided, model.predict(X))
    np.testing.assert_allclose(model.contributions(X).sum(axis=1) + model.intercept_, decided)
    save(model, tmp_path / "model.mk")
    for other in (load(tmp_path / "model.mk"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_allclose(certificate(model, X, y).primal, model.objective_, rtol=1e-6)
    assert all(isinstance(kernel.kernel, Gaussian) for kernel in model.kernels_)
    search = MKLRegressorCV(
        Gaussians(0.5, 9.0), Cs=[1e-4, 0.3], cv=2, tol=0.01, approx=RandomFeatures(60), random_state=0
    ).fit(X, y)
    assert search.best_params_["C"] == 0.3


def test_mapped_files_dask_and_a_start_on_some_rows(tmp_path, monkeypatch):
    da = pytest.importorskip("dask.array")
    rng, n = np.random.RandomState(3), 20_500  # more than are merged
    X = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(n, 2))
    X[:] = rng.randn(n, 2)
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + rng.randn(n)
    weight = rng.randint(0, 3, n).astype(float)
    model = MKLRegressor(Gaussians(0.5, 5.0), C=0.01, approx=RandomFeatures(16), random_state=0)
    expected = model.fit(X, y, sample_weight=weight).predict(X)
    assert model.certified_
    lazy = da.from_array(np.asarray(X), chunks=(6000, 2))
    model.fit(lazy, da.from_array(y, chunks=5000), sample_weight=weight)
    np.testing.assert_allclose(model.predict(np.array(X)), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict(lazy).compute(), expected, rtol=1e-6, atol=1e-6)
    monkeypatch.setattr(corrective, "_ROWS", 1000)
    model.fit(X, y, sample_weight=weight)
    assert model.certified_
    np.testing.assert_allclose(model.predict(X), expected, atol=0.05)
    X[15_000, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in row 15000"):
        model.fit(X, y)


def test_what_cannot_be_bounded_says_so(data, monkeypatch):
    """A range that is too wide for bins: widths are searched on some rows, and nothing is claimed."""
    X, y = data
    monkeypatch.setattr(_waves, "_BINS", 1)
    monkeypatch.setattr(row_waves, "_DRAWN", 100)
    model = MKLRegressor(Gaussians(), C=0.3, approx=RandomFeatures(40), random_state=0, tol=0.02)
    assert not model.fit(X, y).certified_
    monkeypatch.undo()
    assert model.objective_ == pytest.approx(model.fit(X, y).objective_, rel=0.1)


def test_refusals_say_what_to_do(data):
    X, y = data

    class Powers(Parametric):
        bounds = ((0.1, 1.0),)

        def kernel(self, offset):
            return Polynomial(2, offset)

    wrong = [
        ({"norm": 2.0}, ValueError, "needs norm=1"),
        ({"solver": "greedy"}, ValueError, "blocks of rows. Take solver='corrective'"),
        ({"normalize": "frobenius"}, ValueError, "expected 'trace', 'max', 'cosine' or None"),
        ({"center": True}, ValueError, "the intercept does the same"),
        ({"memory_limit": "1MB"}, MemoryError, "blocks of rows, need at least .* Raise memory_limit"),
        ({"kernels": Powers()}, ValueError, "expected kernels of one spectral law"),
        ({"approx": RandomFeatures(7)}, ValueError, "take 8"),
        ({"approx": Nystroem(10)}, ValueError, r"approx=RandomFeatures\(512\)"),
    ]
    for options, kind, message in wrong:
        with pytest.raises(kind, match=message):
            MKLRegressor(**{"kernels": Gaussians(), "approx": RandomFeatures(8), **options}).fit(X, y)
    with pytest.raises(ValueError, match="by MKLClassifier and MKLRegressor"):
        AlignMKLRegressor(Gaussians(), weighting="greedy", approx=RandomFeatures(8)).fit(X, y)
    with pytest.raises(MemoryError, match=r"approx=RandomFeatures\(512\)"):
        MKLRegressor(Gaussians(), memory_limit="100kB").fit(X, y)


def test_gradients_are_true(data):
    X, y = data
    _, oracle = bound(ARDGaussians(0.3, 10.0), X, y, tol=0.3)
    A = np.random.RandomState(4).randn(N, 2)
    point, sigma = row_waves.LinePoint(factor=A), np.array([0.7, 2.0, 1.3])
    X = held(oracle)
    value, slope = oracle._form(sigma, point, X)
    assert value == pytest.approx(float(oracle.quad(A, [tuple(sigma)])[0]), rel=1e-9)
    for i, step in enumerate(1e-6 * np.eye(3)):
        ends = [oracle._form(sigma + s, point, X)[0] for s in (step, -step)]
        assert slope[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)

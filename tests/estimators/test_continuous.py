"""Fits over continua of kernels, against fine grids and against what they promise."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from tests.oracles.continua import Mixed

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import ARDGaussians, Dirichlets, Gaussians, Laplacians, Parametric, gaussian_grid
from manykernels.kernels import Dirichlet, Gaussian, Laplacian

rng = np.random.RandomState(0)
X = rng.normal(size=(60, 2))
y = np.sin(3 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=60)
labels = y > 0
LINE = rng.uniform(0, 6, size=(60, 1))
waves = np.sin(np.sqrt(12) * LINE[:, 0]) + 0.1 * rng.normal(size=60)


class Rational(Parametric):
    """1/(1 + σ‖x − x'‖²); a user's own family."""

    def __init__(self, bounds=((0.1, 10.0),)):
        self.bounds = bounds

    def kernel(self, *parameters):
        return RationalKernel(parameters[0])


class RationalKernel(Gaussian):
    rate = None

    def fill(self, S, out):
        np.divide(1.0, 1.0 + self.width * S, out=out)


FAMILIES = {
    "gaussians": (Gaussians(0.1, 30.0), gaussian_grid(0.1, 30.0, 80), X, y),
    "laplacians": (Laplacians(0.1, 30.0), [Laplacian(w) for w in np.geomspace(0.1, 30.0, 80)], X, y),
    "dirichlets": (Dirichlets(0.2, 8.0), [Dirichlet(s) for s in np.linspace(0.2, 8.0, 120)], LINE, waves),
}


def check_decision(model, data):
    np.testing.assert_allclose(
        model._decide(data)[:, 0],
        model.kernel_(data, model.X_fit_) @ model.dual_coef_ + model.intercept_,
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic"])
def test_a_certified_fit_against_a_fine_grid(name, loss):
    """A grid is part of the continuum: its optimum is no better, and no bound below is above it."""
    family, grid, data, target = FAMILIES[name]
    kind, target = (MKLRegressor, target) if loss == "squared" else (MKLClassifier, target > 0)
    model = kind(family, loss=loss, C=3.0, tol=1e-4).fit(data, target)
    finite = kind(grid, loss=loss, C=3.0, tol=1e-6).fit(data, target)
    assert model.certified_ and 0.0 <= model.dual_gap_ <= 1e-4
    assert model.objective_ <= finite.objective_ * (1 + 1e-4)
    assert model.objective_ * (1 - model.dual_gap_) <= finite.objective_ * (1 + 1e-9)
    assert finite.objective_ <= model.objective_ * 1.02  # the grid is fine: the same problem
    assert model.weights_.sum() == pytest.approx(1.0) and np.all(model.weights_ > 0.0)
    assert len(set(model._model.atoms)) == len(model.kernels_) == len(model.weights_)
    check_decision(model, data)


def test_the_frequencies_of_a_signal_are_found():
    """Afkanpour 2013, §3.1 in small: a grid that misses the frequencies cannot follow the signal."""
    model = MKLRegressor(Dirichlets(0.2, 8.0), C=3.0).fit(LINE, waves)
    grid = MKLRegressor([Dirichlet(s) for s in np.arange(1.0, 9.0)], C=3.0).fit(LINE, waves)
    assert model.objective_ < 0.9 * grid.objective_
    assert model._model.atoms[np.argmax(model.weights_)][0] == pytest.approx(np.sqrt(12), abs=0.1)


def test_greedy_reaches_the_same_optimum():
    corrective = MKLRegressor(Gaussians(0.1, 30.0), C=3.0, tol=1e-4).fit(X, y)
    greedy = MKLRegressor(Gaussians(0.1, 30.0), C=3.0, tol=2e-3, solver="greedy").fit(X, y)
    assert greedy.certified_ and greedy.dual_gap_ <= 2e-3
    assert greedy.objective_ == pytest.approx(corrective.objective_, rel=2e-3)
    check_decision(greedy, X)


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic"])
def test_neighbours_of_one_optimum_are_one_kernel(loss):
    """Kernels come in around an optimum from both sides; between two that are left, q is smaller."""
    kind, target = (MKLRegressor, y) if loss == "squared" else (MKLClassifier, y > 0)
    model = kind(Gaussians(0.1, 30.0), loss=loss, C=3.0).fit(X, target)
    one = kind([Gaussian(*z) for z in model._model.atoms], loss=loss, C=3.0, tol=1e-8).fit(X, target)
    assert model.objective_ * (1.0 - 1e-3) <= one.objective_ <= model.objective_ * (1.0 + 1e-9)
    assert model.objective_ * (1.0 - model.dual_gap_) <= one.objective_ * (1.0 + 1e-9)
    widths = np.sort(np.ravel(model._model.atoms))
    assert np.all(widths[1:] > 1.05 * widths[:-1])


def test_an_optimum_at_the_end_of_the_range_is_one_kernel():
    wide = MKLRegressor(Gaussians(0.1, 30.0), C=3.0, tol=1e-5).fit(X, y)
    low = 2.0 * max(sigma for (sigma,) in wide._model.atoms)
    model = MKLRegressor(Gaussians(low, 2.0 * low), C=3.0, tol=1e-5).fit(X, y)
    assert model.certified_ and model._model.atoms.count((pytest.approx(low, rel=1e-9),)) == 1
    assert len(model._model.atoms) == 1


def test_a_gap_that_covers_nothing_is_of_the_last_kernels_found():
    """Without a bound an old dual value says nothing of kernels met since: P may fall below it."""
    data = np.random.RandomState(1).normal(size=(60, 5))
    model = MKLRegressor(ARDGaussians(0.1, 50.0), C=10.0).fit(data, np.sin(2 * data[:, 0]) * data[:, 1])
    found = MKLRegressor(list(model.kernels_), C=10.0, normalize=None, tol=1e-8).fit(
        data, np.sin(2 * data[:, 0]) * data[:, 1]
    )
    assert not model.certified_
    assert model.objective_ * (1.0 - model.dual_gap_) <= found.objective_ * (1.0 + 1e-9)


def test_two_length_scales_are_found():
    data = np.linspace(0, 10, 150)[:, None]
    target = np.sin(0.5 * data[:, 0]) + 0.5 * np.sin(12 * data[:, 0])
    model = MKLRegressor(Gaussians(), C=10.0).fit(data, target)
    widths = np.array(model._model.atoms)[:, 0]
    narrow, wide = model.weights_[widths < 0.5].sum(), model.weights_[widths > 1.0].sum()
    assert model.certified_ and narrow > 0.1 and wide > 0.1 and narrow + wide > 0.99


def test_a_width_for_each_feature_finds_the_features_that_matter():
    data = rng.normal(size=(80, 4))
    model = MKLRegressor(ARDGaussians(0.1, 50.0), C=10.0).fit(data, np.sin(2 * data[:, 0]))
    single = MKLRegressor(Gaussians(0.1, 50.0), C=10.0).fit(data, np.sin(2 * data[:, 0]))
    assert not model.certified_ and model.objective_ < 0.5 * single.objective_
    heaviest = np.array(model._model.atoms[np.argmax(model.weights_)])
    assert heaviest[0] < 0.2 * heaviest[1:].min()
    assert model.kernels_[0].widths == model._model.atoms[0]
    check_decision(model, rng.normal(size=(5, 4)))


def test_fits_are_reproducible_and_survive_pickle_and_clone():
    for family in (Gaussians(), ARDGaussians(0.2, 20.0)):
        model = MKLClassifier(family, C=2.0)
        one, two = clone(model).fit(X, labels), clone(model).fit(X, labels)
        assert one._model.atoms == two._model.atoms
        np.testing.assert_array_equal(one.weights_, two.weights_)
        again = pickle.loads(pickle.dumps(one))
        np.testing.assert_array_equal(again.decision_function(X), one.decision_function(X))
        assert model.kernels is family and model.get_params()["kernels__low"] == family.low
    assert clone(Dirichlets(1.0, 2.0, degree=3)).get_params() == {"low": 1.0, "high": 2.0, "degree": 3}


def test_search_over_the_range():
    search = GridSearchCV(MKLRegressor(Gaussians(0.5, 1.0)), {"kernels__low": [0.01, 0.9]}, cv=2).fit(X, y)
    assert search.best_params_["kernels__low"] in (0.01, 0.9)
    assert (
        min(sigma for (sigma,) in search.best_estimator_._model.atoms) >= search.best_params_["kernels__low"]
    )


def test_several_outputs_classes_weights_frames_and_sparse_matrices():
    three = np.digitize(y, [-0.3, 0.3])
    shared = MKLClassifier(Gaussians(0.1, 30.0)).fit(X, three)
    assert shared.decision_function(X).shape == (60, 3) and shared.certified_
    separate = MKLClassifier(Gaussians(0.1, 30.0), multi_class="ovr").fit(X, three)
    assert separate.weights_.shape == (3, len(separate.kernels_)) and separate.certified_
    weight = np.where(np.arange(60) < 10, 2.0, 1.0)
    weighted = MKLRegressor(Gaussians(), tol=1e-6).fit(X, y, sample_weight=weight)
    repeated = MKLRegressor(Gaussians(), tol=1e-6).fit(np.vstack([X, X[:10]]), np.concatenate([y, y[:10]]))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-7)
    dense = MKLRegressor(Gaussians(0.1, 30.0)).fit(X, y).predict(X)
    frame = pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_allclose(MKLRegressor(Gaussians(0.1, 30.0)).fit(frame, y).predict(frame), dense)
    csr = sparse.csr_matrix(X)
    np.testing.assert_allclose(MKLRegressor(Gaussians(0.1, 30.0)).fit(csr, y).predict(csr), dense)


def test_a_users_family():
    model = MKLRegressor(Rational(), C=3.0).fit(X, y)
    finite = MKLRegressor([RationalKernel(s) for s in np.geomspace(0.1, 10.0, 60)], C=3.0, tol=1e-5).fit(X, y)
    assert not model.certified_ and model.objective_ <= finite.objective_ * (1 + 1e-3)
    check_decision(model, X)

    class Bounded(Rational):
        lipschitz = 2.5

    bounded = MKLRegressor(Bounded(((0.1, 0.2),)), C=0.1, tol=1e-2).fit(X, y)
    assert bounded.certified_ and bounded.dual_gap_ <= 1e-2


class TestBadInput:
    def test_norms(self):
        """Splitting a kernel of a continuum into copies lowers the objective without end for p > 1."""
        for solver in ("corrective", "greedy"):
            with pytest.raises(ValueError, match=f"solver='{solver}'.*norm=1.*copies of itself.*A grid"):
                MKLRegressor(Gaussians(), norm=2.0, solver=solver).fit(X, y)
        model = MKLRegressor(Gaussians(0.1, 30.0), norm=2.0, solver="stochastic", max_iter=20, random_state=0)
        model.fit(X, y)
        assert not model.certified_ and np.isfinite(model.objective_)
        check_decision(model, X)

    def test_what_would_change_every_kernel(self):
        with pytest.raises(ValueError, match="center=True was given"):
            MKLRegressor(Gaussians(), center=True).fit(X, y)
        with pytest.raises(ValueError, match="normalize='frobenius' was given with Gaussians"):
            MKLRegressor(Gaussians(), normalize="frobenius").fit(X, y)

    def test_a_users_gradient_that_is_wrong(self):
        class Wrong(Mixed):
            def gradient(self, parameters, X, S):
                return -super().gradient(parameters, X, S)

        for solver in ("corrective", "greedy"):
            with pytest.raises(ValueError, match=r"Wrong.gradient says .* and finite differences"):
                MKLRegressor(Wrong(), solver=solver).fit(X, y)

    def test_solvers_for_lists(self):
        with pytest.raises(ValueError, match="needs a list of kernels"):
            MKLRegressor(Gaussians(), solver="active-set").fit(X, y)
        with pytest.raises(ValueError, match="more kernels than can be listed"):
            MKLRegressor([Gaussians(), Gaussian(1.0)]).fit(X, y)

    def test_ranges(self):
        with pytest.raises(ValueError, match=r"low=-1 was given to Gaussians"):
            MKLRegressor(Gaussians(-1, 2.0)).fit(X, y)
        with pytest.raises(ValueError, match=r"low=3 and high=2 .*expected low < high"):
            MKLRegressor(Gaussians(3.0, 2.0)).fit(X, y)
        with pytest.raises(ValueError, match="Column 'word' does not hold numbers"):
            MKLRegressor(Gaussians()).fit(pd.DataFrame({"x": X[:, 0], "word": ["a"] * 60}), y)

    def test_duplicated_points_and_constant_features(self):
        twice = np.vstack([X, X])
        targets = np.concatenate([y, y + 0.1])
        model = MKLRegressor(Gaussians(), C=3.0).fit(twice, targets)
        assert model.certified_ and model.dual_gap_ <= 1e-3
        with pytest.warns(UserWarning, match="constant feature"):
            MKLRegressor(ARDGaussians(0.1, 20.0), tol=0.1).fit(np.column_stack([X, np.ones(60)]), y)

    def test_a_fit_that_stops_early_says_so(self):
        with pytest.warns(ConvergenceWarning, match="duality gap"):
            MKLRegressor(Gaussians(), C=100.0, tol=1e-9, max_iter=2).fit(X, y)

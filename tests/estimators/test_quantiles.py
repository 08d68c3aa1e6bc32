"""The pinball and Huber's loss in every regressor that takes any loss."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from manykernels import (
    HierarchicalMKLRegressor,
    LocalizedMKLRegressor,
    MKLRegressor,
    MKLRegressorCV,
    NonlinearMKLRegressor,
    UFOMKLRegressor,
)
from manykernels.approx import Nystroem
from manykernels.families import Gaussians, PolynomialDAG, Products
from manykernels.kernels import Gaussian, Linear
from manykernels.losses import Huber, Pinball

RNG = np.random.RandomState(0)
X = RNG.randn(90, 3)
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * RNG.standard_t(2, 90) + 4.0
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0)]
each_loss = pytest.mark.parametrize("loss", [Pinball(0.2), Pinball(0.9), Huber(0.3)], ids=repr)


def shares(model, X=X, y=Y):
    """Of targets below the predictions, and of those below or on them, where fits may put several."""
    f = model.predict(X)
    return np.mean(y < f - 1e-2), np.mean(y <= f + 1e-2)


def holds(model, loss):
    """What a good fit of these losses keeps of them: quantiles, or robust explanations."""
    if isinstance(loss, Pinball):
        below, upto = shares(model)
        return below <= loss.tau + 0.1 and upto >= loss.tau - 0.1
    return np.median(np.abs(Y - model.predict(X))) < np.median(np.abs(Y - np.median(Y)))


@each_loss
@pytest.mark.parametrize("norm", [1.0, 4 / 3, 2.0, np.inf])
@pytest.mark.parametrize("solver", ["auto", "alternating"])
def test_lists(loss, norm, solver):
    model = MKLRegressor(KERNELS, loss=loss, norm=norm, C=3.0, solver=solver).fit(X, Y)
    assert model.certified_ and model.dual_gap_ <= 1e-3 and holds(model, loss)


@each_loss
@pytest.mark.parametrize("solver", ["corrective", "greedy"])
def test_solvers_of_families_on_a_list(loss, solver):
    options = {"loss": loss, "norm": 1.0, "tol": 1e-2}
    model = MKLRegressor(KERNELS, solver=solver, **options).fit(X, Y)
    assert model.dual_gap_ <= 1e-2
    assert model.objective_ == pytest.approx(MKLRegressor(KERNELS, **options).fit(X, Y).objective_, rel=2e-2)


@each_loss
@pytest.mark.parametrize("family", [Gaussians(), Products(degree=2)], ids=repr)
def test_families(loss, family):
    model = MKLRegressor(family, loss=loss, norm=1.0).fit(X, Y)
    assert model.certified_ and model.dual_gap_ <= 1e-3 and holds(model, loss)


@pytest.mark.parametrize("name", ["pinball", "huber"])
def test_names(name):
    assert MKLRegressor(KERNELS, loss=name).fit(X, Y).dual_gap_ <= 1e-3


@each_loss
def test_weights_are_repetitions(loss):
    weights = RNG.randint(0, 3, len(Y))
    one = MKLRegressor(KERNELS, loss=loss, tol=1e-7).fit(X, Y, sample_weight=weights)
    rows = np.repeat(np.arange(len(Y)), weights)
    other = MKLRegressor(KERNELS, loss=loss, tol=1e-7).fit(X[rows], Y[rows])
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


@each_loss
def test_where_targets_lie_does_not_matter(loss):
    near, far = (MKLRegressor(KERNELS, loss=loss, tol=1e-6).fit(X, Y + shift) for shift in (0.0, 1e6))
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-4)


@each_loss
@pytest.mark.parametrize(
    "model",
    [
        LocalizedMKLRegressor(KERNELS, random_state=0),
        LocalizedMKLRegressor(KERNELS, gating="kmeans", random_state=0),
        HierarchicalMKLRegressor(PolynomialDAG(degree=2)),
        NonlinearMKLRegressor([Linear(), Gaussian(2.0)], n_starts=1, random_state=0),
        MKLRegressorCV(KERNELS, norms=[1.0, 2.0], cv=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_models(loss, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model.set_params(loss=loss).fit(X, Y)
    assert holds(model, loss)


@each_loss
def test_all_points_as_landmarks_give_the_exact_method(loss):
    exact = MKLRegressor(KERNELS, loss=loss, tol=1e-6).fit(X, Y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=.* is more than", UserWarning)
        model = MKLRegressor(KERNELS, loss=loss, tol=1e-6, approx=Nystroem(10_000, "uniform")).fit(X, Y)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-5)


@each_loss
def test_many_samples_in_features(loss):
    """Above a thousand samples nothing of n × n is made."""
    rng = np.random.RandomState(1)
    A = rng.randn(1200, 3)
    b = A[:, 0] * A[:, 1] + 0.3 * rng.standard_t(2, 1200)
    model = MKLRegressor(KERNELS, loss=loss, approx=Nystroem(20), random_state=0).fit(A, b)
    assert model.certified_ and model.dual_gap_ <= 1e-3
    if isinstance(loss, Pinball):
        below, upto = shares(model, A, b)
        assert below <= loss.tau + 0.02 and upto >= loss.tau - 0.02


@each_loss
def test_online(loss):
    model = UFOMKLRegressor(KERNELS, loss=loss, lam=0.01, epochs=30, random_state=0).fit(X, Y)
    assert 0.0 <= model.dual_gap_ < 1.0 and np.all(np.isfinite(model.predict(X)))

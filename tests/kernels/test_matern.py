"""The Matérn kernels beside their definition, at their limits, and wherever kernels are used."""

import numpy as np
import pytest
from scipy.special import gammaln, kve

from manykernels import MKLClassifier, MKLRegressor, load, save
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.kernels import Gaussian, Matern, OnColumns, combine, evaluate

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(np.sin(2.0 * X[:, 0]) + X[:, 1] > 0, 1, -1)


def definition(nu, r):
    t = np.sqrt(2.0 * nu) * r
    return np.exp((1.0 - nu) * np.log(2.0) - gammaln(nu) + nu * np.log(t) + np.log(kve(nu, t)) - t)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_closed_forms_are_the_definition(nu):
    r = np.geomspace(1e-3, 50.0, 200)
    K = Matern(nu, 1.0)(np.zeros((1, 1)), r[:, None])
    np.testing.assert_allclose(K[0], definition(nu, r), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_other_nu_are_continuous_with_the_closed_forms(nu):
    np.testing.assert_allclose(Matern(nu + 1e-9, 2.0)(X), Matern(nu, 2.0)(X), rtol=1e-7)


def test_infinity_is_the_gaussian_with_a_half():
    K = Matern(np.inf, 1.7)(X)
    np.testing.assert_allclose(K, Gaussian(np.sqrt(2.0) * 1.7)(X), rtol=1e-13)
    assert Matern(np.inf, 1.7).rate == pytest.approx(Gaussian(np.sqrt(2.0) * 1.7).rate)
    assert Matern(1.5, 1.7).rate is None
    np.testing.assert_allclose(Matern(100.0, 1.7)(X), K, atol=5e-3)  # k_ν − k_∞ = O(1/ν)


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.5, 30.0, 100.0, np.inf])
def test_all_distances_from_none_to_enormous(nu):
    r = np.concatenate([[0.0], np.geomspace(1e-160, 1e150, 600)])
    k = Matern(nu, 1.0)(np.zeros((1, 1)), r[:, None])[0]
    assert k[0] == 1.0 and k[-1] == 0.0 and np.all((k >= 0.0) & (k <= 1.0))
    assert np.all(np.diff(k) <= 1e-12)  # falls all the way, also where formulas take over from each other


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 0.7, 4.0])
def test_extreme_widths(nu):
    np.testing.assert_array_equal(Matern(nu, 1e-200)(X), np.eye(40))
    np.testing.assert_allclose(Matern(nu, 1e200)(X), np.ones((40, 40)))


@pytest.mark.parametrize("nu", [0.5, 2.0])
def test_not_a_number_stays_none(nu):
    bad = X.copy()
    bad[0, 0] = np.nan
    assert np.isnan(Matern(nu)(bad)[0, 1:]).all()


@pytest.mark.parametrize("nu", [0, -1.0, np.nan, 101.0, "1.5", None, True])
def test_a_wrong_nu_is_refused(nu):
    with pytest.raises(ValueError, match=r"nu=.* was given to Matern; expected a positive number up to 100"):
        Matern(nu)(X)


def test_distances_are_shared_with_gaussians(monkeypatch):
    import manykernels.kernels.matern as module

    kernels = [Gaussian(1.0), Matern(0.5), Matern(1.5, 3.0), Matern(np.inf)]
    expected = sum(kernel(X) for kernel in kernels)
    assert len({kernel.statistic for kernel in kernels}) == 1
    monkeypatch.setattr(module, "squared_distances", None)  # the first one computes them
    np.testing.assert_allclose(sum(K.copy() for _, K in evaluate(kernels, X)), expected, rtol=1e-12)
    np.testing.assert_allclose(combine(kernels, np.ones(4), X), expected, rtol=1e-12)


APPROX = [
    {"approx": approx, "loss": "squared", "random_state": 0} for approx in (Nystroem(30), RandomFeatures(200))
]


@pytest.mark.parametrize("given", [{}, {"memory_limit": "200kB"}, *APPROX])
def test_in_models(given):
    rough = np.abs(X[:, 0]) + 0.1 * X[:, 1]
    kernels = [*(Matern(nu, width) for nu in (0.5, 1.5, 2.5, 1.0) for width in (1.0, 4.0)), Gaussian(1.0)]
    kernels.append(OnColumns(Matern(0.5), [0]))
    model = MKLRegressor(kernels, C=100.0, **{**given, "loss": "squared"}).fit(X, rough)
    assert model.score(X, rough) > 0.9 and model.dual_gap_ <= model.tol
    model = MKLClassifier(kernels, C=10.0, **given).fit(X, Y)
    assert model.score(X, Y) > 0.9 and model.dual_gap_ <= model.tol


def test_random_features_are_saved(tmp_path):
    kernels = [Matern(0.5), Matern(2.0), Gaussian(1.0)]
    model = MKLClassifier(kernels, loss="squared", approx=RandomFeatures(20), random_state=0).fit(X, Y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))

"""Weights of its own for every output: as many problems as outputs, on the same kernels."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manykernels import MKLRegressor, MKLRegressorCV
from manykernels.approx import Nystroem
from manykernels.families import Gaussians, Products
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.persistence import load, save
from manykernels.report import report_data

rng = np.random.RandomState(0)
X = rng.randn(45, 4)
Y = np.c_[X[:, 0] - X[:, 1], np.sin(2 * X[:, 2]), 0.3 * X[:, 3] + X[:, 0]] + 0.1 * rng.randn(45, 3)
new = rng.randn(9, 4)
KERNELS = {
    "left": OnColumns(Linear(), [0, 1]),
    "right": OnColumns(Gaussian(2.0), [2, 3]),
    "all": Linear(),
}
CASES = {
    "squared": {},
    "dense": {"norm": 2.0, "C": 10.0},
    "corners": {"loss": "epsilon_insensitive"},
    "smooth": {"loss": "huber", "norm": 1.5},
    "features": {"approx": Nystroem(20), "random_state": 0},
    "centred": {"center": True, "fit_intercept": False},
}


@pytest.mark.parametrize("name", CASES)
def test_equals_a_model_of_every_output(name):
    options = CASES[name]
    model = MKLRegressor(KERNELS, multi_output="own", **options).fit(X, Y)
    assert model.weights_.shape == (3, 3) and model.objective_.shape == model.dual_gap_.shape == (3,)
    assert np.all(model.dual_gap_ <= model.tol)
    alone = [MKLRegressor(KERNELS, **options).fit(X, y) for y in Y.T]
    # equal rows are merged in an order that depends on all targets, so that the last digits may differ
    np.testing.assert_allclose(model.objective_, [one.objective_ for one in alone], rtol=2 * model.tol)
    found = np.column_stack([one.predict(new) for one in alone])
    np.testing.assert_allclose(model.predict(new), found, atol=0.03)
    parts = model.contributions(new)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.predict(new), atol=1e-10)


def test_kernels_are_made_on_request():
    model = MKLRegressor(KERNELS, multi_output="own").fit(X, Y)
    kernels = model.kernel_
    assert isinstance(kernels, list) and len(kernels) == 3
    decided = [
        k(new, model.X_fit_) @ model.dual_coef_[:, i] + model.intercept_[i] for i, k in enumerate(kernels)
    ]
    np.testing.assert_allclose(np.column_stack(decided), model.predict(new), atol=1e-10)
    assert set(model.view_weights_) == set(KERNELS)


def test_shapes_follow_the_targets():
    flat = MKLRegressor(KERNELS, multi_output="own").fit(X, Y[:, 0])
    column = MKLRegressor(KERNELS, multi_output="own").fit(X, Y[:, :1])
    assert flat.weights_.shape == (3,) and flat.predict(new).shape == (9,) and np.ndim(flat.objective_) == 0
    assert column.weights_.shape == (1, 3) and column.predict(new).shape == (9, 1)
    assert column.objective_.shape == (1,) and len(column.kernel_) == 1
    np.testing.assert_allclose(flat.weights_, column.weights_[0], atol=1e-12)


@pytest.mark.parametrize("family", [Gaussians(0.3, 5.0), Products(degree=2)])
def test_families(family):
    model = MKLRegressor(family, multi_output="own").fit(X, Y)
    assert model.weights_.shape == (3, len(model.kernels_))
    for k, y in enumerate(Y.T):
        alone = MKLRegressor(family).fit(X, y)
        np.testing.assert_allclose(model.objective_[k], alone.objective_, rtol=2e-3)


def test_files_certificates_and_reports(tmp_path):
    model = MKLRegressor(KERNELS, multi_output="own").fit(X, Y)
    save(model, tmp_path / "model.mk")
    for copy in (load(tmp_path / "model.mk"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(new), model.predict(new))
        np.testing.assert_array_equal(copy.objective_, model.objective_)
    found = certificate(model, X, Y)
    np.testing.assert_allclose(found.primal, model.objective_.sum(), rtol=1e-6)
    assert found.gap <= model.tol
    document = report_data(model, X, Y)
    assert np.shape(document["weights"]["values"]) == (3, 3)


def test_a_warm_start_goes_on_from_the_weights_of_each_output():
    model = MKLRegressor(KERNELS, multi_output="own", warm_start=True).fit(X, Y)
    weights = model.weights_
    model.fit(X, Y)
    np.testing.assert_allclose(model.weights_, weights, atol=0.05)
    assert np.all(model.dual_gap_ <= model.tol)


@pytest.mark.parametrize("given", ["ovr", None, 3])
@pytest.mark.parametrize("face", [MKLRegressor, MKLRegressorCV])
def test_says_what_multi_output_may_be(face, given):
    with pytest.raises((ValueError, TypeError), match="multi_output"):
        face(KERNELS, multi_output=given).fit(X, Y)


def test_one_bar_for_many_outputs(capsys):
    many = np.column_stack([Y + 0.1 * k for k in range(8)])
    MKLRegressor(KERNELS, multi_output="own", verbose=1).fit(X, many)
    assert capsys.readouterr().err.count("\n") == 1  # which a bar ends with


def test_one_warning_for_many_outputs():
    many = np.column_stack([Y + 0.1 * k for k in range(8)])
    with pytest.warns(ConvergenceWarning, match=r"of 24 outputs \(\d+, .*…\)") as told:
        MKLRegressor(KERNELS, multi_output="own", max_iter=1, tol=1e-9, C=100.0).fit(X, many)
    assert len(told) == 1

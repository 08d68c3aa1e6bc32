"""Losses that need every sample, in the space of features: the answers of matrices, without matrices."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import MKLClassifier, MKLRegressor
from manykernels.approx import Nystroem
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.losses import EpsilonInsensitive, Hinge
from manykernels.solvers import Alternating

X, y = make_classification(300, 5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
KERNELS = [Gaussian(1.5), Gaussian(5.0), Linear(), OnColumns(Gaussian(1.0), [0, 1])]
X_iris, y_iris = load_iris(return_X_y=True)
ALL = Nystroem(10_000, "uniform")


def quietly(model, *data):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=.* is more than", UserWarning)
        return model.fit(*data)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_all_points_as_landmarks_give_the_exact_method(loss, norm):
    options = {"loss": loss, "norm": norm, "tol": 1e-7}
    some = X[:100], y[:100]
    exact = MKLClassifier(KERNELS, **options).fit(*some)
    model = quietly(MKLClassifier(KERNELS, approx=ALL, **options), *some)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=2e-2)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
@pytest.mark.parametrize("center", [False, True])
def test_classifiers_reach_the_gap_they_promise(loss, multi_class, center):
    options = {"loss": loss, "multi_class": multi_class, "center": center, "norm": 2.0}
    options["class_weight"] = {0: 1.0, 1: 2.0, 2: 1.0}
    model = MKLClassifier(approx=Nystroem(10), random_state=0, **options).fit(X_iris, y_iris)
    assert model.dual_gap_ <= 1e-3 and model.certified_ and model.score(X_iris, y_iris) > 0.9
    f = model.features_.transform(X_iris) @ model.feature_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(X_iris), f)
    if loss == "logistic":
        np.testing.assert_allclose(model.predict_proba(X_iris).sum(axis=1), 1.0)


def test_regressors_reach_the_gap_they_promise():
    A, b = load_diabetes(return_X_y=True)
    model = MKLRegressor(approx=Nystroem(10), loss="epsilon_insensitive", random_state=0).fit(20.0 * A, b)
    assert model.dual_gap_ <= 1e-3 and model.score(20.0 * A, b) > 0.3


def test_other_solvers_use_matrices_where_they_fit():
    options = {"loss": "logistic", "approx": Nystroem(10), "norm": 2.0, "random_state": 0, "tol": 1e-5}
    a, b = (MKLClassifier(KERNELS, solver=s, **options).fit(X, y) for s in ("auto", Alternating()))
    assert a.objective_ == pytest.approx(b.objective_, rel=2e-5)


def test_too_little_memory_says_what_to_do():
    model = MKLClassifier(KERNELS, approx=Nystroem(20), memory_limit="400KB")
    with pytest.raises(MemoryError, match=r"features of all 300 samples.*loss='squared'.*UFOMKLClassifier"):
        model.fit(X, y)
    with pytest.raises(MemoryError, match="matrices of 300 × 300"):
        model.set_params(memory_limit="2MB", solver="alternating").fit(X, y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_components=.* is more than:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        MKLClassifier(approx=Nystroem(5), random_state=0),
        MKLClassifier(loss="logistic", approx=Nystroem(5), random_state=0, norm=2.0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.1), Hinge()], ids=str)
def test_corners_are_learned_with_matrices_while_samples_are_few(loss):
    """The smoothed loss reaches about 1e-9 at best, and slowly."""
    task = MKLClassifier if loss.task == "classification" else MKLRegressor
    model = task(KERNELS, loss=loss, approx=Nystroem(3), tol=1e-8, random_state=0)
    assert model.fit(X[:36], y[:36]).dual_gap_ <= 1e-8

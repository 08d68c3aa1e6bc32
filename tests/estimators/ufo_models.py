"""Data, models and forms of UFO-MKL that its tests share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from manykernels import UFOMKLClassifier, UFOMKLRegressor
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.kernels import Gaussian

rng = np.random.RandomState(0)
X, X_NEW = rng.randn(90, 4), rng.randn(40, 4)
NAMES = ["a", "b", "c", "d"]


def labels(Z, n=2):
    signal = Z[:, 0] + Z[:, 1] ** 2 - 0.7
    return np.array(["u", "v", "w"])[np.digitize(signal, [0.0] if n == 2 else [-0.4, 0.6])]


def numbers(Z):
    return np.stack([np.sin(Z[:, 0]) + 0.3 * Z[:, 1], Z[:, 2] ** 2 / 3], axis=1)


TWO, THREE, Y = labels(X), labels(X, 3), numbers(X)
GAUSSIANS = [Gaussian(0.7), Gaussian(1.5), Gaussian(3.0), Gaussian(6.0)]
MODELS = [
    (UFOMKLClassifier(loss="hinge"), TWO),
    (UFOMKLClassifier(loss="hinge"), THREE),
    (UFOMKLClassifier(loss="multiclass_hinge"), TWO),
    (UFOMKLClassifier(loss="logistic"), THREE),
    (UFOMKLClassifier(loss="squared_hinge"), THREE),
    (UFOMKLRegressor(), Y),
    (UFOMKLRegressor(loss="epsilon_insensitive"), Y[:, 0]),
]
each_model = pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda v: repr(v)[:60])
FORMS = [{}, {"average": True}, {"approx": RandomFeatures(30)}, {"approx": Nystroem(20), "average": True}]
each_form = pytest.mark.parametrize("form", FORMS, ids=repr)


def make(model, **options):
    defaults = {"kernels": GAUSSIANS, "lam": 0.01, "alpha": 0.005, "epochs": 2, "random_state": 0}
    return clone(model).set_params(**{**defaults, **options})


def decide(model, data):
    return model.decision_function(data) if hasattr(model, "decision_function") else model.predict(data)


def same(a, b, data=X_NEW, atol=1e-10):
    np.testing.assert_allclose(decide(a, data), decide(b, data), atol=atol)
    np.testing.assert_allclose(a.weights_, b.weights_, rtol=1e-9)
    np.testing.assert_allclose(a.intercept_, b.intercept_, atol=atol)
    assert a.t_ == b.t_

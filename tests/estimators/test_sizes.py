"""Targets, weights and C of any size: a right answer, or a sentence that says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import manykernels as mk
from manykernels.approx import Nystroem
from manykernels.kernels import Gaussian, Linear

rng = np.random.RandomState(0)
X = rng.randn(40, 3)
y = np.sin(2 * X[:, 0]) + 0.1 * rng.randn(40)
KERNELS = [Gaussian(1.0), Gaussian(4.0), Linear()]
REGRESSORS = {
    "one-stage": mk.MKLRegressor(KERNELS),
    "features": mk.MKLRegressor(KERNELS, approx=Nystroem(5), random_state=0),
    "two-stage": mk.AlignMKLRegressor(KERNELS),
    "two-stage, features": mk.AlignMKLRegressor(KERNELS, approx=Nystroem(5), random_state=0),
    "localized": mk.LocalizedMKLRegressor(KERNELS, random_state=0),
    "non-linear": mk.NonlinearMKLRegressor(KERNELS, random_state=0),
    "hierarchical": mk.HierarchicalMKLRegressor(),
    "search": mk.MKLRegressorCV(KERNELS, strategy="finite", norms=[1.0], Cs=[1.0, 10.0]),
}
ONLINE = {
    "ε-insensitive": mk.MKLRegressor(KERNELS, loss="epsilon_insensitive"),
    "online": mk.UFOMKLRegressor(KERNELS, random_state=0),
}


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("size", [2.0**230, 2.0**-230])
def test_a_squared_error_does_not_mind_the_size_of_targets(name, size):
    model = REGRESSORS[name]
    here = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, size * y).predict(X) / size, here, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [*REGRESSORS, *ONLINE])
@pytest.mark.parametrize(("size", "fault"), [(1e300, "overflow"), (1e-300, "vanish")])
def test_targets_whose_squares_are_no_numbers_are_refused(name, size, fault):
    with pytest.raises(ValueError, match=rf"the largest of y is .*{fault}.*Divide y by a constant"):
        (REGRESSORS | ONLINE)[name].fit(X, size * y)


@pytest.mark.parametrize("size", [1e300, 1e-300])
@pytest.mark.parametrize(
    "model",
    [
        mk.MKLClassifier(KERNELS),
        mk.MKLClassifier(KERNELS, loss="logistic", approx=Nystroem(5)),
        mk.MKLClassifierCV(KERNELS, strategy="finite"),
    ],
    ids=["one-stage", "features", "search"],
)
def test_so_are_weights_and_costs(model, size):
    with pytest.raises(ValueError, match=r"the largest of sample_weight is .*Divide all weights by"):
        model.fit(X, y > 0, sample_weight=np.full(40, size))
    if isinstance(model, mk.MKLClassifierCV):
        with pytest.raises(ValueError, match=r"the largest of Cs is .*Leave such values out"):
            mk.MKLClassifierCV(KERNELS, Cs=[1.0, size]).fit(X, y > 0)
        return
    with pytest.raises(ValueError, match=r"the largest of C .* is .*Change C="):
        type(model)(KERNELS, C=size, loss=model.loss, approx=model.approx).fit(X, y > 0)


@pytest.mark.parametrize(
    "model",
    [
        mk.LocalizedMKLRegressor(KERNELS, C=1e300),
        mk.NonlinearMKLRegressor(KERNELS, C=1e300),
        mk.HierarchicalMKLRegressor(C=1e300),
        mk.MKLRegressor(KERNELS, C=1e300, approx=Nystroem(5)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_costs_are_refused_by_every_estimator(model):
    with pytest.raises(ValueError, match=r"the largest of C .* is 1e\+300.*overflow"):
        model.fit(X, y)


def test_a_weight_that_is_nothing_beside_others_is_like_none():
    weight = np.ones(40)
    weight[::4], weight[1::4] = 1e-300, 1e-30
    model = mk.MKLRegressor(KERNELS, tol=1e-8)
    here = model.fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(
        model.fit(X, y, sample_weight=np.where(weight < 1.0, 0.0, 1.0)).predict(X), here, atol=1e-6
    )

"""NLMKL on real sets: the same draws as products, what the radius means, and the quick forms of both."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import nonlinear_real, products_real

from manykernels import NonlinearMKLRegressor
from manykernels.families import rank_one

RNG = np.random.RandomState(0)
X = RNG.randn(90, 4)
Y = np.sign(X[:, 0] * X[:, 1])


@pytest.mark.slow
def test_rows_that_products_have_too_are_the_same():
    sizes = (50, 20, 20)
    here = nonlinear_real.trial(X, Y, sizes, 3, quick=True)
    there = products_real.trial(X, Y, sizes, 3, quick=True)
    both = ("linear", "uniform, D = 2", "uniform, D = 3")
    assert [here[name]["error"] for name in both] == [there[name] for name in both]
    assert here["NLMKL, D = 2, Λ = 1"]["error"] < 20.0 < here["linear"]["error"]  # a product of two variables


@pytest.mark.parametrize("degree", [2, 3])
def test_another_radius_is_another_cost(degree):
    """For μ₀ = 0, K of radius Λ is Λ^D that of radius 1."""
    options = {"degree": degree, "fit_intercept": False, "random_state": 0, "tol": 1e-6}
    one = NonlinearMKLRegressor(rank_one(), C=3.0 * 0.4**degree, **options).fit(X, Y)
    small = NonlinearMKLRegressor(rank_one(), C=3.0, radius=0.4, **options).fit(X, Y)
    np.testing.assert_allclose(small.weights_, 0.4 * one.weights_, atol=1e-4)
    np.testing.assert_allclose(small.predict(X), one.predict(X), atol=1e-4)


def test_which_predictor_is_chosen():
    parts = [(X[:1], Y[:1]), (X[:4], np.array([1.0, 1.0, -1.0, 1.0])), (X[:2], np.array([1.0, -1.0]))]
    answers = [-np.ones(4), np.ones(4), np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4)]
    predictors = [lambda Z, f=f: f[: len(Z)] for f in answers]
    assert products_real.chosen(iter(predictors), parts) == (1, 50.0)  # the first of equal ones
    assert products_real.tuned(iter(predictors), parts) == 50.0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "methods"), [("nonlinear_real", 7), ("products_real", 11)])
def test_the_quick_forms(name, methods, quick):
    rows = quick(name)["Per cent wrong"]
    assert len(rows) == methods
    assert all(0.0 <= row["german"].mean <= 100.0 for row in rows)

"""The risk with machines in the space of features: derivatives that are those of matrices."""

import numpy as np
import pytest
from tests.helpers import featured

from manykernels.grams import FactorGram
from manykernels.grams.features import FeatureGram
from manykernels.losses import Hinge, Logistic, Squared, SquaredHinge
from manykernels.objectives import Separable
from manykernels.objectives.features import FeatureRisk

PHI, PTR, SIGNS, COST = featured()


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Squared()], ids=str)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_sensitivity_is_that_of_matrices(loss, intercept):
    """BᵀB is the second derivative of J, and `move` the derivative of α, of each output."""
    two, costs = np.hstack([SIGNS, SIGNS[::-1]]), np.hstack([COST, COST])
    theta, zero = np.array([0.3, 0.2, 0.4, 0.1]), np.zeros_like(two)
    values = []
    for gram, risk in (
        (FeatureGram(PHI, PTR), FeatureRisk(Separable(loss, two, costs, intercept))),
        (FactorGram(PHI, PTR), Separable(loss, two, costs, intercept)),
    ):
        K = gram.combine(theta)
        fit = risk.solve(K, zero, 1e-12)
        B = risk.curvature(K, fit, gram.products(fit.alpha))
        d = np.array([0.1, -0.1, 0.2, 0.0])
        values.append((fit.alpha, B.T @ B, risk.move(fit, zero, B @ d)))
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5 * np.abs(b).max())


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Squared(), Hinge()], ids=str)
def test_covariates_in_features_are_those_of_matrices(loss):
    theta, rng = np.array([0.3, 0.2, 0.4, 0.1]), np.random.RandomState(0)
    Z = np.linalg.qr(np.column_stack([np.ones(len(SIGNS)), rng.randn(len(SIGNS), 2)]))[0]
    zero, plain = np.zeros_like(SIGNS), Separable(loss, SIGNS, COST, True, Z=Z)
    K, explicit, risk = (
        FactorGram(PHI, PTR).combine(theta),
        FeatureGram(PHI, PTR).combine(theta),
        FeatureRisk(plain),
    )
    matrix, fit = plain.solve(K, zero, 1e-9), risk.solve(explicit, zero, 1e-7)
    np.testing.assert_allclose(Z.T @ fit.alpha, 0.0, atol=1e-7)
    assert plain.machine_value(fit) == pytest.approx(plain.machine_value(matrix), rel=1e-4)
    if loss.smooth:
        np.testing.assert_allclose(fit.f, matrix.f, atol=1e-3 * np.abs(matrix.f).max())
        R = FactorGram(PHI, PTR).products(matrix.alpha)
        B, B_plain = risk.curvature(explicit, fit, R), plain.curvature(K, matrix, R)
        np.testing.assert_allclose(
            B.T @ B, B_plain.T @ B_plain, atol=1e-2 * np.abs(B_plain.T @ B_plain).max()
        )

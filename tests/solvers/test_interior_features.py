"""Kernels of few features in the joint interior-point method: the same path as with matrices."""

import numpy as np
import pytest
from tests.helpers import risk_of

from manykernels.families import Dirichlets
from manykernels.grams import StackGram
from manykernels.losses import EpsilonInsensitive, Hinge
from manykernels.oracles import build_oracle
from manykernels.penalties import Simplex
from manykernels.solvers._interior import InteriorPoint
from manykernels.solvers._interior_features import FeatureInterior


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.1)], ids=repr)
def test_the_same_steps_as_with_matrices(loss, fit_intercept):
    X = np.random.RandomState(0).uniform(-3.0, 3.0, (60, 1))
    y = np.sin(1.7 * X) + 0.5 * np.sin(4.0 * X)
    risk = risk_of(loss, np.where(y > 0.0, 1.0, -1.0), y, 5.0, fit_intercept)
    oracle = build_oracle(Dirichlets(0.5, 6.0), X, normalize="trace")
    gram = oracle.gram([(0.7,), (1.7,), (2.5,), (4.0,), (5.5,)])
    assert FeatureInterior.serves(gram, risk)
    stack = StackGram(np.stack([gram.combine(row) for row in np.eye(5)]))
    theta, alpha, largest = np.full(5, 0.2), risk.zeros(), gram.largest()
    given = risk, Simplex()
    ours = FeatureInterior(gram, *given, theta, alpha, largest)
    plain = InteriorPoint(*given, stack.combine, stack.products, theta, alpha, largest)
    for inner in (ours, plain):
        inner.run(risk.zero_value(), 1e-7 * risk.zero_value())
    np.testing.assert_allclose(ours.theta, plain.theta, atol=1e-5)
    assert ours.distance <= 1e-6 * risk.zero_value()


@pytest.mark.parametrize(("d", "degree"), [(1, 1), (1, 3), (2, 1)])
def test_features_of_a_frequency_are_the_kernel(d, degree):
    X = 5.0 + np.random.RandomState(1).randn(200, d)
    family = Dirichlets(0.1, 9.0, degree=degree)
    Phi = family.factor(np.array([2.3]), X)
    np.testing.assert_allclose(Phi @ Phi.T, family.kernel(2.3)(X), atol=1e-12)
    assert Dirichlets(0.1, 9.0, degree=40).factor(np.array([2.3]), X) is None

"""The pinball and Huber's loss: optimality, quantiles, and one optimum of three solvers and cvxpy."""

import numpy as np
import pytest
from tests.helpers import cvxpy_optimum, primal_of, problem, risk_of, run

from manykernels.grams import StackGram
from manykernels.losses import EpsilonInsensitive, Huber, Pinball, Squared
from manykernels.oracles import FiniteOracle
from manykernels.penalties import ElasticNet, LpBall, Simplex
from manykernels.solvers import ActiveSet, Alternating, Corrective

LOSSES = [Pinball(0.1), Pinball(0.5), Pinball(0.9), Huber(0.1), Huber(2.0)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
each_intercept = pytest.mark.parametrize("fit_intercept", [True, False], ids=["b", "no b"])
each_cost = pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])


def setting(loss, fit_intercept, weighted, n=40, outputs=1):
    stack, labels, targets = problem(3, n, outputs=outputs)
    C = np.random.RandomState(1).uniform(0.2, 3.0, targets.shape) if weighted else 2.0
    return stack, risk_of(loss, labels, targets + 1.0, C, fit_intercept)


@pytest.mark.slow
@each_loss
@each_intercept
@each_cost
@pytest.mark.parametrize("penalty", [Simplex(), LpBall(2.0), ElasticNet(0.4)], ids=repr)
def test_two_solvers_and_cvxpy_have_one_optimum(loss, fit_intercept, weighted, penalty):
    stack, risk = setting(loss, fit_intercept, weighted)
    result = run(ActiveSet(), stack, risk, penalty, 1e-8)
    reference = cvxpy_optimum(stack, risk, penalty)
    P = primal_of(stack, risk, penalty, result.weights, result.alpha, result.intercept)
    assert P == pytest.approx(reference, rel=1e-6) and result.gap <= 1e-7 * P
    assert result.dual <= reference * (1 + 1e-7)
    other = run(Alternating(), stack, risk, penalty, 1e-4, 5000)
    assert other.dual <= reference * (1 + 1e-7) and other.primal == pytest.approx(reference, rel=2e-4)


@each_loss
@each_intercept
def test_corrective_agrees(loss, fit_intercept):
    stack, risk = setting(loss, fit_intercept, True)
    one = run(ActiveSet(), stack, risk, Simplex(), 1e-8)
    other = run(Corrective(), FiniteOracle(StackGram(stack)), risk, Simplex(), 1e-7)
    assert other.primal == pytest.approx(one.primal, rel=1e-6)


@each_loss
@each_intercept
@each_cost
def test_optimality_conditions(loss, fit_intercept, weighted):
    """−α/C is a slope of the loss at f, up to the gap, and Σα = 0 where an intercept is fitted."""
    stack, risk = setting(loss, fit_intercept, weighted, outputs=2)
    result = run(ActiveSet(), stack, risk, LpBall(2.0), 1e-9)
    f = np.einsum("m,mij,jk->ik", result.weights, stack, result.alpha) + result.intercept
    a, scale = result.alpha / risk.C, result.primal
    lo, hi = loss.bounds(risk.Y)
    assert np.all(a >= lo - 1e-12) and np.all(a <= hi + 1e-12)
    if fit_intercept:
        np.testing.assert_allclose(result.alpha.sum(axis=0), 0.0, atol=1e-9)
    else:
        assert np.all(result.intercept == 0.0)
    slack = risk.C * (loss.value(risk.Y, f) + loss.conjugate(risk.Y, -a) + a * f)
    assert slack.min() >= -1e-10 * scale and slack.sum() <= 1e-6 * scale
    r = risk.Y - f
    if isinstance(loss, Huber):
        np.testing.assert_allclose(a, np.clip(r, -loss.delta, loss.delta), atol=1e-3)
    else:
        np.testing.assert_allclose(a[r > 1e-2], loss.tau, atol=1e-3)
        np.testing.assert_allclose(a[r < -1e-2], loss.tau - 1.0, atol=1e-3)


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
@each_cost
def test_the_share_of_targets_below_is_tau(tau, weighted):
    """Of their costs: at most τ strictly below f, at least τ below or on it."""
    stack, risk = setting(Pinball(tau), True, weighted, 60)
    result = run(ActiveSet(), stack, risk, Simplex(), 1e-9)
    f = np.einsum("m,mij,jk->ik", result.weights, stack, result.alpha) + result.intercept
    total, near = risk.C.sum(), 1e-4
    assert risk.C[risk.Y < f - near].sum() <= tau * total + 1e-9
    assert risk.C[risk.Y <= f + near].sum() >= tau * total - 1e-9


def test_huber_of_a_large_delta_is_least_squares():
    stack, risk = setting(Huber(1e3), True, True)
    _, squared = setting(Squared(), True, True)
    one, other = (run(ActiveSet(), stack, r, Simplex(), 1e-9) for r in (risk, squared))
    assert one.primal == pytest.approx(other.primal, rel=1e-8)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-4)


def test_the_median_is_half_of_the_tube_of_no_width():
    """Pinball(½) at 2C is the ε-insensitive loss with ε = 0 at C."""
    stack, labels, targets = problem(3, 40)
    one = run(ActiveSet(), stack, risk_of(Pinball(0.5), labels, targets, 2.0), Simplex(), 1e-9)
    other = run(ActiveSet(), stack, risk_of(EpsilonInsensitive(0.0), labels, targets, 1.0), Simplex(), 1e-9)
    assert one.primal == pytest.approx(other.primal, rel=1e-7)

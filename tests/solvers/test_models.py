"""The two interior-point methods inside the active set, by themselves."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value
from tests.helpers import problem, risk_of

from manykernels.losses import EpsilonInsensitive, Hinge
from manykernels.machines.barrier import reach
from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex
from manykernels.solvers._interior import InteriorPoint
from manykernels.solvers._local_model import LocalModel

PENALTIES = [Simplex(), LpBall(4 / 3), LpBall(2.0), LpBall(3.0), L2Ball(0.3, 0.7), ElasticNet(0.4)]
each_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


def cvxpy_model(c, Q, center, B, mu, penalty):
    theta = cp.Variable(center.size, nonneg=True)
    d = theta - center
    value = cp.max(c - 0.5 * Q @ theta) + 0.5 * cp.sum_squares(B @ d) + 0.5 * mu * cp.sum_squares(d)
    constraints = []
    if isinstance(penalty, ElasticNet):
        lam, beta = penalty.lam, 1 - penalty.lam
        # ½h = ½β²Σθ/(1−λθ) = ½β²/λ Σ (1/(1−λθ) − 1)
        value += 0.5 * beta**2 / lam * cp.sum(cp.inv_pos(1 - lam * theta) - 1)
    elif isinstance(penalty, L2Ball):
        constraints = [cp.norm(theta - penalty.mu0) <= penalty.radius]
    else:
        constraints = [cp.pnorm(theta, penalty.p) <= 1]
    task = cp.Problem(cp.Minimize(value), constraints)
    return optimal_value(task), theta.value


@each_penalty
@pytest.mark.parametrize("cuts", [1, 5])
@pytest.mark.parametrize("rank", [0, 2, 9])
@pytest.mark.parametrize(("mu", "scale"), [(0.0, 1e4), (0.5, 1.0)])
def test_model_minimiser(penalty, cuts, rank, mu, scale):
    rng = np.random.RandomState(cuts + rank)
    M = 5
    c, Q = scale * rng.uniform(1, 2, cuts), scale * rng.uniform(0.1, 2, (cuts, M))
    if isinstance(penalty, ElasticNet):
        c, Q, scale = c / scale, Q / scale, 1.0  # its h has a scale of its own
    center, B = penalty.closed_form(rng.uniform(size=M)), np.sqrt(scale) * rng.randn(rank, M)
    model = LocalModel(c, Q, center, B, mu * scale, penalty, scale)
    step = model.minimise(1e-9)
    value, theta = cvxpy_model(c, Q, center, B, mu * scale, penalty)
    np.testing.assert_allclose(step.value, value, rtol=1e-5, atol=1e-5 * scale)
    np.testing.assert_allclose(step.value, model.value(step.theta), rtol=1e-12)
    assert np.isfinite(penalty.value(step.theta)) and np.all(step.theta >= 0)
    assert np.all(step.cut_weights >= 0) and step.cut_weights.sum() == pytest.approx(1.0)
    if mu > 0 or rank > M:  # strictly convex
        np.testing.assert_allclose(step.theta, theta, atol=5e-3)


def test_model_puts_exact_zeros():
    """One cut that prefers kernel 0: everything on it."""
    penalty = Simplex()
    model = LocalModel(
        np.ones(1), np.array([[2.0, 1.0, 0.5]]), np.full(3, 1 / 3), np.zeros((0, 3)), 0.0, penalty, 1.0
    )
    assert np.array_equal(model.minimise(1e-9).theta, [1.0, 0.0, 0.0])


def test_the_model_is_the_same_by_both_ways_to_solve():
    """More kernels than rows of B and than 300: the Woodbury identity."""
    rng = np.random.RandomState(0)
    c, Q, B = rng.uniform(size=3), rng.uniform(size=(3, 350)), rng.randn(4, 350)
    models = [LocalModel(c, Q, LpBall(2.0).start(350), B, 0.1, LpBall(2.0), 1.0) for _ in range(2)]
    assert models[0].H is None
    models[1].H = models[1].B.T @ models[1].B
    a, b = (model.minimise(1e-9) for model in models)
    np.testing.assert_allclose(a.theta, b.theta, atol=1e-6)


def test_reach():
    assert reach(np.array([1.0, 2.0]), np.array([-0.5, -4.0])) == 0.5
    assert reach(np.array([1.0]), np.array([0.5])) == np.inf


@each_penalty
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.1)], ids=repr)
@pytest.mark.parametrize(("fit_intercept", "outputs"), [(True, 1), (True, 2), (False, 1)])
@pytest.mark.parametrize("C", [0.05, 5.0])
def test_interior_point_reaches_high_accuracy(penalty, loss, fit_intercept, C, outputs):
    stack, labels, targets = problem(1, 30, 6, outputs=outputs)
    risk = risk_of(loss, labels, targets, C, fit_intercept)
    start, zero = penalty.start(6), np.zeros_like(labels)
    scale = risk.value(zero)
    rough = risk.solve(np.einsum("m,mij->ij", start, stack), zero, 0.05 * scale).alpha
    inner = InteriorPoint(
        risk,
        penalty,
        lambda theta: np.einsum("m,mij->ij", theta, stack),
        lambda alpha: stack @ alpha,
        start,
        rough,
        0.0,
    )
    iterations = inner.run(scale, 1e-9 * scale)
    assert iterations < 60
    alpha = risk.feasible(inner.alpha)
    dual = risk.dual(alpha, np.einsum("ik,mij,jk->m", alpha, stack, alpha), penalty, 0.0)
    theta = inner.weights()
    fit = risk.solve(np.einsum("m,mij->ij", theta, stack), alpha, 1e-9 * scale)
    q = np.einsum("ik,mij,jk->m", fit.alpha, stack, fit.alpha)
    primal = 0.5 * theta @ q + 0.5 * penalty.value(theta) + risk.value(fit.f)
    # the elastic net's h is curved, and its slope at the last step is not solved as exactly as the box
    accuracy = 1e-3 if isinstance(penalty, ElasticNet) else 1e-7
    assert -1e-9 * primal <= primal - dual <= accuracy * primal


def test_interior_point_is_as_exact_as_its_own_objective_asks():
    """More words than texts and a large C: P falls from 3·10⁵ to 9, and rises again on the way."""
    rng = np.random.RandomState(0)
    X, y = rng.randn(30, 60), np.where(rng.rand(30) < 0.5, 1.0, -1.0)[:, None]
    risk, penalty, zero = risk_of(Hinge(), y, y, 1e4), Simplex(), np.zeros((30, 1))
    scale, start = risk.value(zero), penalty.start(60)

    def products(alpha):
        return X.T[:, :, None] * (X.T @ alpha)[:, None]

    inner = InteriorPoint(risk, penalty, lambda theta: (X * theta) @ X.T, products, start, zero, 0.0)
    assert inner.run(scale, 1e-4 * scale, share=1e-4) < 60
    alpha, theta = risk.feasible(inner.alpha), inner.weights()
    dual = risk.dual(alpha, ((X.T @ alpha) ** 2).sum(axis=1), penalty, 0.0)
    fit = risk.solve((X * theta) @ X.T, alpha, 1e-5 * dual)
    primal = 0.5 * theta @ ((X.T @ fit.alpha) ** 2).sum(axis=1) + risk.value(fit.f)
    assert primal < 1e-3 * scale and -1e-9 * primal <= primal - dual <= 1e-3 * primal

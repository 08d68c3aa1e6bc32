"""Machines for one kernel: optimality, certificates, warm starts and sensitivity, for every loss."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import LOSSES, problem

from manykernels import losses
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Loss, Pinball, Squared, SquaredHinge
from manykernels.machines import SMO, Newton, machine_for


class OwnHuber(Loss):
    """½r² for |r| ≤ 1, |r| − ½ beyond: a user's own smooth loss, with no curvature far out."""

    task = "regression"
    strong = 1.0

    def value(self, y, f):
        r = np.abs(y - f)
        return np.where(r <= 1, 0.5 * r * r, r - 0.5)

    def gradient(self, y, f):
        return np.clip(f - y, -1.0, 1.0)

    def hessian(self, y, f):
        return (np.abs(y - f) <= 1.0).astype(float)

    def conjugate(self, y, u):
        return np.where(np.abs(u) <= 1 + 1e-12, u * (y + 0.5 * u), np.inf)

    def bounds(self, y):
        return np.full_like(y, -1.0), np.full_like(y, 1.0)


ALL = [*LOSSES, EpsilonInsensitive(0.0), Pinball(0.9), OwnHuber()]
SMOOTH = [loss for loss in ALL if loss.smooth]
each_loss = pytest.mark.parametrize("loss", ALL, ids=repr)
each_intercept = pytest.mark.parametrize("fit_intercept", [True, False], ids=["b", "no b"])


def test_every_exported_loss_is_covered():
    exported = {getattr(losses, name) for name in losses.__all__ if isinstance(getattr(losses, name), type)}
    scalar = {kind for kind in exported if issubclass(kind, Loss)}
    assert {kind for kind in scalar if not inspect.isabstract(kind)} == {type(loss) for loss in LOSSES}


def setting(loss, seed=0, n=25, kernel="full"):
    stack, labels, targets = problem(seed, n)
    y = (labels if loss.task == "classification" else 3 * targets)[:, 0]
    C = 10 ** np.random.RandomState(seed).uniform(-1, 1.5, n)
    K = {"full": stack[:3].sum(axis=0), "linear": stack[-1], "zero": 0 * stack[0]}[kernel]
    return K, y, C


def primal(loss, K, y, C, alpha, b):
    score = K @ alpha
    return 0.5 * alpha @ score + C @ loss.value(y, score + b)


def dual(loss, K, y, C, alpha):
    return -(C @ loss.conjugate(y, -alpha / C)) - 0.5 * alpha @ K @ alpha


def distance(loss, y, f, a):
    """dist(−a, ∂ℓ(y, f)), with f on a kink up to 1e-6: the union over f ± 1e-6 for losses with corners."""
    around = [loss.distance(y, f + t, a) for t in (-1e-6, 0.0, 1e-6)]
    if loss.smooth:
        return around[1]
    on_kink = (loss.gradient(y, f - 1e-6) != loss.gradient(y, f + 1e-6)).astype(bool)
    return np.where(on_kink, 0.0, around[1])


@each_loss
@each_intercept
@pytest.mark.parametrize("kernel", ["full", "linear", "zero"])
def test_optimality_and_certificate(loss, fit_intercept, kernel):
    K, y, C = setting(loss, kernel=kernel)
    machine = machine_for(loss, fit_intercept)
    s = machine.solve(K, y, C, np.zeros(y.size), 1e-9)
    P, D = primal(loss, K, y, C, s.alpha, s.intercept), dual(loss, K, y, C, s.alpha)
    np.testing.assert_allclose(s.f, K @ s.alpha + s.intercept, atol=1e-8)
    assert s.gap <= 1e-9 + 1e-13 * abs(P)
    assert -1e-9 * abs(P) <= P - D <= 1e-8 * max(abs(P), 1)
    assert np.max(distance(loss, y, s.f, s.alpha / C)) < 1e-4
    if fit_intercept:
        assert abs(s.alpha.sum()) <= 1e-9 * max(np.abs(s.alpha).sum(), 1)
    else:
        assert s.intercept == 0.0


@each_loss
@each_intercept
@pytest.mark.parametrize("tol", [1e1, 1e-2, 1e-6])
@pytest.mark.parametrize("start", ["zero", "random", "huge"])
def test_the_gap_is_true_from_any_start(loss, fit_intercept, tol, start):
    """A start may lie outside the dual box, with Σα ≠ 0: the gap must bound the distance to the optimum."""
    for seed in range(4):
        K, y, C = setting(loss, seed, n=9)
        rng = np.random.RandomState(seed)
        alpha = {"zero": 0.0, "random": 1.0, "huge": 1e3}[start] * C * rng.randn(9)
        given_alpha = alpha.copy()
        machine = machine_for(loss, fit_intercept)
        s = machine.solve(K, y, C, alpha, tol)
        best = machine.solve(K, y, C, np.zeros(9), 1e-10)
        P, optimum = (primal(loss, K, y, C, x.alpha, x.intercept) for x in (s, best))
        assert np.array_equal(alpha, given_alpha)
        assert s.gap <= tol
        assert optimum - 1e-8 <= P <= optimum + s.gap + 1e-8 * max(abs(P), 1)


def random_problem(seed, loss):
    """Few samples, C over six decades, and a start α far outside of everything."""
    rng = np.random.RandomState(seed)
    n = rng.randint(2, 12)
    X = rng.randn(n, 2)
    K = np.exp(-rng.choice([0.01, 0.1, 1, 10]) * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    K *= rng.choice([0.01, 1, 100])
    y = rng.choice([-1.0, 1.0], n)
    C = 10.0 ** rng.uniform(-3, 3, n)
    alpha = rng.choice([0.1, 1, 10, 100]) * C * rng.randn(n)
    tol = rng.choice([0.1, 1, 10, 1e3])
    return K, y if loss.task == "classification" else 3 * y + rng.randn(n), C, alpha, tol


def assert_gap_is_true(loss, seed):
    K, y, C, alpha, tol = random_problem(seed, loss)
    machine = machine_for(loss, True)
    s = machine.solve(K, y, C, alpha, tol)
    best = machine.solve(K, y, C, np.zeros(y.size), 1e-9)
    P, optimum = (primal(loss, K, y, C, x.alpha, x.intercept) for x in (s, best))
    assert best.gap <= 1e-6 * max(optimum, 1)
    assert P - optimum <= s.gap * (1 + 1e-6) + 1e-6 * max(optimum, 1)


@pytest.mark.parametrize("seed", [555, 585, 597, 802, 1000, 1072, 1292])
@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=repr)
def test_a_start_that_does_not_sum_to_zero_gives_no_false_gap(loss, seed):
    """Newton's first steps are shortened here, so that α keeps a part of its start."""
    assert_gap_is_true(loss, seed)


@given(seed=st.integers(0, 100_000), loss=st.sampled_from(ALL))
def test_the_gap_is_true_on_random_problems(seed, loss):
    assert_gap_is_true(loss, seed)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@each_intercept
def test_newton_begins_inside_the_box(loss, fit_intercept):
    _, y, C = setting(loss)
    lo, hi = (bound * C for bound in loss.bounds(y))
    start = Newton(loss, fit_intercept)._feasible(y, C, 0.9 * C * np.sign(y))
    if fit_intercept:
        assert np.all((start >= lo) & (start <= hi)) and abs(start.sum()) <= 1e-12 * C.sum()
        again = Newton(loss, True)._feasible(y, C, start)
        np.testing.assert_allclose(again, start, atol=1e-12 * C.sum())
    else:
        np.testing.assert_array_equal(start, 0.9 * C * np.sign(y))


@each_loss
@each_intercept
def test_warm_starts_give_the_same_answer(loss, fit_intercept):
    K, y, C = setting(loss)
    machine = machine_for(loss, fit_intercept)
    cold = machine.solve(K, y, C, np.zeros(y.size), 1e-10)
    near = machine.solve(1.02 * K, y, C, np.zeros(y.size), 1e-3)
    warm = machine.solve(K, y, C, near.alpha, 1e-10)
    np.testing.assert_allclose(warm.f, cold.f, atol=2e-4)
    values = [primal(loss, K, y, C, s.alpha, s.intercept) for s in (warm, cold)]
    np.testing.assert_allclose(*values, rtol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_squared_loss_is_the_linear_system(fit_intercept):
    """(K + diag(1/C)) α + b1 = y, 1ᵀα = 0."""
    K, y, C = setting(Squared())
    s = machine_for(Squared(), fit_intercept).solve(K, y, C, np.ones(y.size), 1e-12)
    np.testing.assert_allclose((K + np.diag(1 / C)) @ s.alpha + s.intercept, y, atol=1e-9)


def test_one_class_needs_no_kernel():
    K, _, C = setting(Hinge())
    for loss in (Hinge(), SquaredHinge()):
        s = machine_for(loss, True).solve(K, np.ones(C.size), C, np.zeros(C.size), 1e-9)
        assert not s.alpha.any() and s.gap == 0.0 and s.intercept == pytest.approx(1.0)


def test_huber_where_no_sample_has_curvature():
    """All residuals in the linear part: Newton has no system to solve, only slopes."""
    y = np.array([-100.0, -90.0, 90.0, 100.0])
    s = machine_for(OwnHuber(), True).solve(0.01 * np.eye(4), y, np.ones(4), np.zeros(4), 1e-9)
    np.testing.assert_allclose(s.alpha, np.sign(y), atol=1e-9)


# -- how the solution moves with the kernel --------------------------------------------------------
def hessian_of_value(loss, stack, y, C, theta, fit_intercept, h):
    """∂²J/∂θ² by central differences of the gradient −½q(α(θ)), which is exact at a solution."""

    def gradient(theta):
        K = np.einsum("m,mij->ij", theta, stack)
        s = machine_for(loss, fit_intercept).solve(K, y, C, np.zeros(y.size), 1e-13)
        return -0.5 * np.einsum("i,mij,j->m", s.alpha, stack, s.alpha)

    steps = h * np.eye(theta.size)
    return np.stack([(gradient(theta + e) - gradient(theta - e)) / (2 * h) for e in steps])


@pytest.mark.parametrize("loss", ALL, ids=repr)
@each_intercept
def test_sensitivity_is_the_second_derivative(loss, fit_intercept):
    stack, labels, targets = problem(1, 20)
    y = (labels if loss.task == "classification" else targets)[:, 0]
    C, theta = np.full(20, 2.0), np.array([0.3, 0.8, 0.5, 0.4])
    machine = machine_for(loss, fit_intercept)
    K = np.einsum("m,mij->ij", theta, stack)
    s = machine.solve(K, y, C, np.zeros(20), 1e-13)
    R = np.einsum("mij,j->im", stack, s.alpha)
    P = machine.sensitivity(K, y, C, s)
    B = P.half(R)
    expected = hessian_of_value(loss, stack, y, C, theta, fit_intercept, 1e-5)
    np.testing.assert_allclose(B.T @ B, expected, atol=2e-3 * np.abs(expected).max())
    d = 1e-5 * np.array([1.0, -2.0, 0.5, 1.5])
    moved = machine.solve(K + np.einsum("m,mij->ij", d, stack), y, C, s.alpha, 1e-13)
    step = P.move(B @ d, 20)
    np.testing.assert_allclose(step, moved.alpha - s.alpha, atol=2e-2 * np.abs(step).max() + 1e-9)


def test_no_free_support_vectors():
    """All α at bounds: α does not move, and B is empty."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    machine = SMO(Hinge(), True)
    K, C = 0.1 * np.eye(4), np.full(4, 0.01)
    P = machine.sensitivity(K, y, C, machine.solve(K, y, C, np.zeros(4), 1e-9))
    assert P.half(np.ones((4, 2))).shape == (0, 2)
    assert not P.move(np.zeros(0), 4).any()


def test_sensitivity_of_the_zero_kernel_is_finite():
    y, C = np.array([1.0, -1.0, 0.5]), np.ones(3)
    machine = SMO(EpsilonInsensitive(0.1), True)
    K = np.zeros((3, 3))
    s = machine.solve(K, y, C, np.array([0.5, -0.5, 0.0]), 1e-9)
    s.alpha = np.array([0.5, -0.7, 0.2])
    B = machine.sensitivity(K, y, C, s).half(np.ones((3, 2)))
    assert np.all(np.isfinite(B))


# -- which machine ---------------------------------------------------------------------------------
def test_the_machine_follows_from_the_loss():
    for loss in ALL:
        assert isinstance(machine_for(loss, True), Newton if loss.smooth else SMO)


def test_a_loss_without_corners_known_or_hessian_is_refused():
    class Rough(OwnHuber):
        smooth = False

    with pytest.raises(TypeError, match="must be smooth"):
        machine_for(Rough(), True)

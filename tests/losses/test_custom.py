"""A user's own loss: five methods are enough, the base class derives the rest."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value, root
from tests.helpers import problem, risk_of, run

from manykernels import MKLRegressor
from manykernels.approx import Nystroem
from manykernels.kernels import Gaussian, Linear
from manykernels.losses import Hinge, Logistic, Loss, PiecewiseLinear, resolve_loss
from manykernels.machines import SMO
from manykernels.penalties import Simplex
from manykernels.solvers import ActiveSet


class Huber(Loss):
    """½r² for |r| ≤ δ, δ|r| − ½δ² beyond."""

    task = "regression"

    def __init__(self, delta=1.0):
        self.delta = delta

    def value(self, y, f):
        r = np.abs(y - f)
        return np.where(r <= self.delta, 0.5 * r**2, self.delta * (r - 0.5 * self.delta))

    def gradient(self, y, f):
        return np.clip(f - y, -self.delta, self.delta)

    def hessian(self, y, f):
        return (np.abs(y - f) <= self.delta).astype(float)

    def conjugate(self, y, u):
        return np.where(np.abs(u) <= self.delta, u * y + 0.5 * u**2, np.inf)

    def bounds(self, y):
        return np.full_like(y, -self.delta), np.full_like(y, self.delta)


def only_required(loss):
    """The same loss without anything but the five methods."""

    class Minimal(Loss):
        task, smooth = loss.task, loss.smooth

        def value(self, y, f):
            return loss.value(y, f)

        def gradient(self, y, f):
            return loss.gradient(y, f)

        def hessian(self, y, f):
            return loss.hessian(y, f)

        def conjugate(self, y, u):
            return loss.conjugate(y, u)

        def bounds(self, y):
            return loss.bounds(y)

    return Minimal()


def test_huber_dual_step_is_the_maximiser():
    loss, rng = Huber(0.7), np.random.default_rng(0)
    y, f, k = rng.normal(scale=2.0, size=(3, 100))
    a, k = rng.uniform(-0.7, 0.7, size=100), np.abs(k)

    def dual(a_new):
        return -loss.conjugate(y, -a_new) - (a_new - a) * f - 0.5 * k * (a_new - a) ** 2

    best = dual(loss.dual_step(y, f, a, k))
    assert np.all(
        best >= np.max([dual(np.full(100, grid)) for grid in np.linspace(-0.7, 0.7, 2001)], axis=0) - 1e-12
    )


def test_huber_intercept_and_distance():
    loss, rng = Huber(0.7), np.random.default_rng(1)
    y, f = rng.normal(scale=2.0, size=(2, 50))
    C = rng.uniform(size=50)
    b = loss.intercept(y, f, C)
    assert abs(np.sum(C * loss.gradient(y, f + b))) < 1e-13
    assert (
        np.all(loss.distance(y, f, -loss.gradient(y, f)) == 0)
        and loss.ray(y, f) is None
        and loss.strong == 0.0
    )


@pytest.mark.parametrize("exact", [Logistic(), Hinge()], ids=repr)
def test_derived_methods_agree_with_exact_ones(exact):
    minimal, rng = only_required(exact), np.random.default_rng(2)
    y = rng.choice([-1.0, 1.0], 200)
    f, a = rng.normal(scale=4.0, size=200), y * rng.uniform(size=200)
    for k in (0.0, 1e-6, 1.0, 1e6):
        np.testing.assert_allclose(
            minimal.dual_step(y, f, a, k), exact.dual_step(y, f, a, k), rtol=1e-10, atol=1e-13
        )


def test_resolve_takes_it():
    loss = Huber(2.0)
    assert resolve_loss(loss, "regression") is loss


class Lopsided(PiecewiseLinear):
    """2 (r − ε)₊ + ½ (−r − ε)₊: box and tube are all that is said of it."""

    task = "regression"
    translates = True
    tube = 0.2

    def bounds(self, y):
        return np.full_like(y, -0.5), np.full_like(y, 2.0)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_piecewise_linear_loss_is_solved_by_the_methods_of_the_hinge(fit_intercept):
    stack, labels, targets = problem(2, 30)
    risk = risk_of(Lopsided(), labels, targets + 1.0, 1.5, fit_intercept)
    assert isinstance(risk.machine, SMO) and risk.piecewise_linear and risk.box() is not None
    roots = [root(K) for K in stack]
    w = [cp.Variable((L.shape[1], 1)) for L in roots]
    r = risk.Y - sum(L @ v for L, v in zip(roots, w, strict=True)) - (cp.Variable() if fit_intercept else 0.0)
    size = 0.5 * cp.square(sum(cp.norm(v, "fro") for v in w))
    fit = 1.5 * cp.sum(2.0 * cp.pos(r - 0.2) + 0.5 * cp.pos(-r - 0.2))
    optimum = optimal_value(cp.Problem(cp.Minimize(size + fit)), 1e-10)
    result = run(ActiveSet(), stack, risk, Simplex(), 1e-8)
    assert result.primal == pytest.approx(optimum, rel=1e-6) and result.gap <= 1e-7


@pytest.mark.parametrize("n", [60, 1100])
def test_a_piecewise_linear_loss_is_learned_in_features(n):
    """As matrices up to a thousand samples, without any beyond."""
    rng = np.random.RandomState(0)
    X = rng.randn(n, 3)
    y = X[:, 0] * X[:, 1] + 0.3 * rng.randn(n)
    model = MKLRegressor([Linear(), Gaussian(1.5)], loss=Lopsided(), approx=Nystroem(15), random_state=0).fit(
        X, y
    )
    assert model.certified_ and model.dual_gap_ <= 1e-3

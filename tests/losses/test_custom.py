"""A user's own loss: five methods are enough, the base class derives the rest."""

import numpy as np
import pytest

from manykernels.losses import Hinge, Logistic, Loss, resolve_loss


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

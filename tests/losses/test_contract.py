"""What every exported loss promises, checked against definitions rather than formulas."""

import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from manykernels import losses
from manykernels.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Pinball,
    Squared,
    SquaredHinge,
)

INSTANCES = [
    Hinge(),
    SquaredHinge(),
    Logistic(),
    Squared(),
    EpsilonInsensitive(),
    EpsilonInsensitive(epsilon=0.0),
    EpsilonInsensitive(epsilon=1.5),
    Pinball(),
    Pinball(tau=0.1),
    Pinball(tau=0.9),
    Huber(),
    Huber(delta=0.25),
]
each_loss = pytest.mark.parametrize("loss", INSTANCES, ids=repr)


def test_every_exported_loss_is_covered():
    exported = {kind for name in losses.__all__ if inspect.isclass(kind := getattr(losses, name))}
    # the others: test_structured.py
    scalar = {kind for kind in exported if issubclass(kind, Loss) and not inspect.isabstract(kind)}
    assert scalar == {type(loss) for loss in INSTANCES}


def targets(loss, n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], n) if loss.task == "classification" else rng.normal(scale=2.0, size=n)


def dual_points(loss, y, seed=1, reach=4.0):
    """Random a inside the bounds, the ends among them (infinite ends are cut at `reach`)."""
    lo, hi = (np.clip(end, -reach, reach) for end in loss.bounds(y))
    share = np.random.default_rng(seed).uniform(size=y.size)
    share[: y.size // 10], share[-(y.size // 10) :] = 0.0, 1.0
    return lo + share * (hi - lo)


def dual_value(loss, y, f, a, k, a_new):
    """The one-dimensional dual that `dual_step` maximises, as the base class states it."""
    return -loss.conjugate(y, -a_new) - (a_new - a) * f - 0.5 * k * (a_new - a) ** 2


def subdifferential(loss, y, f, h=1e-7):
    """[left slope, right slope] of the loss at f by one-sided differences."""
    value = loss.value(y, f)
    return (value - loss.value(y, f - h)) / h, (loss.value(y, f + h) - value) / h


@each_loss
def test_fenchel_young(loss):
    y = targets(loss, 400)
    f = np.random.default_rng(2).normal(scale=3.0, size=400)
    u = -dual_points(loss, y)
    assert np.all(loss.value(y, f) + loss.conjugate(y, u) >= f * u - 1e-12)
    g = loss.gradient(y, f)
    np.testing.assert_allclose(loss.value(y, f) + loss.conjugate(y, g), f * g, atol=1e-12)


@each_loss
def test_conjugate_is_the_supremum(loss):
    y = targets(loss, 60)
    u = -0.98 * dual_points(loss, y)
    f = np.linspace(-20.0, 20.0, 20_001)
    supremum = np.max(u[:, None] * f - loss.value(y[:, None], f), axis=1)
    np.testing.assert_allclose(loss.conjugate(y, u), supremum, atol=2e-3)


@each_loss
def test_conjugate_is_finite_exactly_within_bounds(loss):
    y = targets(loss, 50)
    for end, outwards in zip(loss.bounds(y), (-1.0, 1.0), strict=True):
        bounded = np.isfinite(end)
        assert np.all(np.isfinite(loss.conjugate(y[bounded], -end[bounded])))
        assert np.all(np.isfinite(loss.conjugate(y, -(end + outwards * 1e-15))[bounded])), (
            "rounding is not outside"
        )
        assert np.all(loss.conjugate(y, -(end + outwards * 1e-6))[bounded] == np.inf)
        assert np.all(np.isfinite(loss.conjugate(y, np.full_like(y, -outwards * 1e6))[~bounded]))


@each_loss
def test_gradient_and_hessian_are_derivatives(loss):
    y = targets(loss, 300)
    f = np.random.default_rng(3).normal(scale=2.0, size=300)
    left, right = subdifferential(loss, y, f, h=1e-6)
    assert np.all(loss.gradient(y, f) >= left - 1e-5) and np.all(loss.gradient(y, f) <= right + 1e-5)
    if loss.smooth:
        h = 1e-6
        numeric = (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h)
        np.testing.assert_allclose(loss.hessian(y, f), numeric, atol=1e-6)
    else:
        with pytest.raises(NotImplementedError, match="no Hessian"):
            loss.hessian(y, f)


@each_loss
def test_strong_is_the_modulus_of_the_conjugate(loss):
    y = targets(loss, 400)
    h = 1e-3
    u = -dual_points(loss, y) * 0.99
    second = (loss.conjugate(y, u + h) - 2 * loss.conjugate(y, u) + loss.conjugate(y, u - h)) / h**2
    second = second[np.isfinite(second)]
    assert np.all(second >= loss.strong - 1e-6)
    assert np.min(second) <= loss.strong + 0.02, "a larger modulus holds"


@each_loss
@pytest.mark.parametrize("k", [0.0, 1e-3, 0.7, 30.0])
def test_dual_step_is_the_maximiser(loss, k):
    y = targets(loss, 80)
    f = np.random.default_rng(4).normal(scale=2.0, size=80)
    a = dual_points(loss, y)
    a_new = loss.dual_step(y, f, a, np.full(80, k))
    best = dual_value(loss, y, f, a, k, a_new)
    assert np.all(np.isfinite(best))
    lo, hi = (np.clip(end, -15.0, 15.0) for end in loss.bounds(y))
    grid = lo + np.linspace(0.0, 1.0, 3001)[:, None] * (hi - lo)
    assert np.all(best >= np.max(dual_value(loss, y, f, a, k, grid), axis=0) - 1e-12)


@each_loss
def test_dual_step_agrees_with_the_generic_one(loss):
    y = targets(loss, 300)
    rng = np.random.default_rng(5)
    f, k, a = rng.normal(scale=5.0, size=300), 10.0 ** rng.uniform(-8, 8, size=300), dual_points(loss, y)
    np.testing.assert_allclose(
        loss.dual_step(y, f, a, k), Loss.dual_step(loss, y, f, a, k), rtol=1e-9, atol=1e-12
    )


@each_loss
@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("k", [0.0, 1e-300, 1e-150, 1.0, 1e150])
def test_dual_step_at_extreme_scales(loss, scale, k):
    y = targets(loss, 40)
    f = scale * np.random.default_rng(6).normal(size=40)
    a_new = loss.dual_step(y, f, dual_points(loss, y), np.full(40, k))
    lo, hi = loss.bounds(y)
    assert np.all(np.isfinite(a_new)) and np.all(a_new >= lo) and np.all(a_new <= hi)


@each_loss
def test_a_second_dual_step_does_not_move(loss):
    y = targets(loss, 100)
    f, k = np.random.default_rng(7).normal(size=(2, 100))
    k, a = np.abs(k), dual_points(loss, y)
    a_new = loss.dual_step(y, f, a, k)
    np.testing.assert_allclose(loss.dual_step(y, f + k * (a_new - a), a_new, k), a_new, atol=1e-12)


@each_loss
def test_distance_is_to_the_subdifferential(loss):
    y = targets(loss, 200)
    f = np.random.default_rng(8).normal(scale=2.0, size=200)
    epsilon = 0.0 if loss.task == "classification" else getattr(loss, "epsilon", 0.0)
    f[:25], f[25:50] = y[:25] - epsilon, y[25:50] + epsilon
    # halves and wholes have no rounding, so that a kink is met exactly
    y[:50], f[:50] = np.round(2 * y[:50]) / 2, np.round(2 * f[:50]) / 2
    a = dual_points(loss, y)
    left, right = subdifferential(loss, y, f)
    expected = np.maximum(np.maximum(left + a, -a - right), 0.0)
    np.testing.assert_allclose(loss.distance(y, f, a), expected, atol=1e-5)
    np.testing.assert_allclose(loss.distance(y, f, -loss.gradient(y, f)), 0.0, atol=1e-15)


@each_loss
def test_ray(loss):
    y = targets(loss, 60)
    a = dual_points(loss, y)
    ray = loss.ray(y, a)
    if ray is None:
        assert isinstance(loss, Logistic)
        return
    lin, quad = ray
    for s in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(-loss.conjugate(y, -s * a), s * lin - 0.5 * s**2 * quad, atol=1e-12)


@each_loss
def test_shapes_broadcast(loss):
    y, f = targets(loss, 6).reshape(2, 3), np.linspace(-2.0, 2.0, 3)
    a, k = dual_points(loss, y.ravel()).reshape(2, 3), 2.0
    for result in (loss.value(y, f), loss.gradient(y, f), loss.distance(y, f, a), loss.dual_step(y, f, a, k)):
        assert result.shape == (2, 3) and result.dtype == np.float64
    assert loss.conjugate(y, -a).shape == (2, 3) and all(end.shape == (2, 3) for end in loss.bounds(y))


@each_loss
@settings(max_examples=30)
@given(f=st.floats(-1e150, 1e150), y=st.sampled_from([-1.0, 1.0]))
def test_values_survive_any_scale(loss, f, y):
    y, f = np.array([y]), np.array([f])
    g = loss.gradient(y, f)
    assert np.isfinite(loss.value(y, f)) and loss.value(y, f) >= 0
    assert np.isfinite(g) and loss.distance(y, f, -g) == 0
    lo, hi = loss.bounds(y)
    assert lo <= -g <= hi


@each_loss
def test_is_a_plain_parameter_object(loss):
    for copy in (clone(loss), pickle.loads(pickle.dumps(loss))):
        assert repr(copy) == repr(loss) and copy.get_params() == loss.get_params()


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf])
def test_epsilon_is_checked_at_use(epsilon):
    with pytest.raises(ValueError, match="expected a finite number ≥ 0"):
        EpsilonInsensitive(epsilon).value(np.ones(1), np.zeros(1))


@pytest.mark.parametrize("tau", [0.0, 1.0, -0.1, np.nan])
def test_tau_is_checked_at_use(tau):
    with pytest.raises(ValueError, match="expected a number between 0 and 1"):
        Pinball(tau).value(np.ones(1), np.zeros(1))


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, np.inf])
def test_delta_is_checked_at_use(delta):
    with pytest.raises(ValueError, match="expected a finite number > 0"):
        Huber(delta).value(np.ones(1), np.zeros(1))


@each_loss
def test_what_a_loss_says_of_itself_is_true(loss):
    """Box and tube of the piecewise linear ones, the square of the quadratic one."""
    y = targets(loss, 200)
    f, a = np.random.default_rng(9).normal(scale=2.0, size=200), dual_points(loss, y)
    linear = np.allclose(-loss.conjugate(y, -a), y * a - loss.tube * np.abs(a), rtol=0, atol=1e-12)
    assert linear == loss.piecewise_linear
    assert np.allclose(loss.value(y, f), 0.5 * (y - f) ** 2) == loss.quadratic
    assert not loss.never_rests or np.mean(loss.gradient(y, f) == 0.0) < 0.05
    g = np.asarray(loss.gradient(np.array([1.0, -1.0]), np.zeros(2)))
    assert not loss.probabilistic or np.allclose(g, [-0.5, 0.5])


def test_a_derived_loss_does_not_inherit_the_compiled_step():
    class Half(Squared):
        def gradient(self, y, f):
            return 0.5 * super().gradient(y, f)

    assert Squared.code >= 0 and Half.code == -1


def test_defaults_are_those_that_are_documented():
    assert Huber().delta == 1.0 and Pinball().tau == 0.5 and EpsilonInsensitive().epsilon == 0.1


def test_which_losses_say_what():
    """Solvers, calibration and streams choose by these."""

    def kinds(name):
        return {type(loss) for loss in INSTANCES if getattr(loss, name)}

    assert kinds("probabilistic") == {Logistic} and kinds("quadratic") == {Squared}
    assert kinds("never_rests") == {Logistic, Squared, Huber, Pinball}
    assert kinds("translates") == {Squared, EpsilonInsensitive, Pinball, Huber}
    assert kinds("separable") == {type(loss) for loss in INSTANCES}
    y, f = np.random.default_rng(0).normal(size=(2, 50))
    for loss in INSTANCES:
        moved = loss.value(np.sign(y) + 3.0, f + 3.0), loss.value(np.sign(y), f)
        assert np.allclose(*moved) == loss.translates

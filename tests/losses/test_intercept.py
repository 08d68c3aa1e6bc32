"""The intercept minimises Σ C ℓ(y, f + b): against a fine search, and where the minimiser is not unique."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from manykernels.losses.scalar import bracket_root, increasing_root

INSTANCES = [
    Hinge(),
    SquaredHinge(),
    Logistic(),
    Squared(),
    EpsilonInsensitive(),
    EpsilonInsensitive(epsilon=0.0),
    Pinball(0.2),
    Huber(0.5),
]
each_loss = pytest.mark.parametrize("loss", INSTANCES, ids=repr)


def problem(loss, seed, n=40):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n) if loss.task == "classification" else rng.normal(scale=2.0, size=n)
    return y, rng.normal(scale=3.0, size=n), rng.uniform(0.1, 5.0, size=n)


def total(loss, y, f, C, b):
    return np.sum(C * loss.value(y, f + b))


@each_loss
@pytest.mark.parametrize("seed", range(5))
def test_minimises_the_loss(loss, seed):
    y, f, C = problem(loss, seed)
    b = loss.intercept(y, f, C)
    assert isinstance(b, float)
    least = min(total(loss, y, f, C, grid) for grid in np.linspace(-12.0, 12.0, 4001))
    best = total(loss, y, f, C, b)
    assert best <= least
    # a minimum: no step to either side goes down
    assert min(total(loss, y, f, C, b - 1e-6), total(loss, y, f, C, b + 1e-6)) >= best * (1 - 1e-14)
    if loss.smooth:
        assert abs(np.sum(C * loss.gradient(y, f + b))) <= 1e-13 * np.sum(C)


@each_loss
@pytest.mark.parametrize("seed", range(3))
def test_generic_search_finds_as_little(loss, seed):
    y, f, C = problem(loss, seed)
    generic = total(loss, y, f, C, Loss.intercept(loss, y, f, C))
    np.testing.assert_allclose(generic, total(loss, y, f, C, loss.intercept(y, f, C)), rtol=1e-12)


@each_loss
def test_weights_are_repetitions(loss):
    y, f, _ = problem(loss, 0)
    weights = np.random.default_rng(1).integers(0, 4, size=y.size)
    repeated = np.repeat(np.arange(y.size), weights)
    for C in (0.1, 1.0, 1e-150, 1e150):
        one = loss.intercept(y, f, C * weights)
        other = loss.intercept(y[repeated], f[repeated], np.full(repeated.size, C))
        np.testing.assert_allclose(one, other, rtol=1e-12)


@each_loss
def test_no_weight_at_all_gives_zero(loss):
    assert loss.intercept(np.ones(3), np.zeros(3), np.zeros(3)) == 0.0


@each_loss
@settings(max_examples=30)
@given(shift=st.floats(-1e100, 1e100), size=st.sampled_from([1e-100, 1.0, 1e100]))
def test_finite_at_any_scale(loss, shift, size):
    y, f, C = problem(loss, 3)
    assert np.isfinite(loss.intercept(y, shift + size * f, size * C))


@pytest.mark.parametrize("loss", [loss for loss in INSTANCES if loss.task == "classification"], ids=repr)
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_class_has_a_finite_intercept(loss, label):
    y, f = np.full(5, label), np.array([-3.0, 0.0, 0.5, 2.0, 7.0])
    b = loss.intercept(y, f, np.ones(5))
    assert np.isfinite(b)
    assert total(loss, y, f, 1.0, b) <= 1e-12


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_separable_data_get_the_middle(loss):
    y, f = np.array([1.0, 1.0, -1.0, -1.0]), np.array([5.0, 9.0, -2.0, -6.0])
    # no loss for 1 − 5 ≤ b ≤ −1 + 2
    assert loss.intercept(y, f, np.array([1.0, 2.0, 3.0, 4.0])) == -1.5


@pytest.mark.parametrize("C", [0.1, 1.0, 1 / 3, 1e-20, 1e20])
def test_flat_minimum_is_found_whatever_the_weight(C):
    rng = np.random.default_rng(0)
    y, f = np.repeat([1.0, -1.0], 33), rng.normal(size=66)  # as many of each class: always flat in the middle
    breaks = np.sort(y - f)
    assert Hinge().intercept(y, f, np.full(66, C)) == pytest.approx(
        0.5 * (breaks[32] + breaks[33]), abs=1e-15
    )
    median = EpsilonInsensitive(0.0).intercept(f, np.zeros(66), np.full(66, C))
    assert median == pytest.approx(np.median(f), abs=1e-15)


def test_tube_wide_enough_for_all_gets_the_middle():
    y = np.array([0.0, 1.0, 4.0])
    assert EpsilonInsensitive(3.0).intercept(y, np.zeros(3), np.array([1.0, 5.0, 2.0])) == 2.0


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_pinball_is_a_quantile(tau):
    y = np.random.default_rng(0).normal(size=99)  # no τ of these puts the quantile between two samples
    b = Pinball(tau).intercept(y, np.zeros(99), np.full(99, 0.3))
    assert b == pytest.approx(np.quantile(y, tau, method="inverted_cdf"), abs=1e-14)


def test_huber_between_two_groups_gets_the_middle():
    """From −9 and 9 by more than δ, each half pulls alike: any b between −8 and 8 is as good."""
    y = np.repeat([-9.0, 9.0], 3)
    assert Huber(1.0).intercept(y, np.zeros(6), np.full(6, 0.7)) == pytest.approx(0.0, abs=1e-14)


def test_huber_of_small_residuals_is_the_mean():
    y, C = np.random.default_rng(1).normal(size=(2, 30))
    C = np.abs(C)
    assert Huber(50.0).intercept(y, np.zeros(30), C) == pytest.approx(np.average(y, weights=C), abs=1e-13)


def test_roots_are_found_by_few_steps_where_there_is_a_slope():
    """Halving the bracket alone would take more than fifty."""
    asked = []

    def cubic(x):
        asked.append(x)
        return x**3 + x - np.array([2.0, -30.0, 0.0]), 3.0 * x**2 + 1.0

    found = increasing_root(cubic, np.full(3, -9.0), np.full(3, 11.0))
    np.testing.assert_allclose(found, [1.0, -3.0, 0.0], atol=1e-14)
    assert len(asked) <= 25


def test_a_jump_through_zero_is_found_by_halving():
    found = increasing_root(lambda x: (np.where(x < 0.3, -1.0, 2.0), np.zeros_like(x)), -5.0, 4.0)
    assert found == pytest.approx(0.3, abs=1e-15)


def test_a_bracket_goes_outwards_until_the_sign_changes():
    for root in (-1000.0, -0.5, 0.0, 0.5, 1000.0):
        lo, hi = bracket_root(lambda b, root=root: b - root)
        assert lo <= root <= hi and hi - lo <= max(2.0 * abs(root), 1.0)

"""Losses with corners, smoothed: how far below they are, and their derivatives."""

import numpy as np
import pytest

from manykernels.losses import EpsilonInsensitive, Hinge, Pinball
from manykernels.losses.smoothed import Smoothed, Softened


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.3), Pinball(0.2)], ids=str)
@pytest.mark.parametrize("mu", [1.0, 0.1])
def test_a_smoothed_loss_is_below_by_at_most_half_mu(loss, mu):
    smooth, f = Smoothed(loss, mu), np.linspace(-3.0, 3.0, 1001)
    for target in (-1.0, 1.0):
        t = np.full_like(f, target)
        below = loss.value(t, f) - smooth.value(t, f)
        assert below.min() > -1e-12 and below.max() <= 0.5 * mu + 1e-12
        numeric = np.gradient(smooth.value(t, f), f)
        np.testing.assert_allclose(smooth.gradient(t, f)[1:-1], numeric[1:-1], atol=0.01 / mu)
        a = -smooth.gradient(t, f)
        np.testing.assert_allclose(smooth.value(t, f) + smooth.conjugate(t, -a), -a * f, atol=1e-10)


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.3), Pinball(0.2)], ids=str)
@pytest.mark.parametrize("mu", [1.0, 0.1])
def test_a_softened_loss_is_above_by_at_most_mu_log_2_a_corner(loss, mu):
    soft, f = Softened(loss, mu), np.linspace(-3.0, 3.0, 601)
    for target in (-1.0, 1.0):
        t = np.full_like(f, target)
        lo, hi = loss.bounds(t)
        above = soft.value(t, f) - loss.value(t, f)
        assert above.min() >= -1e-12 and np.all(above <= mu * np.log(2.0) * (hi - lo) + 1e-12)
        h = 1e-5
        slopes = (soft.value(t, f + h) - soft.value(t, f - h)) / (2 * h)
        np.testing.assert_allclose(soft.gradient(t, f), slopes, atol=1e-8)
        bends = (soft.gradient(t, f + h) - soft.gradient(t, f - h)) / (2 * h)
        np.testing.assert_allclose(soft.hessian(t, f), bends, atol=1e-7 / mu**2)
        assert np.all(soft.hessian(t, f) > 0.0)
        a = -soft.gradient(t, f)
        assert np.all((a >= lo) & (a <= hi)) and soft.bounds(t)[0] is not None
        # the conjugate is from below, by no more than the corners
        lack = -a * f - soft.value(t, f) - soft.conjugate(t, -a)
        assert np.all(lack >= -1e-12) and np.all(lack <= mu * np.log(2.0) * (hi - lo) + 1e-12)


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.3), Pinball(0.2)], ids=str)
def test_the_hessian_of_a_smoothed_loss_is_its_derivative(loss):
    smooth, f, h = Smoothed(loss, 0.5), np.linspace(-3.03, 3.07, 400), 1e-6
    for target in (-1.0, 1.0):
        t = np.full_like(f, target)
        bends = (smooth.gradient(t, f + h) - smooth.gradient(t, f - h)) / (2 * h)
        np.testing.assert_allclose(smooth.hessian(t, f), bends, atol=1e-6)

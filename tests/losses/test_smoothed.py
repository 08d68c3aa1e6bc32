"""Losses with corners, smoothed: how far below they are, and their derivatives."""

import numpy as np
import pytest

from manykernels.losses import EpsilonInsensitive, Hinge, Pinball
from manykernels.losses.smoothed import Smoothed


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

"""Penalties at the edges of their sets, and how long their searches go on."""

import numpy as np
import pytest

from manykernels.penalties import ElasticNet, L2Ball
from manykernels.penalties._newton import convex_root
from manykernels.penalties.base import ROUNDING


def test_a_search_that_never_ends_takes_sixty_steps():
    one = np.ones(1)
    assert convex_root(lambda x: (one, one), np.array([100.0])) == [40.0]


def test_a_search_ends_where_nothing_moves():
    asked = []

    def line(x):
        asked.append(x)
        return x - 2.0, np.ones_like(x)

    assert convex_root(line, np.array([3.0])) == [2.0] and len(asked) == 2


def test_a_weight_that_rounding_took_below_zero_is_in_the_ball():
    ball = L2Ball(mu0=np.array([0.0, 0.5]), radius=1.0)
    assert ball.value(np.array([-ROUNDING, 0.5])) == 0.0 == ball.value(np.array([0.0, 0.5]))
    assert ball.value(np.array([-2.0 * ROUNDING, 0.5])) == np.inf


@pytest.mark.parametrize("lam", [0.1, 0.5, 0.9])
def test_points_inside_keep_away_from_where_the_elastic_net_is_infinite(lam):
    """Weights within a hundredth of the limit are cut to that, and then moved towards the middle."""
    penalty = ElasticNet(lam)
    share = np.array([0.3, 0.999, 1.0 - 1e-12])
    found = penalty.interior(share * penalty.upper)
    np.testing.assert_allclose(found, 0.9 * np.minimum(share, 0.99) * penalty.upper + 0.05, rtol=1e-12)
    assert np.isfinite(penalty.value(found))

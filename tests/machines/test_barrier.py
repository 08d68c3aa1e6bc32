"""Interior-point methods of machines piece by piece: where they begin, what is at a bound, how they end."""

import numpy as np
import pytest

from manykernels.machines.barrier import Side, interior_path
from manykernels.machines.coupled import _definite
from manykernels.machines.free import basis
from manykernels.machines.row_barrier import RowBarrier
from manykernels.machines.row_descent import RowDescent
from manykernels.machines.rows import Plans


def side(x, cap, low=1e-3, high=1e-3):
    x = np.asarray(x, dtype=float)
    return Side(1.0, np.full_like(x, cap), np.ones(x.shape, bool), x, low + 0.0 * x, high + 0.0 * x)


def test_both_sides_begin_at_the_point_with_a_quarter_of_its_room():
    up, down, alpha = np.array([2.0, 0.4, 1.0]), np.array([1.0, 0.4, 0.0]), np.array([0.5, -0.1, 0.3])
    plus, minus = Side.pair(up, down, alpha)
    np.testing.assert_allclose(plus.x[:2] - minus.x[:2], alpha[:2])
    np.testing.assert_allclose(minus.x[0], 0.25 * min(2.0 - 0.5, 1.0))
    np.testing.assert_allclose(plus.x[1], 0.25 * min(0.4, 0.4 - 0.1))
    assert plus.x[2] == 0.3 and not minus.on[2] and plus.on.all()


def test_how_near_a_side_is_to_a_bound():
    assert side([0.3, 0.9, 0.5], 1.0).least == pytest.approx(0.1)
    assert side([0.3, 1.9, 1.0], 2.0).least == pytest.approx(0.1)


@pytest.mark.parametrize("cap", [0.1, 1.0, 10.0])
def test_what_is_at_a_bound_is_told_by_its_multiplier(cap):
    """A share s of the room is left, and the multiplier is r times the size: at the bound where s < r."""
    for size in (0.5, 1.0, 3.0):
        for share, ratio in [(0.01, 0.05), (0.05, 0.01)]:
            at_bound = share < ratio
            low = side([share * cap], cap, low=ratio * size, high=1e-9).settled(size)
            high = side([cap - share * cap], cap, low=1e-9, high=ratio * size).settled(size)
            np.testing.assert_allclose(low, [0.0 if at_bound else share * cap])
            np.testing.assert_allclose(high, [cap if at_bound else cap - share * cap])


def problem(seed=0, n=30):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 2)
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2)), np.sin(X[:, 0]), basis(np.ones((n, 1)))


def test_a_target_of_zero_does_not_send_all_samples_to_their_bounds():
    """What is at a bound is judged beside the largest target."""
    K, y, Z = problem()
    y[0] = 0.0
    caps = np.full(y.size, 10.0), np.full(y.size, 10.0)
    alpha, settled, _ = interior_path(K, y, 0.1, caps, Z, np.zeros(1))
    assert np.abs(alpha).max() > 0.1
    np.testing.assert_allclose(settled, alpha, atol=1e-3)


def test_the_last_resort_for_a_matrix_is_its_diagonal():
    np.testing.assert_allclose(_definite(np.diag([-4.0, -9.0])), np.diag([2.0, 3.0]))
    np.testing.assert_allclose(_definite(np.diag([4.0, 9.0])), np.diag([2.0, 3.0]))


# -- several classes ------------------------------------------------------------------------------
def classes(C=0.5, k=3, n=24, balanced=True):
    rng = np.random.RandomState(1)
    y, X = np.arange(n) % k, rng.randn(n, 3)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 4.0)
    return K, Plans(y, C * rng.uniform(0.5, 1.5, n), k, balanced)


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_a_sample_rises_in_its_own_class_and_falls_in_the_others(C):
    K, plans = classes(C)
    path = RowBarrier(K, plans, np.zeros_like(plans.caps))
    own = plans.caps > 0.0
    np.testing.assert_array_equal(path.plus.on, own)
    np.testing.assert_array_equal(path.minus.on, ~own)


def test_rows_are_at_a_bound_where_their_multiplier_is_larger_than_the_room():
    """Beside the margin, which is 1."""
    K, plans = classes()
    path = RowBarrier(K, plans, np.zeros_like(plans.caps))
    for at in (path.plus, path.minus):
        at.x, at.high = 0.03 * at.cap, np.full_like(at.x, 1e-9)
    for low, expected in [(0.02, path.alpha), (0.04, np.zeros_like(path.alpha)), (0.05, 0.0 * path.alpha)]:
        for at in (path.plus, path.minus):
            at.low = np.full_like(at.x, low)
        np.testing.assert_allclose(path.settled, expected)


@pytest.mark.parametrize("C", [0.5, 100.0])
@pytest.mark.parametrize("balanced", [True, False])
def test_the_path_of_rows_ends_at_the_optimum_by_itself(C, balanced):
    """ "Twenty to thirty steps do": each asks once for the gap."""
    K, plans = classes(C, balanced=balanced)
    machine, gaps = RowDescent(plans), []
    path = RowBarrier(K, plans, np.zeros_like(plans.caps))

    def judge():
        point = plans.feasible(path.alpha)
        gaps.append(machine.judged(point, K @ point, path.intercepts).gap)
        return gaps[-1]

    path.run(judge, 1e-8 * plans.C.sum())
    assert min(gaps) <= 1e-8 * plans.C.sum() and len(gaps) <= 40

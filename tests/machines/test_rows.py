"""Plans of several classes: points of the set, exact ones, and rounds of descent on them."""

import numpy as np
import pytest

from manykernels.machines import row_descent
from manykernels.machines.row_descent import RowDescent, RowSolution
from manykernels.machines.rows import Plans


def plans(n=30, k=4, C=1.0, seed=0):
    rng = np.random.RandomState(seed)
    return Plans(np.arange(n) % k, C * rng.uniform(0.2, 2.0, n), k, True)


@pytest.mark.parametrize("seed", range(4))
def test_columns_are_balanced_by_transport_alone(seed):
    """Far from balance one step is not enough, and each begins where the last one ended."""
    rng = np.random.RandomState(seed)
    P = plans(seed=seed)
    X = rng.dirichlet([0.3, 0.3, 0.3, 3.0], len(P.y)) * P.C[:, None]  # most of it on one class
    start = P.nearest(P.caps - X)
    found = P._transported(start)
    assert np.abs(found.sum(axis=0)).max() <= 1e-12 * P.C.sum()
    # columns cannot be balanced by less than their sums, and are by little more
    assert np.abs(found - start).sum() <= 1.2 * np.abs(start.sum(axis=0)).sum()
    assert np.all(found <= P.caps) and np.abs(found.sum(axis=1)).max() <= 1e-12


def test_an_ulp_is_taken_from_a_class_that_can_give_it():
    """The own class is at its bound and a row lacks an ulp: one of the others rises by it."""
    ulp = 2.0**-51
    own = 0.75 - 0.5 * ulp  # between two multiples of the grid
    alpha = np.array([[own, -0.5, -0.25], [-0.5, 0.75, -0.25], [-0.25, -0.25, 0.5]])
    P = Plans(np.arange(3), np.array([own, 1.0, 1.0]), 3, False)
    found = P.exact(alpha)
    assert found.any() and np.all(found <= P.caps)
    np.testing.assert_allclose(found, alpha, atol=4.0 * ulp)
    assert not found.sum(axis=1).any()


def test_room_for_exactly_one_ulp_is_enough():
    u = 2.0**-50  # of the sum of sizes, 4
    alpha = np.array([[1.0, -1.0 + u, -u], [-1.0, 1.0, 0.0]])
    found = Plans(np.arange(2), np.ones(2), 3, True).exact(alpha)
    np.testing.assert_array_equal(found, [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])


# -- rounds of descent ----------------------------------------------------------------------------
class Rounds:
    """A machine whose sweeps always move something, and whose gap never falls."""

    def __init__(self, monkeypatch, gap, moved=1):
        P = plans()
        self.machine, self.levels, self.corrected, self.gap = RowDescent(P), [], [], gap
        self.K = np.eye(len(P.y))
        monkeypatch.setattr(row_descent, "_SWEEPS", 1)
        monkeypatch.setattr(row_descent.fast, "sweep", self.sweep)
        monkeypatch.setattr(self.machine, "_corrected", self.correct)
        monkeypatch.setattr(self.machine, "judged", self.judged)
        self.moved = moved

    def sweep(self, K, y, C, rho, least, x, F, order, level):
        self.levels.append(level)
        return None, self.moved

    def judged(self, alpha, score, b):
        return RowSolution(alpha, b, score + b, self.gap)

    def correct(self, K, near):
        self.corrected.append(len(self.levels) - 1)
        return near

    def run(self, tol):
        zero = np.zeros_like(self.machine.plans.caps)
        start = RowSolution(zero, np.zeros(self.machine.plans.k), zero, self.gap)
        self.machine._descent(self.K, start, tol)
        return self


def test_a_correction_that_gains_nothing_is_tried_half_as_often_each_time(monkeypatch):
    rounds = Rounds(monkeypatch, 10.0).run(1.0)
    assert rounds.corrected == [0, 1, 3, 7] and len(rounds.levels) == 15


@pytest.mark.parametrize(("gap", "tol", "falls"), [(10.0, 2.0, 0.1), (0.1, 0.01, 0.05), (10.0, 9.0, 0.45)])
def test_rows_are_asked_for_more_as_the_gap_asks_for_it(monkeypatch, gap, tol, falls):
    """By half of what is asked for over what there is."""
    levels = Rounds(monkeypatch, gap).run(tol).levels
    np.testing.assert_allclose(levels[1] / levels[0], falls)


def test_a_round_of_descent_moves_intercepts_by_what_columns_lack(monkeypatch):
    """b ← b + ρ αᵀ1, with ρ = 0.35 √(κ/C): where rows may spend on any class, and not where they may not."""
    for balanced in (True, False):
        rounds = Rounds(monkeypatch, 10.0)
        P = rounds.machine.plans
        rounds.machine.plans = Plans(P.y, P.C, P.k, balanced)
        met = []
        monkeypatch.setattr(
            rounds.machine, "judged", lambda a, s, b, met=met: met.append(b) or RowSolution(a, b, s, 10.0)
        )

        def sweep(K, y, C, rho, least, x, F, order, level):
            x[:, 0] = 0.01
            return None, 1

        monkeypatch.setattr(row_descent.fast, "sweep", sweep)
        rounds.run(1.0)
        rho = 0.35 / np.sqrt(P.C.mean())
        expected = rho * 0.01 * len(P.y) * np.eye(P.k)[0] if balanced else np.zeros(P.k)
        np.testing.assert_allclose(met[0], expected)
        np.testing.assert_allclose(met[1], 2.0 * expected)


def test_rounds_end_where_nothing_moves_and_nothing_falls(monkeypatch):
    assert len(Rounds(monkeypatch, 10.0, moved=0).run(1.0).levels) == row_descent._WAITS


def test_offsets_take_thirty_steps_at_most(monkeypatch):
    asked = []

    def short(J, right, floor):
        asked.append(floor)
        return 1e-4 * right

    monkeypatch.setattr(row_descent, "solved", short)
    P = plans()
    RowDescent(P)._smoothed(np.random.RandomState(0).randn(len(P.y), P.k), np.zeros(P.k), 1.0)
    assert len(asked) == 30


def test_offsets_ask_as_often_at_any_cost(monkeypatch):
    """Costs and losses in other units are the same problem."""
    score, found = np.random.RandomState(0).randn(30, 4), []
    solved = row_descent.solved
    for C in (2.0**-30, 1.0, 2.0**30):
        asked = []
        monkeypatch.setattr(row_descent, "solved", lambda *a, asked=asked: asked.append(0) or solved(*a))
        b = RowDescent(plans(C=C))._smoothed(score, np.zeros(4), 0.1)
        found.append((len(asked), b))
    for number, b in found:
        assert abs(number - found[1][0]) <= 2
        np.testing.assert_allclose(b, found[1][1], atol=1e-6)


def test_the_metric_of_a_singular_kernel_is_bounded():
    """Where α could move freely, as far as the jitter of a hundred-millionth lets it."""
    P = plans(n=12, k=3)
    K, R = np.ones((12, 12)), np.random.RandomState(0).randn(2, 12, 3)
    zero = P.center
    B = RowDescent(P).curvature(K, RowSolution(zero, np.zeros(3), K @ zero, 1.0), R)
    size = np.linalg.norm(B, 2) ** 2
    assert 1e6 < size <= 10.0 * np.sum(R * R) / 1e-8

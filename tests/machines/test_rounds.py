"""How long machines go on, and when they give up: each limit met by a stub that counts what is asked for."""

import numpy as np
import pytest
from tests.machines.test_free import problem

from manykernels.grams.features import Combination
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic
from manykernels.machines import SMO, Newton, corners, free, newton, smo
from manykernels.machines.base import Solution, feasible
from manykernels.machines.corners import Corners
from manykernels.machines.features import FeatureNewton, FeatureSensitivity, SmoothingNewton
from manykernels.machines.free import balanced, offset
from manykernels.machines.joint import _line_search


def solution(gap, n=40):
    return Solution(np.zeros(n), 0.0, np.zeros(n), gap)


class NeverZero(np.ndarray):
    """An array that says its sum is 1."""

    asked = 0

    def sum(self, *args, **kwargs):
        type(self).asked += 1
        return 1.0


def test_a_sum_that_rounding_keeps_from_zero_is_corrected_three_times(monkeypatch):
    monkeypatch.setattr(NeverZero, "asked", 0)
    ones = np.ones(4)
    found = feasible(np.full(4, 0.5).view(NeverZero), -ones, ones)
    assert NeverZero.asked == 6 and np.all(np.abs(found) <= 1.0)  # of α and of the room, in each round


# -- SMO ------------------------------------------------------------------------------------------
def test_smo_ends_after_five_looks_at_a_gap_that_does_not_fall(monkeypatch):
    """Whatever its size is; a gap that falls by a fifth each time is waited for."""
    monkeypatch.setattr(smo.fast, "solve_pairs", lambda *given: (0, given[-1]))
    y, C = np.ones(4), np.ones(4)
    for gaps, looks in [([0.1] * 50, 6), ([10.0] * 50, 6), ([0.8**k for k in range(50)], 50)]:
        asked = iter(gaps)
        machine = SMO(Hinge(), True)
        monkeypatch.setattr(machine, "_solution", lambda *a, asked=asked: solution(next(asked), 4))
        machine.solve(np.eye(4), y, C, np.zeros(4), 0.0)
        assert len(gaps) - len(list(asked)) == looks


# -- corners, with covariates ---------------------------------------------------------------------
class Rounds:
    """A machine whose SMO only notes what it is asked for, and says that other samples are free each time."""

    def __init__(self, monkeypatch, gaps, size=1.0, same=False):
        self.K, self.y, Z = problem(EpsilonInsensitive(0.1))
        self.y *= size / np.abs(self.y).max()
        self.C = np.ones(self.y.size)
        self.machine, self.gaps, self.same = Corners(EpsilonInsensitive(0.1), Z), iter(gaps), same
        self.violations, self.corrected = [], 0
        monkeypatch.setattr(corners.fast, "solve_pairs", self.run)
        monkeypatch.setattr(self.machine, "_judged", lambda *given: solution(next(self.gaps)))
        monkeypatch.setattr(self.machine, "_corrected", self.correct)

    def run(self, K, y, lo, hi, tube, alpha, G, violation, chunk):
        self.violations.append(violation)
        alpha[:] = 0.0
        alpha[0 if self.same else len(self.violations) % 7] = 0.5

    def correct(self, *given):
        self.corrected += 1
        return solution(1e9)

    def go(self, tol, gap=1e6):
        start = Solution(np.full(self.y.size, 1e-3), 0.0 * self.y, 0.0 * self.y, gap)
        self.machine._rounds(self.K, self.y, self.C, start, tol)
        return self


def test_rounds_end_after_two_that_gain_nothing(monkeypatch):
    assert len(Rounds(monkeypatch, [5.0] * 40).go(1.0, 5.0).violations) == 2
    assert len(Rounds(monkeypatch, [4.0, 3.9, 3.0, 2.9, 2.89, 2.88]).go(1.0, 5.0).violations) == 5


def test_rounds_end_where_the_gap_is_small_enough(monkeypatch):
    assert len(Rounds(monkeypatch, [3.0, 0.5, 0.1]).go(1.0).violations) == 2


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_the_first_round_asks_for_a_hundredth_of_the_largest_target(monkeypatch, size):
    rounds = Rounds(monkeypatch, [5.0] * 40, size).go(1.0)
    np.testing.assert_allclose(rounds.violations[0], 0.01 * size)


def test_a_correction_is_tried_where_the_same_samples_are_free_twice(monkeypatch):
    gaps = [0.5**k for k in range(6)] + [0.0]
    assert Rounds(monkeypatch, gaps).go(0.0).corrected == 0
    assert Rounds(monkeypatch, gaps, same=True).go(0.0).corrected == 5


def test_what_is_solved_already_is_not_solved_again(monkeypatch):
    """A gap of exactly what is allowed, which is none."""
    K, y, Z = problem(EpsilonInsensitive(0.1))
    machine = Corners(EpsilonInsensitive(0.1), Z)
    monkeypatch.setattr(machine, "_rounds", None)
    monkeypatch.setattr(machine, "_inside", None)
    assert machine.solve(K, 0.0 * y, np.ones(y.size), 0.0 * y, 0.0).gap == 0.0


# -- Newton's method ------------------------------------------------------------------------------
def test_newton_ends_after_three_steps_that_neither_lower_p_nor_halve_the_gap(monkeypatch):
    K, y, C = np.eye(4), np.ones(4), np.ones(4)
    for falls, steps in [(0.9, 4), (0.4, 100)]:
        machine, gaps = Newton(Logistic(), True), []

        def judged(*given, falls=falls, gaps=gaps):
            gaps.append(falls ** len(gaps))
            return solution(gaps[-1], 4)

        monkeypatch.setattr(machine, "_line_search", lambda K, y, C, now, target: (*now, 0.0))
        monkeypatch.setattr(machine, "judged", judged)
        machine.solve(K, y, C, np.zeros(4), 0.0)
        assert len(gaps) == steps


def test_a_step_that_leads_nowhere_gains_exactly_nothing():
    K, y, _ = problem(Logistic())
    machine, C, alpha = Newton(Logistic(), True), np.ones(y.size), 0.1 * y
    now = alpha, 0.2, K @ alpha
    assert machine._line_search(K, y, C, now, now[:2])[3] == 0.0
    target = machine._target(
        K, y, C, now[2] + now[1], machine._factor(K, y, C, now[2] + now[1], None), now[1]
    )
    assert machine._line_search(K, y, C, now, target)[3] > 0.01


def test_newton_searches_for_an_offset_only_where_no_sample_feels_it(monkeypatch):
    K, y, Z = problem(Logistic())
    asked = []
    monkeypatch.setattr(newton, "offset", lambda *a, **k: asked.append(0) or offset(*a, **k))
    found = Newton(Logistic(), True, Z=Z, begin=0.0 * y).solve(K, y, np.ones(y.size), 0.0 * y, 1e-9)
    assert found.gap <= 1e-9 and not asked


def test_an_offset_takes_few_steps_from_anywhere():
    """The curvature is that of the point it is at: where it is another's, steps are halved and many."""
    asked = []

    class Counted(Logistic):
        def hessian(self, y, f):
            asked.append(0)
            return super().hessian(y, f)

    _, y, Z = problem(Logistic())
    best = offset(Logistic(), y, 0.0 * y, np.ones(y.size), Z)
    score = 3.0 * np.sign(np.arange(y.size) % 2 - 0.5)
    offset(Counted(), y, score - 4.0, np.ones(y.size), Z, begin=best)
    assert len(asked) <= 12


def test_where_no_step_helps_the_search_for_balance_ends(monkeypatch):
    """As where rounding never lets the sum be zero: sixty halvings, and not sixty times as many."""
    asked, one = [], np.ones(5)
    monkeypatch.setattr(free, "residual", lambda *given: asked.append(0) or 2.0)
    found = balanced(np.arange(5.0), -9.0 * one, 9.0 * one, one, one[:, None] / np.sqrt(5.0))
    np.testing.assert_allclose(found, np.arange(5.0) - 2.0, atol=1e-9)
    assert len(asked) < 1000


def test_where_no_point_is_balanced_the_answer_is_zero():
    one = np.ones(5)  # no point between 1 and 2 has a sum of zero
    assert not balanced(1.5 * one, one, 2.0 * one, one, one[:, None] / np.sqrt(5.0)).any()


# -- the joint method -----------------------------------------------------------------------------
class Steep:
    """R(f) = Σf⁴."""

    def joint_value(self, f):
        return float(np.sum(f**4))


def test_a_step_that_is_too_long_is_halved_until_p_falls():
    K, zero, one = np.eye(3), np.zeros(3), np.ones(3)

    def P(alpha, b, score):
        return 0.5 * float(alpha @ score) + Steep().joint_value(score + b)

    now = one, zero, one
    for target in (-4.0 * one, 0.2 * one):
        *after, gain = _line_search(Steep(), K, now, (target, zero))
        assert gain == pytest.approx(P(*now) - P(*after)) and gain > 0.1
    assert _line_search(Steep(), K, now, (one, zero))[3] == 0.0
    assert _line_search(Steep(), K, (zero, zero, zero), (one, zero))[3] == -np.inf


# -- machines in features -------------------------------------------------------------------------
class Smoothings:
    """A machine in features that notes by how much the loss is smoothed, and is told its gaps."""

    def __init__(self, monkeypatch, gaps):
        self.levels, self.gaps = [], iter(gaps)
        self.machine = SmoothingNewton(EpsilonInsensitive(0.1), True)

        def inner(machine, K, y, C, alpha, tol, previous=None):
            self.levels.append(machine.loss.mu)
            return Solution(alpha, 0.0, alpha, 0.0, "known")

        def judge(K, y, C, alpha, sensitivity, b=None):
            return Solution(alpha, 0.0, alpha, next(self.gaps), sensitivity)

        monkeypatch.setattr(FeatureNewton, "solve", inner)
        monkeypatch.setattr(self.machine, "_judge", judge)

    def go(self):
        self.machine.solve(None, np.array([1.0, -1.0]), np.ones(2), np.zeros(2), 0.0)
        return self.levels


def test_three_sharper_losses_that_gain_nothing_are_the_last(monkeypatch):
    levels = Smoothings(monkeypatch, [5.0] * 50).go()
    np.testing.assert_allclose(levels, [1.0, 0.2, 0.04, 0.008])


def test_the_sharpest_loss_is_a_billionth_of_the_targets(monkeypatch):
    """A gap of g a sample begins at 20 g, and every one is a fifth of the last."""
    for first, expected in [(7.5e-9, [7.5e-9, 1.5e-9]), (4e-9, [4e-9]), (1e-12, [1e-9])]:
        gaps = [2.0 * first / 20.0, *(0.5**k for k in range(1, 50))]
        np.testing.assert_allclose(Smoothings(monkeypatch, gaps).go(), expected)


@pytest.mark.parametrize("beside", ["nothing", "intercept", "covariates"])
def test_systems_in_features_are_those_of_the_penalised_and_the_free_part(beside):
    """(I + ΨᵀWΨ) v + ΨᵀWZγ = Ψᵀr, ZᵀWΨv + ZᵀWZγ = Zᵀr."""
    rng = np.random.RandomState(0)
    Phi, W, r = rng.randn(9, 3), rng.uniform(0.5, 2.0, 9), rng.randn(9)
    Z = {"nothing": np.empty((9, 0)), "intercept": np.ones((9, 1)), "covariates": free.basis(rng.randn(9, 2))}
    K, own = Combination(Phi, np.array([1.0, 0.5, 2.0])), Z[beside]
    Psi = Phi * K.root
    both = np.hstack([Psi, own])
    H = both.T @ (W[:, None] * both) + np.diag([1.0] * 3 + [0.0] * own.shape[1])
    x = np.linalg.solve(H, both.T @ r)
    metric = FeatureSensitivity(K, W, beside == "intercept", own if beside == "covariates" else None)
    v, b = metric.solve(r)
    np.testing.assert_allclose(v, x[:3], atol=1e-8)
    np.testing.assert_allclose(b + np.zeros(9), own @ x[3:], atol=1e-8)


def test_a_metric_of_no_kernels_has_no_rows():
    K = Combination(np.random.RandomState(0).randn(6, 3), np.ones(3))
    metric = FeatureSensitivity(K, np.ones(6), True)
    assert metric.half(np.empty((6, 0))).shape == (0, 0)
    assert metric.move(np.empty(0), 6).shape == (6,)

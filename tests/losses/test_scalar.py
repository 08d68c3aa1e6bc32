"""Searches in one variable, and what losses count as inside their domain."""

import numpy as np
import pytest

from manykernels.losses import Logistic, Loss, Squared, SquaredHinge
from manykernels.losses.base import ROUNDING, inside
from manykernels.losses.scalar import bracket_root, increasing_root


class Asked:
    """x − root with its slope, and the points that somebody asked for."""

    def __init__(self, root):
        self.root, self.points = root, []

    def __call__(self, x):
        self.points.append(float(x))
        return np.asarray(x - self.root), np.ones_like(x)


def test_a_bound_and_its_slack_are_inside():
    """1e-12 beyond a bound is on it: half of that and all of it, and not one and a half times as much."""
    for share, expected in [(0.0, True), (0.5, True), (1.5, False), (3.0, False)]:
        for outside in (-share * 1e-12, 1.0 + share * 1e-12):
            assert inside(np.array(outside), 0.0, 1.0) == expected
    assert inside(np.array([-ROUNDING, 1.0 + ROUNDING]), 0.0, 1.0).all()


def test_a_search_begins_in_the_middle_and_takes_newton_s_step_at_once():
    for lo, hi in [(2.0, 4.0), (-1.0, 1.0)]:
        asked = Asked(0.375 * hi + 0.625 * lo)
        assert increasing_root(asked, lo, hi) == asked.root
        assert asked.points == [0.5 * (lo + hi), asked.root]


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_bracket_is_doubled_a_thousand_times_at_most(sign):
    found = bracket_root(lambda b: -sign)
    assert sorted(np.abs(found)) == [2.0**999, 2.0**1000] and np.sign(found).tolist() == [sign, sign]


def test_a_dual_step_without_a_formula_takes_few_steps():
    """Newton's method: halving a bracket to the last digit asks some fifty times."""
    asked = []

    class Own(Squared):
        def gradient(self, y, f):
            asked.append(f)
            return super().gradient(y, f)

    found = Loss.dual_step(Own(), np.array([2.0]), np.array([0.5]), np.array([0.1]), np.array([3.0]))
    assert found == pytest.approx(Squared().dual_step(2.0, 0.5, 0.1, 3.0), rel=1e-12)
    assert len(asked) < 10


@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic()], ids=repr)
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_an_intercept_without_a_formula_is_not_farther_than_it_need_be(loss, label):
    """Where all samples ask for the same side and one step gives it to them, no force is left there."""
    y, ones = np.full(3, label), np.ones(3)
    b = Loss.intercept(loss, y, 0.0 * y, ones)
    assert np.isfinite(b) and np.max(loss.value(y, 0.0 * y + b)) <= 1e-12
    assert not isinstance(loss, SquaredHinge) or abs(b) < 3.0

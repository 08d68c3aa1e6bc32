"""Step sizes of mirror descent are those of their formulas."""

import math

import numpy as np
import pytest

from manykernels.penalties import L2Ball, LpBall, Simplex
from manykernels.penalties.steps import Steps

G = np.array([-0.3, 0.0, -2.0, 0.4])
RATIOS = np.array([1.0, 3.0, 2.0])


def test_a_given_step_is_taken():
    steps = Steps(0.3, LpBall(1.5), 1.5, 4, 10)
    assert [steps.next(G, RATIOS) for _ in range(3)] == [0.3, 0.3, 0.3]


@pytest.mark.parametrize(
    ("penalty", "p"),
    [(LpBall(4 / 3), 4 / 3), (LpBall(2.0), 2.0), (LpBall(4.0), 2.0), (L2Ball(radius=3.0), 2.0)],
)
def test_the_step_of_the_theorem(penalty, p):
    """√(2αδ/(BT)): α = p − 1, δ the largest ½‖θ‖_p² of the ball, B the largest squared ratio so far."""
    size, T = 7, 20
    delta = max(
        0.5 * np.linalg.norm(point, p) ** 2
        for point in (penalty.start(size), penalty.project(9 * np.eye(size)[0]))
    )
    steps = Steps("theorem", penalty, p, size, T)
    assert steps.next(G, RATIOS) == pytest.approx(math.sqrt(2 * (p - 1) * delta / (9.0 * T)))
    assert steps.next(G, 5.0 * RATIOS) == pytest.approx(math.sqrt(2 * (p - 1) * delta / (225.0 * T)))
    assert steps.next(G, RATIOS) == pytest.approx(math.sqrt(2 * (p - 1) * delta / (225.0 * T)))
    assert Steps("theorem", penalty, p, size, T).next(G, np.zeros(3)) == 0.0


def test_the_step_of_the_theorem_for_the_entropy():
    """α = 1 in ‖·‖₁, δ = log M."""
    steps = Steps("theorem", Simplex(), 1.0, 7, 20)
    assert steps.next(G, RATIOS) == pytest.approx(math.sqrt(2 * math.log(7) / (9.0 * 20)))


@pytest.mark.parametrize(
    ("penalty", "p", "radius", "r"),
    [
        (LpBall(4 / 3), 4 / 3, 1.0, 4.0),
        (L2Ball(radius=3.0), 2.0, 3.0, 2.0),
        (Simplex(), 1.0, math.sqrt(2 * math.log(7)), np.inf),
    ],
)
def test_automatic_steps_remember_how_draws_coincide(penalty, p, radius, r):
    """η_k = R/(2√k a_k H_k): a_k of this step alone, H_k² the mean of all ‖g‖²/a²."""
    steps, squares = Steps("auto", penalty, p, 7, 20), []
    for k in range(1, 5):
        g, ratios = k**2 * G[::-1] + k, RATIOS / k
        a = ratios.mean()
        squares.append((np.linalg.norm(g, r) / a) ** 2)
        expected = radius / (2 * math.sqrt(k) * a * math.sqrt(np.mean(squares)))
        assert steps.next(g, ratios) == pytest.approx(expected)
    assert steps.next(G, np.zeros(3)) == 0.0
    assert Steps("auto", penalty, p, 7, 20).next(np.zeros(4), RATIOS) == 0.0

"""The convex model of J that a second-order step minimises.

    min_θ  max_t (c_t − ½ q_tᵀθ) + ½‖B(θ − θ̂)‖² + ½μ‖θ − θ̂‖² + ½h(θ),      θ ∈ Θ

Each cut (c_t, q_t) comes from a dual point α_t and never lies above J, whatever the accuracy of α_t;
BᵀB is the second derivative of J at θ̂. With one cut this is Newton's method, with many and B = 0 a
proximal bundle: few free support vectors make J nearly polyhedral, and only the cuts see its corners.
The model is small (as many variables as active kernels) and solved by a primal-dual interior-point method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._fast.linalg import factor, solve, solve_sum
from .._fast.model_step import equations, moved, slacks
from ..penalties import Penalty

Array = NDArray[np.float64]
_LEAST = 1e-150  # what can still be divided by, twice
_STEEPEST = 1e100  # of a cut, whose products with others must be numbers too


@dataclass
class ModelStep:
    """The minimiser θ, the multipliers λ of the cuts (Σλ = 1) and the value of the model there."""

    theta: Array
    cut_weights: Array
    value: float


@dataclass
class _ModelPoint:
    theta: Array  # θ > 0
    r: float  # height of the cuts' epigraph
    cuts: Array  # λ ≥ 0, multipliers of r ≥ c_t − ½q_tᵀθ
    zero: Array  # z ≥ 0, multipliers of θ ≥ 0
    ball: Array  # ν ≥ 0, multipliers of ψ(θ) ≤ 0
    room: Array  # ψ(θ) + room = 0, linearised: steps may leave a curved Θ on the way


class LocalModel:
    """Scaled so that its values are of order one."""

    def __init__(
        self, c: Array, Q: Array, center: Array, B: Array, mu: float, penalty: Penalty, scale: float
    ) -> None:
        with np.errstate(over="ignore"):  # of kernels that are larger than others by all that a number can be
            self.c, self.Q, self.center = c / scale, np.minimum(Q / scale, _STEEPEST), center
        self.B, self.mu, self.penalty, self.scale = B / np.sqrt(scale), mu / scale, penalty, scale
        # BᵀB once, where that is the cheaper way to solve with diag + BᵀB
        self.H = self.B.T @ self.B if center.size <= max(self.B.shape[0], 300) else None

    def minimise(self, accuracy: float, max_iter: int = 80) -> ModelStep:
        """The minimiser up to a complementarity of `accuracy`, relative to the scale of the problem."""
        point = self._start()
        shorten = 0.3
        for _ in range(max_iter):
            at = point.theta, point.r, point.cuts, point.zero, point.ball, point.room
            slack, total = slacks(self.c, self.Q, *at)
            if total < accuracy and abs(1.0 - point.cuts.sum()) < accuracy:
                break
            average = total / (slack.size + point.theta.size + point.ball.size)
            following, taken = self._trial(point, slack, shorten * average)
            if following is None:
                break
            point = following
            least = min(float(point.theta.min()), float(np.min(point.room, initial=np.inf)))
            if taken < 1e-10 or least < _LEAST:  # rounding errors block the way
                break
            shorten = 0.05 if taken > 0.9 else (0.2 if taken > 0.5 else 0.6)
        return self._finish(point)

    def value(self, theta: Array) -> float:
        """The model at θ, in the units of the problem."""
        d = theta - self.center
        quadratic = 0.5 * float(np.sum((self.B @ d) ** 2)) + 0.5 * self.mu * float(d @ d)
        cuts = float(np.max(self.c - 0.5 * self.Q @ theta))
        return self.scale * (cuts + quadratic) + 0.5 * self.penalty.value(theta)

    # -- parts of the interior-point method -----------------------------------------------------
    def _start(self) -> _ModelPoint:
        theta = self.penalty.interior(self.center)
        heights = self.c - 0.5 * self.Q @ theta
        r = float(heights.max()) + 0.1
        tau = 0.1 / (theta.size + heights.size)
        psi = self.penalty.constraint(theta)
        room = -psi[0] if psi is not None else np.empty(0)
        ball = tau / room
        return _ModelPoint(theta, r, np.full(heights.size, 1.0 / heights.size), tau / theta, ball, room)

    def _trial(self, x: _ModelPoint, s: Array, tau: float) -> tuple[_ModelPoint | None, float]:
        """A step, or None where numbers have become too large or too small to make one."""
        with np.errstate(all="ignore"):
            d = x.theta - self.center
            gradient = (self.H @ d if self.H is not None else self.B.T @ (self.B @ d)) + self.mu * d
            bend = np.full(d.size, self.mu)
            smooth = self.penalty.smooth(x.theta)
            if smooth is not None:
                gradient, bend = gradient + smooth[1] / self.scale, bend + smooth[2] / self.scale
            psi, psi1, psi2 = self._constraint(x.theta)
            given = x.theta, x.cuts, x.zero, x.ball, x.room
            found = equations(self.Q, s, tau, *given, gradient, bend, psi, psi1, psi2)
            diagonal, rows, rhs, mean, rise = found
            try:
                step = self._solve(diagonal, rows, rhs)
            except np.linalg.LinAlgError:
                return None, 0.0
            point = x.theta, x.r, x.cuts, x.zero, x.ball, x.room
            *after, taken, fine = moved(
                self.Q, s, tau, *point, step, mean, rise, psi, psi1, self.penalty.upper - x.theta
            )
        return (_ModelPoint(*after), taken) if fine else (None, 0.0)

    def _constraint(self, theta: Array) -> tuple[Array, Array, Array]:
        """ψ(θ) with its derivatives; of no rows where the penalty has no such constraint."""
        psi = self.penalty.constraint(theta)
        if psi is None:
            return np.empty(0), np.empty((0, theta.size)), np.empty((0, theta.size))
        return psi[0], np.ascontiguousarray(psi[1]), np.ascontiguousarray(psi[2])

    def _solve(self, diagonal: Array, rows: Array, rhs: Array) -> Array:
        """(diag + BᵀB + rowsᵀrows)⁻¹ rhs."""
        if self.H is None:
            return solve_sum(diagonal, [self.B, rows], rhs)
        A = self.H + rows.T @ rows
        A.flat[:: A.shape[0] + 1] += diagonal
        return solve(factor(A), rhs)

    def _finish(self, x: _ModelPoint) -> ModelStep:
        """Put exact zeros where the multiplier of θ ≥ 0 outweighs θ, and go back to the boundary of Θ.

        J never rises on the way there, so that what the model says of the minimiser itself is still expected.
        """
        inner = x.theta.copy()
        if self.penalty.sparse:
            inner[inner < x.zero] = 0.0
        theta = self.penalty.stretch(inner)
        return ModelStep(theta, x.cuts / x.cuts.sum(), min(self.value(inner), self.value(theta)))

"""Kernel ridge along a path of kernels that change a little at a time, without a fresh factor for each.

The system (sK + Λ)α + b1 = y, Λ = diag(1/C), is solved by conjugate gradients from the last α. The Cholesky
factor of an earlier system is the preconditioner, which leaves a number of steps that depends on how far the
kernel has moved since, and not on C. With an intercept the preconditioner keeps 1ᵀα = 0 at every step.
"""

from __future__ import annotations

import numpy as np

from .._fast.linalg import factor, solve
from ..objectives import LeastSquares
from .base import Array

_FACTOR = 150.0  # samples for which a factor costs as much as one step of conjugate gradients
_REFINE = 3  # steps with a fresh factor, after which only rounding errors are left


class RidgePath:
    """α(θ) of the squared loss for one kernel after the other."""

    def __init__(self, squares: LeastSquares, fit_intercept: bool) -> None:
        self.Y = squares.targets
        self.diagonal = 1.0 / squares.cost
        self.fit_intercept = fit_intercept
        self.factors = 0
        self.steps = 0
        self._L: Array | None = None
        self._v = np.empty(0)  # M⁻¹1
        self._level = 0.0  # yᵀM⁻¹y, about twice the optimal value
        self._spent = 0.0  # since the last factor, its own cost included, in steps
        self._solves = 0

    def solve(self, K: Array, s: float, alpha: Array, tol: float) -> Array:
        """α for the kernel sK to a duality gap of about `tol` times the optimal value, starting from `alpha`.

        The factor is renewed as soon as a solve takes more steps than they took on average since the last
        one, its cost counted: that makes the average smallest.
        """
        if self._L is None:
            self._renew(K, s)
        alpha, steps, done = self._descend(K, s, alpha, tol, 10 + int(2.0 * K.shape[0] / _FACTOR))
        self._spent += steps
        self._solves += 1
        if not done or (steps > 2 and steps > self._spent / self._solves):
            self._renew(K, s)
            if not done:
                alpha, steps, _ = self._descend(K, s, alpha, tol, _REFINE)
                self._spent += steps
        return alpha

    def _renew(self, K: Array, s: float) -> None:
        A = s * K
        A.flat[:: A.shape[0] + 1] += self.diagonal
        self._L = factor(A)
        if self.fit_intercept:
            self._v = solve(self._L, np.ones(A.shape[0]))
        Y = self._shift(self.Y)
        self._level = float(_dot(Y, self._precondition(Y)).sum())
        self._spent, self._solves = A.shape[0] / _FACTOR, 0
        self.factors += 1

    def _shift(self, R: Array) -> Array:
        """R without its mean where there is an intercept, which takes it: so a large one costs no digits."""
        return R - R.mean(axis=0) if self.fit_intercept else R

    def _precondition(self, R: Array) -> Array:
        """M⁻¹R, without the part that Σα = 0 forbids: the intercept takes it."""
        assert self._L is not None
        Z = solve(self._L, R)
        if self.fit_intercept:
            Z -= np.outer(self._v, Z.sum(axis=0) / self._v.sum())
        return Z

    def _descend(self, K: Array, s: float, alpha: Array, tol: float, limit: int) -> tuple[Array, int, bool]:
        """Conjugate gradients on all outputs at once; RᵀM⁻¹R is about twice what the dual still lacks."""
        alpha = self._shift(alpha)
        R = self._shift(self.Y - s * (K @ alpha) - self.diagonal[:, None] * alpha)
        Z = self._precondition(R)
        P, energy = Z, _dot(R, Z)
        for step in range(limit):
            if float(energy.sum()) <= tol * self._level:
                return alpha, step, True
            Q = s * (K @ P) + self.diagonal[:, None] * P
            curvature = _dot(P, Q)
            t = np.divide(energy, curvature, out=np.zeros_like(energy), where=curvature > 0.0)
            alpha = alpha + t * P
            R = self._shift(R - t * Q)
            Z = self._precondition(R)
            before, energy = energy, _dot(R, Z)
            P = Z + np.divide(energy, before, out=np.zeros_like(energy), where=before > 0.0) * P
            self.steps += 1
        return alpha, limit, False


def _dot(A: Array, B: Array) -> Array:
    return np.asarray(np.einsum("ik,ik->k", A, B))

"""Newton's method for the smooth losses; for the squared loss its first step is the Cholesky solution."""

from __future__ import annotations

import numpy as np

from .._fast.linalg import factor, solve
from ..losses import Loss
from .base import Array, Machine, Sensitivity, Solution, direction, feasible

_IDLE = 3  # steps in a row after which P and the gap are as they were: rounding has the last word
_ROUNDING = 1e-15  # of P


class Newton(Machine):
    """At f, with g = Cℓ'(f) and W = Cℓ''(f): α = −g − W(Kα + b − f), solved on the support of W.

    There (K + W⁻¹)α + b1 = f − g/W, and the symmetric form I + W^½KW^½ is factored because it stays well
    conditioned when W vanishes. Steps are halved until the primal decreases, and end where rounding
    leaves nothing to gain.
    """

    def __init__(self, loss: Loss, fit_intercept: bool, max_iter: int = 100) -> None:
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter

    def solve(
        self, K: Array, y: Array, C: Array, alpha: Array, tol: float, previous: Sensitivity | None = None
    ) -> Solution:
        if self.fit_intercept:  # Σα = 0 from the first: else nothing below bounds the optimum
            lo, hi = (bound * C for bound in self.loss.bounds(y))
            alpha = feasible(alpha, lo, hi)
        score = K @ alpha
        b = self.loss.intercept(y, score, C) if self.fit_intercept else 0.0
        best: Solution | None = None
        sensitivity, idle = previous, 0
        for _ in range(self.max_iter):
            sensitivity = self._factor(K, y, C, score + b, sensitivity)
            target, b_target = self._target(K, y, C, score + b, sensitivity)
            alpha, b, score, gain = self._line_search(K, y, C, (alpha, b, score), (target, b_target))
            solution = self._solution(y, C, alpha, b, score, sensitivity)
            idle = 0 if best is None or gain > 0.0 or solution.gap < 0.5 * best.gap else idle + 1
            if best is None or solution.gap <= best.gap:
                best = solution
            if best.gap <= tol or gain < 0.0 or idle >= _IDLE:
                break
        assert best is not None
        return best

    def solve_together(self, K: Array, Y: Array, C: Array) -> list[Solution]:
        """The exact solutions for all columns of Y, for the squared loss: one factorisation serves them all.

        (K + diag(1/C))α + b1 = y, and Σα = 0 where there is an intercept.
        """
        P = self._factor(K, Y[:, 0], C, Y[:, 0], None)
        u, b = solve(P.factor, P.root[:, None] * Y), np.zeros(Y.shape[1])
        if self.fit_intercept:
            v = solve(P.factor, P.root)
            b = (P.root @ u) / (P.root @ v)
            u -= np.outer(v, b)
        alpha = P.root[:, None] * u
        score = K @ alpha
        return [
            self._solution(Y[:, k], C, alpha[:, k], float(b[k]), score[:, k], P) for k in range(Y.shape[1])
        ]

    def sensitivity(self, K: Array, y: Array, C: Array, solution: Solution) -> Sensitivity:
        assert solution.sensitivity is not None
        return solution.sensitivity

    def _factor(self, K: Array, y: Array, C: Array, f: Array, previous: Sensitivity | None) -> Sensitivity:
        W = C * self.loss.hessian(y, f)
        support = np.flatnonzero(W > 0.0)
        root = np.sqrt(W[support])
        if (
            previous is not None
            and np.array_equal(previous.root, root)
            and np.array_equal(previous.support, support)
        ):
            return previous
        A = K if support.size == K.shape[0] else K[np.ix_(support, support)]
        A = A * root
        A *= root[:, None]
        A.flat[:: support.size + 1] += 1.0
        L = factor(A)
        return Sensitivity(support, L, root, direction(L, root, self.fit_intercept))

    def _target(self, K: Array, y: Array, C: Array, f: Array, P: Sensitivity) -> tuple[Array, float]:
        """The full Newton step's α and b."""
        S, D = P.support, P.root
        g = C * self.loss.gradient(y, f)
        alpha = -g
        z = f[S] - g[S] / D**2
        if S.size < f.size:
            rest = alpha.copy()
            rest[S] = 0.0
            if rest.any():
                z -= K[S] @ rest
        u = solve(P.factor, D * z)
        b = 0.0
        if self.fit_intercept:
            v = solve(P.factor, D)
            # Σα = 0 over the support and what the linear parts of the loss pull
            b = float((D @ u + (alpha.sum() - alpha[S].sum())) / (D @ v)) if S.size else 0.0
            u -= b * v
        alpha[S] = D * u
        return alpha, b

    def _line_search(
        self, K: Array, y: Array, C: Array, now: tuple[Array, float, Array], target: tuple[Array, float]
    ) -> tuple[Array, float, Array, float]:
        """The point after the step, and by how much P fell: 0 up to rounding, −∞ where no step was taken."""
        alpha, b, score = now
        da, db = target[0] - alpha, target[1] - b
        ds = K @ da

        def primal(t: float) -> float:
            fit = C @ self.loss.value(y, score + t * ds + b + t * db)
            return float(0.5 * (alpha + t * da) @ (score + t * ds) + fit)

        start, t = primal(0.0), 1.0
        while not (after := primal(t)) <= start + 1e-12 * abs(start) and t > 1e-10:
            t *= 0.5
        if t <= 1e-10:
            return alpha, b, score, -np.inf
        gain = start - after if start - after > _ROUNDING * abs(start) else 0.0
        return alpha + t * da, b + t * db, score + t * ds, gain

    def _solution(
        self, y: Array, C: Array, alpha: Array, b: float, score: Array, sensitivity: Sensitivity
    ) -> Solution:
        f = score + b
        conjugate = C @ self.loss.conjugate(y, -alpha / C)
        gap = float(alpha @ score) + float(C @ self.loss.value(y, f)) + float(conjugate)
        return Solution(alpha, b, f, max(gap, 0.0), sensitivity)

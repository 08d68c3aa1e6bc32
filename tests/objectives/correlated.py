"""A risk that is no sum over samples, written as a user would write it: regression under correlated noise."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from manykernels.objectives import Fit, Risk


class Correlated(Risk):
    """R(f) = ½ (y − f)ᵀM(y − f) for the noise of covariance M⁻¹, y of shape (n, 1).

    R*(u) = uᵀy + ½uᵀM⁻¹u, so that −R*(−α) = yᵀα − ½αᵀM⁻¹α; the domain is everything. At the
    optimum α = M(y − f), that is (K + M⁻¹)α + b1 = y, with Σα = 0 where b is fitted.
    """

    def __init__(self, y, M, fit_intercept):
        self.y, self.M, self.fit_intercept = y, M, fit_intercept
        self.inverse = cho_solve(cho_factor(M), np.eye(len(M)))
        self.shape = y.shape
        self.smoothness = float(np.linalg.eigvalsh(M)[-1])
        self.cost = float(np.mean(np.diag(M)))

    # -- the function and its conjugate
    def terms(self, f):
        return 0.5 * (self.y - f) * (self.M @ (self.y - f))

    def gradient(self, f):
        return self.M @ (f - self.y)

    def dual_terms(self, alpha):
        return np.concatenate([self.y * alpha, -0.5 * alpha * (self.inverse @ alpha)])

    def feasible(self, alpha):
        """The nearest α with Σα = 0 in the norm of M⁻¹."""
        if not self.fit_intercept:
            return alpha
        pull = self.M.sum(axis=1, keepdims=True)
        return alpha - pull * (alpha.sum() / pull.sum())

    def intercepts(self, score):
        if not self.fit_intercept:
            return np.zeros(1)
        return np.array([np.sum(self.M @ (self.y - score)) / self.M.sum()])

    def scaled(self, factor):
        return Correlated(self.y, factor * self.M, self.fit_intercept)

    # -- the machine
    def solve(self, K, alpha, tol):
        """One factor of K + M⁻¹ = LLᵀ; what is given to start from is not needed."""
        L = cholesky(K + self.inverse, lower=True)
        one, right = (solve_triangular(L, v, lower=True) for v in (np.ones_like(self.y), self.y))
        b = np.vdot(one, right) / np.vdot(one, one) if self.fit_intercept else 0.0
        alpha = self.feasible(solve_triangular(L, right - b * one, lower=True, trans="T"))
        f = K @ alpha + b
        gap = float(np.sum(alpha * (f - b))) + self.value(f) - self.dual_fit(alpha)
        v = one / np.linalg.norm(one) if self.fit_intercept else np.zeros_like(one)
        return Fit(alpha, np.full(1, b), f, max(gap, 0.0), [(L, v)])

    def curvature(self, K, fit, R):
        """B = (I − v̂v̂ᵀ) L⁻¹R, v̂ ∝ L⁻¹1: BᵀB = RᵀPR with P the inverse of K + M⁻¹, projected."""
        L, v = fit.solutions[0]
        B = solve_triangular(L, R[:, :, 0].T, lower=True)
        return B - v @ (v.T @ B)

    def move(self, fit, alpha, Bd):
        return alpha - solve_triangular(fit.solutions[0][0], Bd[:, None], lower=True, trans="T")

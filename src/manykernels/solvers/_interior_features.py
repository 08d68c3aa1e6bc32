"""The joint interior-point method where kernels have few explicit features: nothing of n × n is made.

With K_m = Φ_mΦ_mᵀ and X = √H Φ diag(√θ), 1/H the curvature of the barrier, S = K_θ + 1/H has the inverse

    S⁻¹ = √H (1 + XXᵀ)⁻¹ √H,      (1 + XXᵀ)⁻¹X = X M⁻¹,      M = 1 + XᵀX  (p, p).

K_mα is in the span of Φ_m, so that S⁻¹K_mα = √H X M⁻¹ c_m and αᵀK_lS⁻¹K_mα = c_lᵀ(1 − M⁻¹)c_m for the vectors
c_m = Φ_mᵀα/√θ_m, without a difference of large numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from .._fast.linalg import factor
from ..grams import FactorGram
from ..objectives import Risk
from ..penalties import Penalty
from ._interior import _JITTER, InteriorPoint
from .base import Array

_FEW = 2  # times as many samples as features


class FeatureInterior(InteriorPoint):
    """One output, with an intercept or without, and kernels of few features."""

    def __init__(
        self, gram: FactorGram, risk: Risk, penalty: Penalty, theta: Array, alpha: Array, largest: Array
    ) -> None:
        self.owner = np.repeat(np.arange(gram.n_kernels), np.diff(gram.ptr))
        self.Phi = np.asarray(gram.features) * np.sqrt(gram.scale)[self.owner]
        self.ptr = gram.ptr
        super().__init__(risk, penalty, lambda theta: theta, gram.products, theta, alpha, largest)

    @classmethod
    def serves(cls, gram: Any, risk: Risk) -> bool:
        """Tell whether the kernels are held in this way, and the risk has one output and no covariates."""
        plain = risk.shape[1] == 1 and risk.Z is None
        held = isinstance(gram, FactorGram) and gram.dense and gram.mean is None
        return plain and held and _FEW * gram.features.shape[1] <= gram.n

    def _slopes(self, alpha: Array) -> Array:
        """(M, n, 1): K_mα."""
        inner = self.Phi * (self.Phi.T @ alpha)[:, 0]
        return np.add.reduceat(inner, self.ptr[:-1], axis=1).T[:, :, None]

    def _apart(
        self, K: Array, R: Array, q: Array, residual: Array, inverse: Array, tau: float
    ) -> tuple[tuple[Array, Array, Array], Array, Array]:
        """(Δθ, Δν, Δp), KΔα + RΔθ + Δb and Δb."""
        root, r, R = np.sqrt(inverse), residual[:, 0], R[:, :, 0].T
        X = root * self.Phi * np.sqrt(self.theta)[self.owner]
        M = X.T @ X
        M.flat[:: len(M) + 1] += 1.0
        L = factor(M)
        C = np.zeros((len(M), self.theta.size))
        C[np.arange(len(M)), self.owner] = (self.Phi.T @ self.alpha)[:, 0] / np.sqrt(self.theta)[self.owner]
        back = lapack.dpotrs(L, C, lower=1)[0]
        sides = root * np.column_stack([r, np.ones_like(r)])
        sides = root * (sides - X @ lapack.dpotrs(L, X.T @ sides, lower=1)[0])
        still, one = sides.T
        moves = root * (X @ back)
        G, right = C.T @ (C - back), R.T @ still
        if self.risk.fit_intercept:
            lean = R.T @ one / one.sum()
            G, right = G - np.outer(lean, lean) * one.sum(), right - lean * (one @ r)
        half = np.tril(factor(0.5 * (G + G.T), _JITTER))
        direction = self._theta_direction(
            q, [(half.T, solve_triangular(half, right, lower=True, check_finite=False))], tau
        )
        step, db = still + moves @ direction[0], np.zeros_like(self.b)
        if self.risk.fit_intercept:
            db[0] = -step.sum() / one.sum()
        dalpha = -(step + one * db[0])
        return direction, -residual - dalpha[:, None] / inverse, db

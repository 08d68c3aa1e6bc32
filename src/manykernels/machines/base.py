"""The inner problem: a kernel machine for one combined kernel, solved from a warm start.

    min_{α, b}  ½ αᵀKα + Σ C_i ℓ(y_i, (Kα)_i + b)      (b an intercept, or Zγ with covariates: `free.py`)

A solution also knows how it would move with the kernel. On the coordinates S where it is smooth,
dα = −P dK α with P the inverse of K_SS + W⁻¹ (W the curvature of the loss there, infinite for the hinge)
projected against the intercept, so that the second derivative of the optimal value J(θ) is
∂²J/∂θ_m∂θ_l = (K_mα)ᵀ P (K_lα). That is all a second-order method needs of the machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .free import projected_on

Array = NDArray[np.float64]


@dataclass
class Sensitivity:
    """P in factored form: P = D L⁻ᵀ (I − v̂v̂ᵀ) L⁻¹ D on the coordinates `support`, zero elsewhere.

    With covariates v̂ is a matrix, whose orthonormal columns span L⁻¹DZ.
    """

    support: NDArray[np.intp]
    factor: NDArray[Any]  # L, lower triangular, double or single precision
    root: Array  # D, a diagonal
    direction: Array | None  # v̂ = L⁻¹D1 / ‖·‖, None without an unpenalised part

    def half(self, R: Array) -> Array:
        """B with BᵀB = RᵀPR, for R of shape (n, m)."""
        if self.support.size == 0:
            return np.zeros((0, R.shape[1]))
        B = solve_triangular(
            self.factor,
            self.root[:, None] * R[self.support],
            lower=True,
            check_finite=False,
            overwrite_b=True,
        )
        if self.direction is not None:
            v = self.direction
            B -= np.outer(v, v @ B) if v.ndim == 1 else v @ (v.T @ B)
        return np.asarray(B, dtype=float)

    def move(self, Bd: Array, n: int) -> Array:
        """−P R d, given B d of shape (support,) or (support, k): how α moves when θ moves by d."""
        step = np.zeros((n, *Bd.shape[1:]))
        if self.support.size:
            right = Bd.astype(self.factor.dtype, copy=False)
            back = solve_triangular(self.factor, right, lower=True, trans="T", check_finite=False)
            step[self.support] = -(self.root * back.T).T
        return step


@dataclass
class Solution:
    """α, b and f = Kα + b on the training points, with the gap at this kernel."""

    alpha: Array
    intercept: float | Array  # b, or Zγ (n,) with covariates
    f: Array
    gap: float
    sensitivity: Sensitivity | None = field(default=None, repr=False)


class Machine(ABC):
    """Solves the inner problem for one loss."""

    @abstractmethod
    def solve(
        self, K: Array, y: Array, C: Array, alpha: Array, tol: float, previous: Sensitivity | None = None
    ) -> Solution:
        """α, b for this kernel with a duality gap of at most `tol`, starting from `alpha`."""

    @abstractmethod
    def sensitivity(self, K: Array, y: Array, C: Array, solution: Solution) -> Sensitivity:
        """How the solution moves with the kernel."""


def direction(factor: NDArray[Any], root: Array, fit_intercept: bool, Z: Array | None = None) -> Array | None:
    """v̂ of `Sensitivity`: the directions that the intercept, or covariates Z on the support, absorb."""
    if Z is not None:
        return projected_on(factor, root, Z)
    if not fit_intercept:
        return None
    v = solve_triangular(factor, root.astype(factor.dtype, copy=False), lower=True, check_finite=False)
    return np.asarray(v / np.linalg.norm(v), dtype=float)


def feasible(alpha: Array, lo: Array, hi: Array) -> Array:
    """A near point with lo ≤ α ≤ hi and Σα = 0: clip, then take the excess from where there is room."""
    alpha = np.clip(alpha, lo, hi)
    for _ in range(3):
        excess = alpha.sum()
        if excess == 0.0:
            break
        room = np.minimum(alpha - lo if excess > 0 else hi - alpha, 1e3 * np.abs(alpha).max() + 1.0)
        total = room.sum()
        if total <= 0.0:
            break
        alpha = np.clip(alpha - excess * room / total, lo, hi)
    return alpha

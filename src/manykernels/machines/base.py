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
    """The sensitivity of a machine to its kernel: the matrix P, in factored form.

    P = D L⁻ᵀ (I − v̂v̂ᵀ) L⁻¹ D on the coordinates `support`, and zero elsewhere. With covariates v̂ is a
    matrix, whose orthonormal columns span L⁻¹DZ.

    Attributes
    ----------
    support : ndarray of int
        The coordinates on which P is not zero.
    factor : ndarray of shape (n_support, n_support)
        The lower triangular L, in double or single precision.
    root : ndarray of shape (n_support,)
        The diagonal D.
    direction : ndarray or None
        The vector v̂ = L⁻¹D1 / ‖·‖, or a matrix with covariates; None without an unpenalised part.

    Examples
    --------
    For squared errors with K = I and an intercept P = ½(I − 11ᵀ/3), which halves centred vectors:

    >>> import numpy as np
    >>> from manykernels.losses import Squared
    >>> from manykernels.machines import machine_for
    >>> K, y, C = np.eye(3), np.array([1.0, 2.0, 3.0]), np.ones(3)
    >>> machine = machine_for(Squared(), fit_intercept=True)
    >>> found = machine.solve(K, y, C, np.zeros(3), tol=1e-9)
    >>> P = machine.sensitivity(K, y, C, found)
    >>> B = P.half(found.alpha[:, None])
    >>> bool(np.allclose(B.T @ B, found.alpha @ found.alpha / 2))
    True

    If K grows by a tenth, α shrinks by a tenth of its half:

    >>> bool(np.allclose(P.move(B @ np.array([0.1]), 3), -0.05 * found.alpha))
    True
    """

    support: NDArray[np.intp]
    factor: NDArray[Any]  # L, lower triangular, double or single precision
    root: Array  # D, a diagonal
    direction: Array | None  # v̂ = L⁻¹D1 / ‖·‖, None without an unpenalised part

    def half(self, R: Array) -> Array:
        """Compute B with BᵀB = RᵀPR.

        Parameters
        ----------
        R : ndarray of shape (n_samples, m)
            Any matrix.

        Returns
        -------
        ndarray of shape (n_support, m)
            The matrix B.
        """
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
        """Compute −P R d, how α moves when θ moves by d.

        Parameters
        ----------
        Bd : ndarray of shape (n_support,) or (n_support, k)
            The product B d, where B is the `half` of R.
        n : int
            Number of samples.

        Returns
        -------
        ndarray of shape (n,) or (n, k)
            The step of α.
        """
        step = np.zeros((n, *Bd.shape[1:]))
        if self.support.size:
            right = Bd.astype(self.factor.dtype, copy=False)
            back = solve_triangular(self.factor, right, lower=True, trans="T", check_finite=False)
            step[self.support] = -(self.root * back.T).T
        return step


@dataclass
class Solution:
    """The solution of a machine: α, b and f = Kα + b on the training points, with the gap at this kernel.

    Attributes
    ----------
    alpha : ndarray of shape (n_samples,)
        Dual variables α.
    intercept : float or ndarray of shape (n_samples,)
        The intercept b, or Zγ with covariates.
    f : ndarray of shape (n_samples,)
        Decisions on the training points.
    gap : float
        The duality gap.
    sensitivity : Sensitivity or None
        How the solution moves with the kernel, if that came for free.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Squared
    >>> from manykernels.machines import machine_for
    >>> K, y, C = np.eye(3), np.array([1.0, 2.0, 3.0]), np.ones(3)
    >>> found = machine_for(Squared(), fit_intercept=True).solve(K, y, C, np.zeros(3), tol=1e-9)
    >>> found.f.round(6).tolist()
    [1.5, 2.0, 2.5]
    """

    alpha: Array
    intercept: float | Array  # b, or Zγ (n,) with covariates
    f: Array
    gap: float
    sensitivity: Sensitivity | None = field(default=None, repr=False)


class Machine(ABC):
    """Base class of machines: solvers of the inner problem at fixed weights, for one loss.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Squared
    >>> from manykernels.machines import machine_for
    >>> K, y, C = np.eye(3), np.array([1.0, 2.0, 3.0]), np.ones(3)
    >>> machine = machine_for(Squared(), fit_intercept=True)
    >>> found = machine.solve(K, y, C, np.zeros(3), tol=1e-9)
    >>> round(found.intercept, 6), found.alpha.round(6).tolist()
    (2.0, [-0.5, 0.0, 0.5])

    All coordinates move with the kernel, because the squared loss is smooth everywhere:

    >>> machine.sensitivity(K, y, C, found).support.tolist()
    [0, 1, 2]
    """

    @abstractmethod
    def solve(
        self, K: Array, y: Array, C: Array, alpha: Array, tol: float, previous: Sensitivity | None = None
    ) -> Solution:
        """Find α and b for this kernel with a duality gap of at most `tol`.

        Parameters
        ----------
        K : ndarray of shape (n_samples, n_samples)
            Kernel matrix.
        y : ndarray of shape (n_samples,)
            Targets.
        C : ndarray of shape (n_samples,)
            Costs of the samples.
        alpha : ndarray of shape (n_samples,)
            Dual variables to start from.
        tol : float
            The duality gap that is small enough.
        previous : Sensitivity or None, default=None
            The sensitivity at a kernel nearby, if it is known, which may help.

        Returns
        -------
        Solution
            The solution.
        """

    @abstractmethod
    def sensitivity(self, K: Array, y: Array, C: Array, solution: Solution) -> Sensitivity:
        """Compute how the solution moves with the kernel.

        Parameters
        ----------
        K : ndarray of shape (n_samples, n_samples)
            Kernel matrix.
        y : ndarray of shape (n_samples,)
            Targets.
        C : ndarray of shape (n_samples,)
            Costs of the samples.
        solution : Solution
            The solution at this kernel.

        Returns
        -------
        Sensitivity
            The matrix P in factored form.
        """


def direction(factor: NDArray[Any], root: Array, fit_intercept: bool, Z: Array | None = None) -> Array | None:
    """v̂ of `Sensitivity`: the directions that the intercept, or covariates Z on the support, absorb."""
    if Z is not None:
        return projected_on(factor, root, Z)
    if not fit_intercept:
        return None
    v = solve_triangular(factor, root.astype(factor.dtype, copy=False), lower=True, check_finite=False)
    return np.asarray(v / np.linalg.norm(v), dtype=float)


def feasible(alpha: Array, lo: Array, hi: Array) -> Array:
    """Return a near point with lo ≤ α ≤ hi and Σα = 0.

    The point is clipped; then the excess of its sum is taken from coordinates that have room.

    Parameters
    ----------
    alpha : ndarray of shape (n_samples,)
        Any point.
    lo : ndarray of shape (n_samples,)
        Lower bounds.
    hi : ndarray of shape (n_samples,)
        Upper bounds.

    Returns
    -------
    ndarray of shape (n_samples,)
        The point, whose sum is zero to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.machines import feasible
    >>> feasible(np.array([2.0, -0.5]), np.array([0.0, -1.0]), np.array([1.0, 0.0])).round(3).tolist()
    [0.667, -0.667]
    """
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

"""The quadratic problem of groups of features: ½ (Σ_g ‖w_g‖)² + ½ wᵀHw − bᵀw, solved to rounding.

Sweeps over the groups (`_fast/groups.py`) find out which have weight; on those the objective is smooth, and
Newton's method ends it: with u_g = w_g/‖w_g‖ and N = Σ ‖w_g‖ the Hessian is H + N diag((I − u_gu_gᵀ)/‖w_g‖)
+ uuᵀ. Groups that are nearly dependent make sweeps slow, and leave Newton's method as it is.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .._fast import groups as fast
from .._fast.linalg import factor, solve

Array = NDArray[np.float64]
_SWEEPS = 1000  # at most
_FEWEST = 5  # sweeps between two steps of Newton's method: those decide which groups have weight
_WIDE = 3000  # coefficients with weight, beyond which no step of Newton's method is tried
_OVERHEAD = 20.0  # operations on each entry of the Hessian, beside its factor


def diagonal_blocks(H: Array, ptr: NDArray[np.intp]) -> list[Array]:
    """Return, for every group, the orthonormal basis in which its block of H is diagonal."""
    return [np.linalg.eigh(H[lo:hi, lo:hi])[1] for lo, hi in pairwise(ptr)]


def turned(w: Array, ptr: NDArray[np.intp], bases: list[Array], back: bool = False) -> Array:
    """Coefficients (…, p) in these bases of the groups, or back from them."""
    found = np.empty_like(w)
    for (lo, hi), Q in zip(pairwise(ptr), bases, strict=True):
        found[..., lo:hi] = w[..., lo:hi] @ (Q.T if back else Q)
    return found


class Quadratic:
    """H (p, p) whose blocks are diagonal, b (outputs, p), and the groups ptr."""

    def __init__(self, H: Array, b: Array, ptr: NDArray[np.intp]) -> None:
        self.H, self.b, self.ptr = np.ascontiguousarray(H), np.ascontiguousarray(b), ptr

    def norms(self, w: Array) -> Array:
        """‖w_g‖ over all outputs."""
        return np.sqrt(np.add.reduceat((w**2).sum(axis=0), self.ptr[:-1]))

    def value(self, w: Array, Hw: Array) -> float:
        return float(0.5 * self.norms(w).sum() ** 2 + np.sum(w * (0.5 * Hw - self.b)))

    def minimise(self, start: Array, tol: float) -> Array:
        """w (outputs, p) at which no block moves by more than tol times Σ ‖w_g‖."""
        w = np.array(start, order="C")
        Hw, norms = w @ self.H, self.norms(w)
        before, sweeps = np.inf, 0
        for _ in range(_SWEEPS):
            change = fast.sweep(self.H, self.ptr, self.b, w, Hw, norms)
            goal, sweeps = tol * max(float(norms.sum()), 1e-300), sweeps + 1
            if change <= goal:
                break
            if sweeps >= _FEWEST and self._pays(w.shape[0], norms, change / before, goal / change):
                w, sweeps = self._newton(w, Hw, norms), 0
                Hw, norms = w @ self.H, self.norms(w)
            before = change
        return w

    def _pays(self, outputs: int, norms: Array, rate: float, left: float) -> bool:
        """Tell whether a step of Newton's method costs less than the sweeps that are left at this rate."""
        used = float(outputs * np.sum(np.diff(self.ptr)[norms > 0.0]))
        sweeps = np.log(left) / np.log(rate) if rate < 1.0 else np.inf
        return 0.0 < used <= _WIDE and bool(used**3 / 3.0 + used**2 * _OVERHEAD < sweeps * 2.0 * self.H.size)

    def _newton(self, w: Array, Hw: Array, norms: Array) -> Array:
        """A step on the groups with weight, as far as the objective falls and none of them turns round."""
        used = np.repeat(norms > 0.0, np.diff(self.ptr))
        count, outputs = int(used.sum()), w.shape[0]
        if count == 0 or count * outputs > _WIDE:
            return w
        total, each = norms.sum(), np.repeat(norms, np.diff(self.ptr))[used]
        u = (w[:, used] / each).ravel()
        gradient = ((Hw - self.b)[:, used] + total * w[:, used] / each).ravel()
        part = self.H[np.ix_(used, used)]
        A = np.kron(np.eye(outputs), part) if outputs > 1 else part
        A += np.outer(u, u)
        A.flat[:: A.shape[0] + 1] += np.tile(total / each, outputs)
        owner = np.tile(np.repeat(np.arange(norms.size), np.diff(self.ptr))[used], outputs)
        for g in np.flatnonzero(norms > 0.0):
            own = np.flatnonzero(owner == g)
            A[np.ix_(own, own)] -= total / norms[g] * np.outer(u[own], u[own])
        step = np.zeros_like(w)
        step[:, used] = -solve(factor(A), gradient).reshape(outputs, count)
        before, t = self.value(w, Hw), 1.0
        while t > 1e-4:
            new = w + t * step
            if self.value(new, new @ self.H) < before:
                return new
            t *= 0.5
        return w

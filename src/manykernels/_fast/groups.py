"""Block coordinate descent for ½ (Σ_g ‖w_g‖)² + ½ Σ_k w_kᵀHw_k − Σ_k b_kᵀw_k, blocks of H diagonal.

With the other blocks fixed, s = Σ_{h≠g} ‖w_h‖ and c = b_g − Σ_{h≠g} H_gh w_h, the best block is zero where
‖c‖ ≤ s; otherwise w_g = r c/((d + 1) r + s), d the diagonal of H_gg, with r = ‖w_g‖ the root of

    F(r) = Σ_i c_i² / ((d_i + 1) r + s)² = 1,

which Newton's method on F^{−½} finds in a few steps.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@njit(cache=True)
def sweep(H: Array, ptr: Index, b: Array, w: Array, Hw: Array, norms: Array) -> float:
    """Update every block in place once: w and Hw (outputs, p), norms (groups,); the largest change of a norm.

    H (p, p) is symmetric, with blocks ptr[g] : ptr[g + 1] that are diagonal.
    """
    outputs = w.shape[0]
    total, largest = norms.sum(), 0.0
    for g in range(norms.size):
        lo, hi = ptr[g], ptr[g + 1]
        s = max(total - norms[g], 0.0)
        size = 0.0
        for k in range(outputs):
            for i in range(lo, hi):
                c = b[k, i] - Hw[k, i] + H[i, i] * w[k, i]
                size += c * c
        r = 0.0
        if size > s * s:
            r = _radius(H, b, w, Hw, lo, hi, s, np.sqrt(size))
        moved = 0.0
        for k in range(outputs):
            for i in range(lo, hi):
                new = 0.0
                if r > 0.0:
                    c = b[k, i] - Hw[k, i] + H[i, i] * w[k, i]
                    new = r * c / ((H[i, i] + 1.0) * r + s)
                # the rest of this block reads its own Hw only through its diagonal, which is corrected below
                step = new - w[k, i]
                w[k, i] = new
                if step != 0.0:
                    moved += step * step
                    for j in range(lo):
                        Hw[k, j] += H[i, j] * step
                    Hw[k, i] += H[i, i] * step
                    for j in range(hi, H.shape[0]):
                        Hw[k, j] += H[i, j] * step
        largest = max(largest, np.sqrt(moved))
        total += r - norms[g]
        norms[g] = r
    return largest


@njit(cache=True)
def _radius(H: Array, b: Array, w: Array, Hw: Array, lo: int, hi: int, s: float, size: float) -> float:
    """r with F(r) = 1, from a lower bound."""
    steepest = 0.0
    for i in range(lo, hi):
        steepest = max(steepest, H[i, i])
    r = (size - s) / (steepest + 1.0)
    for _ in range(60):
        F, slope = 0.0, 0.0
        for k in range(w.shape[0]):
            for i in range(lo, hi):
                c = b[k, i] - Hw[k, i] + H[i, i] * w[k, i]
                d = H[i, i] + 1.0
                ratio = c / (d * r + s)
                F += ratio * ratio
                slope -= 2.0 * ratio * ratio * d / (d * r + s)
        h = F**-0.5
        step = (1.0 - h) / (-0.5 * h / F * slope)
        r += step
        if abs(step) <= 1e-14 * r:
            break
    return r

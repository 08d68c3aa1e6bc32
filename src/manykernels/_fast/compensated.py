"""Sums of products in twice the working precision (Ogita, Rump and Oishi 2005, Dot2).

Every product and every sum is split into its rounded value and the exact error of it, and errors are added
up on their own. The result is as exact as if computed with 106 bits and rounded once.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
_SPLIT = 134217729.0  # 2²⁷ + 1


@njit(cache=True, nogil=True)
def _product(a: float, b: float) -> tuple[float, float]:
    """(p, e) with p = fl(ab) and p + e = ab exactly (Dekker)."""
    p = a * b
    t = _SPLIT * a
    ah = t - (t - a)
    al = a - ah
    t = _SPLIT * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@njit(cache=True, nogil=True)
def two_sum(a: float, b: float) -> tuple[float, float]:
    """(s, e) with s = fl(a + b) and s + e = a + b exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(cache=True, nogil=True)
def expand(K: Array, alpha: Array, theta: float, high: Array, low: Array) -> None:
    """high + low += θ K α, for α of shape (n, k) and high, low of shape (m, k)."""
    for i in range(K.shape[0]):
        for k in range(alpha.shape[1]):
            s, e = high[i, k], low[i, k]
            for j in range(K.shape[1]):
                p, small = _product(K[i, j], alpha[j, k])
                p, more = _product(p, theta)
                s, lost = two_sum(s, p)
                e += lost + (more + small * theta)
            high[i, k], low[i, k] = s, e


@njit(cache=True, nogil=True)
def quad(K: Array, alpha: Array) -> float:
    """Σ_k α_kᵀ K α_k."""
    high, low = 0.0, 0.0
    for k in range(alpha.shape[1]):
        for i in range(K.shape[0]):
            s, e = 0.0, 0.0
            for j in range(K.shape[1]):
                p, small = _product(K[i, j], alpha[j, k])
                s, lost = two_sum(s, p)
                e += lost + small
            p, small = _product(s, alpha[i, k])
            high, lost = two_sum(high, p)
            low += lost + (small + e * alpha[i, k])
    return high + low

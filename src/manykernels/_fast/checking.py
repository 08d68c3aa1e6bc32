"""One pass over a stack of given matrices: are they finite, symmetric, and possibly positive semidefinite?

The pass is bound by arithmetic more than by memory, so that it also multiplies each matrix by a vector, which
whoever checks matrices needs next (their means).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner
from .threads import split

Array = NDArray[np.float64]


@inner(nogil=True, fastmath={"reassoc", "contract"})
def _check_four(
    k: Any, i: int, slack: float, diagonal: Array, x: Array, y: Array, share: Array, means: Array
) -> tuple[float, float]:
    """(sum, violation of 2 × 2 minors) of rows i … i+3; y += their part of (K − Kᵀ)x, means = K share."""
    a, b, c, d = k[i], k[i + 1], k[i + 2], k[i + 3]
    xa, xb, xc, xd = x[i], x[i + 1], x[i + 2], x[i + 3]
    da, db, dc, dd = diagonal[i], diagonal[i + 1], diagonal[i + 2], diagonal[i + 3]
    sa, sb, sc, sd, total, minor = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ma, mb, mc, md = 0.0, 0.0, 0.0, 0.0
    for j in range(i + 4):
        dj = slack * diagonal[j]
        va, vb, vc, vd = np.float64(a[j]), np.float64(b[j]), np.float64(c[j]), np.float64(d[j])
        ea, eb = va * va - da * dj, vb * vb - db * dj
        ec, ed = vc * vc - dc * dj, vd * vd - dd * dj
        minor += (ea if ea > 0.0 else 0.0) + (eb if eb > 0.0 else 0.0)
        minor += (ec if ec > 0.0 else 0.0) + (ed if ed > 0.0 else 0.0)
    for j in range(x.size):
        xj, mj = x[j], share[j]
        va, vb, vc, vd = np.float64(a[j]), np.float64(b[j]), np.float64(c[j]), np.float64(d[j])
        total += (va + vb) + (vc + vd)
        sa, sb, sc, sd = sa + va * xj, sb + vb * xj, sc + vc * xj, sd + vd * xj
        ma, mb, mc, md = ma + va * mj, mb + vb * mj, mc + vc * mj, md + vd * mj
        y[j] -= va * xa + vb * xb + vc * xc + vd * xd
    y[i], y[i + 1], y[i + 2], y[i + 3] = y[i] + sa, y[i + 1] + sb, y[i + 2] + sc, y[i + 3] + sd
    means[i], means[i + 1], means[i + 2], means[i + 3] = ma, mb, mc, md
    return total, minor


@inner(nogil=True, fastmath={"reassoc", "contract"})
def _check_row(
    k: Any, i: int, slack: float, diagonal: Array, x: Array, y: Array, share: Array, means: Array
) -> tuple[float, float]:
    """The same for one row."""
    row, s, total, minor, mean = k[i], 0.0, 0.0, 0.0, 0.0
    for j in range(x.size):
        v = np.float64(row[j])
        total += v
        s += v * x[j]
        mean += v * share[j]
        y[j] -= v * x[i]
    for j in range(i):
        excess = np.float64(row[j]) ** 2 - slack * diagonal[i] * diagonal[j]
        minor += excess if excess > 0.0 else 0.0
    y[i] += s
    means[i] = mean
    return total, minor


@njit(cache=True, nogil=True)
def _check_range(
    stack: Any, x: Array, slack: float, share: Array, lo: int, hi: int, out: Array, means: Array
) -> None:
    n = x.size
    whole = n - n % 4
    for m in range(lo, hi):
        k = stack[m]
        diagonal, y = np.empty(n), np.zeros(n)
        for i in range(n):
            diagonal[i] = k[i, i]
        total, minor, worst = 0.0, 0.0, 0.0
        for i in range(0, whole, 4):
            t, v = _check_four(k, i, slack, diagonal, x, y, share, means[m])
            total, minor = total + t, minor + v
        for i in range(whole, n):
            t, v = _check_row(k, i, slack, diagonal, x, y, share, means[m])
            total, minor = total + t, minor + v
        for i in range(n):
            worst = max(worst, abs(y[i]))
        out[m, 0], out[m, 1], out[m, 2] = total, worst, minor


def check(stack: Any, x: Array, slack: float, share: Array, out: Array, means: Array) -> None:
    """One pass over both triangles, and means[m] = K_m share.

    out[m] = (sum of entries, ‖(K − Kᵀ)x‖∞, Σ_{j ≤ i} (K_ij² − slack K_ii K_jj)₊). With x random the second is
    zero, up to rounding, only for a symmetric matrix (Freivalds' test), and memory is read in one run. The
    first is not finite when an entry is not.
    """
    split(stack.shape[0], stack.size, lambda lo, hi: _check_range(stack, x, slack, share, lo, hi, out, means))

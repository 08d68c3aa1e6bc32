"""Passes over a stack of Gram matrices, each bound by memory bandwidth.

A stack is an array (M, n, n) whose last axis is contiguous. Kernels are symmetric, so every pass but the
first reads only the lower triangle: row i up to its diagonal is one contiguous run, and four kernels are
read at once so that the hardware has several streams to prefetch.
"""

import numpy as np
from numba import njit, prange

_TILE = 48
_PIECES = 64


@njit(cache=True, nogil=True, fastmath=True)
def _combine_row(stack, index, weight, i, row):
    """row[:i+1] = Σ_m weight_m K_m[i, :i+1]."""
    width = i + 1
    row[:width] = 0.0
    m = 0
    while m + 4 <= index.size:
        a, b, c, d = weight[m], weight[m + 1], weight[m + 2], weight[m + 3]
        ka, kb = stack[index[m], i], stack[index[m + 1], i]
        kc, kd = stack[index[m + 2], i], stack[index[m + 3], i]
        for j in range(width):
            row[j] += a * ka[j] + b * kb[j] + c * kc[j] + d * kd[j]
        m += 4
    while m < index.size:
        a, ka = weight[m], stack[index[m], i]
        for j in range(width):
            row[j] += a * ka[j]
        m += 1


@njit(cache=True, nogil=True)
def _row_of(share, n):
    """The row above which lies this share of a triangle's entries."""
    return int(round(n * np.sqrt(share)))


@njit(cache=True, parallel=True)
def combine(stack, index, weight, out):
    """out = Σ_m weight_m K_{index_m}, both triangles."""
    n = out.shape[0]
    pieces = _PIECES
    for piece in prange(pieces):
        for i in range(_row_of(piece / pieces, n), _row_of((piece + 1) / pieces, n)):
            _combine_row(stack, index, weight, i, out[i])
    mirror(out)


@njit(cache=True, parallel=True)
def mirror(out):
    """Copy the lower triangle to the upper one, tile by tile."""
    n = out.shape[0]
    tiles = (n + _TILE - 1) // _TILE
    for a in prange(tiles):
        for b in range(a, tiles):
            for i in range(b * _TILE, min((b + 1) * _TILE, n)):
                for j in range(a * _TILE, min((a + 1) * _TILE, i)):
                    out[j, i] = out[i, j]


@njit(cache=True, nogil=True, fastmath=True)
def _symmetric_product(k, x, y):
    """y = K x from the lower triangle, four rows at a time so that y passes through the cache a quarter as often."""
    n = x.size
    y[:] = 0.0
    i = 0
    while i + 4 <= n:
        a, b, c, d = k[i], k[i + 1], k[i + 2], k[i + 3]
        xa, xb, xc, xd = x[i], x[i + 1], x[i + 2], x[i + 3]
        sa, sb, sc, sd = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            xj = x[j]
            sa += a[j] * xj
            sb += b[j] * xj
            sc += c[j] * xj
            sd += d[j] * xj
            y[j] += a[j] * xa + b[j] * xb + c[j] * xc + d[j] * xd
        y[i] += sa + a[i] * xa + b[i] * xb + c[i] * xc + d[i] * xd
        y[i + 1] += sb + b[i] * xa + b[i + 1] * xb + c[i + 1] * xc + d[i + 1] * xd
        y[i + 2] += sc + c[i] * xa + c[i + 1] * xb + c[i + 2] * xc + d[i + 2] * xd
        y[i + 3] += sd + d[i] * xa + d[i + 1] * xb + d[i + 2] * xc + d[i + 3] * xd
        i += 4
    while i < n:
        row, xi, s = k[i], x[i], 0.0
        for j in range(i):
            s += row[j] * x[j]
            y[j] += row[j] * xi
        y[i] += s + row[i] * xi
        i += 1


@njit(cache=True, parallel=True)
def products(stack, index, x, out):
    """out[m] = K_{index_m} x for one vector x."""
    for m in prange(index.size):
        _symmetric_product(stack[index[m]], x, out[m])


@njit(cache=True, parallel=True, fastmath=True)
def quadratic_forms(stack, index, x, rows, out):
    """out[m] = xᵀ K_{index_m} x; `rows` lists where x is not zero, and only those rows are read."""
    for m in prange(index.size):
        k = stack[index[m]]
        total = 0.0
        for t in range(rows.size):
            i = rows[t]
            row, s = k[i], 0.0
            for j in range(i):
                s += row[j] * x[j]
            total += x[i] * (2.0 * s + x[i] * row[i])
        out[m] = total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _check_rows(k, diagonal, x, y, i, rows):
    """Add rows i … i+rows−1 of K to y = (K − Kᵀ)x; (their sum, their violation of 2 × 2 minors)."""
    total, minor = 0.0, 0.0
    for r in range(i, i + rows):
        row, xi, dii, s = k[r], x[r], diagonal[r] * (1.0 + 1e-9), 0.0
        for j in range(x.size):
            v = row[j]
            total += v
            s += v * x[j]
            y[j] -= v * xi
            excess = v * v - dii * diagonal[j]
            minor += excess if excess > 0.0 else 0.0
        y[r] += s
    return total, minor


@njit(cache=True, parallel=True)
def check(stack, x, out):
    """One pass over both triangles: out[m] = (sum of entries, ‖(K − Kᵀ)x‖∞, Σ (K_ij² − K_ii K_jj)₊).

    With x random the second is zero, up to rounding, only for a symmetric matrix (Freivalds' test), and
    memory is read in one run. The first is not finite when an entry is not.
    """
    count, n = stack.shape[0], stack.shape[1]
    for m in prange(count):
        k = stack[m]
        diagonal, y = np.empty(n), np.zeros(n)
        for i in range(n):
            diagonal[i] = k[i, i]
        total, minor = 0.0, 0.0
        for i in range(n):
            t, v = _check_rows(k, diagonal, x, y, i, 1)
            total += t
            minor += v
        worst = 0.0
        for i in range(n):
            worst = max(worst, abs(y[i]))
        out[m, 0], out[m, 1], out[m, 2] = total, worst, minor

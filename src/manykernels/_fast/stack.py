"""Passes over a stack of Gram matrices, each bound by memory bandwidth.

A stack is an array (M, n, n) whose last axis is contiguous, float64 or float32. Kernels are symmetric, so
every pass reads only the lower triangle: row i up to its diagonal is one contiguous run, and several rows or
kernels are read at once so that the hardware has several streams to prefetch. Vectors come as the rows of an
array, all of them served by the same pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner
from .threads import split

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_TILE = 48
_PIECES = 64  # of a triangle, equal in area


@inner(nogil=True, fastmath=True)
def _combine_row(stack: Any, index: Index, weight: Array, i: int, row: Array) -> None:
    row[: i + 1] = 0.0
    for m in range(index.size):
        w, k = weight[m], stack[index[m], i]
        for j in range(i + 1):
            row[j] += w * k[j]


@njit(cache=True, nogil=True, fastmath=True)
def _combine_rows(stack: Any, index: Index, weight: Array, lo: int, hi: int, out: Array) -> None:
    """Two rows of four kernels at a time: eight streams."""
    i = lo
    while i + 2 <= hi:
        upper, lower, width = out[i], out[i + 1], i + 1
        upper[:width], lower[: width + 1] = 0.0, 0.0
        m = 0
        while m + 4 <= index.size:
            p, q, r, s = weight[m], weight[m + 1], weight[m + 2], weight[m + 3]
            A, B = stack[index[m]], stack[index[m + 1]]
            C, D = stack[index[m + 2]], stack[index[m + 3]]
            a, b, c, d = A[i], B[i], C[i], D[i]
            e, f, g, h = A[i + 1], B[i + 1], C[i + 1], D[i + 1]
            for j in range(width):
                upper[j] += p * a[j] + q * b[j] + r * c[j] + s * d[j]
                lower[j] += p * e[j] + q * f[j] + r * g[j] + s * h[j]
            lower[width] += p * e[width] + q * f[width] + r * g[width] + s * h[width]
            m += 4
        while m < index.size:
            p, a, e = weight[m], stack[index[m], i], stack[index[m], i + 1]
            for j in range(width):
                upper[j] += p * a[j]
                lower[j] += p * e[j]
            lower[width] += p * e[width]
            m += 1
        i += 2
    if i < hi:
        _combine_row(stack, index, weight, i, out[i])


@njit(cache=True, nogil=True)
def _mirror_tiles(out: Array, lo: int, hi: int) -> None:
    n = out.shape[0]
    for a in range(lo, hi):
        for b in range(a, (n + _TILE - 1) // _TILE):
            for i in range(b * _TILE, min((b + 1) * _TILE, n)):
                for j in range(a * _TILE, min((a + 1) * _TILE, i)):
                    out[j, i] = out[i, j]


@inner(nogil=True, fastmath=True)
def _product_eight(k: Any, i: int, v: Array, w: Array) -> None:
    """Add the part of rows i … i+7 left of column i, and of their mirror image, to w = K v."""
    a, b, c, d = k[i], k[i + 1], k[i + 2], k[i + 3]
    e, f, g, h = k[i + 4], k[i + 5], k[i + 6], k[i + 7]
    va, vb, vc, vd = v[i], v[i + 1], v[i + 2], v[i + 3]
    ve, vf, vg, vh = v[i + 4], v[i + 5], v[i + 6], v[i + 7]
    sa, sb, sc, sd, se, sf, sg, sh = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(i):
        vj = v[j]
        sa += a[j] * vj
        sb += b[j] * vj
        sc += c[j] * vj
        sd += d[j] * vj
        se += e[j] * vj
        sf += f[j] * vj
        sg += g[j] * vj
        sh += h[j] * vj
        w[j] += a[j] * va + b[j] * vb + c[j] * vc + d[j] * vd + e[j] * ve + f[j] * vf + g[j] * vg + h[j] * vh
    w[i] += sa
    w[i + 1] += sb
    w[i + 2] += sc
    w[i + 3] += sd
    w[i + 4] += se
    w[i + 5] += sf
    w[i + 6] += sg
    w[i + 7] += sh


@inner(nogil=True, fastmath=True)
def _product_rows(k: Any, lo: int, hi: int, left: int, v: Array, w: Array) -> None:
    """The same for rows lo … hi−1 from column `left` to the diagonal, one by one."""
    for i in range(lo, hi):
        row, vi, s = k[i], v[i], 0.0
        for j in range(left, i):
            s += row[j] * v[j]
            w[j] += row[j] * vi
        w[i] += s + row[i] * vi


@inner(nogil=True)
def _product(k: Any, x: Array, y: Array) -> None:
    """y[c] = K x[c] from the lower triangle, eight rows at a time: y is read an eighth as often."""
    n = k.shape[0]
    y[:] = 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        for t in range(x.shape[0]):
            _product_eight(k, i, x[t], y[t])
            _product_rows(k, i, i + 8, i, x[t], y[t])
    first = 0 * n  # not a constant, for which the function would be compiled once more
    for t in range(x.shape[0]):
        _product_rows(k, whole, n, first, x[t], y[t])


@njit(cache=True, nogil=True)
def _product_range(stack: Any, index: Index, x: Array, lo: int, hi: int, out: Array) -> None:
    for m in range(lo, hi):
        _product(stack[index[m]], x, out[m])


@inner(nogil=True, fastmath=True)
def _quad_eight(k: Any, rows: Index, p: int, v: Array) -> float:
    """Σ_j v_j Σ_r v_r K_rj over eight rows r = rows[p], … and columns j left of the first of them."""
    a, b, c, d = k[rows[p]], k[rows[p + 1]], k[rows[p + 2]], k[rows[p + 3]]
    e, f, g, h = k[rows[p + 4]], k[rows[p + 5]], k[rows[p + 6]], k[rows[p + 7]]
    va, vb, vc, vd = v[rows[p]], v[rows[p + 1]], v[rows[p + 2]], v[rows[p + 3]]
    ve, vf, vg, vh = v[rows[p + 4]], v[rows[p + 5]], v[rows[p + 6]], v[rows[p + 7]]
    s = 0.0
    for j in range(rows[p]):
        upper = va * a[j] + vb * b[j] + vc * c[j] + vd * d[j]
        s += v[j] * (upper + ve * e[j] + vf * f[j] + vg * g[j] + vh * h[j])
    return s


@inner(nogil=True, fastmath=True)
def _quad_between(k: Any, rows: Index, first: int, last: int, v: Array) -> float:
    """vᵀKv over rows and columns rows[first], …, rows[last − 1], from the lower triangle."""
    total = 0.0
    for p in range(first, last):
        s, row = 0.0, k[rows[p]]
        for q in range(first, p):
            s += row[rows[q]] * v[rows[q]]
        total += v[rows[p]] * (2.0 * s + v[rows[p]] * row[rows[p]])
    return total


@inner(nogil=True, fastmath=True)
def _quad_left(k: Any, rows: Index, p: int, left: int, v: Array) -> float:
    """Σ_j v_j v_r K_rj over one row r = rows[p] and columns left of `left`."""
    s, row = 0.0, k[rows[p]]
    for j in range(left):
        s += row[j] * v[j]
    return float(v[rows[p]] * s)


@njit(cache=True, nogil=True)
def _quad_range(stack: Any, index: Index, x: Array, rows: Index, lo: int, hi: int, out: Array) -> None:
    whole = rows.size - rows.size % 8
    for m in range(lo, hi):
        k = stack[index[m]]
        out[m] = 0.0
        for p in range(0, whole, 8):
            for t in range(x.shape[0]):
                out[m, t] += 2.0 * _quad_eight(k, rows, p, x[t]) + _quad_between(k, rows, p, p + 8, x[t])
        for t in range(x.shape[0]):
            for p in range(whole, rows.size):
                out[m, t] += 2.0 * _quad_left(k, rows, p, rows[whole], x[t])
            out[m, t] += _quad_between(k, rows, whole, rows.size, x[t])


@njit(cache=True, nogil=True, fastmath=True)
def _centre(stack: Any, first: int, lo: int, means: Array, grand: Array, scale: Array, out: Array) -> None:
    height, width = out.shape[1], out.shape[2]
    for m in range(out.shape[0]):
        inside, left, mean = scale[m], np.sqrt(2.0) * scale[m], means[m]
        for i in range(height):
            row, to, shift = stack[m, i + first], out[m, i], mean[lo + i] - grand[m]
            for j in range(lo):
                to[j] = left * (row[j] - mean[j] - shift)
            for j in range(lo, width):
                to[j] = inside * (row[j] - mean[j] - shift)


def centre(stack: Any, first: int, lo: int, means: Array, grand: Array, scale: Array, out: Array) -> None:
    """out[m] = scale_m times the centred rows lo, lo + 1, … of kernel m, up to the square at the diagonal.

    They are in `stack` from row `first` on, which may be `out` itself. What is left of the square counts
    twice in a Frobenius product, once for its mirror image, and is multiplied by √2 for that.
    """
    _centre(stack, first, lo, means, grand, scale, out)


def combine(stack: Any, index: Index, weight: Array, out: Array) -> None:
    """out = Σ_m weight_m K_{index_m}, both triangles."""
    n = out.shape[0]
    edges = np.round(n * np.sqrt(np.arange(_PIECES + 1) / _PIECES)).astype(int)

    def pieces(lo: int, hi: int) -> None:
        _combine_rows(stack, index, weight, edges[lo], edges[hi], out)

    split(_PIECES, index.size * out.size, pieces)
    mirror(out)


def mirror(out: Any) -> None:
    """Copy the lower triangle to the upper one, tile by tile."""
    split((out.shape[0] + _TILE - 1) // _TILE, out.size, lambda lo, hi: _mirror_tiles(out, lo, hi))


def products(stack: Any, index: Index, x: Array, out: Array) -> None:
    """out[m, c] = K_{index_m} x[c]."""
    work = index.size * x.size * stack.shape[1]
    split(index.size, work, lambda lo, hi: _product_range(stack, index, x, lo, hi, out))


def quadratic_forms(stack: Any, index: Index, x: Array, out: Array) -> None:
    """out[m, c] = x[c]ᵀ K_{index_m} x[c], reading only the rows where an x is not zero."""
    rows = np.flatnonzero(x.any(axis=0))
    work = index.size * x.size * rows.size
    split(index.size, work, lambda lo, hi: _quad_range(stack, index, x, rows, lo, hi, out))

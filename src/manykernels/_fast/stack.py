"""Passes over a stack of Gram matrices, each bound by memory bandwidth.

A stack is an array (M, n, n) whose last axis is contiguous, float64 or float32. Kernels are symmetric, so
every pass but the first reads only the lower triangle: row i up to its diagonal is one contiguous run, and
several rows or kernels are read at once so that the hardware has several streams to prefetch. Vectors come
as the rows of an array, all of them served by the same pass.
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
def _quad_eight(k: Any, i: int, v: Array) -> float:
    """Σ_j v_j Σ_r v_r K_rj over rows r = i … i+7 and columns left of i."""
    a, b, c, d = k[i], k[i + 1], k[i + 2], k[i + 3]
    e, f, g, h = k[i + 4], k[i + 5], k[i + 6], k[i + 7]
    va, vb, vc, vd = v[i], v[i + 1], v[i + 2], v[i + 3]
    ve, vf, vg, vh = v[i + 4], v[i + 5], v[i + 6], v[i + 7]
    s = 0.0
    for j in range(i):
        upper = va * a[j] + vb * b[j] + vc * c[j] + vd * d[j]
        s += v[j] * (upper + ve * e[j] + vf * f[j] + vg * g[j] + vh * h[j])
    return s


@inner(nogil=True, fastmath=True)
def _quad_rows(k: Any, lo: int, hi: int, left: int, v: Array) -> float:
    """Add rows lo … hi−1, from column `left` to the diagonal and their mirror image, to vᵀKv."""
    total = 0.0
    for i in range(lo, hi):
        s, row = 0.0, k[i]
        for j in range(left, i):
            s += row[j] * v[j]
        total += v[i] * (2.0 * s + v[i] * row[i])
    return total


@njit(cache=True, nogil=True)
def _quad_range(stack: Any, index: Index, x: Array, used: Any, lo: int, hi: int, out: Array) -> None:
    n = x.shape[1]
    whole, first = n - n % 8, 0 * n  # not a constant, for which the last function would be compiled once more
    for m in range(lo, hi):
        k = stack[index[m]]
        out[m] = 0.0
        for i in range(0, whole, 8):
            if used[i // 8]:
                for t in range(x.shape[0]):
                    out[m, t] += 2.0 * _quad_eight(k, i, x[t]) + _quad_rows(k, i, i + 8, i, x[t])
        for t in range(x.shape[0]):
            out[m, t] += _quad_rows(k, whole, n, first, x[t])


@inner(nogil=True, fastmath={"reassoc", "contract"})
def _check_four(k: Any, i: int, slack: float, diagonal: Array, x: Array, y: Array) -> tuple[float, float]:
    """(sum, violation of 2 × 2 minors) of rows i … i+3; y += what they add to (K − Kᵀ)x."""
    a, b, c, d = k[i], k[i + 1], k[i + 2], k[i + 3]
    xa, xb, xc, xd = x[i], x[i + 1], x[i + 2], x[i + 3]
    da, db, dc, dd = diagonal[i], diagonal[i + 1], diagonal[i + 2], diagonal[i + 3]
    sa, sb, sc, sd, total, minor = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(x.size):
        xj, dj = x[j], slack * diagonal[j]
        va, vb, vc, vd = np.float64(a[j]), np.float64(b[j]), np.float64(c[j]), np.float64(d[j])
        total += (va + vb) + (vc + vd)
        sa += va * xj
        sb += vb * xj
        sc += vc * xj
        sd += vd * xj
        y[j] -= va * xa + vb * xb + vc * xc + vd * xd
        ea, eb = va * va - da * dj, vb * vb - db * dj
        ec, ed = vc * vc - dc * dj, vd * vd - dd * dj
        minor += (ea if ea > 0.0 else 0.0) + (eb if eb > 0.0 else 0.0)
        minor += (ec if ec > 0.0 else 0.0) + (ed if ed > 0.0 else 0.0)
    y[i] += sa
    y[i + 1] += sb
    y[i + 2] += sc
    y[i + 3] += sd
    return total, minor


@inner(nogil=True, fastmath={"reassoc", "contract"})
def _check_row(k: Any, i: int, slack: float, diagonal: Array, x: Array, y: Array) -> tuple[float, float]:
    """The same for one row."""
    row, s, total, minor = k[i], 0.0, 0.0, 0.0
    for j in range(x.size):
        v = np.float64(row[j])
        total += v
        s += v * x[j]
        y[j] -= v * x[i]
        excess = v * v - slack * diagonal[i] * diagonal[j]
        minor += excess if excess > 0.0 else 0.0
    y[i] += s
    return total, minor


@njit(cache=True, nogil=True)
def _check_range(stack: Any, x: Array, slack: float, lo: int, hi: int, out: Array) -> None:
    n = x.size
    whole = n - n % 4
    for m in range(lo, hi):
        k = stack[m]
        diagonal, y = np.empty(n), np.zeros(n)
        for i in range(n):
            diagonal[i] = k[i, i]
        total, minor, worst = 0.0, 0.0, 0.0
        for i in range(0, whole, 4):
            t, v = _check_four(k, i, slack, diagonal, x, y)
            total, minor = total + t, minor + v
        for i in range(whole, n):
            t, v = _check_row(k, i, slack, diagonal, x, y)
            total, minor = total + t, minor + v
        for i in range(n):
            worst = max(worst, abs(y[i]))
        out[m, 0], out[m, 1], out[m, 2] = total, worst, minor


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


def mirror(out: Array) -> None:
    """Copy the lower triangle to the upper one, tile by tile."""
    split((out.shape[0] + _TILE - 1) // _TILE, out.size, lambda lo, hi: _mirror_tiles(out, lo, hi))


def products(stack: Any, index: Index, x: Array, out: Array) -> None:
    """out[m, c] = K_{index_m} x[c]."""
    work = index.size * x.size * stack.shape[1]
    split(index.size, work, lambda lo, hi: _product_range(stack, index, x, lo, hi, out))


def quadratic_forms(stack: Any, index: Index, x: Array, out: Array) -> None:
    """out[m, c] = x[c]ᵀ K_{index_m} x[c], reading only the rows, in eights, where an x is not zero."""
    n = x.shape[1]
    used = np.add.reduceat(x.any(axis=0), np.arange(0, n, 8)) > 0
    work = index.size * x.size * n
    split(index.size, work, lambda lo, hi: _quad_range(stack, index, x, used, lo, hi, out))


def check(stack: Any, x: Array, slack: float, out: Array) -> None:
    """One pass over both triangles: out[m] = (sum of entries, ‖(K − Kᵀ)x‖∞, Σ (K_ij² − slack K_ii K_jj)₊).

    With x random the second is zero, up to rounding, only for a symmetric matrix (Freivalds' test), and
    memory is read in one run. The first is not finite when an entry is not.
    """
    split(stack.shape[0], stack.size, lambda lo, hi: _check_range(stack, x, slack, lo, hi, out))

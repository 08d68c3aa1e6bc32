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

from .threads import split

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_TILE = 48
_PIECES = 64  # of a triangle, equal in area


@njit(cache=True, nogil=True, fastmath=True)
def _combine_rows(stack: Any, index: Index, weight: Array, lo: int, hi: int, out: Array) -> None:
    for i in range(lo, hi):
        row, width = out[i], i + 1
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
def _mirror_tiles(out: Array, lo: int, hi: int) -> None:
    n = out.shape[0]
    for a in range(lo, hi):
        for b in range(a, (n + _TILE - 1) // _TILE):
            for i in range(b * _TILE, min((b + 1) * _TILE, n)):
                for j in range(a * _TILE, min((a + 1) * _TILE, i)):
                    out[j, i] = out[i, j]


@njit(cache=True, nogil=True, fastmath=True)
def _product(k: Any, x: Array, y: Array) -> None:
    """y[c] = K x[c] from the lower triangle, four rows at a time so that y is read a quarter as often."""
    n = k.shape[0]
    y[:] = 0.0
    i = 0
    while i + 4 <= n:
        a, b, c, d = k[i], k[i + 1], k[i + 2], k[i + 3]
        for t in range(x.shape[0]):
            v, w = x[t], y[t]
            xa, xb, xc, xd = v[i], v[i + 1], v[i + 2], v[i + 3]
            sa, sb, sc, sd = 0.0, 0.0, 0.0, 0.0
            for j in range(i):
                vj = v[j]
                sa += a[j] * vj
                sb += b[j] * vj
                sc += c[j] * vj
                sd += d[j] * vj
                w[j] += a[j] * xa + b[j] * xb + c[j] * xc + d[j] * xd
            w[i] += sa + a[i] * xa + b[i] * xb + c[i] * xc + d[i] * xd
            w[i + 1] += sb + b[i] * xa + b[i + 1] * xb + c[i + 1] * xc + d[i + 1] * xd
            w[i + 2] += sc + c[i] * xa + c[i + 1] * xb + c[i + 2] * xc + d[i + 2] * xd
            w[i + 3] += sd + d[i] * xa + d[i + 1] * xb + d[i + 2] * xc + d[i + 3] * xd
        i += 4
    while i < n:
        row = k[i]
        for t in range(x.shape[0]):
            xi, s = x[t, i], 0.0
            for j in range(i):
                s += row[j] * x[t, j]
                y[t, j] += row[j] * xi
            y[t, i] += s + row[i] * xi
        i += 1


@njit(cache=True, nogil=True)
def _product_range(stack: Any, index: Index, x: Array, lo: int, hi: int, out: Array) -> None:
    for m in range(lo, hi):
        _product(stack[index[m]], x, out[m])


@njit(cache=True, nogil=True, fastmath=True)
def _quad_range(stack: Any, index: Index, x: Array, rows: Index, lo: int, hi: int, out: Array) -> None:
    for m in range(lo, hi):
        k = stack[index[m]]
        out[m] = 0.0
        for r in range(rows.size):
            i = rows[r]
            row = k[i]
            for t in range(x.shape[0]):
                s, v = 0.0, x[t]
                for j in range(i):
                    s += row[j] * v[j]
                out[m, t] += v[i] * (2.0 * s + v[i] * row[i])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _check_row(row: Any, i: int, slack: float, diagonal: Array, x: Array, y: Array) -> tuple[float, float]:
    xi, dii, s, total, minor = x[i], diagonal[i] * slack, 0.0, 0.0, 0.0
    for j in range(x.size):
        v = row[j]
        total += v
        s += v * x[j]
        y[j] -= v * xi
        excess = v * v - dii * diagonal[j]
        minor += excess if excess > 0.0 else 0.0
    y[i] += s
    return total, minor


@njit(cache=True, nogil=True)
def _check_range(stack: Any, x: Array, slack: float, lo: int, hi: int, out: Array) -> None:
    n = x.size
    for m in range(lo, hi):
        k = stack[m]
        diagonal, y = np.empty(n), np.zeros(n)
        for i in range(n):
            diagonal[i] = k[i, i]
        total, minor, worst = 0.0, 0.0, 0.0
        for i in range(n):
            t, v = _check_row(k[i], i, slack, diagonal, x, y)
            total += t
            minor += v
        for i in range(n):
            worst = max(worst, abs(y[i]))
        out[m, 0], out[m, 1], out[m, 2] = total, worst, minor


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
    """out[m, c] = x[c]ᵀ K_{index_m} x[c], reading only the rows where an x is not zero."""
    rows = np.flatnonzero(x.any(axis=0))
    work = index.size * rows.size * x.size
    split(index.size, work, lambda lo, hi: _quad_range(stack, index, x, rows, lo, hi, out))


def check(stack: Any, x: Array, slack: float, out: Array) -> None:
    """One pass over both triangles: out[m] = (sum of entries, ‖(K − Kᵀ)x‖∞, Σ (K_ij² − slack K_ii K_jj)₊).

    With x random the second is zero, up to rounding, only for a symmetric matrix (Freivalds' test), and
    memory is read in one run. The first is not finite when an entry is not.
    """
    split(stack.shape[0], stack.size, lambda lo, hi: _check_range(stack, x, slack, lo, hi, out))

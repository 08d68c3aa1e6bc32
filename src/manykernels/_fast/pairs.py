"""Products of all pairs of a few long vectors, such as the entries of kernel matrices.

BLAS is made for matrices that are large in both directions. For 20 rows of thousands of columns it reaches
a quarter of what the processor can do. Four rows by four at a time, with 16 sums in registers, are 3.5 times
as fast there, and level from about 200 rows on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner
from .threads import split

Array = NDArray[np.float64]
_COLUMNS = 512  # that are taken at a time: those of four rows and four others stay in the nearest cache
_PIECES = 32  # of a triangle, equal in area
MANY = 160
"""Rows from which BLAS is as fast."""


@inner(nogil=True, fastmath=True)
def _four_by_four(B: Array, a: int, b: int, lo: int, hi: int, out: Array) -> None:
    """Add the products of rows a … a+3 with rows b … b+3, over columns lo … hi−1."""
    p, q, r, s = B[a, lo:hi], B[a + 1, lo:hi], B[a + 2, lo:hi], B[a + 3, lo:hi]
    u, v, w, x = B[b, lo:hi], B[b + 1, lo:hi], B[b + 2, lo:hi], B[b + 3, lo:hi]
    pu, pv, pw, px, qu, qv, qw, qx = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ru, rv, rw, rx, su, sv, sw, sx = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(hi - lo):
        pt, qt, rt, st = p[t], q[t], r[t], s[t]
        ut, vt, wt, xt = u[t], v[t], w[t], x[t]
        pu, pv, pw, px = pu + pt * ut, pv + pt * vt, pw + pt * wt, px + pt * xt
        qu, qv, qw, qx = qu + qt * ut, qv + qt * vt, qw + qt * wt, qx + qt * xt
        ru, rv, rw, rx = ru + rt * ut, rv + rt * vt, rw + rt * wt, rx + rt * xt
        su, sv, sw, sx = su + st * ut, sv + st * vt, sw + st * wt, sx + st * xt
    for i, sums in enumerate(((pu, pv, pw, px), (qu, qv, qw, qx), (ru, rv, rw, rx), (su, sv, sw, sx))):
        for j in range(4):
            out[a + i, b + j] += sums[j]


@inner(nogil=True)
def _add_pairs(B: Array, lo: int, hi: int, out: Array) -> None:
    """Add the lower triangle of BBᵀ over columns lo … hi−1; the number of rows is a multiple of four."""
    for a in range(0, B.shape[0], 4):
        for b in range(0, a + 1, 4):
            _four_by_four(B, a, b, lo, hi, out)


@njit(cache=True, nogil=True)
def _pairs(B: Array, out: Array) -> None:
    for lo in range(0, B.shape[1], _COLUMNS):
        _add_pairs(B, lo, min(lo + _COLUMNS, B.shape[1]), out)


@inner(nogil=True, fastmath=True)
def _fill(
    stack: Any, means: Array, grand: Array, i: int, j: int, take: int, filled: int, buffer: Array
) -> None:
    """Write √2 times the centred entries (i, j), (i, j + 1), … of every kernel; the diagonal counts once."""
    root = np.sqrt(2.0)
    for m in range(stack.shape[0]):
        row, mean, to = stack[m, i, j : j + take], means[m, j : j + take], buffer[m, filled : filled + take]
        shift = means[m, i] - grand[m]
        for t in range(take):
            to[t] = root * (row[t] - mean[t] - shift)
        if j + take == i + 1:
            to[take - 1] /= root


@njit(cache=True, nogil=True)
def _centred_pairs(stack: Any, means: Array, grand: Array, lo: int, hi: int, out: Array) -> None:
    buffer, filled = np.zeros((out.shape[0], _COLUMNS)), 0
    for i in range(lo, hi):
        j = 0
        while j <= i:
            take = min(_COLUMNS - filled, i + 1 - j)
            _fill(stack, means, grand, i, j, take, filled, buffer)
            filled += take
            j += take
            if filled == _COLUMNS:
                _add_pairs(buffer, 0 * filled, _COLUMNS, out)
                filled = 0
    _add_pairs(buffer, 0 * filled, filled, out)


def pairs(B: Array) -> Array:
    """Compute BBᵀ of a matrix with contiguous rows."""
    M = B.shape[0]
    if M >= MANY or M < 4:
        return np.asarray(B @ B.T)
    whole = M - M % 4
    out = np.zeros((M, M))
    _pairs(B[:whole], out)
    out[whole:] = B[whole:] @ B.T
    return _mirrored(out)


def centred_pairs(
    stack: Any, means: Array, grand: Array, watch: Callable[[int, int], object] | None = None
) -> Array:
    """Compute ⟨HK_kH, HK_lH⟩_F of all pairs of a stack (M, n, n), from the means of rows and of all entries.

    Entries are centred on their way into a buffer that stays in cache, so that the stack is read once.
    `watch` is told how many entries were read, and of how many.
    """
    M, n = stack.shape[:2]
    edges = np.round(n * np.sqrt(np.arange(_PIECES + 1) / _PIECES)).astype(int)
    parts: dict[int, Array] = {}  # by where they begin: threads end in any order, sums are added in one

    def run(first: int, last: int) -> None:
        out = np.zeros((M + -M % 4, M + -M % 4))
        for lo, hi in itertools.pairwise(edges[first : last + 1].tolist()):
            _centred_pairs(stack, means, grand, lo, hi, out)
            if watch is not None:
                watch(hi * hi - lo * lo, n * n)
        parts[first] = out

    split(_PIECES, stack.size * M, run)
    return _mirrored(np.sum([parts[first] for first in sorted(parts)], axis=0)[:M, :M])


def _mirrored(lower: Array) -> Array:
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)

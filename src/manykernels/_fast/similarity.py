"""Compiled loops of the Matérn and the Tanimoto kernels."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .elementwise import _exp
from .threads import split

Array = NDArray[np.float64]
Words = NDArray[np.uint64]

_FAR = 750.0  # exp(−t) is 0 from here on, and infinity times 0 is not


@njit(cache=True, nogil=True, fastmath={"contract"})
def _matern_in_place(out: Array, c: float, a: float, b: float) -> None:
    for i in range(out.size):
        t = math.sqrt(c * out[i])
        t = _FAR if t > _FAR else t  # NaN stays NaN
        out[i] = (1.0 + t * (a + b * t)) * _exp(-t)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _matern_into(S: Array, out: Array, c: float, a: float, b: float) -> None:
    for i in range(out.size):
        t = math.sqrt(c * S[i])
        t = _FAR if t > _FAR else t
        out[i] = (1.0 + t * (a + b * t)) * _exp(-t)


def matern(S: Array, c: float, a: float, b: float, out: Array) -> None:
    """out = (1 + a t + b t²) exp(−t), t = √(c S), for 2-D arrays; ``out`` may be ``S``."""
    if S.flags.c_contiguous and out.flags.c_contiguous:
        s, o = S.reshape(-1), out.reshape(-1)
        if S.ctypes.data == out.ctypes.data:
            split(o.size, o.size, lambda lo, hi: _matern_in_place(o[lo:hi], c, a, b))
        else:
            split(o.size, o.size, lambda lo, hi: _matern_into(s[lo:hi], o[lo:hi], c, a, b))
        return

    def rows(lo: int, hi: int) -> None:
        for i in range(lo, hi):
            row = S[i].copy()
            _matern_in_place(row, c, a, b)
            out[i] = row

    split(out.shape[0], out.size, rows)


@njit(cache=True, nogil=True)
def _ratio_of_inner(G: Array, a: Array, b: Array) -> None:
    for i in range(G.shape[0]):
        for j in range(G.shape[1]):
            total = (a[i] + b[j]) - G[i, j]
            G[i, j] = G[i, j] / total if total > 0.0 else 1.0


@njit(cache=True, nogil=True)
def _ratio_of_distances(D: Array, a: Array, b: Array) -> None:
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            total = (a[i] + b[j]) + D[i, j]
            D[i, j] = max((a[i] + b[j]) - D[i, j], 0.0) / total if total > 0.0 else 1.0


def ratio_of_inner(G: Array, a: Array, b: Array) -> None:
    """G_ij ← G_ij / (a_i + b_j − G_ij), and 1 where that is 0/0."""
    split(G.shape[0], G.size, lambda lo, hi: _ratio_of_inner(G[lo:hi], a[lo:hi], b))


def ratio_of_distances(D: Array, a: Array, b: Array) -> None:
    """D_ij ← (a_i + b_j − D_ij) / (a_i + b_j + D_ij), at least 0, and 1 where that is 0/0."""
    split(D.shape[0], D.size, lambda lo, hi: _ratio_of_distances(D[lo:hi], a[lo:hi], b))


@njit(cache=True, nogil=True, inline="always")
def _bits(word: np.uint64) -> np.uint64:
    """Return how many bits of a word are 1: sums of neighbours of 1, 2 and 4 bits, then of all bytes."""
    one = np.uint64(1)
    word = word - ((word >> one) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def _common_bits(X: Words, Y: Words, out: Array) -> None:
    for i in range(X.shape[0]):
        for j in range(Y.shape[0]):
            total = np.uint64(0)
            for k in range(X.shape[1]):
                total += _bits(X[i, k] & Y[j, k])
            out[i, j] = float(total)


def common_bits(X: Words, Y: Words, out: Array) -> None:
    """out_ij = how many bits are 1 in both row i of X and row j of Y."""
    split(out.shape[0], out.size * X.shape[1], lambda lo, hi: _common_bits(X[lo:hi], Y, out[lo:hi]))

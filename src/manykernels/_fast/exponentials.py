"""Many kernels exp(rate · S) of one statistic S, used as they are computed and never written to memory.

S holds rows lo … hi of a lower triangle, up to column hi. A row of it stays in cache while all rates are
served, so that the cost is that of the exponentials.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner
from .elementwise import _exp_into
from .threads import split

Array = NDArray[np.float64]


@inner(nogil=True, fastmath=True)
def _dot(a: Array, b: Array) -> float:
    s = 0.0
    for j in range(a.size):
        s += a[j] * b[j]
    return s


@inner(nogil=True, fastmath=True)
def _axpy(a: float, x: Array, y: Array) -> None:
    for j in range(x.size):
        y[j] += a * x[j]


@njit(cache=True, nogil=True)
def _forms(S: Array, rates: Array, A: Array, lo: int, out: Array) -> None:
    hi, buffer = S.shape[1], np.empty(S.shape[1])
    for i in range(S.shape[0]):
        if not np.any(A[:, lo + i]):
            continue
        for g in range(rates.size):
            _exp_into(S[i], buffer, rates[g])
            for c in range(A.shape[0]):
                twice = 2.0 * _dot(buffer[:lo], A[c, :lo]) + _dot(buffer[lo:], A[c, lo:hi])
                out[g, c] += A[c, lo + i] * twice


@njit(cache=True, nogil=True)
def _products(S: Array, rates: Array, A: Array, lo: int, out: Array) -> None:
    hi, buffer = S.shape[1], np.empty(S.shape[1])
    for i in range(S.shape[0]):
        for g in range(rates.size):
            _exp_into(S[i], buffer, rates[g])
            for c in range(A.shape[0]):
                out[g, c, lo + i] += _dot(buffer, A[c, :hi])
                _axpy(A[c, lo + i], buffer[:lo], out[g, c, :lo])


@njit(cache=True, nogil=True)
def _combine(S: Array, rates: Array, weights: Array, out: Array) -> None:
    buffer = np.empty(S.shape[1])
    for i in range(S.shape[0]):
        for g in range(rates.size):
            _exp_into(S[i], buffer, rates[g])
            _axpy(weights[g], buffer, out[i])


def forms(S: Array, rates: Array, A: Array, lo: int, out: Array) -> None:
    """out[g, c] += what these rows add to A[c]ᵀ exp(rates_g S) A[c]."""
    work = S.size * rates.size
    split(rates.size, work, lambda a, b: _forms(S, rates[a:b], A, lo, out[a:b]))


def products(S: Array, rates: Array, A: Array, lo: int, out: Array) -> None:
    """out[g, c] += what these rows, and their mirror image, add to exp(rates_g S) A[c]."""
    work = S.size * rates.size
    split(rates.size, work, lambda a, b: _products(S, rates[a:b], A, lo, out[a:b]))


def combine(S: Array, rates: Array, weights: Array, out: Array) -> None:
    """out += Σ_g weights_g exp(rates_g S), these rows only."""
    split(S.shape[0], S.size * rates.size, lambda a, b: _combine(S[a:b], rates, weights, out[a:b]))

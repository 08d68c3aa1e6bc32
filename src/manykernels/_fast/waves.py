"""Sums over samples of powers of their places in bins, for Fourier sums at all frequencies of a range."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


@njit(cache=True, nogil=True, fastmath={"contract"})
def binned(P: Array, A: Array, low: Array, half: float, first: NDArray[np.intp], out: Array) -> None:
    """out[b, c, k] += Σ_t A_tc δ_t^k over the samples t of bin b, for every row j of P (D, m) by itself.

    The bins of row j are first[j] to first[j + 1], each of half-width `half`, from low[j] on; δ in [−1, 1] is
    where a sample is in its bin.
    """
    terms = out.shape[2]
    power = np.empty(terms)
    for j in range(P.shape[0]):
        last = first[j + 1] - first[j] - 1
        for t in range(P.shape[1]):
            place = (P[j, t] - low[j]) / half
            b = min(max(int(0.5 * place), 0), last)
            delta = place - (2.0 * b + 1.0)
            power[0] = 1.0
            for k in range(1, terms):
                power[k] = delta * power[k - 1]
            for c in range(A.shape[1]):
                a, own = A[t, c], out[first[j] + b, c]
                for k in range(terms):
                    own[k] += a * power[k]

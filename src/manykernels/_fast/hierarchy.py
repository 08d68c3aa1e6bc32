"""Sums over all descendants of many nodes of a product graph, one row of the samples at a time."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


@njit(cache=True, nogil=True)
def source_sums(
    G: Array, coefficients: Array, c: Array, levels: NDArray[np.int8], wanted: NDArray[np.bool_], out: Array
) -> None:
    """out[m, i] += Σ_t c_t Π_{j≠i} b_{j,w_j}(t) · b_{i,w_i+1}(t) for the nodes w = levels[m], where wanted.

    b_{j,l}(t) = Σ_p coefficients[j, l, p] G[t, j]^p. Behind the last non-zero power of w all factors are
    b_{j,0}, and only there (and at that power) is i wanted, so one product from the front and one from the
    back are enough.
    """
    n, r = G.shape
    L = coefficients.shape[1]
    b = np.empty((r, L))
    behind = np.ones(r + 1)
    for t in range(n):
        if c[t] == 0.0:
            continue
        for j in range(r):
            for level in range(L):
                value = 0.0
                for p in range(L - 1, -1, -1):
                    value = value * G[t, j] + coefficients[j, level, p]
                b[j, level] = value
        for j in range(r - 1, -1, -1):
            behind[j] = behind[j + 1] * b[j, 0]
        for m in range(levels.shape[0]):
            front = c[t]
            for j in range(r):
                level = levels[m, j]
                if wanted[m, j]:
                    out[m, j] += front * b[j, level + 1] * behind[j + 1]
                front *= b[j, level]

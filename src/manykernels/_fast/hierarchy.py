"""Products of many choices of factors, for the sums over all descendants of nodes of a product graph."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_LEAST = 1e-60  # a factor that is exactly 0 counts as this: its products with 1/this stay finite


@njit(cache=True, nogil=True, fastmath={"contract"})
def factor_ratios(G: Array, coefficients: Array, c: Array, top: Index, ratios: Array, whole: Array) -> None:
    """whole[t] = c_t Π_j b_{j,0}(t) and ratios[l, j, t] = b_{j,l}(t)/b_{j,0}(t) for l = 1 … top[j].

    G is (r, pairs), top at least 1; ratios[0] is where b_{j,0} is worked out.

    b_{j,l}(t) = Σ_p coefficients[j, l, p] G[j, t]^p. Signs and sizes of b do not matter: products and
    quotients have the same relative error everywhere.
    """
    r, pairs = G.shape
    L = coefficients.shape[1]
    whole[:] = c
    for j in range(r):
        g, base = G[j], ratios[0, j]
        for level in range(top[j] + 1):
            row = ratios[level, j]
            row[:] = coefficients[j, level, L - 1]
            for p in range(L - 2, -1, -1):
                a = coefficients[j, level, p]
                for t in range(pairs):
                    row[t] = row[t] * g[t] + a
            if level == 0:
                for t in range(pairs):
                    value = row[t] if abs(row[t]) > _LEAST else _LEAST
                    whole[t] *= value
                    row[t] = 1.0 / value
            else:
                for t in range(pairs):
                    row[t] *= base[t]


@njit(cache=True, nogil=True, fastmath={"contract"})
def chosen_products(
    whole: Array, ratios: Array, ptr: Index, features: Index, powers: Index, out: Array
) -> None:
    """out[m] = whole Π ratios[p, i] over the pairs (i, p) of node m, which are ptr[m] … ptr[m + 1]."""
    pairs = whole.size
    for m in range(ptr.size - 1):
        row = out[m]
        row[:] = whole
        for k in range(ptr[m], ptr[m + 1]):
            factor = ratios[powers[k], features[k]]
            for t in range(pairs):
                row[t] *= factor[t]

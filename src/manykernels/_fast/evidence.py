"""The derivative of the evidence of a Gaussian process, in one pass over its matrices."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@numba.njit(cache=True)
def weigh(U: Array, B: Array, half: float, K: Array, inner: Array, diagonal: Array) -> Any:
    """With G = half · U − BBᵀ, U symmetric and read above its diagonal only: K ← G ∘ K, diagonal ← G_ii.

    Returns ⟨G, inner⟩ for a symmetric `inner`.
    """
    n, m = B.shape
    total = 0.0
    for i in range(n):
        row = 0.0
        for j in range(i, n):
            g = half * U[i, j]
            for k in range(m):
                g -= B[i, k] * B[j, k]
            if i == j:
                diagonal[i] = g
                total += g * inner[i, i]
            else:
                row += g * inner[i, j]
            w = g * K[i, j]
            K[i, j] = w
        total += 2.0 * row
    for i in range(n):
        for j in range(i):
            K[i, j] = K[j, i]
    return total

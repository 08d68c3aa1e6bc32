"""Cholesky factors of matrices that are semi-definite but for rounding: one jitter policy for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, lapack

Array = NDArray[np.float64]
_COLUMNS = 1024  # of a wide matrix at a time: what is made of them stays in cache


def factor(A: NDArray[Any], jitter: float = 0.0) -> NDArray[Any]:
    """L with LLᵀ = A + εI, lower triangular, in the memory of A (float64 or float32).

    ε = `jitter` times the mean diagonal, raised a thousandfold from 1e-14 on for as long as rounding errors
    make the matrix indefinite. What lies above the diagonal of L is not to be read.
    """
    n = A.shape[0]
    if n == 0:
        return A
    potrf = lapack.spotrf if A.dtype == np.float32 else lapack.dpotrf
    diagonal = A.diagonal().copy()
    level = max(float(np.abs(diagonal).mean()), 1e-150)  # so that squares of L⁻¹1 stay finite
    while True:
        A.flat[:: n + 1] = diagonal + jitter * level
        # a symmetric matrix in C order is its own transpose in Fortran order: LAPACK writes L over the upper
        # triangle of A in place, and the lower one keeps what is needed to try again
        L, info = potrf(A.T, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return np.asarray(L)
        if jitter > 1e-3 or not np.isfinite(level):
            raise np.linalg.LinAlgError(
                "a combination of the kernels is not positive semi-definite: check that every kernel is, "
                "or drop the one that is not"
            )
        upper = np.triu_indices(n, 1)
        A[upper] = A.T[upper]
        jitter = max(1e3 * jitter, 1e-14)


def solve(L: Array, x: Array) -> Array:
    """A⁻¹x from the factor of A."""
    return np.asarray(cho_solve((L, True), x, check_finite=False))


def solve_sum(diagonal: Array, parts: list[Array], rhs: Array) -> Array:
    """(diag + Σ PᵀP)⁻¹ rhs over the parts P, for rhs of shape (m,) or (m, k).

    Densely or by Woodbury's identity, whichever is smaller.
    """
    if diagonal.size <= sum(part.shape[0] for part in parts):
        H = np.zeros((diagonal.size, diagonal.size))
        for part in parts:
            H += part.T @ part
        H.flat[:: diagonal.size + 1] += diagonal
        return solve(factor(H), rhs)
    root = 1.0 / np.sqrt(diagonal)
    inner = np.eye(sum(part.shape[0] for part in parts))
    for lo in range(0, diagonal.size, _COLUMNS):
        block = slice(lo, lo + _COLUMNS)
        half = np.concatenate([part[:, block] * root[block] for part in parts])
        inner += half @ half.T
    scaled = (rhs.T / diagonal).T
    y = solve(factor(inner), np.concatenate([part @ scaled for part in parts]))
    edges = np.cumsum([0, *(part.shape[0] for part in parts)])
    back = sum(part.T @ y[a:b] for part, a, b in zip(parts, edges[:-1], edges[1:], strict=True))
    return np.asarray(((rhs - back).T / diagonal).T)

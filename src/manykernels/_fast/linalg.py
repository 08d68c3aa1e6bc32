"""Cholesky factors of matrices that are semi-definite but for rounding: one jitter policy for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

Array = NDArray[np.float64]
_COLUMNS = 1024  # of a wide matrix at a time: what is made of them stays in cache
_TRIANGLE = 64  # rows of a triangle up to which LAPACK inverts it as fast as products of its blocks do


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
    if not x.size:
        return np.zeros_like(x)
    single = L.dtype == x.dtype == np.float32
    return np.asarray((lapack.spotrs if single else lapack.dpotrs)(L, x, lower=1)[0])


def invert(L: Array) -> Array:
    """A⁻¹ from the factor of A, in the memory of L; what lies above its diagonal is not to be read.

    LAPACK's dpotri inverts the triangle at a third of the speed of matrix products. By halves, it is two
    products: L⁻¹ has the blocks L₁⁻¹ and L₂⁻¹, and −L₂⁻¹ L₂₁ L₁⁻¹ below.
    """
    _invert_triangle(L)
    return np.asarray(lapack.dlauum(L, lower=1, overwrite_c=1)[0])


def _invert_triangle(L: Array) -> None:
    """L ← L⁻¹."""
    n = L.shape[0]
    if n <= _TRIANGLE:
        L[:] = lapack.dtrtri(L, lower=1)[0]
        return
    top, low = slice(n // 2), slice(n // 2, n)
    _invert_triangle(L[top, top])
    _invert_triangle(L[low, low])
    half = blas.dtrmm(-1.0, L[low, low], L[low, top], lower=1)
    L[low, top] = blas.dtrmm(1.0, L[top, top], half, side=1, lower=1, overwrite_b=1)


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

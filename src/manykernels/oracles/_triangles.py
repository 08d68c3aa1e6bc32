"""Symmetric matrices as their lower triangles, row by row: half of the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .._fast import stack as fast
from ..grams import Gram, StackGram

Array = NDArray[np.float64]
Atoms = NDArray[np.intp]


def diagonal(n: int) -> NDArray[np.intp]:
    """Return the positions of the diagonal."""
    return np.cumsum(np.arange(1, n + 1)) - 1


def pack(K: Array, out: Array | None = None) -> Array:
    """The lower triangle of a matrix; `out` may lie in the same memory, up to where K ends."""
    n = len(K)
    out = np.empty(n * (n + 1) // 2) if out is None else out
    for i, end in enumerate(diagonal(n).tolist()):
        out[end - i : end + 1] = K[i, : i + 1]
    return out


def unpack(triangle: Array, out: Array) -> Array:
    """The matrix of a lower triangle."""
    for i, end in enumerate(diagonal(len(out)).tolist()):
        out[i, : i + 1] = triangle[end - i : end + 1]
    fast.mirror(out)
    return out


class TriangleGram(Gram):
    """M kernels that are made one after the other: `triangle(m)` is the lower triangle of kernel m."""

    def __init__(self, n: int, M: int, triangle: Callable[[int], Array], scale: Array) -> None:
        super().__init__(n, M, scale)
        self.triangle = triangle

    def _combine(self, atoms: Atoms, weights: Array, out: Array) -> None:
        total = np.zeros(self.n * (self.n + 1) // 2)
        for m, weight in zip(atoms.tolist(), weights, strict=True):
            T = self.triangle(m)
            T *= weight
            total += T
        unpack(total, out)

    def _products(self, A: Array, atoms: Atoms) -> Array:
        R = np.empty((atoms.size, *A.shape))
        for position, _, _, K in self._blocks(atoms):
            np.matmul(K, A, out=R[position])
        return R

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        return np.asarray(np.einsum("mnk,nk->mk", self._products(A, atoms), A))

    def _diagonals(self) -> Array:
        places = diagonal(self.n)
        return np.array([self.triangle(m)[places] for m in range(self.n_kernels)]).reshape(-1, self.n)

    def _blocks(self, atoms: Atoms) -> Iterator[tuple[int, int, int, Array]]:
        K = np.empty((self.n, self.n))
        for position, m in enumerate(atoms.tolist()):
            yield position, 0, self.n, unpack(self.triangle(m), K)

    def subset(self, rows: NDArray[np.intp]) -> StackGram:
        stack = np.empty((self.n_kernels, rows.size, rows.size))
        for m, _, _, K in self._blocks(self._atoms(None)):
            stack[m] = K[rows[:, None], rows]
        return StackGram(stack, self.scale)

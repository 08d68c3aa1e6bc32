"""Kernels held as a stored stack (M, n, n): every pass runs at the speed of memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._fast import stack as fast
from .._fast.pairs import MANY, centred_pairs
from .base import Array, Atoms, Gram

_GEMM_COLUMNS = 16  # from this many right-hand sides on, a BLAS product beats one pass a column


class StackGram(Gram):
    """A stack of kernel matrices, float64 or float32, read in place and never copied.

    Parameters
    ----------
    stack : ndarray of shape (n_kernels, n, n)
        The matrices.
    scale : ndarray of shape (n_kernels,) or None, default=None
        Factors of the kernels; None stands for 1.
    mean : ndarray of shape (n,) or None, default=None
        Weights of the samples in the means that kernels are centred by; None does not centre.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> gram = StackGram(np.stack([np.eye(2), np.ones((2, 2))]))
    >>> gram.products(np.array([[1.0], [2.0]]))[1].tolist()
    [[3.0], [3.0]]
    """

    def __init__(
        self, stack: NDArray[np.floating], scale: Array | None = None, mean: Array | None = None
    ) -> None:
        super().__init__(stack.shape[1], stack.shape[0], scale, mean)
        self.stack, self.stored = stack, stack.nbytes
        if stack.dtype == np.float32:
            self.precision = 1e-6

    def _combine(self, atoms: Atoms, weights: Array, out: Array) -> None:
        fast.combine(self.stack, atoms, weights, out)

    def _products(self, A: Array, atoms: Atoms) -> Array:
        if A.shape[1] >= _GEMM_COLUMNS:
            R = np.empty((atoms.size, self.n, A.shape[1]))
            for r, m in zip(R, atoms, strict=True):
                np.matmul(self.stack[m], A, out=r)
            return R
        out = np.empty((atoms.size, A.shape[1], self.n))
        fast.products(self.stack, atoms, np.ascontiguousarray(A.T), out)
        return out.transpose(0, 2, 1)

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        if A.shape[1] >= _GEMM_COLUMNS:
            forms = [np.einsum("nk,nk->k", A, self.stack[m] @ A) for m in atoms]
            return np.array(forms).reshape(-1, A.shape[1])
        q = np.empty((atoms.size, A.shape[1]))
        fast.quadratic_forms(self.stack, atoms, np.ascontiguousarray(A.T), q)
        return q

    def _diagonals(self) -> Array:
        return np.array(np.einsum("mii->mi", self.stack), dtype=float)  # a copy: stacks may be read-only

    def _blocks(self, atoms: Atoms) -> Iterator[tuple[int, int, int, Array]]:
        for position, m in enumerate(atoms):
            yield position, 0, self.n, self.stack[m].astype(float, copy=False)

    def inner(self, W: Array | None = None) -> Array:
        if W is not None or self.weight is not None or self.n_kernels >= MANY:
            return super().inner(W)
        mean = self.mean_weight()
        means = np.ascontiguousarray(self._products(mean[:, None], self._atoms(None))[:, :, 0])
        return centred_pairs(self.stack, means, means @ mean, self.watch) * np.outer(self.scale, self.scale)

    def _centred(self, lo: int, hi: int, means: Array, grand: Array, out: Array) -> None:
        fast.centre(self.stack, lo, lo, means, grand, self.scale, out)

    def subset(self, rows: NDArray[np.intp]) -> StackGram:
        part = self.stack[:, rows[:, None], rows]
        return StackGram(np.ascontiguousarray(part), self.scale, _renormalise(self.mean, rows))


def _renormalise(mean: Array | None, rows: NDArray[np.intp]) -> Array | None:
    return None if mean is None else mean[rows] / mean[rows].sum()

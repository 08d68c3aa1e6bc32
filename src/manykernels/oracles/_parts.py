"""The base kernels of products on the training samples: columns where they are of rank one, else matrices.

Both answer the same few questions, so that what is drawn and how it is scaled is written once. Symmetric
functions of the base kernels (Hadamard powers of their sum, and the like) come in the layout of the parts:
n × n matrices for columns, lower triangles for matrices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..grams import FactorGram, Gram, StackGram

Array = NDArray[np.float64]
Product = tuple[int, ...]
_ENTRIES = 1 << 22  # of products that are formed together


class Parts(ABC):
    """r base kernels K_j on n samples, normalised."""

    n: int
    r: int

    @abstractmethod
    def point(self, A: Array) -> Array:
        """What all questions about a dual point A (n, k) start from."""

    @abstractmethod
    def quad(self, point: Array, products: Sequence[Product]) -> Array:
        """⟨M, Π_{j∈z} K_j⟩ of every product z, with M = A Aᵀ."""

    @abstractmethod
    def mass(self, point: Array, H: Array | None) -> float:
        """⟨M, H⟩; None is the matrix of ones."""

    @abstractmethod
    def masses(self, point: Array, prefixes: Sequence[Product], H: Array | None, power: int = 1) -> Array:
        """(len(prefixes), r): ⟨M ∘ Π_{i∈prefix} K_i ∘ H, K_j^{∘power}⟩ for all j."""

    @abstractmethod
    def power_sum(self, power: int) -> Array:
        """Σ_j K_j^{∘power}, in the layout of the parts."""

    @abstractmethod
    def entries(self, j: int) -> Array:
        """K_j, in the layout of the parts."""

    @abstractmethod
    def mean_diagonals(self, products: Sequence[Product], weight: Array) -> Array:
        """Σ_i weight_i (Π_{j∈z} K_j)_ii of every product z."""

    @abstractmethod
    def gram(self, products: Sequence[Product], scale: Array) -> Gram:
        """The Gram of some products."""


class FactorParts(Parts):
    """K_j = x_j x_jᵀ for the columns x_j of X (n, r)."""

    def __init__(self, X: Array) -> None:
        self.n, self.r = X.shape
        self.rows = np.ones((self.r + 1, self.n))  # the columns, and 1 to fill up products of lower degree
        self.rows[: self.r] = X.T
        self.X = self.rows[: self.r].T
        self._sums: dict[int, Array] = {}

    def point(self, A: Array) -> Array:
        return np.ascontiguousarray(A, dtype=float)

    def features(self, products: Sequence[Product]) -> Array:
        """(len(products), n): Π_{j∈z} x_j."""
        degree = max(map(len, products), default=0)
        index = np.array([(*z, *[self.r] * (degree - len(z))) for z in products], dtype=np.intp)
        Z = np.ones((len(products), self.n))
        for column in index.reshape(len(products), degree).T:
            Z *= self.rows[column]
        return Z

    def quad(self, point: Array, products: Sequence[Product]) -> Array:
        step = max(1, _ENTRIES // self.n)
        parts = [self.features(products[lo : lo + step]) @ point for lo in range(0, len(products), step)]
        return np.concatenate([np.square(part).sum(axis=1) for part in parts]) if parts else np.zeros(0)

    def mass(self, point: Array, H: Array | None) -> float:
        if H is None:
            return float(np.square(point.sum(axis=0)).sum())
        return float(np.einsum("nk,nk->", point, H @ point))

    def masses(self, point: Array, prefixes: Sequence[Product], H: Array | None, power: int = 1) -> Array:
        """Σ_k (u_k∘x_j)ᵀ H (u_k∘x_j) with u_k = α_k ∘ Π x_i, as diagonals of Xᵀ (UUᵀ∘H) X.

        H = S = XXᵀ needs Xᵀ diag(u_k) X only, which is less where there are fewer columns than samples.
        """
        X = self.X if power == 1 else self.X**power
        U = self.features(prefixes)[:, :, None] * point
        if H is None:
            inner = X.T @ U.transpose(1, 0, 2).reshape(self.n, -1)
            return np.asarray(np.square(inner).reshape(self.r, len(prefixes), -1).sum(axis=2).T)
        out = np.empty((len(prefixes), self.r))
        short = power == 1 and H is self._sums.get(1) and point.shape[1] * self.r <= self.n
        for pi, u in zip(out, U, strict=True):
            if short:
                pi[:] = sum(np.square((X.T * column) @ X).sum(axis=0) for column in u.T)
            else:
                pi[:] = np.einsum("nr,nr->r", X, ((u @ u.T) * H) @ X)
        return out

    def power_sum(self, power: int) -> Array:
        if power not in self._sums:
            X = self.X**power
            self._sums[power] = X @ X.T
        return self._sums[power]

    def entries(self, j: int) -> Array:
        return np.outer(self.rows[j], self.rows[j])

    def mean_diagonals(self, products: Sequence[Product], weight: Array) -> Array:
        step = max(1, _ENTRIES // self.n)
        parts = [self.features(products[lo : lo + step]) for lo in range(0, len(products), step)]
        return np.concatenate([np.square(Z) @ weight for Z in parts]) if parts else np.zeros(0)

    def gram(self, products: Sequence[Product], scale: Array) -> Gram:
        return FactorGram(self.features(products).T, np.arange(len(products) + 1), scale)


class StackParts(Parts):
    """Lower triangles B (r, n(n+1)/2) of the matrices K_j, row by row.

    A symmetric matrix has every entry off the diagonal twice: those of M are doubled once, and inner products
    are then those of the triangles.
    """

    def __init__(self, B: Array, n: int) -> None:
        self.n, self.r, self.B = n, len(B), B
        self.lower = np.tril_indices(n)
        self.on_diagonal = np.flatnonzero(self.lower[0] == self.lower[1])
        self._sums: dict[int, Array] = {}

    def point(self, A: Array) -> Array:
        M = (A @ A.T)[self.lower]
        m = 2.0 * M
        m[self.on_diagonal] = M[self.on_diagonal]
        return np.asarray(m)

    def triangle(self, product: Product) -> Array:
        """Π_{j∈z} K_j."""
        P = np.ones(self.B.shape[1])
        for j in product:
            P *= self.B[j]
        return P

    def quad(self, point: Array, products: Sequence[Product]) -> Array:
        return np.array([point @ self.triangle(z) for z in products])

    def mass(self, point: Array, H: Array | None) -> float:
        return float(point.sum() if H is None else point @ H)

    def masses(self, point: Array, prefixes: Sequence[Product], H: Array | None, power: int = 1) -> Array:
        weights = point if H is None else point * H
        out = np.empty((len(prefixes), self.r))
        step = max(1, 4 * _ENTRIES // self.B.shape[1])
        for lo in range(0, len(prefixes), step):
            W = np.array([weights * self.triangle(prefix) for prefix in prefixes[lo : lo + step]])
            if power == 1:
                out[lo : lo + step] = W @ self.B.T
            else:
                out[lo : lo + step] = np.array([W @ K**power for K in self.B]).T
        return out

    def power_sum(self, power: int) -> Array:
        if power not in self._sums:
            total = np.zeros(self.B.shape[1])
            for K in self.B:
                total += K**power
            self._sums[power] = total
        return self._sums[power]

    def entries(self, j: int) -> Array:
        return np.asarray(self.B[j])

    def mean_diagonals(self, products: Sequence[Product], weight: Array) -> Array:
        d = self.B[:, self.on_diagonal]
        return np.array([weight @ np.prod(d[list(z)], axis=0) for z in products])

    def gram(self, products: Sequence[Product], scale: Array) -> Gram:
        stack = np.empty((len(products), self.n, self.n))
        rows, columns = self.lower
        for K, z in zip(stack, products, strict=True):
            K[rows, columns] = K[columns, rows] = self.triangle(z)
        return StackGram(stack, scale)


def lower_triangles(stack: Array, kept: Sequence[int], scale: Array) -> Array:
    """(len(kept), n(n+1)/2): some matrices of a stack, scaled; written over the stack, which is lost."""
    n = stack.shape[1]
    rows, columns = np.tril_indices(n)
    B = stack.reshape(-1)[: len(kept) * rows.size].reshape(len(kept), rows.size)
    for target, m in zip(B, kept, strict=True):
        target[:] = stack[m][rows, columns] * scale[m]  # ends before matrix m + 1 begins
    return B

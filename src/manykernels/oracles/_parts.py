"""The base kernels of products on the training samples: columns where they are of rank one, else matrices.

Both answer the same few questions, so that what is drawn and how it is scaled is written once. Symmetric
functions of the base kernels (Hadamard powers of their sum, and the like) come in the layout of the parts:
n × n matrices for columns, lower triangles for matrices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..grams import FactorGram, Gram, StackGram
from ._triangles import TriangleGram, diagonal, pack, unpack

Array = NDArray[np.float64]
Product = tuple[int, ...]
_ENTRIES = 1 << 22  # of products that are formed together
_FEW = 8  # prefixes or base kernels, for which blocks do not pay
_KEPT = 1 << 28  # bytes of sums over blocks of base kernels


class Parts(ABC):
    """r base kernels K_j on n samples, normalised."""

    n: int
    r: int
    _blocks: dict[int, Array]
    _sums: dict[int, Array]

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
    def block_masses(self, point: Array, prefixes: Sequence[Product], H: Array) -> Array:
        """(len(prefixes), blocks): ⟨M ∘ Π_{i∈prefix} K_i ∘ H, Σ_{j∈block} K_j⟩ for all blocks."""

    @abstractmethod
    def within(self, point: Array, prefixes: Sequence[Product], H: Array, b: int) -> Array:
        """(len(prefixes), size of block b): what `masses` gives, for the base kernels of one block."""

    def blocks_pay(self, prefixes: int, H: Array | None) -> bool:
        """Whether masses of blocks, and then of the base kernels of a few, cost less than all masses."""
        return H is not None and min(prefixes, self.r) >= _FEW

    @property
    def edges(self) -> list[int]:
        """Where blocks of about √r base kernels begin and end."""
        blocks = max(1, round(self.r**0.5))
        return [self.r * b // blocks for b in range(blocks + 1)]

    def block_sum(self, b: int) -> Array:
        """Σ_j K_j over block b, kept from one call to the next where that is affordable."""
        if b not in self._blocks:
            total = self._block_sum(self.edges[b], self.edges[b + 1])
            if total.nbytes * (len(self.edges) - 1) > _KEPT:
                return total
            self._blocks[b] = total
        return self._blocks[b]

    @abstractmethod
    def _block_sum(self, lo: int, hi: int) -> Array:
        """Σ_{lo≤j<hi} K_j, in the layout of the parts."""

    @abstractmethod
    def power_sum(self, power: int) -> Array:
        """Σ_j K_j^{∘power}, in the layout of the parts."""

    @abstractmethod
    def entries(self, j: int) -> Array:
        """K_j, in the layout of the parts."""

    @abstractmethod
    def rescale(self, factors: Array) -> None:
        """Multiply each base kernel by its factor, before anything else is asked."""

    @abstractmethod
    def diagonals(self) -> Array:
        """(n, r): K_j(x_i, x_i)."""

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
        self._sums, self._blocks = {}, {}

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
        X = self.X if power == 1 else self.X**power
        if H is None:
            U = self.features(prefixes).T[:, :, None] * point[:, None, :]
            inner = X.T @ U.reshape(self.n, -1)
            return np.asarray(np.square(inner).reshape(self.r, len(prefixes), -1).sum(axis=2).T)
        return self._diagonals(point, prefixes, H, X)

    def _diagonals(self, point: Array, prefixes: Sequence[Product], H: Array, X: Array) -> Array:
        """Σ_k (u_k∘x_j)ᵀ H (u_k∘x_j) with u_k = α_k ∘ Π x_i, for some columns x_j.

        H = S = XXᵀ needs Xᵀ diag(u_k) X only, which is less where there are fewer columns than samples.
        """
        out = np.empty((len(prefixes), X.shape[1]))
        short = self._is_short(H)
        for pi, z in zip(out, self.features(prefixes), strict=True):
            U = z[:, None] * point
            if short:
                pi[:] = sum(np.square((X.T * u) @ self.X).sum(axis=1) for u in U.T)
            elif U.shape[1] == 1:
                V = U * X
                pi[:] = np.einsum("nr,nr->r", V, H @ V)
            else:
                pi[:] = np.einsum("nr,nr->r", X, ((U @ U.T) * H) @ X)
        return out

    def _is_short(self, H: Array) -> bool:
        return H is self._sums.get(1) and self.r <= self.n

    def blocks_pay(self, prefixes: int, H: Array | None) -> bool:
        """Blocks cost √r n² for each prefix, and somewhat more; Xᵀ diag(u) X costs r² n."""
        short = H is not None and self._is_short(H) and self.r**1.5 <= 3 * self.n
        return not short and super().blocks_pay(prefixes, H)

    def pairs(self, point: Array, prefix: Product) -> Array:
        """(r, r): ⟨M ∘ Π_{i∈prefix} K_i, K_j∘K_l⟩ for all j and l."""
        U = self.features([prefix]).T * point
        return np.asarray(sum(np.square((self.X.T * u) @ self.X) for u in U.T))

    def block_masses(self, point: Array, prefixes: Sequence[Product], H: Array) -> Array:
        """Σ_k u_kᵀ (H ∘ Σ_{j∈block} x_j x_jᵀ) u_k: one product of matrices for all prefixes."""
        U = (self.features(prefixes).T[:, :, None] * point[:, None, :]).reshape(self.n, -1)
        out = np.empty((len(self.edges) - 1, U.shape[1]))
        for b, mass in enumerate(out):
            mass[:] = np.einsum("nm,nm->m", U, (self.block_sum(b) * H) @ U)
        return np.asarray(out.reshape(len(out), len(prefixes), -1).sum(axis=2).T)

    def within(self, point: Array, prefixes: Sequence[Product], H: Array, b: int) -> Array:
        return self._diagonals(point, prefixes, H, self.X[:, self.edges[b] : self.edges[b + 1]])

    def _block_sum(self, lo: int, hi: int) -> Array:
        return np.asarray(self.X[:, lo:hi] @ self.X[:, lo:hi].T)

    def power_sum(self, power: int) -> Array:
        if power not in self._sums:
            X = self.X**power
            self._sums[power] = X @ X.T
        return self._sums[power]

    def entries(self, j: int) -> Array:
        return np.outer(self.rows[j], self.rows[j])

    def rescale(self, factors: Array) -> None:
        self.rows[: self.r] *= np.sqrt(factors)[:, None]

    def diagonals(self) -> Array:
        return np.square(self.X)

    def mean_diagonals(self, products: Sequence[Product], weight: Array) -> Array:
        step = max(1, _ENTRIES // self.n)
        parts = [self.features(products[lo : lo + step]) for lo in range(0, len(products), step)]
        return np.concatenate([np.square(Z) @ weight for Z in parts]) if parts else np.zeros(0)

    def gram(self, products: Sequence[Product], scale: Array) -> Gram:
        return FactorGram(self.features(products).T, np.arange(len(products) + 1), scale)


class StackParts(Parts):
    """Lower triangles B (r, n(n+1)/2) of the matrices K_j, row by row.

    A symmetric matrix has every entry off the diagonal twice: those of M are doubled once, and inner products
    are then those of the triangles. `room` is how many bytes matrices of products may take.
    """

    def __init__(self, B: Array, n: int, room: float = np.inf) -> None:
        self.n, self.r, self.B, self.room = n, len(B), B, room
        self.on_diagonal = diagonal(n)
        self._sums, self._blocks = {}, {}

    def point(self, A: Array) -> Array:
        return self.packed(A @ A.T)

    def packed(self, S: Array) -> Array:
        """A symmetric matrix, whose inner products with triangles are those of the matrices."""
        m = pack(S)
        m *= 2.0
        m[self.on_diagonal] *= 0.5
        return m

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
        def table(W: Array) -> Array:
            return W @ self.B.T if power == 1 else np.array([W @ K**power for K in self.B]).T

        return self._weighted(point, prefixes, H, table)

    def block_masses(self, point: Array, prefixes: Sequence[Product], H: Array) -> Array:
        def table(W: Array) -> Array:
            return np.array([W @ self.block_sum(b) for b in range(len(self.edges) - 1)]).T

        return self._weighted(point, prefixes, H, table)

    def within(self, point: Array, prefixes: Sequence[Product], H: Array, b: int) -> Array:
        return self._weighted(point, prefixes, H, lambda W: W @ self.B[self.edges[b] : self.edges[b + 1]].T)

    def _weighted(
        self, point: Array, prefixes: Sequence[Product], H: Array | None, table: Callable[[Array], Array]
    ) -> Array:
        """The table of M∘P∘H for the product P of every prefix, a few of them at a time."""
        weights = point if H is None else point * H
        step = max(1, 4 * _ENTRIES // weights.size)
        parts = [prefixes[lo : lo + step] for lo in range(0, len(prefixes), step)]
        return np.concatenate([table(np.array([weights * self.triangle(z) for z in part])) for part in parts])

    def _block_sum(self, lo: int, hi: int) -> Array:
        return np.asarray(self.B[lo:hi].sum(axis=0))

    def power_sum(self, power: int) -> Array:
        if power not in self._sums:
            total = np.zeros(self.B.shape[1])
            for K in self.B:
                total += K**power
            self._sums[power] = total
        return self._sums[power]

    def entries(self, j: int) -> Array:
        return np.asarray(self.B[j])

    def rescale(self, factors: Array) -> None:
        self.B *= factors[:, None]

    def diagonals(self) -> Array:
        return np.asarray(self.B[:, self.on_diagonal].T)

    def mean_diagonals(self, products: Sequence[Product], weight: Array) -> Array:
        d = self.B[:, self.on_diagonal]
        return np.array([weight @ np.prod(d[list(z)], axis=0) for z in products])

    def gram(self, products: Sequence[Product], scale: Array) -> Gram:
        if 8 * len(products) * self.n**2 > self.room:
            return TriangleGram(self.n, len(products), lambda m: self.triangle(products[m]), scale)
        stack = np.empty((len(products), self.n, self.n))
        for K, z in zip(stack, products, strict=True):
            unpack(self.triangle(z), K)
        return StackGram(stack, scale)


def lower_triangles(stack: Array, kept: Sequence[int], scale: Array) -> Array:
    """(len(kept), n(n+1)/2): some matrices of a stack, scaled; written over the stack, which is lost."""
    n = stack.shape[1]
    size = n * (n + 1) // 2
    B = stack.reshape(-1)[: len(kept) * size].reshape(len(kept), size)
    for target, m in zip(B, kept, strict=True):
        pack(stack[m], target)  # ends before matrix m + 1 begins
        target *= scale[m]
    return B

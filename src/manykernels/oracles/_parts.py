"""The base kernels of products on the training samples: columns where they are of rank one, else matrices.

Both answer the same few questions, so that what is drawn and how it is scaled is written once. Symmetric
functions of the base kernels (Hadamard powers of their sum, and the like) come in the layout of the parts:
n × n matrices for columns, lower triangles for matrices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from ..grams import FactorGram, Gram, StackGram
from ._majorants import Majorant, Places
from ._monomials import Monomials
from ._triangles import TriangleGram, diagonal, pack, unpack

Array = NDArray[np.float64]
Product = tuple[int, ...]
Start = tuple[int, Product]  # a column of the point, and the factors that are there already
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
        """Compute the numbers that all questions about a dual point A (n, k) start from.

        Its columns, from which products start, are those of A, or a single one that stands for all of them.
        """

    @abstractmethod
    def point_against(self, Q: Array) -> Array:
        """The same for any positive semi-definite M = Q (n, n)."""

    @abstractmethod
    def quad(self, point: Array, products: Sequence[Product]) -> Array:
        """⟨M, Π_{j∈z} K_j⟩ of every product z, with M = A Aᵀ."""

    @abstractmethod
    def mass(self, point: Array, H: Array | None) -> Array:
        """(columns of the point,): ⟨M, H⟩ of each, with M = A Aᵀ of its own; None is the matrix of ones."""

    @abstractmethod
    def masses(self, point: Array, starts: Sequence[Start], H: Array | None, power: int = 1) -> Array:
        """(len(starts), r): ⟨M ∘ Π_{i∈prefix} K_i ∘ H, K_j^{∘power}⟩ for all j."""

    @abstractmethod
    def block_masses(self, point: Array, starts: Sequence[Start], H: Array) -> Array:
        """(len(starts), blocks): ⟨M ∘ Π_{i∈prefix} K_i ∘ H, Σ_{j∈block} K_j⟩ for all blocks."""

    @abstractmethod
    def within(self, point: Array, starts: Sequence[Start], H: Array, b: int) -> Array:
        """(len(starts), size of block b): what `masses` gives, for the base kernels of one block."""

    def blocks_pay(self, starts: int, H: Array | None) -> bool:
        """Tell whether masses of blocks, and then of the base kernels of a few, cost less than all masses."""
        return H is not None and min(starts, self.r) >= _FEW

    def propose(
        self, point: Array, starts: Sequence[Start], counts: Places, H: Array, rng: np.random.RandomState
    ) -> tuple[Places, Places, Places]:
        """Draws of a next factor by rejection, of which some may be left (see ``Majorant.draw``); or none."""
        nothing = np.empty(0, dtype=np.intp)
        return nothing, nothing, np.repeat(np.arange(len(starts)), counts)

    @property
    def edges(self) -> list[int]:
        """Return the ends of blocks of about √r base kernels."""
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
        self._majorants: dict[int, Majorant] = {}  # by the identity of matrices that the sampler keeps

    def point(self, A: Array) -> Array:
        return np.ascontiguousarray(A, dtype=float)

    def point_against(self, Q: Array) -> Array:
        """The columns of a Cholesky factor with pivots, as many as the rank of Q."""
        L, pivots, rank, _ = dpstrf(Q, lower=1)
        A = np.empty((self.n, rank))
        A[pivots - 1] = np.tril(L)[:, :rank]
        return A

    def features(self, products: Sequence[Product]) -> Array:
        """(len(products), n): Π_{j∈z} x_j."""
        return multiplied(self.rows, factors_of(products, self.r))

    def monomials(self, degree: int, **options: Any) -> Monomials:
        """All products up to a degree, looked at one by one."""
        return Monomials(self.X, degree, **options)

    def quad(self, point: Array, products: Sequence[Product]) -> Array:
        step = max(1, _ENTRIES // self.n)
        parts = [self.features(products[lo : lo + step]) @ point for lo in range(0, len(products), step)]
        return np.concatenate([np.square(part).sum(axis=1) for part in parts]) if parts else np.zeros(0)

    def mass(self, point: Array, H: Array | None) -> Array:
        if H is None:
            return np.asarray(np.square(point.sum(axis=0)))
        return np.asarray(np.einsum("nk,nk->k", point, H @ point))

    def vectors(self, point: Array, starts: Sequence[Start]) -> Array:
        """(n, len(starts)): u = α ∘ Π_{i∈prefix} x_i, α the column of the point."""
        return np.asarray(point[:, [k for k, _ in starts]] * self.features([z for _, z in starts]).T)

    def masses(self, point: Array, starts: Sequence[Start], H: Array | None, power: int = 1) -> Array:
        X, U = self.X if power == 1 else self.X**power, self.vectors(point, starts)
        return np.asarray(np.square(U.T @ X)) if H is None else self._forms(U, H, X)

    def _forms(self, U: Array, H: Array, X: Array) -> Array:
        """(u∘x_j)ᵀ H (u∘x_j) of each start u, for some columns x_j.

        H = S = XXᵀ needs Xᵀ diag(u) X only, which is less where there are fewer columns than samples.
        """
        out, short = np.empty((U.shape[1], X.shape[1])), self._is_short(H)
        for pi, u in zip(out, U.T, strict=True):
            V = u[:, None] * X
            pi[:] = np.square(V.T @ self.X).sum(axis=1) if short else np.einsum("nr,nr->r", V, H @ V)
        return out

    def _is_short(self, H: Array) -> bool:
        return H is self._sums.get(1) and self.r <= self.n

    def blocks_pay(self, starts: int, H: Array | None) -> bool:
        """Blocks cost √r n² for each start, and somewhat more; Xᵀ diag(u) X costs r² n."""
        short = H is not None and self._is_short(H) and self.r**1.5 <= 3 * self.n
        return not short and super().blocks_pay(starts, H)

    def propose(
        self, point: Array, starts: Sequence[Start], counts: Places, H: Array, rng: np.random.RandomState
    ) -> tuple[Places, Places, Places]:
        """By a majorant of H, where that is expected to cost less than all masses of every start."""
        majorant = self._majorants.get(id(H))
        if majorant is None:
            columns = self.X if self._is_short(H) else None
            majorant = self._majorants[id(H)] = Majorant(H, self.r, columns)
        direct = float(self.r) * min(self.r, self.n) if self._is_short(H) else float(self.r) * self.n
        if self.blocks_pay(len(starts), H):
            direct = min(direct, 2.0 * self.r**0.5 * self.n)
        if majorant.cost(len(starts), int(counts.sum()), self.r) > self.n * direct * len(starts):
            return super().propose(point, starts, counts, H, rng)
        return majorant.draw(self.X, self.vectors(point, starts), counts, rng)

    def pairs(self, point: Array, start: Start) -> Array:
        """(r, r): ⟨M ∘ Π_{i∈prefix} K_i, K_j∘K_l⟩ for all j and l."""
        return np.asarray(np.square((self.X.T * self.vectors(point, [start])[:, 0]) @ self.X))

    def block_masses(self, point: Array, starts: Sequence[Start], H: Array) -> Array:
        """uᵀ (H ∘ Σ_{j∈block} x_j x_jᵀ) u: one product of matrices for all starts."""
        U = self.vectors(point, starts)
        sums = [np.einsum("nm,nm->m", U, (self.block_sum(b) * H) @ U) for b in range(len(self.edges) - 1)]
        return np.stack(sums, axis=1)

    def within(self, point: Array, starts: Sequence[Start], H: Array, b: int) -> Array:
        return self._forms(self.vectors(point, starts), H, self.X[:, self.edges[b] : self.edges[b + 1]])

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


def factors_of(products: Sequence[Product], r: int) -> NDArray[np.intp]:
    """(len(products), degree): the columns of each product of r columns, filled up with r."""
    degree = max(map(len, products), default=0)
    found = np.array([(*z, *[r] * (degree - len(z))) for z in products], dtype=np.intp)
    return found.reshape(len(products), degree)


def multiplied(rows: Array, factors: NDArray[np.intp]) -> Array:
    """(products, n): products of `rows` (r + 1, n), of which the last is 1, as `factors_of` names them."""
    Z = np.ones((len(factors), rows.shape[1]))
    for column in factors.T:
        Z *= rows[column]
    return Z


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

    def point_against(self, Q: Array) -> Array:
        return self.packed(Q)

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

    def mass(self, point: Array, H: Array | None) -> Array:
        return np.array([point.sum() if H is None else point @ H])

    def masses(self, point: Array, starts: Sequence[Start], H: Array | None, power: int = 1) -> Array:
        def table(W: Array) -> Array:
            return W @ self.B.T if power == 1 else np.array([W @ K**power for K in self.B]).T

        return self._weighted(point, starts, H, table)

    def block_masses(self, point: Array, starts: Sequence[Start], H: Array) -> Array:
        def table(W: Array) -> Array:
            return np.array([W @ self.block_sum(b) for b in range(len(self.edges) - 1)]).T

        return self._weighted(point, starts, H, table)

    def within(self, point: Array, starts: Sequence[Start], H: Array, b: int) -> Array:
        return self._weighted(point, starts, H, lambda W: W @ self.B[self.edges[b] : self.edges[b + 1]].T)

    def _weighted(
        self, point: Array, starts: Sequence[Start], H: Array | None, table: Callable[[Array], Array]
    ) -> Array:
        """The table of M∘P∘H for the product P of every start, a few of them at a time."""
        weights = point if H is None else point * H
        step = max(1, 4 * _ENTRIES // weights.size)
        parts = [starts[lo : lo + step] for lo in range(0, len(starts), step)]
        return np.concatenate(
            [table(np.array([weights * self.triangle(z) for _, z in part])) for part in parts]
        )

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

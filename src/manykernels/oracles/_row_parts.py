"""Columns of samples that are read in blocks of rows: answers about their products are sums over rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram
from ..grams.row_blocks import RowBlocks
from ._monomials import Monomials
from ._parts import Array, FactorParts, Product, factors_of, multiplied

_ROOM = 3 << 23  # bytes of prefix products in a block of rows


class RowParts(FactorParts):
    """K_j = x_j x_jᵀ for columns of rows that are never held together."""

    def __init__(self, source: RowBlocks, r: int) -> None:
        self.source, self.n, self.r = source, source.n, r
        self._sums, self._blocks = {}, {}
        self._squares: dict[Product, float] = {}  # Σ weight φ² of the products that were asked for

    def monomials(self, degree: int, **options: Any) -> Monomials:
        return RowMonomials(self.source, self.r, degree, **options)

    def quad(self, point: Array, products: Sequence[Product]) -> Array:
        (scores,) = self.source.sums(Scores(factors_of(products, self.r)), point)
        return np.asarray(np.square(scores).sum(axis=1))

    def mean_diagonals(self, products: Sequence[Product], weight: Array) -> Array:
        new = [z for z in dict.fromkeys(products) if z not in self._squares]
        if new:
            (found,) = self.source.sums(Scores(factors_of(new, self.r), squared=True), weight[:, None])
            self._squares.update(zip(new, found[:, 0].tolist(), strict=True))
        return np.array([self._squares[z] for z in products])

    def rescale(self, factors: Array) -> None:
        raise NotImplementedError("columns of rows in blocks are scaled where they are read.")

    def gram(self, products: Sequence[Product], scale: Array) -> Gram:
        raise NotImplementedError("kernels on rows in blocks have no Gram: see `RowProducts.moments`.")


def with_one(X: Array) -> Array:
    """(r + 1, m): the columns of a block (m, r), and 1."""
    rows = np.ones((X.shape[1] + 1, len(X)))
    rows[:-1] = X.T
    return rows


@dataclass(frozen=True)
class Scores:
    """Σ_t A_tk φ_z(x_t), or φ_z², of some products: (products, k)."""

    factors: NDArray[np.intp]
    squared: bool = False

    def __call__(self, X: Array, A: Array) -> list[Array]:
        Phi = multiplied(with_one(X), self.factors)
        return [(np.square(Phi, out=Phi) if self.squared else Phi) @ A]


@dataclass(frozen=True)
class Decisions:
    """Σ_z φ_z(x) w_zk: (rows, k)."""

    factors: NDArray[np.intp]
    w: Array

    def __call__(self, X: Array) -> Array:
        return np.asarray(multiplied(with_one(X), self.factors).T @ self.w)


@dataclass(frozen=True)
class Moments:
    """ΦᵀcΦ_new, where the last `new` products are new, and Φ_newᵀB, for c (m,), B (m, b) and U (m, r).

    Features are less U @ shift, with `shift` (r, products).
    """

    factors: NDArray[np.intp]
    new: int
    shift: Array

    def __call__(self, X: Array, c: Array, B: Array, U: Array) -> list[Array]:
        Phi = multiplied(with_one(X), self.factors)
        if self.shift.size:
            Phi -= self.shift.T @ U.T
        own = Phi[len(Phi) - self.new :]
        return [Phi @ (own * c).T, own @ B]


@dataclass(frozen=True)
class Largest:
    """The largest φ_z² in a block: (1, products)."""

    factors: NDArray[np.intp]

    def __call__(self, X: Array) -> Array:
        return np.asarray(np.square(multiplied(with_one(X), self.factors)).max(axis=1)[None])


@dataclass(frozen=True)
class AllScores:
    """Σ_t A_tk φ_z(x_t) of all products of each degree from 1 on: (k, products); of φ_z² where `squared`."""

    order: Monomials
    squared: bool = False

    def __call__(self, X: Array, A: Array) -> list[Array]:
        own, outputs = self.order.on(X**2 if self.squared else X), A.shape[1]
        totals = [np.empty((outputs, own.count(d))) for d in range(1, own.degree + 1)]
        for d, place, sums in own.sums(A):
            totals[d - 1][:, place : place + sums.shape[1]] = sums
        return totals


class RowMonomials(Monomials):
    """All products of columns of rows in blocks, scored in one pass over them."""

    def __init__(self, source: RowBlocks, r: int, degree: int, **options: Any) -> None:
        super().__init__(np.empty((0, r)), degree, **options)
        self.source = source
        skip = bool(self.skip)  # what blocks are told of the products is no more than they need
        self.order = Monomials(np.empty((0, r)), degree, scale=self.scale, interactions_only=skip, room=_ROOM)
        self._sizes: list[Array] | None = None

    def _blocks(self, A: Array) -> Iterator[tuple[int, int, Array]]:
        yield 0, 0, self._constant(A)
        for d, scores in enumerate(self.source.sums(AllScores(self.order), A), start=1):
            yield d, 0, self._squares(d, 0, scores)

    def _mean_squares(self, d: int, place: int, Z: Array, first: int) -> Array:
        if self._sizes is None:
            assert self.weight is not None
            found = self.source.sums(AllScores(self.order, squared=True), self.weight[:, None])
            self._sizes = [sizes[0] for sizes in found]
        width = self.X.shape[1] - first
        return self._sizes[d - 1][place : place + len(Z) * width].reshape(len(Z), width)

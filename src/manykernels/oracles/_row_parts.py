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
from .rows import Scores

_ROOM = 3 << 23  # bytes of prefix products in a block of rows


class RowParts(FactorParts):
    """K_j = x_j x_jᵀ for columns of rows that are never held together."""

    def __init__(self, source: RowBlocks, r: int) -> None:
        self.source, self.n, self.r = source, source.n, r
        self._sums, self._blocks = {}, {}
        self._squares: dict[Product, float] = {}  # Σ weight φ² of the products that were asked for

    def monomials(self, degree: int, **options: Any) -> Monomials:
        return RowMonomials(self.source, self.r, degree, **options)

    def mean_diagonals(self, products: Sequence[Product], weight: Array) -> Array:
        new = [z for z in dict.fromkeys(products) if z not in self._squares]
        if new:
            squares = Scores(ProductMap(factors_of(new, self.r)), squared=True)
            (found,) = self.source.sums(squares, weight[:, None])
            self._squares.update(zip(new, found[:, 0].tolist(), strict=True))
        return np.array([self._squares[z] for z in products])

    def remember(self, products: Sequence[Product], squares: Array) -> None:
        """Keep Σ weight φ² of products that somebody has looked at."""
        self._squares.update(zip(products, squares.tolist(), strict=True))

    def rescale(self, factors: Array) -> None:
        raise NotImplementedError("columns of rows in blocks are scaled where they are read.")

    def gram(self, products: Sequence[Product], scale: Array) -> Gram:
        raise NotImplementedError("kernels on rows in blocks have no Gram: see `RowOracle.moments`.")


def with_one(X: Array) -> Array:
    """(r + 1, m): the columns of a block (m, r), and 1."""
    rows = np.ones((X.shape[1] + 1, len(X)))
    rows[:-1] = X.T
    return rows


@dataclass(frozen=True)
class ProductMap:
    """Products of columns of a block, each times its root: (products, rows)."""

    factors: NDArray[np.intp]
    root: Array | None = None

    def __call__(self, X: Array) -> Array:
        Phi = multiplied(with_one(X), self.factors)
        return Phi if self.root is None else np.multiply(Phi, self.root[:, None], out=Phi)


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

    def mean_squares(self, weight: Array | None = None) -> Array:
        """(products,): Σ_t weight_t (Π_j x_tj)² by degree from 0 on; by default with the weight of scales."""
        own = self.weight if weight is None else weight
        assert own is not None
        if weight is None and self._sizes is not None:
            return np.concatenate([own.sum(keepdims=True), *self._sizes])
        found = self.source.sums(AllScores(self.order, squared=True), own[:, None])
        sizes = [part[0] for part in found]
        if weight is None:
            self._sizes = sizes
        return np.concatenate([own.sum(keepdims=True), *sizes])

    def _mean_squares(self, d: int, place: int, Z: Array, first: int) -> Array:
        if self._sizes is None:
            self.mean_squares()
        assert self._sizes is not None
        width = self.X.shape[1] - first
        return self._sizes[d - 1][place : place + len(Z) * width].reshape(len(Z), width)

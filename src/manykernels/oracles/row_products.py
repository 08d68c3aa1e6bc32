"""All products of columns up to a degree, on samples that are read in blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..approx import Features, OwnFeatures
from ..grams.row_blocks import RowBlocks
from ..kernels import Kernel
from ._parts import FactorParts, factors_of
from ._row_parts import ProductMap, RowParts
from .base import Array, Atom, Best
from .products import ProductsOracle, _product
from .rows import Map, RowOracle

_COPIES = 48.0  # bytes a product and output: scores of each thread, of a block, their sum and its squares
_DRAWN = 4096  # rows on which products are looked for, where they are too many to be scored one by one
_CANDIDATES = 4  # times as many as are asked for, which are then scored on all rows


class RowProducts(RowOracle, ProductsOracle):
    """Products of columns, each of rank one, whose scores φ_zᵀα are sums over rows.

    One pass scores all of them, so that `best` bounds the family. Where they are too many for that, a beam
    search on some rows finds candidates, all rows score them, and nothing bounds the others.
    """

    def __init__(self, source: RowBlocks, r: int, *given: Any, outputs: int = 1, **options: Any) -> None:
        self.source, self.outputs, self._given = source, outputs, (given, options)
        super().__init__(RowParts(source, r), *given, **options)
        self._few: tuple[NDArray[np.intp], ProductsOracle] | None = None

    @property
    def neutral(self) -> Atom:
        return ()

    def part(self, rows: NDArray[np.intp]) -> RowProducts:
        """The same family on some rows, in memory."""
        given, options = self._given
        return RowProducts(
            self.source.some(rows), self.parts.r, *given, outputs=self.outputs, **self._own(options, rows)
        )

    def _own(self, options: dict[str, Any], rows: NDArray[np.intp]) -> dict[str, Any]:
        weight = options.get("weight")
        return options if weight is None else {**options, "weight": weight[rows] / weight[rows].sum()}

    @property
    def _budget(self) -> float:
        return min(super()._budget, self.room / (_COPIES * self.outputs))

    def best(self, A: Array, k: int) -> Best:
        if self.enumerable:
            return super().best(A, k)
        self._require_answer("best")
        rows, few = self._drawn()
        atoms = few.best(A[rows], _CANDIDATES * k).atoms
        values = self.quad(A, atoms)
        order = np.argsort(-values, kind="stable")[:k]
        return Best([atoms[i] for i in order], values[order], np.inf)

    def _drawn(self) -> tuple[NDArray[np.intp], ProductsOracle]:
        """Some rows, evenly taken, and the family on them with all that a search needs."""
        if self._few is None:
            rows = np.unique(np.linspace(0, self.n - 1, min(self.n, _DRAWN)).astype(np.intp))
            held, (given, options) = self.source.some(rows), self._given
            parts = FactorParts(held.read(held.X))
            self._few = rows, ProductsOracle(parts, *given, **self._own(options, rows))
        return self._few

    def map(self, atoms: Sequence[Atom]) -> Map:
        products, root = self._roots(atoms)
        return ProductMap(factors_of(products, self.parts.r), root)

    def explicit(self, atoms: Sequence[Atom], kernels: Sequence[Kernel], one: Any) -> Features:
        return OwnFeatures().fit_sample(kernels, one, np.ones(1), np.random.RandomState(0))

    def _roots(self, atoms: Sequence[Atom]) -> tuple[list[tuple[int, ...]], Array]:
        products = [_product(atom) for atom in atoms]
        return products, np.sqrt(self.scales(products))

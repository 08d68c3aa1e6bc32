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
from ._row_parts import ProductMap, RowMonomials, RowParts
from .all_products import AllProducts
from .base import Array, Atom, Best
from .products import ProductsOracle, _product
from .rows import Map, RowOracle

_COPIES = 48.0  # bytes a product and output: scores of each thread, of a block, their sum and its squares
_DRAWN = 4096  # rows on which products are looked for, where they are too many to be scored one by one
_CANDIDATES = 4  # times as many as are asked for, which are then scored on all rows
_LISTED = 100_000  # products that may all have weight
_MANY = 1 << 11  # products from which all are looked at together


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

    def offers(self, question: str) -> bool:
        """Tell whether a question is answered: the best products, and all of them where they are few."""
        if question == "atoms":
            return self.enumerable and self.size <= _LISTED
        return super().offers(question)

    def whole(self) -> AllProducts:
        """Return all products at once, for solvers that give weight to every one."""
        looks = self._looks()
        found = AllProducts(looks.order, [np.sqrt(looks.scales(d)) for d in range(self.degree_limit + 1)])
        if self.weight is not None:  # so that no product is scaled by a pass of its own later
            self._own_parts.remember(found.products(), looks.mean_squares())
        return found

    @property
    def _own_parts(self) -> RowParts:
        assert isinstance(self.parts, RowParts)
        return self.parts

    def _looks(self) -> RowMonomials:
        assert isinstance(self.enumerator, RowMonomials)
        return self.enumerator

    def mean_squares(self, atoms: Sequence[Atom], w: Array, weight: Array) -> Array:
        """Σ_t weight_t (φ_z(x_t) w_z)² of each atom; of very many from one look at all products."""
        if len(atoms) < _MANY or not self.enumerable:
            return super().mean_squares(atoms, w, weight)
        whole, looks = self.whole(), self._looks()
        squares = looks.mean_squares(weight) * np.square(np.concatenate(whole.roots))
        place = {z: i for i, z in enumerate(whole.products())}
        return np.asarray(squares[[place[_product(z)] for z in atoms]] * np.square(w).sum(axis=1))

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

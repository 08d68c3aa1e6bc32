"""All products of columns up to a degree, on samples that are read in blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grams.row_blocks import RowBlocks
from ._parts import FactorParts, factors_of
from ._row_parts import Decisions, Largest, Moments, RowParts, Scores
from .base import Array, Atom, Best
from .products import ProductsOracle, _product

_COPIES = 48.0  # bytes a product and output: scores of each thread, of a block, their sum and its squares
_DRAWN = 4096  # rows on which products are looked for, where they are too many to be scored one by one
_CANDIDATES = 4  # times as many as are asked for, which are then scored on all rows


class RowProducts(ProductsOracle):
    """Products of columns, each of rank one, whose scores φ_zᵀα are sums over rows.

    One pass scores all of them, so that `best` bounds the family. Where they are too many for that, a beam
    search on some rows finds candidates, all rows score them, and nothing bounds the others.
    """

    streamed = True

    def __init__(self, source: RowBlocks, r: int, *given: Any, outputs: int = 1, **options: Any) -> None:
        self.source, self.outputs, self._given = source, outputs, (given, options)
        super().__init__(RowParts(source, r), *given, **options)
        self._few: tuple[NDArray[np.intp], ProductsOracle] | None = None

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

    def offers(self, question: str) -> bool:
        """The best products, and nothing that needs matrices or draws."""
        return question == "best" and super().offers(question)

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

    # -- what the restricted problem asks: sums over rows, and decisions on them ---------------------
    def moments(
        self,
        atoms: Sequence[Atom],
        new: int,
        c: Array,
        B: Array,
        U: Array | None = None,
        means: Array | None = None,
    ) -> tuple[Array, Array]:
        """ΦᵀcΦ_new (m, new) and Φ_newᵀB (new, b), for the features φ_z √s_z of atoms, the last `new` new.

        Features are less U @ means, for U (n, r) and means (r, m).
        """
        products, root = self._roots(atoms)
        U = np.empty((self.n, 0)) if U is None else U
        shift = np.empty((0, len(root))) if means is None else means / np.where(root > 0.0, root, 1.0)
        cross, linear = self.source.sums(Moments(factors_of(products, self.parts.r), new, shift), c, B, U)
        own = root[len(root) - new :]
        return cross * root[:, None] * own, linear * own[:, None]

    def scores(self, atoms: Sequence[Atom], B: Array) -> Array:
        """ΦᵀB (m, b)."""
        products, root = self._roots(atoms)
        (found,) = self.source.sums(Scores(factors_of(products, self.parts.r)), B)
        return np.asarray(found * root[:, None])

    def decisions(self, atoms: Sequence[Atom], w: Array) -> Array:
        """Σ_z φ_z √s_z w_z (n, k)."""
        if not atoms:
            return np.zeros((self.n, w.shape[1]))
        products, root = self._roots(atoms)
        return self.source.values(Decisions(factors_of(products, self.parts.r), root[:, None] * w))

    def largest(self, atoms: Sequence[Atom]) -> float:
        """max s_z φ_z² over all samples and these atoms."""
        products, root = self._roots(atoms)
        found = self.source.values(Largest(factors_of(products, self.parts.r)))
        return float((found.max(axis=0) * root**2).max(initial=0.0))

    def mean_squares(self, atoms: Sequence[Atom], weight: Array) -> Array:
        """(m,): Σ_t weight_t s_z φ_z(x_t)²."""
        products, root = self._roots(atoms)
        scores = Scores(factors_of(products, self.parts.r), squared=True)
        (found,) = self.source.sums(scores, weight[:, None])
        return np.asarray(found[:, 0] * root**2)

    def _roots(self, atoms: Sequence[Atom]) -> tuple[list[tuple[int, ...]], Array]:
        products = [_product(atom) for atom in atoms]
        return products, np.sqrt(self.scales(products))

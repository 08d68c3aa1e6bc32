"""A graph of kernels without its order: a family whose kernels can be listed, and nothing else asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..grams import FactorGram, Gram
from ..kernels import Fitted
from .base import Array, Atom, Oracle
from .dags import Hierarchy


class GraphOracle(Oracle):
    """The nodes of a graph as atoms; which kernel is above which does not matter to a plain list."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.n, self.size = hierarchy.n, float(hierarchy.count)
        self.rank_one = isinstance(hierarchy.gram(hierarchy.roots[:1]), FactorGram)

    def name(self, atom: Atom) -> str:
        return self.hierarchy.name(atom)

    def kernel(self, atom: Atom) -> Fitted:
        return self.hierarchy.kernel(atom)

    def atoms(self) -> Iterator[Atom]:
        return self.hierarchy.nodes()

    def gram(self, atoms: Sequence[Atom]) -> Gram:
        return self.hierarchy.gram(atoms)

    def quad(self, A: Array, atoms: Sequence[Atom]) -> Array:
        return np.asarray(self.hierarchy.quad(A, atoms))

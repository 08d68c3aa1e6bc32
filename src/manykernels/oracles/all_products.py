"""All products of columns at once, on blocks of rows, for solvers that give weight to every one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ._monomials import Monomials
from ._parts import Product
from .base import Array


@dataclass(frozen=True)
class AllProducts:
    """The features φ_z = √s_z Π_{j∈z} x_j of all products z, by degree and in the order of `Monomials`.

    roots[d] holds √s_z of the products of degree d.
    """

    order: Monomials
    roots: Sequence[Array]

    @property
    def size(self) -> int:
        """How many there are."""
        return sum(root.size for root in self.roots)

    def products(self) -> list[Product]:
        """All of them, as tuples of columns."""
        return [z for d in range(len(self.roots)) for z in self.order.products(d)]

    def on(self, X: Array) -> Block:
        """Their features on the rows of a block."""
        return Block(self, self.order.on(X))

    def by_degree(self, w: Array) -> list[Array]:
        """The rows of w (products, k), apart for each degree."""
        return np.split(w, np.cumsum([root.size for root in self.roots])[:-1])


@dataclass(frozen=True)
class Block:
    """All products on some rows. Prefixes of products are made once for all questions."""

    all: AllProducts
    own: Monomials

    def scores(self, A: Array) -> Array:
        """(products, k): Φᵀ A."""
        found = np.empty((self.all.size, A.shape[1]))
        constant, *parts = self.all.by_degree(found)
        constant[:] = A.sum(axis=0)
        for d, place, sums in self.own.sums(A):
            parts[d - 1][place : place + sums.shape[1]] = sums.T
        found *= np.concatenate(self.all.roots)[:, None]
        return found

    def decisions(self, w: Array) -> Array:
        """(rows, k): Φ w."""
        constant, *parts = self.all.by_degree(np.concatenate(self.all.roots)[:, None] * w)
        return self.own.values(parts) + constant

    def diagonal(self, theta: Array) -> Array:
        """(rows,): Σ_z θ_z φ_z(x)², the diagonal of K_θ."""
        constant, *parts = self.all.by_degree((np.concatenate(self.all.roots) ** 2 * theta)[:, None])
        return np.asarray((self.own.on(self.own.X**2).values(parts) + constant)[:, 0])


@dataclass(frozen=True)
class WholeScores:
    """Φᵀ A of a block: for sums over all rows."""

    all: AllProducts

    def __call__(self, X: Array, A: Array) -> list[Array]:
        return [self.all.on(X).scores(A)]


@dataclass(frozen=True)
class WholeDecisions:
    """Φ w of a block: for values on all rows."""

    all: AllProducts
    w: Array

    def __call__(self, X: Array) -> Array:
        return self.all.on(X).decisions(self.w)


def largest_values(X: Array) -> Array:
    """(1, r): the largest absolute value of each column of a block."""
    return np.asarray(np.abs(X).max(axis=0, keepdims=True))

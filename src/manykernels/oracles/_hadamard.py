"""All products of up to D kernel matrices, scored by matrix products.

The prefix P of a product, all factors but the last two, leaves a table ⟨M∘P∘B_i, B_j⟩ over all pairs that
continue it: one product of an (r, n²) matrix with another, taken over parts of the entries, so that nothing
larger than a few matrices of n × n is formed beside the base kernels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._parts import Array, Product, StackParts

_WORK = 1 << 17  # entries of M∘P∘B that are formed together
_PAIR_ROWS = 32  # of a table of pairs that are formed together


class Hadamard:
    """Products of the matrices B_j of degree 1 … D and the constant: q_z = s_z ⟨M, Π_{j∈z} B_j⟩, M = A Aᵀ.

    s_z = scale[d] · c_z^exponent for a product of degree d that c_z orders of its factors give, divided by
    Σ_t weight_t Π_j (B_j)_tt where `weight` is given: each product then has a mean diagonal of one. `own` is
    ρ_z of single products, by whose squares they are divided.
    """

    def __init__(
        self,
        parts: StackParts,
        degree: int,
        *,
        scale: Array,
        exponent: float = 0.0,
        weight: Array | None = None,
        interactions_only: bool = False,
        own: Callable[[Product], float] | None = None,
    ) -> None:
        self.own = own
        self._known: dict[tuple[Product, int], Array] = {}
        self.parts, self.degree, self.scale = parts, degree, scale
        self.exponent, self.weight, self.skip = exponent, weight, int(interactions_only)
        self.diagonals = np.ascontiguousarray(parts.B[:, parts.on_diagonal])

    def best(self, A: Array, k: int) -> tuple[list[Product], Array]:
        """The k products of the largest q and their q, in falling order."""
        return self._best(self.parts.point(A), k, signed=False)

    def best_against(self, S: Array, k: int) -> tuple[list[Product], Array]:
        """The same for s_z ⟨S, Π_{j∈z} B_j⟩ with any symmetric S."""
        return self._best(self.parts.packed(S), k, signed=True)

    def _best(self, m: Array, k: int, signed: bool) -> tuple[list[Product], Array]:
        products: list[Product] = []
        values = np.empty(0)
        lowest = -np.inf if signed else -0.5  # above what stands for no product
        for prefix, first, q in self._tables(m, signed):
            floor = values[-1] if values.size == k else lowest
            where = np.flatnonzero(q.ravel() > floor)
            if where.size > k:
                where = where[np.argpartition(-q.ravel()[where], k - 1)[:k]]
            if where.size == 0:
                continue
            index = np.argwhere(np.ones_like(q))[where] + first
            products += [(*prefix, *map(int, row)) for row in index]
            values = np.concatenate([values, q.ravel()[where]])
            order = np.argsort(-values, kind="stable")[:k]
            products, values = [products[i] for i in order], values[order]
        return products, values

    def power_sum(self, A: Array, power: float) -> float:
        """Σ_z q_z^power over all products."""
        return float(sum(float(np.sum(q[q > 0.0] ** power)) for _, _, q in self._tables(self.parts.point(A))))

    def _tables(self, m: Array, signed: bool = False) -> Iterator[tuple[Product, int, Array]]:
        """(prefix, first, q): q of products (), (j,) or prefix + (i, j), with i and j counted from `first`.

        Entries of a table that stand for no product are −1, and −∞ where q may be negative (`signed`).
        """
        choose = self._choose()
        yield (), 0, self._scaled((), 0, np.array(m.sum()), signed)
        yield (), 0, self._scaled((), 0, self.parts.B @ m, signed)
        for d in range(2, self.degree + 1):
            for prefix in choose(range(self.parts.r), d - 2):
                first = prefix[-1] + self.skip if prefix else 0
                if self.parts.r - first >= 1 + self.skip:
                    yield prefix, first, self._scaled(prefix, first, self._pairs(m, prefix, first), signed)

    def _choose(self) -> Any:
        return itertools.combinations if self.skip else itertools.combinations_with_replacement

    def _pairs(self, m: Array, prefix: Product, first: int) -> Array:
        """⟨M∘P∘B_i, B_j⟩ for all first ≤ i ≤ j, and some others: half of a symmetric table will do."""
        B = self.parts.B[first:]
        weights = m * self.parts.triangle(prefix) if prefix else m
        table = np.zeros((len(B), len(B)))
        step = max(64, _WORK // len(B))
        for lo in range(0, B.shape[1], step):
            part = B[:, lo : lo + step]
            left = part * weights[lo : lo + step]
            for i in range(0, len(B), _PAIR_ROWS):
                table[i : i + _PAIR_ROWS, i:] += left[i : i + _PAIR_ROWS] @ part[i:].T
        return table

    def _scaled(self, prefix: Product, first: int, table: Array, signed: bool) -> Array:
        """q from inner products; no product below the diagonal of pairs, nor on it for interactions."""
        d = len(prefix) + table.ndim
        q = (table if signed else np.maximum(table, 0.0)) * self.scale[d]
        if self.exponent != 0.0 and table.ndim == 2:
            q *= self._orders(prefix, first, len(table)) ** self.exponent
        if self.weight is not None:
            size = self._sizes(prefix, first, table.ndim)
            q = np.asarray(np.divide(q, size, out=np.zeros_like(q), where=size > 0.0))
        if self.own is not None:
            q = q / self._squares(prefix, first, table)
        if table.ndim == 2:
            q[np.tril_indices(len(q), self.skip - 1)] = -np.inf if signed else -1.0
        return np.asarray(q)

    def _squares(self, prefix: Product, first: int, table: Array) -> Array:
        """ρ_z² of the products of a table, 1 for entries that stand for none; kept from call to call."""
        assert self.own is not None
        key = (prefix, table.ndim)
        if key not in self._known:
            rho = np.ones(table.shape)
            for at in np.ndindex(table.shape):
                if table.ndim < 2 or at[1] >= at[0] + self.skip:
                    rho[at] = self.own((*prefix, *(first + i for i in at)))
            self._known[key] = np.square(rho)
        return self._known[key]

    def _orders(self, prefix: Product, first: int, width: int) -> Array:
        """c_z = d!/Π m_j! of the prefix continued by i ≤ j; of the prefix, only its last factor can recur."""
        repeats = [len(list(run)) for _, run in itertools.groupby(prefix)]
        again = np.ones(width)
        if prefix and not self.skip:
            again[0] += repeats[-1]
        table = np.outer(again, again)
        table[np.diag_indices(width)] = again * (again + 1.0)
        c = math.factorial(len(prefix) + 2) / math.prod(math.factorial(m) for m in repeats)
        return np.asarray(c / table)

    def _sizes(self, prefix: Product, first: int, ndim: int) -> Array:
        """Σ_t weight_t Π_j (B_j)_tt of the products of a table."""
        assert self.weight is not None
        if ndim == 0:
            return np.asarray(self.weight.sum())
        if ndim == 1:
            return np.asarray(self.diagonals @ self.weight)
        D = self.diagonals[first:]
        return np.asarray((D * (self.weight * np.prod(self.diagonals[list(prefix)], axis=0))) @ D.T)

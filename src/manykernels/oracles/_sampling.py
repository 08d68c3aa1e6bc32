"""Products drawn in proportion to the gradient, without looking at all of them (Afkanpour 2013, Alg. 3).

What all products below a prefix weigh together is ⟨M∘P, F⟩ for the prefix's product P, M = A Aᵀ and a
symmetric function F of the base kernels. A draw is made factor by factor, and all draws of a batch together:
those that share a prefix share its cost, a product of matrices of O(r n²) or less. Where base kernels are
columns, a factor is proposed by a bound of these sums and kept or not (``_majorants.py``): that takes a few
products of an n × n matrix with all draws of the batch, for each factor.

A point of several columns is a sum of points: a draw first chooses the column it starts from.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from .._fast.threads import blas_threads
from ._majorants import Places
from ._parts import Array, FactorParts, Parts, Product, Start

Pending = list[tuple[Start, int]]  # what goes on, and how often each
Steps = Iterator[tuple[Start, int, int, int]]
_SMALL = 1000  # samples below which threads of BLAS wait for each other
_TOGETHER = 256  # starts whose tables are formed together
_REPEATED = 0.1  # of draws with all orders that must be sets, so that the others are thrown away


class Sampler:
    """Draws of products of at most D of r base kernels, with prior[d] in front of those of degree d.

    Three distributions, where q°_z = prior[d] ⟨M, Π_{j∈z} K_j⟩ and d is the degree of z:

        orders      c_z q°_z / Σ_d prior[d] ⟨M, S^{∘d}⟩     every order of z's factors counts
        multisets   q°_z / Σ_d prior[d] ⟨M, h_d⟩            every z counts once
        sets        the same with e_d                       no factor twice

    The first is that of Afkanpour 2013, Alg. 3.

    S = Σ_j K_j; h_d and e_d are the complete and the elementary symmetric functions of the K_j, by Newton's
    identities from their Hadamard power sums p_i = Σ_j K_j^{∘i}.
    """

    def __init__(self, parts: Parts, prior: Array) -> None:
        self.parts, self.prior, self.D = parts, prior, prior.size - 1
        self._functions: dict[str, list[Array | None]] = {}

    # -- symmetric functions ----------------------------------------------------------------------
    def functions(self, kind: str) -> list[Array | None]:
        """S^{∘d}, h_d or e_d for d = 0 … D; the first is all ones, and None."""
        if kind not in self._functions:
            F: list[Array | None] = [None, self.parts.power_sum(1)]
            for d in range(2, self.D + 1):
                F.append(self._next(kind, F, d))
            self._functions[kind] = F[: self.D + 1]
        return self._functions[kind]

    def _next(self, kind: str, F: list[Array | None], d: int) -> Array:
        """S^{∘d} = S∘S^{∘(d−1)}, d·h_d = Σ_i p_i∘h_{d−i}, d·e_d = Σ_i (−1)^{i−1} p_i∘e_{d−i}."""
        if kind == "orders":
            return _times(self.parts.power_sum(1), F[d - 1])
        sign = -1.0 if kind == "sets" else 1.0
        terms = [sign ** (i - 1) * _times(self.parts.power_sum(i), F[d - i]) for i in range(1, d + 1)]
        return np.asarray(sum(terms) / d)

    def totals(self, point: Array, kind: str) -> Array:
        """(D + 1, columns of the point): the total of each degree from each column."""
        masses = np.array([self.parts.mass(point, F) for F in self.functions(kind)])
        return np.asarray(np.maximum(self.prior[:, None] * masses, 0.0))

    def by_degree(self, point: Array, kind: str) -> Array:
        """The total of each degree, whose sum is the normaliser of a distribution."""
        return np.asarray(self.totals(point, kind).sum(axis=1))

    # -- draws ----------------------------------------------------------------------------------
    def draw(
        self, point: Array, totals: Array, size: int, kind: str, rng: np.random.RandomState
    ) -> Counter[Product]:
        """`size` products with replacement, and how often each was drawn, from their `totals`."""
        counts: Places = rng.multinomial(size, _normalised(totals.ravel())).astype(np.intp)
        counts = counts.reshape(totals.shape)
        drawn: Counter[Product] = Counter()
        with blas_threads(1 if self.parts.n < _SMALL else None):
            if kind == "sets":
                counts = self._without_repetition(point, totals, counts, drawn, rng)
            drawn.update(self.complete(point, counts, kind, rng))
        return drawn

    def complete(
        self, point: Array, counts: Places, kind: str, rng: np.random.RandomState
    ) -> Counter[Product]:
        """counts[d, k] products of degree d that start from column k."""
        step = {"orders": self._by_order, "multisets": self._by_multiset, "sets": self._by_set}[kind]
        # What is left to draw: pending[e] are starts, with how often they go on by e more factors.
        pending: list[Counter[Start]] = [
            Counter({(k, ()): int(c) for k, c in enumerate(row) if c}) for row in counts
        ]
        for e in range(self.D, 0, -1):
            starts = sorted(pending[e].items())
            for lo in range(0, len(starts), _TOGETHER):
                for (k, prefix), j, times, count in step(point, starts[lo : lo + _TOGETHER], e, rng):
                    pending[e - times][k, tuple(sorted((*prefix, *[j] * times)))] += count
        drawn: Counter[Product] = Counter()
        for (_, z), count in sorted(pending[0].items()):
            drawn[z] += count
        return drawn

    def _without_repetition(
        self, point: Array, totals: Array, counts: Places, drawn: Counter[Product], rng: np.random.RandomState
    ) -> Places:
        """Sets as draws with all orders in which no factor occurs twice, where enough are; the counts left.

        A set of d factors has d! orders, as many as every other one: those drawn are in proportion to q.
        """
        orders = self.totals(point, "orders")
        factorials = np.array([math.factorial(d) for d in range(self.D + 1)])
        often = totals.sum(axis=1) * factorials >= _REPEATED * orders.sum(axis=1)
        wanted = np.where(often, counts.sum(axis=1), 0)
        while wanted.any():
            asked = [rng.multinomial(c, _normalised(row)) for c, row in zip(wanted, orders, strict=True)]
            for z, count in self.complete(point, np.array(asked), "orders", rng).items():
                if len(set(z)) == len(z):
                    drawn[z] += count
                    wanted[len(z)] -= count
        return np.where(often[:, None], 0, counts)

    def _by_order(self, point: Array, starts: Pending, e: int, rng: np.random.RandomState) -> Steps:
        """π(j) ∝ ⟨M∘P, K_j∘S^{∘(e−1)}⟩ (Afkanpour 2013, Alg. 3, line 10); e factors follow the starts."""
        H = self.functions("orders")[e - 1]
        if H is not None:
            counts = np.array([count for _, count in starts])
            chosen, factors, left = self.parts.propose(point, _first(starts), counts, H, rng)
            for i, j in zip(chosen, factors, strict=True):
                yield starts[i][0], int(j), 1, 1
            again = np.bincount(left, minlength=len(starts))
            starts = [(start, int(c)) for (start, _), c in zip(starts, again, strict=True) if c]
        if starts:
            yield from self._by_masses(point, starts, H, rng)

    def _by_masses(self, point: Array, starts: Pending, H: Array | None, rng: np.random.RandomState) -> Steps:
        """From the masses of all base kernels.

        Where starts are many, first a block of about √r base kernels is drawn and then one of them, which
        takes O(√r n²) for each start.
        """
        if H is None or not self.parts.blocks_pay(len(starts), H):
            yield from _steps(starts, self.parts.masses(point, _first(starts), H), rng)
            return
        chosen: dict[int, Pending] = defaultdict(list)
        for start, b, _, count in _steps(starts, self.parts.block_masses(point, _first(starts), H), rng):
            chosen[b].append((start, count))
        for b in sorted(chosen):
            table = self.parts.within(point, _first(chosen[b]), H, b)
            for start, j, _, count in _steps(chosen[b], table, rng):
                yield start, self.parts.edges[b] + j, 1, count

    def _by_multiset(self, point: Array, starts: Pending, e: int, rng: np.random.RandomState) -> Steps:
        """π(i, j) ∝ ⟨M∘P, K_j^{∘i}∘h_{e−i}⟩: i times the factor j at once.

        A product of degree e comes about in Σ_j m_j = e ways, as often as every other one, so that no draw
        needs to be rejected for the orders of its factors.
        """
        h = self.functions("multisets")
        tables = [self.parts.masses(point, _first(starts), h[e - i], i) for i in range(1, e + 1)]
        yield from _steps(starts, np.stack(tables, axis=1), rng)

    def _by_set(self, point: Array, starts: Pending, e: int, rng: np.random.RandomState) -> Steps:
        """π(j) ∝ ⟨M∘P, K_j∘E_{e−1}⟩ for j outside the prefix, E without the prefix's factors and without j.

        Taking j out of e_m gives e_m^{(−j)} = Σ_i (−1)^i K_j^{∘i}∘e_{m−i}.
        """
        for start, count in starts:
            prefix = list(start[1])
            if e == 2 and isinstance(self.parts, FactorParts) and self.parts.r <= self.parts.n:
                table = self.parts.pairs(point, start)
                table[:, prefix] = 0.0
                np.fill_diagonal(table, 0.0)
                pi = table.sum(axis=1)
            else:
                pi = self._set_masses(point, start, e)
            pi[prefix] = 0.0
            yield from _steps([(start, count)], pi[None], rng)

    def _set_masses(self, point: Array, start: Start, e: int) -> Array:
        E = self.functions("sets")[:e]
        for j in start[1]:
            E = self._without(E, j)
        terms = [(-1.0) ** i * self.parts.masses(point, [start], E[e - 1 - i], i + 1)[0] for i in range(e)]
        return np.asarray(np.sum(terms, axis=0))

    def _without(self, E: list[Array | None], j: int) -> list[Array | None]:
        """e_m^{(−j)} = e_m − K_j∘e_{m−1}^{(−j)}."""
        K = self.parts.entries(j)
        fewer: list[Array | None] = [None]
        for e in E[1:]:
            assert e is not None
            fewer.append(e - _times(K, fewer[-1]))
        return fewer


def draw_uniformly(
    r: int, counts: list[int], sets: bool, size: int, rng: np.random.RandomState
) -> list[Product]:
    """Products drawn with equal probability, from how many there are of each degree; exact for any number."""
    total = sum(counts)
    products = []
    for _ in range(size):
        place, d = _below(total, rng), 0
        while place >= counts[d]:
            place, d = place - counts[d], d + 1
        positions = _subset(r if sets else r + d - 1, d, rng)
        # Sets of d among r + d − 1 are multisets of d among r, by shifting the i-th smallest down by i.
        products.append(tuple(p if sets else p - i for i, p in enumerate(positions)))
    return products


def _below(total: int, rng: np.random.RandomState) -> int:
    """A whole number below `total`, which may exceed 64 bits, with equal probability."""
    bits = total.bit_length()
    while True:
        number = int.from_bytes(rng.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if number < total:
            return number


def _subset(n: int, d: int, rng: np.random.RandomState) -> list[int]:
    """d of range(n), sorted, all subsets with equal probability (Floyd's algorithm)."""
    chosen: set[int] = set()
    for last in range(n - d, n):
        candidate = int(rng.randint(last + 1))
        chosen.add(last if candidate in chosen else candidate)
    return sorted(chosen)


def _steps(starts: Pending, tables: Array, rng: np.random.RandomState) -> Steps:
    """(start, j, i, count): how often each start goes on by i times the factor j, by tables over (i, j)."""
    for (start, count), table in zip(starts, tables, strict=True):
        drawn = rng.multinomial(count, _normalised(table.ravel()))
        for place in np.flatnonzero(drawn):
            i, j = divmod(int(place), table.shape[-1])
            yield start, j, i + 1, int(drawn[place])


def _first(starts: Pending) -> list[Start]:
    return [start for start, _ in starts]


def _normalised(weights: Array) -> Array:
    """Probabilities from weights, of which rounding may have left some below zero."""
    weights = np.maximum(weights, 0.0)
    total = weights.sum()
    return np.asarray(weights / total if total > 0.0 else np.full(weights.size, 1.0 / weights.size))


def _times(F: Array, G: Array | None) -> Array:
    return F if G is None else F * G

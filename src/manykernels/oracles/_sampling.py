"""Products drawn in proportion to the gradient, without looking at all of them (000 Alg. 3).

What all products below a prefix weigh together is ⟨M∘P, F⟩ for the prefix's product P, M = A Aᵀ and a
symmetric function F of the base kernels. A draw is made factor by factor, and all draws of a batch together:
those that share a prefix share its cost, a product of matrices of O(r n²) or less.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from .._fast.threads import blas_threads
from ._parts import Array, FactorParts, Parts, Product

Pending = list[tuple[Product, int]]  # prefixes, and how often each goes on
Steps = Iterator[tuple[Product, int, int, int]]
_SMALL = 1000  # samples below which threads of BLAS wait for each other
_TOGETHER = 256  # prefixes whose tables are formed together


class Sampler:
    """Draws of products of at most D of r base kernels, with prior[d] in front of those of degree d.

    Three distributions, where q°_z = prior[d] ⟨M, Π_{j∈z} K_j⟩ and d is the degree of z:

        orders      c_z q°_z / Σ_d prior[d] ⟨M, S^{∘d}⟩     every order of z's factors counts: 000 Alg. 3
        multisets   q°_z / Σ_d prior[d] ⟨M, h_d⟩            every z counts once
        sets        the same with e_d                       no factor twice

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

    def by_degree(self, point: Array, kind: str) -> Array:
        """The total of each degree, whose sum is the normaliser of a distribution."""
        masses = [self.parts.mass(point, F) for F in self.functions(kind)]
        return np.asarray(np.maximum(self.prior * np.array(masses), 0.0))

    # -- draws ----------------------------------------------------------------------------------
    def draw(
        self, point: Array, totals: Array, size: int, kind: str, rng: np.random.RandomState
    ) -> Counter[Product]:
        """`size` products with replacement, and how often each was drawn, from the `totals` by degree."""
        step = {"orders": self._by_order, "multisets": self._by_multiset, "sets": self._by_set}[kind]
        # What is left to draw: pending[e] are prefixes, with how often they go on by e more factors.
        counts = rng.multinomial(size, _normalised(totals))
        pending: list[Counter[Product]] = [Counter({(): int(c)}) if c else Counter() for c in counts]
        with blas_threads(1 if self.parts.n < _SMALL else None):
            for e in range(self.D, 0, -1):
                prefixes = sorted(pending[e].items())
                for lo in range(0, len(prefixes), _TOGETHER):
                    for prefix, j, times, count in step(point, prefixes[lo : lo + _TOGETHER], e, rng):
                        pending[e - times][tuple(sorted((*prefix, *[j] * times)))] += count
        return pending[0]

    def _by_order(self, point: Array, prefixes: Pending, e: int, rng: np.random.RandomState) -> Steps:
        """π(j) ∝ ⟨M∘P, K_j∘S^{∘(e−1)}⟩ (000 Alg. 3, line 10), for all prefixes that e factors follow.

        Where prefixes are many, first a block of about √r base kernels is drawn and then one of them, which
        takes O(√r n²) for each prefix.
        """
        H = self.functions("orders")[e - 1]
        if H is None or not self.parts.blocks_pay(len(prefixes), H):
            yield from _steps(prefixes, self.parts.masses(point, _first(prefixes), H), rng)
            return
        chosen: dict[int, Pending] = defaultdict(list)
        for prefix, b, _, count in _steps(prefixes, self.parts.block_masses(point, _first(prefixes), H), rng):
            chosen[b].append((prefix, count))
        for b in sorted(chosen):
            for prefix, j, _, count in _steps(
                chosen[b], self.parts.within(point, _first(chosen[b]), H, b), rng
            ):
                yield prefix, self.parts.edges[b] + j, 1, count

    def _by_multiset(self, point: Array, prefixes: Pending, e: int, rng: np.random.RandomState) -> Steps:
        """π(i, j) ∝ ⟨M∘P, K_j^{∘i}∘h_{e−i}⟩: i times the factor j at once.

        A product of degree e comes about in Σ_j m_j = e ways, as often as every other one, so that no draw
        needs to be rejected for the orders of its factors.
        """
        h = self.functions("multisets")
        tables = [self.parts.masses(point, _first(prefixes), h[e - i], i) for i in range(1, e + 1)]
        yield from _steps(prefixes, np.stack(tables, axis=1), rng)

    def _by_set(self, point: Array, prefixes: Pending, e: int, rng: np.random.RandomState) -> Steps:
        """π(j) ∝ ⟨M∘P, K_j∘E_{e−1}⟩ for j outside the prefix, E without the prefix's factors and without j.

        Taking j out of e_m gives e_m^{(−j)} = Σ_i (−1)^i K_j^{∘i}∘e_{m−i}.
        """
        for prefix, count in prefixes:
            if e == 2 and isinstance(self.parts, FactorParts) and self.parts.r <= self.parts.n:
                table = self.parts.pairs(point, prefix)
                table[:, list(prefix)] = 0.0
                np.fill_diagonal(table, 0.0)
                pi = table.sum(axis=1)
            else:
                pi = self._set_masses(point, prefix, e)
            pi[list(prefix)] = 0.0
            yield from _steps([(prefix, count)], pi[None], rng)

    def _set_masses(self, point: Array, prefix: Product, e: int) -> Array:
        E = self.functions("sets")[:e]
        for j in prefix:
            E = self._without(E, j)
        terms = [(-1.0) ** i * self.parts.masses(point, [prefix], E[e - 1 - i], i + 1)[0] for i in range(e)]
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


def _steps(prefixes: Pending, tables: Array, rng: np.random.RandomState) -> Steps:
    """(prefix, j, i, count): how often each prefix goes on by i times the factor j, by tables over (i, j)."""
    for (prefix, count), table in zip(prefixes, tables, strict=True):
        drawn = rng.multinomial(count, _normalised(table.ravel()))
        for place in np.flatnonzero(drawn):
            i, j = divmod(int(place), table.shape[-1])
            yield prefix, j, i + 1, int(drawn[place])


def _first(prefixes: Pending) -> list[Product]:
    return [prefix for prefix, _ in prefixes]


def _normalised(weights: Array) -> Array:
    """Probabilities from weights, of which rounding may have left some below zero."""
    weights = np.maximum(weights, 0.0)
    total = weights.sum()
    return np.asarray(weights / total if total > 0.0 else np.full(weights.size, 1.0 / weights.size))


def _times(F: Array, G: Array | None) -> Array:
    return F if G is None else F * G

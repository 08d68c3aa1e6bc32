"""All products of up to D columns of X, scored by matrix products.

A product of degree d is a product of degree d − 1 (its prefix) times a column that is not before the prefix's
last one. Sorted by their last column, the prefixes with last column g make one matrix Z_g, and
Z_gᵀ diag(α) X_{≥g} holds Σ_t α_t Π_j x_tj for all products that continue them: r matrix products a degree,
which is as fast as the machine multiplies. Scores come in blocks that are read and forgotten, so memory does
not grow with the number of products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._groups import Groups, excluded

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_CACHED = 1 << 28  # bytes of prefix products that are kept between calls, at most
_STRIP = 64  # prefixes that are continued together, where they have different last columns
_KNOWN = 1 << 25  # products whose scales are kept between calls
_BLOCK = 1 << 19  # scores that are looked at together
_PREFIXES = 1 << 22  # entries of the prefix products that are formed together, where they are not kept


@dataclass(frozen=True)
class _Group:
    """Prefixes lo … hi−1 of one degree with the same last column, and the first column they go on with."""

    lo: int
    hi: int
    first: int


class Monomials:
    """Products of columns of X (n, r) of degree 1 … D and the constant: q_z = s_z Σ_k (Σ_t α_tk Π_j x_tj)².

    s_z = scale[d] · c_z^exponent for a product of degree d that c_z orders of its factors give, divided by
    Σ_t weight_t (Π_j x_tj)² where `weight` is given: each product then has a mean square of one. It is 0 for
    products of two columns of one of the `groups`, and powers of one. `own` is ρ_z of single products, by
    whose squares they are divided.
    """

    def __init__(
        self,
        X: Array,
        degree: int,
        *,
        scale: Array,
        exponent: float = 0.0,
        weight: Array | None = None,
        interactions_only: bool = False,
        room: float = np.inf,
        groups: Groups | None = None,
        own: Callable[[tuple[int, ...]], float] | None = None,
    ) -> None:
        self.groups, self.own = groups, own
        self.X, self.Xt = np.ascontiguousarray(X), np.ascontiguousarray(X.T)
        self.room = min(room, _CACHED)
        self.degree, self.scale, self.exponent, self.weight = degree, scale, exponent, weight
        self.skip = int(interactions_only)
        self.prefixes: list[NDArray[np.int32]] = [np.empty((1, 0), dtype=np.int32)]
        for _ in range(degree - 1):
            self.prefixes.append(self._longer(self.prefixes[-1]))
        self._places = {d: self._places_of(d) for d in range(1, degree + 1)}
        self._products: dict[int, Array] = {}
        self._scales: dict[int, Array] = {}

    def on(self, X: Array) -> Monomials:
        """The same products, in the same order, on other rows."""
        found = copy(self)
        found.X, found.Xt = np.ascontiguousarray(X), np.ascontiguousarray(X.T)
        found._products, found._scales = {}, {}
        return found

    # -- the order of products --------------------------------------------------------------------
    def _longer(self, shorter: NDArray[np.int32]) -> NDArray[np.int32]:
        """All products of one degree more, sorted by their last column."""
        r = self.X.shape[1]
        last = shorter[:, -1] if shorter.shape[1] else np.full(1, -self.skip)
        counts = [int(np.searchsorted(last, g - self.skip, side="right")) for g in range(r)]
        heads = np.concatenate([shorter[:count] for count in counts])
        return np.column_stack([heads, np.repeat(np.arange(r, dtype=np.int32), counts)])

    def _places_of(self, d: int) -> tuple[list[_Group], Index]:
        """The prefixes of products of degree d, by their last column; and where their products begin."""
        prefixes, r = self.prefixes[d - 1], self.X.shape[1]
        groups = [_Group(0, 1, 0)]
        if d > 1:
            edges = np.searchsorted(prefixes[:, -1], np.arange(r + 1)).tolist()
            groups = [_Group(edges[g], edges[g + 1], g + self.skip) for g in range(r - self.skip)]
            groups = [group for group in groups if group.lo < group.hi]
        sizes = [(group.hi - group.lo) * (r - group.first) for group in groups]
        return groups, np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)

    def count(self, d: int) -> int:
        """Return how many products of degree d there are."""
        r = self.X.shape[1]
        return math.comb(r, d) if self.skip else math.comb(r + d - 1, d)

    # -- scores ---------------------------------------------------------------------------------
    def _factors(self, d: int, group: _Group) -> Iterator[tuple[int, int, Array]]:
        """(lo, hi, Z): the values (hi − lo, n) of prefixes of products of degree d, in parts."""
        n = max(len(self.X), 1)
        if self._is_stored(d):
            yield group.lo, group.hi, self._products[d][group.lo : group.hi]
            return
        step = max(1, _PREFIXES // n)
        for lo in range(group.lo, group.hi, step):
            hi = min(lo + step, group.hi)
            yield lo, hi, self._values(self.prefixes[d - 1][lo:hi])

    def _is_stored(self, d: int) -> bool:
        """Tell whether all prefixes of products of degree d are kept; makes them, if there is room."""
        if d not in self._products and self.prefixes[d - 1].shape[0] * len(self.X) * 8 <= self.room:
            self._products[d] = self._grown(d)
            self.room -= self._products[d].nbytes
        return d in self._products

    def _grown(self, d: int) -> Array:
        """The values of all prefixes of products of degree d, from those of the degree below.

        Sorted by their last column g, they are the first of the shorter ones times column g.
        """
        if d < 3 or d - 1 not in self._products:
            return self._values(self.prefixes[d - 1])
        shorter, Z = self._products[d - 1], np.empty((len(self.prefixes[d - 1]), len(self.X)))
        edges = np.searchsorted(self.prefixes[d - 1][:, -1], np.arange(len(self.Xt) + 1)).tolist()
        for x, lo, hi in zip(self.Xt, edges[:-1], edges[1:], strict=True):
            np.multiply(shorter[: hi - lo], x, out=Z[lo:hi])
        return Z

    def _values(self, products: NDArray[np.int32]) -> Array:
        """(len(products), n): the products of columns."""
        Z = np.ones((len(products), len(self.X)))
        for column in products.T:
            Z *= self.Xt[column]
        return Z

    def _blocks(self, A: Array) -> Iterator[tuple[int, int, Array]]:
        """(degree, place of the first product, q of consecutive products of that degree)."""
        yield 0, 0, self._constant(A)
        for d, place, scores in self.sums(A):
            yield d, place, self._squares(d, place, scores)

    def sums(self, A: Array) -> Iterator[tuple[int, int, Array]]:
        """(degree, place of the first, Σ_t α_tk Π_j x_tj) of consecutive products of degree 1 … D.

        The sums (k, products) are written over when the next ones are asked for.
        """
        AX = [a[:, None] * self.X for a in A.T]
        for d in range(1, self.degree + 1):
            buffer, filled, place = np.empty((len(AX), _BLOCK)), 0, 0
            for strip, Z in self._strips(d):
                size = sum((group.hi - group.lo) * (self.X.shape[1] - group.first) for group in strip)
                if filled and filled + size > buffer.shape[1]:
                    yield d, place, buffer[:, :filled]
                    place, filled = place + filled, 0
                if size > buffer.shape[1]:
                    buffer = np.empty((len(AX), size))
                for ax, out in zip(AX, buffer, strict=True):
                    _continued(strip, Z, ax, out[filled : filled + size])
                filled += size
            if filled:
                yield d, place, buffer[:, :filled]

    def values(self, w: Sequence[Array]) -> Array:
        """(n, k): Σ_z w_z Π_j x_tj over the products of degree 1 … D, w[d − 1] (products, k) in their order.

        The products that continue the prefixes Z_g add Σ_j x_j ∘ (Z_gᵀW_g)_j, j ≥ g: as many operations as
        their sums take.
        """
        f = np.zeros((len(self.X), w[0].shape[1]))
        for d, coefficients in enumerate(w, start=1):
            place = 0
            for strip, Z in self._strips(d):
                for group in strip:
                    X = self.X[:, group.first :]
                    own = Z[group.lo - strip[0].lo : group.hi - strip[0].lo].T
                    size = own.shape[1] * X.shape[1]
                    W = coefficients[place : place + size].T.reshape(-1, own.shape[1], X.shape[1])
                    for out, table in zip(f.T, W, strict=True):
                        out += np.einsum("tj,tj->t", own @ table, X)
                    place += size
        return f

    def _strips(self, d: int) -> Iterator[tuple[list[_Group], Array]]:
        """Consecutive groups of prefixes of degree d that are continued together, and their values.

        Groups of few prefixes come together: products of matrices are faster than those with single vectors.
        Of large ones come parts.
        """
        strip: list[_Group] = []
        stored = self._is_stored(d)
        for group in self._places[d][0]:
            if strip and group.hi - strip[0].lo > _STRIP:
                yield strip, self._products[d][strip[0].lo : strip[-1].hi]
                strip = []
            if stored and group.hi - group.lo <= _STRIP:
                strip.append(group)
                continue
            step = max(1, _BLOCK // (self.X.shape[1] - group.first))
            for lo, hi, Z in self._factors(d, group):
                for start in range(lo, hi, step):
                    stop = min(start + step, hi)
                    yield [_Group(start, stop, group.first)], Z[start - lo : stop - lo]
        if strip:
            yield strip, self._products[d][strip[0].lo : strip[-1].hi]

    def _constant(self, A: Array) -> Array:
        return self.scales(0) * float(np.sum(A.sum(axis=0) ** 2))

    def _squares(self, d: int, place: int, scores: Array) -> Array:
        q = np.square(scores[0], out=scores[0])
        for other in scores[1:]:
            q += np.square(other, out=other)
        q *= self._scales_at(d, place, q.size)
        return np.asarray(q)

    # -- scales ---------------------------------------------------------------------------------
    def scales(self, d: int) -> Array:
        """s_z of all products of degree d, in their order."""
        if d > 0:
            return np.broadcast_to(np.asarray(self._scales_at(d, 0, self.count(d)), float), self.count(d))
        s = self.scale[0] if self.weight is None else self.scale[0] / float(self.weight.sum())
        return np.array([s if self.own is None else s / self.own(()) ** 2])

    def _scales_at(self, d: int, place: int, size: int) -> Any:
        """s_z of so many consecutive products of degree d, or one number for all of them."""
        if self.weight is None and self.exponent == 0.0 and self.groups is None and self.own is None:
            return self.scale[d]
        return self._known_scales(d)[place : place + size]

    def _known_scales(self, d: int) -> Array:
        """s_z of all products of degree d, in their order; in single precision where they are very many."""
        if d not in self._scales:
            many = 8.0 * self.count(d) > min(8.0 * _KNOWN, self.room)
            s: Any = np.empty(self.count(d), dtype=np.float32 if many else np.float64)
            place = 0
            for group in self._places[d][0]:
                width = self.X.shape[1] - group.first
                for lo, hi, Z in self._factors(d, group):
                    part = np.full((hi - lo, width), self.scale[d])
                    if self.weight is not None:
                        squares = self._mean_squares(d, place, Z, group.first)
                        np.divide(part, squares, out=part, where=squares > 0.0)
                        part[squares <= 0.0] = 0.0
                    if self.exponent != 0.0:
                        part *= self._orders(self.prefixes[d - 1][lo:hi], group.first, width) ** self.exponent
                    if self.groups is not None:
                        columns = np.arange(group.first, group.first + width)
                        part[excluded(self.groups, self.prefixes[d - 1][lo:hi], columns)] = 0.0
                    if self.own is not None:
                        rho = [self.own(self.product(d, place + i)) for i in range(part.size)]
                        part /= np.square(rho).reshape(part.shape)
                    out = s[place : place + part.size]
                    out[:] = part.ravel()
                    if many:  # rounded up, so that the largest q remains a bound
                        np.nextafter(out, np.float32(np.inf), out=out, where=part.ravel() > 0.0)
                    place += part.size
            self._scales[d] = s
        return self._scales[d]

    def _mean_squares(self, d: int, place: int, Z: Array, first: int) -> Array:
        """(len(Z), width): Σ_t weight_t (Π_j x_tj)² of prefixes Z (…, n) continued by columns first, …"""
        assert self.weight is not None
        return np.asarray((Z**2 * self.weight) @ self.X[:, first:] ** 2)

    def _orders(self, prefixes: NDArray[np.int32], first: int, width: int) -> Array:
        """(len(prefixes), width): c_z = d!/Π m_j! of the prefixes continued by columns first, first + 1, …"""
        d = prefixes.shape[1] + 1
        runs = np.ones(len(prefixes))  # of the last column
        before = np.ones(len(prefixes))  # Π m_j! over the prefix
        length = np.ones(len(prefixes))
        for j in range(1, d - 1):
            same = prefixes[:, j] == prefixes[:, j - 1]
            length = np.where(same, length + 1.0, 1.0)
            before *= np.where(same, length, 1.0)
        runs = length
        orders = np.repeat((math.factorial(d) / before)[:, None], width, axis=1)
        if d > 1 and not self.skip:  # the first column repeats the prefix's last one
            orders[:, 0] /= runs + 1.0
        return orders

    # -- answers --------------------------------------------------------------------------------
    def best(self, A: Array, k: int, floor: float = -np.inf) -> tuple[list[tuple[int, ...]], Array]:
        """Up to k products of the largest q above `floor`, and always the largest, in falling order."""
        return self.top(self._blocks(A), k, floor)

    def top(
        self, blocks: Iterable[tuple[int, int, Array]], k: int, floor: float = -np.inf
    ) -> tuple[list[tuple[int, ...]], Array]:
        """The same of blocks of (degree, place of the first, q)."""
        kept: list[tuple[Array, Index, int]] = []
        top, held = -np.inf, 0
        for d, place, q in blocks:
            first = int(q.argmax())
            if q[first] > top:
                top = float(q[first])
                leader = (q[[first]], np.array([first + place]), d)
            where = np.flatnonzero(q > floor)
            if where.size > k:
                where = where[np.argpartition(-q[where], k - 1)[:k]]
            if where.size:
                kept.append((q[where], where + place, d))
                held += where.size
            if held > 4 * k:
                values = np.concatenate([part[0] for part in kept])
                floor = max(floor, float(-np.partition(-values, k - 1)[k - 1]))
                kept = [(v[v >= floor], w[v >= floor], deg) for v, w, deg in kept]
                held = sum(v.size for v, _, _ in kept)
        kept = kept or [leader]
        values = np.concatenate([part[0] for part in kept])
        places = np.concatenate([part[1] for part in kept])
        degrees = np.concatenate([np.full(part[1].size, part[2]) for part in kept])
        order = np.argsort(-values, kind="stable")[:k]
        return [self.product(int(degrees[i]), int(places[i])) for i in order], values[order]

    def squares(self, A: Array) -> Iterator[tuple[int, int, Array]]:
        """(degree, place of the first, q) of all products, in blocks that are the same for every A."""
        for d, place, q in self._blocks(A):
            yield d, place, q.copy()

    def sizes(self) -> Iterator[tuple[int, int, Array]]:
        """The same for s_z Σ_t (Π_j x_tj)², the squared size of each product, by products of squares."""
        plain = np.ones_like(self.scale)
        squared = Monomials(
            self.X**2, self.degree, scale=plain, interactions_only=bool(self.skip), room=self.room
        )
        for d, place, q in squared._blocks(np.ones((len(self.X), 1))):
            if d == 0:
                yield d, place, self._constant(np.ones((len(self.X), 1))) / len(self.X)
            else:
                yield d, place, np.sqrt(q) * self._scales_at(d, place, q.size)

    def power_sum(self, A: Array, power: float) -> float:
        """Σ_z q_z^power over all products."""
        return float(sum(float(np.sum(q**power)) for _, _, q in self._blocks(A)))

    def product(self, d: int, place: int) -> tuple[int, ...]:
        """The product of degree d at this place, as its columns."""
        if d == 0:
            return ()
        groups, starts = self._places[d]
        g = int(np.searchsorted(starts, place, side="right")) - 1
        prefix, column = divmod(place - int(starts[g]), self.X.shape[1] - groups[g].first)
        return (*map(int, self.prefixes[d - 1][groups[g].lo + prefix]), groups[g].first + column)

    def products(self, d: int) -> list[tuple[int, ...]]:
        """All products of degree d, as their columns, in their order."""
        if d == 0:
            return [()]
        r, parts = self.X.shape[1], []
        for group in self._places[d][0]:
            heads, columns = self.prefixes[d - 1][group.lo : group.hi], np.arange(group.first, r)
            ends = np.tile(columns, len(heads))
            parts.append(np.column_stack([np.repeat(heads, columns.size, axis=0), ends]))
        return list(map(tuple, np.concatenate(parts).tolist())) if parts else []


def _continued(strip: list[_Group], Z: Array, ax: Array, out: Array) -> None:
    """Σ_t Z_pt ax_tj of all prefixes p and the columns j that each goes on with, one after the other."""
    first = strip[0].first
    if len(strip) == 1:
        np.matmul(Z, ax[:, first:], out=out.reshape(len(Z), -1))
        return
    table, place = Z @ ax[:, first:], 0
    for group in strip:
        part = table[group.lo - strip[0].lo : group.hi - strip[0].lo, group.first - first :]
        out[place : place + part.size].reshape(part.shape)[:] = part
        place += part.size

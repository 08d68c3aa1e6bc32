"""The best of more products of columns than can be looked at one by one.

Degrees are enumerated as far as they go within a budget. Beyond that

- the best products of one degree are continued by all columns (a beam): that finds products whose parts are
  worth something by themselves;
- columns with a large share in all products of a degree are continued by others of that kind, and then by all
  pairs: that finds products whose parts are worth nothing, such as x₁x₂x₃x₄ of independent columns of mean
  zero. The share of column j after a prefix p, over the sets of e further columns, is

      Σ_{s≠t} (AAᵀ)_st p_s p_t x_sj x_tj e_e(x_s ∘ x_t),

  with the elementary symmetric polynomials e_e from Newton's identities. Terms s = t are the same for every
  product but for noise, which would drown the rest;
- branch and bound (`_branch.py`) proves that there is none better, where products die out quickly. Where it
  cannot, the bound is infinite: nothing is promised.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._branch import SLACK, Array, Branches, Index, Product
from ._monomials import Monomials

_ENUMERABLE = 1e9  # products that are enumerated
_WORK = 1e11  # multiplications that each of the two searches may cost
_NODES = 20_000  # prefixes that a proof may open
_SEEDS = 32  # columns that are followed for their share in all products
_ENTRIES = 1 << 22  # scores that are looked at together
_MATRICES = 1 << 29  # bytes of matrices of n × n


class Beam:
    """Products of up to D columns of X (n, r), with the options of `Monomials`.

    `width` products of a degree are continued. `budget` limits the products that are enumerated, `work` the
    multiplications of each search beyond, `nodes` the prefixes that a proof opens, and `room` the bytes that
    are kept.
    """

    def __init__(
        self,
        X: Array,
        degree: int,
        *,
        width: int = 256,
        budget: float = _ENUMERABLE,
        work: float = _WORK,
        nodes: int | None = None,
        room: float = np.inf,
        **options: Any,
    ) -> None:
        n, r = X.shape
        single = bool(options.get("interactions_only", False))
        self.degree, self.width = (min(degree, r) if single else degree), width
        counts = [float(math.comb(r, d) if single else math.comb(r + d - 1, d)) for d in range(degree + 1)]
        affordable = int(np.searchsorted(np.cumsum(counts), budget, side="right")) - 1
        self.low = max(1, min(self.degree, affordable))
        self.enumerator = Monomials(X, self.low, room=room, **options)
        # the largest columns first, so that what may follow gets smaller and smaller
        self.order = np.argsort(-np.abs(X).sum(axis=0), kind="stable")
        ordered = {**options, "groups": options["groups"][self.order]} if "groups" in options else options
        self.branches = Branches(X[:, self.order], self.degree, self.low + 1, **ordered)
        self.nodes = int(min(work / (n * r * 2.0 * self.degree), _NODES)) if nodes is None else nodes
        self.work = work if 16.0 * n * n * self.degree <= min(_MATRICES, room) else 0.0
        self._symmetric: list[Array] = []

    def best(self, A: Array, k: int) -> tuple[list[Product], Array, float]:
        """The best k products that were found and their q, in falling order; a bound on q of all products."""
        tops = self._enumerate(A, max(k, self.width))
        level = tops[self.low]
        for d in range(self.low + 1, self.degree + 1):
            level = self._longer(A, np.concatenate([level[0][: self.width], self._seeds(A, d)]), k)
            tops.append(level)
        atoms = [tuple(map(int, z)) for products, _ in tops for z in products]
        values = np.concatenate([q for _, q in tops])
        first = np.argsort(-values, kind="stable")[:k]
        atoms, values = [atoms[i] for i in first], values[first]
        if self.low == self.degree:
            return self._named(atoms), values, float(values[0])
        found, proven = self.branches.search(A, float(values[0]), self.nodes)
        for value, product in found:  # each better than all before
            atoms, values = [product, *atoms][:k], np.concatenate([[value], values])[:k]
        return self._named(atoms), values, float(values[0]) * (1.0 + SLACK) if proven else np.inf

    def _named(self, products: list[Product]) -> list[Product]:
        """The products by the columns of X as it was given."""
        return [tuple(sorted(int(self.order[j]) for j in z)) for z in products]

    def _enumerate(self, A: Array, k: int) -> list[tuple[Index, Array]]:
        """The best k products of each enumerated degree, and their q."""
        inverse = np.argsort(self.order)
        kept: list[tuple[Array, Index]] = [(np.empty(0), np.empty(0, np.intp)) for _ in range(self.low + 1)]
        for d, place, q in self.enumerator._blocks(A):
            values, places = kept[d]
            where = np.flatnonzero(q > (values.min() if values.size >= k else -np.inf))
            if where.size > k:
                where = where[np.argpartition(-q[where], k - 1)[:k]]
            values, places = np.concatenate([values, q[where]]), np.concatenate([places, where + place])
            first = np.argsort(-values, kind="stable")[:k]
            kept[d] = values[first], places[first]
        tops = []
        for d, (values, places) in enumerate(kept):
            products = np.array([self.enumerator.product(d, int(i)) for i in places], dtype=np.intp)
            tops.append((inverse[products.reshape(len(places), d)], values))
        return tops

    def _seeds(self, A: Array, d: int) -> Index:
        """(p, d − 1): prefixes for degree d that end in any column, begun with columns of a large share."""
        n, r = self.branches.X.shape
        unit = n * n * r * (1.0 + 4.0 * max(d - 4, 0)) + 4.0 * r * r * n
        seeds = int(min(self.work / unit, _SEEDS, r))
        prefixes = np.empty((1, 0), dtype=np.intp)
        if d < 3 or seeds == 0:
            return np.empty((0, d - 1), dtype=np.intp)
        for length in range(1, d - 1):
            share = self._shares(A, prefixes, d - length)
            first = np.argsort(-share.ravel(), kind="stable")[: 4 * length * seeds]
            longer = np.sort(np.column_stack([prefixes[first // r], first % r]), axis=1)
            longer = longer[np.isfinite(share.ravel()[first])]
            _, where = np.unique(longer, axis=0, return_index=True)
            prefixes = longer[np.sort(where)][: seeds if length == 1 else 4 * seeds]
        ends = np.tile(np.arange(r), len(prefixes))
        prefixes = np.column_stack([np.repeat(prefixes, r, axis=0), ends])
        repeated = np.any(prefixes[:, :-1] == prefixes[:, -1:], axis=1)
        return prefixes[~repeated] if self.branches.interactions_only else prefixes

    def _shares(self, A: Array, prefixes: Index, e: int) -> Array:
        """(p, r): the shares of the module's docstring; −inf for columns that the prefix holds already."""
        if not self._symmetric:
            self._symmetric = _elementary(self.branches.X, self.degree - 1)
        G = (A @ A.T) * self._symmetric[e]
        share = np.empty((len(prefixes), self.branches.X.shape[1]))
        for out, p in zip(share, self.branches.values(prefixes), strict=True):
            PX = p[:, None] * self.branches.X
            np.einsum("tj,tj->j", PX, G @ PX, out=out)
        share[np.arange(len(prefixes))[:, None], prefixes] = -np.inf
        return share

    def _longer(self, A: Array, prefixes: Index, k: int) -> tuple[Index, Array]:
        """The best products that continue the prefixes (p, d) by one column."""
        d, r = prefixes.shape[1] + 1, self.branches.X.shape[1]
        keep = max(k, self.width)
        products, values = np.empty((0, d), dtype=np.intp), np.empty(0)
        step = max(1, _ENTRIES // max(r, len(self.branches.X)))
        for lo in range(0, len(prefixes), step):
            part = prefixes[lo : lo + step]
            q = self.branches.scores(A, part, self.branches.values(part)).ravel()
            first = np.flatnonzero(q >= (max(values[-1], 0.0) if values.size == keep else 0.0))
            if first.size > d * keep:  # each comes up to d times
                first = first[np.argpartition(-q[first], d * keep - 1)[: d * keep]]
            new = np.sort(np.column_stack([part[first // r], first % r]), axis=1)
            products, values = np.concatenate([products, new]), np.concatenate([values, q[first]])
            products, where = np.unique(products, axis=0, return_index=True)
            values = values[where]
            best = np.argsort(-values, kind="stable")[:keep]
            products, values = products[best], values[best]
        return products, values


def _elementary(X: Array, degree: int) -> list[Array]:
    """e_0 … e_degree of the numbers x_sj x_tj over j, for all pairs of samples s ≠ t; 0 for s = t."""
    powers = [(X**i) @ (X**i).T for i in range(1, degree + 1)]
    e = [np.ones((len(X), len(X)))]
    for d in range(1, degree + 1):
        terms = ((-1.0) ** (i - 1) * e[d - i] * powers[i - 1] for i in range(1, d + 1))
        e.append(np.asarray(sum(terms)) / d)
    for matrix in e:
        np.fill_diagonal(matrix, 0.0)
    return e


def beam_best(X: Array, A: Array, k: int, degree: int, **options: Any) -> tuple[list[Product], Array, float]:
    """`Beam(X, degree, **options).best(A, k)`: who asks more than once keeps the beam."""
    return Beam(X, degree, **options).best(A, k)

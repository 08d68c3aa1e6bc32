"""Samples at risk at each event, in an order of times in which sums over risk sets are sums of suffixes.

Two forms of the same answers. `Suffixes`: everybody is seen from the beginning, so that a risk set holds
those who are still seen, and all costs O(n) (`_fast/cox.py`). `Intervals`: some enter later (left
truncation), risk sets are not nested, and sums are made for each event time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._fast import cox as fast
from .._fast import cox_root as roots

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_OFF = 1e-12  # of what an event costs: rounding in masses
_FLOOR = 1e-14  # of the mean cost: masses below it are taken for it where their logarithm is needed


class Root(ABC):
    """L with LLᵀ = ∇²R at some f; (n, …) in the order of the samples as they came."""

    @abstractmethod
    def left(self, X: Array) -> Array:
        """LᵀX."""

    @abstractmethod
    def times(self, X: Array) -> Array:
        """LX."""

    @abstractmethod
    def inside(self, K: Array) -> Array:
        """LᵀKL, for K (n, n)."""

    @abstractmethod
    def squares(self, Phi: Array) -> Array:
        """ΦᵀLLᵀΦ, for Φ (n, p): a few rows at a time."""

    def apply(self, X: Array) -> Array:
        """∇²R X."""
        return self.times(self.left(X))


class RiskSets(ABC):
    """Events, times, weights and costs of samples, by order. Arrays are in the order of the samples."""

    closed: ClassVar[bool] = True
    """Whether R* has a closed form."""

    def __init__(self, event: Array, time: Array, stratum: Array, w: Array, c: Array, efron: bool) -> None:
        """c (n,) is what an event costs, 0 for those without one; w (n,) how often a sample counts."""
        order = np.lexsort((-(event > 0).astype(float), time, stratum))
        self.order, self.efron = order, efron
        self.w, self.c = np.ascontiguousarray(w[order]), np.ascontiguousarray(c[order])
        self.time = time[order]
        happened, strata = event[order] > 0, stratum[order]
        n = order.size
        places = np.flatnonzero(happened)
        new = np.ones(places.size, dtype=bool)
        same = (strata[places[1:]] == strata[places[:-1]]) & (self.time[places[1:]] == self.time[places[:-1]])
        new[1:] = ~same
        self.a = places[new]
        counts = np.diff(np.append(np.flatnonzero(new), places.size))
        self.b = self.a + counts
        edges = np.flatnonzero(np.append(True, strata[1:] != strata[:-1]))
        sizes = np.diff(np.append(edges, n))
        self.begin, self.stop = np.repeat(edges, sizes), np.repeat(edges + sizes, sizes)
        self.end = self.stop[self.a]
        self.edges = edges
        owner = np.repeat(np.arange(self.a.size), counts)
        self.cost = np.bincount(owner, self.c[places], self.a.size) / counts  # of one event of each time
        self.total = np.add.reduceat(self.c, edges)  # (strata,)
        self.tie = np.arange(1, n + 1)  # where the tie of a sample ends
        if efron:
            self.tie[places] = np.repeat(self.b, counts)

    @property
    def n(self) -> int:
        return int(self.order.size)

    def sorted(self, x: Array) -> Array:
        return np.ascontiguousarray(x[self.order])

    def given(self, x: Array) -> Array:
        """The other way: from the order of times to that of the samples."""
        found = np.empty_like(x)
        found[self.order] = x
        return found

    def per_stratum(self, x: Array) -> Array:
        """(n,): the sum over the stratum of each sample, in the order of times."""
        return np.repeat(np.add.reduceat(x, self.edges), np.diff(np.append(self.edges, self.n)))

    # -- at decisions f, in the order of times -----------------------------------------------------
    @abstractmethod
    def sums(self, f: Array) -> tuple[Array, Array]:
        """log S_l and ρ_l = E_l/S_l, 0 where ties are as Breslow has them."""

    def terms(self, f: Array) -> Array:
        """Numbers that add up to R(f): Σ_lr cost_l log S_lr − Σ_j c_j f_j."""
        logS, share = self.sums(f)
        terms = np.empty(self.a.size)
        fast.value_terms(f, self.c, self.a, self.b, self.cost, share, logS, terms)
        return terms

    @abstractmethod
    def gradient(self, f: Array) -> Array:
        """∇R(f)."""

    @abstractmethod
    def root(self, f: Array) -> Root:
        """The root of ∇²R(f)."""

    # -- at dual points α = −u, in the order of times ------------------------------------------------
    @abstractmethod
    def conjugate(self, alpha: Array) -> Array:
        """Numbers that add up to R*(−α), or to more; ∞ outside the domain."""

    @abstractmethod
    def decisions(self, alpha: Array) -> Array:
        """f with ∇R(f) near −α."""

    def expect(self, f: Array) -> None:  # noqa: B027 (nothing to do where a formula answers)
        """Decisions that are likely to be asked for next."""

    @property
    def at_zero(self) -> float:
        """At least R*(0)."""
        return float(self.conjugate(np.zeros(self.n)).sum())

    @abstractmethod
    def inside(self, alpha: Array) -> Array:
        """α where it is in the domain up to rounding, else a point of it next to α."""


class _Structured(Root):
    def __init__(self, sets: Suffixes, u: Array, d: Array, near: Array, far: Array) -> None:
        self.sets, self.parts = sets, (u, d, near, far)

    def left(self, X: Array) -> Array:
        A = np.ascontiguousarray(X[self.sets.order].reshape(self.sets.n, -1))
        out = np.empty_like(A)
        roots.root_left(*self.parts, self.sets.tie, self.sets.stop, A, out)
        return out.reshape(X.shape)

    def times(self, X: Array) -> Array:
        A = np.ascontiguousarray(X.reshape(self.sets.n, -1))
        out = np.empty_like(A)
        roots.root_times(*self.parts, self.sets.tie, self.sets.begin, A, out)
        return self.sets.given(out).reshape(X.shape)

    def inside(self, K: Array) -> Array:
        order = self.sets.order
        H = K[np.ix_(order, order)]
        roots.root_right(*self.parts, self.sets.tie, self.sets.stop, H, H)
        roots.root_left(*self.parts, self.sets.tie, self.sets.stop, H, H)
        return H

    def squares(self, Phi: Array) -> Array:
        half = self.left(Phi)
        return np.asarray(half.T @ half)


class Suffixes(RiskSets):
    """Everybody is seen from the beginning."""

    @property
    def _groups(self) -> tuple[Index, Index, Index, Array]:
        return self.a, self.b, self.end, self.cost

    def sums(self, f: Array) -> tuple[Array, Array]:
        logS, share = np.empty(self.a.size), np.zeros(self.a.size)
        fast.log_sums(f, self.w, self.a, self.end, logS)
        if self.efron:
            fast.tied_share(f, self.w, self.a, self.b, logS, share)
        return logS, share

    def gradient(self, f: Array) -> Array:
        logS, share = self.sums(f)
        g = np.empty(self.n)
        fast.gradient(f, self.w, self.c, *self._groups, share, logS, g)
        return g

    def root(self, f: Array) -> Root:
        share = self.sums(f)[1]
        u, d, near, far = (np.empty(self.n) for _ in range(4))
        roots.laplacian_root(f, self.w, *self._groups, share, u, d, near, far)
        return _Structured(self, u, d, near, far)

    def conjugate(self, alpha: Array) -> Array:
        terms, _, inside = self._conjugate(alpha)
        return terms if inside else np.array([np.inf])

    def _conjugate(self, alpha: Array) -> tuple[Array, Array, bool]:
        """The terms of R*(−α), ρ at each event time, and whether α is in the domain up to rounding."""
        share, terms = np.empty(self.a.size), np.empty(self.n + self.a.size)
        off = _OFF * float(self.cost.max())
        inside = fast.conjugate(alpha, self.w, self.c, *self._groups, self.efron, off, share, terms)
        return terms, share, bool(inside)

    def decisions(self, alpha: Array) -> Array:
        _, share, _ = self._conjugate(alpha)
        f = np.empty(self.n)
        fast.decisions(alpha, self.w, self.c, *self._groups, share, _FLOOR * float(self.cost.mean()), f)
        return f

    def _left(self, alpha: Array) -> Array:
        """A_l, the sum of α before each event time in its stratum."""
        before = np.append(0.0, np.cumsum(alpha))
        return np.asarray(before[self.a] - before[self.begin[self.a]])

    def inside(self, alpha: Array) -> Array:
        """Masses are made non-negative and scaled to what events cost; then, where too much mass is taken
        before there were events for it, the point is moved towards that of f = 0, which is inside."""
        m = np.maximum(self.c - alpha, 0.0) * self._seen
        size, whole = self.per_stratum(m), self._whole
        m *= np.divide(whole, size, out=np.zeros(self.n), where=size > 0.0)
        empty = (size <= 0.0) & (whole > 0.0)
        if empty.any():
            m = np.where(empty, self._middle, m)
        left = self._left(self.c - m)
        low = left < 0.0
        if low.any():
            middle = np.maximum(self._left(self.c - self._middle)[low], 0.0)  # which rounding may hide
            needed = left[low] / (left[low] - middle)
            t = min(float(needed.max()) * (1.0 + 1e-12), 1.0)
            if t > _OFF:
                m = (1.0 - t) * m + t * self._middle
        return np.asarray(self.c - m)

    @cached_property
    def _seen(self) -> Array:
        """(n,): 1 for those who are seen at the first event of their stratum, else 0."""
        first = np.full(self.n, self.n)
        np.minimum.at(first, self.begin[self.a], self.a)
        return np.asarray(np.arange(self.n) >= first[self.begin], dtype=np.float64)

    @cached_property
    def _whole(self) -> Array:
        """(n,): what the events of the stratum of each sample cost."""
        return self.per_stratum(self.c)

    @cached_property
    def _middle(self) -> Array:
        """m at f = 0."""
        return np.asarray(self.gradient(np.zeros(self.n)) + self.c)

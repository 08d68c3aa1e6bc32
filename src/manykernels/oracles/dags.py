"""Graphs of kernels on the training samples: what hierarchical learning may ask of them.

A hull is a set of nodes that holds all ancestors of its nodes. The sources of its complement are the nodes
outside it whose parents are all inside. With d_v the price of node v, D(t) the descendants of t with t, and
A(w) the ancestors of w with w, the question that makes exponential graphs tractable is, for every source t,

    S_t = Σ_{w∈D(t)} q_w / (Σ_{v∈A(w)∩D(t)} d_v)²,        q_w = Σ_k α_kᵀ K_w α_k.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram, SelectedGram
from ..kernels import Fitted

Array = NDArray[np.float64]
Node = Hashable


class Hierarchy(ABC):
    """A graph of kernels on n training samples, scaled as the problem sees them."""

    n: int
    size: float
    roots: list[Node]

    def __init__(self) -> None:
        self._known: dict[Node, list[Node]] = {}  # ancestors

    @abstractmethod
    def knows(self, v: Node) -> bool:
        """Tell whether v is a node of this graph."""

    @abstractmethod
    def parents(self, v: Node) -> list[Node]:
        """The nodes right above v."""

    @abstractmethod
    def price(self, v: Node) -> float:
        """d_v."""

    @abstractmethod
    def name(self, v: Node) -> str:
        """Return the name of a kernel."""

    @abstractmethod
    def kernel(self, v: Node) -> Fitted:
        """The kernel as a function, with the constants of the training data."""

    @abstractmethod
    def gram(self, nodes: Sequence[Node]) -> Gram:
        """The Gram of some nodes, in this order."""

    @abstractmethod
    def quad(self, A: Array, nodes: Sequence[Node]) -> Array:
        """(len(nodes),): q_w."""

    @abstractmethod
    def children(self, v: Node) -> list[Node]:
        """The nodes right below v."""

    @abstractmethod
    def nodes(self) -> Iterator[Node]:
        """All nodes that are not zero; for graphs small enough to list."""

    @property
    def count(self) -> float:
        """Return how many `nodes` there are."""
        return self.size

    @abstractmethod
    def bounds(self, A: Array, sources: Sequence[Node]) -> Array:
        """(len(sources),): S_t."""

    def scan(self, A: Array, hull: set[Node], allowed: float, count: int) -> list[Node]:
        """Return `count` nodes with the largest shares above `allowed`, of those looked at all at once.

        The share of w is q_w / (Σ_{v∈A(w) outside the hull} d_v)²: what σ gains by w and all above it. By
        default there are no such nodes.
        """
        return []

    def sources(self, hull: set[Node], fresh: Iterable[Node] | None = None) -> list[Node]:
        """The sources of the complement of a hull; only those below a node of `fresh`, if it is given."""
        if not hull:
            return list(self.roots)
        below = dict.fromkeys(t for v in (hull if fresh is None else fresh) for t in self.children(v))
        sources = [t for t in below if t not in hull and all(p in hull for p in self.parents(t))]
        if fresh is None:
            sources = [t for t in self.roots if t not in hull] + sources
        return sources

    def ancestors(self, v: Node) -> list[Node]:
        """A(v), each after its parents, v last."""
        known = self._known.get(v)
        if known is None:
            above = dict.fromkeys(x for p in self.parents(v) for x in self.ancestors(p))
            known = self._known[v] = [*above, v]
        return known


class ListedHierarchy(Hierarchy):
    """Nodes that are all listed: `gram` holds their kernels in the order of `parents`."""

    def __init__(
        self, gram: Gram, kernels: list[Fitted], parents: dict[str, tuple[str, ...]], prices: dict[str, float]
    ) -> None:
        super().__init__()
        self.whole, self.kernels = gram, kernels
        self._parents, self._prices = parents, prices
        self.position = {name: m for m, name in enumerate(parents)}
        self.n, self.size = gram.n, len(parents)
        self.roots = [name for name, above in parents.items() if not above]
        names = list(parents)
        self._children = {name: [w for w in names if name in parents[w]] for name in names}
        self._above = np.zeros((len(names), len(names)), dtype=bool)  # [w, v]: v ∈ A(w)
        for w, name in enumerate(names):
            self._above[w, [self.position[str(v)] for v in self.ancestors(name)]] = True

    def knows(self, v: Node) -> bool:
        return v in self.position

    def parents(self, v: Node) -> list[Node]:
        return list(self._parents[str(v)])

    def price(self, v: Node) -> float:
        return self._prices[str(v)]

    def name(self, v: Node) -> str:
        return str(v)

    def kernel(self, v: Node) -> Fitted:
        return self.kernels[self.position[str(v)]]

    def gram(self, nodes: Sequence[Node]) -> Gram:
        return SelectedGram(self.whole, self._positions(nodes))

    def quad(self, A: Array, nodes: Sequence[Node]) -> Array:
        return np.asarray(self.whole.quad(A, self._positions(nodes)).sum(axis=1))

    def children(self, v: Node) -> list[Node]:
        return list(self._children[str(v)])

    def nodes(self) -> Iterator[Node]:
        return iter(self._parents)

    def scan(self, A: Array, hull: set[Node], allowed: float, count: int) -> list[Node]:
        names = list(self._parents)
        outside = np.array([0.0 if name in hull else self._prices[name] for name in names])
        total = np.where(outside > 0.0, self._above @ outside, np.inf)
        share = self.quad(A, names) / total**2
        best = np.argsort(-share, kind="stable")[:count]
        return [names[m] for m in best if share[m] > allowed]

    def bounds(self, A: Array, sources: Sequence[Node]) -> Array:
        names = list(self._parents)
        q = self.quad(A, names)
        d = np.array([self._prices[name] for name in names])
        S = np.empty(len(sources))
        for i, t in enumerate(sources):
            below = self._above[:, self.position[str(t)]]  # D(t)
            total = self._above[np.ix_(below, below)] @ d[below]
            S[i] = np.sum(q[below] / total**2)
        return S

    def _positions(self, nodes: Sequence[Node]) -> NDArray[np.intp]:
        return np.array([self.position[str(v)] for v in nodes], dtype=np.intp)

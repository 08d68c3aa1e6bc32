"""Directed acyclic graphs of kernels, for hierarchical multiple kernel learning (Bach 2008; 000 §2.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from .._arguments import is_number
from ..kernels import Kernel
from ..kernels.data import Array, Data
from ..kernels.given import from_function, is_function
from .base import Family, short_list

_STEEPEST = 1e6  # the price of a step down, whose powers are summed


class Hierarchical(Family):
    """What all graphs share: a kernel may be used only together with all its ancestors.

    The price of node v is d_v = β^depth(v), β > 1, so that a kernel costs the more the deeper it is. The
    penalty is Σ_v d_v ‖w_{D(v)}‖ over all nodes v with their descendants D(v) (Bach 2008; 000 Eq. 2.13).

    HierarchicalMKLClassifier and HierarchicalMKLRegressor learn over a graph of any size. MKLClassifier and
    MKLRegressor take its kernels as a plain list, without order and prices, for every norm and solver, where
    there are at most 100,000 of them (20,000 with ``solver="auto"``).
    """

    beta: Any

    def price(self, r: int) -> float:
        """β; by default max(2, √r/2) for r features.

        The bound on all nodes below one of them grows like exp(r/(1 + β)²): a constant β would prove nothing
        about many features, and a larger one would hide products of several features behind single ones.
        """
        if self.beta is None:
            return max(2.0, 0.5 * float(np.sqrt(r)))
        if not is_number(self.beta) or not 1.0 < self.beta <= _STEEPEST:
            raise self._wrong_beta("")
        return float(self.beta)

    def _wrong_beta(self, several: str) -> ValueError:
        return ValueError(
            f"beta={self.beta!r} was given to {type(self).__name__}; expected a number above 1 (at "
            f"most {_STEEPEST:g}), by which the price of a kernel grows with every step down the graph, "
            f"{several}or None."
        )


class _Products(Hierarchical):
    """Graphs with a node for every choice of one power (or none) of each feature."""

    listed: ClassVar[bool] = False
    needs_variation: ClassVar[bool] = True
    instead: ClassVar[str] = (
        "HierarchicalMKLClassifier and HierarchicalMKLRegressor learn over graphs of any size; select fewer "
        "columns (SelectKBest), or lower the degree, for a list of all kernels."
    )

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        found = short_list(self, X, sample_weight, feature_names)
        if found is not None:
            return found
        raise ValueError(
            f"{type(self).__name__} stands for more kernels than can be listed beside others, and this needs "
            "a list. Give it alone, as kernels=..., to HierarchicalMKLClassifier or "
            "HierarchicalMKLRegressor; or, without the order of its kernels, to MKLClassifier or "
            "MKLRegressor (solver='auto')."
        )

    def prices(self, varying: int, r: int) -> Array:
        """(r,): β_i of each of r features, `varying` of which are not constant; d_v = Π_i β_i^{v_i}."""
        if self.beta is None or is_number(self.beta):
            return np.full(r, self.price(varying))
        try:
            beta = np.asarray(self.beta, dtype=float)
        except (TypeError, ValueError):
            beta = np.empty(0)
        if beta.shape != (r,) or not np.all((beta > 1.0) & (beta <= _STEEPEST)):
            raise self._wrong_beta(f"{r} such numbers, one for each feature, ")
        return beta


class PolynomialDAG(_Products):
    """All products of powers of the features, each feature's up to ``degree``: (degree + 1)^r kernels.

    Node v = (v_1, …, v_r) is the kernel Π_i a_{i,v_i} (x_i x'_i)^{v_i}, with a_{i,j} such that each power by
    itself is normalised as the estimator asks; its children multiply it by one more feature. The parents of
    x1 · x3² are x3² and x1 · x3. Its price is d_v = Π_i β_i^{v_i}: ``beta`` is one β > 1 for all features
    (None: max(2, √r/2)), or holds one for each, so that products with some features cost more.

    Features are taken as they are: scale them beforehand (StandardScaler), so that powers mean something.
    MKLClassifier and MKLRegressor take a small graph as the list of its kernels.
    """

    def __init__(self, degree: int = 3, beta: Any = None) -> None:
        self.degree = degree
        self.beta = beta

    def levels(self) -> int:
        """The degree, checked."""
        degree = self.degree
        if not is_number(degree) or degree != degree // 1 or degree < 1:
            raise ValueError(
                f"degree={degree!r} was given to PolynomialDAG; expected a whole number, at least 1: the "
                "highest power of each feature."
            )
        return int(degree)


class AnovaDAG(_Products):
    """A Gaussian kernel for every subset of the features, 2^r of them; subsets have their subsets above them.

    ``width`` is that of the Gaussian exp(−(x_i − x'_i)²/width²) of each feature, in units of the feature's
    standard deviation. ``beta`` as for :class:`PolynomialDAG`: a subset costs Π β_i over its features.
    MKLClassifier and MKLRegressor take a small graph as the list of its kernels.
    """

    def __init__(self, width: float = 1.0, beta: Any = None) -> None:
        self.width = width
        self.beta = beta

    def relative_width(self) -> float:
        """The width, checked."""
        if not is_number(self.width) or not 0.0 < self.width < np.inf:
            raise ValueError(
                f"width={self.width!r} was given to AnovaDAG; expected a positive number, the width of the "
                "Gaussians in units of the standard deviation of each feature."
            )
        return float(self.width)


class DAG(Hierarchical):
    """A graph of one's own: ``parents`` is a dict name → (kernel, [names of its parents]).

    Nodes without parents are where learning starts. The price d_v of a node is β^depth, depth being the
    longest way down to it and ``beta`` = β > 1 (None: 2); ``prices``, a dict name → d_v > 0, has other prices
    for the nodes that it names. MKLClassifier and MKLRegressor take the graph as a list, without prices.
    """

    def __init__(self, parents: Any, beta: float | None = None, prices: Any = None) -> None:
        self.parents = parents
        self.beta = beta
        self.prices = prices

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        return {name: kernel for name, (kernel, _) in self.nodes().items()}

    def nodes(self) -> dict[str, tuple[Kernel, tuple[str, ...]]]:
        """name → (kernel, parents), every parent before its children; checked."""
        given = self._entries()
        ordered: dict[str, tuple[Kernel, tuple[str, ...]]] = {}
        waiting = dict(given)
        while waiting:
            ready = [name for name, (_, above) in waiting.items() if all(p in ordered for p in above)]
            if not ready:
                raise ValueError(
                    f"DAG was given a cycle: {' → '.join(_cycle(waiting))}. A kernel cannot be among its own "
                    "ancestors; leave one of these edges out."
                )
            ordered.update({name: waiting.pop(name) for name in ready})
        return ordered

    def depths(self) -> dict[str, int]:
        """The length of the longest way from the top to each node."""
        depth: dict[str, int] = {}
        for name, (_, above) in self.nodes().items():
            depth[name] = 1 + max(depth[p] for p in above) if above else 0
        return depth

    def priced(self) -> dict[str, float]:
        """d_v of every node."""
        beta, depths = self.price(1), self.depths()
        given = {} if self.prices is None else self.prices
        if not isinstance(given, Mapping):
            raise ValueError(
                f"prices={given!r} was given to DAG; expected a dict name → positive number, or None."
            )
        for name, value in given.items():
            if name not in depths:
                raise ValueError(
                    f"prices of DAG names {name!r}; the nodes are {', '.join(map(repr, depths))}."
                )
            if not is_number(value) or not 0.0 < value < np.inf:
                raise ValueError(
                    f"prices[{name!r}]={value!r} was given to DAG; expected a positive number, what it costs "
                    "to use any kernel of this node and those below it."
                )
        return {name: float(given.get(name, beta**depth)) for name, depth in depths.items()}

    def _entries(self) -> dict[str, tuple[Kernel, tuple[str, ...]]]:
        if not isinstance(self.parents, Mapping) or not self.parents:
            raise ValueError(
                f"parents={self.parents!r} was given to DAG; expected a dict name → (kernel, [parents])."
            )
        entries: dict[str, tuple[Kernel, tuple[str, ...]]] = {}
        for name, entry in self.parents.items():
            if not isinstance(name, str):
                raise ValueError(f"DAG was given a node called {name!r}; expected a string.")
            pair = isinstance(entry, list | tuple) and len(entry) == 2
            if pair and is_function(entry[0]):
                entry = (from_function(entry[0]), entry[1])
            if not pair or not isinstance(entry[0], Kernel) or not isinstance(entry[1], list | tuple | set):
                raise ValueError(
                    f"Node {name!r} of DAG was given as {entry!r}; expected (kernel, [names of its parents])."
                )
            above = tuple(dict.fromkeys(entry[1]))
            unknown = [repr(p) for p in above if p not in self.parents]
            if unknown:
                raise ValueError(
                    f"Node {name!r} of DAG has unknown parents {', '.join(unknown)}; the nodes are "
                    f"{', '.join(map(repr, self.parents))}."
                )
            entries[name] = (entry[0], above)
        return entries


def _cycle(waiting: dict[str, tuple[Kernel, tuple[str, ...]]]) -> list[str]:
    """Names along a cycle, from parent to child, among nodes that all have a parent in the same set."""
    walk = [next(iter(waiting))]
    while walk.count(walk[-1]) < 2:
        walk.append(next(p for p in waiting[walk[-1]][1] if p in waiting))
    return walk[walk.index(walk[-1]) :][::-1]

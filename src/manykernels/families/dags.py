"""Directed acyclic graphs of kernels, for hierarchical multiple kernel learning.

See Bach (2008), and Afkanpour (2013), §2.3.1.
"""

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
    """Base class of graphs: a kernel may be used only together with all its ancestors.

    The price of node v is d_v = β^depth(v), β > 1, so that a kernel costs the more the deeper it is. The
    penalty is Σ_v d_v ‖w_{D(v)}‖ over all nodes v with their descendants D(v) (Bach 2008; Afkanpour 2013, Eq.
    2.13).

    HierarchicalMKLClassifier and HierarchicalMKLRegressor learn over a graph of any size. MKLClassifier and
    MKLRegressor take its kernels as a plain list, without order and prices, for every norm and solver, where
    there are at most 100,000 of them (20,000 with ``solver="auto"``).
    """

    beta: Any

    def price(self, r: int) -> float:
        """Return the base β of prices, by default max(2, √r/2) for r features.

        The bound on all nodes below one of them grows like exp(r/(1 + β)²): a constant β would prove nothing
        about many features, and a larger one would hide products of several features behind single ones.

        Parameters
        ----------
        r : int
            Number of features.

        Returns
        -------
        float
            The base β.

        Examples
        --------
        >>> from manykernels.families import PolynomialDAG
        >>> PolynomialDAG().price(4), PolynomialDAG().price(100), PolynomialDAG(beta=3.0).price(100)
        (2.0, 5.0, 3.0)
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
        """Return the prices β_i of the features, with d_v = Π_i β_i^{v_i}.

        Parameters
        ----------
        varying : int
            Number of features that are not constant.
        r : int
            Number of features.

        Returns
        -------
        ndarray of shape (r,)
            The prices β_i.

        Examples
        --------
        >>> from manykernels.families import PolynomialDAG
        >>> PolynomialDAG(beta=[2.0, 4.0]).prices(2, 2).tolist(), PolynomialDAG().prices(2, 2).tolist()
        ([2.0, 4.0], [2.0, 2.0])
        """
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
    """All products of powers of the features: (degree + 1)^r kernels in a graph.

    Node v = (v_1, …, v_r) is the kernel Π_i a_{i,v_i} (x_i x'_i)^{v_i}, with a_{i,j} such that each power by
    itself is normalised as the estimator asks. Its children multiply it by one more feature: the parents of
    x1 · x3² are x3² and x1 · x3. Features are taken as they are: scale them beforehand (StandardScaler), so
    that powers mean something. `MKLClassifier` and `MKLRegressor` take a small graph as the list of its
    kernels.

    Parameters
    ----------
    degree : int, default=3
        Highest power of each feature, at least 1.
    beta : float, array-like of shape (n_features,) or None, default=None
        Prices β_i > 1: node v costs d_v = Π_i β_i^{v_i}. One number is for all features; one for each makes
        products with some features dearer. None stands for max(2, √r/2). A larger value learns simpler
        models.

    See Also
    --------
    AnovaDAG : The graph of subsets of features.

    References
    ----------
    Bach (2008), "Exploring large feature spaces with hierarchical multiple kernel learning", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import HierarchicalMKLRegressor
    >>> from manykernels.families import PolynomialDAG
    >>> X = np.random.RandomState(0).randn(50, 3)
    >>> model = HierarchicalMKLRegressor(PolynomialDAG(degree=2), C=10.0).fit(X, X[:, 0] * X[:, 1])
    >>> bool(model.score(X, X[:, 0] * X[:, 1]) > 0.9)
    True
    """

    def __init__(self, degree: int = 3, beta: Any = None) -> None:
        self.degree = degree
        self.beta = beta

    def levels(self) -> int:
        """Return the degree, checked.

        Returns
        -------
        int
            The highest power of each feature.

        Examples
        --------
        >>> from manykernels.families import PolynomialDAG
        >>> PolynomialDAG(degree=2).levels()
        2
        >>> PolynomialDAG(degree=0).levels()
        Traceback (most recent call last):
        ...
        ValueError: degree=0 was given to PolynomialDAG; expected a whole number, ...
        """
        degree = self.degree
        if not is_number(degree) or degree != degree // 1 or degree < 1:
            raise ValueError(
                f"degree={degree!r} was given to PolynomialDAG; expected a whole number, at least 1: the "
                "highest power of each feature."
            )
        return int(degree)


class AnovaDAG(_Products):
    """A Gaussian kernel for every subset of the features: 2^r kernels in a graph.

    The parents of a subset are its subsets with one feature less. `HierarchicalMKLClassifier` and
    `HierarchicalMKLRegressor` learn on the whole graph. `MKLClassifier` and `MKLRegressor` take a small graph
    as the list of its kernels.

    Parameters
    ----------
    width : float, default=1.0
        Width of the Gaussian exp(−(x_i − x'_i)²/width²) of each feature, in units of the standard deviation
        of the feature. A smaller width learns more local functions.
    beta : float, array-like of shape (n_features,) or None, default=None
        Price of a feature, above 1, as for `PolynomialDAG`: a subset costs Π β_i over its features. None
        stands for max(2, √r/2).

    See Also
    --------
    PolynomialDAG : Products of powers of features.

    References
    ----------
    Bach (2008), "Exploring large feature spaces with hierarchical multiple kernel learning", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import HierarchicalMKLRegressor
    >>> from manykernels.families import AnovaDAG
    >>> X = np.random.RandomState(0).randn(40, 3)
    >>> model = HierarchicalMKLRegressor(AnovaDAG(), C=10.0).fit(X, np.sin(X[:, 1]))
    >>> model.certified_
    True
    """

    def __init__(self, width: float = 1.0, beta: Any = None) -> None:
        self.width = width
        self.beta = beta

    def relative_width(self) -> float:
        """Return the width, checked.

        Returns
        -------
        float
            The width in units of the standard deviation of each feature.

        Examples
        --------
        >>> from manykernels.families import AnovaDAG
        >>> AnovaDAG(width=0.5).relative_width()
        0.5
        >>> AnovaDAG(width=-1.0).relative_width()
        Traceback (most recent call last):
        ...
        ValueError: width=-1.0 was given to AnovaDAG; expected a positive number, ...
        """
        if not is_number(self.width) or not 0.0 < self.width < np.inf:
            raise ValueError(
                f"width={self.width!r} was given to AnovaDAG; expected a positive number, the width of the "
                "Gaussians in units of the standard deviation of each feature."
            )
        return float(self.width)


class DAG(Hierarchical):
    """A graph of kernels of your own.

    Learning starts at nodes without parents; a kernel is used only if all its ancestors may be.
    `MKLClassifier` and `MKLRegressor` take the graph as a list, without prices.

    Parameters
    ----------
    parents : dict of str to tuple of (Kernel, list of str)
        For each node its kernel and the names of its parents.
    beta : float or None, default=None
        Base of the prices, above 1: a node costs d_v = β^depth, where the depth is the longest way from the
        top to it. None stands for 2. A larger value makes deep nodes dearer.
    prices : dict of str to float or None, default=None
        Other prices d_v > 0 for the nodes that it names.

    See Also
    --------
    PolynomialDAG : The graph of products of powers.
    AnovaDAG : The graph of subsets of features.

    References
    ----------
    Bach (2008), "Exploring large feature spaces with hierarchical multiple kernel learning", NeurIPS. The
    penalty is Σ_v d_v ‖w_{D(v)}‖ over all nodes v with their descendants D(v).

    Examples
    --------
    Nodes come after their parents, in whatever order they are given, and the deeper ones cost more:

    >>> from manykernels.families import DAG
    >>> from manykernels.kernels import Gaussian, Linear
    >>> graph = DAG({"bumps": (Gaussian(1.0), ["line"]), "line": (Linear(), [])})
    >>> list(graph.nodes()), graph.depths()
    (['line', 'bumps'], {'line': 0, 'bumps': 1})
    >>> graph.priced()
    {'line': 1.0, 'bumps': 2.0}
    """

    def __init__(self, parents: Any, beta: float | None = None, prices: Any = None) -> None:
        self.parents = parents
        self.beta = beta
        self.prices = prices

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        return {name: kernel for name, (kernel, _) in self.nodes().items()}

    def nodes(self) -> dict[str, tuple[Kernel, tuple[str, ...]]]:
        """Return the nodes with every parent before its children, checked.

        Returns
        -------
        dict of str to tuple of (Kernel, tuple of str)
            Kernel and parents by name.
        """
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
        """Return the length of the longest way from the top to each node.

        Returns
        -------
        dict of str to int
            Depths by name; 0 for nodes without parents.
        """
        depth: dict[str, int] = {}
        for name, (_, above) in self.nodes().items():
            depth[name] = 1 + max(depth[p] for p in above) if above else 0
        return depth

    def priced(self) -> dict[str, float]:
        """Return the price d_v of every node.

        Returns
        -------
        dict of str to float
            Prices by name.
        """
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

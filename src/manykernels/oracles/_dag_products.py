"""Graphs whose kernels are products: exponentially many nodes, and sums over them that factor."""

from __future__ import annotations

import bisect
import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from .._fast import elementwise
from .._fast.hierarchy import chosen_products, factor_ratios
from ..grams import BlockGram, FactorGram, Gram, StackGram
from ..grams.memory import GRAPH
from ..kernels import Constant, Fitted, Gaussian, Kernel, OnColumns
from ..kernels import Product as ProductKernel
from ..kernels.monomial import Monomial
from ..kernels.stationary import squared_distances
from .dags import Array, Hierarchy, Node

Power = tuple[tuple[int, int], ...]  # (feature, power) pairs, features in order, powers at least 1
_PAIRS = 512  # of samples, whose factors are computed at a time: they stay in the cache
_CHUNK = 128  # nodes, whose products are
_OPERATIONS = 2e11  # for products of three factors, which are looked for elsewhere as well
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class ProductHierarchy(Hierarchy):
    """V = {0, …, D}^r with K_v = Π_i a_{i,v_i} G_i^{v_i} (elementwise powers), d_v = Π_i β_i^{v_i}.

    For a source t, S_t is then one quadratic form: the sums over D(t) and over A(w) ∩ D(t) both factor,

        S_t = Σ_{st} α_s α_t Π_i b_{i,t_i},      b_{i,l} = Σ_{j≥l} a_{i,j} G_i^j / (Σ_{m=l}^{j} β_i^m)².

    Subclasses say what the base kernels G_i are.
    """

    columns: Array  # (r, n), what base kernels are made of

    def __init__(self, scales: Array, beta: float | Array, names: list[str]) -> None:
        super().__init__()
        self.scales = scales  # a (r, D + 1), a_{i,0} = 1; other zeros leave a feature out
        self.r, self.D = scales.shape[0], scales.shape[1] - 1
        self.beta, self.names = np.full(self.r, beta) if np.ndim(beta) == 0 else np.asarray(beta), names
        self._constants: list[list[float]] = scales.tolist()  # nodes are walked in Python
        self._prices: list[list[float]] = (self.beta[:, None] ** np.arange(self.D + 1)).tolist()
        with np.errstate(over="ignore"):
            self.size = float(np.float64(self.D + 1.0) ** self.r)  # inf beyond 1e308
        self.roots = [()]
        L = self.D + 1
        self._coefficients = np.zeros((self.r, L, L))
        for low in range(L):
            for j in range(low, L):
                total = np.sum([self.beta**m for m in range(low, j + 1)], axis=0)
                self._coefficients[:, low, j] = scales[:, j] / total**2

    # -- what the base kernels are --------------------------------------------------------------
    @abstractmethod
    def _base(self, left: Array, right: Array) -> None:
        """Put G_i(x_s, x_t) in place of the x_s in `left`; both are (r, pairs), the x_t in `right`."""

    @abstractmethod
    def _function(self, v: Power) -> Kernel:
        """Π_i G_i^{v_i} as a function."""

    # -- the graph ------------------------------------------------------------------------------
    def knows(self, v: Node) -> bool:
        return isinstance(v, tuple) and all(0 <= i < self.r and 0 < p <= self.D for i, p in v)

    def parents(self, v: Node) -> list[Node]:
        powers = _powers(v)
        above: list[Node] = []
        for k, (i, p) in enumerate(powers):
            above.append(powers[:k] + (((i, p - 1),) if p > 1 else ()) + powers[k + 1 :])
        return above

    def price(self, v: Node) -> float:
        return math.prod(self._prices[i][p] for i, p in _powers(v))

    def name(self, v: Node) -> str:
        powers = _powers(v)
        factors = [self.names[i] + (str(p).translate(_POWERS) if p > 1 else "") for i, p in powers]
        return " · ".join(factors) or "1"

    def kernel(self, v: Node) -> Fitted:
        powers = _powers(v)
        fitted = Fitted.from_constants(self._function(powers), self.scale(powers))
        fitted.name = self.name(v)
        return fitted if powers else fitted.as_member(role="empty product")

    def scale(self, v: Power) -> float:
        """Π_i a_{i,v_i}."""
        return math.prod(self._constants[i][p] for i, p in v)

    def children(self, v: Node) -> list[Node]:
        powers = _powers(v)
        used = dict(powers)
        return [_times(powers, i) for i in range(self.r) if used.get(i, 0) < self.D]

    def sources(self, hull: set[Node], fresh: Iterable[Node] | None = None) -> list[Node]:
        """Find sources with sets of features for single nodes (bit i of a number: feature i).

        For v in the hull, v · x_i has all parents there if i leads from v / x_j into the hull, for every
        other feature j of v. Without `fresh` each is found from one parent only, the one without its last
        feature.
        """
        if not hull:
            return list(self.roots)
        into: dict[Node, int] = {}  # the features that lead from a node into the hull
        for t in hull:
            for (i, _), w in zip(_powers(t), self.parents(t), strict=True):
                into[w] = into.get(w, 0) | 1 << i
        found: dict[Node, None] = {}
        for v in hull if fresh is None else fresh:
            powers = _powers(v)
            lead = (1 << self.r) - 1 & ~into.get(v, 0)
            for (i, p), w in zip(powers, self.parents(v), strict=True):
                lead &= into[w] if p < self.D else into[w] & ~(1 << i)
            if fresh is None and powers:
                lead &= -1 << powers[-1][0]
            found.update(dict.fromkeys(_times(powers, i) for i in _bits(lead)))
        return list(found)

    def nodes(self) -> Iterator[Node]:
        """By degree, and then by features."""
        used = np.flatnonzero(self.scales[:, 1] > 0.0).tolist()
        powers = itertools.product(range(self.D + 1), repeat=len(used))
        for v in sorted(powers, key=lambda v: (sum(v), [-p for p in v])):
            yield tuple((i, p) for i, p in zip(used, v, strict=True) if p)

    @property
    def count(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.float64(self.D + 1.0) ** np.count_nonzero(self.scales[:, 1] > 0.0))

    def bounds(self, A: Array, sources: Sequence[Node]) -> Array:
        """One matrix product for all sources: Π_j b_{j,t_j} = Π_j b_{j,0} · Π_{i∈t} b_{i,t_i}/b_{i,0}.

        A source t = w · x_i that has feature i once, and w before it, is entry (w, i) of F Rᵀ, with F the
        products of the nodes w and R the ratios b_{i,1}/b_{i,0}, over all pairs of samples. Sources that end
        with a higher power are summed by themselves.
        """
        fronts: dict[Power, int] = {}
        place: list[tuple[int, int]] = []  # row and column of each source
        for t in map(_powers, sources):
            if not t:
                raise ValueError("the root of a graph of products has no bound of its own: start from it")
            i, p = t[-1]
            place.append((fronts.setdefault(t[:-1] if p == 1 else t, len(fronts)), i if p == 1 else self.r))
        ptr = np.cumsum([0, *map(len, fronts)])
        flat = np.array([pair for w in fronts for pair in w], dtype=np.intp).reshape(-1, 2)
        features, powers = np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1])
        top = np.ones(self.r, dtype=np.intp)  # the highest power of each feature
        np.maximum.at(top, features, powers)
        sums = np.zeros((len(fronts), self.r + 1))
        ratios, whole = np.empty((self.D + 1, self.r, _PAIRS)), np.empty(_PAIRS)
        F = np.empty((min(len(fronts), _CHUNK), _PAIRS))
        for G, c in self._pairs(A):
            factor_ratios(G, self._coefficients, c, top, ratios, whole)
            for lo in range(0, len(fronts), _CHUNK):
                part = ptr[lo : lo + _CHUNK + 1]
                chosen_products(whole, ratios, part, features, powers, F)
                rows = slice(lo, lo + part.size - 1)
                sums[rows, :-1] += F[: part.size - 1] @ ratios[1].T
                sums[rows, -1] += F[: part.size - 1].sum(axis=1)
        at = np.array(place, dtype=np.intp).reshape(-1, 2).T
        return np.asarray(np.maximum(sums[at[0], at[1]], 0.0))

    def _pairs(self, A: Array) -> Iterator[tuple[Array, Array]]:
        """(G, c) for blocks of the pairs s ≥ t of samples: c = Σ_k α_sk α_tk, twice that if s ≠ t.

        All blocks have the same size, and the same memory; c is 0 where pairs have run out.
        """
        used = np.flatnonzero(A.any(axis=1))
        A, columns = A[used], np.ascontiguousarray(self.columns[:, used])
        end = used.size * (used.size + 1) // 2
        left, right = np.empty((2, self.r, _PAIRS))
        for lo in range(0, end, _PAIRS):
            k = np.arange(lo, lo + _PAIRS)
            real = k < end
            k = np.minimum(k, end - 1)
            s = ((np.sqrt(8.0 * k + 1.0) - 1.0) / 2.0).astype(np.intp)  # row by row of the lower triangle
            t = k - s * (s + 1) // 2
            c = np.where(s == t, 1.0, 2.0) * real * (A[s] * A[t]).sum(axis=1)
            np.take(columns, s, axis=1, out=left, mode="clip")
            np.take(columns, t, axis=1, out=right, mode="clip")
            self._base(left, right)
            yield left, c


class MonomialHierarchy(ProductHierarchy):
    """G_i = x_i x_iᵀ for the columns x_i of X: every kernel is a monomial times itself."""

    def __init__(self, X: Array, scales: Array, beta: float | Array, names: list[str]) -> None:
        super().__init__(scales, beta, names)
        self.X, self.n = np.ascontiguousarray(X), X.shape[0]
        self.columns = np.ascontiguousarray(self.X.T)
        self._features: dict[Node, Array] = {}

    def _base(self, left: Array, right: Array) -> None:
        left *= right

    def feature(self, v: Power) -> Array:
        """(n,): √a_v Π_i x_i^{v_i}."""
        phi = self._features.get(v)
        if phi is None:
            phi = np.full(self.n, np.sqrt(self.scale(v)))
            for i, p in v:
                phi *= self.X[:, i] ** p
            self._features[v] = phi
        return phi

    def gram(self, nodes: Sequence[Node]) -> Gram:
        features = np.stack([self.feature(_powers(v)) for v in nodes], axis=1)
        gram = FactorGram(features, np.arange(len(nodes) + 1))
        gram.names = [self.name(v) for v in nodes]
        return gram

    def quad(self, A: Array, nodes: Sequence[Node]) -> Array:
        if not nodes:
            return np.zeros(0)
        features = np.stack([self.feature(_powers(v)) for v in nodes])
        return np.asarray(((features @ A) ** 2).sum(axis=1))

    def scan(self, A: Array, hull: set[Node], allowed: float, count: int) -> list[Node]:
        """All products of up to three factors, by matrix products; two where n r³/6 operations are many."""
        F = [np.sqrt(self.scales[:, p]) * self.X**p for p in range(1, min(self.D, 3) + 1)]
        one, two, pair = self._prices_outside(hull)
        best: list[tuple[float, Node]] = []

        def keep(q: Array, total: Array, node: Callable[..., Node]) -> None:
            share = q / total**2
            floor = max(allowed, best[-1][0]) if len(best) == count else allowed
            far = [(float(share[tuple(at)]), node(*map(int, at))) for at in np.argwhere(share > floor)]
            best.extend(found for found in far if found[1] not in hull)
            best.sort(key=lambda found: -found[0])
            del best[count:]

        above = [np.zeros(self.r), one, one + two]
        for p, Fp in enumerate(F, 1):
            keep(((A.T @ Fp) ** 2).sum(axis=0), above[p - 1] + self.beta**p, lambda i, p=p: ((i, p),))
        both, twice = one[:, None] + one, np.outer(self.beta, self.beta)
        keep(np.triu(_pairs(A, F[0], F[0]), 1), both + twice, lambda i, j: ((i, 1), (j, 1)))
        if len(F) > 1:
            q = _pairs(A, F[1], F[0])
            np.fill_diagonal(q, 0.0)
            total = both + two[:, None] + pair + self.beta[:, None] * twice
            keep(q, total, lambda i, j: tuple(sorted([(i, 2), (j, 1)])))
        few = A.shape[1] * self.n * float(self.r) ** 3 / 6.0 <= _OPERATIONS
        for i in range(self.r - 2 if few else 0):
            rest = slice(i + 1, None)
            q = np.triu(_pairs(A * F[0][:, i, None], F[0][:, rest], F[0][:, rest]), 1)
            total = both[rest, rest] + pair[rest, rest] + (pair[i, rest][:, None] + pair[i, rest])
            total += one[i] + self.beta[i] * twice[rest, rest]
            keep(q, total, lambda j, k, i=i: ((i, 1), (i + 1 + j, 1), (i + 1 + k, 1)))
        return [node for _, node in best]

    def _prices_outside(self, hull: set[Node]) -> tuple[Array, Array, Array]:
        """Prices of x_i, x_i² and x_i x_j, 0 for those in the hull."""
        one, two, pair = self.beta.copy(), self.beta**2, np.outer(self.beta, self.beta)
        for v in hull:
            powers = _powers(v)
            if len(powers) == 1 and powers[0][1] <= 2:
                (one if powers[0][1] == 1 else two)[powers[0][0]] = 0.0
            elif len(powers) == 2 and powers[0][1] == powers[1][1] == 1:
                i, j = powers[0][0], powers[1][0]
                pair[i, j] = pair[j, i] = 0.0
        return one, two, pair

    def _function(self, v: Power) -> Kernel:
        return Monomial([i for i, _ in v], [p for _, p in v])


class GaussianHierarchy(ProductHierarchy):
    """G_i(x, x') = exp(−(x_i − x'_i)²/width_i²), used once or not at all."""

    def __init__(
        self,
        X: Array,
        widths: Array,
        scales: Array,
        beta: float | Array,
        names: list[str],
        limit: float = np.inf,
        work: int = GRAPH,
    ) -> None:
        super().__init__(scales, beta, names)
        self.widths, self.n, self.given = widths, X.shape[0], X
        self.X = np.ascontiguousarray(X / widths)
        self.slots = min(limit / (8.0 * self.n**2) - work, 1e9)  # matrices that there is room for
        self.columns = np.ascontiguousarray(self.X.T)

    def _base(self, left: Array, right: Array) -> None:
        left -= right
        left *= -left
        np.exp(left, out=left)

    def matrix(self, v: Power, out: Array | None = None) -> Array:
        """K_v."""
        out = squared_distances(np.ascontiguousarray(self.X[:, [i for i, _ in v]]), out=out)
        elementwise.exp(out, -1.0, out)
        out *= self.scale(v)
        return out

    def gram(self, nodes: Sequence[Node]) -> Gram:
        powers = [_powers(v) for v in nodes]
        gram: Gram
        if len(nodes) <= self.slots:
            stack = np.empty((len(nodes), self.n, self.n))
            for v, K in zip(powers, stack, strict=True):
                self.matrix(v, K)
            gram = StackGram(stack)
        else:
            kernels, scales = [self._function(v) for v in powers], np.array([self.scale(v) for v in powers])
            gram = BlockGram(kernels, self.given, self.n, int(max(self.slots - 1, 0)), scales)
        gram.names = [self.name(v) for v in nodes]
        return gram

    def quad(self, A: Array, nodes: Sequence[Node]) -> Array:
        K = np.empty((self.n, self.n))
        forms = [float(np.sum(A * (self.matrix(_powers(v), K) @ A))) for v in nodes]
        return np.asarray(np.maximum(forms, 0.0), dtype=float).reshape(-1)

    def _function(self, v: Power) -> Kernel:
        factors: list[Kernel] = [OnColumns(Gaussian(float(self.widths[i])), i) for i, _ in v]
        if not factors:
            return Constant()
        return factors[0] if len(factors) == 1 else ProductKernel(factors)


def _pairs(A: Array, F: Array, E: Array) -> Array:
    """[i, j]: Σ_k (Σ_s α_sk F_si E_sj)²."""
    total = np.zeros((F.shape[1], E.shape[1]))
    for a in A.T:
        total += ((F * a[:, None]).T @ E) ** 2
    return total


def _bits(number: int) -> Iterator[int]:
    """The places of the ones, from the lowest."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _times(v: Power, i: int) -> Power:
    """v · x_i."""
    at = bisect.bisect_left(v, (i, 0))
    if at < len(v) and v[at][0] == i:
        return (*v[:at], (i, v[at][1] + 1), *v[at + 1 :])
    return (*v[:at], (i, 1), *v[at:])


def _powers(v: Node) -> Power:
    assert isinstance(v, tuple)
    return v

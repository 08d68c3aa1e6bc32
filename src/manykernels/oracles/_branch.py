"""Branch and bound over products of columns: a proof that no product is better than the best one known.

Below a prefix u that goes on with column j and e more, with v_t = |α_t u_t|, Hölder's inequality gives

    |Σ_t α_t u_t x_tj Π x|  ≤  min( g_j^{1/(e+1)} max_i g_i^{e/(e+1)},  Σ_t v_t |x_tj| m_tj^e ),
    g_i = Σ_t v_t |x_ti|^{e+1},      m_tj = max_i |x_ti|,      i over the columns that may follow j.

Both are matrix products, for all j at once. The first is small where columns are small on average, the second
where products die out sample by sample. Where no column changes its sign, positive and negative parts of α
are bounded apart, and the larger one counts. Of products scaled to a mean square of one, Cauchy and Schwarz
bound q by Σ α_t²/w_t over the samples where the product is not zero.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import NDArray

from ._groups import Groups, excluded

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Product = tuple[int, ...]
_BATCH = 64  # nodes that are opened together
_HOPELESS = 10.0  # times the nodes that may be opened: not worth a beginning
_ROUNDING = 1e-10  # of the sums above, relative
SLACK = 1e-9  # by which, relative to it, a product must be better to count as better


class Extensions:
    """Products of columns of X (n, r), scored for all columns that a prefix can go on with.

    q_z = s_z Σ_k (Σ_t α_tk Π_j x_tj)² with s_z as in `Monomials`.
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
        groups: Groups | None = None,
    ) -> None:
        self.groups = groups
        self.X, self.degree, self.scale = np.ascontiguousarray(X, dtype=float), degree, scale
        self.exponent, self.weight, self.interactions_only = exponent, weight, interactions_only
        self.Xt = np.ascontiguousarray(self.X.T)
        self.squares = None if weight is None else weight[:, None] * self.X**2

    def values(self, prefixes: Index) -> Array:
        """(p, n): the products of the prefixes (p, L)."""
        Z = np.ones((len(prefixes), len(self.X)))
        for column in prefixes.T:
            Z *= self.Xt[column]
        return Z

    def scores(self, A: Array, prefixes: Index, Z: Array) -> Array:
        """(p, r): q of the prefixes with one more column; −1 for those that are not in the family."""
        q = np.zeros((len(prefixes), self.X.shape[1]))
        for a in A.T:
            q += ((Z * a) @ self.X) ** 2
        d = prefixes.shape[1] + 1
        q *= self.scale[d]
        rows, repeats = np.arange(len(prefixes))[:, None], np.ones_like(q)
        np.add.at(repeats, (rows, prefixes), 1.0)
        if self.exponent != 0.0:
            q *= (math.factorial(d) / _factorials(prefixes)[:, None] / repeats) ** self.exponent
        if self.squares is not None:
            size = Z**2 @ self.squares
            np.divide(q, size, out=q, where=size > 0.0)
            q[size <= 0.0] = 0.0
        if self.interactions_only:
            q[repeats > 1.0] = -1.0
        if self.groups is not None:
            q[excluded(self.groups, prefixes, np.arange(q.shape[1]))] = -1.0
        return q


class Branches(Extensions):
    """The search for products of degree `first` … D that are better than what is known."""

    def __init__(self, X: Array, degree: int, first: int, **options: object) -> None:
        super().__init__(X, degree, **options)  # type: ignore[arg-type]
        self.first = first
        self.size = np.abs(self.X)
        self.one_sign = bool(np.all((self.X.min(axis=0) >= 0.0) | (self.X.max(axis=0) <= 0.0)))
        self.most = self._following(self.size)
        self._powers: dict[tuple[int, int], Array] = {}
        orders = np.array([math.factorial(d) for d in range(degree + 1)], dtype=float)
        self.cap = self.scale[: degree + 1] * orders**self.exponent * (1.0 + _ROUNDING)

    def _following(self, g: Array) -> Array:
        """The largest entry of each row over the columns that may follow each column."""
        most = np.maximum.accumulate(g[:, ::-1], axis=1)[:, ::-1]
        if self.interactions_only:
            most = np.concatenate([most[:, 1:], np.zeros((len(most), 1))], axis=1)
        return np.ascontiguousarray(most)

    def search(self, A: Array, value: float, nodes: int) -> tuple[list[tuple[float, Product]], bool]:
        """Products of q above `value`, each better than those before; and whether there is none better still.

        Nodes of the largest bound are opened first, at most `nodes` of them. Where there are clearly more,
        which is so for most dense data, or more are open than may still be opened, the search ends at once.
        """
        found: list[tuple[float, Product]] = []
        heap: list[tuple[float, Product]] = [(-np.inf, ())]
        floor = value * (1.0 + SLACK)
        if self._tree(A, floor) > _HOPELESS * nodes:
            return found, False
        while heap and -heap[0][0] > floor:
            if len(heap) > nodes:
                return found, False
            batch = [heapq.heappop(heap)[1] for _ in range(min(_BATCH, len(heap)))]
            nodes -= len(batch)
            for length in sorted({len(node) for node in batch}):
                same = [z for z in batch if len(z) == length]
                prefixes = np.array(same, dtype=np.intp).reshape(len(same), length)
                Z = self.values(prefixes)
                if length + 1 >= self.first:
                    q = self.scores(A, prefixes, Z)
                    i, j = np.unravel_index(int(q.argmax()), q.shape)
                    if q[i, j] > floor:
                        found.append((float(q[i, j]), tuple(sorted((*map(int, prefixes[i]), int(j))))))
                        floor = found[-1][0] * (1.0 + SLACK)
                if length + 1 < self.degree:
                    bounds = self._bounds(A, prefixes, Z)
                    where = np.argwhere(bounds > floor)
                    if len(where) > nodes:
                        return found, False
                    for i, j in where:
                        heapq.heappush(heap, (-float(bounds[i, j]), (*map(int, prefixes[i]), int(j))))
        return found, True

    def _tree(self, A: Array, floor: float) -> float:
        """Nodes to be opened, as far as three paths down tell (the least of Knuth's estimates)."""
        sizes = []
        for way in (0.25, 0.5, 0.75):
            prefix, nodes, level = np.empty((1, 0), dtype=np.intp), 1.0, 1.0
            while prefix.shape[1] + 1 < self.degree:
                open_ = np.flatnonzero(self._bounds(A, prefix, self.values(prefix))[0] > floor)
                if open_.size == 0:
                    break
                level *= open_.size
                nodes += level
                prefix = np.append(prefix, [[open_[int(way * open_.size)]]], axis=1)
            sizes.append(nodes)
        return min(sizes)

    def _bounds(self, A: Array, prefixes: Index, Z: Array) -> Array:
        """(p, r): bounds on q of all products that go on from a prefix and column j; −1 if j is before it."""
        length = prefixes.shape[1]
        degrees = range(max(length + 2, self.first), self.degree + 1)
        bounds = np.zeros((len(prefixes), self.X.shape[1]))
        parts = [self._sides(a, np.abs(Z) if self.weight is None else (Z != 0.0).astype(float)) for a in A.T]
        if self.weight is not None:
            for sides in parts:
                bounds += np.maximum.reduce([(v**2 / self.weight) @ self.powers(0, 0) for v in sides])
            bounds *= max(self.cap[d] for d in degrees)
        else:
            for d in degrees:
                total = np.zeros_like(bounds)
                for sides in parts:
                    total += np.maximum.reduce([self._reach(v, d - length - 1) for v in sides]) ** 2
                np.maximum(bounds, self.cap[d] * total, out=bounds)
        if length:
            start = prefixes[:, -1] + self.interactions_only
            bounds[np.arange(bounds.shape[1]) < start[:, None]] = -1.0
        return bounds

    def _sides(self, a: Array, U: Array) -> list[Array]:
        """|α_t| u_t, of positive and negative α apart where columns do not change their sign."""
        sides = [np.maximum(a, 0.0), np.maximum(-a, 0.0)] if self.one_sign else [np.abs(a)]
        return [side * U for side in sides]

    def _reach(self, v: Array, e: int) -> Array:
        """(p, r): the bound of the module's docstring on sums over products with e columns after j."""
        g = v @ self.powers(e + 1, 0)
        average = g ** (1.0 / (e + 1)) * self._following(g) ** (e / (e + 1.0))
        return np.minimum(average, v @ self.powers(1, e))

    def powers(self, a: int, b: int) -> Array:
        """|x_tj|^a m_tj^b; where both are 0, whether products that go on from j can be more than zero."""
        if (a, b) not in self._powers:
            alive = (self.size > 0.0) & (self.most > 0.0)
            self._powers[a, b] = self.size**a * self.most**b if a + b else alive.astype(float)
        return self._powers[a, b]


def _factorials(products: Index) -> Array:
    """Π_j m_j! of each product (p, L), sorted or not."""
    ordered, length = np.sort(products, axis=1), np.ones(len(products))
    total = np.ones(len(products))
    for j in range(1, products.shape[1]):
        length = np.where(ordered[:, j] == ordered[:, j - 1], length + 1.0, 1.0)
        total *= length
    return total

"""Non-negative least squares in the form min_{v ≥ 0} ½vᵀGv − cᵀv, for G with ones on its diagonal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

Array = NDArray[np.float64]
Index = NDArray[np.intp]
DEPENDENT = 1e-13  # a column with a smaller part outside of the span of the others is in it, but for rounding
_EXACT = 1e-13  # of w = c − Gv, where |c| ≤ 1, and of v relative to its largest: rounding
_CHANGES = 50  # of the free indices, before G is factored anew
_SAFE = 1e-6  # a column with a larger part outside of the span of the others may join or leave without that


def nnls(G: Array, c: Array, start: Array | None = None) -> Array:
    """The exact solution, by Lawson and Hanson's active set method on the normal equations, from `start` ≥ 0.

    Indices with v > 0 are free. Each round frees those with the largest w = c − Gv, several at a
    time where that makes progress and one at a time otherwise, solves G v = c on the free ones, and on
    the way there stops at the first v that reaches zero and fixes it, until none does. The objective falls at
    every round, so no set of free indices comes twice.

    G may be singular, if c is in its range. An index whose column depends on the free ones then has w = 0,
    so that it need not be freed; one that depends on them but for 1e-7, say, is exchanged for one of them.

    What is returned was solved for with a factorisation of its own. On the way there one factorisation serves
    for up to `changes` changes of the free indices; where their rounding errors matter, for fewer and fewer.
    """
    v, changes = np.zeros(c.size) if start is None else start, _CHANGES
    v, free = _descend(v, _factored(G, c, np.flatnonzero(v > 0.0), changes))
    for _ in range(3 * c.size + 10):
        w = c - _times(G, v)
        candidates = np.flatnonzero((v == 0.0) & (w > _EXACT))
        candidates = candidates[np.argsort(-w[candidates])]
        for trial, trial_free in _trials(v, free, candidates):
            d = trial - v  # the fall of the objective, not from two values, in whose rounding it can be lost
            if d @ (w - 0.5 * _times(G, d)) > 0.0:
                v, free = trial, trial_free
                break
        else:
            if not free.toggled.size:
                return v  # what is left of w, if anything, is rounding
            changes //= 2
            v, free = _descend(v, _factored(G, c, free.indices, changes))
    return _descend(v, _factored(G, c, free.indices, 0))[0]


def _times(G: Array, v: Array) -> Array:
    """G v, without what v is zero at where that is most of it."""
    used = np.flatnonzero(v)
    return np.asarray(G @ v if 2 * used.size > v.size else v[used] @ G[used])


def _trials(v: Array, free: _Free, candidates: Index) -> Iterator[tuple[Array, _Free]]:
    """Yield the points to go to from v, the most promising first."""
    if candidates.size > 1:
        some = candidates[: 10 + free.indices.size]
        yield _descend(v, free.anew(np.concatenate([free.indices, some])))
    for k in candidates:  # several at once were in each other's way
        z = -free.solve(free.G[:, k])
        if free.G[k, k] + free.G[k] @ z > _SAFE:
            yield _descend(v, free.toggle(np.array([k])))
        yield _exchange(v, free, k, z)
        yield _descend(v, free.anew(np.append(free.indices, k)))


def _exchange(v: Array, free: _Free, k: np.intp, z: Array) -> tuple[Array, _Free]:
    """Let k take the place of a free index, where their columns are too close to dependent to solve for all.

    Along e_k + z, where z = −Σ_F (G_FF⁻¹ G_Fk) e_F, the combination hardly changes and the objective falls by
    w_k: go as far as the first v that reaches zero.
    """
    if not np.any(z < 0.0):
        return v, free
    steps = np.divide(v, -z, out=np.full(v.size, np.inf), where=z < 0.0)
    first = steps.argmin()
    v = np.maximum(v + steps[first] * z, 0.0)
    v[k], v[first] = steps[first], 0.0
    return _descend(v, free.toggle(np.array([first, k])))


def _descend(v: Array, free: _Free) -> tuple[Array, _Free]:
    """From v towards the solution on the free indices, fixing what reaches zero, until all stay positive."""
    v = np.where(free.mask, v, 0.0)
    while True:
        solution = free.solution()
        down = free.mask & (solution <= _EXACT * solution.max(initial=0.0))  # positive by rounding is zero
        if not down.any():
            return solution, free
        solution[down] = np.minimum(solution[down], 0.0)
        steps = np.divide(v, np.maximum(v - solution, 1e-300), out=np.full(v.size, np.inf), where=down)
        first = steps.argmin()
        v += steps[first] * (solution - v)
        gone = down & (v <= 1e-15)
        gone[first] = True
        v[gone] = 0.0
        free = free.toggle(np.flatnonzero(gone))
        v[~free.mask] = 0.0


@dataclass(frozen=True)
class _Free:
    """The free indices, and how to solve G v = c on them.

    G = LLᵀ on `base`, x = G⁻¹c there. With e_j for an index j of the base that is no longer free and G_j
    for one outside that is, as the columns of B (and zeros and G_jk in E), the solution is that of

        [G  B] [x']   [c]              U = G⁻¹B,   S = E − BᵀU,   y = S⁻¹(c' − Bᵀx),   x' = x − Uy
        [Bᵀ E] [y ] = [c']

    where y is the solution at those outside (Gill, Murray, Saunders and Wright's Schur complement method).
    That takes O(k²) for each such index, and a factorisation O(k³).
    """

    G: Array
    c: Array
    changes: int
    base: Index
    L: Array
    x: Array
    toggled: Index
    B: Array
    U: Array
    lu: tuple[Array, NDArray[np.signedinteger]]
    mask: NDArray[np.bool_]

    @property
    def indices(self) -> Index:
        """The indices, those of the base first, as they were."""
        kept = self.base[self.mask[self.base]]
        return np.concatenate([kept, self.toggled[self.mask[self.toggled]]])

    def anew(self, indices: Index) -> _Free:
        """These indices instead, with a factorisation of their own."""
        return _factored(self.G, self.c, indices, self.changes)

    def toggle(self, indices: Index) -> _Free:
        """Let indices be free that are not, and the other way round."""
        back = np.isin(self.toggled, indices)
        new = indices[~np.isin(indices, self.toggled)]
        toggled = np.concatenate([self.toggled[~back], new])
        mask = self.mask.copy()
        mask[indices] ^= True
        if not toggled.size:  # all as it was when G was factored
            none, empty = np.empty(0, dtype=np.intp), np.empty((self.base.size, 0))
            lu0 = (np.empty((0, 0)), none)
            return replace(self, toggled=none, B=empty, U=empty, lu=lu0, mask=mask)
        if toggled.size <= self.changes:
            outside = mask[toggled]
            b = self.G[np.ix_(self.base, new)]
            b[:, ~mask[new]] = self.base[:, None] == new[~mask[new]]
            B = np.hstack([self.B[:, ~back], b])
            U = np.hstack([self.U[:, ~back], _solved(self.L, b)])
            E = np.where(outside[:, None] & outside, self.G[np.ix_(toggled, toggled)], 0.0)
            *lu, failed = lapack.dgetrf(E - B.T @ U)
            sizes = np.abs(np.diag(lu[0]))
            if not failed and np.all((sizes > _SAFE) & (sizes < 1.0 / _SAFE)):
                return replace(self, toggled=toggled, B=B, U=U, lu=(lu[0], lu[1]), mask=mask)
        kept = self.indices[mask[self.indices]]
        return self.anew(np.concatenate([kept, indices[mask[indices]]]))

    def solve(self, c: Array) -> Array:
        """The solution of G v = c on the free indices, zero elsewhere."""
        return self._solution(c, _solved(self.L, c[self.base]))

    def solution(self) -> Array:
        """Solve G v = c for the c there is."""
        return self._solution(self.c, self.x)

    def _solution(self, c: Array, x: Array) -> Array:
        v = np.zeros(c.size)
        if not self.toggled.size:
            v[self.base] = x
            return v
        outside = self.mask[self.toggled]
        y = lapack.dgetrs(*self.lu, np.where(outside, c[self.toggled], 0.0) - x @ self.B)[0]
        v[self.base] = x - self.U @ y
        v[self.toggled] = np.where(outside, y, 0.0)
        return v


def _factored(G: Array, c: Array, indices: Index, changes: int) -> _Free:
    """Solve G v = c on these indices, without those that depend on others, earlier ones first."""
    while True:
        L, failed = lapack.dpotrf(G[np.ix_(indices, indices)], lower=1, clean=0)
        pivots = np.diag(L)[: failed - 1 if failed else None] ** 2
        small = np.flatnonzero(pivots <= DEPENDENT)
        if not small.size and not failed:
            break
        first = int(small[0]) if small.size else failed - 1
        indices = _without_dependent(G, L[:first, :first], indices[:first], indices[first + 1 :])
    x = _solved(L, c[indices])
    mask = np.zeros(c.size, dtype=np.bool_)
    mask[indices] = True
    none, empty = np.empty(0, dtype=np.intp), np.empty((indices.size, 0))
    return _Free(G, c, changes, indices, L, x, none, empty, empty, (np.empty((0, 0)), none), mask)


def _solved(L: Array, b: Array) -> Array:
    """(LLᵀ)⁻¹b."""
    return np.asarray(lapack.dpotrs(L, b, lower=1)[0] if b.size else b)


def _without_dependent(G: Array, L: Array, kept: Index, rest: Index) -> Index:
    """`kept`, with G = LLᵀ there, and of the rest what does not depend on them nor on each other.

    One factorisation with pivoting finds all: one at a time would be slow where many features are the same.
    """
    S = G[np.ix_(rest, rest)]
    if kept.size:
        X = solve_triangular(L, G[np.ix_(kept, rest)], lower=True, check_finite=False)
        S = S - X.T @ X
    if rest.size:
        _, order, rank, _ = lapack.dpstrf(S, tol=DEPENDENT, lower=1)
        rest = rest[np.sort(order[:rank] - 1)]
    return np.concatenate([kept, rest])

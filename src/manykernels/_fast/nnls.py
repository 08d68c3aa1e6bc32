"""Non-negative least squares in the form min_{v ≥ 0} ½vᵀGv − cᵀv, for G with ones on its diagonal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

Array = NDArray[np.float64]
Index = NDArray[np.intp]
DEPENDENT = 1e-13  # a column with a smaller part outside of the span of the others is in it, but for rounding
_EXACT = 1e-13  # of w = c − Gv, where |c| ≤ 1, and of v relative to its largest: rounding


def nnls(G: Array, c: Array, start: Array | None = None) -> Array:
    """The exact solution, by Lawson and Hanson's active set method on the normal equations, from `start` ≥ 0.

    ``free`` holds the indices with v > 0. Each round frees those with the largest w = c − Gv, several at a
    time where that makes progress and one at a time otherwise, solves G v = c on the free ones, and on
    the way there stops at the first v that reaches zero and fixes it, until none does. The objective falls at
    every round, so no set of free indices comes twice.

    G may be singular, if c is in its range. An index whose column depends on the free ones then has w = 0,
    so that it need not be freed; one that depends on them but for 1e-7, say, is exchanged for one of them.
    """
    v, free = np.zeros(c.size), np.empty(0, dtype=np.intp)
    if start is not None and np.any(start > 0.0):
        v, free = _descend(G, c, start, np.flatnonzero(start > 0.0))
    for _ in range(3 * c.size + 10):
        w = c - G[:, free] @ v[free]
        candidates = np.flatnonzero((v == 0.0) & (w > _EXACT))
        candidates = candidates[np.argsort(-w[candidates])]
        for trial, trial_free in _trials(G, c, v, free, candidates):
            if _fall(G, w, trial - v) > 0.0:
                v, free = trial, trial_free
                break
        else:
            return v  # what is left of w, if anything, is rounding
    return v


def _fall(G: Array, w: Array, d: Array) -> float:
    """By how much the objective falls from v to v + d: wᵀd − ½dᵀGd.

    Not as the difference of two values, in whose rounding a good step can be lost.
    """
    moved = np.flatnonzero(d)
    return float(d[moved] @ (w[moved] - 0.5 * (G[np.ix_(moved, moved)] @ d[moved])))


def _trials(G: Array, c: Array, v: Array, free: Index, candidates: Index) -> Iterator[tuple[Array, Index]]:
    """What to go to from v, the most promising first."""
    if candidates.size > 1:
        yield _descend(G, c, v, np.concatenate([free, candidates[: 10 + free.size]]))
    for k in candidates:  # several at once were in each other's way
        yield _descend(G, c, v, np.append(free, k))
        yield _exchange(G, c, v, free, k)


def _exchange(G: Array, c: Array, v: Array, free: Index, k: np.intp) -> tuple[Array, Index]:
    """Let k take the place of a free index, where their columns are too close to dependent to solve for all.

    Along z = e_k − Σ_F (G_FF⁻¹ G_Fk) e_F the combination hardly changes and the objective falls by w_k: go as
    far as the first v that reaches zero.
    """
    free, z = _solve(G, -G[:, k], free)
    if not np.any(z < 0.0):
        return v, free
    steps = np.divide(v[free], -z, out=np.full(free.size, np.inf), where=z < 0.0)
    first = int(steps.argmin())
    v = v.copy()
    v[free] = np.maximum(v[free] + steps[first] * z, 0.0)
    v[k], v[free[first]] = steps[first], 0.0
    return _descend(G, c, v, np.append(np.delete(free, first), k))


def _descend(G: Array, c: Array, v: Array, free: Index) -> tuple[Array, Index]:
    """From v towards the solution on `free`, fixing what reaches zero, until all of it stays positive."""
    v = v.copy()
    while True:
        free, solution = _solve(G, c, free)
        v[np.setdiff1d(np.flatnonzero(v), free)] = 0.0
        down = solution <= _EXACT * solution.max(initial=0.0)  # positive by rounding is zero
        if not down.any():
            v[free] = solution
            return v, free
        solution[down] = np.minimum(solution[down], 0.0)
        now = v[free]
        step = float(np.min(now[down] / np.maximum(now[down] - solution[down], 1e-300)))
        v[free] = now + step * (solution - now)
        gone = down & (v[free] <= 1e-15)
        v[free[gone]] = 0.0
        free = free[~gone]


def _solve(G: Array, c: Array, free: Index) -> tuple[Index, Array]:
    """Solve G v = c on the free indices, without those that depend on others, earlier ones first."""
    while True:
        L, failed = lapack.dpotrf(G[np.ix_(free, free)], lower=1, clean=0)
        pivots = np.diag(L)[: failed - 1 if failed else None] ** 2
        small = np.flatnonzero(pivots <= DEPENDENT)
        if not small.size and not failed:
            return free, np.asarray(lapack.dpotrs(L, c[free], lower=1)[0])
        first = int(small[0]) if small.size else failed - 1
        free = _without_dependent(G, L[:first, :first], free[:first], free[first + 1 :])


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

"""Non-negative least squares in the form min_{v ≥ 0} ½vᵀGv − cᵀv, for G with ones on its diagonal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]
Index = NDArray[np.intp]
DEPENDENT = 1e-13  # a column with a smaller part outside of the span of the others is in it, but for rounding
_EXACT = 1e-13  # of w = c − Gv, where |c| ≤ 1: rounding


def nnls(G: Array, c: Array) -> Array:
    """The exact solution, by Lawson and Hanson's active set method on the normal equations.

    ``free`` holds the indices with v > 0. Each round frees those with the largest w = c − Gv, several at a
    time as long as that makes progress and one at a time otherwise, solves G v = c on the free ones, and on
    the way there stops at the first v that reaches zero and fixes it, until none does. The objective falls at
    every round, so no set of free indices comes twice.

    G may be singular, if c is in its range. An index whose column depends on the free ones then has w = 0,
    so that it need not be freed.
    """
    v = np.zeros(c.size)
    free = np.empty(0, dtype=np.intp)
    value, batch = 0.0, c.size
    for _ in range(3 * c.size + 10):
        w = c - G[:, free] @ v[free]
        candidates = np.flatnonzero((v == 0.0) & (w > _EXACT))
        if not candidates.size:
            return v
        size = min(batch, 10 + free.size)
        chosen = candidates[np.argsort(-w[candidates])][:size]
        trial, trial_free = _descend(G, c, v, np.concatenate([free, chosen]))
        trial_value = 0.5 * float(trial @ (G[:, trial_free] @ trial[trial_free])) - float(c @ trial)
        if trial_value < value:
            v, free, value, batch = trial, trial_free, trial_value, c.size
        elif size > 1:
            batch = 1  # several at once were in each other's way
        else:
            return v  # what is left of w is rounding
    return v


def _descend(G: Array, c: Array, v: Array, free: Index) -> tuple[Array, Index]:
    """From v towards the solution on `free`, fixing what reaches zero, until all of it stays positive."""
    v = v.copy()
    while True:
        free, solution = _solve(G, c, free)
        v[np.setdiff1d(np.flatnonzero(v), free)] = 0.0
        down = solution <= 0.0
        if not down.any():
            v[free] = solution
            return v, free
        now = v[free]
        step = float(np.min(now[down] / np.maximum(now[down] - solution[down], 1e-300)))
        v[free] = now + step * (solution - now)
        gone = down & (v[free] <= 1e-15)
        v[free[gone]] = 0.0
        free = free[~gone]


def _solve(G: Array, c: Array, free: Index) -> tuple[Index, Array]:
    """Solve G v = c on the free indices, without those that depend on the ones before them."""
    while True:
        L, failed = lapack.dpotrf(G[np.ix_(free, free)], lower=1, clean=0)
        pivots = np.diag(L)[: failed - 1 if failed else None] ** 2
        small = np.flatnonzero(pivots <= DEPENDENT)
        if small.size or failed:
            free = np.delete(free, small[0] if small.size else failed - 1)
            continue
        return free, np.asarray(lapack.dpotrs(L, c[free], lower=1)[0])

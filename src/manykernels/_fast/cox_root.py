"""The Hessian of Cox's partial likelihood by a root that is never a matrix (`cox.py` has the order)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_LOWEST = -300.0  # of f beside the largest of its stratum: less adds nothing to any sum


@njit(cache=True, nogil=True)
def laplacian_root(
    f: Array,
    w: Array,
    a: Index,
    b: Index,
    end: Index,
    cost: Array,
    share: Array,
    u: Array,
    d: Array,
    near: Array,
    far: Array,
) -> None:
    """L with LLᵀ = ∇²R: L_kk = d_k, L_jk = −u_j near_k for j > k in the same tie, −u_j far_k beyond it.

    The Hessian is a Laplacian: rows add up to 0, and −W_jk = u_j u_k (Σ_{l ≤ min} of 1/S²) ≥ 0 for j ≠ k.
    Eliminating a sample leaves one, whose coefficient is raised for all later pairs alike. A pivot is the sum
    of what is beside it, so that nothing is ever subtracted. u is scaled to at most 1 in every stratum.
    """
    u[:], d[:], near[:], far[:] = 0.0, 0.0, 0.0, 0.0
    n_times = a.size
    first = 0
    while first < n_times:
        stop = first
        while stop < n_times and end[stop] == end[first]:
            stop += 1
        begin, last = a[first], end[first]
        top = -np.inf
        for j in range(begin, last):
            top = max(top, f[j])
        later = 0.0
        for j in range(begin, last):
            u[j] = w[j] * np.exp(max(f[j] - top, _LOWEST))
        # suffix sums of u, kept in `far` until they are needed
        for j in range(last - 1, begin - 1, -1):
            far[j] = later
            later += u[j]
        raised = 0.0  # of pairs beyond this event time: Σ over earlier ones of 1/S², and of eliminations
        for l in range(first, stop):
            ties, events = b[l] - a[l], 0.0
            for j in range(b[l] - 1, a[l] - 1, -1):
                near[j] = events  # of u over the later ones of the tie, until it is needed
                events += u[j]
            beyond = far[b[l] - 1]
            nn, dn, dd = 0.0, 0.0, 0.0
            for r in range(ties):
                part = 1.0 - r / ties if share[l] > 0.0 else 1.0
                inverse = cost[l] / (beyond + events * part) ** 2
                nn += inverse
                dn += inverse * part
                dd += inverse * part * part
            c_dn, c_dd = raised + dn, raised + dd
            raised += nn
            for k in range(a[l], b[l]):
                pull = c_dd * near[k] + c_dn * beyond
                if not u[k] * pull > 0.0:
                    near[k], far[k] = 0.0, 0.0
                    continue
                root, x = np.sqrt(u[k] * pull), u[k] / pull
                d[k], near[k], far[k] = root, c_dd * (u[k] / root), c_dn * (u[k] / root)
                raised += c_dn * (c_dn * x)
                c_dn += c_dn * (c_dd * x)
                c_dd += c_dd * (c_dd * x)
            until = a[l + 1] if l + 1 < stop else last
            for k in range(b[l], until):
                later = far[k]
                if not u[k] * raised * later > 0.0:
                    far[k] = 0.0
                    continue
                root = np.sqrt(u[k] * raised * later)
                d[k], far[k] = root, raised * (u[k] / root)
                raised += raised * (u[k] / later)
        first = stop


@njit(cache=True, nogil=True)
def root_left(
    u: Array, d: Array, near: Array, far: Array, tie: Index, end: Index, X: Array, out: Array
) -> None:
    """LᵀX for X (n, m), `out` may be X: tie[k] is where the tie of sample k ends, end[k] its stratum."""
    n, m = X.shape
    beyond, inside = np.zeros(m), np.zeros(m)
    for s in range(n):
        k = n - 1 - s
        if k + 1 == end[k]:
            beyond[:] = 0.0
            inside[:] = 0.0
        if k + 1 == tie[k] and s > 0 and k + 1 < end[k]:
            for i in range(m):
                beyond[i] += inside[i]
                inside[i] = 0.0
        for i in range(m):
            x = X[k, i]
            out[k, i] = d[k] * x - near[k] * inside[i] - far[k] * beyond[i]
            inside[i] += u[k] * x


@njit(cache=True, nogil=True)
def root_right(
    u: Array, d: Array, near: Array, far: Array, tie: Index, end: Index, X: Array, out: Array
) -> None:
    """XL for X (m, n), `out` may be X: every row as `root_left` has columns."""
    m, n = X.shape
    for i in range(m):
        beyond, inside = 0.0, 0.0
        for s in range(n):
            k = n - 1 - s
            if k + 1 == end[k]:
                beyond, inside = 0.0, 0.0
            if k + 1 == tie[k] and s > 0 and k + 1 < end[k]:
                beyond += inside
                inside = 0.0
            x = X[i, k]
            out[i, k] = d[k] * x - near[k] * inside - far[k] * beyond
            inside += u[k] * x


@njit(cache=True, nogil=True)
def root_times(
    u: Array, d: Array, near: Array, far: Array, tie: Index, begin: Index, X: Array, out: Array
) -> None:
    """LX for X (n, m): begin[k] is where the stratum of sample k begins."""
    n, m = X.shape
    beyond, inside, waiting = np.zeros(m), np.zeros(m), np.zeros(m)
    for k in range(n):
        if k == begin[k]:
            beyond[:] = 0.0
            inside[:] = 0.0
            waiting[:] = 0.0
        elif tie[k - 1] == k:
            for i in range(m):
                beyond[i] += waiting[i]
                inside[i] = 0.0
                waiting[i] = 0.0
        for i in range(m):
            out[k, i] = d[k] * X[k, i] - u[k] * (inside[i] + beyond[i])
            inside[i] += near[k] * X[k, i]
            waiting[i] += far[k] * X[k, i]

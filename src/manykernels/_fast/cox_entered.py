"""Cox's partial likelihood where some enter later: sums over risk sets that are not nested, one by one."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@njit(cache=True, nogil=True)
def log_sums_entered(
    f: Array, w: Array, a: Index, b: Index, end: Index, time: Array, entry: Array, logS: Array
) -> None:
    """log S_l over those with entry < t_l ≤ time."""
    for l in range(a.size):
        t, top = time[a[l]], -np.inf
        for j in range(a[l], end[l]):
            if entry[j] < t and f[j] > top:
                top = f[j]
        total = 0.0
        for j in range(a[l], end[l]):
            if entry[j] < t:
                total += w[j] * np.exp(f[j] - top)
        logS[l] = top + np.log(total)


@njit(cache=True, nogil=True)
def gradient_entered(
    f: Array,
    w: Array,
    c: Array,
    a: Index,
    b: Index,
    end: Index,
    cost: Array,
    time: Array,
    entry: Array,
    share: Array,
    logS: Array,
    g: Array,
) -> None:
    """∇R into g."""
    for j in range(f.size):
        g[j] = -c[j]
    for l in range(a.size):
        t, d, whole, tied = time[a[l]], b[l] - a[l], 0.0, 0.0
        for r in range(d):
            part = 1.0 / (1.0 - share[l] * r / d)
            whole += part
            tied += part * (1.0 - r / d) if share[l] > 0.0 else part
        for j in range(a[l], end[l]):
            if entry[j] < t:
                g[j] += cost[l] * w[j] * np.exp(f[j] - logS[l]) * (tied if j < b[l] else whole)


@njit(cache=True, nogil=True)
def laplacian_entered(
    f: Array,
    w: Array,
    a: Index,
    b: Index,
    end: Index,
    cost: Array,
    time: Array,
    entry: Array,
    share: Array,
    logS: Array,
    W: Array,
) -> None:
    """Write the part of ∇²R above its diagonal into W."""
    p = np.empty(f.size)
    for l in range(a.size):
        t, d, nn, dn, dd = time[a[l]], b[l] - a[l], 0.0, 0.0, 0.0
        for r in range(d):
            part = 1.0 - r / d if share[l] > 0.0 else 1.0
            inverse = cost[l] / (1.0 - share[l] * (1.0 - part)) ** 2
            nn += inverse
            dn += inverse * part
            dd += inverse * part * part
        for j in range(a[l], end[l]):
            p[j] = w[j] * np.exp(f[j] - logS[l]) if entry[j] < t else 0.0
        for j in range(a[l], end[l]):
            if p[j] == 0.0:
                continue
            inside, beyond = (dd, dn) if j < b[l] else (dn, nn)
            for k in range(j + 1, end[l]):
                W[j, k] -= p[j] * p[k] * (inside if k < b[l] else beyond)

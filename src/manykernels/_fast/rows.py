"""Dual coordinate descent over the rows of α (n, k), for losses that tie the outputs of a sample together.

    min ½ Σ_c α_cᵀKα_c − Σ_i α_iy_i + ½ρ‖αᵀ1‖² + ⟨b, αᵀ1⟩,      Σ_c α_ic = 0, α_ic ≤ C_i [c = y_i]

With h = K_ii + ρ and G_i the gradient in row i, the best row, all others fixed, is the point of its set that
is nearest to α_i − G_i/h (Keerthi et al. 2008). A row is optimal where max_c G_ic is the least G_ic of the
classes with α_ic below its bound.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
_ULPS = 8.0 * float(np.finfo(np.float64).eps)


@inner(nogil=True)
def _nearest(a: Array, own: int, C: float) -> None:
    """a becomes the nearest point with Σa = 0 and a_c ≤ C [c = own].

    With g = a − bound that is bound − max(τ − g, 0), where Σ max(τ − g, 0) = C; τ is found by leaving out,
    again and again, what lies above the mean (Michelot 1986). The own entry is minus the others to the last
    digit, and at most C.
    """
    k = a.size
    others, inside = 0.0, a[own] <= C
    for c in range(k):
        if c != own:
            others += a[c]
            inside = inside and a[c] <= 0.0
    if inside and -others <= C and abs(a[own] + others) <= _ULPS * a[own]:
        a[own] = -others  # it is there: τ would cost digits of what is small beside C
        return
    a[own] -= C
    total, count = 0.0, k
    for c in range(k):
        total += a[c]
    tau = (C + total) / count
    while True:
        total, kept = 0.0, 0
        for c in range(k):
            if a[c] < tau:
                total += a[c]
                kept += 1
        if kept >= count or kept == 0:
            break
        tau, count = (C + total) / kept, kept
    others = 0.0
    for c in range(k):
        if c != own:
            a[c] = min(a[c] - tau, 0.0)
            others += a[c]
    if others < -C:
        for c in range(k):
            a[c] *= C / -others
        others = -C
    a[own] = -others


@njit(cache=True, nogil=True)
def nearest_rows(alpha: Array, own: Codes, C: Array) -> None:
    """Each row of α becomes the nearest one of its set."""
    for i in range(alpha.shape[0]):
        _nearest(alpha[i], own[i], C[i])


@inner(nogil=True, fastmath={"reassoc", "contract"})
def _add(row: Array, rho: float, step: float, F: Array) -> None:
    for j in range(F.size):
        F[j] += step * (row[j] + rho)


@njit(cache=True, nogil=True)
def sweep(
    K: Array,
    own: Codes,
    C: Array,
    rho: float,
    least: float,
    alpha: Array,
    F: Array,
    order: Codes,
    violation: float,
) -> tuple[float, int]:
    """Improve the rows, in this order, that violate their condition by more than `violation`.

    F (k, n) is Kα + b + ρ αᵀ1 and is kept so; h is at least `least`. The largest violation met, and how many
    rows moved.
    """
    k = alpha.shape[1]
    G, new = np.empty(k), np.empty(k)
    largest, moved = 0.0, 0
    for i in order:
        y, top, low = own[i], -np.inf, np.inf
        for c in range(k):
            G[c] = F[c, i] - (1.0 if c == y else 0.0)
            top = max(top, G[c])
            if alpha[i, c] < (C[i] if c == y else 0.0):
                low = min(low, G[c])
        largest = max(largest, top - low)
        if not top - low > violation:
            continue
        h = max(K[i, i] + rho, least)
        for c in range(k):
            new[c] = alpha[i, c] - (G[c] - top) / h
        _nearest(new, y, C[i])
        moved += 1
        for c in range(k):
            step = new[c] - alpha[i, c]
            if step != 0.0:
                _add(K[i], rho, step, F[c])
                alpha[i, c] = new[c]
    return largest, moved

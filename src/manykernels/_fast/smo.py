"""Sequential minimal optimisation of one kernel machine, warm-started.

    min ½ αᵀKα − tᵀα + ε‖α‖₁      lo ≤ α ≤ hi, and Σα as it was given when an intercept is fitted

is the hinge loss for t = y, ε = 0 and [lo, hi] = [0, C] or [−C, 0] by the sign of y, and the
ε-insensitive loss for t = y, [−C, C]. With G = Kα − t, coordinate i may grow at the rate
u_i = −(G_i + ε s), s = 1 if α_i ≥ 0 else −1, and shrink at the rate l_i (s = 1 if α_i > 0 else −1);
α is optimal when max u − min l ≤ 0 over the coordinates free to move that way (with an intercept), or
max u ≤ 0 ≤ min l (without).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner

Array = NDArray[np.float64]
Index = NDArray[np.intp]


_LOOSE = {"reassoc", "contract", "nnan", "nsz", "arcp"}  # infinities must stay what they are
_FLAT = 4.0 * float(np.finfo(np.float64).eps)  # of K_ii + K_jj: a smaller curvature is rounding
_TINY = 1e-300  # a curvature that can be divided by


@inner(nogil=True)
def _free(a: float, lo: float, hi: float, epsilon: float) -> tuple[float, float]:
    """(up, low) with u = up − G and l = low − G; up = −∞ at the upper bound, low = ∞ at the lower one."""
    up = -np.inf if a >= hi else (-epsilon if a >= 0.0 else epsilon)
    low = np.inf if a <= lo else (-epsilon if a > 0.0 else epsilon)
    return up, low


@inner(nogil=True, fastmath=_LOOSE)
def _extremes(up: Array, low: Array, G: Array) -> tuple[float, float]:
    """(max u, min l). Values and places are found by separate loops, because only the first vectorises."""
    best, worst = -np.inf, np.inf
    for k in range(G.size):
        u, v = up[k] - G[k], low[k] - G[k]
        best = u if u > best else best
        worst = v if v < worst else worst
    return best, worst


@inner(nogil=True)
def _place(up: Array, G: Array, value: float) -> int:
    for k in range(G.size):
        if up[k] - G[k] == value:
            return k
    return -1


@inner(nogil=True, fastmath=_LOOSE)
def _gains(row: Array, diagonal: Array, low: Array, G: Array, kii: float, best: float, gains: Array) -> float:
    """The decrease (u_i − l_k)² / (K_ii + K_kk − 2K_ik) that each partner k offers, and the largest."""
    largest = 0.0
    for k in range(G.size):
        violation = best - (low[k] - G[k])
        violation = violation if violation > 0.0 else 0.0
        total = kii + diagonal[k]
        curvature, least = total - 2.0 * row[k], _FLAT * total + _TINY
        curvature = curvature if curvature > least else least
        gain = violation * violation / curvature
        gains[k] = gain
        largest = gain if gain > largest else largest
    return largest


@inner(nogil=True)
def _partner(gains: Array, largest: float) -> int:
    if largest > 0.0:
        for k in range(gains.size):
            if gains[k] == largest:
                return k
    return -1


@inner(nogil=True, fastmath=_LOOSE)
def _add_rows(ri: Array, rj: Array, di: float, dj: float, G: Array) -> None:
    """G += di·K_i + dj·K_j."""
    for k in range(G.size):
        G[k] += di * ri[k] + dj * rj[k]


@inner(nogil=True, fastmath=_LOOSE)
def _gradient(K: Array, alpha: Array, target: Array, G: Array) -> None:
    """G = Kα − t, from the rows where α is not zero."""
    for k in range(G.size):
        G[k] = -target[k]
    for i in range(alpha.size):
        if alpha[i] != 0.0:
            row, a = K[i], alpha[i]
            for k in range(G.size):
                G[k] += a * row[k]


@inner(nogil=True)
def _step_pair(
    alpha: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    i: int,
    j: int,
    rise: float,
    curvature: float,
) -> tuple[float, float]:
    """Move α_i up and α_j down by the same amount, to the minimum, a bound or the kink."""
    ai, aj = alpha[i], alpha[j]
    delta = min(rise / curvature, hi[i] - ai, aj - lo[j])
    if epsilon > 0.0:
        if ai < 0.0:
            delta = min(delta, -ai)
        if aj > 0.0:
            delta = min(delta, aj)
    alpha[i] = hi[i] if delta == hi[i] - ai else (0.0 if delta == -ai else ai + delta)
    alpha[j] = lo[j] if delta == aj - lo[j] else (0.0 if delta == aj else aj - delta)
    return alpha[i] - ai, alpha[j] - aj


@inner(nogil=True)
def _run(
    K: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    alpha: Array,
    G: Array,
    tol: float,
    steps: int,
) -> tuple[float, float, int]:
    """Steps on all coordinates of the given (possibly shrunk) problem; (max u, min l, steps taken)."""
    n = alpha.size
    diagonal, up, low, gains = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        diagonal[k] = K[k, k]
        up[k], low[k] = _free(alpha[k], lo[k], hi[k], epsilon)
    best, worst = _extremes(up, low, G)
    taken = 0
    while best - worst > tol and taken < steps:
        i = _place(up, G, best)
        j = -1 if i < 0 else _partner(gains, _gains(K[i], diagonal, low, G, diagonal[i], best, gains))
        if j < 0:
            break
        total = diagonal[i] + diagonal[j]
        curvature = max(total - 2.0 * K[i, j], _FLAT * total + _TINY)
        di, dj = _step_pair(alpha, lo, hi, epsilon, i, j, best - (low[j] - G[j]), curvature)
        up[i], low[i] = _free(alpha[i], lo[i], hi[i], epsilon)
        up[j], low[j] = _free(alpha[j], lo[j], hi[j], epsilon)
        _add_rows(K[i], K[j], di, dj, G)
        best, worst = _extremes(up, low, G)
        taken += 1
    return best, worst, taken


@inner(nogil=True)
def _kept(
    alpha: Array,
    G: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    best: float,
    worst: float,
) -> Index:
    """The coordinates that are not at a bound (or at the kink 0) where they want to stay."""
    keep, size = np.empty(alpha.size, dtype=np.intp), 0
    for k in range(alpha.size):
        up, low = _free(alpha[k], lo[k], hi[k], epsilon)
        if up - G[k] >= worst or low - G[k] <= best:
            keep[size] = k
            size += 1
    return keep[:size]


@inner(nogil=True)
def _entries(x: Array, keep: Index) -> Array:
    """x[keep], by a loop: numba takes two seconds to compile messages of indexing that nobody sees."""
    part = np.empty(keep.size)
    for k in range(keep.size):
        part[k] = x[keep[k]]
    return part


@inner(nogil=True)
def _part(K: Array, keep: Index) -> Array:
    part = np.empty((keep.size, keep.size))
    for i in range(keep.size):
        row, source = part[i], K[keep[i]]
        for k in range(keep.size):
            row[k] = source[keep[k]]
    return part


@njit(cache=True, nogil=True)
def solve_pairs(
    K: Array,
    target: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    alpha: Array,
    G: Array,
    tol: float,
    max_iter: int,
) -> tuple[float, float, int]:
    """With an intercept (Σα constant). Updates α and G in place; (max u, min l, iterations).

    Every n steps, coordinates that want to stay at a bound are set aside if they are at least half: the rest
    is copied into a smaller problem, which is solved to the tolerance, and everything is looked at again.
    """
    n = alpha.size
    _gradient(K, alpha, target, G)
    iterations = 0
    while True:
        best, worst, taken = _run(K, lo, hi, epsilon, alpha, G, tol, min(n, max_iter - iterations))
        iterations += taken
        if best - worst <= tol or iterations >= max_iter or taken == 0:
            return best, worst, iterations
        keep = _kept(alpha, G, lo, hi, epsilon, best, worst)
        if 2 * keep.size > n or taken < n:
            continue
        a, g = _entries(alpha, keep), _entries(G, keep)
        least, most = _entries(lo, keep), _entries(hi, keep)
        _, _, taken = _run(_part(K, keep), least, most, epsilon, a, g, tol, max_iter - iterations)
        iterations += taken
        for k in range(keep.size):
            alpha[keep[k]] = a[k]
        _gradient(K, alpha, target, G)


@inner(nogil=True)
def _single(
    alpha: Array, G: Array, lo: Array, hi: Array, epsilon: float, diagonal: Array
) -> tuple[int, float, float]:
    """(coordinate of the largest gain, its rate u or l, the largest violation)."""
    gain, chosen, rate, violation = 0.0, -1, 0.0, 0.0
    for k in range(alpha.size):
        up, low = _free(alpha[k], lo[k], hi[k], epsilon)
        u, low = up - G[k], low - G[k]
        r = u if u > 0.0 else (low if low < 0.0 else 0.0)
        violation = max(violation, abs(r))
        value = r * r / (diagonal[k] + _TINY)
        if value > gain:
            gain, chosen, rate = value, k, r
    return chosen, rate, violation


@njit(cache=True, nogil=True)
def solve_single(
    K: Array,
    target: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    alpha: Array,
    G: Array,
    tol: float,
    max_iter: int,
) -> tuple[float, float, int]:
    """Without an intercept, one coordinate at a time. Updates α and G; (violation, 0, iterations)."""
    n = alpha.size
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = K[i, i]
    _gradient(K, alpha, target, G)
    violation, iterations = np.inf, 0
    while iterations < max_iter:
        i, rate, violation = _single(alpha, G, lo, hi, epsilon, diagonal)
        if i < 0 or violation <= tol:
            break
        old = alpha[i]
        new = min(max(old + rate / (diagonal[i] + _TINY), lo[i]), hi[i])
        if epsilon > 0.0 and old * new < 0.0:
            new = 0.0
        alpha[i] = new
        _add_rows(K[i], K[i], new - old, 0.0, G)
        iterations += 1
    return violation, 0.0, iterations

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

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@njit(cache=True, nogil=True, inline="always")
def _up(a: float, g: float, hi: float, epsilon: float) -> float:
    return -np.inf if a >= hi else (-(g + epsilon) if a >= 0.0 else -(g - epsilon))


@njit(cache=True, nogil=True, inline="always")
def _low(a: float, g: float, lo: float, epsilon: float) -> float:
    return np.inf if a <= lo else (-(g + epsilon) if a > 0.0 else -(g - epsilon))


@njit(cache=True, nogil=True)
def _extremes(
    alpha: Array, G: Array, lo: Array, hi: Array, epsilon: float, active: Index, size: int
) -> tuple[int, float, int, float]:
    """(argmax u, max u, argmin l, min l) over the active coordinates."""
    best, worst, i, j = -np.inf, np.inf, -1, -1
    for t in range(size):
        k = active[t]
        u = _up(alpha[k], G[k], hi[k], epsilon)
        low = _low(alpha[k], G[k], lo[k], epsilon)
        if u > best:
            best, i = u, k
        if low < worst:
            worst, j = low, k
    return i, best, j, worst


@njit(cache=True, nogil=True)
def _partner(
    K: Array,
    alpha: Array,
    G: Array,
    lo: Array,
    epsilon: float,
    active: Index,
    size: int,
    i: int,
    best: float,
    diagonal: Array,
) -> int:
    """The second-order choice of j: the largest decrease (u_i − l_j)² / (K_ii + K_jj − 2K_ij)."""
    gain, chosen = 0.0, -1
    row, kii = K[i], diagonal[i]
    for t in range(size):
        k = active[t]
        low = _low(alpha[k], G[k], lo[k], epsilon)
        violation = best - low
        if violation > 0.0:
            value = violation * violation / max(kii + diagonal[k] - 2.0 * row[k], 1e-12)
            if value > gain:
                gain, chosen = value, k
    return chosen


@njit(cache=True, nogil=True)
def _shrink(
    alpha: Array,
    G: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    active: Index,
    size: int,
    best: float,
    worst: float,
) -> int:
    """Put aside the coordinates at a bound (or at the kink 0) that want to stay there."""
    kept = 0
    for t in range(size):
        k = active[t]
        if _up(alpha[k], G[k], hi[k], epsilon) < worst and _low(alpha[k], G[k], lo[k], epsilon) > best:
            continue
        active[kept], active[t] = k, active[kept]
        kept += 1
    return kept


@njit(cache=True, nogil=True, fastmath=True)
def _gradient(K: Array, alpha: Array, target: Array, G: Array, active: Index, start: int) -> None:
    """G_k = (Kα)_k − t_k for the coordinates active[start:], from the rows where α is not zero."""
    for t in range(start, active.size):
        G[active[t]] = -target[active[t]]
    whole = start == 0
    for i in range(alpha.size):
        if alpha[i] != 0.0:
            row, a = K[i], alpha[i]
            if whole:
                for k in range(alpha.size):
                    G[k] += a * row[k]
            else:
                for t in range(start, active.size):
                    G[active[t]] += a * row[active[t]]


@njit(cache=True, nogil=True, fastmath=True)
def _add_rows(K: Array, G: Array, i: int, j: int, di: float, dj: float, active: Index, size: int) -> None:
    """G += di·K_i + dj·K_j on the active coordinates."""
    ri, rj = K[i], K[j]
    if size == G.size:
        for k in range(size):
            G[k] += di * ri[k] + dj * rj[k]
    else:
        for t in range(size):
            k = active[t]
            G[k] += di * ri[k] + dj * rj[k]


@njit(cache=True, nogil=True)
def _step_pair(
    K: Array,
    alpha: Array,
    G: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    i: int,
    j: int,
    best: float,
    diagonal: Array,
) -> tuple[float, float]:
    """Move α_i up and α_j down by the same amount, to the minimum, a bound or the kink."""
    low = _low(alpha[j], G[j], lo[j], epsilon)
    delta = (best - low) / max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], 1e-12)
    delta = min(delta, hi[i] - alpha[i], alpha[j] - lo[j])
    if epsilon > 0.0:
        if alpha[i] < 0.0:
            delta = min(delta, -alpha[i])
        if alpha[j] > 0.0:
            delta = min(delta, alpha[j])
    ai, aj = alpha[i], alpha[j]
    alpha[i] = hi[i] if delta == hi[i] - ai else (0.0 if delta == -ai else ai + delta)
    alpha[j] = lo[j] if delta == aj - lo[j] else (0.0 if delta == aj else aj - delta)
    return alpha[i] - ai, alpha[j] - aj


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
    """With an intercept (Σα constant). Updates α and G in place; (max u, min l, iterations)."""
    n = alpha.size
    active, size = np.arange(n), n
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = K[i, i]
    _gradient(K, alpha, target, G, active, 0)
    period = min(n, 1000)
    countdown, iterations, unshrunk = period, 0, False
    best, worst = np.inf, -np.inf
    while iterations < max_iter:
        countdown -= 1
        i, best, j, worst = _extremes(alpha, G, lo, hi, epsilon, active, size)
        if best - worst <= tol:
            if size == n:
                break
            _gradient(K, alpha, target, G, active, size)
            size, countdown = n, 1
            continue
        if countdown == 0:
            countdown = period
            if not unshrunk and best - worst <= 10.0 * tol and size < n:
                _gradient(K, alpha, target, G, active, size)
                size, unshrunk = n, True
            else:
                size = _shrink(alpha, G, lo, hi, epsilon, active, size, best, worst)
            continue
        j = _partner(K, alpha, G, lo, epsilon, active, size, i, best, diagonal)
        if j < 0:
            break
        di, dj = _step_pair(K, alpha, G, lo, hi, epsilon, i, j, best, diagonal)
        _add_rows(K, G, i, j, di, dj, active, size)
        iterations += 1
    if size < n:
        _gradient(K, alpha, target, G, active, size)
        i, best, j, worst = _extremes(alpha, G, lo, hi, epsilon, active, n)
    return best, worst, iterations


@njit(cache=True, nogil=True)
def _single(
    alpha: Array, G: Array, lo: Array, hi: Array, epsilon: float, diagonal: Array
) -> tuple[int, float, float]:
    """(coordinate of the largest gain, its rate u or l, the largest violation)."""
    gain, chosen, rate, violation = 0.0, -1, 0.0, 0.0
    for k in range(alpha.size):
        u = _up(alpha[k], G[k], hi[k], epsilon)
        low = _low(alpha[k], G[k], lo[k], epsilon)
        r = u if u > 0.0 else (low if low < 0.0 else 0.0)
        violation = max(violation, abs(r))
        value = r * r / max(diagonal[k], 1e-12)
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
    active = np.arange(n)
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = K[i, i]
    _gradient(K, alpha, target, G, active, 0)
    violation, iterations = np.inf, 0
    while iterations < max_iter:
        i, rate, violation = _single(alpha, G, lo, hi, epsilon, diagonal)
        if i < 0 or violation <= tol:
            break
        old = alpha[i]
        new = min(max(old + rate / max(diagonal[i], 1e-12), lo[i]), hi[i])
        if epsilon > 0.0 and old * new < 0.0:
            new = 0.0
        alpha[i] = new
        _add_rows(K, G, i, i, new - old, 0.0, active, n)
        iterations += 1
    return violation, 0.0, iterations

"""The largest value of a piecewise polynomial in Chebyshev form, with a bound that rounding cannot break."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

_DEPTH = 64


@njit(cache=True, nogil=True)
def value(c: Array, s: float) -> tuple[float, float]:
    """p(s) = Σ_k c_k T_k(s) and p'(s), by Clenshaw's recurrence and its derivative."""
    b, b1, d, d1 = 0.0, 0.0, 0.0, 0.0
    for k in range(c.size - 1, 0, -1):
        d, d1 = 2.0 * b + 2.0 * s * d - d1, d
        b, b1 = c[k] + 2.0 * s * b - b1, b
    return c[0] + s * b - b1, b + s * d - d1


@njit(cache=True, nogil=True)
def climb(c: Array, lo: float, hi: float) -> float:
    """A local maximum of p in [lo, hi]: where p' changes sign, or the better end."""
    a, b = lo, hi
    if value(c, lo)[1] > 0.0 > value(c, hi)[1]:
        for _ in range(54):
            s = 0.5 * (a + b)
            if value(c, s)[1] > 0.0:
                a = s
            else:
                b = s
        return 0.5 * (a + b)
    return lo if value(c, lo)[0] >= value(c, hi)[0] else hi


@njit(cache=True, nogil=True)
def maximise(
    C: Array,
    curvature: Array,
    error: Array,
    slope: Array,
    start: float,
    relative: float,
    absolute: float,
    limit: int,
) -> tuple[int, float, float, float, int]:
    """(piece, s, p(s), upper, intervals): branch and bound over the pieces p of C on [−1, 1].

    On an interval of centre s and half-width r, with |p''| ≤ curvature,

        p + error ≤ p(s) + |p'(s)| r + ½ r² curvature + error + slope r

    where `error` and `slope` hold the rounding of p(s) and p'(s). An interval is split while this, without
    `error`, is more than relative·|best| + absolute above the best value seen, `start` at first, and until
    `limit` intervals have been looked at: the bound is then weaker, and still one.
    """
    centre, half = np.empty(_DEPTH), np.empty(_DEPTH)
    best, upper, piece, at, seen = start, -np.inf, -1, 0.0, 0
    for k in range(C.shape[0]):
        centre[0], half[0], top = 0.0, 1.0, 1
        while top > 0:
            top -= 1
            s, r = centre[top], half[top]
            v, dv = value(C[k], s)
            seen += 1
            if v > best:
                best, piece, at = v, k, s
            bound = v + (abs(dv) + slope[k]) * r + 0.5 * r * r * curvature[k]
            if bound <= best + relative * abs(best) + absolute or seen >= limit or top + 2 > _DEPTH:
                upper = max(upper, bound + error[k])
            else:
                centre[top], half[top] = s - 0.5 * r, 0.5 * r
                centre[top + 1], half[top + 1] = s + 0.5 * r, 0.5 * r
                top += 2
    return piece, at, best, upper, seen

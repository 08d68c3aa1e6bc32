"""Tail probabilities of Σ_j a_j χ²_j, with independent χ² of one degree of freedom: P(Σ_j a_j χ²_j > x).

With K(t) = −½ Σ_j log(1 − 2 a_j t) − t x, the logarithm of the moment generating function of the sum less x,
and 0 < c < 1/(2 max a), the tail is the contour integral

    P = 1/(2πi) ∫ exp(K(t)) dt/t      along any path from c − i∞ to c + i∞ that passes right of the pole at 0

(Rice 1980; Kuonen 1999 takes only its leading term). The path used here crosses the real axis at the saddle
point of K(t) − log t, where nothing oscillates, and is a branch of a hyperbola that opens to where exp(−tx)
falls. There the trapezoidal rule converges fast, and small tails keep all their digits. Imhof's integral
and the method of Davies (1980) lose them, since their errors are absolute.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]
_NEGLIGIBLE = 1e-15  # of the largest |a|: smaller terms do not change the sum
_TOL = 1e-13  # relative change at which the rule has converged
_FIRST, _MOST = 32, 1 << 15  # steps of the trapezoidal rule
_REACH = 40.0  # how far the hyperbola is followed, at most
_FALLEN = 38.0  # in logarithms: what is left of the path there is below rounding


def upper_tail(a: Array, x: float = 0.0) -> float:
    """P(Σ_j a_j χ²_j > x), to about twelve digits of the smaller of P and 1 − P."""
    a = np.asarray(a, dtype=np.float64).ravel()
    size = float(np.abs(a).max(initial=0.0))
    a = a[np.abs(a) > _NEGLIGIBLE * size]
    if a.size == 0 or (a.max() < 0.0 and x >= 0.0):
        return float(x < 0.0)
    if a.min() > 0.0 and x <= 0.0:
        return 1.0
    a, x = a / size, float(x) / size
    if x >= a.sum():  # the saddle point is right of the pole: the smaller tail is the upper one
        return _integral(a, x)
    return 1.0 - _integral(-a, -x)


def _integral(a: Array, x: float) -> float:
    """The tail above x ≥ the mean of the sum."""
    c, height, spread = _saddle(a, x)
    opens = float(np.sign(x))  # exp(−tx) falls to the right for x > 0, to the left for x < 0

    def sum_at(v: NDArray[Any]) -> float:
        t = c + spread * (opens * (np.cosh(v) - 1.0) + 1j * np.sinh(v))
        slope = spread * (opens * np.sinh(v) + 1j * np.cosh(v))
        K = -0.5 * np.log(1.0 - 2.0 * np.outer(t, a)).sum(axis=1) - t * x
        return float(np.sum((np.exp(K - height) / t * slope).imag))

    end = _end(a, x, c, spread, opens, height)
    steps, h = _FIRST, end / _FIRST
    total = 0.5 * sum_at(np.zeros(1)) + sum_at(h * np.arange(1, steps + 1))
    value = h * total
    while steps < _MOST:
        total += sum_at(h * (np.arange(steps) + 0.5))
        steps, h = 2 * steps, 0.5 * h
        before, value = value, h * total
        if abs(value - before) <= _TOL * abs(value):
            break
    return float(np.clip(np.exp(height) * value / np.pi, 0.0, 1.0))


def _saddle(a: Array, x: float) -> tuple[float, float, float]:
    """c > 0 where K(t) − log t is smallest, K there, and the width of the integrand across the path."""

    def slope(t: float) -> float:
        return float(np.sum(a / (1.0 - 2.0 * a * t))) - x - 1.0 / t

    positive = float(a.max())
    if positive > 0.0:
        top = 0.5 / positive
        low, high = 1e-3 * top, top * (1.0 - 1e-3)
        while slope(low) > 0.0:
            low *= 0.1
        while slope(high) < 0.0:
            high = top - 0.1 * (top - high)
    else:  # all terms are negative: the sum is bounded above by 0, and x is below it
        low = high = 1.0
        while slope(low) > 0.0:
            low *= 0.1
        while slope(high) < 0.0:
            high *= 10.0
    c = float(brentq(slope, low, high, xtol=1e-300, rtol=1e-12))
    height = -0.5 * float(np.sum(np.log(1.0 - 2.0 * a * c))) - c * x
    curvature = 2.0 * float(np.sum((a / (1.0 - 2.0 * a * c)) ** 2)) + 1.0 / c**2
    return c, height, curvature**-0.5


def _end(a: Array, x: float, c: float, spread: float, opens: float, height: float) -> float:
    """Return how far along the path the integrand is more than rounding."""
    v = np.linspace(0.0, _REACH, 401)[1:]
    t = c + spread * (opens * (np.cosh(v) - 1.0) + 1j * np.sinh(v))
    K = -0.5 * np.log(np.abs(1.0 - 2.0 * np.outer(t, a))).sum(axis=1) - t.real * x
    size = K - height - np.log(np.abs(t)) + np.log(c) + v
    left = np.flatnonzero(size > -_FALLEN)
    return float(v[min(left[-1] + 1, v.size - 1)]) if left.size else float(v[0])

"""Searches in one variable that the losses share: roots of increasing functions, piecewise-linear minima."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)


def increasing_root(
    function: Callable[[FloatArray], tuple[FloatArray, FloatArray]], lo: Any, hi: Any, max_iter: int = 200
) -> FloatArray:
    """Find the root of an increasing function inside [lo, hi], elementwise and to machine precision.

    `function(x)` returns the value and the slope. Newton's step is taken while it stays in the bracket and at
    least halves the previous step; otherwise (also where the slope is NaN, zero or infinite) the bracket is
    halved, so a jump through zero is found as well.
    """
    lo, hi = np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64)
    x: FloatArray = 0.5 * lo + 0.5 * hi
    step = hi - lo
    for _ in range(max_iter):
        value, slope = function(x)
        lo, hi = np.where(value <= 0, x, lo), np.where(value >= 0, x, hi)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = x - value / slope
            good = (newton >= lo) & (newton <= hi) & (np.abs(newton - x) <= 0.5 * np.abs(step))
        x_next = np.where(good, newton, 0.5 * lo + 0.5 * hi)
        step, x = x_next - x, x_next
        if np.all(np.abs(step) <= EPS * np.abs(x)):
            break
    return x


def bracket_root(function: Callable[[float], float], limit: int = 1000) -> tuple[float, float]:
    """An interval outwards from 0, doubled until an increasing function changes sign or vanishes in it."""
    start = function(0.0)
    inner, outer = 0.0, -1.0 if start > 0 else 1.0
    for _ in range(limit):
        if start * function(outer) <= 0:
            break
        inner, outer = outer, 2.0 * outer
    return min(inner, outer), max(inner, outer)


def piecewise_linear_minimum(breaks: FloatArray, jumps: FloatArray, slope: float) -> float:
    """Minimise a convex function whose slope starts at `slope` ≤ 0 and rises by jumps[j] at breaks[j].

    The middle of the minimisers where they are an interval, and its finite end where that is unbounded. Sums
    of weights are compared up to their rounding, so equal weights of any size give the same answer.
    """
    order = np.argsort(breaks, kind="stable")
    breaks, slopes = breaks[order], slope + np.cumsum(jumps[order])
    slack = EPS * breaks.size * float(np.sum(jumps))
    left = int(np.searchsorted(slopes, -slack))  # the slope right of breaks[left] is the first not below zero
    right = int(np.searchsorted(slopes, slack, side="right"))  # ... the first above zero
    ends = (breaks[left] if slope < -slack else -np.inf, breaks[right] if right < breaks.size else np.inf)
    return middle(*ends)


def middle(lo: float, hi: float) -> float:
    """The middle of an interval; its finite end if it has only one, 0 if it has none."""
    if np.isfinite(lo) and np.isfinite(hi):
        return float(0.5 * lo + 0.5 * hi)
    return float(lo) if np.isfinite(lo) else float(hi) if np.isfinite(hi) else 0.0


def ratio(x: FloatArray, k: FloatArray) -> FloatArray:
    """x/k for k ≥ 0, with 0/0 = 0: no force, no step."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(np.equal(x, 0.0), 0.0, np.divide(x, k))


def piecewise_quadratic_minimum(r: FloatArray, C: FloatArray, delta: float) -> float:
    """The b at which g(b) = Σ_i C_i clip(b − r_i, −δ, δ) vanishes: the middle, where it does in an interval.

    Between two neighbours among the r ± δ g is linear, and the pair around its root is found by bisection.
    """

    def g(b: float) -> float:
        forces = C * np.clip(b - r, -delta, delta)
        total, slack = float(np.sum(forces)), EPS * float(np.sum(np.abs(forces)))
        return total if abs(total) > slack else 0.0

    breaks = np.unique(np.concatenate([r - delta, r + delta]))
    left = bisect_left(breaks, 0.0, key=g)  # the first break at which g is not negative
    right = bisect_right(breaks, 0.0, key=g)  # ... and the first at which it is positive
    if right > left:  # g vanishes at a break, or at several and between them
        return middle(float(breaks[left]), float(breaks[right - 1]))
    lo, hi = breaks[left - 1], breaks[left]
    b = 0.5 * lo + 0.5 * hi
    within = np.abs(b - r) < delta
    if not within.any():  # δ is less than the rounding of r, and g jumps
        return float(hi)
    pull = delta * float(np.sum(np.sign(r - b)[~within] * C[~within]))
    return float(np.clip((np.sum(C[within] * r[within]) + pull) / np.sum(C[within]), lo, hi))

"""Newton's method on convex increasing functions of a logarithm, started where it cannot overshoot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from .base import FloatArray


def convex_root(function: Callable[[FloatArray], tuple[FloatArray, FloatArray]], x: FloatArray) -> FloatArray:
    """The root of a convex increasing function, elementwise, from an x at or above it.

    `function(x)` returns value and slope. By convexity the steps go down to the root and never past it, so no
    safeguard is needed; the callers start within a small constant of the root.
    """
    for _ in range(60):
        value, slope = function(x)
        step = np.maximum(value / slope, 0.0)
        x = x - step
        if np.all(step <= 4e-16 * (1.0 + np.abs(x))):
            break
    return x


def shifted_cubic(log_s: FloatArray, c: FloatArray, i: int, j: int) -> FloatArray:
    """The x > 0 with xⁱ (x + c)ʲ = s, for c ≥ 0 and given log s.

    In t = log x this reads i t + j log(eᵗ + c) = log s, convex and increasing; t = min(log s/(i + j),
    (log s − j log c)/i) is above the root by at most j log 2.
    """
    with np.errstate(divide="ignore"):
        log_c = np.log(c)

    def function(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        return i * t + j * np.logaddexp(t, log_c) - log_s, i + j * expit(t - log_c)

    return np.exp(convex_root(function, np.minimum(log_s / (i + j), (log_s - j * log_c) / i)))

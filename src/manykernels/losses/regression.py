"""The losses of regression: squared and ε-insensitive."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .base import Loss, Task, inside, weighted
from .scalar import FloatArray, piecewise_linear_minimum, ratio


class Squared(Loss):
    """ℓ(y, f) = ½ (y − f)² with ℓ*(y, u) = yu + ½ u²."""

    task: ClassVar[Task] = "regression"
    translates: ClassVar[bool] = True
    strong = 1.0

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return 0.5 * (y - f) ** 2

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return f - y

    def hessian(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.ones_like(y - f)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return u * (y + 0.5 * u)

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    def dual_step(self, y: FloatArray, f: FloatArray, a: FloatArray, k: FloatArray) -> FloatArray:
        """a moves to (y − f + ka)/(1 + k)."""
        return a + (y - f - a) / (1.0 + k)

    def ray(self, y: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        return y * a, a * a

    def intercept(self, y: FloatArray, f: FloatArray, C: FloatArray) -> float:
        """The weighted mean of the residuals."""
        y, f, C = weighted(y, f, C)
        return float(np.average(y - f, weights=C)) if C.size else 0.0


class EpsilonInsensitive(Loss):
    """ℓ(y, f) = (|y − f| − ε)₊ with ℓ*(y, u) = yu + ε|u| for |u| ≤ 1; ε ≥ 0."""

    task: ClassVar[Task] = "regression"
    translates: ClassVar[bool] = True
    smooth: ClassVar[bool] = False

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    def _epsilon(self) -> float:
        if not 0.0 <= self.epsilon < np.inf:
            raise ValueError(
                f"epsilon={self.epsilon!r} was given to EpsilonInsensitive: expected a finite number ≥ 0, "
                "the width of the tube in which an error costs nothing."
            )
        return float(self.epsilon)

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.maximum(np.abs(y - f) - self._epsilon(), 0.0)

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        residual = y - f
        return np.where(np.abs(residual) > self._epsilon(), -np.sign(residual), 0.0)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return np.where(inside(u, -1.0, 1.0), u * y + self._epsilon() * np.abs(u), np.inf)

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full_like(y, -1.0), np.full_like(y, 1.0)

    def distance(self, y: FloatArray, f: FloatArray, a: FloatArray) -> FloatArray:
        """a must be the residual's sign outside the tube, 0 inside, and anything between on its edge."""
        residual, epsilon = y - f, self._epsilon()
        lo = (residual > epsilon).astype(np.float64) - (residual <= -epsilon)
        hi = (residual >= epsilon).astype(np.float64) - (residual < -epsilon)
        return np.abs(a - np.clip(a, lo, hi))

    def dual_step(self, y: FloatArray, f: FloatArray, a: FloatArray, k: FloatArray) -> FloatArray:
        """The best of [0, 1] plus the best of [−1, 0]: by concavity at least one of the two is zero."""
        residual, epsilon = y - f, self._epsilon()
        above = np.clip(a + ratio(residual - epsilon, k), 0.0, 1.0)
        below = np.clip(a + ratio(residual + epsilon, k), -1.0, 0.0)
        return above + below

    def ray(self, y: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        lin = y * a - self._epsilon() * np.abs(a)
        return lin, np.zeros_like(lin)

    def intercept(self, y: FloatArray, f: FloatArray, C: FloatArray) -> float:
        """A weighted median: the slope in b is −ΣC at −∞ and rises by C_i at each of y_i − f_i ± ε."""
        y, f, C = weighted(y, f, C)
        edges = np.concatenate([y - f - self._epsilon(), y - f + self._epsilon()])
        return piecewise_linear_minimum(edges, np.tile(C, 2), -float(np.sum(C))) if C.size else 0.0

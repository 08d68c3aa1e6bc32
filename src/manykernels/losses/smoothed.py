"""Losses with a corner, smoothed: ℓ_μ* = ℓ* + ½μu². Newton's method in features asks for a Hessian."""

from __future__ import annotations

import numpy as np

from .base import Loss
from .scalar import FloatArray


class Smoothed(Loss):
    """ℓ_μ(y, f) = max_a −af − ℓ*(y, −a) − ½μa², a loss with a Hessian that is within ½μ below ℓ (|a| ≤ 1)."""

    def __init__(self, loss: Loss, mu: float) -> None:
        self.loss = loss
        self.mu = mu

    def _slope(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """a = −ℓ_μ'."""
        return self.loss.dual_step(y, f, np.zeros_like(f), np.full_like(f, self.mu))

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        a = self._slope(y, f)
        return -a * f - self.loss.conjugate(y, -a) - 0.5 * self.mu * a * a

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return -self._slope(y, f)

    def hessian(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """1/μ where a is neither at a bound nor at rest in the tube."""
        a = self._slope(y, f)
        lo, hi = self.loss.bounds(y)
        rests = (a == 0.0) & (self.loss.tube > 0.0 or not self.loss.piecewise_linear)
        return np.asarray((a > lo) & (a < hi) & ~rests, dtype=np.float64) / self.mu

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return self.loss.conjugate(y, u) + 0.5 * self.mu * u * u

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.loss.bounds(y)

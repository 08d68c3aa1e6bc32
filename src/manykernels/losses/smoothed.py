"""Losses with a corner, smoothed: ℓ_μ* = ℓ* + ½μu², or by an entropy. Newton's method asks for a Hessian."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

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


class Softened(Loss):
    """A piecewise linear loss whose corners are logistic: positive curvature everywhere.

    On its box lo ≤ a ≤ hi a piecewise linear loss is ℓ = hi (t − ε)₊ − lo (−t − ε)₊ with t = y − f. Here
    s₊ becomes μ log(1 + e^{s/μ}), at most μ log 2 above it, and a = −ℓ_μ' stays inside the box.
    """

    def __init__(self, loss: Loss, mu: float) -> None:
        self.loss = loss
        self.mu = mu

    def _sides(self, y: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(hi, −lo, (t − ε)/μ, (−t − ε)/μ)."""
        lo, hi = self.loss.bounds(y)
        t, tube = y - f, float(self.loss.tube)
        return hi, -lo, (t - tube) / self.mu, (-t - tube) / self.mu

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        hi, lo, up, down = self._sides(y, f)
        return np.asarray(self.mu * (hi * np.logaddexp(0.0, up) + lo * np.logaddexp(0.0, down)))

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        hi, lo, up, down = self._sides(y, f)
        return np.asarray(lo * expit(down) - hi * expit(up))

    def hessian(self, y: FloatArray, f: FloatArray) -> FloatArray:
        hi, lo, up, down = self._sides(y, f)
        bent = hi * expit(up) * expit(-up) + lo * expit(down) * expit(-down)
        return np.asarray(bent / self.mu)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """From below: ℓ_μ ≤ ℓ + μ (hi − lo) log 2. It has no closed form where there is a tube."""
        lo, hi = self.loss.bounds(y)
        return np.asarray(self.loss.conjugate(y, u) - self.mu * np.log(2.0) * (hi - lo))

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.loss.bounds(y)

"""Piecewise linear losses of the residual, from their box and their tube."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .base import Loss, inside, weighted
from .scalar import FloatArray, piecewise_linear_minimum, ratio


class PiecewiseLinear(Loss):
    """Base class of piecewise linear losses, given by a box and a tube.

    With r = y − f and lo ≤ 0 ≤ hi, ℓ(y, f) = hi (r − ε)₊ − lo (−r − ε)₊. This is max_{a ∈ [lo, hi]} a r −
    ε|a|, where [lo, hi] is `bounds(y)` and ε is `tube`. A loss of your own defines these two and `task`, and
    everything else follows, ℓ*(y, u) = y u + ε|u| for −u ∈ [lo, hi] to begin with.

    Examples
    --------
    Errors below cost three times as much as errors above:

    >>> import numpy as np
    >>> from manykernels.losses import PiecewiseLinear
    >>> class Tilted(PiecewiseLinear):
    ...     task = "regression"
    ...
    ...     def bounds(self, y):
    ...         return np.full_like(y, -1.0), np.full_like(y, 3.0)
    >>> Tilted().value(np.array([1.0, 1.0]), np.array([0.0, 2.0])).tolist()
    [3.0, 1.0]
    """

    smooth: ClassVar[bool] = False
    piecewise_linear: ClassVar[bool] = True

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        r, (lo, hi) = y - f, self.bounds(y)
        return np.asarray(hi * np.maximum(r - self.tube, 0.0) - lo * np.maximum(-r - self.tube, 0.0))

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        r, (lo, hi) = y - f, self.bounds(y)
        return np.where(r > self.tube, -hi, np.where(r < -self.tube, -lo, 0.0))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return np.where(inside(-u, *self.bounds(y)), u * y + self.tube * np.abs(u), np.inf)

    def distance(self, y: FloatArray, f: FloatArray, a: FloatArray) -> FloatArray:
        """a must be the bound on the residual's side outside the tube, 0 inside, and between on its edge."""
        r, (lo, hi) = y - f, self.bounds(y)
        least = np.where(r > self.tube, hi, np.where(r <= -self.tube, lo, 0.0))
        most = np.where(r >= self.tube, hi, np.where(r < -self.tube, lo, 0.0))
        return np.abs(a - np.clip(a, least, most))

    def dual_step(self, y: FloatArray, f: FloatArray, a: FloatArray, k: FloatArray) -> FloatArray:
        """The best of [0, hi] plus the best of [lo, 0]: by concavity at least one of the two is zero."""
        r, (lo, hi) = y - f, self.bounds(y)
        above = np.clip(a + ratio(r - self.tube, k), 0.0, hi)
        below = np.clip(a + ratio(r + self.tube, k), lo, 0.0)
        return np.asarray(above + below)

    def ray(self, y: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        lin = y * a - self.tube * np.abs(a)
        return lin, np.zeros_like(lin)

    def intercept(self, y: FloatArray, f: FloatArray, C: FloatArray) -> float:
        """A weighted quantile: the slope in b is −ΣC hi at −∞, rises by C hi at r − ε, by −C lo at r + ε."""
        y, f, C = weighted(y, f, C)
        r, (lo, hi) = y - f, self.bounds(y)
        edges, jumps = np.concatenate([r - self.tube, r + self.tube]), np.concatenate([C * hi, -C * lo])
        return piecewise_linear_minimum(edges, jumps, -float(np.sum(C * hi))) if C.size else 0.0

"""Hinge and squared hinge: the losses of support vector machines."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._fast import codes
from .base import Loss, Task, inside, weighted
from .scalar import FloatArray, middle, piecewise_linear_minimum, ratio


class Hinge(Loss):
    """The hinge loss of support vector machines, ℓ(y, f) = (1 − yf)₊ for y = ±1.

    ℓ*(y, u) = yu for yu ∈ [−1, 0]. Samples beyond the margin cost nothing, so that few samples carry the
    model. The shorthand is ``loss="hinge"``.

    References
    ----------
    Cortes & Vapnik (1995), "Support-vector networks", Machine Learning 20.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Hinge
    >>> Hinge().value(np.array([1.0, 1.0]), np.array([0.5, 2.0])).tolist()
    [0.5, 0.0]
    """

    task: ClassVar[Task] = "classification"
    smooth: ClassVar[bool] = False
    piecewise_linear: ClassVar[bool] = True
    code: ClassVar[int] = codes.HINGE

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.maximum(1.0 - y * f, 0.0)

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.where(y * f < 1.0, -y, 0.0)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        s = -y * u
        return np.where(inside(s, 0.0, 1.0), -s, np.inf)

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.minimum(y, 0.0), np.maximum(y, 0.0)

    def distance(self, y: FloatArray, f: FloatArray, a: FloatArray) -> FloatArray:
        """ya must be 1 where yf < 1, 0 where yf > 1, and anything between where yf = 1."""
        s, margin = y * a, y * f
        return np.abs(s - np.clip(s, margin < 1.0, margin <= 1.0))

    def dual_step(self, y: FloatArray, f: FloatArray, a: FloatArray, k: FloatArray) -> FloatArray:
        """s = ya moves by (1 − yf)/k, cut to [0, 1]."""
        return y * np.clip(y * a + ratio(1.0 - y * f, k), 0.0, 1.0)

    def ray(self, y: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        lin = y * a
        return lin, np.zeros_like(lin)

    def intercept(self, y: FloatArray, f: FloatArray, C: FloatArray) -> float:
        """A weighted quantile: the slope in b is −Σ_{y=1} C at −∞ and rises by C_i at y_i − f_i in both."""
        y, f, C = weighted(y, f, C)
        return piecewise_linear_minimum(y - f, C, -float(np.sum(C[y > 0]))) if C.size else 0.0


class SquaredHinge(Loss):
    """The squared hinge loss, ℓ(y, f) = ½ (1 − yf)₊² for y = ±1.

    ℓ*(y, u) = yu + ½ u² for yu ≤ 0. It is smooth, and punishes samples far on the wrong side more than
    `Hinge`. The shorthand is ``loss="squared_hinge"``.

    References
    ----------
    Chang, Hsieh & Lin (2008), "Coordinate descent method for large-scale L2-loss linear support vector
    machines", Journal of Machine Learning Research 9.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([1.0, 1.0]), np.array([0.0, 2.0])).tolist()
    [0.5, 0.0]
    """

    task: ClassVar[Task] = "classification"
    code: ClassVar[int] = codes.SQUARED_HINGE
    strong = 1.0

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return 0.5 * np.maximum(1.0 - y * f, 0.0) ** 2

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return -y * np.maximum(1.0 - y * f, 0.0)

    def hessian(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return (y * f < 1.0).astype(np.float64)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        s = -y * u
        return np.where(inside(s, 0.0, np.inf), s * (0.5 * s - 1.0), np.inf)

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)

    def dual_step(self, y: FloatArray, f: FloatArray, a: FloatArray, k: FloatArray) -> FloatArray:
        """s = ya moves to (1 − yf + ks)/(1 + k), cut to s ≥ 0."""
        s = y * a
        return y * np.maximum(s + (1.0 - y * f - s) / (1.0 + k), 0.0)

    def ray(self, y: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        lin = y * a
        return lin, lin * lin

    def intercept(self, y: FloatArray, f: FloatArray, C: FloatArray) -> float:
        """The middle of the b without any loss, if there are such b; else the slope has one root."""
        y, f, C = weighted(y, f, C)
        b, up = y - f, y > 0  # no loss for b ≥ b_i where y = 1, for b ≤ b_i where y = −1
        lo, hi = np.max(b[up], initial=-np.inf), np.min(b[~up], initial=np.inf)
        return middle(lo, hi) if lo <= hi else super().intercept(y, f, C)

"""Huber's loss: squared for small residuals, absolute for large ones."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._fast import codes
from .base import Loss, Task, inside, weighted
from .scalar import FloatArray, piecewise_quadratic_minimum


class Huber(Loss):
    """The Huber loss of robust regression: ½ r² for |r| ≤ δ and δ|r| − ½ δ² beyond, r = y − f.

    ℓ*(y, u) = yu + ½ u² for |u| ≤ δ. No sample pulls harder than δ: with α = C a, a_i = r_i cut to [−δ, δ].

    Parameters
    ----------
    delta : float, default=1.0
        The residual δ > 0 from which the loss grows linearly. A smaller value is more robust against outliers
        in y; a large one is the squared loss.

    References
    ----------
    Huber (1964), "Robust estimation of a location parameter", Annals of Mathematical Statistics 35.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Huber
    >>> Huber(delta=1.0).value(np.zeros(2), np.array([0.5, 3.0])).tolist()
    [0.125, 2.5]
    """

    task: ClassVar[Task] = "regression"
    translates: ClassVar[bool] = True
    never_rests: ClassVar[bool] = True
    code: ClassVar[int] = codes.HUBER
    strong = 1.0

    def __init__(self, delta: float = 1.0) -> None:
        self.delta = delta

    @property
    def parameter(self) -> float:  # type: ignore[override]
        """The threshold δ, checked."""
        if not 0.0 < self.delta < np.inf:
            raise ValueError(
                f"delta={self.delta!r} was given to Huber: expected a finite number > 0, the residual from "
                "which the loss grows no faster than linearly; if it shall never do so, take Squared()."
            )
        return float(self.delta)

    def _cut(self, r: FloatArray) -> FloatArray:
        return np.clip(r, -self.parameter, self.parameter)

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        r = y - f
        a = self._cut(r)
        return np.asarray(a * (r - 0.5 * a))  # both cases: a = r, or a = ±δ

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return -self._cut(y - f)

    def hessian(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return (np.abs(y - f) <= self.parameter).astype(np.float64)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return np.where(inside(u, -self.parameter, self.parameter), u * (y + 0.5 * u), np.inf)

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full_like(y, -self.parameter), np.full_like(y, self.parameter)

    def dual_step(self, y: FloatArray, f: FloatArray, a: FloatArray, k: FloatArray) -> FloatArray:
        """a moves to (y − f + ka)/(1 + k), cut to [−δ, δ]."""
        return self._cut(a + (y - f - a) / (1.0 + k))

    def ray(self, y: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        return y * a, a * a

    def intercept(self, y: FloatArray, f: FloatArray, C: FloatArray) -> float:
        """Find the root of Σ C (b − r cut to ±δ), which bends at r ± δ, and is linear between."""
        y, f, C = weighted(y, f, C)
        return piecewise_quadratic_minimum(y - f, C, self.parameter) if C.size else 0.0

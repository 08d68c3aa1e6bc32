"""The losses of regression: squared and ε-insensitive."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._fast import codes
from .base import Loss, Task, weighted
from .piecewise import PiecewiseLinear
from .scalar import FloatArray


class Squared(Loss):
    """The squared loss, ℓ(y, f) = ½ (y − f)², with ℓ*(y, u) = yu + ½ u².

    The model is kernel ridge regression. The shorthand is ``loss="squared"``.

    References
    ----------
    Saunders, Gammerman & Vovk (1998), "Ridge regression learning algorithm in dual variables", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Squared
    >>> Squared().value(np.array([1.0, 1.0]), np.array([1.0, 3.0])).tolist()
    [0.0, 2.0]
    """

    task: ClassVar[Task] = "regression"
    translates: ClassVar[bool] = True
    quadratic: ClassVar[bool] = True
    never_rests: ClassVar[bool] = True
    code: ClassVar[int] = codes.SQUARED
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


class EpsilonInsensitive(PiecewiseLinear):
    """The loss of support vector regression, ℓ(y, f) = (|y − f| − ε)₊.

    ℓ*(y, u) = yu + ε|u| for |u| ≤ 1. The shorthand is ``loss="epsilon_insensitive"``.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which errors cost nothing, in units of y. A larger value leaves more
        samples out of the model.

    References
    ----------
    Vapnik (1995), "The Nature of Statistical Learning Theory", Springer, Chapter 6.

    Smola & Schölkopf (2004), "A tutorial on support vector regression", Statistics and Computing 14.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(0.5).value(np.zeros(2), np.array([0.25, 2.0])).tolist()
    [0.0, 1.5]
    """

    task: ClassVar[Task] = "regression"
    translates: ClassVar[bool] = True
    code: ClassVar[int] = codes.EPSILON

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    @property
    def tube(self) -> float:  # type: ignore[override]
        """The half-width ε of the tube, checked."""
        if not 0.0 <= self.epsilon < np.inf:
            raise ValueError(
                f"epsilon={self.epsilon!r} was given to EpsilonInsensitive: expected a finite number ≥ 0, "
                "the width of the tube in which an error costs nothing."
            )
        return float(self.epsilon)

    @property
    def parameter(self) -> float:  # type: ignore[override]
        """The half-width ε of the tube, checked."""
        return self.tube

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full_like(y, -1.0), np.full_like(y, 1.0)

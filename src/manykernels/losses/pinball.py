"""The pinball loss, whose least is a quantile."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._fast import codes
from .base import Task
from .piecewise import PiecewiseLinear
from .scalar import FloatArray


class Pinball(PiecewiseLinear):
    """The pinball loss of quantile regression, ℓ(y, f) = τ (y − f)₊ + (1 − τ)(f − y)₊.

    ℓ*(y, u) = yu for −u ∈ [τ − 1, τ]. A share τ of the targets lies below f. With α = C a,

        a_i = τ where y_i > f_i,      a_i = τ − 1 where y_i < f_i,      τ − 1 ≤ a_i ≤ τ where y_i = f_i,

    and an intercept makes Σ α_i = 0, so that the cost of the targets below f is at most τ ΣC, and that of
    those below or on it at least τ ΣC.

    Parameters
    ----------
    tau : float, default=0.5
        The quantile τ, 0 < τ < 1: the share of targets that shall lie below f. 0.5 is the median.

    References
    ----------
    Koenker & Bassett (1978), "Regression quantiles", Econometrica 46.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Pinball
    >>> Pinball(tau=0.9).value(np.array([1.0, 1.0]), np.array([0.0, 2.0])).round(3).tolist()
    [0.9, 0.1]
    """

    task: ClassVar[Task] = "regression"
    translates: ClassVar[bool] = True
    never_rests: ClassVar[bool] = True
    code: ClassVar[int] = codes.PINBALL

    def __init__(self, tau: float = 0.5) -> None:
        self.tau = tau

    @property
    def parameter(self) -> float:  # type: ignore[override]
        """The quantile τ, checked."""
        if not 0.0 < self.tau < 1.0:
            raise ValueError(
                f"tau={self.tau!r} was given to Pinball: expected a number between 0 and 1, the share of "
                "targets below the prediction; 0.5 is the median."
            )
        return float(self.tau)

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        tau = self.parameter
        return np.full_like(y, tau - 1.0), np.full_like(y, tau)

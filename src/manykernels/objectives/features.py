"""The regularised risk of kernels whose combinations stay in features."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..machines.features import feature_machine_for
from .base import Fit
from .separable import Separable

Array = NDArray[np.float64]


class FeatureRisk(Separable):
    """A sum of losses, with machines in the space of features."""

    def __init__(self, risk: Separable) -> None:
        self.loss, self.Y, self.C, self.fit_intercept = risk.loss, risk.Y, risk.C, risk.fit_intercept
        self.Z, self.extent, self.beside = risk.Z, risk.extent, risk.beside
        self.shift, self.machine = risk.shift, feature_machine_for(risk.loss, risk.fit_intercept, risk.Z)

    @property
    def piecewise_linear(self) -> bool:
        """Never, to the search: the joint method for corners needs matrices."""
        return False

    def solve(self, K: Any, alpha: Array, tol: float) -> Fit:
        fit = super().solve(K, alpha, tol)
        fit.alpha = self.feasible(fit.alpha)
        return fit

    def _solve_together(self, K: Any, tol: float) -> None:
        """One output after the other, the next with the factor of the last."""
        return None

    def curvature(self, K: Any, fit: Fit, R: Array) -> Array:
        parts = []
        for k, s in enumerate(fit.solutions):
            own: Any = copy(s.sensitivity)  # outputs may share a factor, and each keeps its own PR
            s.sensitivity = own
            parts.append(own.half(R[:, :, k].T))
        return np.concatenate(parts)

    def move(self, fit: Fit, alpha: Array, Bd: Array) -> Array:
        steps, row = [], 0
        for s in fit.solutions:
            assert s.sensitivity is not None
            size = s.sensitivity.support.size
            steps.append(s.sensitivity.move(Bd[row : row + size], alpha.shape[0]))
            row += size
        return np.asarray(alpha + np.stack(steps, axis=1))

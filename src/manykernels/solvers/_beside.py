"""What the unpenalised part of a squared loss takes of features and targets: means, or projections on Z."""

from __future__ import annotations

import numpy as np

from ..machines.free import solved
from ..objectives import Risk
from .base import Array


class Beside:
    """With costs C (n,): the means of columns by C, or the coefficients (ZᵀCZ)⁻¹ZᵀC of covariates Z."""

    def __init__(self, risk: Risk, C: Array) -> None:
        self.Z = risk.Z
        if risk.Z is None:
            self.centre = C / C.sum() if risk.fit_intercept else np.zeros(C.size)
        else:
            heavy = C[:, None] * risk.Z
            G = risk.Z.T @ heavy
            self.centre = solved(G, heavy.T, 1e-14 * float(np.trace(G)))

    @property
    def none(self) -> Array:
        """Of no columns."""
        return self.coefficients(np.empty((self.centre.shape[-1], 0)))

    def coefficients(self, A: Array) -> Array:
        """Of columns A (n, …): (…) for an intercept, (r, …) for covariates."""
        return np.asarray(self.centre @ A)

    def values(self, coefficients: Array) -> Array:
        """What is to be taken from the columns: a number for each, or (n, …)."""
        return coefficients if self.Z is None else np.asarray(self.Z @ coefficients)

    def offsets(self, coefficients: Array) -> Array:
        """The same of one output, as the intercepts of a result: (1,), or (n, 1)."""
        return np.array([coefficients]) if self.Z is None else np.asarray(self.Z @ coefficients)[:, None]

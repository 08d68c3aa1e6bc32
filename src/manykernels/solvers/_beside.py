"""The parts of features and targets that intercept or covariates take: means, or projections on Z."""

from __future__ import annotations

import numpy as np

from ..machines.free import solved
from ..objectives import Risk
from .base import Array


class Beside:
    """With costs C (n,): the means of columns by C, or the coefficients (ZᵀCZ)⁻¹ZᵀC of covariates Z."""

    def __init__(self, risk: Risk, C: Array) -> None:
        self.Z, self.C, self.constant = risk.Z, C, risk.fit_intercept
        if risk.Z is None:
            self.centre = C / C.sum() if risk.fit_intercept else np.zeros(C.size)
        else:
            heavy = C[:, None] * risk.Z
            G = risk.Z.T @ heavy
            self.centre = solved(G, heavy.T, 1e-14 * float(np.trace(G)))

    @property
    def none(self) -> Array:
        """Return the coefficients of no columns."""
        return self.coefficients(np.empty((self.centre.shape[-1], 0)))

    @property
    def columns(self) -> Array:
        """(n, r): a column of ones, or the covariates; none where there is no intercept."""
        return np.ones((self.C.size, int(self.constant))) if self.Z is None else self.Z

    def of_sums(self, S: Array) -> Array:
        """`coefficients` of columns A, given S = UᵀCA (r, …) for the `columns` U."""
        if self.Z is None:
            return np.asarray(S[0] / self.C.sum() if self.constant else np.zeros(S.shape[1:]))
        G = self.Z.T @ (self.C[:, None] * self.Z)
        return solved(G, S, 1e-14 * float(np.trace(G)))

    def coefficients(self, A: Array) -> Array:
        """Return the coefficients of columns A (n, …): (…) for an intercept, (r, …) for covariates."""
        return np.asarray(self.centre @ A)

    def values(self, coefficients: Array) -> Array:
        """Return the part to take from the columns: a number for each, or (n, …)."""
        return coefficients if self.Z is None else np.asarray(self.Z @ coefficients)

    def offsets(self, coefficients: Array) -> Array:
        """The same as the intercepts of a result, (k,) or (n, k); of one output it may come without k."""
        if self.Z is None:
            return np.atleast_1d(coefficients)
        return np.asarray(self.Z @ coefficients).reshape(len(self.Z), -1)

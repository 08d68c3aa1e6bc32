"""The dictionary for data one knows nothing about."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from manykernels.families._base import Family, numbers
from manykernels.kernels import Constant, Gaussian, Kernel, Linear
from manykernels.kernels._data import Array, Data
from manykernels.kernels._stationary import squared_distances

_QUANTILES = np.linspace(0.05, 0.95, 8)
_ROWS = 1000
_ROUNDING = 1e-9  # relative, of sums of weights
_SAME_POINT = 1e-6  # of the largest distance: GEMM leaves this much between equal rows
_SAME_WIDTH = 1e-3  # relative: closer widths are one kernel


class Auto(Family):
    """The linear kernel, and Gaussians with widths at eight quantiles of the distances between samples.

    The quantiles are of the positive distances among at most 1000 rows, taken evenly; a row of weight w
    counts as w rows. Data without two different rows get the linear kernel only, data that are all zero a
    constant.
    """

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        A = numbers(X, feature_names)
        if not (A.nnz if sparse.issparse(A) else np.any(A)):
            return {"Constant": Constant()}
        kernels: dict[str, Kernel] = {"Linear": Linear()}
        for width in _widths(A, sample_weight):
            kernels[f"Gaussian(width={width:.4g})"] = Gaussian(width)
        return kernels


def _widths(A: Any, sample_weight: Any) -> list[float]:
    """The distinct quantiles of the positive distances between the rows of A."""
    n = A.shape[0]
    w = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    rows = np.flatnonzero(w > 0)
    if len(rows) > _ROWS:
        # An even stride in the repeated data: a row of weight w is met in proportion to w.
        ends = np.cumsum(w[rows])
        picks = np.searchsorted(ends, (np.arange(_ROWS) + 0.5) / _ROWS * ends[-1])
        rows, w = rows[np.unique(picks)], np.bincount(rows[picks], minlength=n).astype(np.float64)
    D = squared_distances(A[rows])
    i, j = np.triu_indices(len(rows), 1)
    d, weight = np.sqrt(D[i, j]), (w[rows][i] * w[rows][j])
    positive = d > _SAME_POINT * np.max(d, initial=0.0)
    return _quantiles(d[positive], weight[positive])


def _quantiles(d: Array, weight: Array) -> list[float]:
    """The distinct values where the weighted distribution of d reaches each quantile."""
    if not len(d):
        return []
    order = np.argsort(d)
    reached = np.cumsum(weight[order])
    # The slack makes repeated and weighted data, whose sums round differently, take the same value.
    at = np.searchsorted(reached, _QUANTILES * reached[-1] * (1.0 - _ROUNDING))
    values = d[order][at]
    new = np.concatenate([[True], np.diff(values) > _SAME_WIDTH * values[1:]])
    return [float(value) for value in values[new]]

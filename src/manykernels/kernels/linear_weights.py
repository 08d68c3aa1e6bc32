"""Weights of the features of a model whose active kernels are all linear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import Fitted, Kernel, Linear, OnColumns, Scaled
from .data import numeric, positions

Array = NDArray[np.float64]


def linear_coefficients(
    kernels: Sequence[Fitted], names: Sequence[str], theta: Array, X: Any, alpha: Array
) -> Array:
    """(outputs, n_features): Σ_m θ_m s_m X_Jᵀα for kernels s_m⟨x_J, x'_J⟩ on columns J; θ is (outputs, M).

    Samples that lack the columns have their means in the place of x_J. The coefficients are those of samples
    that have all columns: what absence itself adds is not among them.
    """
    X, absent = _without_gaps(X), X
    XA = np.asarray(X.T @ alpha)  # (d, outputs)
    coef = np.zeros(XA.T.shape)
    for m in map(int, np.flatnonzero(theta.any(axis=0))):
        columns, scale = _linear(kernels[m], names[m])
        where = slice(None) if columns is None else positions(X, columns(X) if callable(columns) else columns)
        where = [where] if isinstance(where, int) else where
        coef[:, where] += (scale * theta[:, m])[:, None] * XA[where].T
        rest, having = kernels[m].rest_, kernels[m].present(absent)
        if having is not None and rest is not None and rest.X is not None:
            mean = (rest.weight / rest.weight.sum()) @ np.nan_to_num(numeric(rest.X)[:, where])
            coef[:, where] += (scale * theta[:, m] * alpha[~having].sum(axis=0))[:, None] * mean
    return coef


def _without_gaps(X: Any) -> Any:
    """Numbers with zeros where samples lack them."""
    if sparse.issparse(X):
        return X
    A = numeric(X)
    return np.nan_to_num(A, nan=0.0) if np.isnan(A).any() else X


def _linear(fitted: Fitted, name: str) -> tuple[Any, float]:
    """(columns or None for all, factor) of a linear kernel."""
    if not fitted.is_scaling:
        raise AttributeError(
            f"coef_ is not defined with center=True or normalize='cosine': kernel {name!r} is then not "
            "linear in X itself. Centre the features instead (StandardScaler(with_std=False)), or use "
            "contributions(X)."
        )
    kernel: Kernel = fitted.kernel
    columns, scale = None, fitted.scale_
    while not isinstance(kernel, Linear):
        if isinstance(kernel, Scaled):
            scale, kernel = scale * float(kernel.factor), kernel.kernel
        elif isinstance(kernel, OnColumns) and columns is None and not isinstance(kernel.kernel, OnColumns):
            columns, kernel = kernel.columns, kernel.kernel
        else:
            raise AttributeError(
                f"coef_ needs all active kernels to be linear, and {name!r} is not; use contributions(X) "
                "instead."
            )
    return columns, float(scale)

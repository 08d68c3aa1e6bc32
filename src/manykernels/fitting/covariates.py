"""Covariates: columns that enter a model unpenalised, beside its kernels, as a matrix of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import and_more
from ..families.base import names_of
from ..kernels.cells import column_of, holds_numbers
from ..kernels.data import take_columns
from .matching import require_order

Array = NDArray[np.float64]
_CONSTANT = "constant"


def design(covariates: Any, X: Any, n: int) -> tuple[Array, list[str]]:
    """Z (n, 1 + covariates), whose first column is constant, and the names of its columns.

    ``covariates`` are columns of X, as OnColumns takes them, or an array or frame with n rows. A column
    that does not hold numbers becomes indicators of its levels but the first.
    """
    ones, names = np.ones((n, 1)), [_CONSTANT]
    if covariates is None:
        return ones, names
    table = _table(covariates, X, n)
    parts = [ones]
    for j, name in enumerate(names_of(table)):
        values, made = _column(column_of(table, j), name)
        parts.append(values)
        names += made
    return np.hstack(parts), names


def _table(covariates: Any, X: Any, n: int) -> Any:
    """The covariates as a table of two dimensions."""
    shape = tuple(getattr(covariates, "shape", ()))
    if len(shape) == 2 or (shape == (n,) and getattr(covariates.dtype, "kind", "O") == "f"):
        if shape[0] != n:
            raise ValueError(
                f"covariates of shape {shape} were given for {n} samples; expected a row for each."
            )
        require_order(X, covariates, "covariates")
        return covariates if len(shape) == 2 else np.asarray(covariates)[:, None]
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError(
            "covariates name columns of X, and X is no table; give an array or a frame of shape (n_samples, "
            "n_covariates)."
        )
    names = [covariates] if isinstance(covariates, str | int | np.integer) else covariates
    return take_columns(X, names)


def _column(column: Any, name: str) -> tuple[Array, list[str]]:
    """One covariate as numbers, and what these are called."""
    if holds_numbers(column):
        values = np.asarray(column, dtype=np.float64)
        gaps = np.flatnonzero(~np.isfinite(values))
        _require_whole(gaps, name)
        scale = float(np.std(values))
        return ((values - values.mean()) / (scale if scale > 0.0 else 1.0))[:, None], [name]
    labels = np.asarray(column, dtype=object)
    _require_whole(np.flatnonzero([v is None or v != v for v in labels]), name)
    levels, codes = np.unique(labels.astype(str), return_inverse=True)
    made = [f"{name}={level}" for level in levels[1:]]
    return (codes[:, None] == np.arange(1, levels.size)).astype(np.float64), made


def _require_whole(gaps: Any, name: str) -> None:
    if len(gaps):
        rows = and_more([str(i) for i in gaps], 5)
        raise ValueError(
            f"the covariate {name!r} has missing or infinite values (rows {rows}); fill them, or leave these "
            "samples out."
        )

"""Frames and arrays of objects that are kept as they are, and what kernels may read of them."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
from scipy import sparse

from ..families.base import names_of
from ..families.tables import Table, read_columns
from ..kernels.cells import column_of, holds_numbers, is_missing, numbers_of, numeric_type
from ..kernels.data import take_columns
from ..kernels.presence import rows_having
from .spec import by_name, prepared_columns, raw_columns, raw_groups, reads_tables, selections

_LACKS = (
    " (a sample may lack a whole view, where all its columns are missing; this one has other values of it)"
)
_MANY = 100  # columns, from which going through them is noticed


def is_table(X: Any, spec: Any) -> bool:
    """Tell whether X must be kept as it is for kernels that select its columns."""
    chosen = list(selections(spec))
    if not (chosen or reads_tables(spec)) or sparse.issparse(X):
        return False
    if hasattr(X, "columns"):
        return any(map(by_name, chosen)) or bool(_text_columns(X))
    if isinstance(X, list | tuple):
        return any(isinstance(value, str) for row in X if isinstance(row, list | tuple) for value in row)
    A = X if isinstance(X, np.ndarray) else np.empty(0)
    return A.ndim == 2 and (A.dtype.kind in "UT" or (A.dtype.kind == "O" and any(map(_is_cell, A.flat))))


def is_text_column(X: Any, spec: Any) -> bool:
    """Tell whether X is a frame of one text column, which kernels that select no columns read as a list."""
    if not hasattr(X, "columns") or len(X.shape) != 2 or X.shape[1] != 1 or X.shape[0] == 0:
        return False
    if any(True for _ in selections(spec)) or reads_tables(spec) or not _text_columns(X):
        return False
    return all(isinstance(cell, str) for cell in column_of(X, 0))


def _is_cell(value: Any) -> bool:
    """Tell whether only tables hold such a value: a text, a date, or a mark of pandas for a missing one."""
    return isinstance(value, str | date | np.datetime64) or type(value).__name__ in ("NAType", "NaTType")


def as_table(X: Any) -> Any:
    """A frame as it is, rows of cells as an array of objects."""
    return X if hasattr(X, "columns") else np.asarray(X, dtype=object)


def read_table(X: Any, spec: Any) -> Any:
    """X, whose columns that some kernel uses hold finite numbers, or text without gaps."""
    if len(X.shape) != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"X of shape {tuple(X.shape)} was given; expected at least one sample and one feature."
        )
    return require_complete(in_few_blocks(X), spec)


def in_few_blocks(X: Any) -> Any:
    """A pandas frame of many columns with those of one type side by side in memory; all else as it is.

    A frame that was read from a CSV file, or whose columns were selected by a list, keeps each column by
    itself, and whatever takes rows or columns of it goes through all of them. A copy does not.
    """
    return X.copy() if hasattr(X, "iloc") and X.shape[1] > _MANY else X


def require_complete(X: Any, spec: Any) -> Any:
    """X, whose columns that kernels read as they are have no gaps, but for samples that lack a whole view."""
    names = names_of(X)
    gaps: dict[int, Any] = {}
    for columns, view in raw_groups(spec, X):
        for j in sorted(columns):
            bad = gaps[j] if j in gaps else gaps.setdefault(j, _gaps(column_of(X, j)))
            if bad.size and view:
                having = rows_having(take_columns(X, sorted(columns)))
                bad = bad if having is None else bad[having[bad]]
            if bad.size:
                raise ValueError(
                    f"Column {names[j]!r} of X holds a missing value, NaN or infinity (row {bad[0]}), and a "
                    f"kernel uses it{_LACKS * view}. Impute it, for example by sklearn.impute.SimpleImputer, "
                    "or leave such samples out."
                )
    return X


def _gaps(column: Any) -> Any:
    """The rows where there is no finite number, or no text."""
    gaps = is_missing(column)
    if not gaps.any() and holds_numbers(column):
        gaps = ~np.isfinite(numbers_of(column))
    return np.flatnonzero(gaps)


def columns_held(spec: Any, X: Any, names: Any) -> Table | None:
    """Return what the columns hold that kernels prepare; None where kernels read all columns as they are."""
    if sparse.issparse(X) or not (groups := prepared_columns(spec, X)):
        return None
    table = read_columns(X, None if hasattr(X, "columns") else names, groups)
    if not table.used and not raw_columns(spec, X):
        told = "; ".join(f"{table.names[j]!r}: {why}" for j, why in list(table.left_out.items())[:5])
        raise ValueError(f"No column of X is left to learn from ({told}). Give columns that vary.")
    return table


def _text_columns(X: Any) -> list[int]:
    other = [j for j, dtype in enumerate(X.dtypes) if not numeric_type(dtype)]
    return [j for j in other if not holds_numbers(column_of(X, j))]

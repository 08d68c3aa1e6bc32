"""Data as kernels read them: arrays, CSR matrices, pandas and polars frames, lists of strings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arguments import is_masked, require_arguments, shown

Array: TypeAlias = NDArray[np.float64]
Data: TypeAlias = Any  # whatever holds the samples in its rows
Columns: TypeAlias = Any  # int, str, slice, list of int or of str, bool mask, callable(X)


def rounding(dtype: Any) -> float:
    """Return the relative size of rounding errors in matrices of this type."""
    return {np.dtype(np.float32): 1e-4, np.dtype(np.float16): 3e-2}.get(np.dtype(dtype), 1e-7)


def n_samples(X: Data) -> int:
    """Number of rows of X."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def matrix_shape(X: Data, Y: Data | None) -> tuple[int, int]:
    """Shape of a kernel matrix of X and Y; a stack (n_samples, n_train, n_layers) holds both sides itself."""
    if is_stack(X):
        return int(X.shape[0]), int(X.shape[1])
    return n_samples(X), n_samples(X if Y is None else Y)


def is_stack(X: Data) -> bool:
    """Tell whether X is a stack of matrices rather than samples with features."""
    return len(getattr(X, "shape", ())) == 3


def take_rows(X: Data, lo: int, hi: int) -> Data:
    """Rows lo to hi of X, in X's own type."""
    return X.iloc[lo:hi] if hasattr(X, "iloc") else X[lo:hi]


def same(X: Data, Y: Data) -> bool:
    """Tell whether Y is X, or a view of exactly the same memory."""
    if X is Y:
        return True
    if not (isinstance(X, np.ndarray) and isinstance(Y, np.ndarray)) or X.dtype != Y.dtype:
        return False
    return X.shape == Y.shape and X.strides == Y.strides and X.ctypes.data == Y.ctypes.data


def numeric(X: Data) -> Any:
    """X as a contiguous (n, d) array of float64, or CSR if it is sparse; one column may come as 1-D."""
    if sparse.issparse(X):
        return X.tocsr().astype(np.float64, copy=False)
    A = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
    try:
        if A.dtype.kind == "O" and hasattr(X, "iloc"):  # numbers among which some are NA
            A = X.to_numpy(dtype=np.float64, na_value=np.nan)
        if A.dtype.kind in "USM":
            raise ValueError(f"values of type {A.dtype}")
        A = A.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"A numeric kernel expects numbers, got {type(X).__name__} ({error}). Give a text column its own "
            "kernel, such as OnColumns(Spectrum(3), column), and select the others with "
            "OnColumns(kernel, columns)."
        ) from error
    if A.ndim == 1:
        A = A[:, None]
    if A.ndim != 2:
        raise ValueError(
            f"A kernel on features expects X of shape (n_samples, n_features), got shape {A.shape}. "
            "A stack of kernels or distances needs Precomputed(index) or FromDistance(gamma, index)."
        )
    return A if A.flags.c_contiguous or A.flags.f_contiguous else np.ascontiguousarray(A)


def numeric_pair(X: Data, Y: Data | None) -> tuple[Any, Any, bool]:
    """Both sides as numbers, and whether they are the same points."""
    A = numeric(X)
    if Y is None or same(X, Y):
        return A, A, True
    B = numeric(Y)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"X has {A.shape[1]} features and Y has {B.shape[1]}; a kernel compares equal features."
        )
    return A, B, False


def dense_pair(X: Data, Y: Data | None, kernel: str) -> tuple[Array, Array, bool]:
    """``numeric_pair`` for a kernel that cannot work on sparse matrices."""
    A, B, symmetric = numeric_pair(X, Y)
    if sparse.issparse(A) or sparse.issparse(B):
        raise ValueError(f"{kernel} was given a sparse matrix; expected a dense one: call X.toarray() first.")
    return A, B, symmetric


def strings(X: Data) -> list[str]:
    """X as a list of strings: a list, a 1-D array or series, or a frame or array of one column."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if X.ndim != 1:
            raise ValueError(
                f"A string kernel expects one column of strings, got shape {X.shape}. "
                "Select it with OnColumns(Spectrum(k), column)."
            )
        X = X.tolist()
    if isinstance(X, str) or not isinstance(X, Iterable):
        raise ValueError(f"A string kernel expects a list or column of strings, got {_kind(X)}.")
    texts = list(X)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"A string kernel expects strings, got {text!r} ({type(text).__name__}) in row {i}."
            )
    return texts


def take_columns(X: Data, columns: Columns) -> Data:
    """The columns of X that ``columns`` names, as scikit-learn's ColumnTransformer reads it.

    One column given as int or str comes out 1-D, except for sparse X, which is never 1-D.
    """
    if callable(columns):
        require_arguments(columns, 1, "columns(X)")
        columns = columns(X)
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object) if _any_text(X) else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"Selecting columns needs X of shape (n_samples, n_features), got shape {tuple(X.shape)}."
        )
    where = positions(X, columns)
    if sparse.issparse(X):
        return X.tocsr()[:, [where] if isinstance(where, int) else where]
    if isinstance(where, list) and not isinstance(X, np.ndarray):
        where = _side_by_side(where)
    return X.iloc[:, where] if hasattr(X, "iloc") else X[:, where]


def _side_by_side(where: list[int]) -> list[int] | slice:
    """Neighbouring columns as a slice: frames take a list of thousands of columns one by one."""
    if len(where) < 2 or where[0] < 0 or where != list(range(where[0], where[0] + len(where))):
        return where
    return slice(where[0], where[0] + len(where))


def column_key(columns: Columns) -> Hashable | None:
    """A hashable that is equal only for selections that are equal on any X; None if there is none."""
    if isinstance(columns, slice):
        return ("slice", columns.start, columns.stop, columns.step)
    if callable(columns):
        return columns if isinstance(columns, Hashable) else None
    if isinstance(columns, str | int | np.integer):
        return (columns,)
    if np.ndim(columns) != 1 or is_masked(columns):
        return None
    return ("mask", *map(bool, columns)) if _is_mask(columns) else tuple(columns)


def positions(X: Data, columns: Columns) -> int | slice | list[int]:
    """``columns`` as positions in X: an int, a slice or a list of ints."""
    d = int(X.shape[1])
    if isinstance(columns, str):
        return _named(X, [columns])[0]
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            # Names include both ends, as in ColumnTransformer.
            start = None if columns.start is None else _named(X, [columns.start])[0]
            stop = None if columns.stop is None else _named(X, [columns.stop])[0] + 1
            return slice(start, stop, columns.step)
        return columns
    if isinstance(columns, int | np.integer) and not isinstance(columns, bool):
        return _within(int(columns), d)
    if isinstance(columns, list | tuple) and columns and set(map(type, columns)) == {int}:  # may be thousands
        for end in (min(columns), max(columns)):
            _within(end, d)
        return list(columns)
    if np.ndim(columns) != 1 or not all(isinstance(c, str | int | np.integer | np.bool_) for c in columns):
        raise ValueError(
            f"columns={shown(columns)} was given; expected an int, a name, a slice, a list of ints or names, "
            "a boolean mask, or a callable that returns one of them."
        )
    if _is_mask(columns):
        if len(columns) != d:
            raise ValueError(f"A boolean mask of {len(columns)} columns was given for X with {d} columns.")
        return [int(j) for j in np.flatnonzero(columns)]
    if any(isinstance(c, str) for c in columns):
        return _named(X, list(columns))
    return [_within(int(c), d) for c in columns]


def _named(X: Data, names: list[str]) -> list[int]:
    """Find the positions of columns of a frame by their names."""
    if not hasattr(X, "get_column_index") and not hasattr(X, "columns"):  # polars makes a list of the latter
        raise ValueError(
            f"Column {names[0]!r} was asked for by name, but X ({_kind(X)}) has no column names. "
            "Give a pandas or polars frame, or select by position."
        )
    found = _places(X, names)
    for name, j in zip(names, found, strict=True):
        if j < 0:
            columns = list(X.columns)
            shown = ", ".join(map(repr, columns[:20])) + (", …" if len(columns) > 20 else "")
            raise ValueError(f"Column {name!r} is not in X, whose columns are {shown}.")
    return found


def _places(X: Data, names: list[str]) -> list[int]:
    """Find the positions of columns, −1 for those that are not there.

    Thousands of kernels may ask for a column each, so a frame is asked by the index that it keeps, and its
    names are gone through only where it keeps none.
    """
    if hasattr(X, "get_column_index"):  # polars
        return [_polars_place(X, name) for name in names]
    columns = X.columns
    if getattr(columns, "is_unique", False):  # pandas
        if len(names) == 1:
            return [columns.get_loc(names[0]) if names[0] in columns else -1]
        return [int(j) for j in columns.get_indexer(names)]
    position = {name: j for j, name in enumerate(columns)}
    return [position.get(name, -1) for name in names]


def _polars_place(X: Data, name: Any) -> int:
    try:
        return int(X.get_column_index(name))
    except Exception as error:
        if isinstance(error, TypeError) or type(error).__name__ == "ColumnNotFoundError":
            return -1
        raise


def _within(j: int, d: int) -> int:
    if not -d <= j < d:
        raise ValueError(f"Column {shown(j)} was asked for, but X has {d} columns (0 to {d - 1}).")
    return j


def _is_mask(columns: Any) -> bool:
    return len(columns) > 0 and all(isinstance(c, bool | np.bool_) for c in columns)


def _any_text(X: Iterable[Any]) -> bool:
    return any(isinstance(value, str) for row in X if isinstance(row, list | tuple) for value in row)


def _kind(X: Data) -> str:
    shape = getattr(X, "shape", None)
    return type(X).__name__ + ("" if shape is None else f" of shape {tuple(shape)}")

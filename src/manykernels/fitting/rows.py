"""One row per different sample, in an order that does not depend on the order they came in.

A sample of weight 2 and a sample given twice are the same problem. So that they also get the same answer to
the last digit, rows of weight zero are dropped, equal rows with equal targets are merged (their weights add
up) and the problem is solved in a canonical order. The dual coefficients are then shared out among the rows
that were merged, in proportion to their weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..kernels.cells import column_of, is_time, numbers_of, numeric_type, values_of
from ..kernels.preparation import number_matrix
from .layout import Kind

Array = NDArray[np.float64]
_WHOLE = 2.0**53  # from where on neighbouring whole numbers may be one float


@dataclass(frozen=True)
class Rows:
    """The merged rows: which given row stands for each one, and what became of every given row."""

    first: NDArray[np.intp]  # (merged,) the given row that stands for it
    owner: NDArray[np.intp]  # (given,) the merged row it belongs to, −1 where it was dropped
    weight: Array  # (merged,) the sum of the weights
    share: Array  # (given,) of the merged row's weight

    def spread(self, alpha: Array) -> Array:
        """Coefficients of the merged rows (merged, k), shared out to the given ones (given, k)."""
        return np.where(self.owner[:, None] >= 0, alpha[self.owner] * self.share[:, None], 0.0)

    def gather(self, alpha: Array) -> Array:
        """The other way: coefficients of the given rows added up in the merged ones."""
        kept = self.owner >= 0
        total = np.zeros((self.first.size, alpha.shape[1]))
        np.add.at(total, self.owner[kept], alpha[kept])
        return total


def merge(X: Any, kind: Kind, Y: Array, weight: Array, kept: NDArray[np.intp]) -> Rows:
    """Merge the rows `kept` of X with equal targets Y (kept, k); weights (given,) are positive there."""
    if kind == "stack":
        first, owner = np.arange(kept.size), np.arange(kept.size)
    else:
        codes = _codes(X, kind, kept) + 0.0
        _, first, owner = _unique_rows(codes)
        if first.size < kept.size:  # equal samples may differ in their targets, which may be many
            _, first, owner = _unique_rows(np.column_stack([codes, Y]) + 0.0)
    total: Array = np.bincount(owner, weight[kept]).astype(float)
    everyone = np.full(weight.size, -1, dtype=np.intp)
    everyone[kept] = owner
    share = np.zeros(weight.size)
    share[kept] = weight[kept] / total[owner]
    return Rows(kept[first], everyone, total, share)


def _unique_rows(A: Array) -> tuple[Any, NDArray[np.intp], NDArray[np.intp]]:
    """Different rows of A in the order of their bytes, the first place of each, and where each row went."""
    A = np.ascontiguousarray(A)
    rows = A.view(np.dtype((np.void, A.itemsize * A.shape[1]))).ravel()
    values, first, owner = np.unique(rows, return_index=True, return_inverse=True)
    return values, first, owner.ravel()


def _codes(X: Any, kind: Kind, kept: NDArray[np.intp]) -> Array:
    """Numbers that are equal exactly where the rows `kept` of X are, whatever the order of the rows."""
    if kind == "items":
        return _rank(X[kept])[:, None]
    if kind == "table":
        return _table_codes(X, kept)
    if not sparse.issparse(X):
        A = np.array(X[kept])
        A[np.isnan(A)] = np.nan  # which has many bit patterns
        return A
    X = X[kept].copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    spans = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return _rank(
        np.array([X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in spans], dtype=object)
    )[:, None]


def _table_codes(X: Any, kept: NDArray[np.intp]) -> Array:
    """Columns of numbers as they are, in one piece since they may be many; the others as ranks."""
    plain = [j for j, kind in enumerate(getattr(X, "dtypes", ())) if numeric_type(kind)]
    A = number_matrix(X, plain, {})[kept]
    exact = np.logical_not((np.abs(A) >= _WHOLE).any(axis=0)).reshape(len(plain))
    A = A[:, exact]
    A[np.isnan(A)] = np.nan  # which has many bit patterns
    others = sorted(set(range(X.shape[1])) - {j for j, same in zip(plain, exact, strict=True) if same})
    return np.column_stack([A, *(_rank(_cells(column_of(X, j))[kept]) for j in others)])


def _cells(column: Any) -> NDArray[Any]:
    """A column whose missing values are all the same."""
    return numbers_of(column) if is_time(column) else values_of(column)


def _rank(values: NDArray[Any]) -> Array:
    """The place of every value among the different ones; things without an order are all different."""
    try:
        return np.asarray(np.unique(values, return_inverse=True)[1].ravel(), dtype=float)
    except (TypeError, ValueError):  # no order between them
        if not all(value is None or isinstance(value, str | Number) for value in values):
            return np.arange(len(values), dtype=float)
        named = [f"{type(value).__name__} {value!r}" for value in values]
        return np.asarray(np.unique(named, return_inverse=True)[1], dtype=float)

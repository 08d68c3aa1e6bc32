"""Effects of the values of a column on predictions: over all held-out samples, and on one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples

from ..fitting.layout import evenly, take
from ..kernels.cells import column_of, is_missing, numeric_type
from ..kernels.data import is_stack
from ._permuted import Index, joined, numbers_said, permuted

Array = NDArray[np.float64]
_POINTS = 11  # of a curve
_CATEGORIES = 8  # values of a column that are told one by one
_ROWS = 40  # held-out samples that are given each value
_OTHERS = 10  # samples whose values take the place of a sample's own
_ENDS = (0.025, 0.975)  # quantiles between which a curve lies


@dataclass(frozen=True)
class Effect:
    """Predictions of a model if all held-out samples have the same value in one column.

    Parameters
    ----------
    name : str
        The name of the column.
    values : list
        The values that the samples were given: numbers, or categories.
    means : ndarray of shape (n_folds, n_values, n_outputs)
        The mean predictions; for classes, the share of samples that is predicted to be each.
    outputs : list of str
        The names of the outputs: classes, or one empty name.
    place : int, default=0
        The position of the column.

    Attributes
    ----------
    numeric : bool
        Whether the values are numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspection import Effect
    >>> Effect("age", [30.0, 60.0], np.array([[[0.2], [0.7]]]), [""]).numeric
    True
    """

    name: str
    values: list[Any]
    means: Array
    outputs: list[str]
    place: int = 0

    @property
    def numeric(self) -> bool:
        """True if the values are numbers."""
        return not isinstance(self.values[0], str)


def grid_of(X: Any, column: int) -> list[Any]:
    """Values of a column that curves go through; none for text and dates, or where there is one value."""
    if is_stack(X) or sparse.issparse(X):
        return []
    cells = column_of(X, column)
    known = np.asarray(cells)[~is_missing(cells)]
    if not numeric_type(cells.dtype):
        if str(cells.dtype).startswith(("date", "Date", "time", "Dura")):
            return []
        found = sorted({str(value) for value in known})
        return found if 1 < len(found) <= _CATEGORIES else []
    numbers = known.astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    distinct = np.unique(numbers)
    if distinct.size <= _CATEGORIES:
        return distinct.tolist() if distinct.size > 1 else []
    low, high = np.quantile(numbers, _ENDS)
    return np.unique(np.quantile(numbers, np.linspace(*_ENDS, _POINTS))).tolist() if high > low else []


def nearest_rows(X: Any, column: int, grid: Sequence[Any]) -> Index:
    """For each value of a grid a row of X that has it, or the number nearest to it."""
    cells = column_of(X, column)
    if isinstance(grid[0], str):
        texts = np.array([str(value) for value in np.asarray(cells)])
        return np.array([int(np.flatnonzero(texts == value)[0]) for value in grid])
    numbers = np.asarray(cells).astype(np.float64) if not is_missing(cells).any() else _numbers(cells)
    return np.array([int(np.nanargmin(np.abs(numbers - value))) for value in grid])


def _numbers(cells: Any) -> Array:
    missing = is_missing(cells)
    found = np.full(missing.size, np.nan)
    found[~missing] = np.asarray(cells)[~missing].astype(np.float64)
    return found


def curve(model: Any, held: Any, givers: Any, column: int) -> Array:
    """(values, outputs), what a fitted model says on average when all samples have a giver's value.

    `givers` are rows with the values, in the order of the curve. Rows are taken as they are, so that a column
    keeps its type, whatever that is.
    """
    some = take(held, evenly(_num_samples(held), _ROWS))
    n, size = _num_samples(some), _num_samples(givers)
    both = joined([some, givers])
    tables = [
        take(permuted(both, [column], np.r_[np.full(n, n + g), np.arange(n, n + size)]), np.arange(n))
        for g in range(size)
    ]
    return np.stack([part.mean(axis=0) for part in np.split(said_of(model, joined(tables)), size)])


def said_of(model: Any, X: Any) -> Array:
    """Return what a model predicts: numbers as they are, and a column of 0 and 1 for each class."""
    classes = getattr(model, "classes_", None)
    predicted = np.asarray(model.predict(X))
    if classes is None:
        return predicted.reshape(len(predicted), -1).astype(np.float64)
    return np.asarray(predicted.astype(str)[:, None] == np.asarray(classes).astype(str)[None], dtype=float)


def swaps(model: Any, X: Any, row: int, blocks: Sequence[Sequence[int]]) -> Array:
    """(blocks, outputs), how a decision changes by a sample's own values in place of those of others.

    Other samples of X lend their values in one block of columns at a time; the mean over these decisions is
    taken from the decision on the sample itself.
    """
    others = np.setdiff1d(evenly(_num_samples(X), _OTHERS + 1), [row])[:_OTHERS]
    if not others.size:
        return np.zeros((len(blocks), 1))
    n = others.size
    both = take(X, np.r_[np.full(n, row), others])
    order = np.r_[np.arange(n, 2 * n), np.arange(n, 2 * n)]
    tables = [take(permuted(both, list(block), order), np.arange(n)) for block in blocks]
    said = numbers_said(model, joined([take(X, [row]), *tables]))
    return np.asarray(said[0] - said[1:].reshape(len(blocks), n, -1).mean(axis=1))

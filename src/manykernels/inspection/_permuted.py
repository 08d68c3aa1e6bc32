"""Tables and stacks with permuted columns, and the predictions for many of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples

from ..fitting.layout import evenly, take
from ..fitting.spec import views_in
from ..kernels.data import is_stack, positions, take_columns
from ..kernels.presence import Mask, layer_having, rows_having

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Lacked = list[tuple[set[int], Mask]]
Scorer = Callable[[Any, Any, Any], float]
_ENTRIES = 8_000_000  # numbers that tables which are predicted at once may hold, or kernels between them
_METHODS = ("predict", "decision_function", "predict_proba")
_SCREENED_ROWS = 50  # samples on which a screen looks at predictions


def permuted(X: Any, columns: Sequence[int], order: Index) -> Any:
    """Return X with the rows of some columns in another order; the columns of a stack are its layers."""
    if sparse.issparse(X):
        moved = np.zeros(X.shape[1])
        moved[columns] = 1.0
        return (X @ sparse.diags_array(1.0 - moved) + X[order] @ sparse.diags_array(moved)).tocsr()
    if hasattr(X, "iloc") and _of_one_type(X):
        values = permuted(X.to_numpy(), columns, order)
        return type(X)(values, index=X.index, columns=X.columns)
    if hasattr(X, "iloc"):
        taken = np.arange(X.shape[1])
        taken[columns] += X.shape[1]
        both = _library(X).concat([X, X.iloc[order].set_axis(X.index)], axis=1)
        return both.iloc[:, taken]
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(X[order][:, list(columns)].get_columns())
    changed = X.copy()
    changed[..., columns] = X[order][..., columns]
    return changed


def _of_one_type(X: Any) -> bool:
    """Tell whether a frame of pandas is one array of numbers: as such it need not be cut into columns."""
    types = set(X.dtypes)
    return len(types) == 1 and isinstance(dtype := types.pop(), np.dtype) and dtype.kind in "biuf"


def lacked_views(model: Any, X: Any) -> Lacked:
    """Return the columns (or layers) of views that some samples lack, and which samples have them."""
    kernels = getattr(model, "kernels", None)  # of a pipeline, which fills what is missing, nothing is known
    if kernels is None or sparse.issparse(X):
        return []
    if is_stack(X):
        masks = [layer_having(X[:, :, m]) for m in range(X.shape[2])]
        return [({m}, mask) for m, mask in enumerate(masks) if mask is not None]
    found = []
    for columns in views_in(kernels, X, getattr(model, "feature_names_in_", None))[0].values():
        mask = rows_having(take_columns(X, columns))
        if mask is not None:
            where = positions(X, columns(X) if callable(columns) else columns)
            found.append(({int(j) for j in np.ravel(np.arange(X.shape[1])[where])}, mask))
    return found


def among_present(order: Index, columns: Sequence[int], lacked: Lacked) -> Index:
    """Return an order of rows in which samples that lack the view of these columns keep their place."""
    chosen = set(map(int, columns))
    masks = [mask for own, mask in lacked if own & chosen]
    if not masks:
        return order
    having = np.logical_and.reduce(masks)
    moved = np.arange(order.size)
    moved[having] = order[having[order]]
    return moved


def joined(tables: Sequence[Any]) -> Any:
    """Join the rows of several tables of one type."""
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    if sparse.issparse(first):
        return sparse.vstack(tables, format="csr")
    if hasattr(first, "iloc"):
        return _library(first).concat(tables, ignore_index=True)
    if hasattr(first, "with_columns"):
        return _library(first).concat(tables)
    return np.concatenate(tables)


def _library(frame: Any) -> Any:
    """pandas or polars: this package needs neither, and a frame comes with the one that made it."""
    return sys.modules[type(frame).__module__.partition(".")[0]]


class Answers:
    """A fitted model whose predictions for several tables of equal length are made at once.

    Scorers are given a stand-in of the model, which hands out the part of these predictions that belongs to
    the table. Whatever else a scorer asks for, the model itself answers.
    """

    def __init__(self, model: Any, tables: Sequence[Any]) -> None:
        self.model, self.tables = model, tables
        self.known: dict[str, Any] = {}

    def scores(self, scorer: Scorer, y: Any) -> list[float]:
        """Score the model on each table, all with the same targets."""
        return [float(scorer(self._stand_in(k), table, y)) for k, table in enumerate(self.tables)]

    def _stand_in(self, k: int) -> Any:
        stand_in = copy(self.model)
        for method in _METHODS:
            if hasattr(self.model, method):
                answer = partial(self._answer, k, method)
                answer.__name__ = method  # type: ignore[attr-defined]  # which scikit-learn looks at
                setattr(stand_in, method, answer)
        return stand_in

    def _answer(self, k: int, method: str, X: Any, **how: Any) -> Any:
        how = {name: value for name, value in how.items() if value is not None}
        if how or X is not self.tables[k]:
            return getattr(self.model, method)(X, **how)
        if method not in self.known:
            self.known[method] = getattr(self.model, method)(joined(self.tables))
        n = _num_samples(X)
        return self.known[method][k * n : (k + 1) * n]


def batches(
    X: Any, n_train: int, blocks: Sequence[Sequence[int]], orders: Sequence[Index], lacked: Lacked
) -> Iterator[Any]:
    """Make lists of permuted tables that are small enough to be predicted at once.

    Values of a view are exchanged among the samples that have it.
    """
    size = _num_samples(X) * max(n_train, int(np.prod(X.shape[1:])), 1)
    at_once = max(1, _ENTRIES // size)
    pairs = [(block, among_present(order, block, lacked)) for block in blocks for order in orders]
    for start in range(0, len(pairs), at_once):
        yield [permuted(X, *pair) for pair in pairs[start : start + at_once]]


def drops(
    model: Any,
    scorer: Scorer,
    X: Any,
    y: Any,
    n_train: int,
    blocks: Sequence[Sequence[int]],
    orders: Sequence[Index],
) -> tuple[float, Array]:
    """Return the score on held-out samples, and its losses (blocks, orders) when a block is permuted."""
    (before,) = Answers(model, [X]).scores(scorer, y)
    changed = batches(X, n_train, blocks, orders, lacked_views(model, X))
    after = [s for tables in changed for s in Answers(model, tables).scores(scorer, y)]
    return before, before - np.reshape(after, (len(blocks), len(orders)))


def screen(model: Any, X: Any, n_train: int, keep: int, rng: np.random.RandomState) -> list[int]:
    """Find the columns whose permutation changes the predictions of a fitted model most.

    Columns are permuted in groups. The groups that change the predictions most are halved, until each group
    is one column, so that p columns take about 2 keep log₂(p / keep) predictions in place of p. Targets are
    not looked at, so that a column is not preferred because it suits the samples it is scored on.
    """
    X = take(X, evenly(_num_samples(X), _SCREENED_ROWS))
    order, lacked = rng.permutation(_num_samples(X)), lacked_views(model, X)
    said = numbers_said(model, X)
    width = X.shape[2] if is_stack(X) else X.shape[1]
    groups: list[Any] = np.array_split(np.arange(width), min(width, 2 * keep))
    while True:
        changed = [
            float(np.mean((part - said) ** 2))
            for tables in batches(X, n_train, groups, [order], lacked)
            for part in np.split(numbers_said(model, joined(tables)), len(tables))
        ]
        best = [g for g in np.argsort(-np.array(changed), kind="stable")[:keep] if changed[g] > 0.0]
        if all(len(groups[g]) == 1 for g in best):
            return sorted(int(groups[g][0]) for g in best)
        groups = [half for g in best for half in np.array_split(groups[g], 2) if half.size]


def numbers_said(model: Any, X: Any) -> Array:
    """Return the predictions of a model as numbers: decisions or probabilities if it has them."""
    method = next(m for m in ("decision_function", "predict_proba", "predict") if hasattr(model, m))
    said = np.asarray(getattr(model, method)(X))
    if said.dtype.kind not in "biuf":  # labels
        said = np.unique(said, return_inverse=True)[1]
    return said.reshape(len(said), -1).astype(np.float64)

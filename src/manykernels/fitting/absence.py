"""Presence of views in samples, and errors about views or samples that have nothing.

A view is absent in a sample whose cells in all of its columns are missing, or whose row (and column) of a
layer of a stack is NaN. This is decided before anything is filled; `kernels/presence.py` says what kernels
make of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import and_more, number_of
from .._warn import warn
from ..kernels.data import take_columns
from ..kernels.presence import Mask, either, layer_having, rows_having
from .spec import views_in

_SHOWN = 10  # rows that a message names
_FEW = 30  # samples, or ...
_RARE = 0.2  # ... a part of them, below which it is said that few have a view


def views_had(spec: Any, X: Any, names: Any = None) -> tuple[dict[str, Mask | None], bool]:
    """Return which samples have each view (None: all), and whether all kernels belong to views.

    Of a stack the views are its layers, called `names`; of an array these are the names of its columns.
    """
    if len(X.shape) == 3:
        called = [f"kernel {m}" for m in range(X.shape[2])] if names is None else list(names)
        return {name: layer_having(X[:, :, m]) for m, name in enumerate(called)}, True
    found, only = views_in(spec, X, names)
    return {view: rows_having(take_columns(X, columns)) for view, columns in found.items()}, only


def count_present(spec: Any, X: Any, names: Any = None) -> dict[str, int]:
    """Count the training samples that have each view; raise an error if a view or a sample has nothing."""
    masks, only = views_had(spec, X, names)
    counts = {view: X.shape[0] if mask is None else int(mask.sum()) for view, mask in masks.items()}
    empty = [view for view, count in counts.items() if count == 0]
    if empty:
        many = len(empty) > 1
        raise ValueError(
            f"View{'s' * many} {and_more([repr(view) for view in empty], 20)} {'are' if many else 'is'} "
            f"missing in all {X.shape[0]} samples; expected values in at least some of them. Leave "
            f"{'them' if many else 'it'} out of the kernels, or give {'their' if many else 'its'} columns."
        )
    without = _without_any(masks, only)
    if without.size:
        raise ValueError(
            f"{number_of(without.size, 'sample')} of X {'lack' if without.size > 1 else 'lacks'} every view "
            f"({_rows(without)}): all cells that kernels read there are missing values. Expected values in "
            "at least one view of every sample. Leave such samples out, or impute what is missing, for "
            "example by sklearn.impute.SimpleImputer."
        )
    return counts


def warn_without_any(spec: Any, X: Any, names: Any = None) -> None:
    """Warn if new samples have no view at all: they are all decided alike."""
    without = _without_any(*views_had(spec, X, names))
    if without.size:
        warn(
            f"{number_of(without.size, 'sample')} of X {'lack' if without.size > 1 else 'lacks'} every view "
            f"({_rows(without)}): their prediction is the average one."
        )


def patterns(spec: Any, X: Any, names: Any = None) -> tuple[list[str], list[tuple[tuple[bool, ...], int]]]:
    """Count the samples that have each set of views, commonest first; empty if all have all."""
    masks, _ = views_had(spec, X, names)
    if all(mask is None for mask in masks.values()):
        return [], []
    table = np.array([np.ones(X.shape[0], dtype=bool) if s is None else s for s in masks.values()]).T
    found, counts = np.unique(table, axis=0, return_counts=True)
    order = np.lexsort((-found.sum(axis=1), -counts))
    return list(masks), [(tuple(map(bool, found[k])), int(counts[k])) for k in order]


def few_have(present: Mapping[str, int], samples: int) -> list[str]:
    """Return a sentence about every view that few samples have."""
    return [
        f"Only {count} of {samples} samples have {view!r}: its weight is learned from these alone, and says "
        "little about the others."
        for view, count in present.items()
        if count < samples and (count < _FEW or count < _RARE * samples)
    ]


def _without_any(masks: Mapping[str, Mask | None], only: bool) -> NDArray[np.intp]:
    having = either(list(masks.values())) if only else None
    return np.empty(0, dtype=np.intp) if having is None else np.flatnonzero(~having)


def _rows(rows: NDArray[np.intp]) -> str:
    return f"row{'s' * (rows.size > 1)} {and_more([str(row) for row in rows], _SHOWN)}"

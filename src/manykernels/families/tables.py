"""What the columns of a raw table are: numbers, categories, text, views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np

from .._warn import warn
from ..kernels.data import Data
from ..kernels.prepared import Preparation
from .base import names_of

_LEVELS = 50  # indicators of one column at most
_TEXT = 6.0  # mean length from which a column whose values hardly repeat is text
_REPEATS = 0.5  # distinct values per sample, below which values are said to repeat


@dataclass
class Table:
    """Positions of the columns with numbers, levels of the categorical ones, positions of those with text."""

    numbers: list[int] = field(default_factory=list)
    levels: dict[int, list[Any]] = field(default_factory=dict)
    text: list[int] = field(default_factory=list)

    def preparation(self, X: Data, sample_weight: Any) -> Preparation | None:
        """The preparation of all columns but text; None where none of them varies."""
        plain = len(self.numbers) == X.shape[1]
        made = Preparation(None if plain else self.numbers, self.levels or None)
        made.fit(X, sample_weight=sample_weight)
        return made if made.n_numbers or self.levels else None


def read_columns(X: Data, feature_names: Any = None) -> Table:
    """Sort the columns of X by what they hold."""
    table, names = Table(), names_of(X, feature_names)
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        table.numbers = list(range(X.shape[1]))
        return table
    for j, name in enumerate(names):
        column = column_of(X, j)
        if holds_numbers(column):
            table.numbers.append(j)
            continue
        if not all(isinstance(v, Hashable) for v in column):
            kinds = ", ".join(sorted({type(v).__name__ for v in column}))
            raise ValueError(
                f"Column {name!r} holds values of type {kinds}; expected numbers, categories or text. Give "
                "it a kernel of its own, such as OnColumns(Callable(function), column), or leave it out."
            )
        values = [str(v) for v in column]
        counts = Counter(values)
        repeats = len(counts) <= _REPEATS * len(values)
        if not repeats and np.mean([len(v) for v in values]) >= _TEXT:
            table.text.append(j)
            continue
        if len(counts) > _LEVELS or not repeats:
            _warn_levels(name, len(counts), len(values))
        common = [level for level, count in counts.most_common(_LEVELS) if count > 1]
        table.levels[j] = sorted((level for level in set(column) if str(level) in set(common)), key=str)
    table.levels = {j: levels for j, levels in table.levels.items() if levels}
    return table


def _warn_levels(name: str, n_levels: int, n: int) -> None:
    warn(
        f"Column {name!r} holds {n_levels} different values in {n} samples: only the {_LEVELS} commonest of "
        "those that occur more than once are used. Leave the column out if it is an identifier, or group its "
        "values.",
        UserWarning,
    )


def views_of(names: list[str]) -> dict[str, list[int]]:
    """Columns by what stands before "__" in their names, as scikit-learn's ColumnTransformer writes them.

    Empty unless every column has such a prefix and at least two of them have several columns each.
    """
    groups: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        prefix, mark, _ = name.partition("__")
        if not mark or not prefix:
            return {}
        groups.setdefault(prefix, []).append(j)
    return groups if sum(len(columns) > 1 for columns in groups.values()) > 1 else {}


def column_of(X: Any, j: int) -> Any:
    """Column j of a frame or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.to_series(j) if hasattr(X, "to_series") else X[:, j]


def holds_numbers(column: Any) -> bool:
    """Whether a column holds numbers or truth values, by its type; objects are looked at one by one."""
    dtype = column.dtype
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    if getattr(dtype, "kind", "O") in "biuf":
        return True
    return dtype.kind == "O" and all(isinstance(v, Number) for v in column)

"""Tables of survival sets in the files of packages: read as text, then numbers and categories by column.

What a reader gives, `Parts`, is what NAME.npz would hold:

    X                 (n, d): numbers; of a column with categories the place of its category; NaN is missing
    feature_names     (d,)
    categorical       which columns have categories, and in `n_levels` how many each
    levels            the categories of all these columns, one after the other
    event, time       (n,) each
    description, and whatever else: `subject` where one has several rows, `entry` where time is left truncated
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Parts = dict[str, NDArray[Any]]
MISSING = {"", "?", "NA", "NaN", "nan"}
ATTRIBUTE = re.compile(r"@attribute\s+('[^']+'|\S+)\s+(.+)", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """Cells of a column: numbers, or places in `levels`; NaN is missing."""

    values: NDArray[np.float64]
    levels: tuple[str, ...] | None = None


Table = dict[str, Column]


def as_column(cells: Iterable[str], levels: tuple[str, ...] | None = None) -> Column:
    """Numbers where all cells are, otherwise categories: those given, or all that occur, sorted."""
    cells = [cell.strip() for cell in cells]
    there = [cell for cell in cells if cell not in MISSING]
    if levels is None:
        try:
            found = {cell: float(cell) for cell in there}
        except ValueError:
            levels = tuple(sorted(set(there)))
    if levels is not None:
        found = {level: float(place) for place, level in enumerate(levels)}
    return Column(np.array([found.get(cell, np.nan) for cell in cells]), levels)


def read_csv(file: Path, separator: str = ",") -> Table:
    with file.open(newline="", encoding="utf-8") as stream:
        head, *rows = [row for row in csv.reader(stream, delimiter=separator) if row]
    return {name: as_column(cells) for name, cells in zip(head, zip(*rows, strict=True), strict=True)}


def read_arff(file: Path) -> Table:
    """ARFF with numeric and nominal attributes, which is what scikit-survival's files have."""
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if line and not line.startswith("%")]
    start = next(k for k, line in enumerate(lines) if line.lower() == "@data")
    kinds = [match.groups() for match in map(ATTRIBUTE.match, lines[:start]) if match]
    rows = _split(lines[start + 1 :])
    table = {}
    for (name, kind), cells in zip(kinds, zip(*rows, strict=True), strict=True):
        levels = tuple(_split([kind.strip("{} ")])[0]) if kind.startswith("{") else None
        table[name.strip("'")] = as_column(cells, levels)
    return table


def _split(lines: list[str]) -> list[list[str]]:
    rows = csv.reader(lines, quotechar="'", skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in rows]


def as_parts(table: Table, event: NDArray[np.bool_], time: NDArray[np.float64], **other: Any) -> Parts:
    """The columns of the table as features, with event and time of every sample."""
    levels = {j: c.levels for j, c in enumerate(table.values()) if c.levels is not None}
    columns = [column.values for column in table.values()]
    return {
        "X": np.column_stack(columns) if columns else np.empty((len(time), 0)),
        "feature_names": np.array(list(table), dtype=str),
        "categorical": np.array(list(levels), dtype=np.int64),
        "n_levels": np.array([len(names) for names in levels.values()], dtype=np.int64),
        "levels": np.array([level for names in levels.values() for level in names], dtype=str),
        "event": np.asarray(event, dtype=bool),
        "time": np.asarray(time, dtype=np.float64),
    } | {key: np.asarray(value) for key, value in other.items()}


def as_frame(parts: Parts) -> Any:
    """The inverse: a pandas frame of numbers and categories. Takes what it reads out of `parts`."""
    import pandas as pd

    X, names = parts.pop("X"), parts.pop("feature_names")
    ends = np.cumsum([0, *parts.pop("n_levels")])
    levels = [parts["levels"][a:b] for a, b in pairwise(ends)]
    kinds = dict(zip(parts.pop("categorical").tolist(), levels, strict=True))
    del parts["levels"]
    frame = pd.DataFrame(X, columns=[str(name) for name in names])
    for j, categories in kinds.items():
        codes = np.where(np.isnan(X[:, j]), -1, X[:, j]).astype(int)
        frame[str(names[j])] = pd.Categorical.from_codes(codes, [str(level) for level in categories])
    return frame


@dataclass(frozen=True)
class Recipe:
    """A recipe that makes a set of a table: its columns of time and event, and those that are no features.

    `positive`: the values of the event column that are events, as text; `codes`: columns of numbers that
    stand for categories; `entry`: the time from which on a subject was observed.
    """

    about: str
    time: str
    event: str
    positive: tuple[str, ...] = ("1",)
    without: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    entry: str | None = None
    read: Callable[[Path], Table] = read_csv

    def __call__(self, file: Path) -> Parts:
        table = self.read(file)
        time, event = table.pop(self.time), table.pop(self.event)
        other: dict[str, Any] = {"description": self.about}
        if self.entry is not None:
            other["entry"] = table.pop(self.entry).values
        for name in self.without:
            del table[name]
        for name in self.codes:
            table[name] = _coded(table[name])
        return as_parts(table, np.isin(_texts(event), self.positive), time.values, **other)


def _text(value: float) -> str:
    return "" if np.isnan(value) else f"{value:g}"


def _texts(column: Column) -> list[str]:
    """The cells as text again."""
    if column.levels is None:
        return [_text(value) for value in column.values]
    return ["" if np.isnan(k) else column.levels[int(k)] for k in column.values]


def _coded(column: Column) -> Column:
    """Numbers as categories, in the order of the numbers."""
    there = np.unique(column.values[~np.isnan(column.values)])
    places = np.where(np.isnan(column.values), np.nan, np.searchsorted(there, column.values))
    return Column(places, tuple(_text(value) for value in there))

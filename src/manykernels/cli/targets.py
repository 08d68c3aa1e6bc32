"""The target of a command: its columns in the table, and their contents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arguments import and_more, did_you_mean, number_of
from ..families.remarks import remarks
from ..families.tables import Table, read_columns
from ..kernels.cells import MISSING, labels_of, numbers_of
from ._console import UserError, Voice
from .ids import numbered
from .sources import Asked, view_of

_CLASSES = 20  # whole numbers with at most so many values are classes, unless told otherwise
_SIGNS = ("", "?", ".")  # for a class that is not known
_CATEGORIES = 50  # values that a column of categories may have


@dataclass(frozen=True)
class Target:
    """The target, for the rows that have it."""

    y: Any
    name: str
    task: str
    known: NDArray[np.bool_]  # of all rows, those that have it
    columns: list[str]  # that it was read from, and that nothing is learned from
    outcome: dict[str, str] = field(default_factory=dict)  # what columns of times to an event are


def wanted(asked: Asked) -> frozenset[str]:
    """Return possible names of the columns of target and sample groups: in DATA, or in a view."""
    given = (asked.target, asked.sample_groups, *asked.outcome.values())
    names = [name for name in given if name]
    names += [name.rpartition("=")[0] for name in names if "=" in name]  # --event died=yes
    return frozenset({"", *names, *(f"{view_of(view)[0]}__{name}" for view in asked.views for name in names)})


def one_column(frame: pd.DataFrame, asked: Asked, voice: Voice) -> Target:
    """Classes or numbers, from the column that --target names."""
    if not asked.target:
        raise UserError(
            f"--target is missing: which column is to be predicted? {quoted(frame.columns)}. For times to an "
            "event, give --time and --event."
        )
    name = find_column(frame, asked.target)
    column = in_numbers(frame[name], f"the target {name!r}", asked.task, voice)
    column = _in_words(column, voice)
    known = column.notna().to_numpy(dtype=bool)
    say_left_out(int((~known).sum()), [name], voice)
    y, task = classes_or_numbers(column[known], name, asked.task)
    return Target(y, name, task, known, [name])


def say_left_out(lost: int, names: list[str], voice: Voice) -> None:
    """Say that rows lack a value."""
    if lost:
        verb, of = "are" if lost > 1 else "is", and_more([repr(name) for name in names], 5)
        voice.note(f"{number_of(lost, 'row')} without a value of {of} {verb} left out.")


def find_column(frame: pd.DataFrame, given: str, option: str = "") -> str:
    """The column of this name, or of the one view that has it."""
    ends = [name for name in frame.columns if name.endswith(f"__{given}")]
    if given not in frame.columns and len(ends) == 1:
        return str(ends[0])
    if given not in frame.columns:
        hint = ""
        if all(str(name).replace(".", "").replace("-", "").isdigit() for name in frame.columns):
            hint = " The first row holds numbers only: does the file lack a header?"
        said = f"{option} {given}: there is no such column" if option else f"there is no column {given!r}"
        raise UserError(
            f"{said}.{did_you_mean(given, frame.columns)}{hint} There are {quoted(frame.columns)}."
        )
    return given


def in_numbers(column: pd.Series, who: str, asked: str, voice: Voice) -> pd.Series:
    """A target of text as numbers, where most cells are: read as columns are, and other cells are an error.

    Few whole numbers, and text in which most cells are bounds such as '<0.5', stay classes unless regression
    is asked for. `asked` is the task, or "numbers" for a column that can hold nothing else.
    """
    if asked == "classification" or pd.api.types.is_numeric_dtype(column):
        return column
    try:
        table = read_columns(column.to_frame())
    except ValueError as error:
        raise UserError(f"{who} cannot be read: {error}") from error
    if 0 not in table.parsed and 0 not in table.mixed:
        return column
    numbers, labels = numbers_of(column, table.formats.get(0, "text")), labels_of(column)
    found, parsed = numbers[~np.isnan(numbers)], table.parsed.get(0)
    few = len(set(found)) <= _CLASSES and bool(np.all(found % 1 == 0))
    bounds = parsed is not None and 2 * parsed.cells > len(found)
    if asked == "auto" and (few or bounds):
        return column
    said = np.array([label is not None and label.lower() not in MISSING for label in labels], dtype=bool)
    unread = said & np.isnan(numbers)
    if unread.any():
        words = dict(zip(column.index, labels, strict=True))
        raise UserError(
            f"{who} holds numbers, and text that is no number in {numbered(column.index[unread], words)}. "
            "Correct or empty these cells (rows without a target are left out)"
            + (", or say --task classification where the values are classes." if asked != "numbers" else ".")
        )
    for remark in remarks(Table([str(column.name)], parsed=table.parsed)):
        voice.note(remark.text)
    return pd.Series(numbers, index=column.index, name=column.name)


def _in_words(column: pd.Series, voice: Voice) -> pd.Series:
    """A target of text without blanks around it, as other columns are read; a sign for no value is none.

    Words such as "none" stay classes, and so does "-", which stands beside "+".
    """
    if pd.api.types.is_numeric_dtype(column):
        return column
    labels = [None if label in _SIGNS else label for label in labels_of(column)]
    alike: dict[str, set[str]] = {}
    for label in filter(None, labels):
        alike.setdefault(" ".join(label.casefold().split()), set()).add(label)
    pairs = [" and ".join(map(repr, sorted(same))) for same in alike.values() if len(same) > 1]
    if pairs:
        voice.note(
            f"the classes {and_more(pairs, 5)} of the target {str(column.name)!r} are written alike, and "
            "count as different ones: correct the table if they are the same."
        )
    return pd.Series(labels, index=column.index, name=column.name, dtype=object)


def classes_or_numbers(column: pd.Series, name: str, asked: str) -> tuple[Any, str]:
    """y and whether it is a class or a quantity."""
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    distinct = column.nunique()
    if distinct < 2:
        only = f"only the value {column.tolist()[0]!r}" if len(column) else "no value"
        raise UserError(
            f"the target {name!r} has {only}; there is nothing to learn. Name another column by --target, or "
            "add rows with other values."
        )
    if numeric and not np.isfinite(column.to_numpy(dtype=float)).all():
        raise UserError(f"the target {name!r} has infinite values. Correct or empty these cells.")
    whole = numeric and bool(np.all(np.mod(column.to_numpy(dtype=float), 1) == 0))
    task = asked
    if asked == "auto":
        task = "classification" if not numeric or (whole and distinct <= _CLASSES) else "regression"
    if task == "regression":
        if not numeric:
            raise UserError(
                f"the target {name!r} holds text such as {column.iloc[0]!r}: not for regression. Name a "
                "column of numbers by --target, or say --task classification."
            )
        return column.to_numpy(dtype=float), task
    if distinct > max(_CATEGORIES, len(column) // 2):
        what = f"It holds text such as {column.iloc[0]!r}."
        if numeric:
            what = "Give --task regression to predict it as a number."
        raise UserError(
            f"the target {name!r} has {distinct} different values in {len(column)} rows, which is too many "
            f"for classes. {what} Is it the right column? Name another one by --target."
        )
    labels = column.to_numpy()
    return (labels.astype(int) if whole else labels.astype(str).astype(object)), task


def quoted(names: Iterable[Any]) -> str:
    """Names in a message."""
    return and_more([repr(str(name)) for name in names], 12)

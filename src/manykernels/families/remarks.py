"""Remarks on a raw table: one sentence for each kind of remark, however many columns it concerns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._arguments import and_more
from .._warn import warn
from ..kernels.cells import DATES, MISSING, column_of, is_time, labels_of, numeric_type
from ..kernels.data import Data, take_columns
from ..kernels.preparation import level_places, number_matrix
from ..kernels.presence import rows_having
from .tables import Table, require_moderate

_SHOWN = 5  # names in a sentence
PAGE = "docs/tables.md says what happens to columns."


class TableWarning(UserWarning):
    """Something about the columns of a table that its owner may want to change."""


@contextmanager
def quiet_about_tables() -> Iterator[None]:
    """Say nothing of tables that are parts of one of which all has been said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        yield


@dataclass(frozen=True)
class Remark:
    """A sentence; whether it tells of a guess that may be wrong, or of what always happens; what to do."""

    text: str
    guess: bool
    advice: str = ""


def remarks(table: Table, text: bool = True) -> list[Remark]:
    """Describe how the columns were read; `text` says whether kernels read text too."""
    made = [*_left_out(table), *_parsed(table), *_undated(table), *_guessed(table)]
    if table.constant:
        which = _columns(table, table.constant)
        same = "all its values are" if len(table.constant) == 1 else "all values of each are"
        made.append(Remark(f"{which} left out: {same} the same.", False))
    if table.gaps:
        gaps = _names(table, table.gaps)
        made.append(
            Remark(
                f"missing values are filled with the median in {gaps}, and an extra column marks them.", False
            )
        )
    unknown = [j for j, levels in table.levels.items() if None in levels]
    if unknown:
        made.append(
            Remark(
                f"missing values are a category of their own, 'missing', in {_names(table, unknown)}.", False
            )
        )
    dates = [j for j, form in table.formats.items() if form not in ("text", "decimal comma")]
    if dates:
        made.append(Remark(f"dates are taken as numbers of days in {_names(table, dates)}.", False))
    if table.text and text:
        made.append(Remark(f"text is compared by its substrings in {_names(table, table.text)}.", False))
    elif table.text:
        why = "text has no numbers, and only kernels='auto' reads it"
        made.append(Remark(f"{_columns(table, table.text)} left out: {why}.", True))
    return made


def warn_of(table: Table, text: bool = True) -> None:
    """A warning for each guess about the columns."""
    for remark in remarks(table, text):
        if remark.guess:
            told = " ".join(filter(None, (remark.text, remark.advice, PAGE)))
            warn(told[0].upper() + told[1:], TableWarning)


def _left_out(table: Table) -> Iterable[Remark]:
    reasons: dict[str, list[int]] = {}
    for j, why in table.left_out.items():
        reasons.setdefault(why, []).append(j)
    for why, columns in reasons.items():
        told = why if len(columns) == 1 else _PLURAL[why]
        guess = why.startswith(("it numbers", "all its values differ"))
        keep = "To use such a column, give it as a view of its own: views({...})." if guess else ""
        yield Remark(f"{_columns(table, columns)} left out: {told}.", guess, keep)


_PLURAL = {
    "it numbers the rows": "they number the rows",
    "it has no values": "they have no values",
    "it has no name": "they have no names",
    "all its values are the same": "all values of each are the same",
    "all its values differ, as those of an identifier do": "all values of each differ, as identifiers do",
}


def _parsed(table: Table) -> Iterable[Remark]:
    odd = {j: found for j, found in table.parsed.items() if found.cells or found.rest}
    if odd:
        cells, rest = sum(f.cells for f in odd.values()), sum(f.rest for f in odd.values())
        told = []
        if cells:
            example = next(f.example for f in odd.values() if f.cells)
            told.append(f"{_counted(cells, 'cell')} such as {example!r} {_are(cells)} read as numbers")
        if rest:
            strange = next(f.strange for f in odd.values() if f.rest)
            told.append(f"{_counted(rest, 'cell')} such as {strange!r} {_are(rest)} taken as missing")
        yield Remark(f"{', and '.join(told)} in {_names(table, odd)}.", True)
    text = [j for j in table.parsed if j not in odd]
    if text:
        yield Remark(f"text is read as numbers in {_names(table, text)}.", False)


def _undated(table: Table) -> Iterable[Remark]:
    """What became of columns that look like dates, and which of their cells are none."""
    done: dict[str, list[int]] = {}
    for j in table.undated:
        done.setdefault(_became(table, j), []).append(j)
    for what, columns in done.items():
        found = [table.undated[j] for j in columns]
        cells, of = sum(one.cells for one in found), sum(one.of for one in found)
        labels = and_more([repr(label) for one in found for label in one.labels], _SHOWN)
        told = f"{_columns(table, columns, 'looks', 'look')} like dates, and {cells} of {of} cells "
        told += f"{_are(cells)} none ({labels}): "
        if what == "missing":
            yield Remark(f"{told}{'it is' if cells == 1 else 'they are'} taken as missing.", True)
        else:
            advice = "Correct these cells, or mark them as missing, to have dates."
            yield Remark(f"{told}the column{'s are' if len(columns) > 1 else ' is'} {what}.", True, advice)


def _became(table: Table, j: int) -> str:
    if j in table.formats:
        return "missing"
    return (
        "left out" if j in table.left_out else "taken for text" if j in table.text else "taken for categories"
    )


def _guessed(table: Table) -> Iterable[Remark]:
    if table.crowded:
        j = max(table.crowded, key=lambda one: table.crowded[one])
        yield Remark(
            f"{_columns(table, table.crowded, 'has', 'have')} many different values "
            f"({table.crowded[j]} in {table.names[j]!r}): the commonest ones are used, and the others "
            "together as 'other'.",
            True,
        )
    if table.mixed:
        strange = next(iter(table.mixed.values()))
        yield Remark(
            f"{_columns(table, table.mixed, 'mixes', 'mix')} numbers and text such as {strange!r}, and "
            f"{'is' if len(table.mixed) == 1 else 'are'} taken for categories.",
            True,
        )
    slashes = [j for j, form in table.formats.items() if form == "m/d/y"]
    if slashes:
        yield Remark(f"dates are read with the month first in {_names(table, slashes)}.", True)


# -- new samples ------------------------------------------------------------------------------------
def look_at_new(table: Table, X: Data) -> None:
    """One warning for each thing that new samples hold and the training samples did not.

    Infinite numbers are an error, and so is a column without any number where numbers were learned from.
    """
    fresh: list[int] = []
    strange: list[tuple[int, str]] = []
    unseen: dict[int, list[str]] = {}
    for group in table.views or [list(range(len(table.names)))]:
        having = rows_having(take_columns(X, group)) if table.views else None
        if having is None or having.any():  # samples without a view say nothing of its columns
            some = X if having is None else _safe_indexing(X, np.flatnonzero(having))
            _look_at_columns(table, some, set(group), fresh, strange, unseen)
    told = []
    for what in ("numbers", "dates"):
        here = [(j, label) for j, label in strange if _kind_of(table, j) == what]
        if here:
            which = _names(table, dict.fromkeys(j for j, _ in here))
            told.append(
                f"{_counted(len(here), 'cell')} such as {here[0][1]!r} in {which} {_are(len(here))} taken as "
                f"missing: expected {what}."
            )
    if fresh:
        which = _names(table, fresh)
        told.append(f"Values are missing in {which}, where none were in training: the median is taken.")
    if unseen:
        values = and_more([repr(label) for found in unseen.values() for label in found], _SHOWN)
        told.append(f"Values that the model has not seen: {values}, in {_names(table, unseen)}.")
    for text in told:
        warn(f"{text} {PAGE}", TableWarning)


def _look_at_columns(
    table: Table,
    X: Data,
    group: set[int],
    fresh: list[int],
    strange: list[tuple[int, str]],
    unseen: dict[int, list[str]],
) -> None:
    """Add what some columns of new samples, which have them, hold: new gaps, no numbers, new levels."""
    numbers = [j for j in table.numbers if j in group]
    A = number_matrix(X, numbers, table.formats)
    require_moderate(table.names, numbers, A)
    empty, gaps = np.isnan(A), set(table.gaps)
    for k in np.flatnonzero(empty.any(axis=0)):
        if numbers[k] not in gaps:
            fresh.append(numbers[k])
        strange += _strange(table, X, numbers[k], empty[:, k])
    unseen |= {j: found for j in table.levels if j in group and (found := _unseen(table, X, j))}


def _strange(table: Table, X: Data, j: int, empty: Any) -> list[tuple[int, str]]:
    """The cells of a column that are there, and no numbers."""
    column = column_of(X, j)
    if numeric_type(column.dtype) or is_time(column):
        return []
    labels = labels_of(column)
    found = [(j, str(label)) for label in labels[empty] if label is not None and label.lower() not in MISSING]
    if found and empty.all():
        what = _kind_of(table, j)
        raise ValueError(
            f"Column {table.names[j]!r} holds {found[0][1]!r} and no {what[:-1]} at all, where the model "
            f"learned from {what}. Give the column that it was fitted with."
        )
    return found


def _kind_of(table: Table, j: int) -> str:
    return "dates" if table.formats.get(j) in DATES else "numbers"


def _unseen(table: Table, X: Data, j: int) -> list[str]:
    known = level_places(table.levels[j])
    return sorted(
        {"missing" if label is None else label for label in set(labels_of(column_of(X, j))) - set(known)}
    )


# -- words ------------------------------------------------------------------------------------------
def _names(table: Table, columns: Iterable[int]) -> str:
    return and_more([repr(table.names[j]) for j in columns], _SHOWN)


def _columns(table: Table, columns: Iterable[int], one: str = "is", many: str = "are") -> str:
    chosen = list(columns)
    if len(chosen) == 1:
        return f"column {table.names[chosen[0]]!r} {one}"
    return f"{len(chosen)} columns ({_names(table, chosen)}) {many}"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"

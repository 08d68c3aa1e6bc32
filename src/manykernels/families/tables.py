"""The kinds of columns of a raw table: numbers, dates, categories, text, identifiers, views."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import exp, lgamma, log
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ..kernels.cells import (
    DATES,
    MISSING,
    NUMBERS,
    PARSERS,
    Format,
    as_labels,
    column_of,
    is_category,
    is_span,
    is_time,
    numbers_of,
    numeric_type,
    order_of,
    values_of,
)
from ..kernels.data import Array, Data, take_columns
from ..kernels.preparation import Preparation, number_matrix
from ..kernels.presence import rows_having
from .base import names_of

_LEVELS = 50  # indicators of one column at most, beside "other" and "missing"
_TEXT = 6.0  # mean length from which a column whose values hardly repeat is text
_REPEATS = 0.5  # distinct values per sample, below which values are said to repeat
_NEARLY = 0.9  # share of cells from which a column of text is read as numbers
_MIXED = 0.5  # share from which it is said to be a mixture
_ENORMOUS = 1e150  # its square is no number
_CHANCE = 0.003  # that whole numbers all differ, below which they are taken for numbers of rows
_SPARSER = 2.5  # times as wide as their count is the range of row numbers at most: a part of them may be here
_YEARS = (1800, 2100)  # whole numbers between these are years
_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass
class Parsed:
    """How cells of text were read: in which format, how many of them, an example, and what is no number."""

    format: Format
    cells: int  # that a plain reader of numbers would not have read
    example: str
    rest: int  # cells that are neither numbers nor missing
    strange: str  # one of them


@dataclass
class Undated:
    """Cells that are no dates in a column that looks like dates."""

    labels: list[str]  # each once
    cells: int
    of: int  # cells that are not missing


@dataclass
class Table:
    """The kind of each column of a table, by its position."""

    names: list[str]
    numbers: list[int] = field(default_factory=list)  # also dates, as days
    levels: dict[int, list[Any]] = field(default_factory=dict)
    ordered: list[int] = field(default_factory=list)  # categories whose levels have an order
    text: list[int] = field(default_factory=list)
    formats: dict[int, Format] = field(default_factory=dict)  # of text that is read as numbers
    left_out: dict[int, str] = field(default_factory=dict)  # and why
    gaps: list[int] = field(default_factory=list)  # columns of numbers with missing cells
    constant: list[int] = field(default_factory=list)  # columns of numbers that are all the same
    parsed: dict[int, Parsed] = field(default_factory=dict)
    crowded: dict[int, int] = field(default_factory=dict)  # categories with more levels than are used
    mixed: dict[int, str] = field(default_factory=dict)  # text beside many numbers, and an example of it
    undated: dict[int, Undated] = field(default_factory=dict)  # what is no date among many dates
    views: list[list[int]] = field(default_factory=list)  # columns that samples may lack together

    def preparation(self, X: Data, sample_weight: Any) -> Preparation | None:
        """The preparation of all columns but text; None where none of them varies."""
        plain = len(self.numbers) == X.shape[1] and not self.formats and isinstance(X, np.ndarray)
        columns = None if plain else self.numbers
        made = Preparation(columns, self.levels or None, self.formats or None, self.ordered or None)
        made.fit(X, sample_weight=sample_weight)
        return made if made.n_features else None

    @property
    def used(self) -> list[int]:
        """The columns that something is made of."""
        return sorted([*self.numbers, *self.levels, *self.text])

    @property
    def size(self) -> int:
        """How many features can be made of the columns."""
        return len(self.numbers) + len(self.gaps) + sum(map(len, self.levels.values()))


def read_columns(X: Data, feature_names: Any = None, groups: Sequence[Sequence[int]] | None = None) -> Table:
    """Say what each column of X holds, from nothing but these samples.

    `groups` are columns that are read together, such as views; without it all columns are. A column that is
    alone in its group is no identifier: it is all there is. Samples without any value in a group lack it, and
    say nothing of its columns.
    """
    table, seen, everyone = Table(names_of(X, feature_names)), set[int](), X
    named = feature_names is not None or hasattr(X, "columns")
    for group in [range(X.shape[1])] if groups is None else groups:
        chosen = [j for j in group if j not in seen] if seen else group
        seen.update(chosen)
        if groups is not None and len(groups) > 1:
            table.views.append([int(j) for j in group])
            X = having_columns(everyone, table.views[-1])
        plain = _plain_columns(X, chosen)
        if len(plain):
            _read_numbers(table, X, plain, named and len(group) > 1)
        if len(plain) < len(chosen):
            for j in sorted(set(chosen) - set(plain)):
                _read_column(table, j, column_of(X, j), alone=len(group) == 1)
    table.numbers.sort()
    return table


def having_columns(X: Data, columns: list[int]) -> Data:
    """The samples that have any value in these columns; all samples where none has."""
    having = rows_having(take_columns(X, columns)) if columns else None
    if having is None or not having.any():
        return X
    return _safe_indexing(X, np.flatnonzero(having))


def _plain_columns(X: Data, chosen: Any) -> Any:
    """The columns that hold numbers by their type."""
    if isinstance(X, np.ndarray):
        return chosen if X.dtype.kind in "biuf" else []
    types = list(getattr(X, "dtypes", ()))
    return [j for j in chosen if numeric_type(types[j])]


# -- numbers ----------------------------------------------------------------------------------------
def _read_numbers(table: Table, X: Data, columns: Any, named: bool) -> None:
    """All columns with numbers by their type, together."""
    whole = isinstance(X, np.ndarray) and len(columns) == X.shape[1] and X.dtype == np.float64
    A = X if whole else number_matrix(X, list(columns), {})
    low, high = _ends(A)
    if not np.all(np.isnan(low) | (np.maximum(-low, high) < _ENORMOUS)):
        require_moderate(table.names, columns, A)
    gone = {int(k): "it has no values" for k in np.flatnonzero(np.isnan(low))}
    gone |= {int(k): "it has no name" for k, j in enumerate(columns) if _is_nameless(table.names[j])}
    for k in _row_numbers(A, low, high) if named else ():
        gone[int(k)] = "it numbers the rows"
    holes = np.isnan(A).any(axis=0)
    table.left_out |= {int(columns[k]): why for k, why in gone.items()}
    table.numbers += [int(j) for k, j in enumerate(columns) if k not in gone]
    table.gaps += [int(columns[k]) for k in np.flatnonzero(holes) if k not in gone]
    table.constant += [int(columns[k]) for k in np.flatnonzero((low == high) & ~holes) if k not in gone]


def _ends(A: Array) -> tuple[Array, Array]:
    """The least and the largest number of every column, NaN where it has none.

    Not by fmin and fmax: the NA of R, which files keep, is a signalling NaN, and these do not skip it.
    """
    holes = np.isnan(A)
    low = np.min(np.where(holes, np.inf, A), axis=0, initial=np.inf)
    high = np.max(np.where(holes, -np.inf, A), axis=0, initial=-np.inf)
    empty = holes.all(axis=0)
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def require_moderate(names: list[str], columns: Any, A: Array) -> None:
    """An error for numbers that no kernel can compute with; A holds these columns of the table."""
    largest = np.max(np.where(np.isnan(A), 0.0, np.abs(A)), axis=0, initial=0.0)
    if np.all(largest < _ENORMOUS):
        return
    k = int(np.argmax(largest >= _ENORMOUS))
    what = f"values as large as {largest[k]:g}" if np.isfinite(largest[k]) else "infinite values"
    raise ValueError(
        f"Column {names[columns[k]]!r} has {what}; expected finite numbers of moderate size. Correct them, "
        "mark them as missing, or leave the column out."
    )


def _row_numbers(A: Array, low: Array, high: Array) -> NDArray[np.intp]:
    """Columns of whole numbers that all differ, in so narrow a range that chance would not have it so.

    n draws from r numbers all differ with the probability r!/((r − n)! rⁿ). Years are left as they are.
    """
    n = len(A)
    with np.errstate(invalid="ignore", over="ignore"):
        r = high - low + 1.0
        narrow = (r >= n) & (r <= _SPARSER * n) & ~((low >= _YEARS[0]) & (high <= _YEARS[1]))
        narrow &= low == np.floor(low)
    found = []
    for k in np.flatnonzero(narrow):
        x = A[:, k]
        if np.all(x == np.floor(x)) and np.unique(x).size == n and _all_differ(n, float(r[k])) < _CHANCE:
            found.append(k)
    return np.array(found, dtype=np.intp)


def _all_differ(n: int, r: float) -> float:
    return exp(lgamma(r + 1.0) - lgamma(r - n + 1.0) - n * log(r))


def _is_nameless(name: str) -> bool:
    return name.startswith("Unnamed: ") or not name.strip()


# -- other columns ----------------------------------------------------------------------------------
def _read_column(table: Table, j: int, column: Any, alone: bool) -> None:
    """One column that is not of numbers by its type; where it is all there is, it is no identifier."""
    name = table.names[j]
    if _is_nameless(name):
        table.left_out[j] = "it has no name"
        return
    if is_time(column):
        _take_numbers(table, j, column, "span" if is_span(column) else "date")
        return
    values = values_of(column)
    known = [v for v in values if v is not None]
    if not all(isinstance(v, Hashable) for v in known):
        kinds = ", ".join(sorted({type(v).__name__ for v in known}))
        raise ValueError(
            f"Column {name!r} holds values of type {kinds}; expected numbers, categories or text. Give "
            "it a kernel of its own, such as OnColumns(Callable(function), column), or leave it out."
        )
    counts = Counter(label for label in as_labels(values) if label is not None)
    if not counts:
        table.left_out[j] = "it has no values"
    elif is_category(column):
        _take_levels(table, j, counts, len(values))
        _take_order(table, j, counts, order_of(column))
    elif all(isinstance(v, Number) for v in known):
        _take_numbers(table, j, column, "")
    elif (parsed := _as_numbers(counts)) is not None:
        table.parsed[j] = parsed
        _take_numbers(table, j, column, parsed.format)
    else:
        form, undated = _as_dates(counts)
        if undated is not None:
            table.undated[j] = undated
        if form:
            _take_numbers(table, j, column, form)
        else:
            _take_words(table, j, counts, len(values), alone)


def _take_numbers(table: Table, j: int, column: Any, form: Format) -> None:
    A = numbers_of(column, form)
    known = A[~np.isnan(A)]
    if not known.size:
        table.left_out[j] = "it has no values"
        return
    require_moderate(table.names, [j], A[:, None])
    table.numbers.append(j)
    if form:
        table.formats[j] = form
    if known.size < A.size:
        table.gaps.append(j)


def _as_numbers(counts: Counter[str]) -> Parsed | None:
    """How text is read as numbers, where nearly all cells can be; None where they cannot."""
    tries = [(form, {label: PARSERS[form](label) for label in counts}) for form in NUMBERS]
    form, read = max(tries, key=lambda one: _share(counts, one[1]))  # the first of equals
    if _share(counts, read) < _NEARLY:
        return None
    odd = {label: counts[label] for label, number in read.items() if not _is_plain(label, number)}
    strange = {label: counts[label] for label, number in read.items() if number is None}
    shown = [label for label in odd if label not in strange] or list(counts)
    return Parsed(
        form,
        sum(odd.values()) - sum(strange.values()),
        min(shown),
        sum(strange.values()),
        min(strange, default=""),
    )


def _share(counts: Counter[str], read: dict[str, float | None]) -> float:
    """The share of numbers among the cells that do not say that they are missing."""
    known = {label: number for label, number in read.items() if label.lower() not in MISSING}
    total = sum(counts[label] for label in known)
    return (
        sum(counts[label] for label, number in known.items() if number is not None) / total if total else 0.0
    )


def _is_plain(label: str, number: float | None) -> bool:
    """Whether everybody would have read this number."""
    try:
        return number is not None and (float(label) == number or number != number)
    except ValueError:
        return number is not None and number != number


def _as_dates(counts: Counter[str]) -> tuple[Format, Undated | None]:
    """The format in which nearly all cells are dates, and the cells that are none.

    Of formats that read as many cells the first one counts: the month stands first where both fit. No format,
    but the cells that are no dates, where fewer cells are dates and still most of them.
    """
    tries = [(form, {label: PARSERS[form](label) for label in counts}) for form in DATES]
    form, read = max(tries, key=lambda one: _share(counts, one[1]))
    share = _share(counts, read)
    labels = sorted(label for label, days in read.items() if days is None)
    known = sum(count for label, count in counts.items() if label.lower() not in MISSING)
    undated = Undated(labels, sum(counts[label] for label in labels), known) if labels else None
    return (form if share >= _NEARLY else ""), (undated if share >= _MIXED else None)


def _take_words(table: Table, j: int, counts: Counter[str], n: int, alone: bool) -> None:
    """Categories, text or identifiers."""
    total, distinct = sum(counts.values()), len(counts)
    long = sum(len(label) * count for label, count in counts.items()) >= _TEXT * total
    if distinct == total > 1 and not alone and (not long or _is_code(counts)):
        table.left_out[j] = "all its values differ, as those of an identifier do"
    elif distinct > _REPEATS * total and (long or alone):
        table.text.append(j)
    else:
        share = _share(counts, {label: PARSERS["text"](label) for label in counts})
        if share >= _MIXED:
            table.mixed[j] = min(label for label in counts if PARSERS["text"](label) is None)
        _take_levels(table, j, counts, n)


def _is_code(counts: Counter[str]) -> bool:
    """Whether values are made alike, of letters, digits and marks in one order, as P-001 and P-002 are."""
    shapes = {_LETTERS.sub("a", _DIGITS.sub("9", label)) for label in counts}
    return len(shapes) == 1 and "9" in next(iter(shapes)) and " " not in next(iter(shapes))


def _take_levels(table: Table, j: int, counts: Counter[str], n: int) -> None:
    """The commonest levels, the others together, and missing cells."""
    levels: list[Any] = sorted(counts)
    often = sorted(
        (label for label in counts if counts[label] > 1), key=lambda label: (-counts[label], label)
    )
    if len(often) < len(counts) or len(often) > _LEVELS:
        levels = sorted(often[:_LEVELS])
        rest = tuple(sorted(set(counts) - set(levels)))
        levels = [*levels, rest] if len(rest) > 1 else sorted([*levels, *rest])
    if len(often) > _LEVELS or len(counts) > max(_LEVELS, 2 * len(often)):
        table.crowded[j] = len(counts)
    if sum(counts.values()) < n:
        levels.append(None)
    if len(counts) + (None in levels) < 2:
        table.left_out[j] = "all its values are the same"
    elif levels:
        table.levels[j] = levels
    else:
        table.left_out[j] = "all its values differ, as those of an identifier do"


def _take_order(table: Table, j: int, counts: Counter[str], order: list[str]) -> None:
    """Levels in the order that their type gives them; there is none to learn from below three of them."""
    levels = [level for level in order if level in counts]
    if j in table.levels and 2 < len(levels) <= _LEVELS:
        table.levels[j] = levels + [None] * (None in table.levels[j])
        table.ordered.append(j)


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

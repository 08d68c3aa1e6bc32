"""Ids of samples: the column that holds them, and how they are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._arguments import and_more, did_you_mean
from ._console import UserError

Names = list[str]  # of one column, in each of several tables
_LISTED = 5  # rows that a message names
_FEW = 8
_WHOLE_NUMBER = re.compile(r"[+-]?\d+(\.0*)?")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LAST = {"id", "ids", "uid", "uuid", "guid", "identifier", "barcode", "accession"}
_ALONE = {"sample", "samples", "patient", "subject", "participant", "specimen", "donor"}
_GLUED = re.compile(r"(sample|patient|subject|participant|specimen|donor|record|case|customer|user|row)s?id")


@dataclass(frozen=True)
class Joining:
    """How a user wants files to be joined."""

    id: str | None = None  # the column that names the samples
    rows: str | None = None  # what becomes of rows without a partner: one of ROWS
    in_order: bool = False  # no column names the samples
    learned: frozenset[str] = frozenset()  # columns that a model learns from, or learns: no ids
    expected: str = ""  # the id that a model was learned with: taken where tables have it
    predicts: bool = False  # for samples of DATA: of others nobody asked


@dataclass(frozen=True, eq=False)
class Part:
    """One table of samples, as it is in a file."""

    view: str  # "" for DATA
    path: Path
    frame: pd.DataFrame
    texts: Callable[[str], pd.Series] | None = (
        None  # a column as it is written; None for arrays, without names
    )
    cut: bool = False  # whether the file may have more rows, which were not read

    def full(self, name: str) -> str:
        """Return the name of a column beside those of other views."""
        return f"{self.view}__{name}" if self.view else name


# -- which column ---------------------------------------------------------------------------------
def named_id(part: Part, given: str) -> str:
    """The column of a table that a user means by --id."""
    names = [str(name) for name in part.frame.columns]
    alike = [name for name in names if _plain(name) == _plain(given)]
    if given in names or len(alike) == 1:
        return given if given in names else alike[0]
    told = and_more([repr(name) for name in names], 12)
    raise UserError(
        f"--id {given}: {part.path} has no such column.{did_you_mean(given, names)} There are {told}."
    )


def shared_id(tables: Sequence[Part], how: Joining) -> Names | None:
    """Return the name of the id in each of the tables, or None.

    It has the same name in all of them, no value twice, and most of its values are in every table. Names that
    say that a column is an id come before others. Where no name is shared, a column that holds the ids of
    another table is its id. What is called an id in all tables and has no value in common is an error.
    """
    if how.expected and all(how.expected in part.frame.columns for part in tables):
        return [how.expected] * len(tables)
    shared, outer = shared_columns(tables, how), how.rows == "outer"
    found = [
        names
        for names in shared
        if all(map(is_unique, columns_of(tables, names))) and meet(tables, names, outer)
    ]
    likely = [names for names in found if like_id(names[0])]
    if not likely:
        _require_unique_ids(tables, shared)
        likely = [names for names in found if not all(map(_counts, columns_of(tables, names)))]
    likely = likely or renamed_ids(tables, how)
    for other in likely[1:]:
        if _pairs(tables, other) != _pairs(tables, likely[0]):
            raise UserError(
                f"the files could be joined by {called(tables, likely[0])} or by {called(tables, other)}, "
                "which pair different rows; say which by --id NAME."
            )
    for names in shared if not likely else ():
        if like_id(names[0]) and _mostly_distinct(columns_of(tables, names)):
            keys = [texts(ids_of(part, name)) for part, name in zip(tables, names, strict=True)]
            require_common(tables, [loose(key) for key in keys], names[0], keys, outer)
    return likely[0] if likely else None


def renamed_ids(tables: Sequence[Part], how: Joining) -> list[Names]:
    """Columns of different names that hold the same ids in all tables.

    Only text can be known for ids by its values: whole numbers from 1 may count anything, so that of them
    there is an error, unless they are in the same order in all tables.
    """
    own = [ids_by_name(part, how) for part in tables]
    found = [list(names) for names in product(*own) if len(set(names)) > 1 and _same_ids(own, names)]
    text = [names for names in found if not any(map(_is_numeric, columns_of(tables, names)))]
    for names in found if not text else ():
        keys = [own[i][name] for i, name in enumerate(names)]
        if any(key[: len(keys[0])] != keys[0][: len(key)] for key in keys[1:]):
            raise UserError(
                f"the files seem to name their samples by {called(tables, names)}: give these columns one "
                "name to join by it, or say --no-id to take rows in order."
            )
    return text


def ids_by_name(part: Part, how: Joining) -> dict[str, list[str]]:
    """The values of each column that may be an id: of text, or called as ids are."""
    kept = [str(n) for n, dtype in part.frame.dtypes.items() if like_id(str(n)) or _is_text(dtype)]
    kept = [name for name in kept if is_unique(part.frame[name]) and part.full(name) not in how.learned]
    return {name: loose(texts(part.frame[name])) for name in kept}


def _same_ids(own: Sequence[dict[str, list[str]]], names: Sequence[str]) -> bool:
    """Whether more than half of the shortest of these columns is in all of them."""
    keys = [values[name] for values, name in zip(own, names, strict=True)]
    return 2 * len(set.intersection(*map(set, keys))) > min(map(len, keys))


def _is_text(dtype: Any) -> bool:
    return bool(pd.api.types.is_object_dtype(dtype) or pd.api.types.is_string_dtype(dtype))


def _is_numeric(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))


def called(tables: Sequence[Part], names: Names) -> str:
    """An id in a message: its name, and where it has another one that is not only spelled differently."""
    others = {
        f"{name!r} in {part.path}"
        for part, name in zip(tables, names, strict=True)
        if _plain(name) != _plain(names[0])
    }
    return f"{names[0]!r}" + (f" ({', '.join(sorted(others))})" if others else "")


def require_common(
    tables: Sequence[Part],
    keys: Sequence[Sequence[str]],
    name: str,
    shown: Sequence[Sequence[str]],
    outer: bool = False,
) -> set[str]:
    """The ids that are in all tables, or an error where there are none, with the first as it is shown.

    With `outer` it is enough that every table has some that are in one of the others.
    """
    sets = [set(own) for own in keys]
    common = set.intersection(*sets)
    if not common and not (outer and _linked(sets)):
        told = ", ".join(f"{ids[0]!r} in {part.path}" for part, ids in zip(tables, shown, strict=True))
        raise UserError(
            f"no value of {name!r} is in all files (the first ones are {told}): write the ids in one way, "
            "name another column by --id NAME, or say --no-id to take rows in order."
        )
    return common


def _linked(sets: Sequence[set[str]]) -> bool:
    """Whether every one of these has something in common with another one."""
    return all(any(own & other for j, other in enumerate(sets) if j != i) for i, own in enumerate(sets))


def shared_columns(tables: Sequence[Part], how: Joining) -> list[Names]:
    """Columns that all tables have, in the order of the first: of one name, or ids of nearly one name."""
    rest = [set(part.frame.columns) for part in tables[1:]]
    found = [[name] * len(tables) for name in tables[0].frame.columns if all(name in names for names in rest)]
    ids = [_ids_by_plain_name(part.frame.columns) for part in tables]
    for key in ids[0]:
        if all(key in names for names in ids):
            names = [names[key] for names in ids]
            found += [names] if len(set(names)) > 1 else []
    return [
        names
        for names in found
        if not any(part.full(name) in how.learned for part, name in zip(tables, names, strict=True))
    ]


def _ids_by_plain_name(names: Iterable[str]) -> dict[str, str]:
    """Columns whose names say that they are ids; of two that differ by signs only, none."""
    found: dict[str, list[str]] = {}
    for name in names:
        if like_id(name):
            found.setdefault(_plain(name), []).append(name)
    return {key: alike[0] for key, alike in found.items() if len(alike) == 1}


def _plain(name: str) -> str:
    """sample_id, Sample ID and sampleId are one."""
    return re.sub(r"[\W_]+", "", name).casefold()


def like_id(name: str) -> bool:
    """Whether a column is called as those are that name samples."""
    words = [word.casefold() for word in _WORDS.findall(name)]
    if not words:
        return False
    alone = len(words) == 1 and words[0] in _ALONE
    return words[-1] in _LAST or alone or _GLUED.fullmatch(_plain(name)) is not None


def columns_of(tables: Sequence[Part], names: Names) -> list[pd.Series]:
    return [part.frame[name] for part, name in zip(tables, names, strict=True)]


def is_unique(column: pd.Series) -> bool:
    """Whether a column may name the rows: text, dates or whole numbers, none of them missing or repeated."""
    if pd.api.types.is_float_dtype(column):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        if not ((values[:_FEW] % 1 == 0).all() and (values % 1 == 0).all()):  # most columns end at the first
            return False
    return not pd.api.types.is_bool_dtype(column) and _distinct(column) == len(column)


def _distinct(column: pd.Series) -> int:
    try:
        return int(column.nunique())
    except TypeError:  # lists and the like
        return 0


def _mostly_distinct(columns: Sequence[pd.Series]) -> bool:
    return all(2 * _distinct(column) > len(column) for column in columns)


def _counts(column: pd.Series) -> bool:
    """Whether a column numbers the rows, which says no more than their order."""
    return pd.api.types.is_numeric_dtype(column) and bool((np.diff(column.to_numpy(dtype=float)) == 1).all())


def meet(tables: Sequence[Part], names: Names, outer: bool = False) -> bool:
    """Whether tables have values in common: most of the shortest, or any for a name as ids have.

    With `outer`, ids of each table must only be in one of the others.
    """
    columns = columns_of(tables, names)
    if outer and like_id(names[0]) and _linked([set(loose(texts(column))) for column in columns]):
        return True
    common = len(set.intersection(*(set(loose(texts(column))) for column in columns)))
    return common > 0 if like_id(names[0]) else 2 * common > min(map(len, columns))


def _require_unique_ids(tables: Sequence[Part], shared: Sequence[Names]) -> None:
    """Raise an error if an id has a few repeated values, since rows would be joined by their order."""
    for names in shared:
        mostly = _mostly_distinct(columns_of(tables, names))
        if like_id(names[0]) and mostly and meet(tables, names):
            for part, name in zip(tables, names, strict=True):
                require_ids(part, name)


def _pairs(tables: Sequence[Part], names: Names) -> list[list[int]]:
    """For each row of the first table, the row of each other one."""
    keys = [pd.Index(loose(texts(column))) for column in columns_of(tables, names)]
    return [key.get_indexer_for(keys[0]).tolist() for key in keys]


def own_id(part: Part, how: Joining) -> str | None:
    """The column of a table that names its rows."""
    if how.id is not None or how.in_order:
        return None if how.id is None else named_id(part, how.id)
    if how.expected in part.frame.columns:
        return how.expected
    names = [str(name) for name in part.frame.columns if like_id(str(name))]
    names = [name for name in names if is_unique(part.frame[name]) and part.full(name) not in how.learned]
    return names[0] if len(names) == 1 else None


# -- ids as text ----------------------------------------------------------------------------------
def ids_of(part: Part, name: str) -> pd.Series:
    """The ids of a table: its own values, or text if these differ from the file (007)."""
    own = part.frame[name]
    if part.texts is None:
        return own
    written = part.texts(name).iloc[: len(own)]
    return own if texts(own) == texts(written) else written


def texts(column: pd.Series) -> list[str]:
    """Ids as text; whole numbers that became floats are whole again."""
    if pd.api.types.is_float_dtype(column):
        column = column.map(lambda value: f"{value:.0f}" if value % 1 == 0 else str(value))
    return [str(value).strip() for value in column.tolist()]


def loose(ids: Sequence[str]) -> list[str]:
    """Return a key under which 007, 7 and 7.0 are one id, and so are p1 and P1."""
    return [str(int(t.partition(".")[0])) if _WHOLE_NUMBER.fullmatch(t) else t.casefold() for t in ids]


def require_ids(part: Part, name: str) -> list[str]:
    """The ids of a table as text, or an error where rows have none, or several have the same."""
    ids = texts(ids_of(part, name))
    gaps = np.flatnonzero(part.frame[name].isna().to_numpy())
    if gaps.size:
        raise UserError(
            f"{part.path}: {name!r}, which names the samples, is empty in {numbered(gaps)}. Fill these cells."
        )
    rows = np.flatnonzero(pd.Series(ids).duplicated(keep=False).to_numpy())
    if rows.size:
        first = list(dict.fromkeys(repr(ids[row]) for row in rows))
        raise UserError(
            f"{part.path}: {name!r} names some samples more than once ({and_more(first, 3)}, in "
            f"{numbered(rows)}); give each row an id of its own, or say --no-id to take rows in order."
        )
    return ids


def numbered(rows: Any, words: Sequence[str] | Mapping[int, str] | None = None) -> str:
    """Rows in a message, counted from 1, with a word about each."""
    shown = [str(row + 1) if words is None else f"{row + 1} ({words[row]!r})" for row in rows]
    return f"row{'s' if len(shown) > 1 else ''} {and_more(shown, _LISTED)}"

"""Files put side by side: rows belong together by a column that names the samples, else by their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import pandas as pd

from .._arguments import and_more, number_of
from ._console import UserError, Voice
from .ids import (
    Joining,
    Names,
    Part,
    called,
    columns_of,
    ids_by_name,
    ids_of,
    is_unique,
    like_id,
    loose,
    named_id,
    numbered,
    own_id,
    renamed_ids,
    require_common,
    require_ids,
    shared_columns,
    shared_id,
    texts,
)

_SOME = 0.1  # of the values: columns of text that share less do so by chance


@dataclass(frozen=True, eq=False)
class Joined:
    """All columns in one frame, those of each view, and the ids of the rows (under the id's name)."""

    frame: pd.DataFrame
    views: dict[str, list[str]] = field(default_factory=dict)
    ids: pd.Series | None = None


def join(parts: Sequence[Part], how: Joining, voice: Voice) -> Joined:
    """One frame of all tables, joined by the column that names the samples where there is one.

    The rows are those of the first table, in its order; arrays, which have no ids, go with it row by row. An
    id is no feature, so it is taken out of the frame.
    """
    tables = [part for part in parts if part.texts is not None]
    if how.id is not None and (how.in_order or not tables):
        why = "--no-id says that there is none." if tables else "no file has columns with names."
        raise UserError(f"--id {how.id}: {why}")
    if len(tables) > 1 and not how.in_order:
        tables = _cut_as_arrays(parts, tables)
        names = [named_id(part, how.id) for part in tables] if how.id is not None else shared_id(tables, how)
        if names:
            return _by_id(parts, tables, names, how, voice)
    return _in_order(parts, tables, how, voice)


def _cut_as_arrays(parts: Sequence[Part], tables: list[Part]) -> list[Part]:
    """With the first table no longer than an array of which only the first rows were read."""
    read = min((len(part.frame) for part in parts if part.cut), default=None)
    if read is None or tables[0].cut:
        return tables
    return [replace(tables[0], frame=tables[0].frame.iloc[:read], cut=True), *tables[1:]]


# -- in order -------------------------------------------------------------------------------------
def _in_order(parts: Sequence[Part], tables: Sequence[Part], how: Joining, voice: Voice) -> Joined:
    """Row by row; the first table may still have a column that names its rows, which predictions carry."""
    files = {part.path for part in parts}
    if len(files) > 1:
        _require_order(parts, tables, how)
        if not how.in_order:
            voice.note(
                "rows of several files are taken in order: no column of unique values is in all of them"
                f"{_apart(tables, how)}."
            )
    length = min(len(part.frame) for part in parts)
    frames = {part.view: part.frame.iloc[:length] for part in parts}
    ids = None
    for part in tables:
        name = own_id(part, how)
        if name is not None:
            ids = ids_of(part, name).iloc[:length].rename(name)
            frames[part.view] = frames[part.view].drop(columns=name)
            if name not in (how.id, how.expected):
                voice.note(
                    f"column {part.full(name)!r} names the rows: nothing is learned from it, and predictions "
                    "carry it. Give --no-id to use it as a feature."
                )
            break
    return _beside(frames, ids)


def _require_order(parts: Sequence[Part], tables: Sequence[Part], how: Joining) -> None:
    """Raise an error if rows cannot, or should not, be taken in order."""
    if how.rows is not None:
        raise UserError(f"--rows {how.rows}: no column names the rows of all files; say which by --id NAME.")
    whole = {len(part.frame) for part in parts if not part.cut}
    read = max((len(part.frame) for part in parts if part.cut), default=0)
    if len(whole) > 1 or (whole and min(whole) < read):
        told = ", ".join(f"{part.view or 'DATA'} {len(part.frame)}" for part in parts)
        raise UserError(
            f"the files have different numbers of rows ({told}), and no column of unique values in all of "
            "them says which rows belong together; add one, or name it by --id NAME."
        )
    for i, first in enumerate(tables[:-1]):
        for other in tables[i + 1 :] if not how.in_order else ():
            _require_same_order((first, other), how)
            _require_nothing_shared((first, other), how)


def _require_nothing_shared(pair: tuple[Part, Part], how: Joining) -> None:
    """Raise an error if columns of different names share some of their ids: rows in order are other pairs."""
    own = [ids_by_name(part, how) for part in pair]
    for names in product(*own):
        keys = [set(values[name]) for values, name in zip(own, names, strict=True)]
        common, least = len(keys[0] & keys[1]), min(map(len, keys))
        chance = not all(map(like_id, names)) and common < _SOME * least  # of other text
        if names[0] != names[1] and 0 < 2 * common <= least and not chance:
            raise UserError(
                f"{names[0]!r} in {pair[0].path} and {names[1]!r} in {pair[1].path} look like ids, and share "
                f"{common} of {least} values: rows in order would pair different samples. Give both columns "
                "one name to join by it (with --rows inner, rows that match nowhere are left out), or say "
                "--no-id to take rows in order."
            )


def _apart(tables: Sequence[Part], how: Joining) -> str:
    """Return a message about ids that have nothing in common."""
    own = [(part, ids_by_name(part, how)) for part in tables]
    named = [(part, name, set(ids[name])) for part, ids in own for name in ids if like_id(name)]
    if len({part.path for part, _, _ in named}) < 2:
        return ""
    if any(a[0] is not b[0] and a[2] & b[2] for a, b in combinations(named, 2)):
        return ""
    told = and_more([f"{name!r} in {part.path}" for part, name, _ in named], 3)
    return f" ({told} have no value in common: look whether their rows are of the same samples)"


def _require_same_order(pair: tuple[Part, Part], how: Joining) -> None:
    """Raise an error if two of the tables have ids that contradict their order."""
    for names in [*shared_columns(pair, how), *renamed_ids(pair, how)]:
        columns = columns_of(pair, names)
        if not (like_id(names[0]) and all(map(is_unique, columns))):
            continue
        a, b = (loose(texts(column)) for column in columns)
        require_common(pair, (a, b), names[0], [texts(column) for column in columns])
        if any(one != other for one, other in zip(a, b, strict=False)):
            raise UserError(
                f"{pair[0].path} and {pair[1].path} are in different orders by {called(pair, names)}, which "
                "other files lack: add this column to all files, or say --no-id to keep the order."
            )


# -- by id ----------------------------------------------------------------------------------------
def _by_id(parts: Sequence[Part], tables: Sequence[Part], names: Names, how: Joining, voice: Voice) -> Joined:
    keys = _keys(tables, names, voice)
    first = keys[0]
    arrays = [part for part in parts if part.texts is None]
    for part in arrays:
        if len(part.frame) < len(first) or (len(part.frame) > len(first) and not tables[0].cut):
            raise UserError(
                f"{part.path} has no ids, so its rows are taken in the order of {tables[0].path}: it has "
                f"{number_of(len(part.frame), 'row')}, and {tables[0].path} has {len(first)}."
            )
    order = _order(tables, keys, names[0], how, voice)
    known = {part.view: (name, key) for part, name, key in zip(tables, names, keys, strict=True)}
    frames = {}
    for part in parts:
        name, own = known.get(part.view, ("", first))
        rest = part.frame.drop(columns=[name] if name else [])
        frames[part.view] = _rows_of(rest.iloc[: len(own)], own, order)
    joined = _beside(frames, _ids(tables, names, keys, order))
    numbers = {key: row for row, key in enumerate(dict.fromkeys([*first, *order]))}
    joined.frame.index = pd.Index([numbers[key] for key in order])  # rows keep the numbers that messages name
    told = and_more([str(path) for path in dict.fromkeys(part.path for part in arrays)], 3)
    told = f"; rows of {told}, without ids, are in the order of {tables[0].path}" if arrays else ""
    by = called(tables, names)
    voice.note(f"{number_of(len(order), 'row')} of {len(tables)} files are joined by {by}{told}.")
    return joined


def _ids(
    tables: Sequence[Part], names: Names, keys: Sequence[Sequence[str]], order: Sequence[str]
) -> pd.Series:
    """Ids as the first table that has them writes them."""
    found: dict[str, object] = {}
    for part, name, own in zip(tables, names, keys, strict=True):
        for key, value in zip(own, ids_of(part, name).tolist(), strict=True):
            found.setdefault(key, value)
    return pd.Series([found[key] for key in order], name=names[0])


def _keys(tables: Sequence[Part], names: Names, voice: Voice) -> list[list[str]]:
    """The ids of each table in one form: as they are written, or if more match so, without zeros and case."""
    strict = [require_ids(part, name) for part, name in zip(tables, names, strict=True)]
    plain = [loose(ids) for ids in strict]
    common, more = (len(set.intersection(*map(set, keys))) for keys in (strict, plain))
    if more <= common or any(len(set(keys)) < len(keys) for keys in plain):
        return strict
    given = dict(zip(plain[0], strict[0], strict=True))
    for keys, ids in zip(plain[1:], strict[1:], strict=True):
        for key, other in zip(keys, ids, strict=True):
            if given.get(key, other) != other:
                voice.note(
                    f"ids such as {given[key]!r} and {other!r} are taken for the same in {names[0]!r}."
                )
                return plain
    return plain


def _order(
    tables: Sequence[Part], keys: Sequence[Sequence[str]], name: str, how: Joining, voice: Voice
) -> list[str]:
    """The ids of the rows of the answer; rows without a partner are listed, and dealt with as was asked."""
    common = require_common(tables, keys, name, keys, how.rows == "outer")
    asked = how.predicts and how.rows == "outer" and not tables[0].view
    # Ids that the first table lacks may belong to what was not read of it, or are not asked for.
    every = set(keys[0]) if tables[0].cut or asked else set().union(*keys)
    unmatched = every - common
    alone = [
        f"{part.path} {numbered(rows, own)}, not in {_lacking(tables, keys, {own[row] for row in rows})}"
        for part, own in zip(tables, keys, strict=True)
        if (rows := [row for row, key in enumerate(own) if key in unmatched])
    ]
    told = "; ".join(alone)
    if told and how.rows is None:
        raise UserError(
            f"some rows have no partner in other files by {name!r}: {told}. Leave them out by --rows inner, "
            "or keep them by --rows outer (cells of the other files are missing then)."
        )
    if how.rows == "outer":
        if told:
            voice.note(f"rows without a partner are kept, with missing values: {told}.")
        return [key for key in dict.fromkeys(key for own in keys for key in own) if key in every]
    if told:
        voice.note(f"rows without a partner are left out: {told}.")
    return [key for key in keys[0] if key in common]


def _lacking(tables: Sequence[Part], keys: Sequence[Sequence[str]], ids: set[str]) -> str:
    """The files that do not have all of these ids."""
    names = [str(part.path) for part, own in zip(tables, keys, strict=True) if not ids <= set(own)]
    return and_more(names, 3)


def _rows_of(frame: pd.DataFrame, keys: Sequence[str], order: Sequence[str]) -> pd.DataFrame:
    """The rows of a table by id; cells of those that it does not have are missing."""
    rows = pd.Index(keys).get_indexer(pd.Index(order))
    if (rows >= 0).all():
        return frame.iloc[rows]
    switches = [name for name in frame.columns if pd.api.types.is_bool_dtype(frame[name])]
    return frame.astype(dict.fromkeys(switches, float)).set_axis(range(len(frame))).reindex(rows)


def _beside(frames: dict[str, pd.DataFrame], ids: pd.Series | None) -> Joined:
    """Tables with the same rows in one frame; columns of views get the view's name before theirs."""
    views: dict[str, list[str]] = {}
    ready = []
    for view, frame in frames.items():
        frame = frame.reset_index(drop=True)
        if view:
            frame.columns = [f"{view}__{column}" for column in frame.columns]
        views[view] = list(frame.columns)
        ready.append(frame)
    whole = pd.concat(ready, axis=1)
    if ids is not None:
        ids = ids.reset_index(drop=True)
    return Joined(whole, views if len(views) > 1 or "" not in views else {}, ids)

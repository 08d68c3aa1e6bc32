"""From files to what a model learns from: a raw table, its views, a target and its task."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._arguments import and_more, did_you_mean, number_of, renamed
from ..families.remarks import remarks
from ..families.tables import Table, read_columns
from ..fitting.layout import evenly
from ..kernels.cells import MISSING, labels_of, numbers_of
from ._console import UserError, Voice, require_known
from .choices import TASKS
from .files import read_file
from .groups import grouped
from .ids import numbered, texts
from .sources import Asked, gather, view_of

_CLASSES = 20  # whole numbers with at most so many values are classes, unless told otherwise
_CATEGORIES = 50  # values that a column of categories may have


@dataclass
class Data:
    """Samples: a frame with the columns of each view, or a stack of kernels; and the target."""

    X: Any
    y: Any = None
    target: str = ""
    task: str = ""
    table: Table | None = None  # what the columns hold
    used: list[str] = field(default_factory=list)  # columns that something is made of
    views: dict[str, list[str]] = field(default_factory=dict)  # view -> columns; empty where there are none
    groups: bool = False  # whether views are sets of columns from a file, which may overlap
    kernels: list[str] = field(default_factory=list)  # names of the layers of a stack
    id: str = ""  # the column that names the samples
    ids: list[str] | None = None  # what it calls them
    covariates: list[str] = field(default_factory=list)  # columns to adjust for, which no kernel sees

    @property
    def n(self) -> int:
        return len(self.X)

    def some(self, at_most: int) -> Data:
        """At most so many of the samples, of all classes or from the least to the largest target."""
        if self.n <= at_most:
            return self
        rows = np.sort(np.argsort(self.y, kind="stable")[evenly(self.n, at_most)])
        X = self.X[np.ix_(rows, rows)] if self.kernels else self.X.iloc[rows].reset_index(drop=True)
        ids = None if self.ids is None else [self.ids[row] for row in rows]
        return replace(self, X=X, y=self.y[rows], ids=ids)


# -- learning -------------------------------------------------------------------------------------
def training_data(asked: Asked, voice: Voice) -> Data:
    """What to learn from, with everything that was left out or filled in told."""
    require_known("--task", asked.task, TASKS)
    if asked.precomputed:
        if asked.groups is not None:
            raise UserError("--groups was given with --precomputed: kernels have no columns to be grouped.")
        if asked.covariates:
            raise UserError(
                "--covariates was given with --precomputed, whose file has no columns. In Python: fit(X, y, "
                "covariates=Z)."
            )
        return _stack(asked, voice)
    joined = gather(asked, replace(asked.join, learned=_targets(asked)), voice)
    frame, views = joined.frame, joined.views
    id_ = "" if joined.ids is None else str(joined.ids.name)
    target = _require_target(frame, asked)
    column = _in_numbers(frame[target], target, asked.task, voice)
    known = column.notna()
    if not known.all():
        lost = int((~known).sum())
        told = "are" if lost > 1 else "is"
        voice.note(f"{number_of(lost, 'row')} without a value of {target!r} {told} left out.")
        frame = frame[known]  # rows keep their numbers, which messages name
    ids = None if joined.ids is None else texts(joined.ids[known.to_numpy()])
    y, task = _target(column[known], target, asked.task)
    dropped = {
        name for name in asked.drop if id_ not in (name, name.split("__", 1)[-1])
    }  # ids are out already
    for name in dropped:
        if name not in frame.columns:
            raise UserError(
                f"--drop {name}: there is no such column; there are {_quoted(frame.columns)}."
                + did_you_mean(name, frame.columns)
            )
    data = Data(frame, y, target, task, id=id_, ids=ids)
    same = [name for name in frame.columns if name != target and name.split("__", 1)[-1] == target]
    if same and views:
        voice.note(f"{_quoted(same)} in a view is left out: it is called as the target is.")
    else:
        same = []
    data.X = frame.drop(columns=list({target, *dropped, *same})).reset_index(drop=True)
    data.covariates = [_covariate(name, data.X, target) for name in dict.fromkeys(asked.covariates)]
    kept = set(data.X.columns) - {*data.covariates}
    named = {name or "data": [c for c in columns if c in kept] for name, columns in views.items()}
    if asked.groups is not None:
        every = {"": [c for c in data.X.columns if c in kept]}
        named, data.groups = grouped(asked.groups, named or every, voice), True
        members = {column for columns in named.values() for column in columns} | {*data.covariates}
        data.X = data.X[[name for name in data.X.columns if name in members]]
    data.X = data.X.copy()  # in few blocks of memory: a frame from a CSV file has one for each column
    data.views = {name: columns for name, columns in named.items() if columns}
    _look_at(data)
    used = set(data.used)
    data.views = {name: columns for name, columns in data.views.items() if used.intersection(columns)}
    if len(data.views) == 1:
        data.views = {}
    return data


def _covariate(given: str, X: pd.DataFrame, target: str) -> str:
    """The column that is to be adjusted for, by its name or by that within its view."""
    ends = [str(name) for name in X.columns if str(name).endswith(f"__{given}")]
    if given not in X.columns and len(ends) != 1:
        what = f"several views have it: {_quoted(ends)}" if ends else f"there are {_quoted(X.columns)}"
        hint = "" if ends else did_you_mean(given, X.columns)
        raise UserError(f"--covariates {given}: there is no such column; {what}.{hint}")
    name = given if given in X.columns else ends[0]
    gaps = int(X[name].isna().sum())
    if gaps:
        raise UserError(
            f"--covariates {given}: {number_of(gaps, 'sample')} of {len(X)} lack a value; fill these cells, "
            "or leave the rows out."
        )
    return name


def _targets(asked: Asked) -> frozenset[str]:
    """What the target may be called: in DATA, or in a view."""
    given = asked.target or ""
    return frozenset({given, *(f"{view_of(view)[0]}__{given}" for view in asked.views)})


def _require_target(frame: pd.DataFrame, asked: Asked) -> str:
    if not asked.target:
        raise UserError(f"--target is missing: which column is to be predicted? {_quoted(frame.columns)}.")
    given = asked.target
    ends = [name for name in frame.columns if name.endswith(f"__{given}")]
    if given not in frame.columns and len(ends) == 1:
        return str(ends[0])
    if given not in frame.columns:
        hint = ""
        if all(str(name).replace(".", "").replace("-", "").isdigit() for name in frame.columns):
            hint = " The first row holds numbers only: does the file lack a header?"
        raise UserError(
            f"there is no column {given!r}; there are {_quoted(frame.columns)}.{hint}"
            + did_you_mean(given, frame.columns)
        )
    return given


def _in_numbers(column: pd.Series, name: str, asked: str, voice: Voice) -> pd.Series:
    """A target of text as numbers, where most cells are: read as columns are, and other cells are an error.

    Few whole numbers, and text in which most cells are bounds such as '<0.5', stay classes unless regression
    is asked for.
    """
    if asked == "classification" or pd.api.types.is_numeric_dtype(column):
        return column
    try:
        table = read_columns(column.to_frame())
    except ValueError as error:
        raise UserError(f"the target {name!r} cannot be read: {error}") from error
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
            f"the target {name!r} holds numbers, and text that is no number in "
            f"{numbered(column.index[unread], words)}. Correct or empty these cells (rows without a target "
            "are left out), or say --task classification where the values are classes."
        )
    for remark in remarks(Table([name], parsed=table.parsed)):
        voice.note(remark.text)
    return pd.Series(numbers, index=column.index, name=column.name)


def _target(column: pd.Series, name: str, asked: str) -> tuple[Any, str]:
    """y and whether it is a class or a quantity."""
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    distinct = column.nunique()
    if distinct < 2:
        only = f"only the value {column.tolist()[0]!r}" if len(column) else "no value"
        raise UserError(f"the target {name!r} has {only}; there is nothing to learn.")
    if numeric and not np.isfinite(column.to_numpy(dtype=float)).all():
        raise UserError(f"the target {name!r} has infinite values.")
    whole = numeric and bool(np.all(np.mod(column.to_numpy(dtype=float), 1) == 0))
    task = asked
    if asked == "auto":
        task = "classification" if not numeric or (whole and distinct <= _CLASSES) else "regression"
    if task == "regression":
        if not numeric:
            raise UserError(f"the target {name!r} holds text such as {column.iloc[0]!r}: not for regression.")
        return column.to_numpy(dtype=float), task
    if distinct > max(_CATEGORIES, len(column) // 2):
        raise UserError(
            f"the target {name!r} has {distinct} different values in {len(column)} rows; too many for "
            "classes. Is it the right column?"
        )
    labels = column.to_numpy()
    return (labels.astype(int) if whole else labels.astype(str).astype(object)), task


def _look_at(data: Data) -> None:
    """Find out what the columns hold, and which are used."""
    names = [name for name in data.X.columns if name not in {*data.covariates}]
    if not names and data.covariates:
        raise UserError("all columns are --covariates; expected others for the kernels.")
    if not names:
        raise UserError("no column is left to learn from.")
    place = {name: j for j, name in enumerate(names)}
    groups = [[place[name] for name in columns] for columns in data.views.values()]
    try:
        data.table = table = read_columns(data.X[names], groups=groups or None)
    except ValueError as error:
        raise UserError(f"{error} --drop COLUMN leaves it out.") from error
    data.used = [names[j] for j in table.used if j not in table.constant]
    if not data.used:
        raise UserError("no column is left to learn from.")


def tell(data: Data, voice: Voice, text: bool) -> None:
    """Say what is made of the columns; `text` says whether kernels read text too."""
    if data.table is None:
        return
    for remark in remarks(data.table, text):
        voice.note(remark.text)


# -- precomputed kernels --------------------------------------------------------------------------
def _stack(asked: Asked, voice: Voice) -> Data:
    arrays, path = _arrays(asked)
    if not asked.target or asked.target not in arrays:
        raise UserError(
            f"--target must name an array of {path}: it holds {_quoted(arrays)}."
            + did_you_mean(asked.target or "", arrays)
        )
    y = arrays.pop(asked.target)
    if asked.join.id is not None and asked.join.id not in arrays:
        raise UserError(
            f"--id {asked.join.id}: there is no such array in {path}; it holds {_quoted(arrays)}."
        )
    if y.ndim != 1:
        raise UserError(f"{path}: the target {asked.target!r} has shape {y.shape}; expected one dimension.")
    rows = asked.how.rows
    target, task = _target(pd.Series(y[:rows]), asked.target, asked.task)
    names, K = _layers(arrays, path)
    if K.shape[:2] != (len(y), len(y)):
        raise UserError(f"{path}: kernels of shape {K.shape[:2]}, and {len(y)} targets; expected n × n.")
    if rows is not None:
        K = np.ascontiguousarray(K[:rows, :rows])
    return Data(K, target, asked.target, task, kernels=names, id=asked.join.id or "")


def _arrays(asked: Asked) -> tuple[dict[str, np.ndarray[Any, Any]], Path]:
    if asked.data is None or asked.views:
        raise UserError("kernels are read from one .npz file, with the target beside them to learn from.")
    found = read_file(asked.data, asked.how)
    if not isinstance(found, dict):
        raise UserError(f"{asked.data}: kernels are read from an .npz file.")
    return found, asked.data


def _layers(arrays: dict[str, Any], path: Path) -> tuple[list[str], Any]:
    """Matrices by name, or one array (rows, n, kernels)."""
    flat = {name: A for name, A in arrays.items() if A.ndim == 2}
    deep = {name: A for name, A in arrays.items() if A.ndim == 3}
    if len(deep) == 1 and not flat:
        ((name, A),) = deep.items()
        return [f"{name} {m}" for m in range(A.shape[2])], np.asarray(A, dtype=np.float64)
    if not flat or deep or len({A.shape for A in flat.values()}) > 1:
        told = ", ".join(f"{name} {A.shape}" for name, A in arrays.items())
        raise UserError(f"{path}: expected kernels of one shape, got {told or 'none'}.")
    return list(flat), np.stack([np.asarray(A, dtype=np.float64) for A in flat.values()], axis=-1)


# -- new data -------------------------------------------------------------------------------------
def new_data(asked: Asked, about: dict[str, Any], voice: Voice) -> tuple[Any, pd.Series | None]:
    """Data for a model that was made from `about`: its columns by name, whatever else there is; and ids."""
    if about["kernels"]:
        found, path = _arrays(asked)
        arrays = {name: A for name, A in found.items() if A.ndim > 1}
        missing = [name for name in about["kernels"] if name not in arrays]
        if len(arrays) != 1 and missing:
            lacks = f"{path} lacks the kernel{'s' * (len(missing) > 1)} {_quoted(missing)}."
            raise UserError(lacks + renamed(missing, set(arrays) - set(about["kernels"])))
        chosen = arrays if missing else {name: arrays[name] for name in about["kernels"]}
        ids = found.get(asked.join.id or about.get("id", ""))
        named = None if ids is None else pd.Series(ids[: asked.how.rows], name=asked.join.id or about["id"])
        return _layers(chosen, path)[1][: asked.how.rows], named
    if "columns" not in about:
        raise UserError("the model was written by an earlier version of manykernels; fit it again.")
    learned = frozenset(about["columns"])
    how = replace(asked.join, learned=learned, expected=about.get("id", ""), predicts=True)
    joined = gather(asked, how, voice)
    frame = joined.frame
    missing = [name for name in about["used"] if name not in frame.columns]
    if missing:
        _require_views(about["views"], joined.views, missing)
        told = (
            f"column {_quoted(missing)}, which is"
            if len(missing) == 1
            else f"columns {_quoted(missing)}, which are"
        )
        raise UserError(
            f"the model needs the {told} not there; there are {_quoted(frame.columns)}."
            + renamed(missing, [name for name in frame.columns if name not in about["columns"]])
        )
    return frame.reindex(columns=about["columns"]), joined.ids


def _require_views(needed: list[str], given: Any, missing: list[str]) -> None:
    """An error where whole views are missing, which columns by the hundred would not say."""
    absent = [v for v in needed if v not in given and any(name.startswith(f"{v}__") for name in missing)]
    if absent:
        told = (
            f"view {_quoted(absent)}, which was"
            if len(absent) == 1
            else f"views {_quoted(absent)}, which were"
        )
        how = " ".join(f"--view {name}=FILE" for name in absent)
        raise UserError(
            f"the model needs the {told} not given: add {how}."
            + renamed(absent, [name for name in given if name and name not in needed])
        )


def _quoted(names: Any) -> str:
    """Names in a message."""
    return and_more([repr(str(name)) for name in names], 12)

"""From files to what a model learns from: a raw table, its views, a target and its task."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._arguments import did_you_mean, number_of, renamed
from ..families.remarks import remarks
from ..families.tables import Table, read_columns
from ..fitting.layout import evenly
from ..kernels.cells import labels_of
from ..report.verdict import DROPPED, GROUPS, NAMES
from ._console import UserError, Voice, require_known
from .choices import TASKS
from .files import read_file
from .groups import grouped
from .ids import numbered, texts
from .outcomes import event_times, require_outcome, warn_of_copies
from .sources import Asked, gather
from .targets import classes_or_numbers, find_column, one_column, quoted, wanted

_NOTHING = "no column is left to learn from: add columns, or leave out fewer of them."


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
    outcome: dict[str, str] = field(default_factory=dict)  # what columns of times to an event were
    sample_groups: Any = None  # which samples belong together, by the column called `grouped_by`
    grouped_by: str = ""
    set_aside: dict[str, str] = field(default_factory=dict)  # columns that are not in X, and why
    called: dict[str, str] = field(default_factory=dict)  # columns of views as people write them

    @property
    def n(self) -> int:
        return len(self.X)

    def some(self, at_most: int) -> Data:
        """At most so many of the samples, of all classes or from the least to the largest target."""
        if self.n <= at_most:
            return self
        order = (
            np.lexsort((self.y["time"], self.y["event"]))
            if self.outcome
            else np.argsort(self.y, kind="stable")
        )
        rows = np.sort(order[evenly(self.n, at_most)])
        X = self.X[np.ix_(rows, rows)] if self.kernels else self.X.iloc[rows].reset_index(drop=True)
        ids = None if self.ids is None else [self.ids[row] for row in rows]
        groups = None if self.sample_groups is None else self.sample_groups[rows]
        return replace(self, X=X, y=self.y[rows], ids=ids, sample_groups=groups)

    def plainly(self, name: str) -> str:
        """The name of a column without that of its view."""
        return name.split("__", 1)[1] if name in self.called else name


# -- learning -------------------------------------------------------------------------------------
def training_data(asked: Asked, voice: Voice) -> Data:
    """Return the training data, with notes on everything that was left out or filled in."""
    require_known("--task", asked.task, TASKS)
    require_outcome(asked)
    if asked.precomputed:
        if asked.groups is not None:
            raise UserError("--groups was given with --precomputed: kernels have no columns to be grouped.")
        if asked.covariates:
            raise UserError(
                "--covariates was given with --precomputed, whose file has no columns. In Python: fit(X, y, "
                "covariates=Z)."
            )
        return _stack(asked, voice)
    joined = gather(asked, replace(asked.join, learned=wanted(asked)), voice)
    frame, views = joined.frame, joined.views
    id_ = "" if joined.ids is None else str(joined.ids.name)
    target = (event_times if asked.outcome else one_column)(frame, asked, voice)
    frame = frame[target.known]  # rows keep their numbers, which messages name
    ids = None if joined.ids is None else texts(joined.ids[target.known])
    data = Data(frame, target.y, target.name, target.task, id=id_, ids=ids, outcome=target.outcome)
    data.called = _called(views)
    if id_:
        data.set_aside[id_] = NAMES
    dropped = [  # ids are out already
        find_column(frame, name, "--drop")
        for name in asked.drop
        if id_ not in (name, name.split("__", 1)[-1])
    ]
    data.set_aside |= dict.fromkeys(dropped, DROPPED)
    if asked.sample_groups:
        _group(data, frame, asked.sample_groups)
    same = _called_alike(frame, target.columns, views, voice)
    data.set_aside |= dict.fromkeys(same, "it has the name of the target")
    unused = {*target.columns, *dropped, *same, *([data.grouped_by] if data.grouped_by else [])}
    data.X = frame.drop(columns=list(unused)).reset_index(drop=True)
    data.covariates = [_covariate(name, data.X) for name in dict.fromkeys(asked.covariates)]
    kept = set(data.X.columns) - {*data.covariates}
    named = {name or "data": [c for c in columns if c in kept] for name, columns in views.items()}
    if asked.groups is not None:
        every = {"": [c for c in data.X.columns if c in kept]}
        named, data.groups = grouped(asked.groups, named or every, voice), True
        members = {column for columns in named.values() for column in columns} | {*data.covariates}
        data.X = data.X[[name for name in data.X.columns if name in members]]
    data.X = data.X.copy()  # in few blocks of memory: a frame from a CSV file has one for each column
    if data.outcome:
        warn_of_copies(data.X, data.y, data.outcome, voice)
    data.views = {name: columns for name, columns in named.items() if columns}
    _look_at(data)
    used = set(data.used)
    data.views = {name: columns for name, columns in data.views.items() if used.intersection(columns)}
    if len(data.views) == 1:
        data.views = {}
    return data


def _called(views: dict[str, list[str]]) -> dict[str, str]:
    """Columns of views as people write them: bmi (body)."""
    return {c: f"{c.removeprefix(f'{view}__')} ({view})" for view, own in views.items() if view for c in own}


def _group(data: Data, frame: pd.DataFrame, given: str) -> None:
    """Keep which samples belong together."""
    if given == data.id:
        raise UserError(
            f"--sample-groups {given}: the column names the samples, so that each would be a group of its "
            "own. Name a column whose values are shared by the samples that belong together."
        )
    name = find_column(frame, given, "--sample-groups")
    data.sample_groups = _labels_of_groups(frame[name], given)
    data.grouped_by = name
    data.set_aside[name] = GROUPS


def _labels_of_groups(column: pd.Series, given: str) -> Any:
    """The group of each sample as text."""
    labels = labels_of(column)
    empty = [row for row, label in zip(column.index, labels, strict=True) if label is None]
    if empty:
        raise UserError(
            f"--sample-groups {given}: no value in {numbered(empty)}. Fill these cells, or leave the rows "
            "out."
        )
    found = np.array([str(label) for label in labels])
    if np.unique(found).size < 2:
        raise UserError(
            f"--sample-groups {given}: all samples belong to one group, {found[0]!r}, and a cross-validation "
            "needs two. Name another column, or leave the option out."
        )
    return found


def _called_alike(frame: pd.DataFrame, target: list[str], views: Any, voice: Voice) -> list[str]:
    """Columns of views that are called as those of the target are, which would give it away."""
    ends = {name.split("__", 1)[-1] if views else name for name in target}
    same = [name for name in frame.columns if name not in target and name.split("__", 1)[-1] in ends]
    if not same or not views:
        return []
    voice.note(f"{quoted(same)} in a view is left out, because it has the name of the target.")
    return same


def _covariate(given: str, X: pd.DataFrame) -> str:
    """The column that is to be adjusted for, by its name or by that within its view."""
    ends = [str(name) for name in X.columns if str(name).endswith(f"__{given}")]
    if given not in X.columns and len(ends) != 1:
        what = f"several views have it: {quoted(ends)}" if ends else f"there are {quoted(X.columns)}"
        hint = "" if ends else did_you_mean(given, X.columns)
        raise UserError(f"--covariates {given}: there is no such column.{hint} {what[0].upper()}{what[1:]}.")
    name = given if given in X.columns else ends[0]
    gaps = int(X[name].isna().sum())
    if gaps:
        raise UserError(
            f"--covariates {given}: {number_of(gaps, 'sample')} of {len(X)} lack a value; fill these cells, "
            "or leave the rows out."
        )
    return name


def _look_at(data: Data) -> None:
    """Find out what the columns hold, and which are used."""
    names = [name for name in data.X.columns if name not in {*data.covariates}]
    if not names and data.covariates:
        raise UserError("all columns are --covariates: leave some of them to the kernels.")
    if not names:
        raise UserError(_NOTHING)
    place = {name: j for j, name in enumerate(names)}
    groups = [[place[name] for name in columns] for columns in data.views.values()]
    try:
        data.table = table = read_columns(data.X[names], groups=groups or None)
    except ValueError as error:
        raise UserError(f"{error} --drop COLUMN leaves it out.") from error
    data.used = [names[j] for j in table.used if j not in table.constant]
    if not data.used:
        raise UserError(_NOTHING)


def tell(data: Data, voice: Voice, text: bool) -> None:
    """Say what is made of the columns; `text` says whether kernels read text too."""
    if data.table is None:
        return
    for remark in remarks(data.table, text):
        voice.note(remark.text)


# -- precomputed kernels --------------------------------------------------------------------------
def _stack(asked: Asked, voice: Voice) -> Data:
    arrays, path = _arrays(asked)
    if asked.outcome:
        return _stack_of_times(asked, arrays, path, voice)
    if not asked.target or asked.target not in arrays:
        raise UserError(
            f"--target must name an array of {path}.{did_you_mean(asked.target or '', arrays)} It holds "
            f"{quoted(arrays)}."
        )
    y = arrays.pop(asked.target)
    if asked.join.id is not None and asked.join.id not in arrays:
        raise UserError(f"--id {asked.join.id}: there is no such array in {path}; it holds {quoted(arrays)}.")
    if y.ndim != 1:
        raise UserError(f"{path}: the target {asked.target!r} has shape {y.shape}; expected one dimension.")
    rows = asked.how.rows
    target, task = classes_or_numbers(pd.Series(y[:rows]), asked.target, asked.task)
    how = _groups_beside(asked, arrays, path, np.arange(len(y))[:rows])
    names, K = _square(arrays, path, len(y))
    if rows is not None:
        K = np.ascontiguousarray(K[:rows, :rows])
    return Data(K, target, asked.target, task, kernels=names, id=asked.join.id or "", **how)


def _groups_beside(asked: Asked, arrays: dict[str, Any], path: Path, rows: Any) -> dict[str, Any]:
    """Which samples belong together, by an array beside the kernels."""
    if not asked.sample_groups:
        return {}
    found = arrays.get(asked.sample_groups)
    if found is None or np.ndim(found) != 1 or len(found) <= max(rows, default=0):
        raise UserError(
            f"--sample-groups {asked.sample_groups}: expected the name of an array of {path} with a label "
            f"for each sample.{did_you_mean(asked.sample_groups, arrays)} It holds {quoted(arrays)}."
        )
    labels = _labels_of_groups(pd.Series(found[rows]), asked.sample_groups)
    return {"sample_groups": labels, "grouped_by": asked.sample_groups}


def _stack_of_times(asked: Asked, arrays: dict[str, Any], path: Path, voice: Voice) -> Data:
    """Kernels beside arrays of times and events."""
    flat = {name: A for name, A in arrays.items() if A.ndim == 1}
    n = max((len(A) for A in flat.values()), default=0)
    frame = pd.DataFrame({name: A for name, A in flat.items() if len(A) == n}).iloc[: asked.how.rows]
    target = event_times(frame, asked, voice)
    names, K = _square({name: A for name, A in arrays.items() if name not in flat}, path, n)
    rows = np.flatnonzero(target.known)
    how: dict[str, Any] = {"kernels": names, "id": asked.join.id or "", "outcome": target.outcome}
    how |= _groups_beside(asked, arrays, path, rows)
    return Data(np.ascontiguousarray(K[np.ix_(rows, rows)]), target.y, target.name, target.task, **how)


def _square(arrays: dict[str, Any], path: Path, n: int) -> tuple[list[str], Any]:
    """The kernels between n samples, and their names."""
    names, K = _layers(arrays, path)
    if K.shape[:2] != (n, n):
        raise UserError(f"{path}: kernels of shape {K.shape[:2]}, and {n} targets; expected n × n.")
    return names, K


def _arrays(asked: Asked) -> tuple[dict[str, np.ndarray[Any, Any]], Path]:
    if asked.data is None or asked.views:
        raise UserError("give one .npz file that holds the kernels, and to learn from them also the target.")
    found = read_file(asked.data, asked.how)
    if not isinstance(found, dict):
        raise UserError(f"{asked.data}: expected an .npz file of kernels, as np.savez writes it.")
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
@dataclass(frozen=True)
class New:
    """Samples to predict for."""

    X: Any
    ids: pd.Series | None
    stratum: Any = None  # a column, where the model has strata and it is there


def new_data(asked: Asked, about: dict[str, Any], voice: Voice) -> New:
    """Data for a model that was made from `about`: its columns by name, whatever else there is."""
    strata = about.get("outcome", {}).get("stratum", "")
    if about["kernels"]:
        found, path = _arrays(asked)
        arrays = {name: A for name, A in found.items() if A.ndim > 1}
        missing = [name for name in about["kernels"] if name not in arrays]
        if len(arrays) != 1 and missing:
            lacks = f"{path} lacks the kernel{'s' * (len(missing) > 1)} {quoted(missing)}."
            raise UserError(lacks + renamed(missing, set(arrays) - set(about["kernels"])))
        chosen = arrays if missing else {name: arrays[name] for name in about["kernels"]}
        ids = found.get(asked.join.id or about.get("id", ""))
        named = None if ids is None else pd.Series(ids[: asked.how.rows], name=asked.join.id or about["id"])
        stratum = None if strata not in found else pd.Series(found[strata][: asked.how.rows])
        return New(_layers(chosen, path)[1][: asked.how.rows], named, stratum)
    if "columns" not in about:
        raise UserError(
            "the model was written by an earlier version of manykernels. Fit it again with `manykernels fit "
            "… --model FILE`."
        )
    learned = frozenset([*about["columns"], *([strata] if strata else [])])
    how = replace(asked.join, learned=learned, expected=about.get("id", ""), predicts=True)
    joined = gather(asked, how, voice)
    frame = joined.frame
    missing = [name for name in about["used"] if name not in frame.columns]
    if missing:
        _require_views(about["views"], joined.views, missing)
        told = (
            f"column {quoted(missing)}, which is"
            if len(missing) == 1
            else f"columns {quoted(missing)}, which are"
        )
        raise UserError(
            f"the model needs the {told} not there."
            + renamed(missing, [name for name in frame.columns if name not in about["columns"]])
            + f" There are {quoted(frame.columns)}."
        )
    return New(frame.reindex(columns=about["columns"]), joined.ids, frame.get(strata))


def _require_views(needed: list[str], given: Any, missing: list[str]) -> None:
    """Raise an error if whole views are missing, which columns by the hundred would not say."""
    absent = [v for v in needed if v not in given and any(name.startswith(f"{v}__") for name in missing)]
    if absent:
        told = (
            f"view {quoted(absent)}, which was" if len(absent) == 1 else f"views {quoted(absent)}, which were"
        )
        how = " ".join(f"--view {name}=FILE" for name in absent)
        raise UserError(
            f"the model needs the {told} not given: add {how}."
            + renamed(absent, [name for name in given if name and name not in needed])
        )

"""From files to what a model learns from: features by kind, views, a target and its task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._arguments import and_more, number_of
from ._console import UserError, Voice, require_known
from .choices import TASKS
from .files import read_file
from .sources import Asked, gather, view_of

MISSING = "missing"  # the category of cells without a value
_CLASSES = 20  # whole numbers with at most so many values are classes, unless told otherwise
_CATEGORIES = 50  # values that a column of categories may have
_NUMBERED = 10  # rows from which a column 1, 2, 3 … is taken for their numbers
_ENORMOUS = 1e150  # its square is no number
_MIXED = 0.5  # share of numbers from which a column with other things in it is called a mixture


@dataclass
class Data:
    """Samples: a frame with the columns of each view, or a stack of kernels; and the target."""

    X: Any
    y: Any = None
    target: str = ""
    task: str = ""
    numbers: list[str] = field(default_factory=list)
    categories: dict[str, list[str]] = field(default_factory=dict)  # column -> its values
    views: dict[str, list[str]] = field(default_factory=dict)  # view -> columns; empty where there are none
    kernels: list[str] = field(default_factory=list)  # names of the layers of a stack
    id: str = ""  # the column that names the samples

    @property
    def n(self) -> int:
        return len(self.X)


# -- learning -------------------------------------------------------------------------------------
def training_data(asked: Asked, voice: Voice) -> Data:
    """What to learn from, with everything that was left out or filled in told."""
    require_known("--task", asked.task, TASKS)
    if asked.precomputed:
        return _stack(asked, voice)
    joined = gather(asked, replace(asked.join, learned=_targets(asked)), voice)
    frame, views = joined.frame, joined.views
    id_ = "" if joined.ids is None else str(joined.ids.name)
    target = _require_target(frame, asked)
    known = frame[target].notna()
    if not known.all():
        lost = int((~known).sum())
        told = "are" if lost > 1 else "is"
        voice.note(f"{number_of(lost, 'row')} without a value of {target!r} {told} left out.")
        frame = frame[known]  # rows keep their numbers, which messages name
    y, task = _target(frame[target], target, asked.task)
    dropped = {
        name for name in asked.drop if id_ not in (name, name.split("__", 1)[-1])
    }  # ids are out already
    for name in dropped:
        if name not in frame.columns:
            raise UserError(f"--drop {name}: there is no such column; there are {_quoted(frame.columns)}.")
    data = Data(frame, y, target, task, id=id_)
    same = [name for name in frame.columns if name != target and name.split("__", 1)[-1] == target]
    if same and views:
        voice.note(f"{_quoted(same)} in a view is left out: it is called as the target is.")
    else:
        same = []
    _sort(data, frame.drop(columns=list({target, *dropped, *same})), voice)
    _require_distinct(data)
    kept = {*data.numbers, *data.categories}
    data.X = _as_text(frame[[*data.numbers, *data.categories]].copy(), list(data.categories))
    data.X = data.X.reset_index(drop=True)
    named = {name or "data": [c for c in columns if c in kept] for name, columns in views.items()}
    data.views = {name: columns for name, columns in named.items() if columns}
    if len(data.views) == 1:
        data.views = {}
    return data


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
        raise UserError(f"there is no column {given!r}; there are {_quoted(frame.columns)}.{hint}")
    return given


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


def _sort(data: Data, features: pd.DataFrame, voice: Voice) -> None:
    """Numbers, categories, and what is neither."""
    for name in features.columns:
        column = features[name]
        if column.isna().all() or str(name).startswith("Unnamed: "):
            voice.note(
                f"column {name!r} is left out: it has no {'values' if column.isna().all() else 'name'}."
            )
        elif column.nunique(dropna=False) < 2:
            voice.note(f"column {name!r} is left out: all its values are the same.")
        elif pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
            if _counts(column):
                voice.note(f"column {name!r} is left out: it numbers the rows.")
                continue
            largest = float(np.abs(column.dropna().to_numpy(dtype=float)).max())
            if not largest < _ENORMOUS:
                what = f"values as large as {largest:g}" if np.isfinite(largest) else "infinite values"
                raise UserError(f"column {name!r} has {what}; mend them, or --drop it.")
            data.numbers.append(str(name))
        else:
            _category(data, str(name), column, voice)
    gaps = [name for name in data.numbers if features[name].isna().any()]
    if gaps:
        voice.note(f"missing values are filled with the median in {_quoted(gaps)}.")
    unknown = [name for name, values in data.categories.items() if MISSING in values]
    if unknown:
        voice.note(f"missing values are a category of their own, {MISSING!r}, in {_quoted(unknown)}.")
    if not data.numbers and not data.categories:
        raise UserError("no column is left to learn from.")


def _counts(column: pd.Series) -> bool:
    """Whether a column is 1, 2, 3 … or the like, from the first row to the last."""
    if len(column) < _NUMBERED or pd.api.types.is_bool_dtype(column) or column.isna().any():
        return False
    ahead = column.to_numpy(dtype=float) - column.index.to_numpy(dtype=float)
    return bool(np.all(ahead == ahead[0])) and float(ahead[0]).is_integer()


def _require_distinct(data: Data) -> None:
    """Indicators of categories get names that no other column may have."""
    owner = {name: name for name in data.numbers}
    for name, values in data.categories.items():
        for value in values:
            made = f"{name}_{value}"
            if made in owner:
                raise UserError(
                    f"value {value!r} of column {name!r} becomes a column {made!r}, which column "
                    f"{owner[made]!r} is or makes too; rename one."
                )
            owner[made] = name


def _category(data: Data, name: str, column: pd.Series, voice: Voice) -> None:
    present = column.dropna().astype(str)
    parsed = pd.to_numeric(present, errors="coerce")
    share = float(parsed.notna().mean())
    if _MIXED <= share < 1.0:
        row = int(np.flatnonzero(parsed.isna().to_numpy())[0])
        raise UserError(
            f"column {name!r} mixes numbers and text ({present.iloc[row]!r} in row "
            f"{present.index[row] + 1}); mend it, or --drop {name}."
        )
    distinct = present.nunique()
    if distinct > _CATEGORIES:
        voice.note(f"column {name!r} is left out: text with {distinct} different values.")
        return
    values = sorted(present.unique())
    data.categories[name] = values if column.notna().all() else sorted({*values, MISSING})


# -- precomputed kernels --------------------------------------------------------------------------
def _stack(asked: Asked, voice: Voice) -> Data:
    arrays, path = _arrays(asked)
    if not asked.target or asked.target not in arrays:
        raise UserError(f"--target must name an array of {path}: it holds {_quoted(arrays)}.")
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
            raise UserError(f"{path} lacks the kernels {_quoted(missing)}.")
        chosen = arrays if missing else {name: arrays[name] for name in about["kernels"]}
        ids = found.get(asked.join.id or about.get("id", ""))
        named = None if ids is None else pd.Series(ids[: asked.how.rows], name=asked.join.id or about["id"])
        return _layers(chosen, path)[1][: asked.how.rows], named
    wanted = [*about["numbers"], *about["categories"]]
    how = replace(asked.join, learned=frozenset(wanted), expected=about.get("id", ""))
    joined = gather(asked, how, voice)
    frame = joined.frame
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise UserError(
            f"the model needs the columns {_quoted(missing)}, which are not there; there are "
            f"{_quoted(frame.columns)}."
        )
    frame = _as_text(frame[wanted].copy(), about["categories"])
    for name in about["numbers"]:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            bad = frame[name][pd.to_numeric(frame[name], errors="coerce").isna() & frame[name].notna()]
            if len(bad):
                raise UserError(
                    f"column {name!r} holds {bad.iloc[0]!r}, where the model learned from numbers."
                )
        frame[name] = pd.to_numeric(frame[name]).astype(float)
        if np.isinf(frame[name]).any():
            raise UserError(f"column {name!r} has infinite values; mend them.")
    for name, values in about["categories"].items():
        unseen = sorted(set(frame[name]) - {*values, MISSING})
        if unseen:
            voice.note(f"column {name!r} has values that the model has not seen: {_quoted(unseen)}.")
    return frame, joined.ids


def _as_text(frame: pd.DataFrame, categories: Iterable[str]) -> pd.DataFrame:
    for name in categories:
        text = frame[name].astype(object).where(frame[name].notna(), MISSING)
        frame[name] = text.astype(str).astype(object)
    return frame


def _quoted(names: Any) -> str:
    """Names in a message."""
    return and_more([repr(str(name)) for name in names], 12)

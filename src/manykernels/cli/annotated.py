"""Files of AnnData (.h5ad) and MuData (.h5mu) as tables: values, and what a command asks of obs."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from .._arguments import and_more
from ..fitting.annotated import unpacked
from ._console import UserError, Voice, one_line
from .files import Reading
from .ids import Part

READERS = {".h5ad": ("anndata", "read_h5ad"), ".h5mu": ("mudata", "read_h5mu")}
_ID = "sample"  # what the names of samples are called, where the file does not say


def is_annotated_file(path: Path) -> bool:
    """Whether the file holds AnnData or MuData, by its name."""
    return path.suffix.lower() in READERS


def annotated_parts(view: str, path: Path, how: Reading, wanted: Collection[str], voice: Voice) -> list[Part]:
    """The table of AnnData, or one for each part of MuData; of `obs` only the columns that are wanted."""
    data = _read(path)
    try:
        found = unpacked(data)
    except (ValueError, MemoryError) as error:
        raise UserError(f"{path}: {one_line(error)}") from error
    if isinstance(found, dict) and view:
        raise UserError(f"{path} holds several views; give it as DATA, without --view.")
    obs = data.obs
    taken = [name for name in obs.columns if str(name) in wanted]
    left = [repr(str(name)) for name in obs.columns if name not in taken]
    if left:
        which = f"columns {and_more(left, 5)} of obs are" if len(left) > 1 else f"column {left[0]} of obs is"
        voice.note(f"{path}: the {which} left out.")
    id_ = str(data.obs_names.name or _ID)
    names = pd.DataFrame({id_: data.obs_names.to_numpy()}).join(obs[taken].reset_index(drop=True))
    frames = found if isinstance(found, dict) else {view: found}
    tables = {part: _table(names[[id_]], frame) for part, frame in frames.items()}
    if isinstance(found, dict):
        tables = {"": names, **tables} if taken else tables
    else:
        tables[view] = _table(names, found)
    cut = how.rows is not None
    return [_part(part, path, table.iloc[: how.rows], cut) for part, table in tables.items()]


def _part(view: str, path: Path, frame: pd.DataFrame, cut: bool) -> Part:
    return Part(view, path, frame, frame.__getitem__, cut)


def _table(names: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of obs before those of the values; values that are called as one of them are left out."""
    values = frame.reset_index(drop=True)
    values.columns = [str(name) for name in values.columns]
    return pd.concat([names, values.drop(columns=[n for n in names.columns if n in values.columns])], axis=1)


def _read(path: Path) -> Any:
    package, reader = READERS[path.suffix.lower()]
    if not path.exists():
        raise UserError(f"{path}: there is no such file.")
    try:
        read = getattr(import_module(package), reader)
    except ImportError as error:
        raise UserError(
            f"{path} is read by the package {package}, which is not installed: "
            "pip install 'manykernels[omics]'."
        ) from error
    try:
        return read(path)
    except MemoryError:
        raise
    except Exception as error:  # HDF5 fails in many ways
        raise UserError(f"{path} cannot be read: {one_line(error)}") from error

"""The files of a command, as one frame."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._arguments import and_more
from ._console import UserError, Voice
from .annotated import annotated_parts, is_annotated_file
from .files import Reading, read_as_text, read_file
from .ids import Joining, Part
from .joining import Joined, join


@dataclass(frozen=True)
class Asked:
    """The options of a command about data."""

    data: Path | None
    views: list[str]
    target: str | None = None
    task: str = "auto"
    drop: tuple[str, ...] = ()
    precomputed: bool = False
    groups: Path | None = None  # sets of columns, as a .gmt file
    covariates: tuple[str, ...] = ()  # columns to adjust for
    sample_groups: str | None = None  # the column that says which rows belong together
    outcome: dict[str, str] = field(default_factory=dict)  # time, event, entry, stratum: the columns named
    how: Reading = field(default_factory=Reading)
    join: Joining = field(default_factory=Joining)

    @property
    def paths(self) -> list[Path]:
        """The files that are read."""
        single = [path for path in (self.data, self.groups) if path]
        return [*single, *(view_of(given)[1] for given in self.views)]


def gather(asked: Asked, join_by: Joining, voice: Voice) -> Joined:
    """One frame of all files, with the columns of each view and what the samples are called."""
    wanted = {*join_by.learned, asked.join.id or ""}
    parts = _parts_of_data(asked, wanted, voice)
    how = replace(asked.how, rows=None) if parts else asked.how  # views have the rows of DATA in any order
    for given in asked.views:
        name, path = view_of(given)
        if name in [part.view or "data" for part in parts]:
            raise UserError(f"--view {given}: there is a view called {name!r} already; give it another name.")
        if is_annotated_file(path):
            parts += annotated_parts(name, path, how, wanted, voice)
            how = replace(how, rows=None)
            continue
        found = read_file(path, how)
        if isinstance(found, dict):
            raise UserError(f"{path}: a view is one table; .npz files with several arrays are given as DATA.")
        parts.append(_part(name, path, found, how))
        how = replace(how, rows=None)
    if not parts:
        raise UserError("no data: give a file, or --view NAME=FILE for each view.")
    return join(parts, join_by, voice)


def _parts_of_data(asked: Asked, wanted: set[str], voice: Voice) -> list[Part]:
    if asked.data is None:
        return []
    if is_annotated_file(asked.data):
        return annotated_parts("", asked.data, asked.how, wanted, voice)
    found = read_file(asked.data, asked.how)
    if not isinstance(found, dict):
        return [_part("", asked.data, found, asked.how)]
    kernels = [name for name, A in found.items() if _symmetric(A)]
    if kernels and asked.target:
        told = "is symmetric, and its" if len(kernels) == 1 else "are symmetric, and their"
        voice.note(
            f"{and_more(list(map(repr, kernels)), 12)} {told} columns are taken for features; if these are "
            "kernels between the samples, add --precomputed."
        )
    cut = asked.how.rows is not None
    frames = _frames(found, asked.data, asked.how)
    return [
        Part(name, asked.data, frame, None if name else frame.__getitem__, cut)
        for name, frame in frames.items()
    ]


def _part(name: str, path: Path, frame: pd.DataFrame, how: Reading) -> Part:
    cut = how.rows is not None and len(frame) == how.rows
    named = path.suffix.lower() != ".npy"
    return Part(name, path, frame, partial(read_as_text, path, frame, how) if named else None, cut)


def view_of(given: str) -> tuple[str, Path]:
    """The name and the file of a view."""
    name, sign, path = given.partition("=")
    if not sign or not name or not path:
        raise UserError(f"--view {given}: expected NAME=FILE, such as gene=a.csv.")
    return name, Path(path)


def _symmetric(A: np.ndarray[Any, Any]) -> bool:
    """Whether a matrix is symmetric, as kernels are."""
    return A.ndim == 2 and len(A) == A.shape[1] > 2 and A.dtype.kind in "iuf" and np.allclose(A, A.T)


def _frames(arrays: dict[str, np.ndarray[Any, Any]], path: Path, how: Reading) -> dict[str, pd.DataFrame]:
    """Arrays of one dimension are columns, those of two are views."""
    parts: dict[str, pd.DataFrame] = {}
    lengths = {name: len(A) for name, A in arrays.items() if A.ndim}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise UserError(f"{path}: the arrays have different numbers of rows ({told}).")
    for name, A in arrays.items():
        if A.ndim not in (1, 2) or A.dtype.kind not in "biufUS":
            raise UserError(
                f"{path}: array {name!r} has shape {A.shape} and type {A.dtype}; expected one or two "
                "dimensions. Kernels between samples are read with --precomputed."
            )
        if A.ndim == 1:
            parts.setdefault("", pd.DataFrame(index=range(len(A))))[name] = A
        else:
            parts[name] = pd.DataFrame(A, columns=[f"x{j}" for j in range(A.shape[1])])
    if len([name for name in parts if name]) == 1:  # one table needs no name
        (name,) = (name for name in parts if name)
        parts[""] = pd.concat([parts.pop(name), *([parts[""]] if "" in parts else [])], axis=1)
    return {name: part.iloc[: how.rows] for name, part in parts.items()}

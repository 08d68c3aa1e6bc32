"""Frames in models, which skops does not know: taken apart for a file, and put together from it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from .._archives import ArchiveError
from ..families.tables import column_of, holds_numbers

_LIBRARIES = ("pandas", "polars")  # no other module is imported, whatever a file says


class Frame:
    """The columns of a frame that a model keeps: numbers, or lists of text."""

    def __init__(self, library: str, names: list[Any], columns: list[Any]) -> None:
        self.library, self.names, self.columns = library, names, columns


def pack(value: Any) -> Any:
    """A frame as something that skops can save, anything else as it is."""
    library = type(value).__module__.split(".")[0]
    if library not in _LIBRARIES or not hasattr(value, "columns"):
        return value
    columns = [_plain(column_of(value, j)) for j in range(value.shape[1])]
    return Frame(library, list(value.columns), columns)


def _plain(column: Any) -> Any:
    if holds_numbers(column):
        return np.asarray(column, dtype=np.float64)
    return [None if v is None or v != v else str(v) for v in column]


def unpack_frame(value: Any) -> Any:
    """The frame that ``pack`` took apart; anything else as it is."""
    if not isinstance(value, Frame):
        return value
    if value.library not in _LIBRARIES:
        raise ArchiveError("it holds a table that is neither of pandas nor of polars")
    if not _is_table(value):
        raise ArchiveError("it holds a table whose columns have different lengths")
    try:
        library = importlib.import_module(value.library)
    except ImportError as error:
        raise ArchiveError(
            f"it holds a table of {value.library}, which is not installed here (pip install {value.library})"
        ) from error
    if value.library == "polars":
        return library.DataFrame(dict(zip(value.names, value.columns, strict=True)))
    frame = library.DataFrame(dict(enumerate(value.columns)))
    frame.columns = value.names
    return frame


def _is_table(value: Frame) -> bool:
    """Whether the columns are of one length: a single number would be repeated for all rows."""
    if not isinstance(value.columns, list):
        return False
    flat = all(isinstance(c, list) or (isinstance(c, np.ndarray) and c.ndim == 1) for c in value.columns)
    return flat and len({len(column) for column in value.columns}) <= 1


def swap(value: Any, change: Callable[[Any], Any], done: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """A copy of an object with some things inside it changed; what holds none of them is not copied.

    What is the same object in several places is so afterwards too: models compare their samples by identity.
    """
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)][1]
    new = change(value)
    if new is value:
        new = _swap_inside(value, change, done)
    done[id(value)] = value, new  # the old one too, lest its id be used again
    return new


def _swap_inside(value: Any, change: Callable[[Any], Any], done: dict[int, tuple[Any, Any]]) -> Any:
    if type(value) in (list, tuple):
        items = [swap(item, change, done) for item in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else type(value)(items)
    if type(value) is dict:
        pairs = {key: swap(item, change, done) for key, item in value.items()}
        return value if all(pairs[key] is value[key] for key in value) else pairs
    if type(value).__module__.split(".")[0] not in ("manykernels", "sklearn") or isinstance(value, type):
        return value
    state = getattr(value, "__dict__", {})
    inner = {key: swap(item, change, done) for key, item in state.items()}
    if all(inner[key] is state[key] for key in state):
        return value
    new = copy(value)
    new.__dict__.update(inner)
    return new

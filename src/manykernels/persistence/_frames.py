"""Frames of pandas and polars in models. skops cannot save them, so they are saved as arrays and lists."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from .._archives import ArchiveError
from ..kernels.cells import column_of, holds_numbers, numeric_type, values_of
from ..kernels.preparation import number_matrix

_LIBRARIES = ("pandas", "polars")  # no other module is imported, whatever a file says


class NotInstalledError(ArchiveError):
    """Raised if a file holds a table of a package that is not installed."""


class Frame:
    """A frame that a model keeps: columns of numbers in one array, the others as lists of text.

    ``places`` are the positions of the columns of ``numbers``, of shape (n_columns, n_rows); ``text`` holds
    the other columns in their order.
    """

    def __init__(self, library: str, names: list[Any], places: list[int], numbers: Any, text: Any) -> None:
        self.library, self.names, self.places, self.numbers, self.text = library, names, places, numbers, text


def is_frame(value: Any) -> bool:
    """Tell whether a value is a frame of pandas or polars."""
    return type(value).__module__.split(".")[0] in _LIBRARIES and hasattr(value, "columns")


def frame_of(value: Any) -> Frame:
    """Take a frame apart."""
    types = list(value.dtypes)
    places = [j for j, kind in enumerate(types) if numeric_type(kind) or holds_numbers(column_of(value, j))]
    others = sorted(set(range(len(types))) - set(places))
    text = [_text(column_of(value, j)) for j in others]
    numbers = number_matrix(value, places, {}).T  # in one piece: columns may be many
    return Frame(type(value).__module__.split(".")[0], list(value.columns), places, numbers, text)


def _text(column: Any) -> list[str | None]:
    return [None if v is None else str(v) for v in values_of(column)]


def as_frame(value: Frame) -> Any:
    """Put the frame together that ``frame_of`` took apart."""
    if value.library not in _LIBRARIES:
        raise ArchiveError("it holds a table that is neither of pandas nor of polars")
    _require_table(value)
    try:
        library = importlib.import_module(value.library)
    except ImportError as error:
        raise NotInstalledError(
            f"it holds a table of {value.library}, which is not installed here. Install it: pip install "
            f"{value.library}"
        ) from error
    order = range(len(value.names))
    others = sorted(set(order) - set(value.places))
    text = dict(zip(others, value.text, strict=True))
    if value.library == "polars":
        columns = {**dict(zip(value.places, value.numbers, strict=True)), **text}
        return library.DataFrame({value.names[j]: columns[j] for j in order})
    frame = library.DataFrame(value.numbers.T, columns=value.places)  # in one block: columns may be many
    if text:
        frame = library.concat([frame, library.DataFrame(text)], axis=1)[list(order)]
    frame.columns = value.names
    return frame


def _require_table(value: Frame) -> None:
    """Raise an error unless all columns have the same length: pandas would repeat a single number."""
    numbers, text = value.numbers, value.text
    flat = isinstance(numbers, np.ndarray) and numbers.ndim == 2 and isinstance(text, list)
    if not flat or not all(isinstance(column, list) and len(column) == numbers.shape[1] for column in text):
        raise ArchiveError("it holds a table whose columns have different lengths")


def swap(value: Any, change: Callable[[Any], Any], done: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """Apply ``change`` to everything inside an object, and copy only the parts that it changes.

    An object that occurs in several places is still one object afterwards. Models rely on that: they compare
    their samples by identity.
    """
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)][1]
    new = change(value)
    if new is value:
        new = _swap_inside(value, change, done)
    done[id(value)] = value, new  # keeps the old one alive, so that no other gets its id
    return new


def _swap_inside(value: Any, change: Callable[[Any], Any], done: dict[int, tuple[Any, Any]]) -> Any:
    if type(value) in (list, tuple):
        items = [swap(item, change, done) for item in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else type(value)(items)
    if type(value) is dict:
        pairs = {key: swap(item, change, done) for key, item in value.items()}
        return value if all(pairs[key] is value[key] for key in value) else pairs
    if type(value).__module__.split(".")[0] != "sklearn" or isinstance(value, type):
        return value
    state = getattr(value, "__dict__", {})
    inner = {key: swap(item, change, done) for key, item in state.items()}
    if all(inner[key] is state[key] for key in state):
        return value
    new = copy(value)
    new.__dict__.update(inner)
    return new

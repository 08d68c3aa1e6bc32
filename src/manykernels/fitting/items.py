"""Samples that are not rows of numbers: strings, sets, graphs, sequences of different lengths."""

from __future__ import annotations

from collections.abc import Mapping, Set
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..kernels import Callable as CallableKernel
from .spec import leaves


def is_items(X: Any, spec: Any = None, again: bool = False) -> bool:
    """Tell whether X is one-dimensional and holds something else than numbers.

    Rows of different lengths, and objects that have a length, are items if functions of the user's own are
    all that reads them (`spec`); to other kernels they are rows of numbers, and wrong. Where training samples
    were items (`again`), new rows are, whatever their lengths.
    """
    if sparse.issparse(X) or not (isinstance(X, list | tuple) or len(getattr(X, "shape", ())) == 1):
        return False
    if len(X) == 0:
        return False
    first = next(iter(X))
    if isinstance(first, str | bytes | Set | Mapping):
        return True
    if isinstance(first, Number | np.generic):
        return False
    if not hasattr(first, "__len__") and not hasattr(first, "__array__"):
        return True
    return _are_functions(spec) and (again or not _is_row(first) or len({_length(row) for row in X}) > 1)


def _are_functions(spec: Any) -> bool:
    parts = list(leaves(spec))
    return bool(parts) and all(isinstance(part, CallableKernel) for part in parts)


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) or hasattr(value, "__array__")


def _length(row: Any) -> int:
    return len(row) if isinstance(row, list | tuple) or np.ndim(row) else 0


def read_items(X: Any, spec: Any) -> NDArray[Any]:
    """The items as an array of objects; "auto" has kernels for strings only."""
    if isinstance(spec, str) and not (spec == "auto" and all(isinstance(item, str) for item in X)):
        raise ValueError(
            f"X is a list of {type(next(iter(X))).__name__} objects, and kernels={spec!r} expects numbers or "
            "strings. Give kernels that read them, such as a function of two samples, or Spectrum(k=3) for "
            "strings."
        )
    items = np.empty(len(X), dtype=object)
    for i, item in enumerate(X):
        items[i] = item
    return items

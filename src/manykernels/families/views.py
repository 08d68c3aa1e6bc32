"""Several views of the same samples: groups of columns with kernels of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..kernels import Kernel, OnColumns
from ..kernels.data import Columns, Data, take_columns
from ..kernels.given import is_function
from .base import Family, under


def views(views: Mapping[str, Any]) -> Views:
    """Kernels per view: ``views({"gene": columns, "image": (columns, Gaussian(2.0)), ...})``.

    A view is a selection of columns, as OnColumns takes it, alone or in a tuple with its kernels: a kernel, a
    list, a dict or a family. Without kernels it gets the ``"auto"`` dictionary of its columns. Every kernel
    knows its ``view``, so that weights can be added up per view.
    """
    return Views(views)


class Views(Family):
    """See :func:`views`."""

    supervised: ClassVar[bool] = True  # where the kernels of some view are

    def __init__(self, views: Mapping[str, Any]) -> None:
        self.views = views

    def resolve(
        self, X: Data, sample_weight: Any = None, feature_names: Any = None, target: Any = None
    ) -> dict[str, Kernel]:
        from ._resolve import resolve_kernels

        if not isinstance(self.views, Mapping) or not self.views:
            raise ValueError(
                f"views={self.views!r} was given; expected a dict such as "
                '{"gene": columns, "image": (columns, kernels)}.'
            )
        kernels: dict[str, Kernel] = {}
        for view, given in self.views.items():
            columns, spec = columns_and_kernels(given)
            try:
                part = take_columns(X, columns)
                names = _names(X, part, columns, feature_names)
                chosen = resolve_kernels(spec, part, sample_weight, names, target)
            except ValueError as error:
                raise ValueError(f"View {view!r}: {error}") from error
            for name, kernel in chosen.items():
                name, seen = under(str(view), name, OnColumns(kernel, columns, view=str(view)))
                kernels[name] = seen
        return kernels


def columns_and_kernels(given: Any) -> tuple[Columns, Any]:
    """A view's columns and its kernels; a tuple is a pair only if its second part is made of kernels."""
    if isinstance(given, tuple) and len(given) == 2 and _holds_kernels(given[1]):
        return given
    return given, "auto"


def _holds_kernels(spec: Any) -> bool:
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple) and spec:
        return _holds_kernels(spec[0])
    return isinstance(spec, Kernel | Family) or spec == "auto" or is_function(spec)


def _names(X: Data, part: Data, columns: Columns, feature_names: Any) -> list[str] | None:
    """The names of a view's columns, where X is an array whose names are known from elsewhere."""
    if feature_names is None or len(getattr(part, "shape", ())) != 2 or hasattr(part, "columns"):
        return None
    row = np.array([[str(name) for name in feature_names]], dtype=object)
    return list(take_columns(row, columns(X) if callable(columns) else columns)[0])

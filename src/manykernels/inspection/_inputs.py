"""Parts of X that can be permuted: columns of a table, layers of a stack, and groups of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection._split import GroupsConsumerMixin

from .._arguments import is_integral, shown
from ..estimators import Opened, opened
from ..families.tables import views_of
from ..fitting.items import is_items
from ..fitting.layout import is_lazy
from ..fitting.mappings import join
from ..fitting.spec import by_name, selected_views
from ..kernels import Precomputed
from ..kernels.data import is_stack, positions

Groups = dict[str, list[int]]


@dataclass(frozen=True)
class Header:
    """The names of the parts that can be permuted; it stands for X where columns are selected."""

    columns: list[str]

    @property
    def shape(self) -> tuple[int, int]:
        return 1, len(self.columns)

    def places(self, chosen: Any) -> list[int]:
        """Return the positions of selected columns."""
        return [int(j) for j in np.ravel(np.arange(len(self.columns))[positions(self, chosen)])]


def readable(X: Any) -> Any:
    """Return X with columns that can be permuted, or raise an error that says why there are none."""
    if is_lazy(X):
        raise ValueError("X is a Dask collection, and importance permutes samples in memory: X.compute().")
    if is_items(X):
        raise ValueError(
            "X is a list of strings or objects: it has no columns that could be permuted. Give a table with "
            "such a column, or look at the weights of the kernels."
        )
    if not hasattr(X, "shape"):
        try:
            X = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            X = np.asarray(X, dtype=object)
    X = X.tocsr() if hasattr(X, "tocsr") else X
    if len(X.shape) not in (2, 3) or 0 in X.shape:
        raise ValueError(f"X of shape {tuple(X.shape)} was given; expected a table, or a stack of kernels.")
    return X


def require_groups(model: Any, groups: Any, cv: Any, cure: str) -> None:
    """Raise an error if a fitted search kept groups of samples together and none are given here."""
    found = opened(model).searched
    if groups is None and found is not None and (cv is None or is_integral(cv)):
        if isinstance(found.folds, GroupsConsumerMixin):
            raise ValueError(
                f"the search was fitted with cv={shown(found.folds)}, which keeps groups of samples "
                "together, and none were given here: a fold could learn from a group and score it. " + cure
            )


def header_of(X: Any, kernels: Any, given: Any) -> Header:
    """Return the columns of X, or the layers of a stack, by the names that `kernels` gives them.

    `given` is X before it was joined: the views of a dict name the columns of an array.
    """
    if isinstance(given, Mapping) and not is_stack(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was joined before
            return Header(join(given)[1].names)
    if not is_stack(X):
        return Header([str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(X.shape[1])])])
    names = [f"kernel {m}" for m in range(X.shape[2])]
    named = kernels.items() if isinstance(kernels, Mapping) else ()
    for name, kernel in named:
        if isinstance(kernel, Precomputed):
            names[kernel.index] = str(name)
    return Header(names)


def groups_of(given: Any, parts: Opened, kernels: Any, X: Any, header: Header) -> Groups:
    """Return groups of columns by name: the given ones, or the views of the model or of column names."""
    if given is None:
        found = _known_views(parts, kernels, X, header) or views_of(header.columns)
        trivial = len(found) < 2 or all(len(columns) == 1 for columns in found.values())
        return {} if trivial else found
    if not isinstance(given, Mapping) or not given:
        raise ValueError(
            f"groups={shown(given)} was given; expected a dict from names to columns, such as "
            '{"blood": ["iron", "zinc"], "age": "age"}.'
        )
    groups = {str(name): header.places(_called(columns, X)) for name, columns in given.items()}
    for name, columns in groups.items():
        if not columns:
            raise ValueError(f"groups[{name!r}] has no columns; expected at least one.")
    return groups


def _known_views(parts: Opened, kernels: Any, X: Any, header: Header) -> Groups:
    """Return the views that kernels belong to, if their columns are columns of X."""
    made, place = _made(parts, header), {name: j for j, name in enumerate(header.columns)}
    groups: Groups = {}
    for view, columns in selected_views(kernels):
        if parts.front and (callable(columns) or (made is None and not by_name(columns))):
            return {}
        seen = header if made is None else made
        try:
            names = [seen.columns[j] for j in seen.places(_called(columns, X))]
        except ValueError:  # by the name of a column that a preparation makes
            return {}
        if not set(names) <= set(place):
            return {}
        groups[view] = sorted({*groups.get(view, []), *(place[name] for name in names)})
    return groups


def _made(parts: Opened, header: Header) -> Header | None:
    """Return the columns behind the first steps of a pipeline, or None if they are unknown before a fit."""
    names = header.columns
    try:
        for _, step in parts.front:
            names = [str(name) for name in step.get_feature_names_out(names)]
    except (AttributeError, ValueError):
        return None
    return Header(names)


def _called(columns: Any, X: Any) -> Any:
    return columns(X) if callable(columns) else columns

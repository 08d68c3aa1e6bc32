"""Samples and their covariates, taken apart: columns of X that kernels do not see, or a table beside X."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from .._arguments import and_more, require_arguments, shown
from .._warn import warn
from ..families import Family, Subset, Views
from ..families.base import names_of
from ..kernels import Kernel, OnColumns
from ..kernels.algebra import Composite
from ..kernels.data import positions, take_columns
from .covariates import as_covariates
from .spec import needs_stack, selections


@dataclass(frozen=True)
class Separated:
    """The source of covariates: columns of X, or a table beside it."""

    columns: tuple[Any, ...] = ()  # positions in X, or (view, name) of a dict; none where given beside X
    rest: tuple[int, ...] | None = None  # positions that kernels see; None: X as it is
    n_features_in: int | None = None
    feature_names_in: Any = None

    def split(self, X: Any, beside: Any = None) -> tuple[Any, Any]:
        """(what kernels read, covariates) of new samples."""
        if not self.columns:
            if beside is None:
                raise ValueError(
                    "covariates are missing: the model was fitted with covariates given beside X. Give "
                    "those of the new samples as well, predict(X, covariates=Z)."
                )
            return X, as_covariates(_in_two(beside), X, count(X))
        if beside is not None:
            raise ValueError(
                "covariates were given beside X, and the model takes them from columns of X: leave them out."
            )
        return self.without(X), self.taken(X)

    def without(self, X: Any) -> Any:
        """Return what kernels read of X."""
        if not self.columns:
            return X
        if isinstance(X, Mapping):
            return _views_without(X, self.columns)
        if self._of_views:  # that were joined to one table
            taken = {*self._joined(X)}
            return take_columns(X, [j for j in range(X.shape[1]) if j not in taken])
        return X if self.rest is None else take_columns(self._checked(X), list(self.rest))

    def taken(self, X: Any) -> Any:
        """The covariates in X."""
        if isinstance(X, Mapping):
            return _of_views(X, self.columns)
        if self._of_views:
            return _dense(take_columns(X, self._joined(X)))
        return _dense(take_columns(self._checked(X), list(self.columns)))

    @property
    def _of_views(self) -> bool:
        """True if columns are those of views by name."""
        return isinstance(self.columns[0], tuple)

    def _joined(self, X: Any) -> list[int]:
        """Return where the columns of views are in the table that they were joined to."""
        labels = [str(name) for name in names_of(X)]
        names = [name if name in labels else f"{view}__{name}" for view, name in self.columns]
        return [int(j) for j in np.arange(len(labels))[positions(X, names)]]

    def _checked(self, X: Any) -> Any:
        """X with the columns of the training samples, in their order."""
        names, X = self.feature_names_in, _as_table(X)
        if names is not None and hasattr(X, "columns"):
            missing = [name for name in names if name not in set(X.columns)]
            if missing:
                raise ValueError(
                    f"X lacks the column{'s' * (len(missing) > 1)} {and_more(list(map(repr, missing)), 10)}, "
                    "which the model was fitted with."
                )
            return X if list(X.columns) == list(names) else X[list(names)]
        if len(X.shape) != 2 or X.shape[1] != self.n_features_in:
            raise ValueError(
                f"X of shape {tuple(X.shape)} was given, and the model was fitted with {self.n_features_in} "
                "features, covariates among them."
            )
        return X


def separate(spec: Any, X: Any, columns: Any, beside: Any) -> tuple[Any, Any, Separated]:
    """(what kernels read, covariates, how that was done) of training samples."""
    if columns is not None and beside is not None:
        raise ValueError(
            f"covariates={shown(columns)} of the estimator and covariates of fit were both given; expected "
            "one: columns of X, or a table beside it."
        )
    if beside is not None:
        return X, as_covariates(_in_two(beside), X, count(X)), Separated()
    X = _as_table(X)
    if callable(columns):
        require_arguments(columns, 1, "covariates(X)")
    chosen = columns(X) if callable(columns) else columns
    names = [chosen] if isinstance(chosen, str | int | np.integer) else chosen
    if needs_stack(spec) or not (isinstance(X, Mapping) or len(getattr(X, "shape", ())) == 2):
        raise ValueError(
            f"covariates={shown(columns)} names columns of X, and X is no table of samples × features. Give "
            "them beside X: fit(X, y, covariates=Z) and predict(X, covariates=Z)."
        )
    if isinstance(X, Mapping):
        places = tuple(_place(X, name) for name in names)
        return _views_without(X, places), _of_views(X, places), Separated(places)
    found = positions(X, [_within(X, name) for name in names] if _is_list(names) else names)
    where = [int(j) for j in np.arange(X.shape[1])[found]]
    if not where:
        raise ValueError("covariates=[] was given; expected at least one column, or None.")
    rest = _rest(spec, X, where)
    named = hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns)
    frame = names_of(X) if named else None
    done = Separated(
        tuple(where), rest, int(X.shape[1]), None if frame is None else np.array(frame, dtype=object)
    )
    return done.without(X), done.taken(X), done


def _rest(spec: Any, X: Any, where: list[int]) -> tuple[int, ...] | None:
    """The columns that kernels see: all but the covariates; None where every kernel names its own columns."""
    chosen = list(selections(spec))
    both = sorted(
        {j for part in chosen for j in np.atleast_1d(np.arange(X.shape[1])[positions(X, part)])} & {*where}
    )
    names = (
        [str(name) for name in names_of(X)] if hasattr(X, "columns") else [str(j) for j in range(X.shape[1])]
    )
    if both:
        warn(
            f"the covariate{'s' * (len(both) > 1)} {and_more([names[j] for j in both], 5)} "
            f"{'are' if len(both) > 1 else 'is'} in a kernel as well, which names "
            f"{'them' if len(both) > 1 else 'it'}: the linear part is unpenalised, and the kernel adds to "
            "it. Leave the column out of one of the two if that is not meant."
        )
    if chosen and not _reads_all(spec):
        return None
    by_name = all(_named(part) for part in chosen)
    if chosen and (both or not by_name or not hasattr(X, "columns")):
        raise ValueError(
            "covariates were given with kernels of which some name their columns by position (or name a "
            "covariate) and others read all columns: what the others should see is not clear. Name the "
            "columns of every kernel by OnColumns."
        )
    rest = tuple(j for j in range(X.shape[1]) if j not in {*where})
    if not rest:
        raise ValueError(
            f"all {X.shape[1]} columns of X are covariates; expected at least one more for the kernels."
        )
    return rest


def _is_list(names: Any) -> bool:
    return isinstance(names, list | tuple)


def _within(X: Any, name: Any) -> Any:
    """The column of a table for a name that may say its view, view__column."""
    known = set(map(str, X.columns)) if hasattr(X, "columns") else set()
    last = name.split("__", 1)[-1] if isinstance(name, str) else name
    return last if isinstance(name, str) and name not in known and last in known else name


def _named(columns: Any) -> bool:
    """Tell whether columns are selected by their names."""
    if isinstance(columns, str):
        return True
    return isinstance(columns, list | tuple | np.ndarray) and all(isinstance(c, str) for c in columns)


def _reads_all(spec: Any) -> bool:
    """Tell whether some kernel names no columns of its own."""
    if isinstance(spec, Subset):
        return _reads_all(spec.kernels)
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        return any(map(_reads_all, spec))
    if isinstance(spec, Views | OnColumns):
        return False
    if isinstance(spec, Composite):
        return any(map(_reads_all, spec.kernels))
    inner = (
        [v for v in spec._arguments().values() if isinstance(v, Kernel)] if isinstance(spec, Kernel) else []
    )
    return any(map(_reads_all, inner)) if inner else isinstance(spec, str | Kernel | Family) or callable(spec)


# -- dicts of views -----------------------------------------------------------------------------------
def _place(X: Mapping[str, Any], name: Any) -> tuple[str, str]:
    """The view and the column that a covariate is: its name, or view__column where several views have it."""
    found = [
        (view, str(label))
        for view, part in X.items()
        if hasattr(part, "columns")
        for label in part.columns
        if name in (label, f"{view}__{label}")
    ]
    if len(found) == 1:
        return found[0]
    where = "no view has" if not found else f"the views {and_more([v for v, _ in found], 5)} have"
    raise ValueError(
        f"the covariate {name!r} was given, and {where} a column of that name; expected the name of a column "
        "of one view that is a frame ('view__column' where several have it). Or give fit(..., covariates=Z)."
    )


def _of_views(X: Mapping[str, Any], places: tuple[Any, ...]) -> Any:
    """The covariates of a dict of views, as a frame of the kind of their first view."""
    columns = {}
    for view, name in places:
        if view not in X or name not in set(map(str, X[view].columns)):
            raise ValueError(
                f"X lacks the covariate {name!r} of view {view!r}, which the model was fitted with."
            )
        part = X[view]
        columns[name] = part[:, name] if hasattr(part, "get_column") else part[name]
    first = X[places[0][0]]
    if hasattr(first, "get_column"):
        return type(first)(columns)
    index = first.index
    return type(first)({name: column.reindex(index) for name, column in columns.items()}, index=index)


def _views_without(X: Mapping[str, Any], places: tuple[Any, ...]) -> dict[str, Any]:
    """The views without these columns; one that has no others is left out."""
    rest: dict[str, Any] = {}
    for view, part in X.items():
        taken = {name for v, name in places if v == view}
        kept = [label for label in part.columns if str(label) not in taken] if taken else None
        if kept is None or kept:
            rest[view] = part if kept is None else part[kept]
    if not rest:
        raise ValueError("all columns of all views are covariates; expected others for the kernels.")
    return rest


# -- helpers ------------------------------------------------------------------------------------------
def count(X: Any) -> int:
    """Count how many samples there are."""
    return int(
        _num_samples(next(iter(X.values())) if isinstance(X, Mapping) and not hasattr(X, "shape") else X)
    )


def _as_table(X: Any) -> Any:
    """A list of rows as an array, all else as it is."""
    rows = isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(row, list | tuple) for row in X)
    if not rows:
        return X
    text = any(isinstance(value, str) for row in X for value in row)
    return np.asarray(X, dtype=object if text else None)


def _in_two(values: Any) -> Any:
    """A table of two dimensions of what was given for covariates."""
    if hasattr(values, "to_frame") and len(values.shape) == 1:
        return values.to_frame()
    if isinstance(values, Mapping) or not hasattr(values, "shape"):
        rows = np.asarray(list(values) if not isinstance(values, Mapping) else values, dtype=object)
        values = (
            rows if rows.ndim != 2 or any(isinstance(v, str) for v in rows.ravel()) else rows.astype(float)
        )
    if len(values.shape) == 1:
        values = values[:, None]
    if len(values.shape) != 2:
        raise ValueError(
            f"covariates of shape {tuple(values.shape)} were given; expected (n_samples, n_covariates), an "
            "array or a frame."
        )
    return _dense(values)


def _dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else values

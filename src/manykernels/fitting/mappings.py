"""Samples that come in parts, joined into the one X that kernels read.

A dict holds views, {name: samples × features}: their columns are put beside each other, and `Parts` remembers
where. (With ``kernels="precomputed"`` it holds kernel matrices instead, which become a stack: `stacks.py`.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arguments import renamed
from .._warn import warn
from ..families.base import numbers
from ..families.views import per_view
from .matching import has_index, in_one_order, require_names

Container = Literal["array", "sparse", "pandas", "polars"]


@dataclass(frozen=True)
class View:
    """One view of a dict: where it is in the joined table, and how its columns are called."""

    name: str
    start: int
    width: int
    flat: bool  # one column, without an axis of its own
    labels: tuple[str, ...] | None = None  # of a frame

    @property
    def own_labels(self) -> list[str]:
        """The names of its columns."""
        if self.labels is not None:
            return list(self.labels)
        return [self.name] if self.flat else [f"x{j}" for j in range(self.width)]

    @property
    def columns(self) -> int | slice:
        return self.start if self.flat else slice(self.start, self.start + self.width)


@dataclass(frozen=True)
class Parts:
    """The views of a dict at fit, so that new ones are joined in the same way, by name."""

    views: tuple[View, ...]
    container: Container
    what: ClassVar[str] = "the views"

    @property
    def own_names(self) -> list[str]:
        """The names of the views."""
        return [view.name for view in self.views]

    @property
    def names(self) -> list[str]:
        """The names of the columns of the joined table, for kernels of all views together."""
        return _column_names(self.views)

    def seen(self, spec: Any) -> Any:
        """Kernels of the joined table: `spec` for every view, or what it says of each view by name."""
        return per_view(spec, {view.name: view.columns for view in self.views})

    def explicit(self, spec: Any) -> Any:
        """Return the kernels of the joined table, as ``seen`` does."""
        return self.seen(spec)

    def in_order(self, X: Any, joined: Any) -> Any:
        """The training samples X as they were given, with the rows of all views in one order."""
        return {**X, **in_one_order({n: part for n, part in X.items() if has_index(part)}, quiet=True)}

    def read(self, X: Any) -> Any:
        """New samples, joined; a table that is joined already stays as it is."""
        if not isinstance(X, Mapping):
            return X
        require_names(X, self.own_names, self.what)
        given = in_one_order({view.name: _view(view.name, X[view.name]) for view in self.views})
        fitting = [_like(view, part) for view, part in zip(self.views, given.values(), strict=True)]
        return _joined(self.views, fitting, self.container)


def join(X: Mapping[str, Any]) -> tuple[Any, Parts]:
    """The views of a dict as one table, and where each of them is."""
    if not X or not all(isinstance(name, str) for name in X):
        keys = ", ".join(repr(key) for key in list(X)[:5]) or "nothing"
        raise ValueError(
            f"X is a dict with {keys} as keys; expected names of views (str), {{name: samples × features}}."
        )
    given = in_one_order({name: _view(name, part) for name, part in X.items()})
    _hint_at_kernels(given)
    views: list[View] = []
    for name, part in given.items():
        start = views[-1].start + views[-1].width if views else 0
        flat = len(part.shape) == 1
        labels = tuple(map(str, part.columns)) if hasattr(part, "columns") else None
        views.append(View(name, start, 1 if flat else int(part.shape[1]), flat, labels))
    parts = Parts(tuple(views), _container(given))
    return _joined(parts.views, list(given.values()), parts.container), parts


def _view(name: str, part: Any) -> Any:
    """Read one view: a matrix, a frame or a column; raise an error for anything else."""
    if sparse.issparse(part):
        return part.tocsr()
    if isinstance(part, list | tuple):
        text = any(isinstance(value, str) for value in part)
        try:
            part = np.asarray(part, dtype=object if text else None)
        except ValueError as error:
            raise ValueError(f"View {name!r} of X could not be read as a matrix ({error}).") from error
    shape = getattr(part, "shape", None)
    if isinstance(part, str | bytes | Mapping) or shape is None:
        raise ValueError(
            f"View {name!r} of X is of type {type(part).__name__}; expected samples × features: an array, a "
            "sparse matrix, a frame, or a list with one value for each sample."
        )
    if len(shape) not in (1, 2) or 0 in shape:
        hint = (
            f" Give it as X[{name!r}].reshape({shape[0]}, -1)." if len(shape) > 2 and 0 not in shape else ""
        )
        raise ValueError(f"View {name!r} of X has shape {tuple(shape)}; expected samples × features.{hint}")
    if hasattr(part, "columns"):
        labels = [str(label) for label in part.columns]
        twice = {label for label, count in Counter(labels).items() if count > 1}
        if twice:
            raise ValueError(f"View {name!r} of X has several columns called {min(twice)!r}; rename them.")
    return part


def _hint_at_kernels(given: Mapping[str, Any]) -> None:
    matrices = [part for part in given.values() if isinstance(part, np.ndarray) and part.ndim == 2]
    square = len(matrices) == len(given) and all(A.shape[0] == A.shape[1] > 1 for A in matrices)
    if square and all(A.dtype.kind in "biuf" and np.allclose(A, A.T) for A in matrices):
        warn(
            "All views of X are symmetric matrices of n × n, and were read as features: if they are kernels, "
            "give kernels='precomputed'."
        )


def _container(given: Mapping[str, Any]) -> Container:
    """Return the type of the joined table: a frame if some view is one, else CSR if some is sparse."""
    if any(sparse.issparse(part) for part in given.values()):
        return "sparse"
    kinds = {_library(part) for part in given.values()} - {""}
    if len(kinds) > 1:
        raise ValueError("X holds frames of pandas and of polars; give all views as frames of one kind.")
    return ("polars" if "polars" in kinds else "pandas") if kinds else "array"


def _library(part: Any) -> str:
    module = type(part).__module__.partition(".")[0]
    return module if module in ("pandas", "polars") else ""


def _like(view: View, part: Any) -> Any:
    """A view of new samples with the columns of the training samples."""
    if view.flat and len(part.shape) == 2 and part.shape[1] == 1:
        part = part.iloc[:, 0] if hasattr(part, "iloc") else np.asarray(part)[:, 0]
    if view.labels is not None and hasattr(part, "columns"):
        position = {str(label): j for j, label in enumerate(part.columns)}
        missing = [label for label in view.labels if label not in position]
        if missing:
            raise ValueError(
                f"View {view.name!r} of X lacks the column{'s' * (len(missing) > 1)} "
                f"{', '.join(map(repr, missing[:20]))}, which the model was fitted with."
                + renamed(missing, set(position) - set(view.labels))
            )
        order = [position[label] for label in view.labels]
        return part.iloc[:, order] if hasattr(part, "iloc") else part[:, order]
    width = 1 if len(part.shape) == 1 else part.shape[1]
    if view.labels is not None or view.flat != (len(part.shape) == 1) or width != view.width:
        columns = "one column" if view.flat else f"{view.width} columns"
        named = "" if view.labels is None else ", a frame with their names"
        raise ValueError(
            f"View {view.name!r} of X has shape {tuple(part.shape)} ({type(part).__name__}); the model was "
            f"fitted on {columns} there{named}."
        )
    return part


# -- side by side ---------------------------------------------------------------------------------
def _joined(views: tuple[View, ...], given: list[Any], container: Container) -> Any:
    if container == "sparse":
        return sparse.hstack([_sparse(v.name, part) for v, part in zip(views, given, strict=True)], "csr")
    if container == "array":
        arrays = [_array(part) for part in given]
        return arrays[0] if len(arrays) == 1 else np.hstack(arrays)
    names = _column_names(views)
    frames = [
        _frame(part, view, names[view.start : view.start + view.width], container)
        for view, part in zip(views, given, strict=True)
    ]
    if container == "polars":
        return import_module(container).concat(frames, how="horizontal")
    index = next(part.index for part in given if has_index(part))
    return import_module(container).concat([part.set_axis(index, axis=0) for part in frames], axis=1)


def _frame(part: Any, view: View, names: list[str], library: str) -> Any:
    """A view as a frame with these columns."""
    if hasattr(part, "columns"):
        new = dict(zip(part.columns, names, strict=True))
        return part.rename(columns=new) if library == "pandas" else part.rename(new)
    frame = import_module(library).DataFrame
    if library == "polars":
        return frame({names[0]: part} if view.flat else part, schema=names)
    return frame({names[0]: part}) if has_index(part) else frame(_array(part), columns=names).infer_objects()


def _array(part: Any) -> NDArray[Any]:
    if sparse.issparse(part):
        return np.asarray(part.toarray())
    A = np.asarray(part.to_numpy() if hasattr(part, "to_numpy") else part)
    A = A.astype(object) if A.dtype.kind in "UST" else A
    return A[:, None] if A.ndim == 1 else A


def _sparse(name: str, part: Any) -> Any:
    if sparse.issparse(part):
        return part
    try:
        return sparse.csr_matrix(numbers(part if len(part.shape) == 2 else _array(part)))
    except ValueError as error:
        raise ValueError(
            f"View {name!r} of X does not hold numbers, and another view is a sparse matrix: both cannot be "
            "joined. Encode its categories (sklearn.preprocessing.OneHotEncoder), or give the sparse one by "
            f"toarray(). ({error})"
        ) from error


def _column_names(views: tuple[View, ...]) -> list[str]:
    """Those of the views, with the name of the view before what occurs twice."""
    own = [(view.name, label) for view in views for label in view.own_labels]
    count = Counter(label for _, label in own)
    return [label if count[label] == 1 else f"{view}__{label}" for view, label in own]

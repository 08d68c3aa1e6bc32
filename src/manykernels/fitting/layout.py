"""From what a user gives as X to what kernels read, at fit and on new data.

There are four kinds. An *array* of numbers, dense or CSR, is what scikit-learn validates. A *table* is a
frame (or an array of objects) that is kept as it is, because kernels select its columns by name or because
some columns are text. *Items* are a list of strings or of other objects, for kernels that know what to do
with them. A *stack* (n_samples, n_train, n_kernels) holds kernels or distances that were computed elsewhere.
Samples in parts, such as a dict of views, are joined to one of these first (`mappings.py`, `stacks.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import validate_data

from .._arguments import as_numbers, is_masked, renamed
from ..families import Subset, Views, require_known
from ..families.base import numbers
from ..families.remarks import look_at_new, warn_of
from ..families.tables import Table
from ..kernels.cells import column_of
from .absence import count_present, warn_without_any
from .annotated import is_annotated, unpacked
from .items import is_items, read_items
from .mappings import Parts, join
from .matching import require_names
from .separated import Separated
from .spec import needs_stack, only_prepares, reads_tables, selections, short
from .stacks import (
    Layers,
    check_new_stack,
    check_training_stack,
    in_matrices,
    lacking_layers,
    name_layers,
    stacked,
)
from .tables import as_table, columns_held, is_table, is_text_column, read_table, require_complete

Kind = Literal["array", "table", "items", "stack"]
EXPECTED = "numbers of shape (n_samples, n_features): an array, a CSR matrix, a frame or a list of rows"


@dataclass(frozen=True)
class Layout:
    """The kind and the columns of X at fit, so that new samples are read in the same way."""

    title: str  # of the estimator, for messages
    kernels: Any  # as given, which say what X must be
    kind: Kind
    n_features_in: int | None = None
    feature_names_in: Any = None
    n_layers: int = 0  # of a stack
    parts: Parts | Layers | None = None  # of samples that came as a dict
    table: Table | None = None  # what columns hold, where kernels prepare them
    present: dict[str, int] | None = None  # how many samples have each view
    samples: int = 0  # of fit, where that is known
    lacking: NDArray[np.bool_] | None = None  # (n_train, layers): samples that lack layers of a stack
    separated: Separated | None = None  # where covariates come from, if there are any

    @property
    def names(self) -> Any:
        """Names of the columns, or of the layers of a stack, that the data themselves no longer have."""
        if isinstance(self.parts, Layers):
            return list(self.parts.names)
        if isinstance(self.parts, Parts) and not isinstance(self.kernels, Views | Subset):
            return self.parts.names
        return self.feature_names_in if self.kind == "array" else None

    def seen(self, spec: Any) -> Any:
        """Kernels as they read these samples: of views that came as a dict, for each view."""
        return spec if self.parts is None else self.parts.seen(spec)

    def explicit(self, spec: Any) -> Any:
        """Kernels that read the joined samples in the same way, if nothing else says that they were parts."""
        return spec if self.parts is None else self.parts.explicit(spec)

    def of(self, spec: Any) -> Self:
        """Return the layout of the same samples for other kernels."""
        return replace(self, kernels=self.seen(spec))

    @property
    def attributes(self) -> dict[str, Any]:
        """The fitted attributes of scikit-learn's conventions, and how many samples have each view."""
        known = {"n_features_in_": self.n_features_in, "feature_names_in_": self.feature_names_in}
        if self.separated is not None and self.separated.n_features_in is not None:
            known["n_features_in_"] = self.separated.n_features_in
            known["feature_names_in_"] = self.separated.feature_names_in
        known |= {"present_": self.present or None}
        return {name: value for name, value in known.items() if value is not None}

    def read(self, X: Any) -> Any:
        """Read new samples in the form of the training data, or raise an error that says how they differ.

        Covariates among their columns are left out, as they were then (`beside` has them).
        """
        if self.separated is not None and self.separated.columns:
            X = self.separated.without(collected(X))
        return self._read(X)

    def beside(self, X: Any, covariates: Any = None) -> Any:
        """Return the covariates of new samples as a table, or None for a model without covariates."""
        if self.separated is None:
            if covariates is not None:
                raise ValueError(
                    "covariates were given, and the model was fitted without any: leave them out."
                )
            return None
        return self.separated.split(collected(X), covariates)[1]

    def _read(self, X: Any) -> Any:
        """Read the part of new samples that kernels see."""
        X = self.joined(X.compute() if is_lazy(X) else collected(X))
        if self.kind == "stack":
            X = check_new_stack(X, self.n_features_in or 0, self.n_layers, self.lacking)
            warn_without_any(self.kernels, X, self.names)
            return X
        if self.kind == "items":
            X = column_of(X, 0) if hasattr(X, "columns") and X.shape[1] == 1 else X
            if not is_items(X, self.kernels, again=True):
                raise ValueError(
                    f"The model was fitted on a list of strings or objects, and got {_kind(X)}. Give a list "
                    "or a 1-D array."
                )
            return read_items(X, self.kernels)
        stand_in = _stand_in(self.title)()
        columns = {"n_features_in_": self.n_features_in, "feature_names_in_": self.feature_names_in}
        stand_in.__dict__.update({name: value for name, value in columns.items() if value is not None})
        if self.kind == "array":
            X = _validate_array(stand_in, X, self.kernels, reset=False)
        else:
            _require_columns(X)
            X = read_table(_like_training(self, stand_in, as_table(X)), self.kernels)
        if self.table is not None and not sparse.issparse(X):
            look_at_new(self.table, X)
        if self.present:
            warn_without_any(self.kernels, X, self.names)
        return X

    def in_fit_order(self, X: Any) -> Any:
        """A dict of samples with its parts in the order of fit, to be read as training samples once more."""
        X = unpacked(X) if is_annotated(X) else X
        if self.parts is None or not isinstance(X, Mapping):
            return X
        require_names(X, self.parts.own_names, self.parts.what)
        return {name: X[name] for name in self.parts.own_names}

    def joined(self, X: Any) -> Any:
        """New samples in one piece, by the names of the parts where they come as a dict."""
        if self.parts is not None:
            return self.parts.read(X)
        if isinstance(X, Mapping):
            raise ValueError(
                f"The model was fitted on samples in one piece ({self.kind}), and got a dict with "
                f"{shown_names(X)}. Give new samples as those of fit."
            )
        return stacked(X) if self.kind == "stack" and in_matrices(X) else X


def read_training(
    title: str, spec: Any, X: Any, quiet: bool = False, whole: bool = True
) -> tuple[Any, Layout]:
    """X validated, for an estimator of this name and these kernels, and how it is laid out.

    What was made of the columns of a table is said, unless `quiet`. `whole` says that these are all samples,
    so that it can be seen who lacks which view.
    """
    require_known(spec)
    X = collected(X)
    if is_lazy(X) or (isinstance(X, Mapping) and any(map(is_lazy, X.values()))):
        raise ValueError(
            f"X is a Dask collection ({type(X).__name__}), and exact kernels need all samples in memory, "
            "n × n. Give MKLRegressor(approx=...), MKLClassifier(loss='squared', approx=...) or "
            "MKLSurvival(approx=...) explicit features, such as approx=Nystroem(100), or call X.compute() "
            "first."
        )
    stand_in = _stand_in(title)()
    X, parts = _in_one_piece(spec, X)
    spec = spec if parts is None else parts.seen(spec)
    X, kind = _read(stand_in, spec, X)
    known = vars(stand_in)
    layers = X.shape[2] if kind == "stack" else 0
    columns = known.get("n_features_in_"), known.get("feature_names_in_")
    table = columns_held(spec, X, columns[1]) if kind in ("array", "table") else None
    if table is not None and not quiet:
        warn_of(table)
    layout = Layout(title, spec, kind, *columns, layers, parts, table)
    if not whole or kind == "items" or sparse.issparse(X):
        return X, layout
    lacking = lacking_layers(X) if kind == "stack" else None
    present = count_present(spec, X, layout.names)
    return X, replace(layout, present=present, samples=int(X.shape[0]), lacking=lacking)


def _in_one_piece(spec: Any, X: Any) -> tuple[Any, Parts | Layers | None]:
    """Matrices as a stack and views as a table, and what they were called."""
    if not in_matrices(X):
        return X, None
    if needs_stack(spec):
        return name_layers(X)
    if isinstance(X, Mapping):
        return join(X)
    raise ValueError(
        f"X is a list of {len(X)} matrices, and kernels={short(spec)} reads samples × features. Give several "
        "views of the samples as a dict, {name: matrix}; kernel matrices need kernels='precomputed'."
    )


def _read(stand_in: BaseEstimator, spec: Any, X: Any) -> tuple[Any, Kind]:
    if needs_stack(spec):
        X = check_training_stack(X, spec)
        return validate_data(stand_in, X, skip_check_array=True), "stack"
    if len(getattr(X, "shape", ())) == 3:
        raise ValueError(
            f"X of shape {tuple(X.shape)} was given, and kernels={short(spec)} expects (n_samples, "
            "n_features). A stack of kernels of shape (n_samples, n_train, n_kernels) needs "
            "kernels='precomputed', a stack of distances kernels=from_distances(gammas)."
        )
    if is_text_column(X, spec):
        X = column_of(X, 0)
    if is_items(X, spec):
        return read_items(X, spec), "items"
    _require_columns(X)
    if is_table(X, spec):
        return read_table(validate_data(stand_in, as_table(X), skip_check_array=True), spec), "table"
    return _validate_array(stand_in, X, spec, reset=True), "array"


@cache
def _stand_in(title: str) -> type[BaseEstimator]:
    """An estimator of this name, for scikit-learn's checks of X, which put it in their messages."""
    return type(title, (BaseEstimator,), {})


def collected(values: Any) -> Any:
    """A lazy frame of polars in memory, Arrow tables, AnnData and MuData as frames; all else as it is.

    The same is done within a dict.
    """
    if is_annotated(values):
        return unpacked(values)
    if sparse.issparse(values):
        return values.tocsr() if values.format == "dok" else values  # which is a dict
    if isinstance(values, Mapping):
        return {name: collected(part) for name, part in values.items()}
    kind = type(values)
    if kind.__module__.startswith("pyarrow") and kind.__name__ in ("Table", "RecordBatch"):
        return values.to_pandas()
    lazy = kind.__name__ == "LazyFrame" and kind.__module__.startswith("polars")
    return values.collect() if lazy else values


def require_finite(values: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Raise an error unless predictions are finite."""
    finite = np.isfinite(values)
    if not finite.all():
        i = int(np.flatnonzero(~finite.reshape(len(finite), -1).all(axis=1))[0])
        raise ValueError(
            f"the {what} of sample {i} is not finite: a kernel overflows between it and the training data. "
            "Scale the features as those of the training samples (StandardScaler), or leave such samples out."
        )
    return values


def is_lazy(X: Any) -> bool:
    """Tell whether X is a Dask collection, without importing Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def take(X: Any, rows: Any) -> Any:
    """Rows of X in its own type; of a dict, in every part."""
    if isinstance(X, Mapping):
        return {name: take(part, rows) for name, part in X.items()}
    return _safe_indexing(X, rows)


def evenly(n: int, at_most: int) -> NDArray[np.intp]:
    """The places of at most so many of n samples, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(at_most, n)).astype(np.intp))


def _validate_array(estimator: BaseEstimator, X: Any, spec: Any, reset: bool) -> Any:
    """Validate an array by scikit-learn, with numbers read first for better messages.

    Numbers may be missing, or infinite, in columns that kernels prepare: those are looked at as tables are.
    """
    validate: Callable[..., Any] = partial(validate_data, estimator, reset=reset)
    if hasattr(X, "columns"):
        _require_columns(X)
        A = numbers(X)  # says which column has no kernel
        if any(hasattr(dtype, "fill_value") for dtype in getattr(X, "dtypes", ())):
            X = _dense(X)  # or a sparse matrix, which scikit-learn makes of it
        else:  # only the names are checked of the frame: column by column, types take longer than a fit
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            X, validate = A, partial(check_array, estimator=estimator, input_name="X")
    elif not sparse.issparse(X):
        X = as_numbers(X, "X", EXPECTED)
    how: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
    if sparse.issparse(X) or not (reads_tables(spec) or any(True for _ in selections(spec))):
        try:
            return validate(X, **how)
        except ValueError as error:
            if "contains NaN" not in str(error):
                raise
            raise ValueError(
                "Input X contains NaN, and these kernels need all numbers: take kernels='auto' or "
                "manykernels.estimators.TablePreparer, which read missing values, or "
                "sklearn.impute.SimpleImputer."
            ) from error
    A = validate(X, ensure_all_finite=False, **how)
    return A if only_prepares(spec) or np.isfinite(A).all() else require_complete(A, spec)


def _dense(X: Any) -> Any:
    """A frame of sparse columns whose gaps are not zeros, with the values in their place."""
    fills = [getattr(dtype, "fill_value", 0) for dtype in X.dtypes]
    return X.sparse.to_dense() if any(fill != 0 for fill in fills) else X


def _require_columns(X: Any) -> None:
    """A frame has at least one column, and no two of one name."""
    if not hasattr(X, "columns"):
        return
    if len(getattr(X, "shape", ())) != 2 or X.shape[1] == 0:
        raise ValueError(
            f"X is a {type(X).__name__} with 0 feature(s) (columns); expected at least one column of numbers."
        )
    names = X.columns.tolist() if hasattr(X.columns, "tolist") else list(X.columns)
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(
            f"X has several columns called {twice!r}; expected a different name for every column. Rename "
            "them, or give X.to_numpy()."
        )


# -- new samples ----------------------------------------------------------------------------------
def _like_training(layout: Layout, estimator: BaseEstimator, X: Any) -> Any:
    """The columns of the training data, by name where they had names."""
    names = layout.feature_names_in
    if is_masked(X):
        as_numbers(X, "X", EXPECTED)  # says so
    if names is None:
        return validate_data(estimator, X, reset=False, skip_check_array=True)
    if not hasattr(X, "columns"):
        raise ValueError(
            f"The model was fitted on a frame and selects columns by name, and got {_kind(X)}. Give a frame "
            f"with columns {shown_names(names)}."
        )
    columns = set(X.columns)
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(
            f"X lacks the column{'s' * (len(missing) > 1)} {shown_names(missing)}, which the model was "
            f"fitted with; its columns are {shown_names(X.columns)}."
            + renamed(missing, [name for name in X.columns if name not in set(names)])
        )
    return X if list(X.columns) == list(names) else X[list(names)]


def shown_names(names: Any) -> str:
    shown = ", ".join(repr(str(name)) for name in list(names)[:20])
    return shown + (", …" if len(names) > 20 else "")


def _kind(X: Any) -> str:
    shape = getattr(X, "shape", None)
    return type(X).__name__ + ("" if shape is None else f" of shape {tuple(shape)}")

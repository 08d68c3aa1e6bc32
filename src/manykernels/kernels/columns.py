"""Kernels that look at X through something: at some of its columns, or at what is made of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import shown as in_words
from .base import Kernel, Member
from .cells import column_of, is_missing
from .data import Array, Columns, Data, column_key, positions, same, take_columns
from .presence import Mask, both, rows_having, with_stand_ins


class Seen(Kernel):
    """Base of kernels that read something made of X, row by row.

    ``_select`` makes it of X; ``_key`` tells subclasses apart.
    """

    kernel: Kernel

    @abstractmethod
    def _select(self, X: Data) -> Data:
        """Return the part of X that the kernel reads."""

    @abstractmethod
    def _key(self) -> Hashable | None:
        """Equal only for kernels that read the same of any X; None if that cannot be known."""

    @abstractmethod
    def _around(self, kernel: Kernel) -> Kernel:
        """Another kernel that reads the same."""

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return self.kernel(self._select(X), None if Y is None else self._select(Y), out)

    def diag(self, X: Data) -> Array:
        return self.kernel.diag(self._select(X))

    def rounding(self, X: Data) -> float:
        return self.kernel.rounding(self._select(X))

    @property
    def statistic(self) -> Hashable | None:
        inner, key = self.kernel.statistic, self._key()
        return None if inner is None or key is None else (key, inner)

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        right = None if Y is None or same(X, Y) else self._select(Y)
        return self.kernel.compute_statistic(self._select(X), right, out)

    @property
    def rate(self) -> float | None:
        return self.kernel.rate

    def fill(self, S: Array, out: Array) -> None:
        self.kernel.fill(S, out)

    @property
    def member(self) -> Member:
        return self._member or self.kernel.member

    @property
    def has_features(self) -> bool:
        return self.kernel.has_features

    def feature_maps(self, *sets: Data) -> list[Any]:
        return self.kernel.feature_maps(*map(self._select, sets))

    def terms(self) -> list[tuple[float, Kernel]]:
        inner = self.kernel.terms()
        if len(inner) == 1 and inner[0][1] is self.kernel:
            return [(1.0, self)]
        return [(c, self._around(k)) for c, k in inner]


class OnColumns(Seen):
    """A kernel on some of the columns of X.

    Kernels of different columns give a model its views: which column, or which group of columns, matters.
    Samples whose cells in these columns are all missing lack the view, and the model decides them by the
    views that they have.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is evaluated on the selected columns.
    columns : int, str, slice, list of int, list of str, bool mask or callable
        The columns, read as scikit-learn's ``ColumnTransformer`` reads them. Integers, slices of them and
        masks are positions. Strings and slices of strings are names in a pandas or polars frame. A callable
        is given X and returns one of these. A single int or str selects one column, as kernels of strings
        need it.
    view : str or None, default=None
        Name of the view that the kernel belongs to. Weights and importances are added up by view.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    manykernels.families.views : Kernels for each of several groups of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import Gaussian, Linear, OnColumns
    >>> X = np.random.RandomState(0).randn(60, 3)
    >>> kernels = {"size": OnColumns(Linear(), [0]), "place": OnColumns(Gaussian(1.0), slice(1, 3))}
    >>> model = MKLRegressor(kernels).fit(X, 2.0 * X[:, 0])
    >>> bool(model.weights_[0] > model.weights_[1])
    True
    """

    def __init__(
        self, kernel: Kernel, columns: Columns, *, view: str | None = None, name: str | None = None
    ) -> None:
        self.kernel = kernel
        self.columns = columns
        self.view = view
        self.name = name

    @property
    def absence(self) -> Hashable | None:
        if not self._is_view:
            return None
        key = self._key()
        return (id(self) if key is None else key, self.kernel.absence)

    @property
    def _is_view(self) -> bool:
        """True if these are not only one of the columns of a table, as families name them."""
        return self.member.role != "column"

    def present(self, X: Data) -> Mask | None:
        if not self._is_view or sparse.issparse(X):
            return None
        own = None
        if _first_missing(X, self.columns):
            own = rows_having(take_columns(X, self.columns))
        if not isinstance(self.kernel, OnColumns) and self.kernel.absence is None:
            return own
        return both(own, self.kernel.present(take_columns(X, self.columns)))

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        K = super().compute(X, Y, out)
        self.mask(K, X, Y)
        return K

    def diag(self, X: Data) -> Array:
        d, having = super().diag(X), self.present(X)
        return d if having is None else np.where(having, d, 0.0)

    def feature_maps(self, *sets: Data) -> list[Any]:
        maps = super().feature_maps(*sets)
        for i, X in enumerate(sets):
            having = self.present(X)
            if having is not None:
                Phi = maps[i].toarray() if sparse.issparse(maps[i]) else maps[i]
                maps[i] = np.where(having[:, None], Phi, 0.0)
        return maps

    def _select(self, X: Data) -> Data:
        part = take_columns(X, self.columns)
        having = rows_having(part) if self._is_view else None
        return part if having is None else with_stand_ins(part, having)

    def _key(self) -> Hashable | None:
        key = column_key(self.columns)
        return None if key is None else ("columns", key)

    def _around(self, kernel: Kernel) -> Kernel:
        return OnColumns(kernel, self.columns, view=self.view)

    def _describe(self) -> str:
        return (
            f"{self.view if self.view is not None else describe_columns(self.columns)}: {self.kernel.label}"
        )


def _first_missing(X: Data, columns: Columns) -> bool:
    """Tell whether some sample lacks a value in the first of these columns, if that is quickly known."""
    if len(getattr(X, "shape", ())) != 2:
        return True
    columns = columns(X) if callable(columns) else columns
    if isinstance(columns, list | tuple | np.ndarray) and len(columns) and not _is_flag(columns[0]):
        columns = columns[:1]  # there may be thousands
    where = positions(X, columns)
    first = np.ravel(np.arange(X.shape[1])[where]) if isinstance(where, slice) else np.ravel(where)
    return bool(first.size) and bool(is_missing(column_of(X, int(first[0]))).any())


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def describe_columns(columns: Columns) -> str:
    """A selection of columns in few characters: ``x3``, ``age``, ``x0:x5``, ``age, height, … (7)``."""
    if isinstance(columns, slice):
        ends = ["" if end is None else describe_columns(end) for end in (columns.start, columns.stop)]
        return ":".join(ends) + ("" if columns.step is None else f":{columns.step}")
    if callable(columns):
        return str(getattr(columns, "__name__", type(columns).__name__))
    if isinstance(columns, str):
        return columns
    if not hasattr(columns, "__len__") or getattr(columns, "ndim", 1) == 0:
        return f"x{in_words(_plain(columns))}"
    chosen = list(columns)
    if chosen and all(c is True or c is False for c in map(_plain, chosen)):
        chosen = [j for j, wanted in enumerate(chosen) if wanted]
    shown = ", ".join(map(describe_columns, chosen[:3]))
    return shown if len(chosen) <= 3 else f"{shown}, … ({len(chosen)})"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 else value

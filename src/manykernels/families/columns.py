"""A kernel for each column of a table of categories, beside kernels of all of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..kernels import Gaussian, Kernel, Linear, OnColumns
from ..kernels.data import Array, Data
from ..kernels.preparation import Part, Preparation
from ..kernels.prepared import Prepared
from .auto import median_distance, text_kernels, unprepared
from .base import Family
from .tables import Table, read_columns

_SCALES = (0.5, 1.0, 2.0)  # times the median distance: widths of the Gaussians on all columns
_FEWEST, _MOST = 12, 1000  # columns: with fewer, kernels of all of them serve as well; more take long
_EQUAL = 1e-9  # up to rounding
_DIGITS = 9  # of what columns say of the target by themselves: equal columns must not differ by rounding


class Columns(Family):
    """A kernel for each column of a raw table, a linear one and three Gaussians of all columns.

    The function is a sum of effects of single columns, of which norm 1 keeps few, and of a function of all
    columns together. This suits tables of many categories, such as the letters of a sequence or the answers
    to a questionnaire, where each column says a little by itself.

    A category, and a column of 3 to 12 different numbers, has a linear kernel of its levels: an effect of
    every level. A column of two different numbers has a linear kernel, and every other column of numbers a
    Gaussian of width one deviation. Of more than `max_columns` columns those have kernels of their own that
    say most of the target by themselves. Features are prepared as by "auto".

    Parameters
    ----------
    max_columns : int, default=60
        Largest number of columns that have a kernel of their own. More of them cost more time and memory.

    See Also
    --------
    Auto : Kernels of all columns, and of single columns where these are few.
    per_feature : Several kernels for every column of numbers.

    References
    ----------
    Bach (2008), "Consistency of the group lasso and multiple kernel learning", JMLR 9, 1179–1225.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.families import Columns
    >>> X = np.random.RandomState(0).randint(1, 5, size=(80, 20)).astype(float)
    >>> model = MKLClassifier(Columns(), C=10.0).fit(X, np.isin(X[:, 3], [1, 4]))
    >>> model.kernel_names_[int(np.argmax(model.weights_))]
    'x3: Linear'
    """

    supervised: ClassVar[bool] = True

    def __init__(self, max_columns: int = 60) -> None:
        self.max_columns = max_columns

    def resolve(
        self, X: Data, sample_weight: Any = None, feature_names: Any = None, target: Any = None
    ) -> dict[str, Kernel]:
        """List the kernels: those of single columns first, then those of all columns.

        Parameters
        ----------
        target : array-like of shape (n_samples, n_outputs) or None
            Training targets. They choose among more than `max_columns` columns, and are needed only there.
        """
        self._check(X)
        table = read_columns(X, feature_names)
        prepared = table.preparation(X, sample_weight)
        if prepared is None:
            return text_kernels(table) or unprepared(X, table)
        found = _single(prepared, table)
        if len(found) > self.max_columns:
            found = self._leading(found, X, sample_weight, target)
        return found | _whole(X, prepared, sample_weight) | text_kernels(table)

    def _check(self, X: Data) -> None:
        if sparse.issparse(X):
            raise ValueError("Columns was given a sparse matrix; expected a dense one: X.toarray().")
        most = self.max_columns
        if not isinstance(most, int | np.integer) or isinstance(most, bool) or most < 1:
            raise ValueError(
                f"max_columns={most!r} was given to Columns; expected a whole number, at least 1."
            )

    def _leading(
        self, found: dict[str, Kernel], X: Data, sample_weight: Any, target: Any
    ) -> dict[str, Kernel]:
        """The columns that explain most of the target by themselves, in the order of the table."""
        if target is None:
            raise ValueError(
                f"Columns has {len(found)} columns, chooses max_columns={self.max_columns} of them by y, and "
                "there is no y here. Use it in MKLClassifier or MKLRegressor, or raise max_columns."
            )
        Y = np.asarray(target, dtype=np.float64)
        w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        Y = np.sqrt(w)[:, None] * (Y - (w @ Y) / w.sum())
        parts: dict[Part, Array] = {}
        said = [_said(kernel, X, Y, w, parts) for kernel in found.values()]
        best = np.argsort(-np.round(np.array(said) / (max(said) or 1.0), _DIGITS), kind="stable")
        chosen = set(best[: self.max_columns].tolist())
        return {name: kernel for k, (name, kernel) in enumerate(found.items()) if k in chosen}


def suits(X: Data, table: Table | None) -> bool:
    """True for more than 12 columns of which more than half are categories, or numbers of few values."""
    if table is None or table.views or not _FEWEST < len(table.numbers) + len(table.levels) <= _MOST:
        return False
    prepared = table.preparation(X, None)
    if prepared is None:
        return False
    few = len(table.levels) + len(prepared.steps_) + len(_binary(prepared))
    return 2 * few > len(table.levels) + prepared.n_numbers


def _binary(prepared: Preparation) -> list[int]:
    """The columns of numbers that have two different ones, by their places.

    Of a column z of mean 0 and variance 1, min z · max z is at most −1, and −1 only where it has two values.
    """
    product = (prepared.low_ + 1.0) * (prepared.high_ - 1.0)
    return np.flatnonzero(np.abs(product + 1.0) < _EQUAL).tolist()


def _single(prepared: Preparation, table: Table) -> dict[str, Kernel]:
    """The kernel of every column."""
    linear, gaussian = (kernel.as_member(role="column") for kernel in (Linear(), Gaussian(1.0)))
    numbers = [table.names[table.numbers[j]] for j in prepared.kept_]
    steps, binary = prepared.places_of_steps, set(_binary(prepared))
    found: dict[str, Kernel] = {}
    for k, name in enumerate(numbers):
        if k in steps:
            found[f"{name}: Linear"] = Prepared(OnColumns(linear, steps[k]), prepared, "levels")
        elif k in binary:
            found[f"{name}: Linear"] = Prepared(OnColumns(linear, [k]), prepared)
        else:
            found[f"{name}: Gaussian(width=1)"] = Prepared(OnColumns(gaussian, [k]), prepared, "scores")
    for j, places in prepared.places_of_levels.items():
        found[f"{table.names[j]}: Linear"] = Prepared(OnColumns(linear, places), prepared)
    return found


def _whole(X: Data, prepared: Preparation, sample_weight: Any) -> dict[str, Kernel]:
    """The kernels of all columns."""
    part: Part = "levels" if prepared.steps_ else "scaled"
    kernels: dict[str, Kernel] = {"Linear": Prepared(Linear().as_member(role="linear"), prepared, part)}
    median = median_distance(prepared.transform(X, part), sample_weight)
    for scale in _SCALES if median > 0.0 else ():
        kernel = Prepared(Gaussian(scale * median), prepared, part)
        kernels[f"Gaussian({scale:g} × median)"] = kernel.as_member(scale=scale)
    return kernels


def _said(kernel: Any, X: Data, Y: Array, w: Array, parts: dict[Part, Array]) -> float:
    """The part of the variance of Y that a column's features explain, each by itself: the largest."""
    part = kernel.part
    if part not in parts:
        A = kernel.preparation.transform(X, part)
        parts[part] = np.sqrt(w)[:, None] * (A - (w @ A) / w.sum())
    F = parts[part][:, kernel.kernel.columns]
    sizes = np.maximum(np.sum(F * F, axis=0), 1e-300)
    return float(np.max(np.sum((F.T @ Y) ** 2, axis=1) / sizes))

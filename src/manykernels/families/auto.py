"""The dictionary for data one knows nothing about."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..kernels import Constant, Gaussian, Kernel, Linear, OnColumns, Polynomial, Spectrum
from ..kernels.cells import holds_numbers
from ..kernels.data import Array, Data, numeric, strings, take_columns
from ..kernels.preparation import PARTS, Part, Preparation
from ..kernels.prepared import Prepared, TextColumn
from ..kernels.stationary import squared_distances
from ._remembered import Remembered
from .base import NONE, Family, having_only, names_of, under
from .tables import Table, read_columns, views_of

_STEPS = (-2, -1, 0, 1, 2)  # powers of two, times the median distance
_QUANTILES = np.linspace(0.05, 0.95, 8)
_DISTANCE_ROWS = 1000  # samples whose distances widths are measured by
_WIDE = 50  # columns of numbers from which rows have profiles
_FEW = 12  # features, up to which each has a kernel of its own
_MANY = 10  # levels, above which a category has one
_SUBSTRINGS = (3, 5)
_SCORES = ", normal scores"  # in the names of kernels on them
_ROUNDING = 1e-9  # relative, of sums of weights
_SAME_POINT = 1e-6  # of the largest distance: GEMM leaves this much between equal rows
_SAME_WIDTH = 1e-3  # relative: closer widths are one kernel
_REMEMBERED = Remembered(64)
_LINEAR = Linear().as_member(role="linear")


class Auto(Family):
    """The default kernels for a table, scaled or not: ``kernels="auto"``.

    Columns with numbers are standardised, their gaps filled and marked, and categories become indicators
    (``kernels.preparation``; ``families.tables`` says what a column holds). On these features there are a
    linear kernel, a polynomial of degree 2, and Gaussians whose widths are the median distance between
    samples times ¼, ½, 1, 2, 4. Where columns have heavy tails, the Gaussians come a second time on their
    normal scores. Up to 12 features have a Gaussian each, and up to 12 categories of more than 10 levels a
    linear kernel each, whose function is an effect of every level. From 50 columns of numbers on there are
    also linear and Gaussian kernels of profiles, that is of rows in their own units divided by their length:
    columns that measure alike, such as counts of words or intensities, say by their size how much they
    matter. Where more than half of the columns of numbers have 3 to 12 different values, there are kernels of
    their levels too: codes of categories, grades and small counts need not act in proportion. Columns of text
    have string kernels. Where all columns are named ``view__column``, as ColumnTransformer writes it, every
    view has kernels of its own as well.

    Sparse matrices are taken as they are, since centring would fill them: a linear kernel, and Gaussians at
    eight quantiles of the distances, where these differ. Distances are those among at most 1000 rows, taken
    evenly; a row of weight w counts as w rows. With ``approx=`` only kernels that have features there are
    offered. Data without two different rows get a linear kernel only, data that are all zero a constant.

    See Also
    --------
    Relevance : The same with learned widths of features.
    views : Kernels for groups of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import Auto
    >>> X = np.random.RandomState(0).randn(50, 2)
    >>> names = list(Auto().resolve(X))
    >>> names[0], len(names)
    ('Linear', 9)
    """

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        if sparse.issparse(X):
            return _sparse(numeric(X), sample_weight)
        if len(getattr(X, "shape", (0,))) != 2:
            return _single(X, sample_weight, feature_names)
        names = names_of(X, feature_names)
        kernels: dict[str, Kernel] = {}
        for view, columns in views_of(names).items():
            part, weight = having_only(take_columns(X, columns), sample_weight)
            inner = _dense(part, weight, [names[j] for j in columns], few=False) if part.shape[0] else NONE
            for name, kernel in inner.items():
                name, seen = under(view, name, OnColumns(kernel, columns, view=view))
                kernels[name] = seen
        return kernels | _dense(X, sample_weight, feature_names, few=not kernels)


def _single(X: Data, sample_weight: Any, feature_names: Any) -> dict[str, Kernel]:
    """One column by itself: of text, or of numbers."""
    if isinstance(X, list | tuple) or not holds_numbers(X):
        strings(X)
        return {f"Spectrum(k={k})": Spectrum(k) for k in _SUBSTRINGS}
    return _dense(numeric(X), sample_weight, feature_names, few=False)


def _dense(X: Data, sample_weight: Any, feature_names: Any, few: bool) -> dict[str, Kernel]:
    table = read_columns(X, feature_names)
    prepared = table.preparation(X, sample_weight)
    kernels: dict[str, Kernel] = {}
    if prepared is not None:
        kernels |= _features(X, prepared, sample_weight)
        if few and 2 <= len(table.numbers) <= _FEW:
            kernels |= _each(X, prepared, [table.names[table.numbers[j]] for j in prepared.kept_])
        if few and len(table.levels) + prepared.n_numbers > 1:
            kernels |= _each_category(prepared, table.names)
    return kernels | text_kernels(table) or unprepared(X, table)


def text_kernels(table: Table) -> dict[str, Kernel]:
    """String kernels of each column of text."""
    return {
        f"{table.names[j]}: Spectrum(k={k})": TextColumn(Spectrum(k), j)
        for j in table.text
        for k in _SUBSTRINGS
    }


def unprepared(X: Data, table: Table) -> dict[str, Kernel]:
    """Return the kernels of a table in which no column varies: numbers as they are, or a constant."""
    plain = isinstance(X, np.ndarray) and len(table.numbers) == X.shape[1] and not table.formats
    return {"Linear": _LINEAR} if plain and np.any(numeric(X)) else {"Constant": Constant()}


def _features(X: Data, prepared: Preparation, sample_weight: Any) -> dict[str, Kernel]:
    """Kernels on all features together."""
    d = prepared.n_features
    kernels: dict[str, Kernel] = {"Linear": Prepared(_LINEAR, prepared)}
    if d > 1:
        kernels["Polynomial(degree=2)"] = Prepared(Polynomial(2, coef0=float(d)), prepared)
    parts: list[tuple[Part, tuple[str, ...]]] = [("scaled", ("",)), ("scores", (_SCORES,))]
    if not prepared.heavy_.size:  # normal scores are the features themselves
        parts = [("scaled", ("", _SCORES))]
    for part, suffixes in parts:
        median = median_distance(prepared.transform(X, part), sample_weight)
        for step in _STEPS if median > 0.0 else ():
            scale = 2.0**step
            name, *also = (f"Gaussian({scale:g} × median{suffix})" for suffix in suffixes)
            kernel = Prepared(Gaussian(scale * median), prepared, part)
            kernels[name] = kernel.as_member(scale=scale, also=tuple(also))
    return kernels | _of_other_parts(X, prepared, sample_weight)


def _of_other_parts(X: Data, prepared: Preparation, sample_weight: Any) -> dict[str, Kernel]:
    """Kernels of profiles, for many columns that measure alike, and of levels, for few values."""
    kernels: dict[str, Kernel] = {}
    parts: list[Part] = ["profiles", "roots"] if prepared.n_numbers >= _WIDE else []
    if prepared.has_levels:
        parts.append("levels")
    for part in parts:
        called = PARTS[part]
        kernels[f"Linear({called})"] = Prepared(Linear(), prepared, part)
        median = median_distance(prepared.transform(X, part), sample_weight)
        for scale in (0.5, 1.0, 2.0) if median > 0.0 else ():
            kernel = Prepared(Gaussian(scale * median), prepared, part)
            kernels[f"Gaussian({scale:g} × median, {called})"] = kernel.as_member(scale=scale)
    return kernels


def _each(X: Data, prepared: Preparation, names: list[str]) -> dict[str, Kernel]:
    """A Gaussian of each feature with numbers, of width one deviation, on normal scores where it has any."""
    gaussian = Gaussian(1.0).as_member(role="column")
    return {
        f"{name}: Gaussian(width=1)": Prepared(OnColumns(gaussian, [j]), prepared, "scores")
        for j, name in enumerate(names)
    }


def _each_category(prepared: Preparation, names: list[str]) -> dict[str, Kernel]:
    """A linear kernel of the indicators of each category of many levels: an effect of every level, shrunken.

    In the kernels of all features such a category is one part of many. Its own kernel gets a weight by what
    its levels say together. The effects are smoothed statistics of the target, learned with all else.
    """
    linear = Linear().as_member(role="column")
    crowded = {j: places for j, places in prepared.places_of_levels.items() if len(places) > _MANY}
    if len(crowded) > _FEW:
        return {}
    return {f"{names[j]}: Linear": Prepared(OnColumns(linear, own), prepared) for j, own in crowded.items()}


def _sparse(A: Any, sample_weight: Any) -> dict[str, Kernel]:
    if not A.nnz:
        return {"Constant": Constant()}
    kernels: dict[str, Kernel] = {"Linear": _LINEAR}
    widths = _distances_at(A, sample_weight, _QUANTILES)
    # Not by their widths, which differ from fold to fold; of equal ones the first stands for the others.
    names = [f"Gaussian({q:.2g} quantile)" for q in _QUANTILES[: widths.size]]
    group = np.cumsum(_differs(widths))
    for k in np.unique(group):
        (first, *_), (name, *also) = widths[group == k], (names[i] for i in np.flatnonzero(group == k))
        kernels[name] = Gaussian(float(first)).as_member(also=tuple(also))
    return kernels


def median_distance(A: Array, sample_weight: Any = None) -> float:
    """The median of the positive distances between rows of A; 0 if there are none."""
    found = distance_quantiles(A, sample_weight, np.array([0.5]))
    return found[0] if found else 0.0


def distance_quantiles(A: Any, sample_weight: Any, quantiles: Array = _QUANTILES) -> list[float]:
    """The distinct quantiles of the positive distances between the rows of A."""
    values = _distances_at(A, sample_weight, quantiles)
    return [float(value) for value in values[_differs(values)]]


def _distances_at(A: Any, sample_weight: Any, quantiles: Array) -> Array:
    """The quantiles of the positive distances between the rows of A; none where all rows are equal."""
    n = A.shape[0]
    w = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    rows = np.flatnonzero(w > 0)
    if len(rows) > _DISTANCE_ROWS:
        # An even stride in the repeated data: a row of weight w is met in proportion to w.
        ends = np.cumsum(w[rows])
        picks = np.searchsorted(ends, (np.arange(_DISTANCE_ROWS) + 0.5) / _DISTANCE_ROWS * ends[-1])
        rows, w = rows[np.unique(picks)], np.bincount(rows[picks], minlength=n).astype(np.float64)
    return _REMEMBERED(_among, A[rows], w[rows], quantiles)


def _among(A: Any, w: Array, quantiles: Array) -> Array:
    """The same for rows of positive weight, all of which count."""
    D, n = squared_distances(A), A.shape[0]
    d = np.sqrt(np.concatenate([D[i, i + 1 :] for i in range(n)] or [np.empty(0)]))
    positive = d > _SAME_POINT * np.max(d, initial=0.0)
    if np.all(w == 1.0):
        return _plain_quantiles(d[positive], quantiles)
    i, j = np.triu_indices(n, 1)
    return _quantiles(d[positive], (w[i] * w[j])[positive], quantiles)


def _plain_quantiles(d: Array, quantiles: Array) -> Array:
    """The same as `_quantiles` of weights that are all 1, to the bit, without sorting d."""
    if not len(d):
        return np.empty(0)
    at = np.ceil(quantiles * float(len(d)) * (1.0 - _ROUNDING)).astype(np.intp) - 1
    return np.asarray(np.partition(d, np.unique(at))[at])


def _quantiles(d: Array, weight: Array, quantiles: Array) -> Array:
    """The values where the weighted distribution of d reaches each quantile."""
    if not len(d):
        return np.empty(0)
    order = np.argsort(d)
    reached = np.cumsum(weight[order])
    # The slack makes repeated and weighted data, whose sums round differently, take the same value.
    at = np.searchsorted(reached, quantiles * reached[-1] * (1.0 - _ROUNDING))
    return np.asarray(d[order][at])


def _differs(values: Array) -> NDArray[np.bool_]:
    """Tell whether each of these rising values is another one than the value before."""
    return np.concatenate([[True], np.diff(values) > _SAME_WIDTH * values[1:]])[: values.size]

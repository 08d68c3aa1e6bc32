"""Samples in Dask collections; Dask itself is met in `grams/dask.py` alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..approx import Features
from ..grams.row_blocks import ReadNumbers, RowBlocks, kept_blocks
from ..grams.statistics import Statistics, bad_row
from ..kernels.data import numeric
from .dictionary import in_rows
from .layout import Kind, Layout, is_lazy, read_training
from .options import Options
from .samples import MERGED, AnySamples, Index, read
from .targets import Target, as_target, check_length, check_weights, require_target

Array = NDArray[np.float64]


def engine() -> Any:
    """The module that imports Dask."""
    return import_module("manykernels.grams.dask")


def in_memory(*values: Any) -> tuple[Any, ...]:
    """Dask collections computed, all else as it is."""
    return tuple(v.compute() if is_lazy(v) else v for v in values)


@dataclass(frozen=True)
class EncodeLabels:
    """Labels to targets and costs."""

    classes: NDArray[Any]
    targets: Array  # (classes, k)
    costs: Array | None  # (classes,)

    def __call__(self, y: Any, first: int) -> tuple[Array, Array | None]:
        codes = np.searchsorted(self.classes, np.asarray(y).ravel())
        codes = np.minimum(codes, len(self.classes) - 1)  # others weigh nothing
        return self.targets[codes], None if self.costs is None else self.costs[codes]


@dataclass(frozen=True)
class EncodeNumbers:
    """Numbers to targets (n, k)."""

    def __call__(self, y: Any, first: int) -> tuple[Array, Array | None]:
        Y = np.asarray(y, dtype=np.float64)
        Y = Y[:, None] if Y.ndim == 1 else Y  # of a block without rows too
        bad = np.flatnonzero(~np.isfinite(Y).all(axis=1))
        if bad.size:
            raise ValueError(bad_row("y", first + int(bad[0]), first, first + len(Y)))
        return Y, None


@dataclass(frozen=True)
class ReadBlock:
    """A block of X as kernels read it: numbers, or the frame itself where kernels select columns by name."""

    kind: Kind

    def __call__(self, block: Any) -> Any:
        return numeric(block) if self.kind == "array" else block


@dataclass(frozen=True)
class LazySamples:
    """Rows of X in a Dask collection, with their targets."""

    layout: Layout
    target: Target
    rows: Any  # grams.dask.DaskSamples

    @property
    def n(self) -> int:
        return int(self.rows.n)

    @property
    def weight(self) -> Array | None:
        found: Array | None = self.rows.weight
        return found

    def take(self, rows: Index) -> Any:
        return self.rows.take(rows)

    def take_targets(self, rows: Index) -> Array:
        return np.asarray(self.rows.take_targets(rows))

    def in_rows(self, read: ReadNumbers) -> tuple[RowBlocks, Array, Array, Array | None]:
        rows, Y, costs = self.rows.in_rows(read)
        weight = None if self.weight is None else self.weight[self.weight > 0.0]
        return kept_blocks(rows), Y, costs if weight is None else costs * weight, weight

    def statistics(self, features: Features, sizes: bool, names: list[str], verbose: int) -> Statistics:
        found: Statistics = self.rows.statistics(features, sizes, names, verbose)
        return found

    def fold_statistics(
        self, features: Features, sizes: bool, names: list[str], verbose: int, fold: Index, n_folds: int
    ) -> list[Statistics]:
        found: list[Statistics] = self.rows.fold_statistics(features, sizes, names, verbose, fold, n_folds)
        return found


def pose(
    options: Options,
    X: Any,
    y: Any,
    sample_weight: Any,
    target: Target,
    in_place: bool = False,
    covariates: Any = None,
    learns: bool = False,
) -> AnySamples:
    """Samples as a fit uses them: in memory, or for explicit features wherever they are.

    `in_place` leaves all rows where they are. `learns` says that a risk is minimised, which families may be
    able to do from blocks of rows.
    """
    require_target(options.title, y)
    rows_only = learns and in_rows(options, _rows_of(X))
    in_blocks = options.approx is not None or rows_only
    if not in_blocks or options.covariates is not None or covariates is not None:
        few = MERGED if in_blocks else np.inf
        given = read(options, X, y, sample_weight, target, covariates=covariates, in_blocks=in_blocks)
        return given.samples(few)
    rows = engine().read_chunks(X, "X") if is_lazy(X) else None
    if rows is not None and (rows.n > MERGED or in_place):
        return _lazy_samples(options, rows, y, sample_weight, target)
    X = X if rows is None else rows.gather()
    given = read(options, X, y, sample_weight, target, in_blocks=in_blocks)
    return given.in_place() if in_place else given.samples(MERGED)


def _rows_of(X: Any) -> float:
    """Count how many rows X has; more than any matrix could have where it is a Dask collection."""
    shape = getattr(X, "shape", None)
    known = isinstance(shape, tuple) and len(shape) == 2 and not is_lazy(X)
    return float(shape[0]) if known and shape is not None else np.inf if is_lazy(X) else 0.0


def _lazy_samples(options: Options, rows: Any, y: Any, sample_weight: Any, target: Target) -> LazySamples:
    dask = engine()
    weights = None if sample_weight is None else dask.read_like(sample_weight, rows, "sample_weight")
    weight = None if weights is None else check_weights(np.asarray(weights.gather()), rows.n)
    targets = dask.read_like(y, rows, "y")
    layout = _layout(options, rows)
    inner = np.shape(y)[1:] if np.ndim(y) != 1 else ()
    learned, encode = _encoder(target, dask, targets, weights, inner)
    found = dask.DaskSamples(rows, targets, weights, weight, encode, ReadBlock(layout.kind))
    return LazySamples(layout, learned, found)


def _encoder(target: Target, dask: Any, y: Any, weights: Any, inner: tuple[int, ...]) -> tuple[Target, Any]:
    """The target that has seen y, and what it makes of blocks of it."""
    if target.task == "regression":
        return target.learn(np.zeros((1, *inner))), EncodeNumbers()
    labels, counts = dask.count_labels(y, weights)
    # each label twice stands for all samples of it
    twice = target.read(np.repeat(labels[counts > 0], 2))
    learned = target.learn(twice)
    Y, cost = learned.encode(twice, np.repeat(0.5 * counts[counts > 0], 2))
    costs = None if np.all(cost == 1.0) else cost[::2]
    return learned, EncodeLabels(labels[counts > 0], Y[::2], costs)


def pose_known(
    options: Options, X: Any, y: Any, sample_weight: Any, target: Target
) -> tuple[AnySamples, NDArray[Any]]:
    """Samples of a Dask collection with targets in memory, and these."""
    rows = engine().read_chunks(X, "X")
    y, sample_weight = in_memory(y, sample_weight)
    if rows.n <= MERGED:
        given = read(options, rows.gather(), y, sample_weight, target)
        return given.samples(MERGED), given.y
    y = target.read(y)
    check_length(rows.n, y)
    weight = None if sample_weight is None else check_weights(sample_weight, rows.n)
    kept = np.arange(rows.n) if weight is None else np.flatnonzero(weight > 0)
    learned = target.learn(y[kept])
    some, _ = learned.encode(y[kept], np.ones(kept.size))
    Y = np.zeros((rows.n, some.shape[1]))  # others count nothing
    Y[kept] = some
    return _with_targets(_layout(options, rows), rows, learned, Y, weight), y


def pose_new(layout: Layout, X: Any, y: Any, target: Target) -> AnySamples:
    """New samples of a Dask collection for a fitted model; the first row tells whether they fit."""
    rows = engine().read_chunks(X, "X")
    layout.read(_without_gaps(rows.take(np.arange(1))))
    y = as_target(*in_memory(y))
    check_length(rows.n, y)
    return _with_targets(layout, rows, target, target.encode(y, np.ones(len(y)))[0])


def _with_targets(
    layout: Layout, rows: Any, target: Target, Y: Array, weight: Array | None = None
) -> LazySamples:
    dask = engine()
    targets = dask.read_like(Y, rows, "y")
    weights = None if weight is None else dask.read_like(weight, rows, "sample_weight")
    found = dask.DaskSamples(rows, targets, weights, weight, EncodeNumbers(), ReadBlock(layout.kind))
    return LazySamples(layout, target, found)


def lazy_layout(options: Options, X: Any) -> tuple[int, Layout]:
    """Count how many rows a Dask collection has, and how they are laid out."""
    rows = engine().read_chunks(X, "X")
    return int(rows.n), _layout(options, rows)


def _layout(options: Options, rows: Any) -> Layout:
    """Return the layout, from the first row, which is loaded into memory."""
    head = _without_gaps(rows.take(np.arange(1)))
    return read_training(options.title, options.kernels, head, whole=False)[1]


def _without_gaps(head: Any) -> Any:
    """A first row without NaN: what is not finite is met, and named, when its block is read."""
    if hasattr(head, "fillna"):
        return head.fillna(0.0)
    return np.nan_to_num(head) if head.dtype.kind == "f" else head


def over_rows(X: Any, function: Callable[[Any], Any]) -> Any:
    """A Dask array of function(block) for every block of rows of X; it is tried on one row first."""
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise ValueError(
            f"X is a Dask {type(X).__name__}; expected a Dask array or frame of shape (n_samples, "
            "n_features)."
        )
    frame = hasattr(X, "to_dask_array")
    one = function(X._meta_nonempty if frame else np.zeros((1, int(shape[1]))))
    return engine().map_rows(X, function, None if one.ndim == 1 else int(one.shape[1]), one.dtype)

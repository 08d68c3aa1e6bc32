"""Samples in Dask collections, and decisions about them; Dask itself is met in `grams/dask.py` alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score

from .._fast.threads import threads
from ..grams.statistics import bad_row
from ..kernels.data import numeric
from ._data import Kind, is_lazy, read_new, read_training
from ._targets import check_weights, require_target

if TYPE_CHECKING:
    from ._approx_data import Samples

Array = NDArray[np.float64]


def engine() -> Any:
    """The module that imports Dask."""
    return import_module("manykernels.grams.dask")


@dataclass(frozen=True)
class EncodeLabels:
    """Labels to targets and costs."""

    classes: NDArray[Any]
    targets: Array  # (classes, k)
    costs: Array | None  # (classes,)

    def __call__(self, y: Any, first: int) -> tuple[Array, Array | None]:
        codes = np.searchsorted(self.classes, np.asarray(y).ravel())
        return self.targets[codes], None if self.costs is None else self.costs[codes]


@dataclass(frozen=True)
class EncodeNumbers:
    """Numbers to targets (n, k)."""

    def __call__(self, y: Any, first: int) -> tuple[Array, Array | None]:
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
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


def read_lazily(
    model: Any, X: Any, y: Any, sample_weight: Any, small: int, local: Callable[..., tuple[Samples, Kind]]
) -> tuple[Samples, Kind]:
    """Samples in a Dask collection; few ones are taken into memory, where `local` can merge equal ones."""
    require_target(model, y)
    dask = engine()
    rows = dask.read_chunks(X, "X")
    if rows.n <= small:
        return local(model, rows.gather(), *in_memory(y, sample_weight))
    weights = None if sample_weight is None else dask.read_like(sample_weight, rows, "sample_weight")
    weight = None if weights is None else check_weights(np.asarray(weights.gather()), rows.n)
    targets = dask.read_like(y, rows, "y")
    _, kind = read_training(model, _without_gaps(rows.take(np.arange(1))))
    encode = _encoder(model, dask, targets, weights, np.shape(y)[1:] if np.ndim(y) != 1 else ())
    return dask.DaskSamples(rows, targets, weights, weight, encode, ReadBlock(kind)), kind


@dataclass(frozen=True)
class LazyRows:
    """Rows of X in a Dask collection, for learners whose targets are in memory."""

    chunks: Any  # grams.dask.Chunks
    kind: Kind

    def __len__(self) -> int:
        return int(self.chunks.n)

    def samples(self, Y: Array) -> Samples:
        """With targets Y (n, k)."""
        dask = engine()
        targets = dask.read_like(Y, self.chunks, "y")
        found: Samples = dask.DaskSamples(
            self.chunks, targets, None, None, EncodeNumbers(), ReadBlock(self.kind)
        )
        return found


def read_rows(model: Any, X: Any, small: int) -> tuple[Any, Kind]:
    """X validated as far as its first row tells: `LazyRows`, or in memory where there are few."""
    rows = engine().read_chunks(X, "X")
    if rows.n <= small:
        return read_training(model, rows.gather())
    _, kind = read_training(model, _without_gaps(rows.take(np.arange(1))))
    return LazyRows(rows, kind), kind


def read_new_rows(model: Any, X: Any, kind: Kind) -> LazyRows:
    """New samples for a fitted model, whose first row tells whether they have its columns."""
    rows = engine().read_chunks(X, "X")
    read_new(model, _without_gaps(rows.take(np.arange(1))), kind)
    return LazyRows(rows, kind)


def in_memory(*values: Any) -> tuple[Any, ...]:
    """Dask collections computed, all else as it is."""
    return tuple(v.compute() if is_lazy(v) else v for v in values)


def _without_gaps(head: Any) -> Any:
    """A first row without NaN: what is not finite is met, and named, when its block is read."""
    if hasattr(head, "fillna"):
        return head.fillna(0.0)
    return np.nan_to_num(head) if head.dtype.kind == "f" else head


def _encoder(model: Any, dask: Any, y: Any, weights: Any, inner: tuple[int, ...]) -> Any:
    """What the model makes of targets, found from those that there are."""
    if not is_classifier(model):
        model._encode(np.zeros((1, *inner)), np.ones(1))
        return EncodeNumbers()
    labels, counts = dask.count_labels(y, weights)
    # each label twice stands for all samples of it
    twice = model._read_y(np.repeat(labels[counts > 0], 2))
    Y, cost = model._encode(twice, np.repeat(0.5 * counts[counts > 0], 2))
    return EncodeLabels(labels[counts > 0], Y[::2], None if np.all(cost == 1.0) else cost[::2])


class LazyScore:
    """``score`` of samples in a Dask collection, whose predictions are made block by block."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy, or R² of a regressor."""
        if not is_lazy(X):
            found: float = super().score(X, y, sample_weight)  # type: ignore[misc]
            return found
        model: Any = self
        (said, y, sample_weight) = in_memory(model.predict(X), y, sample_weight)
        if is_classifier(model):
            return float(accuracy_score(y, said, sample_weight=sample_weight))
        return float(r2_score(y, said, sample_weight=sample_weight))


def over_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of new samples that gives a Dask array for a Dask collection, block by block."""

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_lazy(X):
            return method(self, X, *args, **options)
        shape = getattr(X, "shape", None)
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise ValueError(
                f"X is a Dask {type(X).__name__}; expected a Dask array or frame of shape (n_samples, "
                "n_features)."
            )
        frame = hasattr(X, "to_dask_array")
        example = X._meta_nonempty if frame else np.zeros((1, int(X.shape[1])))
        one = method(self, example, *args, **options)
        function = partial(_call, self, method.__name__, args, options)
        return engine().map_rows(X, function, None if one.ndim == 1 else int(one.shape[1]), one.dtype)

    return call


def _call(model: Any, name: str, args: Any, options: Any, block: Any) -> Any:
    """A method of the model on a block of rows, which may be none."""
    with threads(1):
        if len(block):
            return getattr(model, name)(block, *args, **options)
        return getattr(model, name)(np.zeros((1, block.shape[1])), *args, **options)[:0]

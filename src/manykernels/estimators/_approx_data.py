"""The samples that features are computed of, wherever they are: what a fit may ask of them.

`LocalSamples` are in memory (or in a file that is mapped into it); those of Dask are in `grams/dask.py` and
answer the same questions, so that the answers do not depend on where the samples are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from ..approx import Features
from ..grams.statistics import Statistics, bad_row, statistics
from ._approx_lazy import LazyRows, in_memory, read_lazily, read_rows
from ._data import Kind, is_lazy, read_training, take
from ._rows import merge
from ._targets import check_length, check_weights

Array = NDArray[np.float64]
_MERGED = 20_000  # samples up to which equal ones are merged, so that a weight is a repetition exactly
_PROBE = 10_000  # samples that kernels are made from, where they depend on data


class Samples(Protocol):
    """Samples, targets, weights w and costs c."""

    @property
    def n(self) -> int:
        """How many."""

    @property
    def weight(self) -> Array | None:
        """(n,): how often each counts; None where all count once."""

    def take(self, rows: NDArray[np.intp]) -> Any:
        """Some rows, in memory."""

    def take_targets(self, rows: NDArray[np.intp]) -> Array:
        """Their targets (rows, k)."""

    def statistics(self, features: Features, sizes: bool, names: list[str], verbose: bool) -> Statistics:
        """The sums over all of them."""

    def fold_statistics(
        self,
        features: Features,
        sizes: bool,
        names: list[str],
        verbose: bool,
        fold: NDArray[np.integer],
        n_folds: int,
    ) -> list[Statistics]:
        """The sums over each fold."""


@dataclass(frozen=True)
class LocalSamples:
    """Rows of X in memory, with targets Y (n, k); weights and costs are None where all are 1."""

    X: Any
    Y: Array
    weight: Array | None
    cost: Array | None

    @property
    def n(self) -> int:
        return int(self.Y.shape[0])

    @property
    def costs(self) -> Array:
        """(n,): w c."""
        w = np.ones(self.n) if self.weight is None else self.weight
        return w if self.cost is None else w * self.cost

    def take(self, rows: NDArray[np.intp]) -> Any:
        found = take(self.X, rows)
        if isinstance(self.X, np.memmap) and not np.all(np.isfinite(found)):  # nobody has looked at it yet
            row = int(rows[np.argmin(np.isfinite(found).all(axis=1))])
            raise ValueError(bad_row("X", row, 0, self.n))
        return found

    def take_targets(self, rows: NDArray[np.intp]) -> Array:
        return np.asarray(self.Y[rows])

    def statistics(self, features: Features, sizes: bool, names: list[str], verbose: bool) -> Statistics:
        with progress_bar(self.n, verbose) as progress:
            return self._statistics(features, sizes=sizes, names=names, progress=progress)

    def fold_statistics(
        self,
        features: Features,
        sizes: bool,
        names: list[str],
        verbose: bool,
        fold: NDArray[np.integer],
        n_folds: int,
    ) -> list[Statistics]:
        with progress_bar(self.n, verbose) as progress:
            options: dict[str, Any] = {"sizes": sizes, "names": names, "progress": progress}
            parts = (self._rows(np.flatnonzero(fold == f)) for f in range(n_folds))
            return [part._statistics(features, **options) for part in parts]

    def _rows(self, rows: NDArray[np.intp]) -> LocalSamples:
        weight, cost = (None if a is None else a[rows] for a in (self.weight, self.cost))
        return LocalSamples(take(self.X, rows), self.Y[rows], weight, cost)

    def _statistics(self, features: Features, **options: Any) -> Statistics:
        return statistics(features, self.X, self.Y, self.weight, self.cost, **options)


def read_samples(model: Any, X: Any, y: Any, sample_weight: Any, merged: bool = True) -> tuple[Samples, Kind]:
    """Validated samples, wherever they are; without `merged` the rows stay as and where they were given."""
    few = _MERGED if merged else 0
    if is_lazy(X):
        return read_lazily(model, X, y, sample_weight, few, read_local)
    y, sample_weight = in_memory(y, sample_weight)
    return read_local(model, X, y, sample_weight, merged)


def read_features(model: Any, X: Any) -> tuple[Any, Kind]:
    """X where features of it are all that is needed: validated, or as `LazyRows` where it is in Dask."""
    return read_rows(model, X, _MERGED) if is_lazy(X) else read_training(model, X)


def samples_of(X: Any, Y: Array) -> Samples:
    """What `read_features` gave, with targets Y (n, k) and no weights."""
    return X.samples(Y) if isinstance(X, LazyRows) else LocalSamples(X, Y, None, None)


def read_local(
    model: Any, X: Any, y: Any, sample_weight: Any, merged: bool = True
) -> tuple[LocalSamples, Kind]:
    """Samples in memory, without those of weight zero, and equal ones merged where they are not too many."""
    X, kind = _read_mapped(model, X) if _is_mapped(X) else read_training(model, X)
    y = model._read_y(y)
    n = _num_samples(X)
    check_length(n, y)
    weight = check_weights(sample_weight, n)
    kept = np.flatnonzero(weight > 0)
    Y, cost = model._encode(y[kept], weight[kept])
    if not merged:
        return _in_place(X, n, kept, Y, weight, cost), kind
    kept, Y, cost = kept[cost > 0], Y[cost > 0], cost[cost > 0]
    weight = weight[kept]
    if kind != "stack" and kept.size <= _MERGED:
        place, everywhere = np.full(n, -1), np.zeros(n)
        place[kept], everywhere[kept] = np.arange(kept.size), weight
        rows = merge(X, kind, Y, everywhere, kept)
        chosen = place[rows.first]
        kept, Y, cost, weight = rows.first, Y[chosen], cost[chosen], rows.weight
    everyone = kept.size == n and bool(np.all(kept == np.arange(n)))
    return _samples(X if everyone else take(X, kept), Y, weight, cost), kind


def _in_place(X: Any, n: int, kept: NDArray[np.intp], Y: Array, weight: Array, cost: Array) -> LocalSamples:
    """All rows; those of weight zero have targets of zero, which nobody counts."""
    targets, costs = np.zeros((n, Y.shape[1])), np.ones(n)
    targets[kept], costs[kept] = Y, cost
    return _samples(X, targets, weight, costs)


def _samples(X: Any, Y: Array, weight: Array, cost: Array) -> LocalSamples:
    w, c = (None if np.all(values == 1.0) else values for values in (weight, cost))
    return LocalSamples(X, np.ascontiguousarray(Y), w, c)


def _is_mapped(X: Any) -> bool:
    """Whether X is a large file mapped into memory: it is then neither copied nor looked at as a whole."""
    return isinstance(X, np.memmap) and X.ndim == 2 and len(X) > _MERGED and X.dtype.kind in "fiu"


def _read_mapped(model: Any, X: Any) -> tuple[Any, Kind]:
    """What is not finite is met, and named, when the block that it is in is read."""
    _, kind = read_training(model, np.asarray(X[:1]))
    return X, kind


def probe(samples: Samples, supervised: bool) -> tuple[Any, Array | None, Array | None]:
    """At most 10,000 samples, evenly taken, their weights and (for kernels that learn from them) targets."""
    rows = np.unique(np.linspace(0, samples.n - 1, min(_PROBE, samples.n)).astype(np.intp))
    weight = None if samples.weight is None else samples.weight[rows]
    return samples.take(rows), weight, samples.take_targets(rows) if supervised else None


@contextmanager
def progress_bar(n: int, verbose: bool) -> Iterator[Callable[[int], object] | None]:
    """A bar over rows."""
    if not verbose:
        yield None
        return
    from tqdm.auto import tqdm  # here, since it looks for a notebook

    with tqdm(total=n, unit="row", unit_scale=True) as bar:
        yield bar.update

"""Samples in Dask collections: sums over rows as a tree reduction, decisions block by block.

Only this file and `cluster.py`, which has work computed, import Dask. Tasks use one thread each, since Dask
runs several at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce as fold_left
from importlib import import_module
from operator import add
from typing import Any, Self

import dask as _dask
import dask.array as _da
import numpy as np
from numpy.typing import NDArray

from .._fast.threads import threads
from .._pieces import Thrift, current, fingerprint, kept
from ..approx import Features
from .base import take
from .cluster import compute, tree
from .row_blocks import HeldBlocks, ReadNumbers, RowBlocks, Sums
from .statistics import Statistics, bad_row, statistics

dask: Any = _dask  # which types its functions in parts
da: Any = _da
Array = NDArray[np.float64]
Encode = Callable[[Any, Any], tuple[Array, Array | None]]  # (y, first row) -> targets, costs
_ROWS_A_FEATURE = 4  # times as many rows as features a task has at least, where chunks are small


@dataclass(frozen=True)
class Chunks:
    """Consecutive blocks of rows, not computed: (rows in each, delayed values)."""

    lengths: tuple[int, ...]
    blocks: list[Any]
    columns: Any = None  # names of the columns of a frame
    name: str = "X"

    @property
    def n(self) -> int:
        return sum(self.lengths)

    @property
    def starts(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.intp)

    def take(self, rows: NDArray[np.intp]) -> Any:
        """Some rows, in rising order, in memory."""
        store = current()
        name = () if store is None else ("rows", self.name, fingerprint(rows))
        return kept(store, name, self._take, rows, thrift=Thrift())

    def _take(self, rows: NDArray[np.intp]) -> Any:
        starts, parts = self.starts, []
        for lo, hi, block in zip(starts[:-1], starts[1:], self.blocks, strict=True):
            own = rows[np.searchsorted(rows, lo) : np.searchsorted(rows, hi)] - lo
            if own.size:
                parts.append(dask.delayed(take)(block, own))
        return concatenate(compute(parts))

    def gather(self) -> Any:
        """All rows, in memory."""
        return concatenate(compute([b for b, n in zip(self.blocks, self.lengths, strict=True) if n]))


def is_frame(X: Any) -> bool:
    return isinstance(getattr(X, "shape", None), tuple) and hasattr(X, "to_dask_array")


def read_chunks(X: Any, name: str) -> Chunks:
    """The rows of a Dask array or frame in blocks; where their sizes are not known, they are computed."""
    _require_numbers(X, name)
    if is_frame(X):
        blocks = X.to_delayed()
        lengths = _lengths(blocks, name)
        _require_rows(sum(lengths), name)
        return Chunks(lengths, list(blocks), getattr(X, "columns", None), name)
    if X.ndim not in (1, 2):
        raise ValueError(
            f"{name} is a Dask array of {X.ndim} dimensions; expected (n_samples, n_features) for X, and "
            "(n_samples,) or (n_samples, n_outputs) for y."
        )
    X = _of_known_length(X, name)
    if X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    _require_rows(sum(X.chunks[0]), name)
    return Chunks(tuple(map(int, X.chunks[0])), list(X.to_delayed().ravel()), name=name)


def _lengths(blocks: Any, name: str) -> tuple[int, ...]:
    """Rows of each block, of which nothing is known."""
    parts = [dask.delayed(len)(block) for block in blocks]
    found = kept(current(), ("lengths", name), compute, parts, thrift=Thrift())
    return tuple(map(int, found))


def _of_known_length(X: Any, name: str) -> Any:
    """A Dask array whose blocks of rows have sizes that are known."""
    if not any(np.isnan(size) for size in X.chunks[0]):
        return X
    blocks, known = X.to_delayed(), X.copy()
    known._chunks = (_lengths(blocks.reshape(len(blocks), -1)[:, 0], name), *X.chunks[1:])
    return known


def _require_numbers(X: Any, name: str) -> None:
    """A Dask array or frame, without masks and complex numbers."""
    if not is_frame(X) and not isinstance(X, da.Array):
        raise ValueError(
            f"{name} is a Dask {type(X).__name__}; expected a Dask array or frame, or call {name}.compute()."
        )
    if isinstance(getattr(X, "_meta", None), np.ma.MaskedArray):
        raise ValueError(f"{name} is a Dask array with masks, which are not read: fill them (da.ma.filled).")
    kinds = [X.dtype] if isinstance(X, da.Array) else list(getattr(X, "dtypes", []))
    if any(getattr(kind, "kind", "O") == "c" for kind in kinds):
        raise ValueError(f"Complex data not supported: {name} is a Dask collection of complex numbers.")


def _require_rows(n: int, name: str) -> None:
    if not n:
        raise ValueError(f"{name} is a Dask collection of 0 sample(s); expected at least 1.")


def read_like(values: Any, X: Chunks, name: str) -> Chunks:
    """Targets or weights in the same blocks as X, be they Dask collections or in memory."""
    lazy = type(values).__module__.startswith("dask")
    if not lazy:
        values = np.asarray(values)
    elif is_frame(values):
        values = values.to_dask_array(lengths=True)
    else:
        values = _of_known_length(values, name)
    if values.shape[0] != X.n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {X.n} samples and {name} has "
            f"{values.shape[0]}."
        )
    if not lazy:
        blocks = [values[lo:hi] for lo, hi in zip(X.starts[:-1], X.starts[1:], strict=True)]
        return Chunks(X.lengths, blocks, name=name)
    chunks: dict[int, Any] = {0: X.lengths}
    values = values.rechunk(chunks | dict.fromkeys(range(1, values.ndim), -1))
    return Chunks(X.lengths, list(values.to_delayed().ravel()), name=name)


def concatenate(parts: list[Any]) -> Any:
    """Blocks of rows as one."""
    if len(parts) == 1:
        return parts[0]
    if hasattr(parts[0], "iloc"):
        return import_module("pandas").concat(parts)
    return np.concatenate(parts)


@dataclass(frozen=True)
class DaskSamples:
    """RowBlocks, targets and weights in the same blocks, and what makes targets of y."""

    X: Chunks
    y: Chunks
    weights: Chunks | None
    weight: Array | None  # of all rows, in memory
    encode: Encode
    read: Callable[[Any], Any]  # a block as kernels read it

    @property
    def n(self) -> int:
        return self.X.n

    def take(self, rows: NDArray[np.intp]) -> Any:
        found = self.read(self.X.take(rows))
        if isinstance(found, np.ndarray) and not np.all(np.isfinite(found)):
            row = int(rows[np.argmin(np.isfinite(found).all(axis=1))])
            block = int(np.searchsorted(self.X.starts, row, side="right")) - 1
            lo, hi = self.X.starts[block : block + 2]
            raise ValueError(bad_row("X", row, int(lo), int(hi)))
        return found

    def take_targets(self, rows: NDArray[np.intp]) -> Array:
        return self.encode(self.y.take(rows), 0)[0]

    def in_rows(self, read: ReadNumbers) -> tuple[DaskBlocks, Array, Array]:
        """RowBlocks of positive weight, with their targets and costs, which are in memory."""
        kept = None if self.weight is None else self.weight > 0.0
        starts = [int(first) for first in self.X.starts[:-1]]
        encode = dask.delayed(self.encode, traverse=False)
        parts = compute([encode(y, first) for y, first in zip(self.y.blocks, starts, strict=True)])
        Y = np.concatenate([part[0] for part in parts])
        costs = np.concatenate([np.ones(len(y)) if cost is None else cost for y, cost in parts])
        read = replace(read, prepare=self.read)
        if kept is None:
            return DaskBlocks(self.X, self.n, read), Y, costs
        return DaskBlocks(self.X, int(kept.sum()), read, kept), Y[kept], costs[kept]

    def statistics(self, features: Features, sizes: bool, names: list[str], verbose: bool) -> Statistics:
        return self._sums(features, sizes, names, None, 1)[0]

    def fold_statistics(
        self,
        features: Features,
        sizes: bool,
        names: list[str],
        verbose: bool,
        fold: NDArray[np.integer],
        n_folds: int,
    ) -> list[Statistics]:
        return self._sums(features, sizes, names, fold, n_folds)

    def _sums(
        self,
        features: Features,
        sizes: bool,
        names: list[str],
        fold: NDArray[np.integer] | None,
        n_folds: int,
    ) -> list[Statistics]:
        """The sums of every fold, block by block and then in a tree."""
        known = dask.delayed(_Task(features, sizes, names, self.encode, self.read, n_folds), traverse=False)
        starts, level = self.X.starts, []
        for group in _groups(self.X.lengths, _ROWS_A_FEATURE * features.n_features):
            weights = None if self.weights is None else [self.weights.blocks[b] for b in group]
            folds = None if fold is None else [fold[starts[b] : starts[b + 1]] for b in group]
            rows = [self.X.blocks[b] for b in group], [self.y.blocks[b] for b in group]
            level.append(dask.delayed(_run)(known, *rows, weights, folds, [int(starts[b]) for b in group]))
        own = None if current() is None else fingerprint((features, self.encode, self.weight, fold))
        return list(tree(level, _add, None if own is None else ("sums", sizes, n_folds, own)))


@dataclass(frozen=True)
class DaskBlocks(RowBlocks):
    """RowBlocks of a collection that count, block by block, for who needs passes over them."""

    X: Chunks
    n: int
    read: ReadNumbers
    kept: NDArray[np.bool_] | None = None  # of all rows, where some do not count

    def with_read(self, read: ReadNumbers) -> Self:
        return replace(self, read=read)

    def some(self, rows: NDArray[np.intp]) -> HeldBlocks:
        places = rows if self.kept is None else np.flatnonzero(self.kept)[rows]
        return HeldBlocks(self.X.take(places), rows.size, self.read)

    def sums(self, function: Callable[..., Sums], *vectors: Array) -> Sums:
        return list(tree(self._tasks(_summed, function, vectors), _all_added))

    def values(self, function: Callable[..., Array], *vectors: Array) -> Array:
        return np.concatenate(compute(self._tasks(_each, function, vectors)))

    def _tasks(self, run: Callable[..., Any], function: Any, vectors: Sequence[Array]) -> list[Any]:
        known, tasks, first = dask.delayed(_RowTask(self.read, function), traverse=False), [], 0
        starts = self.X.starts
        for lo, hi, block in zip(starts[:-1], starts[1:], self.X.blocks, strict=True):
            kept = None if self.kept is None else np.flatnonzero(self.kept[lo:hi])
            count = int(hi - lo) if kept is None else kept.size
            if count:
                own = [v[first : first + count] for v in vectors]
                tasks.append(dask.delayed(run)(known, block, kept, own))
                first += count
        return tasks


@dataclass(frozen=True)
class _RowTask:
    """The part of a task that all blocks of a pass have in common."""

    read: ReadNumbers
    function: Callable[..., Any]


def _held(task: _RowTask, block: Any, kept: Any) -> HeldBlocks:
    block = block if kept is None else take(block, kept)
    return HeldBlocks(block, len(block), task.read)


def _summed(task: _RowTask, block: Any, kept: Any, vectors: list[Array]) -> Sums:
    with threads(1):
        return _held(task, block, kept).sums(task.function, *vectors)


def _each(task: _RowTask, block: Any, kept: Any, vectors: list[Array]) -> Array:
    with threads(1):
        return _held(task, block, kept).values(task.function, *vectors)


def _all_added(parts: list[Sums]) -> Sums:
    """Sums of several blocks; those of a block belong to Dask, and are not written over."""
    return [fold_left(add, arrays) for arrays in zip(*parts, strict=True)]


@dataclass(frozen=True)
class _Task:
    """The part of a task that all blocks have in common."""

    features: Features
    sizes: bool
    names: list[str]
    encode: Encode
    read: Callable[[Any], Any]
    n_folds: int


def _groups(lengths: Sequence[int], fewest: int) -> list[list[int]]:
    """Consecutive blocks with enough rows each that adding their sums costs little; none that is empty."""
    groups: list[list[int]] = [[]]
    rows = 0
    for b, n in enumerate(lengths):
        if n == 0:
            continue
        if rows >= fewest:
            groups.append([])
            rows = 0
        groups[-1].append(b)
        rows += n
    return groups


def _run(
    task: _Task,
    X: list[Any],
    y: list[Any],
    weights: list[Any] | None,
    folds: list[Any] | None,
    first: list[int],
) -> list[Statistics]:
    """The sums of some blocks, one for each fold."""
    total: list[Statistics] | None = None
    with threads(1):
        for b, block in enumerate(X):
            Y, cost = task.encode(y[b], first[b])
            w = None if weights is None else np.asarray(weights[b], dtype=np.float64)
            own = None if folds is None else folds[b]
            parts = [_part(task, task.read(block), Y, w, cost, own, f, first[b]) for f in range(task.n_folds)]
            total = parts if total is None else _add([total, parts])
    assert total is not None
    return total


def _part(
    task: _Task, X: Any, Y: Array, w: Array | None, cost: Array | None, own: Any, f: int, first: int
) -> Statistics:
    options: dict[str, Any] = {"sizes": task.sizes, "names": task.names, "first": first}
    if own is None:
        return statistics(task.features, X, Y, w, cost, **options)
    rows = np.flatnonzero(own == f)
    w, cost = (None if a is None else a[rows] for a in (w, cost))
    return statistics(task.features, take(X, rows), Y[rows], w, cost, **options)


def _add(parts: list[list[Statistics]]) -> list[Statistics]:
    """Sums of the same folds, added."""
    return [fold_left(add, of_fold) for of_fold in zip(*parts, strict=True)]


def count_labels(y: Chunks, weights: Chunks | None) -> tuple[NDArray[Any], Array]:
    """The different values of y, and the total weight of each."""
    blocks = [None] * len(y.blocks) if weights is None else weights.blocks
    parts = [dask.delayed(_count)(b, w) for b, w in zip(y.blocks, blocks, strict=True)]
    found = [part for part in compute(parts) if len(part[0])]
    values, totals = np.concatenate([v for v, _ in found]), np.concatenate([t for _, t in found])
    labels, where = np.unique(values, return_inverse=True)
    return labels, np.bincount(where.ravel(), totals).astype(float)


def _count(y: Any, w: Any) -> tuple[NDArray[Any], Array]:
    values, where = np.unique(np.asarray(y), return_inverse=True)
    return values, np.bincount(where.ravel(), None if w is None else w, minlength=len(values)).astype(float)


def sum_rows(X: Any, function: Callable[..., Array], *others: NDArray[Any] | None) -> Array:
    """Σ function(block of X, the same rows of `others`) over all blocks; `others` are in memory, or None."""
    rows, call = read_chunks(X, "X"), dask.delayed(function, traverse=False)
    level = []
    for lo, hi, block in zip(rows.starts[:-1], rows.starts[1:], rows.blocks, strict=True):
        if hi > lo:
            level.append(call(block, *(None if a is None else a[lo:hi] for a in others)))
    return np.asarray(tree(level, sum))


def map_rows(X: Any, function: Callable[[Any], Any], width: int | None, dtype: Any) -> Any:
    """function(block) of every block of rows, as a Dask array: (n,), or (n, width)."""
    inner = () if width is None else (width,)
    meta = np.empty((0, *inner), dtype=dtype)
    if is_frame(X):
        call = dask.delayed(function, traverse=False)
        parts = [da.from_delayed(call(b), (np.nan, *inner), dtype=dtype) for b in X.to_delayed()]
        return da.concatenate(parts, allow_unknown_chunksizes=True)
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    if width is None:
        return X.map_blocks(function, drop_axis=1, meta=meta, dtype=dtype)
    return X.map_blocks(function, chunks=(X.chunks[0], inner), meta=meta, dtype=dtype)

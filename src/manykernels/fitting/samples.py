"""Samples as a fit uses them: X and how it is laid out, targets, weights, and equal rows merged.

`read` looks at what a user gave, once; `Given.samples` makes of it, or of a part of it, what is learned from.
Samples of a Dask collection answer the same questions (`lazy.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from .._pieces import current, fingerprint
from ..approx import Features
from ..grams.row_blocks import HeldBlocks, ReadNumbers, RowBlocks, kept_blocks
from ..grams.statistics import Statistics, bad_row, statistics
from .covariates import Design, Unpenalised
from .layout import Layout, collected, evenly, is_lazy, read_training, take
from .matching import matched, require_order
from .options import Options
from .outside import Picked, is_mapped
from .progress import watched_rows
from .rows import Rows, merge
from .separated import separate
from .targets import Target, check_length, check_weights

Array = NDArray[np.float64]
Index = NDArray[np.intp]
MERGED = 20_000  # samples up to which explicit features merge equal ones, so that a weight is a repetition
_PROBE = 10_000  # samples that kernels of explicit features are made from, where they depend on data


class AnySamples(Protocol):
    """The interface of samples for explicit features, wherever they are."""

    @property
    def n(self) -> int:
        """Return the number of samples."""

    @property
    def layout(self) -> Layout: ...

    @property
    def target(self) -> Target: ...

    @property
    def weight(self) -> Array | None:
        """(n,): how often each counts; None where all count once."""

    def take(self, rows: Index) -> Any:
        """Some rows, in memory."""

    def take_targets(self, rows: Index) -> Array:
        """Their targets (rows, k)."""

    def in_rows(self, read: ReadNumbers) -> tuple[RowBlocks, Array, Array, Array | None]:
        """Those that count, in blocks of rows, with their targets (n, k), costs (n,) and weights (n,)."""

    def statistics(self, features: Features, sizes: bool, names: list[str], verbose: int) -> Statistics:
        """The sums over all of them."""

    def fold_statistics(
        self, features: Features, sizes: bool, names: list[str], verbose: int, fold: Index, n_folds: int
    ) -> list[Statistics]:
        """The sums over each fold."""


@dataclass(frozen=True)
class Samples:
    """The training samples after equal rows were merged; sample i is row `rows.first[i]` of X."""

    X: Any  # as given, validated
    layout: Layout
    target: Target  # that has seen y
    rows: Rows
    weights: Array  # (given,)
    Y: Array  # (n, outputs)
    cost: Array  # (n,): what an error on the sample counts, beside its weight
    free: Unpenalised | None = None  # constant and covariates, where there are covariates

    @property
    def n(self) -> int:
        return int(self.rows.first.size)

    @property
    def stack(self) -> bool:
        return self.layout.kind == "stack"

    @cached_property
    def data(self) -> Any:
        """The merged rows, as kernels read them; a stack as it was given."""
        first = self.rows.first
        everyone = first.size == self.rows.owner.size and np.array_equal(first, np.arange(first.size))
        return self.X if self.stack or everyone else take(self.X, first)

    @cached_property
    def weight(self) -> Array | None:
        return None if np.all(self.rows.weight == 1.0) else self.rows.weight

    @cached_property
    def costs(self) -> Array:
        """(n,): what an error on each sample costs at C = 1."""
        return self.rows.weight * self.cost

    def take(self, rows: Index) -> Any:
        if self.stack:
            return take(self.data, rows)
        found = take(self.X, self.rows.first[rows])
        looked = not is_mapped(self.X) or self.layout.table is not None
        if not looked and not np.all(np.isfinite(found)):
            row = int(rows[np.argmin(np.isfinite(found).all(axis=1))])
            raise ValueError(bad_row("X", row, 0, self.n))
        return found

    def take_targets(self, rows: Index) -> Array:
        return np.asarray(self.unexplained[rows])

    def in_rows(self, read: ReadNumbers) -> tuple[RowBlocks, Array, Array, Array | None]:
        first = self.rows.first
        everyone = first.size == self.rows.owner.size and np.array_equal(first, np.arange(first.size))
        rows = kept_blocks(HeldBlocks(self.X, self.n, read, index=None if everyone else first))
        return rows, self.Y, self.costs, self.weight

    @property
    def unexplained(self) -> Array:
        """(n, outputs): the targets less what least squares on covariates explain, for kernels that learn."""
        Y: Array = self.target.numbers(self.Y, self.rows.weight)
        return Y if self.free is None else Y - self.free.basis @ (self.free.basis.T @ Y)

    def statistics(self, features: Features, sizes: bool, names: list[str], verbose: int) -> Statistics:
        with watched_rows(self.n, verbose) as shown:
            return self._sums(features, None, sizes=sizes, names=names, progress=shown)

    def fold_statistics(
        self, features: Features, sizes: bool, names: list[str], verbose: int, fold: Index, n_folds: int
    ) -> list[Statistics]:
        with watched_rows(self.n, verbose) as shown:
            options: dict[str, Any] = {"sizes": sizes, "names": names, "progress": shown}
            return [self._sums(features, np.flatnonzero(fold == f), **options) for f in range(n_folds)]

    def _sums(self, features: Features, rows: Index | None, **options: Any) -> Statistics:
        cost = None if np.all(self.cost == 1.0) else self.cost
        parts: tuple[Any, ...] = (self.data, self.Y, self.weight, cost)
        if rows is not None:
            some = Picked(self.data, rows) if is_mapped(self.data) else take(self.data, rows)
            parts = (some, *(None if a is None else a[rows] for a in parts[1:]))
        key = None
        if current() is not None:
            key = "sums", options["sizes"], fingerprint((features, rows, *parts[1:]))
        return statistics(features, *parts, **options, key=key)


@dataclass(frozen=True)
class Given:
    """The data of a user, read and checked."""

    X: Any
    layout: Layout
    y: NDArray[Any]
    weight: Array | None
    target: Target
    beside: Any = None  # covariates, as a table
    constant: bool = True  # whether there is an intercept beside them

    @property
    def n(self) -> int:
        return int(_num_samples(self.X))

    def part(self, rows: Index) -> Given:
        """Some of the samples; of a stack, against each other."""
        layout = self.layout
        if layout.kind == "stack":
            layout = replace(layout, n_features_in=len(rows))
        weight = None if self.weight is None else self.weight[rows]
        beside = self.new_beside(rows)
        return replace(
            self, X=self.new(rows, rows), layout=layout, y=self.y[rows], weight=weight, beside=beside
        )

    def new_beside(self, rows: Index) -> Any:
        """The covariates of some samples; None where there are none."""
        return None if self.beside is None else take(self.beside, rows)

    def new(self, rows: Index, train: Index) -> Any:
        """Some of the samples, as new ones to a model of others."""
        return self.X[np.ix_(rows, train)] if self.layout.kind == "stack" else take(self.X, rows)

    def samples(self, few: float = np.inf, in_order: bool = False) -> Samples:
        """Return the samples to learn from, without those of weight zero; equal rows are merged if `few`.

        Merged rows have an order of their own; with `in_order` they keep theirs where none is merged.
        """
        n = self.n
        weight = np.ones(n) if self.weight is None else self.weight
        kept = np.flatnonzero(weight > 0)
        y = self.y if kept.size == n else self.y[kept]  # targets may be many: no copies that nobody needs
        target = self.target.learn(y)
        Y, cost = target.encode(y, weight[kept])
        if not np.all(cost > 0):
            kept, Y, cost = kept[cost > 0], Y[cost > 0], cost[cost > 0]
        known, Z = self._design(kept)
        if kept.size > few or not target.merges:
            rows = _apart(kept, weight)
        else:
            key = Y if Z is None else np.column_stack([Y, Z])  # equal samples may differ in covariates
            rows = merge(self.X, self.layout.kind, key, weight, kept)
            if in_order and rows.first.size == n and np.all(weight == 1.0):
                rows = _apart(kept, weight)
        place = np.full(n, -1)
        place[kept] = np.arange(kept.size)
        first = place[rows.first]
        if not np.array_equal(first, np.arange(len(Y))):
            Y = Y[first]
        Y = np.ascontiguousarray(Y)
        free = None if known is None or Z is None else Unpenalised.learn(known, Z[first], self.constant)
        return Samples(self.X, self.layout, target, rows, weight, Y, cost[first], free)

    def _design(self, kept: Index) -> tuple[Design | None, Array | None]:
        """Return how the covariates of these samples are read, and their values."""
        if self.beside is None:
            return None, None
        own, separated = take(self.beside, kept), self.layout.separated
        columns = () if separated is None or hasattr(own, "columns") else separated.columns
        known = Design.learn(own, [f"x{j}" for j in columns] or None)
        return known, known.values(own)

    def known(self) -> Samples:
        """All rows, for a target that has seen its training data."""
        Y, cost = self.target.encode(self.y, np.ones(self.n))
        everyone = np.arange(self.n)
        weight = np.ones(self.n)
        return Samples(self.X, self.layout, self.target, _apart(everyone, weight), weight, Y, cost)

    def in_place(self) -> Samples:
        """All rows where they are; those of weight zero have targets of zero, which nobody counts."""
        weight = np.ones(self.n) if self.weight is None else self.weight
        kept = np.flatnonzero(weight > 0)
        target = self.target.learn(self.y[kept])
        Y, cost = target.encode(self.y[kept], weight[kept])
        targets, costs = np.zeros((self.n, Y.shape[1])), np.ones(self.n)
        targets[kept], costs[kept] = Y, cost
        rows = replace(_apart(np.arange(self.n), np.ones(self.n)), weight=weight)
        return Samples(self.X, self.layout, target, rows, weight, targets, costs)


def read(
    options: Options,
    X: Any,
    y: Any,
    sample_weight: Any,
    target: Target,
    quiet: bool = False,
    covariates: Any = None,
    in_blocks: bool = False,
) -> Given:
    """Read samples, targets and weights, or raise an error that says what is wrong with them.

    `quiet` says nothing of what was made of the columns of a table. `covariates` are given beside X, where X
    does not hold them (`options.covariates`). `in_blocks` says that rows are read in blocks in any case.
    """
    y, sample_weight = (v.compute() if is_lazy(v) else collected(v) for v in (y, sample_weight))
    if not is_lazy(X):
        X = matched(collected(X), y, quiet)
        require_order(X, y, "y")
        require_order(X, sample_weight, "sample_weight")
    beside, separated = None, None
    if options.covariates is not None or covariates is not None:
        if is_lazy(X):
            raise ValueError(
                "covariates were given with samples in a Dask collection; expected samples in memory. Call "
                "X.compute() first, or leave the covariates out."
            )
        X, beside, separated = separate(
            options.kernels, collected(X), options.covariates, collected(covariates)
        )
    mapped = (options.approx is not None or in_blocks) and is_mapped(X)
    # what is not finite in a mapped file is met, and named, when the block that it is in is read
    some = np.asarray(X[:1]) if mapped else X
    read_X, layout = read_training(options.title, options.kernels, some, quiet, whole=not mapped)
    found = X if mapped else read_X
    y = target.read(y)
    n = _num_samples(found)
    check_length(n, y)
    weight = None if sample_weight is None else check_weights(sample_weight, n)
    layout = layout if separated is None else replace(layout, separated=separated)
    return Given(found, layout, y, weight, target, beside, bool(options.fit_intercept))


def _apart(kept: Index, weight: Array) -> Rows:
    """Rows that stay by themselves."""
    owner = np.full(weight.size, -1, dtype=np.intp)
    owner[kept] = np.arange(kept.size)
    return Rows(kept, owner, weight[kept], np.where(owner >= 0, 1.0, 0.0))


def probe(samples: AnySamples, supervised: bool) -> tuple[Any, Array | None, Array | None]:
    """At most 10,000 samples, evenly taken, their weights and (for kernels that learn from them) targets."""
    rows = evenly(samples.n, _PROBE)
    weight = None if samples.weight is None else samples.weight[rows]
    return samples.take(rows), weight, samples.take_targets(rows) if supervised else None

"""Training samples that are read in blocks of rows, and never held as a whole: sums over them, and values.

A function of a block gets its rows as numbers (m, r) and the same rows of vectors that are in memory. Samples
of a Dask collection answer the same questions (`dask.py`), so functions are picklable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._fast.threads import blas_threads, split
from .._pieces import Store, Thrift, current, fingerprint, kept
from ..kernels.data import numeric, take_rows
from .base import take

Array = NDArray[np.float64]
Sums = list[Array]
Value = TypeVar("Value")
_WORK = 1 << 20  # operations that a block is worth, at least: blocks are handed to threads


@dataclass(frozen=True)
class ReadNumbers:
    """A block of samples as numbers, C-contiguous: some columns, each times its factor.

    `prepare` makes numbers of a block first, where it is a raw table.
    """

    prepare: Callable[[Any], Any] | None = None
    columns: NDArray[np.intp] | None = None
    factors: Array | None = None

    def __call__(self, block: Any) -> Array:
        A = numeric(block if self.prepare is None else self.prepare(block))
        A = A.toarray() if sp.issparse(A) else A
        A = A if self.columns is None else A[:, self.columns]
        return np.ascontiguousarray(A if self.factors is None else A * self.factors, dtype=np.float64)


class RowBlocks(ABC):
    """n samples in blocks of rows, as `read` sees them."""

    n: int
    read: ReadNumbers

    @abstractmethod
    def sums(self, function: Callable[..., Sums], *vectors: Array) -> Sums:
        """Σ function(block, the same rows of vectors) over all blocks: arrays of the same shapes for all."""

    @abstractmethod
    def values(self, function: Callable[..., Array], *vectors: Array) -> Array:
        """function(block, the same rows of vectors) of all blocks, one below the other."""

    @abstractmethod
    def some(self, rows: NDArray[np.intp]) -> HeldBlocks:
        """Some rows, in rising order, in memory."""

    @abstractmethod
    def with_read(self, read: ReadNumbers) -> Self:
        """The same rows, read in another way."""


@dataclass(frozen=True)
class HeldBlocks(RowBlocks):
    """RowBlocks of an array, a sparse matrix, a frame or a mapped file, `step` at a time."""

    X: Any
    n: int
    read: ReadNumbers = ReadNumbers()
    step: int = 512
    index: NDArray[np.intp] | None = None  # which rows of X count, where not all of them do

    def with_read(self, read: ReadNumbers) -> Self:
        return replace(self, read=read)

    def some(self, rows: NDArray[np.intp]) -> HeldBlocks:
        rows = rows if self.index is None else self.index[rows]
        return replace(self, X=take(self.X, rows), n=rows.size, index=None)

    def sums(self, function: Callable[..., Sums], *vectors: Array) -> Sums:
        """Each thread adds up its own blocks, and what they have is added in order."""
        found: dict[int, Sums] = {}

        def run(first: int, last: int) -> None:
            total: Sums | None = None
            for b in range(first, last):
                total = added(total, function(*self._block(b, vectors)))
            if total is not None:
                found[first] = total

        self._each(run)
        total: Sums | None = None
        for first in sorted(found):
            total = added(total, found[first])
        assert total is not None
        return total

    def values(self, function: Callable[..., Array], *vectors: Array) -> Array:
        found: dict[int, Array] = {}

        def run(first: int, last: int) -> None:
            for b in range(first, last):
                found[b] = function(*self._block(b, vectors))

        self._each(run)
        return np.concatenate([found[b] for b in sorted(found)])

    def _each(self, run: Callable[[int, int], None]) -> None:
        blocks = -(-self.n // self.step)
        with blas_threads(1):  # blocks are too small for BLAS's own threads
            split(blocks, float(blocks) * _WORK, run)

    def _block(self, b: int, vectors: Sequence[Array]) -> tuple[Array, ...]:
        lo, hi = b * self.step, min((b + 1) * self.step, self.n)
        block = take_rows(self.X, lo, hi) if self.index is None else take(self.X, self.index[lo:hi])
        return (self.read(block), *(v[lo:hi] for v in vectors))


@dataclass(frozen=True)
class KeptBlocks(RowBlocks):
    """Rows whose passes are kept: each is known by its function and its vectors."""

    rows: RowBlocks
    store: Store
    thrift: Thrift

    @property
    def n(self) -> int:  # type: ignore[override]
        return self.rows.n

    @property
    def read(self) -> ReadNumbers:  # type: ignore[override]
        return self.rows.read

    def sums(self, function: Callable[..., Sums], *vectors: Array) -> Sums:
        return self._pass(self.rows.sums, function, vectors)

    def values(self, function: Callable[..., Array], *vectors: Array) -> Array:
        return self._pass(self.rows.values, function, vectors)

    def some(self, rows: NDArray[np.intp]) -> HeldBlocks:
        return self.rows.some(rows)

    def with_read(self, read: ReadNumbers) -> Self:
        return replace(self, rows=self.rows.with_read(read))

    def _pass(self, run: Callable[..., Value], function: Any, vectors: Sequence[Array]) -> Value:
        key = run.__name__, fingerprint((self.read, function, vectors))
        return kept(self.store, key, run, function, *vectors, thrift=self.thrift)


def kept_blocks(rows: RowBlocks) -> RowBlocks:
    """The same rows, with passes that are kept where somebody asked for it."""
    store = current()
    return rows if store is None else KeptBlocks(rows, store, Thrift())


def added(total: Sums | None, more: Sums) -> Sums:
    """Sums of two sets of blocks, written over the first."""
    if total is None:
        return more
    for a, b in zip(total, more, strict=True):
        a += b
    return total

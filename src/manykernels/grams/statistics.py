"""Sums over the rows of explicit features, whose size does not depend on the number of rows.

For the squared loss and for every alignment, data with features Φ (n, p), targets Y (n, k) and weights enter
only through the products of the columns of [Φ Y 1]. They are sums over rows: those of two blocks add up to
those of both, and the sums of all rows less those of a fold are those of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from .._pieces import current, gone_through
from ..approx import Features
from ..kernels.data import Data, n_samples, numeric, take_rows

Array = NDArray[np.float64]
_BLOCK = 1 << 27  # bytes of the features that are held at a time
_FEWEST, _MOST = 1024, 16384  # rows of a block
_MIRROR = 256  # rows that are mirrored at a time, which stay in cache


@dataclass(frozen=True)
class Statistics:
    """Sums over rows of cost c_i (C_i = C c_i) and of weight w_i, which is what repetition means.

    Costs and weights differ where classes have costs: normalising and centring count samples, not costs.
    """

    G: Array  # (p, p): Σ c φφᵀ
    Z: Array  # (p, k + 1): Σ c φ [y 1]ᵀ
    T: Array  # (k + 1, k + 1): Σ c [y 1][y 1]ᵀ
    sums: Array  # (p,): Σ w φ
    squares: Array  # (p,): Σ w φ²
    total: float  # Σ w
    largest: Array  # (M,): the largest ‖φ_m(x)‖²; NaN where nobody asked, or sums were subtracted
    n: int  # rows

    @property
    def outputs(self) -> int:
        return int(self.T.shape[0] - 1)

    def __add__(self, other: Statistics) -> Statistics:
        return self._with(other, np.add, np.maximum)

    def __sub__(self, other: Statistics) -> Statistics:
        return self._with(other, np.subtract, lambda a, b: np.full_like(a, np.nan))

    def _with(self, other: Statistics, operation: Any, largest: Any) -> Statistics:
        if self.G.shape != other.G.shape or self.T.shape != other.T.shape:
            raise ValueError(
                f"statistics of {self.G.shape[0]} features and {self.outputs} outputs were given with those "
                f"of {other.G.shape[0]} features and {other.outputs}; they add up only for the same ones."
            )
        names = ("G", "Z", "T", "sums", "squares", "total", "n")
        both: dict[str, Any] = {name: operation(getattr(self, name), getattr(other, name)) for name in names}
        return Statistics(**both, largest=largest(self.largest, other.largest))


def statistics(
    features: Features,
    X: Data,
    Y: Array,
    weight: Array | None = None,
    cost: Array | None = None,
    *,
    sizes: bool = False,
    first: int = 0,
    names: Sequence[str] | None = None,
    progress: Callable[[int], object] | None = None,
    key: tuple[Any, ...] | None = None,
) -> Statistics:
    """The sums over all rows of X, block by block: one SYRK, in place, and little else.

    ``sizes`` asks for ``largest`` too, ``first`` is what row 0 of X is called in messages, ``names`` what
    kernels are, and ``progress`` is told how many rows were added. By its ``key`` a pass is kept.
    """
    p, k, n = features.n_features, Y.shape[1], n_samples(X)
    buffer = np.empty((min(block_rows(p), max(n, 1)), p))
    blocks = _Blocks(features, X, Y, weight, cost, sizes, first, names, list(spans(n, p)), buffer)

    def add(b: int, so_far: list[Array]) -> list[Array]:
        found = blocks.added(b, so_far)
        if progress is not None:
            progress(blocks.spans[b][1] - blocks.spans[b][0])
        return found

    begin = [np.zeros((p, p), order="F"), np.zeros((p, k + 1)), np.zeros((k + 1, k + 1))]
    begin += [np.zeros(p), np.zeros(p), np.zeros(features.n_kernels)]
    store = None if key is None else current()
    G, Z, T, sums, squares, largest = gone_through(store, key or (), len(blocks.spans), begin, add)
    G = mirrored(G.T)
    total = float(n if weight is None else weight.sum())
    if cost is None:
        sums, squares = Z[:, -1].copy(), np.diag(G).copy()
    return Statistics(G, Z, T, sums, squares, total, largest if sizes else largest * np.nan, n)


@dataclass(frozen=True)
class _Blocks:
    """Blocks of rows, and what each adds to the sums."""

    features: Features
    X: Data
    Y: Array
    weight: Array | None
    cost: Array | None
    sizes: bool
    first: int
    names: Sequence[str] | None
    spans: list[tuple[int, int]]
    buffer: Array

    def added(self, b: int, so_far: list[Array]) -> list[Array]:
        """G (its lower triangle), Z, T, sums, squares and largest with block b, some in place."""
        G, Z, T, sums, squares, largest = so_far
        (lo, hi), weight, cost = self.spans[b], self.weight, self.cost
        part = take_rows(self.X, lo, hi)
        Phi = self.features.transform(part, out=self.buffer[: hi - lo])
        target, w, c = np.column_stack([self.Y[lo:hi], np.ones(hi - lo)]), None, None
        if weight is not None or cost is not None:
            w = np.ones(hi - lo) if weight is None else weight[lo:hi]
            c = w if cost is None else w * cost[lo:hi]
        Z += Phi.T @ (target if c is None else target * c[:, None])
        if not np.all(np.isfinite(Z[:, -1])):
            raise ValueError(_not_finite(part, Phi, self.features, self.first + lo, self.names))
        T += target.T @ (target if c is None else target * c[:, None])
        if cost is not None:
            sums, squares = sums + w @ Phi, squares + w @ (Phi * Phi)
        if self.sizes:
            largest = np.maximum(largest, _sizes(Phi, self.features.ptr, w))
        if c is not None:
            Phi *= np.sqrt(c)[:, None]
        G = blas.dsyrk(1.0, Phi.T, beta=1.0, c=G, trans=0, lower=1, overwrite_c=1)
        return [G, Z, T, sums, squares, largest]


def _not_finite(X: Data, Phi: Array, features: Features, first: int, names: Sequence[str] | None) -> str:
    """Find the row to blame, and whether the data are or a kernel is."""
    row = int(np.argmin(np.isfinite(Phi).all(axis=1)))
    kernel = int(np.searchsorted(features.ptr, int(np.argmin(np.isfinite(Phi[row]))), side="right")) - 1
    try:
        data = not np.all(np.isfinite(numeric(take_rows(X, row, row + 1))))
    except (ValueError, TypeError):
        data = False
    if data:
        return bad_row("X", first + row, first, first + n_samples(X))
    name = str(kernel) if names is None else repr(names[kernel])
    return (
        f"kernel {name} is not finite in row {first + row}: it overflows, or returns NaN. Scale the features "
        "(StandardScaler), or change its parameters."
    )


def bad_row(name: str, row: int, lo: int, hi: int) -> str:
    """Write the message for a row, in the block of rows lo to hi, that holds something else than numbers."""
    return (
        f"Input {name} contains NaN or infinity in row {row} (of the block of rows {lo} to {hi - 1}). Impute "
        "it, or leave such rows out."
    )


def _sizes(Phi: Array, ptr: NDArray[np.intp], w: Array | None) -> Array:
    """(M,): the largest ‖φ_m(x)‖² among rows of positive weight."""
    kept = Phi if w is None or np.all(w > 0) else Phi[w > 0]
    if not len(kept):
        return np.zeros(ptr.size - 1)
    return np.array([np.einsum("ij,ij->i", part, part).max() for part in np.split(kept, ptr[1:-1], axis=1)])


def block_rows(p: int) -> int:
    """Return how many rows to take at a time: enough for a SYRK at full speed."""
    return int(np.clip(_BLOCK // (8 * max(p, 1)), _FEWEST, _MOST))


def spans(n: int, p: int) -> Iterator[tuple[int, int]]:
    """(lo, hi) of blocks of rows of p features each."""
    step = block_rows(p)
    return ((lo, min(lo + step, n)) for lo in range(0, n, step))


def mirrored(A: Array) -> Array:
    """A symmetric matrix from its upper triangle (C order), in place."""
    n = A.shape[0]
    for lo in range(0, n, _MIRROR):
        hi = min(lo + _MIRROR, n)
        A[hi:, lo:hi] = A[lo:hi, hi:].T
        square = A[lo:hi, lo:hi]
        below = np.tril_indices(hi - lo, -1)
        square[below] = square.T[below]
    return A

"""From a family of products and samples in blocks of rows to its oracle: one pass looks at every column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._fast.threads import thread_count
from ..families import Products
from ..grams import parse_memory
from ..grams.memory import counted, require_memory
from ..grams.row_blocks import RowBlocks
from ..grams.statistics import bad_row
from ..kernels import Fitted
from ..kernels.data import Data, positions
from ._bind import _CONSTANT, _exponent, _require_range, _require_sizes, _varying
from ._groups import Groups
from ._row_parts import _ROOM, RowParts
from .base import Array
from .row_products import RowProducts

VECTORS = 20  # of n numbers, an output: targets, costs, decisions, dual points
_BEGIN = 1 << 16  # rows that a fit begins on
_LEAST = 1 << 16  # bytes for scores of products, an output


def bind_rows(
    family: Products,
    source: RowBlocks,
    head: Data,
    *,
    normalize: str | None,
    sample_weight: Array | None,
    feature_names: Any,
    memory_limit: int | float | str | None,
    outputs: int = 1,
    groups: Groups | None = None,
    norm: Any = 1.0,
) -> RowProducts:
    """The products of columns on samples read in blocks; `head` are some, as the family reads them."""
    D, rho = family.options()
    kernels, columns = family.base_kernels(head, sample_weight, feature_names)
    assert columns is not None  # `from_rows` of the family says so
    if normalize == "cosine":
        raise ValueError(
            "normalize='cosine' was given with Products and samples that are read in blocks of rows; it "
            "would keep only the signs of columns. Take normalize='trace', 'max', 'frobenius' or None."
        )
    names, places = list(kernels), np.array([positions(head, c) for c in columns], dtype=np.intp)
    room = _room(source.n, len(names), outputs, memory_limit)
    w = np.ones(source.n) if sample_weight is None else sample_weight
    whole = source.with_read(replace(source.read, columns=places))
    squares, low, high = columns_of(whole, w)
    largest = np.square(np.maximum(np.abs(low), np.abs(high)))
    constant = high - low <= _CONSTANT * np.sqrt(largest)
    kept = _varying(names, constant, "" if family.scale else "Column")
    scale = _scales(normalize, squares[kept], largest[kept], float(w.sum()))
    prior = family.base_prior(names)[kept] ** -2.0
    own = [names[j] for j in kept]
    _require_range(largest[kept] * scale * prior, "Column", own, D, source.n)
    read = replace(source.read, columns=places[kept], factors=np.sqrt(scale * prior))
    scaled = source.with_read(read)
    if D > 1 and not family.interactions_only and family.atom_scale is None:
        _require_sizes(RowParts(scaled, len(kept)), own, D, rho)
    groups = None if groups is None or np.all(groups[kept] < 0) else groups[kept]
    return RowProducts(
        scaled,
        len(kept),
        [_fitted(kernels[names[j]], s, normalize, names[j]) for j, s in zip(kept, scale, strict=True)],
        own,
        D,
        rho,
        columns=[columns[j] for j in kept],
        exponent=_exponent(norm) if family.multiplicity == "paper" else 0.0,
        weight=w / w.sum() if family.atom_scale == "rms" else None,
        interactions_only=bool(family.interactions_only),
        room=room,
        groups=groups,
        base_prior=prior,
        own=family.prior(own),
        outputs=outputs,
    )


def _fitted(kernel: Any, scale: float, normalize: Any, name: str) -> Fitted:
    found = Fitted.from_constants(kernel, float(scale), normalize=normalize)
    found.name = name
    return found


def _room(n: int, r: int, outputs: int, memory_limit: int | float | str | None) -> float:
    """Bytes that are left for scores of products, or an error where they do not do for a block of rows."""
    limit = parse_memory(memory_limit)
    blocks = 2.0 * thread_count() * _ROOM
    rows = 8.0 * r * min(n, _BEGIN)
    fixed = counted(blocks + rows + 8.0 * VECTORS * outputs * n)
    who = f"Products of {r} columns of {n} samples, read in blocks of rows, need"
    advice = "Raise memory_limit, or select fewer columns (SelectKBest)."
    what = "vectors of all samples, blocks of rows and some of the samples"
    require_memory(fixed + _LEAST * outputs, limit, who, what, advice)
    return float(limit - fixed)


def columns_of(
    source: RowBlocks, w: Array, looked: Callable[..., Array] | None = None
) -> tuple[Array, Array, Array]:
    """(r,) each: Σ w x², the least and the largest value of every column; all must be finite."""
    found = source.values(look if looked is None else looked, w, np.arange(source.n, dtype=np.float64))
    bad = found[:, 3, 0]
    if np.any(bad >= 0.0):
        row = int(bad[bad >= 0.0].min())
        raise ValueError(bad_row("X", row, row, row + 1))
    return found[:, 0].sum(axis=0), found[:, 1].min(axis=0), found[:, 2].max(axis=0)


def look(X: Array, w: Array, place: Array) -> Array:
    """Summarise the columns of a block (1, 4, r); last, the place of the first row that is not finite."""
    fine = np.isfinite(X).all(axis=1)
    first = -1.0 if fine.all() else float(place[np.argmin(fine)])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.stack([w @ X**2, X.min(axis=0), X.max(axis=0), np.full(X.shape[1], first)])[None]


def _scales(normalize: str | None, squares: Array, largest: Array, total: float) -> Array:
    """The factor of each kernel x_j x_jᵀ (`kernels/fitted.py`)."""
    if normalize == "trace":
        return total / squares
    if normalize == "max":
        return 1.0 / largest
    return 1.0 / squares if normalize == "frobenius" else np.ones(squares.size)

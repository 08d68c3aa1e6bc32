"""From a continuum of kernels and samples in blocks of rows to its oracle, in random features."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._fast.threads import thread_count
from ..approx import RandomFeatures
from ..approx.random_features import frequencies
from ..families import ARDGaussians, Dirichlets, Parametric
from ..families.base import names_of, numbers
from ..grams import parse_memory
from ..grams.memory import counted, require_memory
from ..grams.row_blocks import RowBlocks
from ..kernels.data import Data
from ..kernels.stationary import Lattice
from ._bind_continuous import _require_kernel, _without_constant
from ._quasi_newton import Coordinates
from ._scales import Scale
from .base import Array
from .bind_rows import VECTORS, columns_of, look
from .row_waves import Frequencies, RowWaves

_LEAST = 2  # kernels that must fit into memory together
_MATRICES = 5  # of features × features beside those of threads: moments, and what a step makes of them
_BINNED = 1 << 24  # bytes of sums in bins
_SAME = 1e-9  # relative, of rates


def bind_waves(
    family: Parametric,
    source: RowBlocks,
    some: Data,
    *,
    approx: RandomFeatures,
    rng: np.random.RandomState,
    normalize: str | None,
    some_weight: Array | None,
    feature_names: Any,
    memory_limit: int | float | str | None,
    outputs: int = 1,
) -> RowWaves:
    """The kernels of a continuum on samples read in blocks; `some` tell ranges that are not given."""
    names = names_of(some, feature_names)
    some = numbers(some, feature_names)
    box = family.box(some, some_weight, names)
    if isinstance(family, ARDGaussians):
        box = _without_constant(some, *box, names), box[1]
    middle = Coordinates(*box).middle()
    _require_kernel(family, middle)
    d = int(some.shape[1])
    waves = _frequencies(family, box, d, approx, rng)
    most = _most(family, source.n, 2 * waves.omega.shape[1], outputs, memory_limit)
    scale = Scale(family, some[:1], normalize, None, True, middle)(middle)
    ones = np.ones(source.n)
    _, low, high = columns_of(source, ones)
    _, *ends = columns_of(source, ones, Projected(waves.omega))
    largest = np.maximum(np.abs(low), np.abs(high))
    return RowWaves(family, source, waves, box, scale, (ends[0], ends[1]), largest, most)


@dataclass(frozen=True)
class Projected:
    """Summary of a block's projections on frequencies."""

    omega: Array

    def __call__(self, X: Array, w: Array, place: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return look(X @ self.omega, w, place)


def _frequencies(
    family: Parametric, box: tuple[Array, Array], d: int, approx: RandomFeatures, rng: np.random.RandomState
) -> Frequencies:
    """Return the frequencies of κ_σ = Σ_j g_j cos(σω_jᵀ(x − x')), or with 1/σ: drawn, or all if few."""
    D, orthogonal = approx.pairs(), bool(approx.orthogonal)
    if isinstance(family, Dirichlets):
        K = family.order()
        total = (2.0 * K + 1.0) ** d
        if 0.5 * (total + 1.0) <= D:  # 1 + 2 Σ cos(wᵀ(x − x')) over the waves w, of which −w is not one
            all_waves = itertools.product(range(-K, K + 1), repeat=d)
            omega = np.array([w for w in all_waves if w >= (0,) * d], dtype=np.float64).T
            heights = np.where(omega.any(axis=0), np.sqrt(2.0), 1.0)
            return Frequencies(np.ascontiguousarray(omega), 1.0, heights, inverse=False)
        omega = frequencies(Lattice(K), d, D, orthogonal, rng)
        return Frequencies(omega, float(np.sqrt(total / D)), None, inverse=False)
    known = [family.kernel(*map(float, sigma)).spectral() for sigma in (*box, Coordinates(*box).middle())]
    first = known[0]
    if first is None or family.has_prior or any(k is None or k.law != first.law for k in known):
        raise ValueError(_refused(family))
    omega = frequencies(first.law, d, D, orthogonal, rng)
    if first.widths is not None and box[0].size == d:
        return Frequencies(omega * first.scale, float(np.sqrt(1.0 / D)), None, inverse=True)
    rates = np.array([k.scale for k in known if k is not None])
    sigma = np.array([box[0], box[1], Coordinates(*box).middle()])
    if sigma.shape[1] == 1 and all(k is not None and k.widths is None for k in known):
        for inverse, unit in ((True, rates * sigma[:, 0]), (False, rates / sigma[:, 0])):
            if np.ptp(unit) <= _SAME * abs(unit[0]):
                return Frequencies(omega * unit[0], float(np.sqrt(1.0 / D)), None, inverse)
    raise ValueError(_refused(family))


def _refused(family: Parametric) -> str:
    name = type(family).__name__
    return (
        f"{name} was given with approx=RandomFeatures(...), which learns from blocks of rows; expected "
        "kernels of one spectral law whose width, or frequency, is the only parameter, without a prior: "
        "Gaussians, Laplacians, Dirichlets, ARDGaussians, or a family of Matern kernels. Give approx=None "
        "and fewer samples, or a list of kernels with approx=Nystroem(...)."
    )


def _most(
    family: Parametric, n: int, width: int, outputs: int, memory_limit: int | float | str | None
) -> float:
    """Return how many kernels may take part at once, or an error where not even two may."""
    limit, threads = parse_memory(memory_limit), thread_count()
    fixed = counted(8.0 * VECTORS * outputs * n + (2.0 * threads + 1.0) * _BINNED)
    matrices = 2.0 * threads + _MATRICES
    least = counted(8.0 * matrices * (_LEAST * width) ** 2)
    who = f"{type(family).__name__} in {width} features on {n} samples, read in blocks of rows, need"
    advice = "Raise memory_limit, or give RandomFeatures fewer n_components."
    require_memory(fixed + least, limit, who, "vectors of all samples, and sums of features", advice)
    return float(np.floor(np.sqrt((limit - fixed) / (8.0 * matrices)) / width))

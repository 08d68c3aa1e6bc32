"""The choice of a search for a family of one parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..families import Dirichlets, Parametric
from ..kernels.data import Data, dense_pair, numeric
from ._frequencies import FrequencySearch
from ._lines import LinePoint, LineSearch, Peaks
from ._quasi_newton import Coordinates
from ._scales import Scale
from ._widths import WidthSearch
from .base import Array

_FREQUENCIES = (64, 2000)


class ParameterSearch(Protocol):
    """The largest local maxima of ⟨S, K_σ⟩ over one parameter."""

    def best(self, S: LinePoint, k: int) -> Peaks: ...


class Certified:
    """A search that bounds all kernels where that is affordable, each multiplied by `scale`."""

    def __init__(self, search: WidthSearch | FrequencySearch, scale: float = 1.0) -> None:
        self.search, self.scale = search, scale

    def best(self, S: LinePoint, k: int) -> Peaks:
        given = S.matrix if S.factor is None else S.factor
        found = self.search.best(given, k, factor=S.factor is not None)
        return Peaks(found.parameters[:, None], self.scale * found.values, self.scale * found.upper)


def width_search(D: Array, low: float, high: float, rate: str) -> ParameterSearch:
    """The search over exp(−D/σ²) ("inverse-square") or exp(−D/σ) ("inverse")."""
    return Certified(WidthSearch(D, low, high, rate))


def line_search(
    family: Parametric, X: Data, coordinates: Coordinates, scale: Scale, distances: Callable[[], Array]
) -> ParameterSearch:
    """The search over the only parameter of a family; `distances` are what its kernels share, if they do."""
    low, high = float(coordinates.low[0]), float(coordinates.high[0])
    if family.rate is not None and scale.constant:
        return width_search(distances(), low, high, family.rate)
    if type(family) is Dirichlets and scale.constant:
        search = FrequencySearch(dense_pair(X, None, "Dirichlets")[0], low, high, family.order())
        return Certified(search, scale((low,)))

    def value(sigma: float, S: LinePoint) -> float:
        return scale((sigma,)) * S.inner(family.kernel(sigma)(X))

    grid = _frequencies(family, X, low, high) if isinstance(family, Dirichlets) else None
    return LineSearch(value, low, high, lipschitz=_lipschitz(family, X), grid=grid)


def _frequencies(family: Dirichlets, X: Data, low: float, high: float) -> Array:
    """Frequencies so close that between two of them no cosine turns by more than a quarter of a period."""
    turns = family.order() * float(np.ptp(numeric(X), axis=0).max()) * (high - low) / (2.0 * np.pi)
    return np.linspace(low, high, int(np.clip(4.0 * turns, *_FREQUENCIES)) + 1)


def _lipschitz(family: Parametric, X: Data) -> Array | float | None:
    given = family.lipschitz
    if given is None:
        return None
    L = np.asarray(given(X) if callable(given) else given, dtype=float)
    if not np.all((L >= 0.0) & np.isfinite(L)):
        raise ValueError(
            f"lipschitz of {type(family).__name__} is {L}; expected non-negative finite numbers: a bound on "
            "the derivative of the kernel by its parameter."
        )
    return L if L.ndim else float(L)

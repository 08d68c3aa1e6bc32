"""Which search suits a family of one parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from .._fast import elementwise
from ..families import Parametric
from ..kernels._data import Data
from ._base import Array
from ._lines import LineSearch, Peaks, Point
from ._quasi_newton import Coordinates
from ._scales import Scale


class Search(Protocol):
    """The largest local maxima of ⟨S, K_σ⟩ over one parameter."""

    def best(self, S: Point, k: int) -> Peaks: ...


def width_search(D: Array, low: float, high: float, rate: str) -> Search:
    """The search over exp(−D/σ²) ("inverse-square") or exp(−D/σ) ("inverse")."""
    power = 2 if rate == "inverse-square" else 1
    buffer = np.empty_like(D)

    def value(sigma: float, S: Point) -> float:
        elementwise.exp(D, -(sigma**-power), buffer)
        return S.inner(buffer)

    return LineSearch(value, low, high)


def line_search(
    family: Parametric, X: Data, coordinates: Coordinates, scale: Scale, distances: Callable[[], Array]
) -> Search:
    """The search over the only parameter of a family; `distances` are what its kernels share, if they do."""
    low, high = float(coordinates.low[0]), float(coordinates.high[0])
    if family.rate is not None and scale.constant:
        return width_search(distances(), low, high, family.rate)

    def value(sigma: float, S: Point) -> float:
        return scale((sigma,)) * S.inner(family.kernel(sigma)(X))

    return LineSearch(value, low, high, lipschitz=_lipschitz(family, X))


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

"""Grids of one parameter: Gaussian widths, multiples of given distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arguments import is_number, is_whole, shown
from ..kernels import FromDistance, Gaussian, Kernel
from ..kernels.data import Data, is_stack
from .base import Family, unique

_MOST = 10**6  # kernels of one grid


def gaussian_grid(low: float, high: float, n: int) -> list[Gaussian]:
    """n Gaussian kernels with widths from ``low`` to ``high``, evenly spaced in the logarithm."""
    if not is_number(low) or not is_number(high) or not (0 < low <= high < np.inf):
        raise ValueError(f"low={shown(low)} and high={shown(high)} were given; expected 0 < low <= high.")
    if not is_whole(n) or not 1 <= n <= _MOST:
        raise ValueError(f"n={shown(n)} was given; expected a whole number from 1 to {_MOST}.")
    return [Gaussian(float(width)) for width in np.geomspace(float(low), float(high), int(n))]


def from_distances(gammas: Sequence[float], n_layers: int | None = None) -> FromDistances:
    """exp(−γ D_l) for every layer l of a stack of distances and every γ (002 §5.4).

    X is then the stack, of shape (n_samples, n_train, n_layers); ``n_layers``, if given, must agree with it.
    """
    return FromDistances(gammas, n_layers)


class FromDistances(Family):
    """See :func:`from_distances`."""

    def __init__(self, gammas: Sequence[float], n_layers: int | None = None) -> None:
        self.gammas = gammas
        self.n_layers = n_layers

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        if not is_stack(X) or (self.n_layers is not None and X.shape[2] != self.n_layers):
            expected = "n_layers" if self.n_layers is None else self.n_layers
            raise ValueError(
                f"from_distances expects a stack of distances of shape (n_samples, n_train, {expected}), "
                f"got X of shape {tuple(getattr(X, 'shape', ()))}."
            )
        gammas = [float(gamma) for gamma in self.gammas]
        if not gammas:
            raise ValueError("from_distances was given no gammas; expected at least one positive number.")
        pairs = [(layer, gamma) for layer in range(X.shape[2]) for gamma in gammas]
        layers = feature_names or [f"distance {layer}" for layer in range(X.shape[2])]
        names = unique(f"{layers[layer]}: γ={gamma:.6g}" for layer, gamma in pairs)
        return {name: FromDistance(gamma, layer) for name, (layer, gamma) in zip(names, pairs, strict=True)}

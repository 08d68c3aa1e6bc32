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
    """Make Gaussian kernels whose widths are evenly spaced in the logarithm.

    Parameters
    ----------
    low : float
        Smallest width, positive.
    high : float
        Largest width.
    n : int
        Number of kernels, at least 1.

    Returns
    -------
    list of Gaussian
        The kernels, from narrow to wide.

    See Also
    --------
    Gaussians : All widths of an interval, without a grid.

    Examples
    --------
    >>> from manykernels.families import gaussian_grid
    >>> gaussian_grid(0.1, 10.0, 3)
    [Gaussian(width=0.1), Gaussian(width=1.0), Gaussian(width=10.0)]
    """
    if not is_number(low) or not is_number(high) or not (0 < low <= high < np.inf):
        raise ValueError(f"low={shown(low)} and high={shown(high)} were given; expected 0 < low <= high.")
    if not is_whole(n) or not 1 <= n <= _MOST:
        raise ValueError(f"n={shown(n)} was given; expected a whole number from 1 to {_MOST}.")
    return [Gaussian(float(width)) for width in np.geomspace(float(low), float(high), int(n))]


def from_distances(gammas: Sequence[float], n_layers: int | None = None) -> FromDistances:
    """Make kernels exp(−γ D_l) for every layer l of a stack of distances and every γ.

    X is then the stack, of shape (n_samples, n_train, n_layers).

    Parameters
    ----------
    gammas : sequence of float
        The rates γ, positive. A larger one learns more local functions.
    n_layers : int or None, default=None
        Number of layers. If it is given, X must agree with it.

    Returns
    -------
    FromDistances
        The family.

    References
    ----------
    Orabona & Jie (2011), "Ultra-Fast Optimization Algorithm for Sparse Multi Kernel Learning", ICML, §5.4.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import from_distances
    >>> stack = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))[:, :, None]
    >>> len(from_distances([0.5, 1.0]).resolve(stack))
    2
    """
    return FromDistances(gammas, n_layers)


class FromDistances(Family):
    """Kernels exp(−γ D_l) of a stack of distances; see `from_distances`.

    Parameters
    ----------
    gammas : sequence of float
        The rates γ, positive.
    n_layers : int or None, default=None
        Number of layers. If it is given, X must agree with it.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import FromDistances
    >>> len(FromDistances([0.5, 1.0]).resolve(np.zeros((5, 5, 3))))
    6
    """

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

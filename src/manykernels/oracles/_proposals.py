"""Draws of parameters around the best ones, from truncated normal distributions, one after the other.

See Afkanpour (2013), §4.2.2.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from .._fast import elementwise
from ..kernels.data import Data, numeric, take_columns
from ..kernels.stationary import squared_distances
from ._lines import LinePoint
from ._searches import width_search
from .base import Array

_NARROW = 1e-3  # of the range: the smallest standard deviation, for parameters close to zero


def draw_normal(
    mean: Array, low: Array, high: Array, rng: np.random.RandomState, spread: float = 1.0
) -> tuple[Array, Array]:
    """One σ ~ N(mean, (spread·mean)²) cut to [low, high] for each row of `mean`, and its density.

        s(σ) = φ((σ − μ)/d)/d / (Φ((high − μ)/d) − Φ((low − μ)/d)),      d = spread·|μ|

    Parameters with low = high are not drawn, and no part of the density.
    """
    d = spread * np.maximum(np.abs(mean), _NARROW * (high - low))
    varying = np.broadcast_to(high > low, mean.shape)
    d = np.where(varying, d, 1.0)
    left, right = ndtr((low - mean) / d), ndtr((high - mean) / d)
    z = ndtri(left + rng.uniform(size=mean.shape) * (right - left))
    sigma = np.clip(mean + d * z, low, high)
    mass = np.where(varying, right - left, 1.0)
    density = np.exp(-0.5 * ((sigma - mean) / d) ** 2) / (np.sqrt(2.0 * np.pi) * d * mass)
    return sigma, np.prod(np.where(varying, density, 1.0), axis=1)


def draw_by_feature(
    X: Data,
    S: LinePoint,
    low: Array,
    high: Array,
    size: int,
    rng: np.random.RandomState,
    spread: float = 1.0,
) -> tuple[Array, Array]:
    """Afkanpour 2013, Alg. 4: widths drawn one feature after the other, M ← M∘K_σi in between.

    The density of a draw is the product over its features. All draws share the first search.
    """
    n, d = numeric(X).shape
    sigma, density = np.empty((size, d)), np.ones(size)
    M = np.broadcast_to(S.matrix, (size, n, n)) if d == 1 else np.repeat(S.matrix[None], size, axis=0)
    for i in range(d):
        if not high[i] > low[i]:
            sigma[:, i] = high[i]
            continue
        D = squared_distances(take_columns(numeric(X), [i]))
        search = width_search(D, float(low[i]), float(high[i]), "inverse-square")
        shared = [LinePoint(matrix=M[0])] if i == 0 else [LinePoint(matrix=m) for m in M]
        best = [search.best(point, 1).parameters[0, 0] for point in shared]
        mean = np.broadcast_to(np.array(best)[:, None], (size, 1))
        drawn, part = draw_normal(mean, low[i : i + 1], high[i : i + 1], rng, spread)
        sigma[:, i], density = drawn[:, 0], density * part
        if i < d - 1:
            for m, width in zip(M, drawn[:, 0], strict=True):
                K = np.empty_like(D)
                elementwise.exp(D, -1.0 / width**2, K)
                m *= K
    return sigma, density

"""Many targets with known mixtures of feature spaces, as encoding models of brains have them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state

from ._checks import Array, Random, count, size


def make_voxels(
    n_samples: int = 600,
    n_targets: int = 200,
    *,
    widths: Sequence[int] = (20, 60, 120),
    single: float = 0.3,
    ceiling: tuple[float, float] = (0.1, 0.8),
    decay: float = 1.0,
    response: Sequence[float] = (1.0,),
    n_runs: int = 1,
    random_state: Random = None,
) -> tuple[Array, Array, Array]:
    """Make targets that are sums of linear functions of several feature spaces, and noise.

        y_k = √r_k Σ_m √s_km z_mk + √(1 − r_k) N(0, 1),      z_mk(t) ∝ Σ_d response_d X_m(t − d) b_mk

    Feature spaces X_m of the given `widths` stand one after another in X. Their columns are independent and
    normal, with variances 1, 2^−decay, 3^−decay and so on; b_mk is normal, and z_mk has variance 1. The share
    s_km of space m in target k is 1 for one space in `single` of the targets, and drawn from all mixtures
    for the others. r_k, uniform within `ceiling`, is the R² of the perfect model. Delays do not reach over
    the borders of the `n_runs` runs of equal length.

    Parameters
    ----------
    n_samples : int, default=600
        Number of samples.
    n_targets : int, default=200
        Number of targets.
    widths : sequence of int, default=(20, 60, 120)
        Number of columns of each feature space.
    single : float, default=0.3
        Share of the targets that depend on one space alone.
    ceiling : tuple of (float, float), default=(0.1, 0.8)
        Smallest and largest R² of the perfect model.
    decay : float, default=1.0
        How fast the variances of the columns of a space fall; 0 makes them alike.
    response : sequence of float, default=(1.0,)
        Weights of the delays 0, 1, 2, … in the response.
    n_runs : int, default=1
        Number of runs of equal length.
    random_state : int, RandomState or None, default=None
        Seed or source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, Σ widths)
        Features.
    Y : ndarray of shape (n_samples, n_targets)
        Targets.
    parts : ndarray of shape (n_spaces, n_targets)
        The parts r_k s_km of R² of each space for the perfect model.

    Examples
    --------
    >>> from manykernels.datasets import make_voxels
    >>> X, Y, parts = make_voxels(50, 4, widths=(3, 5), ceiling=(0.5, 0.5), random_state=0)
    >>> X.shape, Y.shape, parts.sum(axis=0).round(6).tolist()
    ((50, 8), (50, 4), [0.5, 0.5, 0.5, 0.5])
    """
    n, k = count("n_samples", n_samples), count("n_targets", n_targets)
    widths = [count("widths", width) for width in widths]
    shape = np.array([float(weight) for weight in response])
    low, high = (size("ceiling", end) for end in ceiling)
    runs = count("n_runs", n_runs)
    if n % runs:
        raise ValueError(f"n_samples={n} was given with n_runs={runs}; expected runs of the same length.")
    if not low <= high <= 1.0 or not 0.0 <= single <= 1.0:
        raise ValueError(
            f"ceiling={ceiling!r} and single={single!r} were given; expected shares between 0 and 1, the "
            "smaller end of the ceiling first."
        )
    if not shape.size or not np.isfinite(shape).all() or not shape.any():
        raise ValueError(f"response={response!r} was given; expected weights of the delays 0, 1, 2, ...")
    rng = check_random_state(random_state)
    M, X = len(widths), np.empty((n, sum(widths)))
    shares = rng.dirichlet(np.ones(M), k).T
    pure = rng.rand(k) < single
    shares[:, pure] = np.eye(M)[:, rng.randint(M, size=k)[pure]]
    reached, Y = rng.uniform(low, high, k), np.zeros((n, k))
    for m, end in enumerate(np.cumsum(widths)):
        scale = np.arange(1, widths[m] + 1) ** (-0.5 * decay)
        X[:, end - widths[m] : end] = Z = rng.randn(n, widths[m]) * scale
        b = rng.randn(widths[m], k)
        b *= np.sqrt(shares[m]) / (np.linalg.norm(scale[:, None] * b, axis=0) * np.linalg.norm(shape))
        Y += _delayed(Z, shape, runs) @ b
    Y *= np.sqrt(reached)
    Y += np.sqrt(1.0 - reached) * rng.randn(n, k)
    return X, Y, shares * reached


def _delayed(Z: Array, response: Array, runs: int) -> Array:
    """Σ_d response_d Z(t − d), with nothing before the beginning of a run."""
    parts = Z.reshape(runs, len(Z) // runs, -1)
    found = np.zeros_like(parts)
    for d, weight in enumerate(response[: parts.shape[1]]):
        found[:, d:] += weight * parts[:, : parts.shape[1] - d]
    return found.reshape(Z.shape)

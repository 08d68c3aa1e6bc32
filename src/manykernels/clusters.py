"""Kernel k-means: clusters in the feature space of a kernel, hard or soft, from its matrix alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

Array = NDArray[np.float64]
STARTS = 10
"""Runs of Lloyd's algorithm, from different centres, of which the best is taken."""
_ROUNDS, _SETTLED = 100, 1e-9


def kernel_kmeans(
    K: Array, n_clusters: int, rng: np.random.RandomState, weight: Array | None = None
) -> tuple[NDArray[np.intp], float]:
    """Labels and Σ_i w_i ‖φ(x_i) − μ‖² of the best of several runs of Lloyd's algorithm in feature space."""
    w = np.ones(len(K)) if weight is None else weight
    best: tuple[NDArray[np.intp], float] | None = None
    for _ in range(STARTS if n_clusters > 1 else 1):
        found = _lloyd(K, _spread(K, n_clusters, rng, w), w)
        if best is None or found[1] < best[1]:
            best = found
    assert best is not None
    return best


def centre_weights(R: Array, w: Array) -> Array:
    """Coefficients of the centres, for shares or labels R."""
    R = w[:, None] * R
    return np.asarray(R / R.sum(axis=0))


def _lloyd(K: Array, labels: NDArray[np.intp], w: Array) -> tuple[NDArray[np.intp], float]:
    l, diagonal = int(labels.max()) + 1, K.diagonal()
    for _ in range(_ROUNDS):
        R = centre_weights(np.eye(l)[labels], w)
        D = np.einsum("ij,ij->j", R, K @ R) - 2.0 * K @ R + diagonal[:, None]
        nearest = D.argmin(axis=1)
        for j in np.flatnonzero(np.bincount(nearest, minlength=l) == 0):  # take the sample that fits worst
            counts = np.bincount(nearest, minlength=l)
            own = np.where(counts[nearest] > 1, D[np.arange(len(D)), nearest], -np.inf)
            nearest[int(own.argmax())] = j
        if np.array_equal(nearest, labels):
            break
        labels = nearest
    return labels, float(w @ np.maximum(D[np.arange(len(D)), labels], 0.0))


def _spread(K: Array, l: int, rng: np.random.RandomState, w: Array) -> NDArray[np.intp]:
    """k-means++: centres drawn in proportion to the squared distance from those before."""
    diagonal = K.diagonal()
    chosen = [int(rng.choice(len(K), p=w / w.sum()))]
    D = [np.maximum(diagonal - 2.0 * K[:, chosen[0]] + diagonal[chosen[0]], 0.0)]
    while len(chosen) < l:
        nearest = w * np.min(D, axis=0)
        nearest[chosen] = 0.0
        total = nearest.sum()
        free = np.setdiff1d(np.arange(len(K)), chosen)
        i = int(rng.choice(len(K), p=nearest / total)) if total > 0.0 else int(rng.choice(free))
        chosen.append(i)
        D.append(np.maximum(diagonal - 2.0 * K[:, i] + diagonal[i], 0.0))
    labels = np.argmin(D, axis=0)
    labels[chosen] = np.arange(l)
    return np.asarray(labels)


def soften(K: Array, R: Array, t: float, w: Array) -> Array:
    """Soft k-means from hard labels: centres of shares, shares of distances, until they settle."""
    for _ in range(_ROUNDS):
        weights = centre_weights(R, w)
        products = K @ weights
        fresh = shares_of(np.einsum("ij,ij->j", weights, products) - 2.0 * products, t)
        if (w @ fresh).min() <= 1e-6 * w.sum():  # a cluster dies out: keep the last ones
            break
        change, R = float(np.abs(fresh - R).max()), fresh
        if change < _SETTLED:
            break
    return R


def shares_of(D: Array, t: float) -> Array:
    if t > 0.0:
        with np.errstate(over="ignore"):  # at a small t all but the nearest centre are infinitely far
            return np.asarray(softmax(-(D - D.min(axis=1, keepdims=True)) / t, axis=1))
    return np.asarray(np.eye(D.shape[1])[D.argmin(axis=1)])

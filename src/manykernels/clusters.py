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
    """Cluster samples in the feature space of a kernel, by the best of several runs of Lloyd's algorithm.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    n_clusters : int
        Number of clusters.
    rng : RandomState
        Source of random numbers, for the centres to start from (k-means++).
    weight : ndarray of shape (n_samples,) or None, default=None
        Weights of the samples; None stands for 1.

    Returns
    -------
    labels : ndarray of int of shape (n_samples,)
        The cluster of each sample.
    inertia : float
        The sum Σ_i w_i ‖φ(x_i) − μ‖² of squared distances to the centres.

    References
    ----------
    Dhillon, Guan & Kulis (2004), "Kernel k-means, spectral clustering and normalized cuts", KDD.

    Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding", SODA.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.clusters import kernel_kmeans
    >>> x = np.array([0.0, 0.1, 5.0, 5.1])
    >>> labels, inertia = kernel_kmeans(np.outer(x, x), 2, np.random.RandomState(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3]), round(inertia, 6)
    (True, 0.01)
    """
    w = np.ones(len(K)) if weight is None else weight
    best: tuple[NDArray[np.intp], float] | None = None
    for _ in range(STARTS if n_clusters > 1 else 1):
        found = _lloyd(K, _spread(K, n_clusters, rng, w), w)
        if best is None or found[1] < best[1]:
            best = found
    assert best is not None
    return best


def centre_weights(R: Array, w: Array) -> Array:
    """Compute the coefficients of the centres of clusters.

    Parameters
    ----------
    R : ndarray of shape (n_samples, n_clusters)
        Shares of the samples in the clusters, or labels as 0 and 1.
    w : ndarray of shape (n_samples,)
        Weights of the samples.

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        Coefficients: centre j is Σ_i coefficient_ij φ(x_i).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.clusters import centre_weights
    >>> centre_weights(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.ones(3)).tolist()
    [[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]]
    """
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
    """Make hard labels soft: centres of shares, shares of distances, until they settle.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    R : ndarray of shape (n_samples, n_clusters)
        Shares or labels to start from.
    t : float
        Temperature. A larger one spreads samples over more clusters.
    w : ndarray of shape (n_samples,)
        Weights of the samples.

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        Shares, which add up to 1 for each sample. The last shares with all clusters alive are returned where
        a cluster dies out.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.clusters import soften
    >>> x = np.array([0.0, 0.1, 5.0, 5.1])
    >>> soften(np.outer(x, x), np.eye(2)[[0, 0, 1, 1]], 1.0, np.ones(4)).round(3)[:, 0].tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
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
    """Compute shares of clusters from squared distances: softmax of −D/t, or the nearest centre for t = 0.

    Parameters
    ----------
    D : ndarray of shape (n_samples, n_clusters)
        Squared distances to the centres, up to a constant of each sample.
    t : float
        Temperature. A larger one spreads samples over more clusters.

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        Shares, which add up to 1 for each sample.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.clusters import shares_of
    >>> shares_of(np.array([[0.0, 1.0]]), 0.0).tolist()
    [[1.0, 0.0]]
    >>> shares_of(np.array([[0.0, 1.0]]), 1.0).round(3).tolist()
    [[0.731, 0.269]]
    """
    if t > 0.0:
        with np.errstate(over="ignore"):  # at a small t all but the nearest centre are infinitely far
            return np.asarray(softmax(-(D - D.min(axis=1, keepdims=True)) / t, axis=1))
    return np.asarray(np.eye(D.shape[1])[D.argmin(axis=1)])

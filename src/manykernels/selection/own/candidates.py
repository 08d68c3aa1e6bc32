"""The next weights to try, for all targets together.

Candidates are points of the simplex, and one costs about the same for one target as for all. The first ones
cover the simplex. From then on a smooth model of every target's error over the weights (Gaussian process
regression at the candidates so far, whose equations all targets share) predicts what other weights would
bring, and those come next that are predicted to bring most to all targets together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_FIRST = 24  # draws beside the corners and the middle
_POOL = 2000  # weights that are thought about, each round
_WIDTHS = (0.15, 0.3, 0.6, 1.2)  # of the Gaussian process, in the coordinates of `_placed`
_NUGGET = 1e-4
_NEAR = 16  # candidates
_POWER = 1.0 / 3.0  # of weights: between weights, where corners are smooth, and their logarithms


def first_candidates(n_kernels: int, rng: np.random.RandomState) -> Array:
    """Corners, middle and draws, half of them nearer to the border."""
    if n_kernels == 1:
        return np.ones((1, 1))
    even = rng.dirichlet(np.ones(n_kernels), _FIRST // 2)
    sparse = rng.dirichlet(np.full(n_kernels, 0.3), _FIRST - _FIRST // 2)
    middle = np.full((1, n_kernels), 1.0 / n_kernels)
    return np.concatenate([middle, np.eye(n_kernels), even, sparse])


def next_candidates(tried: Array, errors: Array, count: int, rng: np.random.RandomState) -> Array:
    """Weights (count, M) to try next: together they are predicted to lower the mean error most.

    `errors` (tried, targets) are of all targets, or of some that stand for them.
    """
    pool = _pool(tried, errors, rng)
    predicted = _predict(tried, errors, pool)
    best = errors.min(axis=0)
    chosen: list[int] = []
    for _ in range(count):
        gain = np.maximum(best - predicted, 0.0).mean(axis=1)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
        best = np.minimum(best, predicted[chosen[-1]])
    return np.asarray(pool[chosen])


def within_reach(theta: Array, tried: Array, best: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Targets that weights θ may be good for: one of their `best` candidates (k, targets) is near θ.

    Near are the sixteen nearest, or a quarter of all.
    """
    distance = _distances(_placed(theta[None]), _placed(tried))[0]
    near = np.zeros(len(tried), dtype=bool)
    near[np.argsort(distance)[: max(_NEAR, len(tried) // 4)]] = True
    return np.asarray(near[best].any(axis=0))


def _pool(tried: Array, errors: Array, rng: np.random.RandomState) -> Array:
    """Weights all over the simplex, around what targets chose, and between their two best."""
    M, share = tried.shape[1], _POOL // 4
    order = np.argsort(errors, axis=0)
    targets = rng.randint(errors.shape[1], size=2 * share)
    first, second = tried[order[0, targets]], tried[order[min(1, len(tried) - 1), targets]]
    near = np.maximum(first, 1e-3) * np.exp(
        rng.standard_normal(first.shape) * rng.choice([0.2, 0.5, 1.0], (len(first), 1))
    )
    mix = rng.uniform(0.0, 1.0, (share, 1))
    between = mix * first[:share] + (1.0 - mix) * second[:share]
    wide = rng.dirichlet(np.full(M, 0.5), share)
    pool = np.concatenate([near, between, wide])
    return np.asarray(pool / pool.sum(axis=1, keepdims=True))


def _placed(theta: Array) -> Array:
    return np.asarray(theta**_POWER)


def _predict(tried: Array, errors: Array, pool: Array) -> Array:
    """(pool, targets): the errors that weights of the pool would have."""
    A, B = _placed(tried), _placed(pool)
    here, there = _distances(A, A), _distances(B, A)
    mean = errors.mean(axis=0)
    best, found = np.inf, None
    for width in _WIDTHS:
        K = _similarity(here, width)
        K.flat[:: len(K) + 1] += _NUGGET
        P = np.linalg.inv(K)
        weights = P @ (errors - mean)
        missed = weights / np.diag(P)[:, None]  # by the model without a candidate, of that candidate
        error = float(np.mean(missed**2))
        if error < best:
            best, found = error, (width, weights)
    assert found is not None
    width, weights = found
    return np.asarray(_similarity(there, width) @ weights + mean)


def _similarity(distance: Array, width: float) -> Array:
    """Matérn of order 5/2."""
    r = np.sqrt(5.0) * distance / width
    return np.asarray((1.0 + r + r**2 / 3.0) * np.exp(-r))


def _distances(A: Array, B: Array) -> Array:
    squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2.0 * A @ B.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

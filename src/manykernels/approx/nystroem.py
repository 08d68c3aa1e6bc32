"""Nyström features: kernels with some of the samples (Williams & Seeger 2001), for any kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.random import sample_without_replacement

from .._fast.threads import blas_threads
from .._warn import warn
from ..kernels import Kernel, evaluate
from ..kernels.data import Array, Data, is_stack, n_samples, numeric, rounding
from ..kernels.inner import squared_norms
from .base import Approximation, Features, Part, checked_weights, ours

_RANK = 1e-12  # of the largest eigenvalue: what is below is rounding in double precision
_INDEFINITE = 0.1  # of what is rounding: a negative eigenvalue of this size is none
_CANDIDATES = 50  # rows a landmark that k-means++ chooses among; more rows change the landmarks little
_FEWEST = 10_000
_SMALL = 512  # landmarks up to which BLAS's threads wait for each other more than they do


class Nystroem(Approximation):
    """Features from landmarks, φ_m(x) = Λ^{−1/2} Uᵀ k_m(L, x) with k_m(L, L) = U Λ Uᵀ.

    The landmarks L are rows of X, the same for all kernels, so that kernels of the same distances share them.
    ⟨φ(x), φ(x')⟩ = k(x, L) k(L, L)⁺ k(L, x'), which is k(x, x') wherever x or x' is a landmark. Eigenvalues
    below 1e-12 of the largest are cut, so that a kernel of rank r has at most r features, and nothing is
    added to the diagonal. This is k(x, L) k(L, L)^{−1/2} up to a rotation, with as many columns as the rank.
    With as many components as rows the features give the kernel itself on them.

    Parameters
    ----------
    n_components : int, default=100
        Number of landmarks. More landmarks are closer to the exact kernel; memory and time grow with them.
    landmarks : {"kmeans++", "uniform"}, default="kmeans++"
        How landmarks are drawn. "kmeans++" draws rows in proportion to the squared distance from those drawn
        before, on the rows as numbers; of more than 50 rows a landmark (and 10,000 in all) it reads a random
        sample. "uniform" draws rows without looking at them, which any data allow. Weights of rows are
        repetitions.

    See Also
    --------
    RandomFeatures : Features that do not depend on the data.

    References
    ----------
    Williams & Seeger (2001), "Using the Nyström method to speed up kernel machines", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.approx import Nystroem
    >>> from manykernels.families import gaussian_grid
    >>> X = np.random.RandomState(0).randn(200, 2)
    >>> model = MKLRegressor(gaussian_grid(1.0, 4.0, 3), C=10.0, approx=Nystroem(30), random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    def __init__(self, n_components: int = 100, landmarks: str = "kmeans++") -> None:
        self.n_components = n_components
        self.landmarks = landmarks

    def fit(
        self, kernels: Sequence[Kernel], X: Data, *, rng: np.random.RandomState, sample_weight: Any = None
    ) -> Features:
        rows, weight = self.sample(n_samples(X), checked_weights(X, sample_weight), rng)
        rows = rows[self._choose(_safe_indexing(X, rows), weight, rng)]
        return self._features(kernels, _safe_indexing(X, rows), rows)

    def sample(
        self, n: int, weight: Array | None, rng: np.random.RandomState
    ) -> tuple[NDArray[np.intp], Array]:
        """All rows of positive weight, or as many of them at random as landmarks or k-means++ need."""
        if self.landmarks not in ("kmeans++", "uniform"):
            raise ValueError(
                f"landmarks={self.landmarks!r} was given to Nystroem; expected 'kmeans++' or 'uniform'."
            )
        n_components = self._components()
        possible = n if weight is None else int(np.count_nonzero(weight))
        if n_components > possible:
            warn(
                f"n_components={n_components} is more than the {possible} rows (of positive weight) "
                "that Nystroem was given; all of them are landmarks, and the features are exact on them.",
                UserWarning,
            )
        uniform = self.landmarks == "uniform"
        most = n_components if uniform else max(_FEWEST, _CANDIDATES * n_components)
        if possible <= max(most, n_components):
            rows = np.arange(n) if weight is None else np.flatnonzero(weight)
            return rows, np.ones(n) if weight is None else weight[rows]
        return np.sort(_draw(n, weight, most, rng)), np.ones(most)  # the draw has counted the weights

    def fit_sample(
        self, kernels: Sequence[Kernel], X: Data, weight: Array, rng: np.random.RandomState
    ) -> Features:
        rows = self._choose(X, weight, rng)
        return self._features(kernels, _safe_indexing(X, rows), rows)

    def _features(self, kernels: Sequence[Kernel], chosen: Data, rows: NDArray[np.intp]) -> Features:
        return Features([_Landmarks(kernels, chosen, rows)] if len(kernels) else [], len(kernels))

    def _choose(self, X: Data, weight: Array, rng: np.random.RandomState) -> NDArray[np.intp]:
        """The rows of the sample that are landmarks, in their order."""
        n_components = self._components()
        if n_components >= weight.size:
            return np.arange(weight.size)
        return np.sort(kmeans_plus_plus(_numbers(X), weight, n_components, rng))


class _Landmarks(Part):
    """All kernels, by their values at the same rows."""

    def __init__(self, kernels: Sequence[Kernel], chosen: Data, rows: NDArray[np.intp]) -> None:
        self.kernels = list(kernels)
        self.threads = all(map(ours, kernels))
        # Of a stack the landmarks are columns, and the rows of it need not be kept.
        self.rows = rows
        self.landmarks = None if is_stack(chosen) else chosen
        self.maps: list[Array] = [np.empty(0)] * len(kernels)
        with blas_threads(1 if rows.size <= _SMALL else None):
            for m, W in evaluate(self.kernels, chosen):
                W = W[:, rows] if self.landmarks is None else W
                self.maps[m] = _inverse_root(W, self.kernels[m], self.kernels[m].rounding(chosen))
        self.members = list(range(len(kernels)))
        self.sizes = [T.shape[1] for T in self.maps]

    def fill(self, X: Data, out: Any, start: NDArray[np.intp]) -> None:
        for m, K in evaluate(self.kernels, X, self.landmarks):
            K = K[:, self.rows] if self.landmarks is None else K
            out[:, start[m] : start[m] + self.sizes[m]] = K @ self.maps[m]


def _inverse_root(W: Array, kernel: Kernel, slack: float) -> Array:
    """U Λ^{−1/2} over the eigenvalues that count; a kernel that is zero has one feature, which is zero.

    `slack` is what is rounding in W, relative to its size.
    """
    if not np.all(np.isfinite(W)):
        raise ValueError(f"{kernel.label} is not finite on the landmarks; check X and its parameters.")
    values, U = np.linalg.eigh(0.5 * (W + W.T))
    largest = max(float(np.abs(values).max()), 0.0)
    if values[0] < -_INDEFINITE * slack * largest:
        raise ValueError(
            f"{kernel.label} is not positive semidefinite on the landmarks: an eigenvalue is "
            f"{values[0]:.3g}, the largest {values[-1]:.3g}. It has no features; use another kernel."
        )
    coarse = slack > rounding(np.float64)
    kept = values > (_INDEFINITE * slack if coarse else _RANK) * largest
    return np.asarray(U[:, kept] / np.sqrt(values[kept])) if kept.any() else np.zeros((W.shape[0], 1))


def kmeans_plus_plus(A: Any, weight: Array, k: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """k rows of A, each drawn ∝ w_i D_i², D_i the distance to the nearest row drawn before (the first ∝ w_i).

    Fewer if no row is left at a distance from those drawn.
    """
    if not sparse.issparse(A):
        A = A - A.mean(axis=0)  # keeps the cancellation below small
    squares = squared_norms(A)
    rounding = 1e-14 * float(squares.max(initial=0.0))
    chosen = [_inverse_cdf(weight, rng)]
    nearest = np.full(A.shape[0], np.inf)
    while len(chosen) < k:
        c = A[[chosen[-1]]]
        inner = (A @ c.T).toarray().ravel() if sparse.issparse(A) else A @ c[0]
        np.minimum(nearest, squares + squares[chosen[-1]] - 2.0 * inner, out=nearest)
        nearest[nearest <= rounding] = 0.0
        if not np.any(weight * nearest > 0):
            break
        chosen.append(_inverse_cdf(weight * nearest, rng))
    return np.array(chosen, dtype=np.intp)


def _inverse_cdf(p: Array, rng: np.random.RandomState) -> int:
    """A position drawn ∝ p."""
    total = np.cumsum(p)
    return int(min(np.searchsorted(total, rng.uniform() * total[-1], side="right"), np.flatnonzero(p)[-1]))


def _draw(n: int, weight: Array | None, size: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """``size`` different rows, drawn one after another ∝ their weights; without weights in O(size)."""
    if weight is None:
        return np.asarray(sample_without_replacement(n, size, random_state=rng), dtype=np.intp)
    return np.asarray(rng.choice(n, size, replace=False, p=weight / weight.sum()), dtype=np.intp)


def _numbers(X: Data) -> Any:
    try:
        A = numeric(X)
        if sparse.issparse(A) or not np.isnan(A).any():
            return A
        known = ~np.isnan(A)
        mean = np.where(known, A, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return np.where(known, A, mean)
    except ValueError as error:
        raise ValueError(
            "landmarks='kmeans++' chooses rows by their distances and needs numbers in all columns of X "
            f"({error}) Give Nystroem(landmarks='uniform')."
        ) from error

"""Kernels whose values are given: a layer of a stack, a distance, a function."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from .._arguments import is_masked, require_arguments
from .._fast import elementwise
from .base import Kernel, into
from .data import Array, Data, dense_pair, n_samples, rounding, take_rows

_DATA_DEPENDENT = ("seuclidean", "mahalanobis")


def layer(X: Data, index: int) -> Array:
    """X[:, :, index] of a stack of shape (n_samples, n_train, n_layers), a view."""
    shape = tuple(getattr(X, "shape", ()))
    if len(shape) != 3:
        raise ValueError(
            f"A stack of shape (n_samples, n_train, n_layers) was expected, got X of shape {shape}."
        )
    if not -shape[2] <= index < shape[2]:
        raise ValueError(
            f"Layer {index} was asked for, but the stack has {shape[2]} layers (0 to {shape[2] - 1})."
        )
    return np.asarray(X)[:, :, index]


def _layer_diagonal(X: Data, index: int) -> Array:
    K = layer(X, index)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"The diagonal needs the square stack of the training points, got shape {X.shape}.")
    return np.array(np.diagonal(K), dtype=np.float64)


class Precomputed(Kernel):
    """k is X[:, :, index] of a stack of shape (n_samples, n_train, n_kernels); Y is ignored."""

    def __init__(self, index: int, *, name: str | None = None) -> None:
        self.index = index
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        K = layer(X, self.index)
        return np.array(K, dtype=np.float64, order="C") if out is None else into(out, K)

    def diag(self, X: Data) -> Array:
        return _layer_diagonal(X, self.index)

    def rounding(self, X: Data) -> float:
        return rounding(X.dtype)


class FromDistance(Kernel):
    """k(x, x') = exp(−gamma · D(x, x')).

    ``distance`` is the name of a metric of ``scipy.spatial.distance.cdist``, a function (X, Y) -> D, or an
    int: a layer of a stack of distances given as X of shape (n_samples, n_train, n_layers), Y ignored
    (002 §5.4). Whether k is positive semidefinite depends on the distance.
    """

    def __init__(
        self,
        gamma: float = 1.0,
        distance: str | int | Function[[Data, Data], Any] = "euclidean",
        *,
        name: str | None = None,
    ) -> None:
        self.gamma = gamma
        self.distance = distance
        self.name = name

    @property
    def statistic(self) -> Hashable | None:
        return ("distance", self.distance) if isinstance(self.distance, Hashable) else None

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        D = self.compute_statistic(X, Y, out)
        self.fill(D, D)
        return D

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        if isinstance(self.distance, int | np.integer):
            D = layer(X, int(self.distance))
            return np.array(D, dtype=np.float64, order="C") if out is None else into(out, D)
        if isinstance(self.distance, str):
            A, B, _ = dense_pair(X, Y, "FromDistance")
            if self.distance in _DATA_DEPENDENT:
                raise ValueError(
                    f"distance={self.distance!r} changes with the data of each call, so it is no kernel; "
                    "give a function (X, Y) -> distances with its parameters fixed."
                )
            try:
                return into(out, cdist(A, B, self.distance))
            except ValueError as error:
                raise ValueError(
                    f"distance={self.distance!r} was given to FromDistance, and is no metric of "
                    f"scipy.spatial.distance for these samples ({error}). Give another, or a function (X, Y)."
                ) from error
        if callable(self.distance):
            return into(out, checked(_called(self.distance, X, Y), X, Y, self.distance))
        raise ValueError(
            f"distance={self.distance!r} was given to FromDistance; expected the name of a metric of "
            "scipy.spatial.distance, a function (X, Y) -> distances, or the index of a layer of a stack."
        )

    def rounding(self, X: Data) -> float:
        if isinstance(self.distance, int | np.integer):
            return rounding(X.dtype)
        return _rounding_of(self.distance, X) if callable(self.distance) else super().rounding(X)

    @property
    def rate(self) -> float:
        return -self._number("gamma")

    def fill(self, S: Array, out: Array) -> None:
        elementwise.exp(S, self.rate, out)

    def diag(self, X: Data) -> Array:
        if isinstance(self.distance, int | np.integer):
            return np.exp(-self._number("gamma") * _layer_diagonal(X, int(self.distance)))
        return np.ones(n_samples(X)) if isinstance(self.distance, str) else super().diag(X)


class Callable(Kernel):
    """k given by a function of two sets of samples, ``function(X, Y)`` -> matrix of shape (n_X, n_Y)."""

    def __init__(self, function: Function[[Data, Data], Any], *, name: str | None = None) -> None:
        self.function = function
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return into(out, checked(_called(self.function, X, Y), X, Y, self.function))

    def rounding(self, X: Data) -> float:
        return _rounding_of(self.function, X)


def _rounding_of(function: Any, X: Data) -> float:
    """That of the type in which a user's function returns its values."""
    few = take_rows(X, 0, 2)
    return rounding(np.asarray(_called(function, few, None)).dtype)


def _called(function: Any, X: Data, Y: Data | None) -> Any:
    """function(X, Y), or an error where it does not take two sets of samples."""
    try:
        return function(X, X if Y is None else Y)
    except TypeError as error:
        require_arguments(function, 2, "function(X, Y)")
        raise error


def checked(result: Any, X: Data, Y: Data | None, function: Any) -> Array:
    """What a user's function returned, as a matrix of the right shape."""
    name = getattr(function, "__name__", repr(function))
    shape = (n_samples(X), n_samples(X if Y is None else Y))
    K = _as_matrix(result, f"{name}(X, Y)", shape)
    if K.shape != shape:
        raise ValueError(f"{name}(X, Y) returned shape {K.shape}; expected {shape}, one row per row of X.")
    return K.astype(np.float64)


def _as_matrix(result: Any, what: str, shape: tuple[int, int]) -> NDArray[Any]:
    """An array of real numbers, or an error that says what was returned instead."""
    expected = f"expected a NumPy array of real numbers of shape {shape}, one row per row of X."
    if is_masked(result):
        raise ValueError(f"{what} returned a masked array with masked values; {expected}")
    if sparse.issparse(result):
        raise ValueError(f"{what} returned a sparse matrix; {expected} Call toarray() on it.")
    try:
        K = np.asarray(result)
        K = K.astype(np.float64) if K.dtype == object and K.ndim else K
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} returned {type(result).__name__}, which holds no numbers; {expected}"
        ) from None
    if K.dtype.kind not in "biuf":
        raise ValueError(f"{what} returned values of type {K.dtype}; {expected}")
    return K

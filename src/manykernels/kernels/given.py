"""Kernels whose values are given: a layer of a stack, a distance, a function."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from .._fast import elementwise
from .base import Kernel, brief, into
from .data import Array, Data, dense_pair, is_stack, n_samples, rounding
from .functions import OfPairs, called, checked, rounding_of, takes_pairs
from .presence import Mask, layer_having

_HINT = " A function of two single samples is given as Callable(function, pairs=True)."
_FAR = 1e300  # a distance at which exp(−γD) is zero
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


def _known(K: Array, value: float = 0.0) -> Array:
    """A layer with a value in the rows and columns of samples that lack it, in place."""
    if K.size and (np.isnan(K[0]).any() or np.isnan(K[:, 0]).any()):
        K[np.isnan(K)] = value
    return K


class Precomputed(Kernel):
    """One layer of a stack of kernel matrices, X[:, :, index].

    X has the shape (n_samples, n_train, n_kernels), and Y is ignored. A row of NaN is a sample that lacks
    this view, and so is the column of a training sample.

    Parameters
    ----------
    index : int
        Number of the layer.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Precomputed
    >>> stack = np.stack([np.eye(2), np.ones((2, 2))], axis=2)
    >>> Precomputed(1)(stack)
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, index: int, *, name: str | None = None) -> None:
        self.index = index
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        K = layer(X, self.index)
        return _known(np.array(K, dtype=np.float64, order="C") if out is None else into(out, K))

    @property
    def absence(self) -> Hashable | None:
        return ("layer", int(self.index))

    def present(self, X: Data) -> Mask | None:
        return layer_having(layer(X, self.index)) if is_stack(X) else None

    def diag(self, X: Data) -> Array:
        return np.nan_to_num(_layer_diagonal(X, self.index), nan=0.0)

    def rounding(self, X: Data) -> float:
        return rounding(X.dtype)


class FromDistance(Kernel):
    """A kernel from a distance, k(x, x') = exp(−gamma · D(x, x')).

    Whether k is positive semidefinite depends on the distance.

    Parameters
    ----------
    gamma : float, default=1.0
        How fast the kernel falls with the distance, positive. A larger value learns more local functions.
    distance : str, int or callable, default="euclidean"
        Name of a metric of ``scipy.spatial.distance.cdist``; or a function (X, Y) -> D; or an int, the layer
        of a stack of distances that is given as X of shape (n_samples, n_train, n_layers), where Y is
        ignored.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    manykernels.families.from_distances : Such kernels for several distances.

    References
    ----------
    Orabona & Jie (2011), "Ultra-Fast Optimization Algorithm for Sparse Multi Kernel Learning", ICML, §5.4,
    for kernels of given distances.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import FromDistance
    >>> FromDistance(0.5, "cityblock")(np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
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
            return _known(np.array(D, dtype=np.float64, order="C") if out is None else into(out, D), _FAR)
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
            return into(out, checked(called(self.distance, X, Y), X, Y, self.distance))
        raise ValueError(
            f"distance={self.distance!r} was given to FromDistance; expected the name of a metric of "
            "scipy.spatial.distance, a function (X, Y) -> distances, or the index of a layer of a stack."
        )

    @property
    def absence(self) -> Hashable | None:
        return ("layer", int(self.distance)) if isinstance(self.distance, int | np.integer) else None

    def present(self, X: Data) -> Mask | None:
        if not isinstance(self.distance, int | np.integer) or not is_stack(X):
            return None
        return layer_having(layer(X, int(self.distance)))

    def rounding(self, X: Data) -> float:
        if isinstance(self.distance, int | np.integer):
            return rounding(X.dtype)
        return rounding_of(self.distance, X) if callable(self.distance) else super().rounding(X)

    @property
    def rate(self) -> float:
        return -self._number("gamma")

    def fill(self, S: Array, out: Array) -> None:
        elementwise.exp(S, self.rate, out)

    def diag(self, X: Data) -> Array:
        if isinstance(self.distance, int | np.integer):
            d = np.exp(-self._number("gamma") * _layer_diagonal(X, int(self.distance)))
            return np.nan_to_num(d, nan=0.0)
        return np.ones(n_samples(X)) if isinstance(self.distance, str) else super().diag(X)


class Callable(Kernel):
    """A kernel given by a function.

    Estimators take plain functions as well, and find out whether they are for sets or for pairs of samples
    (``from_function``).

    Parameters
    ----------
    function : callable
        Function (X, Y) -> matrix of shape (n_X, n_Y). With ``pairs=True``, a function (x, y) -> number of two
        samples. A sample is a row of an array, an item of a list, or a row of a frame by column name.
    pairs : bool, default=False
        Whether the function takes two single samples. It is then called for every pair, which is slow.
    name : str or None, default=None
        Name shown in results and plots. None takes the name of the function.

    See Also
    --------
    FeatureMap : A kernel from a function that computes features.

    Examples
    --------
    >>> from manykernels.kernels import Callable
    >>> Callable(lambda a, b: len(set(a) & set(b)), pairs=True)(["abc", "bcd"])
    array([[3., 2.],
           [2., 3.]])
    """

    pairs: bool = False

    def __init__(
        self, function: Function[[Data, Data], Any], *, pairs: bool = False, name: str | None = None
    ) -> None:
        self.function = function
        self.pairs = pairs
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        call = OfPairs(self.function) if self.pairs else self.function
        return into(out, checked(called(call, X, Y), X, Y, self.function, _HINT))

    def rounding(self, X: Data) -> float:
        return super().rounding(X) if self.pairs else rounding_of(self.function, X)

    def _describe(self) -> str:
        return f"Callable(function={brief(self.function)}{', pairs=True' if self.pairs else ''})"


def is_function(value: Any) -> bool:
    """Tell whether this is a plain function, or another object that can be called, and no kernel yet."""
    return callable(value) and not isinstance(value, type | Kernel)


def from_function(function: Any, X: Data | None = None) -> Callable:
    """The kernel of a plain function; samples X tell whether it takes sets of samples or single ones.

    It is called with two small sets of samples of different sizes. If it returns a matrix with a row for
    every sample of the first set and a column for every sample of the second, it takes sets. If it does not,
    and returns one number for two single samples, it takes those. Otherwise it is taken for a function of
    sets, and says what is wrong with it where it is used.
    """
    return Callable(function, pairs=X is not None and n_samples(X) > 0 and takes_pairs(function, X))

"""The kernel of a map that the user gives."""

from __future__ import annotations

from collections.abc import Callable as Function
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._arguments import require_arguments
from .base import Kernel
from .data import Array, Data, n_samples, numeric
from .inner import inner_products, squared_norms


class FeatureMap(Kernel):
    """The inner product of features that you compute, k(x, x') = ⟨φ(x), φ(x')⟩.

    Parameters
    ----------
    function : callable or fitted transformer
        The map φ: a function X -> features of shape (n_samples, d), as an array, a frame or a sparse matrix,
        or a fitted scikit-learn transformer. It must treat each row by itself and give every X the same d
        columns. A transformer is used as it is: ``clone`` keeps it fitted.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Callable : A kernel from a function of two sets of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import FeatureMap
    >>> FeatureMap(lambda X: np.hstack([X, X**2]))(np.array([[1.0], [2.0]]))
    array([[ 2.,  6.],
           [ 6., 20.]])
    """

    def __init__(self, function: Function[[Data], Any] | Any, *, name: str | None = None) -> None:
        self.function = function
        self.name = name

    def __sklearn_clone__(self) -> Self:
        return self._told(type(self)(self.function, name=self.name))

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        maps = self.feature_maps(X) if Y is None else self.feature_maps(X, Y)
        return inner_products(maps[0], maps[-1], out)

    def diag(self, X: Data) -> Array:
        return squared_norms(self.features(X))

    @property
    def has_features(self) -> bool:
        return True

    def feature_maps(self, *sets: Data) -> list[Any]:
        maps = [self._map(X) for X in sets]
        if len({Phi.shape[1] for Phi in maps}) > 1:
            raise ValueError(
                f"{self.label} returned {' and '.join(str(Phi.shape[1]) for Phi in maps)} columns for two "
                "sets of rows; expected the same number for any X."
            )
        return maps

    def _map(self, X: Data) -> Any:
        fitted = hasattr(self.function, "fit")
        transform = getattr(self.function, "transform", None) if fitted else self.function
        if isinstance(self.function, type) or not callable(transform):
            raise ValueError(
                f"function={self.function!r} was given to FeatureMap; expected a callable X -> (n, d) array, "
                "or a fitted transformer."
            )
        try:
            Phi = numeric(transform(X))
        except TypeError as error:
            require_arguments(transform, 1, "function(X)")
            raise error
        if Phi.shape[0] != n_samples(X):
            raise ValueError(
                f"{self.label} returned shape {Phi.shape}; expected {n_samples(X)} rows, one per row of X."
            )
        if not np.all(np.isfinite(Phi.data if sparse.issparse(Phi) else Phi)):
            raise ValueError(
                f"{self.label} returned NaN or infinite features; expected finite ones. Check the map and X."
            )
        return Phi

    def _describe(self) -> str:
        return f"FeatureMap({getattr(self.function, '__name__', type(self.function).__name__)})"

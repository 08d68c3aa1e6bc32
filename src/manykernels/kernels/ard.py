"""The Gaussian kernel with a width of its own for every feature."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .._fast import elementwise
from .base import Kernel
from .data import Array, Data, n_samples, numeric_pair
from .spectral import Spectral
from .stationary import Normal, squared_distances

_SHOWN = 4  # widths that a label has room for


class ARDGaussian(Kernel):
    """The Gaussian kernel with one width for each feature, k(x, x') = exp(−Σ_i (x_i − x'_i)² / widths_i²).

    Widths say how much each feature matters (automatic relevance determination). `Relevance` and
    `ARDGaussians` learn them.

    Parameters
    ----------
    widths : sequence of float, default=(1.0,)
        One positive width for each feature. A feature of a large width hardly changes the kernel.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Gaussian : One width for all features.
    manykernels.families.ARDGaussians : All of these kernels within bounds of the widths.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, Eq.
    4.20.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import ARDGaussian
    >>> ARDGaussian([1.0, 10.0])(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).round(3)
    array([[1.   , 0.99 , 0.368],
           [0.99 , 1.   , 0.364],
           [0.368, 0.364, 1.   ]])
    """

    def __init__(self, widths: Sequence[float] = (1.0,), *, name: str | None = None) -> None:
        self.widths = widths
        self.name = name

    @property
    def statistic(self) -> Hashable | None:
        return ("ard", tuple(map(float, self.widths)))

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        A, B, symmetric = numeric_pair(X, Y)
        widths = self._widths(A.shape[1])
        return squared_distances(_divided(A, widths), None if symmetric else _divided(B, widths), out)

    @property
    def rate(self) -> float:
        return -1.0

    def fill(self, S: Array, out: Array) -> None:
        elementwise.exp(S, -1.0, out)

    def spectral(self) -> Spectral:
        return Spectral(Normal(), widths=tuple(map(float, self.widths)))

    def diag(self, X: Data) -> Array:
        return np.ones(n_samples(X))

    def _widths(self, n_features: int) -> Array:
        widths = np.asarray(self.widths, dtype=np.float64)
        if widths.shape != (n_features,) or not np.all((widths > 0.0) & np.isfinite(widths)):
            raise ValueError(
                f"widths={self.widths!r} were given to ARDGaussian for X with {n_features} features; "
                f"expected {n_features} positive numbers."
            )
        return widths

    def _describe(self) -> str:
        shown = ", ".join(f"{width:.4g}" for width in self.widths[:_SHOWN])
        rest = f", … ({len(self.widths)})" if len(self.widths) > _SHOWN else ""
        return f"ARDGaussian(widths={shown}{rest})"


def _divided(A: Any, widths: Array) -> Any:
    """The columns of A divided by their widths."""
    return A @ sparse.diags_array(1.0 / widths, format="csr") if sparse.issparse(A) else A / widths

"""Kernels of differences: Gaussian, Laplacian, Dirichlet."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaincinv

from .._fast import elementwise
from .base import Kernel, empty_matrix, into
from .data import Array, Data, dense_pair, n_samples, numeric_pair
from .inner import inner_products, squared_norms
from .spectral import Independent, Radial, Spectral

_LARGEST = 1e300  # finite, so that the narrowest kernel is still exp(−0) = 1 at distance 0
_FEW_FEATURES = 8  # up to which plain differences are as fast as GEMM, and they lose no digits


def squared_distances(X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
    """‖x − y‖² for all pairs: non-negative, and with Y=None exactly symmetric with a zero diagonal.

    ‖x − y‖² = ‖x‖² + ‖y‖² − 2⟨x, y⟩ by GEMM; centring dense data first keeps the cancellation small.
    """
    A, B, symmetric = _dense_if_few(*numeric_pair(X, Y))
    if not (sparse.issparse(A) or sparse.issparse(B)):
        if A.shape[1] <= _FEW_FEATURES:
            D = empty_matrix(A, B, out)
            elementwise.sqeuclidean(np.ascontiguousarray(A), np.ascontiguousarray(B.T), D)
            return D
        mean = _mean(B)
        A = A - mean
        B = A if symmetric else B - mean
    a2 = squared_norms(A)
    D = inner_products(A, B, out)
    elementwise.distances_from_inner(D, a2, a2 if symmetric else squared_norms(B))
    if symmetric:
        np.fill_diagonal(D, 0.0)
    return D


def manhattan(X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
    """‖x − y‖₁ for all pairs."""
    A, B, _ = _dense_if_few(*numeric_pair(X, Y))
    if sparse.issparse(A) or sparse.issparse(B):
        from sklearn.metrics.pairwise import manhattan_distances  # not before: most never need scikit-learn's

        return into(out, manhattan_distances(sparse.csr_matrix(A), sparse.csr_matrix(B)))
    D = empty_matrix(A, B, out)
    elementwise.manhattan(np.ascontiguousarray(A), np.ascontiguousarray(B.T), D)
    return D


def _mean(B: Array) -> Array:
    """The mean row, and zero of no rows."""
    return np.asarray(B.sum(axis=0) / max(B.shape[0], 1))


def _dense_if_few(A: Any, B: Any, symmetric: bool) -> tuple[Any, Any, bool]:
    """Both sides dense if they have so few columns that it costs nothing, as one feature of a CSR matrix."""
    if A.shape[1] > _FEW_FEATURES:
        return A, B, symmetric
    A = A.toarray() if sparse.issparse(A) else A
    return A, A if symmetric else (B.toarray() if sparse.issparse(B) else B), symmetric


@dataclass(frozen=True)
class Normal(Radial):
    """ω ~ N(0, 2): E cos ωᵀz = exp(−‖z‖²). ‖ω‖²/2 is χ² with d degrees of freedom."""

    def lengths(self, u: Array, d: int) -> Array:
        return np.asarray(np.sqrt(4.0 * gammaincinv(0.5 * d, u)))


class Gaussian(Kernel):
    """The Gaussian kernel, k(x, x') = exp(−‖x − x'‖² / width²).

    Also called squared exponential or RBF kernel. Features should be on one scale, since the distance adds
    them up. Estimators learn the width themselves if they are given several widths (`gaussian_grid`) or all
    of an interval (`Gaussians`).

    Parameters
    ----------
    width : float, default=1.0
        Distance at which the kernel falls to 1/e, positive. A small width learns local, wiggly functions; a
        width far beyond the largest distance of samples learns nearly linear ones. In terms of scikit-learn's
        ``rbf_kernel``, gamma = 1 / width²; in terms of the length scale ℓ of Gaussian processes,
        width = √2 ℓ.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    ARDGaussian : A width of its own for every feature.
    Matern : For rougher functions.
    manykernels.families.gaussian_grid : Gaussian kernels of several widths.
    manykernels.families.Gaussians : All Gaussian kernels of an interval of widths.

    References
    ----------
    Rasmussen & Williams (2006), "Gaussian Processes for Machine Learning", MIT Press, Eq. 4.9 (with
    width² = 2ℓ²).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Gaussian(width=2.0)(X).round(3)
    array([[1.   , 0.779, 0.105],
           [0.779, 1.   , 0.368],
           [0.105, 0.368, 1.   ]])

    Narrow and wide kernels in one model, with learned weights:

    >>> X = np.linspace(-3, 3, 50)[:, None]
    >>> model = MKLRegressor([Gaussian(0.5), Gaussian(2.0)], C=100.0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    def __init__(self, width: float = 1.0, *, name: str | None = None) -> None:
        self.width = width
        self.name = name

    @property
    def statistic(self) -> Hashable | None:
        return ("sqeuclidean",)

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return squared_distances(X, Y, out)

    @property
    def rate(self) -> float:
        width = self._number("width")
        return -min(1.0 / width / width, _LARGEST)

    def fill(self, S: Array, out: Array) -> None:
        elementwise.exp(S, self.rate, out)

    def spectral(self) -> Spectral:
        return Spectral(Normal(), float(np.sqrt(-self.rate)))

    def diag(self, X: Data) -> Array:
        return np.ones(n_samples(X))


@dataclass(frozen=True)
class Cauchy(Independent):
    """ω_j with density 1/(π(1 + ω_j²)): E cos ωᵀz = exp(−‖z‖₁)."""

    def coordinates(self, u: Array) -> Array:
        return np.asarray(np.tan(np.pi * (u - 0.5)))


class Laplacian(Kernel):
    """The Laplacian kernel, k(x, x') = exp(−‖x − x'‖₁ / width).

    It adds up absolute differences of features, so that one outlying feature matters less than for
    `Gaussian`, and it learns rougher functions.

    Parameters
    ----------
    width : float, default=1.0
        Distance at which the kernel falls to 1/e, positive. A small width learns local functions, a large one
        smooth trends.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Gaussian : Smooth functions of the Euclidean distance.
    manykernels.families.Laplacians : All Laplacian kernels of an interval of widths.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Laplacian
    >>> Laplacian(width=2.0)(np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    def __init__(self, width: float = 1.0, *, name: str | None = None) -> None:
        self.width = width
        self.name = name

    @property
    def statistic(self) -> Hashable | None:
        return ("manhattan",)

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return manhattan(X, Y, out)

    @property
    def rate(self) -> float:
        return -min(1.0 / self._number("width"), _LARGEST)

    def fill(self, S: Array, out: Array) -> None:
        elementwise.exp(S, self.rate, out)

    def spectral(self) -> Spectral:
        return Spectral(Cauchy(), -self.rate)

    def diag(self, X: Data) -> Array:
        return np.ones(n_samples(X))


@dataclass(frozen=True)
class Lattice(Independent):
    """ω_j whole, from −K to K, all alike: E cos ωᵀz = Π_j (1 + 2 Σ_{k≤K} cos kz_j)/(2K + 1), K the degree."""

    degree: int

    def coordinates(self, u: Array) -> Array:
        return np.asarray(np.minimum(np.floor(u * (2 * self.degree + 1)), 2 * self.degree) - self.degree)


class Dirichlet(Kernel):
    """The Dirichlet kernel, k(x, x') = Π_i (1 + 2 Σ_{k≤degree} cos(k σ (x_i − x'_i))), σ the frequency.

    It learns periodic functions with the frequencies σ, 2σ, … up to degree · σ in each feature.

    Parameters
    ----------
    frequency : float, default=1.0
        Angular frequency σ, positive: one period is 2π/σ long.
    degree : int, default=1
        Number of harmonics, at least 1. A larger degree learns sharper shapes within a period.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    manykernels.families.Dirichlets : All Dirichlet kernels of an interval of frequencies.

    Notes
    -----
    Afkanpour (2013) has a function of the distance in its place. In one dimension it is the same; in two it
    is not positive semidefinite, and the product over features is.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Dirichlet
    >>> Dirichlet(frequency=1.0)(np.array([[0.0], [np.pi]])).round(3)
    array([[ 3., -1.],
           [-1.,  3.]])
    """

    def __init__(self, frequency: float = 1.0, degree: int = 1, *, name: str | None = None) -> None:
        self.frequency = frequency
        self.degree = degree
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        sigma, degree = self._number("frequency"), self._integer("degree")
        A, B, symmetric = dense_pair(X, Y, "Dirichlet")
        mean = _mean(B)  # k depends on differences only, and smaller angles keep more digits
        a = np.ascontiguousarray(sigma * (A - mean))
        b = np.ascontiguousarray(a.T if symmetric else sigma * (B - mean).T)
        K = empty_matrix(A, B, out)
        elementwise.dirichlet(np.cos(a), np.sin(a), np.cos(b), np.sin(b), degree, K)
        return K

    def diag(self, X: Data) -> Array:
        A = dense_pair(X, None, "Dirichlet")[0]
        return np.full(A.shape[0], (1.0 + 2.0 * self._integer("degree")) ** A.shape[1])

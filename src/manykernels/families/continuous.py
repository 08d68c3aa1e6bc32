"""Families with a kernel κ_σ for every σ of an interval or a box, searched without a grid.

See Afkanpour (2013), §4.2.2 and ch. 5.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._arguments import is_number
from ..kernels import Dirichlet, Gaussian, Kernel, Laplacian
from ..kernels.ard import ARDGaussian
from ..kernels.data import Array, Data, dense_pair, numeric
from .auto import distance_quantiles
from .base import Family, numbers

_NARROW = 8.0  # times as many samples as features: where kernels are held by their features
_ROOT = np.sqrt(2.0)
_BEYOND = 4.0  # how far ranges from the data reach beyond the quantiles of distances


class Parametric(Family):
    """Base class of families κ_σ with σ = (σ_1, …, σ_p) in a box; a subclass in a file of your own is enough.

    A subclass defines ``kernel(*parameters)`` and ``bounds``, p pairs (low, high), as an attribute, a
    property or an argument of its constructor. It may also define:

    - ``gradient(parameters, X, S)``: ∂/∂σ_i Σ_ab S_ab κ_σ(x_a, x_b) for all i. It is checked once against
      finite differences, which stand in for it otherwise. Only searches over several parameters use it.
    - ``lipschitz``: for p = 1, L ≥ |∂/∂σ κ_σ(x, x')/ρ(σ)²| for all σ in the range and all training pairs: a
      number, or a method ``lipschitz(X)`` that returns one, or a matrix of one for each pair. With it the
      search bounds all kernels of the family, and fits are certified.
    - ``prior(*parameters)``: ρ(σ) > 0; kernels are divided by its square.
    - ``rate``: "inverse-square" or "inverse" where p = 1 and κ_σ = exp(−D/σ²) or exp(−D/σ), D the statistic
      that its kernels share, and ρ = 1. Such families are searched exactly and fast.

    Parameters with low > 0 are searched on a logarithmic scale. Solvers ask these families through an oracle
    (``oracles/continuous.py``), and the kernels that a fit selected are in ``kernels_``.

    Attributes
    ----------
    bounds : list of (float, float) or None
        The range (low, high) of each parameter.
    rate : {"inverse-square", "inverse"} or None
        The form of the kernels as functions of σ, if it is one that can be searched exactly.
    lipschitz : float, callable or None
        A bound on the derivative by σ, as described above; None if no bound is known.

    See Also
    --------
    Gaussians : The family of Gaussian kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Parametric
    >>> from manykernels.kernels import Matern
    >>> class Matern32(Parametric):
    ...     bounds = [(0.3, 3.0)]
    ...
    ...     def kernel(self, width):
    ...         return Matern(nu=1.5, width=width)
    >>> X = np.linspace(-3, 3, 30)[:, None]
    >>> model = MKLRegressor(Matern32(), C=10.0).fit(X, np.sin(X[:, 0]))
    >>> all(0.3 <= kernel.get_params()["width"] <= 3.0 for kernel in model.kernels_)
    True

    The other methods follow from `kernel` and `bounds`. The trace of a kernel, h at S = I, is the number of
    samples at any width:

    >>> family, sigma = Matern32(), np.array([0.5])
    >>> family.kernel(0.5), [end.tolist() for end in family.box(X)], family.prior(0.5)
    (Matern(nu=1.5, width=0.5), [[0.3], [3.0]], 1.0)
    >>> value, gradient = family.form(sigma, X, np.eye(30))
    >>> round(value, 6), gradient is None, family.factor(sigma, X) is None
    (30.0, True, True)
    """

    listed: ClassVar[bool] = False
    in_waves: ClassVar[bool] = True
    instead: ClassVar[str] = (
        "A grid of kernels, such as gaussian_grid(low, high, n), is a list, which every solver serves."
    )
    rate: ClassVar[str | None] = None
    bounds: Any = None
    lipschitz: Any = None

    def kernel(self, *parameters: float) -> Kernel:
        """Make the kernel κ_σ.

        Parameters
        ----------
        *parameters : float
            The parameters σ_1, …, σ_p.

        Returns
        -------
        Kernel
            The kernel.
        """
        raise NotImplementedError(f"{type(self).__name__} must define kernel(*parameters).")

    def gradient(self, parameters: Array, X: Data, S: Array) -> Any:
        """Compute the derivatives ∂/∂σ_i Σ_ab S_ab κ_σ(x_a, x_b).

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            The parameters σ.
        X : array-like of shape (n_samples, n_features)
            Samples.
        S : ndarray of shape (n_samples, n_samples)
            Symmetric matrix of coefficients.

        Returns
        -------
        array-like of shape (n_parameters,)
            The derivatives.

        Examples
        --------
        Σ_ab S_ab σ x_a x_b is linear in σ, so that its derivative does not depend on σ:

        >>> import numpy as np
        >>> from manykernels.families import Parametric
        >>> from manykernels.kernels import Linear
        >>> class Lines(Parametric):
        ...     bounds = [(0.1, 10.0)]
        ...
        ...     def kernel(self, scale):
        ...         return scale * Linear()
        ...
        ...     def gradient(self, parameters, X, S):
        ...         return [np.sum(S * (X @ X.T))]
        >>> value, gradient = Lines().form(np.array([3.0]), np.array([[1.0], [2.0]]), np.eye(2))
        >>> round(value, 6), gradient.tolist()
        (15.0, [5.0])
        """
        raise NotImplementedError

    @property
    def has_gradient(self) -> bool:
        """True if this class defines ``gradient``."""
        return type(self).gradient is not Parametric.gradient

    def prior(self, *parameters: float) -> float:
        """Return the prior ρ(σ), by the square of which a kernel is divided; 1 by default.

        Parameters
        ----------
        *parameters : float
            The parameters σ_1, …, σ_p.

        Returns
        -------
        float
            The prior, positive.
        """
        return 1.0

    @property
    def has_prior(self) -> bool:
        """True if this class defines ``prior``."""
        return type(self).prior is not Parametric.prior

    def form(self, parameters: Array, X: Data, S: Array) -> tuple[float, Array | None]:
        """Compute h(σ) = Σ_ab S_ab κ_σ(x_a, x_b), and its gradient if there is one.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            The parameters σ.
        X : array-like of shape (n_samples, n_features)
            Samples.
        S : ndarray of shape (n_samples, n_samples)
            Symmetric matrix of coefficients.

        Returns
        -------
        value : float
            The value h(σ).
        gradient : ndarray of shape (n_parameters,) or None
            Derivatives by the parameters; None where the family has no gradient.
        """
        K = self.kernel(*map(float, parameters))(X)
        value = float(np.vdot(S, K))
        if not self.has_gradient:
            return value, None
        return value, np.asarray(self.gradient(parameters, X, S), dtype=np.float64)

    def factor(self, parameters: Array, X: Data) -> Array | None:
        """Return Φ with κ_σ(X, X) = ΦΦᵀ on these samples, where there is one of few columns.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            The parameters σ.
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, d) or None
            The factor Φ, or None.

        Examples
        --------
        The Dirichlet kernel 1 + 2 cos(σ(x − x')) needs three columns, a constant, a cosine and a sine:

        >>> import numpy as np
        >>> from manykernels.families import Dirichlets
        >>> X = np.linspace(0.0, 5.0, 40)[:, None]
        >>> Phi = Dirichlets().factor(np.array([2.0]), X)
        >>> Phi.shape, bool(np.allclose(Phi @ Phi.T, Dirichlets().kernel(2.0)(X)))
        ((40, 3), True)
        """
        return None

    def box(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> tuple[Array, Array]:
        """Return the smallest and the largest value of each parameter, checked.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples, which count as repetitions.
        feature_names : sequence of str or None, default=None
            Names of the columns.

        Returns
        -------
        low : ndarray of shape (n_parameters,)
            Smallest values.
        high : ndarray of shape (n_parameters,)
            Largest values.
        """
        try:
            limits = np.asarray(self.bounds, dtype=np.float64)
        except (TypeError, ValueError):
            limits = np.empty(0)
        if limits.ndim != 2 or limits.shape[1:] != (2,) or not len(limits) or not np.isfinite(limits).all():
            raise ValueError(
                f"bounds={self.bounds!r} of {type(self).__name__} were given; expected a pair (low, high) of "
                "finite numbers for every parameter, such as [(0.1, 10.0)]."
            )
        return self._checked(limits[:, 0], limits[:, 1])

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        name = type(self).__name__
        raise ValueError(
            f"{name} stands for more kernels than can be listed, and this needs a list. Give it alone, as "
            f"kernels={name}(...), to MKLClassifier or MKLRegressor, with solver='corrective' or 'greedy'; "
            "or give a list, such as gaussian_grid(low, high, n)."
        )

    def _checked(self, low: Array, high: Array) -> tuple[Array, Array]:
        bad = np.flatnonzero(~(low < high))
        if bad.size:
            j = int(bad[0])
            which = f" for parameter {j}" if low.size > 1 else ""
            raise ValueError(
                f"low={low[j]:.6g} and high={high[j]:.6g} were given to {type(self).__name__}{which}; "
                "expected low < high. For a single kernel give the kernel itself."
            )
        return low, high


class _Positive(Parametric):
    """One range of positive numbers, given or from the data.

    Attributes
    ----------
    each : bool
        Whether every feature has a parameter of its own, and may have a range of its own.
    """

    each: ClassVar[bool] = False

    def __init__(self, low: Any = None, high: Any = None) -> None:
        self.low = low
        self.high = high

    def box(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> tuple[Array, Array]:
        size = self._size(X)
        low, high = (self._end(end, size) for end in ("low", "high"))
        if low is None or high is None:
            found = self._from_data(X, sample_weight, feature_names)
            low = np.full(size, found[0]) if low is None else low
            high = np.full(size, found[1]) if high is None else high
        return self._checked(low, high)

    def _size(self, X: Data) -> int:
        """Return how many parameters a kernel has."""
        return int(numeric(X).shape[1]) if self.each else 1

    def _end(self, end: str, size: int) -> Array | None:
        """low or high as `size` positive numbers; None where the data decide."""
        value = getattr(self, end)
        if value is None:
            return None
        several = self.each and np.ndim(value) == 1
        values = list(value) if several else [value]
        fits = all(is_number(v) and 0.0 < v < np.inf for v in values) and (not several or len(values) == size)
        if not fits:
            expected = "a positive number" + (f" or {size} of them, one a feature" if self.each else "")
            raise ValueError(
                f"{end}={value!r} was given to {type(self).__name__}; expected {expected}, or None for a "
                "range from the data."
            )
        return np.array(values, dtype=np.float64) if several else np.full(size, float(values[0]))

    def _from_data(self, X: Data, sample_weight: Any, feature_names: Any) -> tuple[float, float]:
        """low and high for these data, from the 5 % and 95 % quantiles of the positive distances."""
        A = numbers(X, feature_names)
        quantiles = distance_quantiles(A, sample_weight)
        if not quantiles:
            raise ValueError(
                f"{type(self).__name__} was given no range, and X (n_samples = {A.shape[0]}) has no two "
                "different rows to take one from. Give low and high."
            )
        return self._range(quantiles[0], quantiles[-1], float(np.sqrt(A.shape[1])))

    def _range(self, near: float, far: float, root: float) -> tuple[float, float]:
        raise NotImplementedError


class Gaussians(_Positive):
    """Gaussian kernels exp(−‖x − x'‖²/σ²) of every width σ from `low` to `high`.

    The solver searches the interval itself, so that no grid of widths has to be chosen, and the certificate
    covers all widths. Learned kernels are in ``kernels_`` of the estimator.

    Parameters
    ----------
    low : float or None, default=None
        Smallest width. None takes a quarter of the 5 % quantile of the positive distances between samples.
        Narrower kernels are close to the identity matrix, which only remembers samples.
    high : float or None, default=None
        Largest width. None takes four times the 95 % quantile of these distances. Wider kernels are close to
        linear.

    See Also
    --------
    gaussian_grid : A list of Gaussian kernels, which every solver and every norm serves.
    ARDGaussians : A width of its own for every feature.

    References
    ----------
    Gehler & Nowozin (2008), "Infinite kernel learning", Max Planck Institute for Biological Cybernetics,
    Technical Report 178.

    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §4.2.2
    and ch. 5.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Gaussians
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> model = MKLRegressor(Gaussians(0.5, 5.0), C=10.0).fit(X, np.sin(2 * X[:, 0]))
    >>> model.certified_, bool(model.dual_gap_ < 1e-3)
    (True, True)
    """

    rate: ClassVar[str | None] = "inverse-square"

    def kernel(self, *parameters: float) -> Kernel:
        return Gaussian(*parameters)

    def _range(self, near: float, far: float, root: float) -> tuple[float, float]:
        return near / _BEYOND, far * _BEYOND


class Laplacians(_Positive):
    """Laplacian kernels exp(−‖x − x'‖₁/σ) of every width σ from `low` to `high`.

    Parameters
    ----------
    low : float or None, default=None
        Smallest width. None takes a quarter of the 5 % quantile of the positive Euclidean distances between
        samples.
    high : float or None, default=None
        Largest width. None takes 4√d times the 95 % quantile of these distances, since ‖·‖₂ ≤ ‖·‖₁ ≤ √d ‖·‖₂
        for d features.

    See Also
    --------
    Gaussians : The same with the Gaussian kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Laplacians
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> model = MKLRegressor(Laplacians(0.5, 5.0), C=10.0).fit(X, np.abs(X[:, 0]))
    >>> model.certified_
    True
    """

    rate: ClassVar[str | None] = "inverse"

    def kernel(self, *parameters: float) -> Kernel:
        return Laplacian(*parameters)

    def _range(self, near: float, far: float, root: float) -> tuple[float, float]:
        return near / _BEYOND, far * _BEYOND * root


class Dirichlets(_Positive):
    """Dirichlet kernels Π_i (1 + 2 Σ_{k≤degree} cos(kσ(x_i − x'_i))) of every frequency σ of an interval.

    They find the periods of a signal. Only data of one feature are searched with a certificate.

    Parameters
    ----------
    low : float or None, default=None
        Smallest angular frequency. None takes π over four times the 95 % quantile of the positive distances
        between samples: an eighth of a period over that quantile.
    high : float or None, default=None
        Largest angular frequency. None takes 2π over the 5 % quantile: a whole period over that.
    degree : int, default=1
        Number of harmonics of each kernel, at least 1.

    See Also
    --------
    manykernels.kernels.Dirichlet : One of these kernels.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Dirichlets
    >>> X = np.linspace(0, 10, 80)[:, None]
    >>> model = MKLRegressor(Dirichlets(0.5, 5.0), C=10.0).fit(X, np.sin(3 * X[:, 0]))
    >>> round(float(model.kernels_[int(model.weights_.argmax())].get_params()["frequency"]), 1)
    3.0
    """

    def __init__(self, low: Any = None, high: Any = None, degree: int = 1) -> None:
        super().__init__(low, high)
        self.degree = degree

    def kernel(self, *parameters: float) -> Kernel:
        return Dirichlet(parameters[0], self.degree)

    def factor(self, parameters: Array, X: Data) -> Array | None:
        """Compute products over the features of 1, √2 cos(kσx) and √2 sin(kσx), k ≤ degree."""
        A, k = dense_pair(X, None, "Dirichlet")[0], np.arange(1, self.order() + 1)
        own = type(self).kernel is not Dirichlets.kernel
        if own or (2.0 * k.size + 1.0) ** min(A.shape[1], 100) > A.shape[0] / _NARROW:
            return None
        Phi = np.ones((A.shape[0], 1))
        for x in _centred(A).T:
            angles = np.outer(x, k * parameters[0])
            waves = np.hstack([np.ones((x.size, 1)), _ROOT * np.cos(angles), _ROOT * np.sin(angles)])
            Phi = (Phi[:, :, None] * waves[:, None, :]).reshape(x.size, -1)
        return Phi

    def box(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> tuple[Array, Array]:
        self.order()
        return super().box(X, sample_weight, feature_names)

    def order(self) -> int:
        """Return the degree, checked.

        Returns
        -------
        int
            The number of harmonics.

        Examples
        --------
        >>> from manykernels.families import Dirichlets
        >>> Dirichlets(degree=2).order()
        2
        >>> Dirichlets(degree=0).order()
        Traceback (most recent call last):
        ...
        ValueError: degree=0 was given to Dirichlet; expected a whole number, at least 1.
        """
        return Dirichlet(degree=self.degree)._integer("degree")

    def _range(self, near: float, far: float, root: float) -> tuple[float, float]:
        return np.pi / (_BEYOND * far), 2.0 * np.pi / near


class ARDGaussians(_Positive):
    """Gaussian kernels exp(−Σ_i (x_i − x'_i)²/σ_i²) of all widths σ_i, one for each feature.

    Features on different scales should be standardised first. The problem over widths is not convex, so that
    fits have no certificate over the whole family in several dimensions.

    Parameters
    ----------
    low : float, array-like of shape (n_features,) or None, default=None
        Smallest widths. None takes a quarter of the 5 % quantile of the positive distances over √d, so that
        one feature of d may decide alone.
    high : float, array-like of shape (n_features,) or None, default=None
        Largest widths. None takes 4√d times the 95 % quantile, so that a feature may play no part.

    See Also
    --------
    Relevance : Widths of features from the evidence of a Gaussian process.
    Gaussians : One width for all features.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, Eq.
    4.20.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import ARDGaussians
    >>> X = np.random.RandomState(0).uniform(-2, 2, (60, 2))
    >>> model = MKLRegressor(ARDGaussians(), C=10.0, tol=0.3, random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool(model.score(X, X[:, 0] ** 2) > 0.9)
    True
    """

    each: ClassVar[bool] = True

    def kernel(self, *parameters: float) -> Kernel:
        return ARDGaussian(parameters)

    def gradient(self, parameters: Array, X: Data, S: Array) -> Array:
        return self.form(parameters, X, S)[1]

    def form(self, parameters: Array, X: Data, S: Array) -> tuple[float, Array]:
        """Compute h and its gradient, all by one GEMM.

        With W = S∘K, h = Σ_ab W_ab and ∂h/∂σ_i = 2σ_i⁻³ Σ_ab W_ab (x_ai − x_bi)², where for a symmetric W

            Σ_ab W_ab (x_ai − x_bi)² = 2 (x_i²·W1 − x_iᵀWx_i)
        """
        W = self.kernel(*map(float, parameters))(X)
        W *= S
        rows = W.sum(axis=1)
        A = _centred(numeric(X))
        squares = 2.0 * (rows @ A**2 - np.einsum("ai,ai->i", A, W @ A))
        return float(rows.sum()), 2.0 * squares / np.asarray(parameters) ** 3

    def _range(self, near: float, far: float, root: float) -> tuple[float, float]:
        return near / (_BEYOND * root), far * _BEYOND * root


def _centred(A: Any) -> Array:
    """A less the mean of its columns: differences stay the same, and fewer digits cancel."""
    A = A if isinstance(A, np.ndarray) else A.toarray()
    return np.asarray(A - A.mean(axis=0))

"""The base class of kernels."""

from __future__ import annotations

import inspect
from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from .._arguments import is_number, is_whole, shown
from .data import Array, Data, is_stack, matrix_shape, n_samples, rounding, same, take_rows
from .presence import Mask, write

if TYPE_CHECKING:
    from .algebra import Power, Product, Scaled, Sum
    from .spectral import Spectral

_DIAGONAL_BLOCK = 64
Role = Literal["linear", "column", "empty product", "absent"]


@dataclass(frozen=True)
class Member:
    """Facts that a family says of one of its kernels.

    Whoever chooses among kernels reads these facts. Names of kernels are for people only.

    Attributes
    ----------
    role : {"linear", "column", "empty product", "absent"} or None
        The part that the kernel has in its family. "linear" is the linear kernel of all features of a table,
        the plainest model there is. "column" is a kernel of one column. "empty product" is the constant among
        products. "absent" is the zero kernel that stands for all kernels of a view that no sample has. None
        is for kernels without a special part.
    scale : float or None
        The width in median distances between samples, where the family measures it so.
    also : tuple of str
        Names that the family gives to other kernels that equal this one in the data at hand, and may differ
        from it in other data. A kernel that was chosen by name on all samples is found by them in a part of
        the samples.
    within : str or None
        The name of the kernel within its view, where it belongs to one. Kernels of several views with one
        such name are the same similarity, each of the columns of its view.
    """

    role: Role | None = None
    scale: float | None = None
    also: tuple[str, ...] = ()
    within: str | None = None


_NOBODY = Member()


class Kernel(BaseEstimator):
    """Base class of all kernels: a positive semidefinite similarity k(x, x').

    A new kernel defines one of two things:

    - ``compute(X, Y, out)``, which returns the matrix, in ``out`` or in new memory; or
    - ``statistic``, ``compute_statistic(X, Y, out)`` and ``fill(S, out)``, if k is an elementwise function of
      a matrix S that other kernels need too (inner products, distances). Code that evaluates many kernels
      then computes S once for each key. ``fill`` must allow ``out`` to be ``S`` itself.

    The general ``diag`` of this class is slow: a kernel that knows its diagonal overrides it. A kernel with a
    finite feature map, k = ΦΦᵀ, defines ``has_features`` and ``feature_maps``. A kernel of differences x − x'
    with a known spectral density defines ``spectral``. The constructor stores its arguments as they are
    given; they are checked when the kernel is used.

    Kernels have an algebra: ``k1 + k2`` is a `Sum`, ``k1 * k2`` a `Product`, ``2.0 * k`` is `Scaled`, and
    ``k ** 2`` a `Power`.

    Attributes
    ----------
    name : str or None
        The name that the user gave the kernel; None if there is none.

    See Also
    --------
    Gaussian : The kernel to start with for numbers.
    OnColumns : A kernel on some of the columns.
    Callable : A kernel from a plain function.

    Examples
    --------
    A new kernel needs a constructor and ``compute``:

    >>> import numpy as np
    >>> from manykernels.kernels import Kernel, Linear
    >>> class Sign(Kernel):
    ...     def __init__(self, *, name=None):
    ...         self.name = name
    ...
    ...     def compute(self, X, Y=None, out=None):
    ...         return np.sign(X) @ np.sign(X if Y is None else Y).T
    >>> X = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> Sign()(X)
    array([[2., 0.],
           [0., 2.]])
    >>> (Sign() + 2.0 * Linear())(X).round(6).tolist()
    [[12.0, 2.0], [2.0, 22.0]]
    """

    name: str | None = None
    _member: Member | None = None
    __array_ufunc__ = None  # so that np.float64(2) * kernel asks the kernel

    def __call__(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        """Compute the matrix of k(x, y) for all rows x of X and y of Y.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features)
            Samples. Kernels of strings take a list of strings, precomputed kernels a stack of matrices.
        Y : array-like of shape (n_Y, n_features) or None, default=None
            Other samples. None stands for X and gives an exactly symmetric matrix.
        out : ndarray of shape (n_X, n_Y) or None, default=None
            Memory that the matrix is written to.

        Returns
        -------
        ndarray of shape (n_X, n_Y)
            The matrix, which is `out` if that is given.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.kernels import Linear
        >>> X, Y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[3.0, 1.0]])
        >>> Linear()(X)
        array([[1., 0.],
               [0., 4.]])
        >>> Linear()(X, Y)
        array([[3.],
               [2.]])
        """
        if Y is not None and same(X, Y):
            Y = None
        if out is not None:
            self._check_out(out, matrix_shape(X, Y))
        if self.statistic is None:
            K = self.compute(X, Y, out)
        else:
            K = self.compute_statistic(X, Y, out)
            self.fill(K, K)
            self.mask(K, X, Y)
        return K if out is None or K is out else into(out, K)

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        """Compute the matrix, in new memory or in ``out``, for kernels without a statistic.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features)
            Samples.
        Y : array-like of shape (n_Y, n_features) or None, default=None
            Other samples; None stands for X.
        out : ndarray of shape (n_X, n_Y) or None, default=None
            Memory that may be used for the result.

        Returns
        -------
        ndarray of shape (n_X, n_Y)
            The matrix.

        Examples
        --------
        A kernel that counts the columns in which two samples agree:

        >>> import numpy as np
        >>> from manykernels.kernels import Kernel
        >>> class Agreement(Kernel):
        ...     def compute(self, X, Y=None, out=None):
        ...         Y = X if Y is None else Y
        ...         return (X[:, None, :] == Y[None, :, :]).sum(axis=2).astype(float)
        >>> Agreement().compute(np.array([[1, 2, 3], [1, 2, 9]]))
        array([[3., 2.],
               [2., 3.]])
        """
        raise NotImplementedError(f"{type(self).__name__} must define compute(), or statistic and fill().")

    @property
    def absence(self) -> Hashable | None:
        """Key of the view that the kernel is of; None if no sample can lack it."""
        return None

    def present(self, X: Data) -> Mask | None:
        """Return which samples have the view of this kernel.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of bool of shape (n_samples,) or None
            True for samples that have the view; None where all samples have it.

        Examples
        --------
        The cells of the second sample are all missing:

        >>> import numpy as np
        >>> from manykernels.kernels import Linear, OnColumns
        >>> scan = OnColumns(Linear(), [1, 2], view="scan")
        >>> scan.present(np.array([[50.0, 1.0, 3.0], [60.0, np.nan, np.nan]]))
        array([ True, False])
        """
        return None

    def mask(self, K: Array, X: Data, Y: Data | None = None) -> None:
        """Write zero, in place, for samples that lack the view of the kernel (see ``kernels.presence``).

        Parameters
        ----------
        K : ndarray of shape (n_X, n_Y)
            The matrix of X and Y, which is changed.
        X : array-like of shape (n_X, n_features)
            Samples.
        Y : array-like of shape (n_Y, n_features) or None, default=None
            Other samples; None stands for X.

        Examples
        --------
        The second sample lacks the view:

        >>> import numpy as np
        >>> from manykernels.kernels import Linear, OnColumns
        >>> X, K = np.array([[50.0, 1.0], [60.0, np.nan]]), np.full((2, 2), 7.0)
        >>> OnColumns(Linear(), [1], view="scan").mask(K, X)
        >>> K
        array([[7., 0.],
               [0., 0.]])
        """
        left = self.present(X)
        right = None if is_stack(X) else left if Y is None else self.present(Y)
        write(K, left, right, 0.0, 0.0, 0.0)

    def diag(self, X: Data) -> Array:
        """Compute k(x, x) for every row x of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The diagonal of the kernel matrix.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X = np.array([[3.0, 4.0], [0.0, 1.0]])
        >>> Linear().diag(X)
        array([25.,  1.])
        >>> (Linear() + Gaussian(1.0)).diag(X)
        array([26.,  2.])
        """
        n = n_samples(X)
        blocks = [
            np.diagonal(self(take_rows(X, lo, min(lo + _DIAGONAL_BLOCK, n))))
            for lo in range(0, n, _DIAGONAL_BLOCK)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def rounding(self, X: Data) -> float:
        """Return the relative size of rounding errors in k(X, X).

        It is larger where a part of the kernel is given in few digits, such as a matrix of float32.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        float
            The relative error that is taken for rounding.

        Examples
        --------
        A matrix in float32 has fewer digits:

        >>> import numpy as np
        >>> from manykernels.kernels import Gaussian, Precomputed
        >>> Gaussian(1.0).rounding(np.eye(2))
        1e-07
        >>> stack = np.ones((2, 2, 1), dtype=np.float32)
        >>> Precomputed(0).rounding(stack)
        0.0001
        """
        given = [v if isinstance(v, list | tuple) else [v] for v in self._arguments().values()]
        members = [kernel for values in given for kernel in values if isinstance(kernel, Kernel)]
        return max([kernel.rounding(X) for kernel in members], default=rounding(np.float64))

    @property
    def statistic(self) -> Hashable | None:
        """Key of the matrix S that k is an elementwise function of: kernels with equal keys can share S."""
        return None

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        """Compute the matrix S that the kernel is an elementwise function of.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features)
            Samples.
        Y : array-like of shape (n_Y, n_features) or None, default=None
            Other samples; None stands for X.
        out : ndarray of shape (n_X, n_Y) or None, default=None
            Memory that S is written to.

        Returns
        -------
        ndarray of shape (n_X, n_Y)
            The matrix S.

        Examples
        --------
        Gaussian kernels of all widths are functions of the squared distances:

        >>> import numpy as np
        >>> from manykernels.kernels import Gaussian
        >>> X = np.array([[0.0], [1.0], [3.0]])
        >>> Gaussian(2.0).compute_statistic(X)
        array([[0., 1., 9.],
               [1., 0., 4.],
               [9., 4., 0.]])
        >>> Gaussian(2.0).statistic == Gaussian(5.0).statistic
        True
        """
        raise TypeError(f"{self.label} has no shared statistic; call it instead.")

    @property
    def rate(self) -> float | None:
        """The number c if k = exp(c·S), else None: sweeps over such kernels need not write them to memory."""
        return None

    def fill(self, S: Array, out: Array) -> None:
        """Write k, computed elementwise from S, into ``out``.

        Parameters
        ----------
        S : ndarray of shape (n_X, n_Y)
            The shared statistic.
        out : ndarray of shape (n_X, n_Y)
            Memory for the kernel matrix, which may be `S` itself.

        Examples
        --------
        One matrix of squared distances serves both widths:

        >>> import numpy as np
        >>> from manykernels.kernels import Gaussian
        >>> S, K = np.array([[0.0, 4.0], [4.0, 0.0]]), np.empty((2, 2))
        >>> for width in (1.0, 2.0):
        ...     Gaussian(width).fill(S, K)
        ...     print(K.round(3).tolist())
        [[1.0, 0.018], [0.018, 1.0]]
        [[1.0, 0.368], [0.368, 1.0]]
        """
        raise TypeError(f"{self.label} has no shared statistic; call it instead.")

    @property
    def has_features(self) -> bool:
        """True if ``features`` gives an explicit finite map with k = ΦΦᵀ."""
        return False

    def features(self, X: Data) -> Any:
        """Compute the features Φ of one set of samples, with k(X, X) = ΦΦᵀ.

        Use ``feature_maps`` for two sets of samples, whose features must have common coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_components)
            The features Φ.

        Examples
        --------
        The only feature of this kernel is the product of both columns:

        >>> import numpy as np
        >>> from manykernels.kernels import Monomial
        >>> X, product = np.array([[1.0, 2.0], [3.0, 4.0]]), Monomial([0, 1])
        >>> Phi = product.features(X)
        >>> Phi
        array([[ 2.],
               [12.]])
        >>> np.array_equal(Phi @ Phi.T, product(X))
        True
        """
        return self.feature_maps(X)[0]

    def feature_maps(self, *sets: Data) -> list[Any]:
        """Compute the features of several sets of samples in common coordinates.

        Parameters
        ----------
        *sets : array-like of shape (n_samples, n_features)
            Sets of samples.

        Returns
        -------
        list of ndarray or CSR matrix
            Features of each set, so that k(X, Y) = Φ_X Φ_Yᵀ.

        Examples
        --------
        The words of both sets get common coordinates:

        >>> import numpy as np
        >>> from manykernels.kernels import Spectrum
        >>> train, new = ["banana", "bandana"], ["ananas"]
        >>> Phi_train, Phi_new = Spectrum(2).feature_maps(train, new)
        >>> Phi_train.shape[1] == Phi_new.shape[1]
        True
        >>> np.allclose((Phi_new @ Phi_train.T).toarray(), Spectrum(2)(new, train))
        True
        """
        raise TypeError(f"{self.label} has no finite feature map.")

    def spectral(self) -> Spectral | None:
        """Return the spectral density of a kernel k(x − x') with k(x, x) = 1, if it is known.

        A kernel with a spectral density has random features. A kernel that inherits from such a kernel and is
        another function must define its own.

        Returns
        -------
        Spectral or None
            The spectral density; None if it is not known.

        Examples
        --------
        The frequencies of a Gaussian kernel are smaller if its width is larger:

        >>> from manykernels.kernels import Gaussian, Linear
        >>> Gaussian(1.0).spectral().scale, Gaussian(4.0).spectral().scale
        (1.0, 0.25)
        >>> Linear().spectral() is None
        True
        """
        return None

    def terms(self) -> list[tuple[float, Kernel]]:
        """Return the kernel as a weighted sum of kernels that are no sums themselves.

        Mixtures use it to share work inside of sums.

        Returns
        -------
        list of (float, Kernel)
            Pairs (c_j, k_j) with k = Σ_j c_j k_j.

        Examples
        --------
        >>> from manykernels.kernels import Gaussian, Linear
        >>> (2.0 * (Linear() + Gaussian(3.0))).terms()
        [(2.0, Linear()), (2.0, Gaussian(width=3.0))]
        """
        return [(1.0, self)]

    @property
    def member(self) -> Member:
        """The facts that a family says of this kernel; kernels around another one have those of that one."""
        return _NOBODY if self._member is None else self._member

    def as_member(self, **facts: Any) -> Self:
        """Return a copy of the kernel that carries further facts about itself.

        Parameters
        ----------
        **facts : object
            Fields of ``Member`` to change: role, scale, also, within.

        Returns
        -------
        Kernel
            The copy, with the facts of this kernel and the new ones.

        Examples
        --------
        A family tells that the width is half the median distance of its samples:

        >>> from manykernels.kernels import Gaussian
        >>> kernel = Gaussian(3.0).as_member(scale=0.5)
        >>> kernel, kernel.member.scale
        (Gaussian(width=3.0), 0.5)
        """
        made = copy(self)
        made._member = replace(self.member, **facts)
        return made

    def __sklearn_clone__(self) -> Self:
        return self._told(super().__sklearn_clone__())

    def _told(self, made: Self) -> Self:
        """Give a clone the facts that this kernel has."""
        if self._member is not None:
            made._member = self._member
        return made

    @property
    def label(self) -> str:
        """The name if there is one, else a short description such as ``Gaussian(width=2)``."""
        return self.name if self.name is not None else self._describe()

    def _describe(self) -> str:
        shown = [f"{key}={brief(value)}" for key, value in self._arguments().items() if key != "name"]
        return f"{type(self).__name__}({', '.join(shown)})" if shown else type(self).__name__

    def _arguments(self) -> dict[str, Any]:
        kind: Any = type(self)
        return {key: getattr(self, key) for key in _params(kind)}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        arguments = self._arguments().items()
        shown = ", ".join(f"{key}={value!r}" for key, value in arguments if value is not None)
        return f"{type(self).__name__}({shown})"

    def __add__(self, other: Kernel) -> Sum:
        from .algebra import Sum

        return Sum.of(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        return self if is_number(other) and other == 0 else NotImplemented  # the start of sum([...])

    def __mul__(self, other: Kernel | float) -> Product | Scaled:
        from .algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product.of(self, other)
        return Scaled(self, other) if is_number(other) else NotImplemented

    def __rmul__(self, other: float) -> Product | Scaled:
        return self * other

    def __pow__(self, degree: int) -> Power:
        from .algebra import Power

        return Power(self, degree) if is_number(degree) else NotImplemented

    def _check_out(self, out: Array, shape: tuple[int, int]) -> None:
        if out.shape != shape or out.dtype != np.float64:
            raise ValueError(
                f"{self.label} was given out of shape {out.shape} and type {out.dtype}; "
                f"expected {shape} and float64."
            )

    def _number(self, param: str, *, zero: bool = False) -> float:
        """The parameter as a positive (or, with ``zero``, non-negative) finite float, or an error."""
        value = getattr(self, param)
        if not is_number(value) or not np.isfinite(float(value)) or value < 0 or (value == 0 and not zero):
            expected = "a non-negative number" if zero else "a positive number"
            raise ValueError(
                f"{param}={shown(value)} was given to {type(self).__name__}; expected {expected}."
            )
        return float(value)

    def _integer(self, param: str) -> int:
        """The parameter as a whole number of at least 1, or an error."""
        value = getattr(self, param)
        if not is_whole(value) or value < 1:
            raise ValueError(
                f"{param}={shown(value)} was given to {type(self).__name__}; expected a whole number, at "
                "least 1."
            )
        return int(value)


@cache
def _params(kind: Any) -> tuple[str, ...]:
    """The parameters of a class's constructor, in its order."""
    return tuple(inspect.signature(kind).parameters)


def brief(value: Any) -> str:
    """A parameter's value in few characters."""
    if isinstance(value, Kernel):
        return value.label
    if is_number(value):
        return f"{float(value):.4g}"
    return str(getattr(value, "__name__", value))


def empty_matrix(X: Data, Y: Data | None, out: Array | None) -> Array:
    """``out``, or new memory of the right shape."""
    return np.empty(matrix_shape(X, Y)) if out is None else out


def into(out: Array | None, K: Any) -> Array:
    """K copied into ``out``, or K itself as a contiguous array if there is no ``out``."""
    if out is None:
        return np.ascontiguousarray(K, dtype=np.float64)
    out[...] = K
    return out

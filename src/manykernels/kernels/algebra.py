"""Sums, products, multiples and powers of kernels."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from functools import reduce
from typing import Any, Self

import numpy as np

from .._fast import elementwise
from .base import Kernel, Member, brief, empty_matrix
from .data import Array, Data
from .presence import Mask, both, either, presences

_MEMBER = re.compile(r"k(\d+)")


class Composite(Kernel):
    """Base of kernels made of a list of others.

    ``get_params`` and ``set_params`` reach member i as ``k{i}`` and its parameters as ``k{i}__…``.
    """

    kernels: Sequence[Kernel]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, with those of the members as ``k{i}__…``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the parameters of the members too.

        Returns
        -------
        dict of str to object
            Parameters by name.

        Examples
        --------
        >>> from manykernels.kernels import Gaussian, Linear
        >>> params = (Linear() + Gaussian(2.0)).get_params()
        >>> params["k0"], params["k1__width"]
        (Linear(), 2.0)
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for i, kernel in enumerate(self.kernels):
                params[f"k{i}"] = kernel
                params.update({f"k{i}__{key}": value for key, value in kernel.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also members ``k{i}`` and their parameters ``k{i}__…``.

        Parameters
        ----------
        **params : object
            Parameters by name, as `get_params` returns them.

        Returns
        -------
        Composite
            The kernel itself.

        Examples
        --------
        >>> from manykernels.kernels import Gaussian, Laplacian, Linear
        >>> total = Linear() + Gaussian(2.0)
        >>> total.set_params(k1__width=5.0)
        Linear() + Gaussian(width=5.0)
        >>> total.set_params(k0=Laplacian(1.0))
        Laplacian(width=1.0) + Gaussian(width=5.0)
        """
        for key in [key for key in params if _MEMBER.fullmatch(key)]:
            i = int(key[1:])
            if i >= len(self.kernels):
                raise ValueError(f"{key} was given to {self.label}, which has {len(self.kernels)} kernels.")
            self.kernels = [*self.kernels[:i], params.pop(key), *self.kernels[i + 1 :]]
        super().set_params(**params)
        return self

    @property
    def absence(self) -> Hashable | None:
        keys = tuple(kernel.absence for kernel in self.kernels)
        return None if any(key is None for key in keys) else keys

    def present(self, X: Data) -> Mask | None:
        """Return which samples have any of the views; the parts of views that they lack are zero."""
        return None if self.absence is None else either(presences(self.kernels, X))

    def _members(self) -> list[Kernel]:
        kernels = list(self.kernels)
        if not kernels or not all(isinstance(kernel, Kernel) for kernel in kernels):
            raise ValueError(
                f"{type(self).__name__} expects a list of at least one kernel, got {self.kernels!r}."
            )
        return kernels

    @classmethod
    def of(cls, left: Kernel, right: Kernel) -> Self:
        """Combine two kernels; unnamed operands of the same class are flattened into the result.

        Parameters
        ----------
        left : Kernel
            The first operand.
        right : Kernel
            The second operand.

        Returns
        -------
        Composite
            The sum or product.

        Examples
        --------
        The sum has three members, not a sum and another kernel:

        >>> from manykernels.kernels import Gaussian, Linear, Sum
        >>> total = Sum.of(Linear() + Gaussian(1.0), Gaussian(2.0))
        >>> len(total.kernels)
        3
        """
        flat: list[Kernel] = []
        for kernel in (left, right):
            flat.extend(kernel.kernels if type(kernel) is cls and kernel.name is None else [kernel])
        return cls(flat)


class Sum(Composite):
    """The sum of kernels, k = Σ_m k_m, written ``k_1 + k_2``.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels that are added. Parameters of kernel i can be set as ``k{i}__…``.
    name : str or None, default=None
        Name shown in results and plots. None joins the names of the members.

    See Also
    --------
    Mixture : A sum with weights.

    Examples
    --------
    >>> from manykernels.kernels import Gaussian, Linear
    >>> total = Linear() + Gaussian(2.0)
    >>> total
    Linear() + Gaussian(width=2.0)
    >>> total.set_params(k1__width=3.0)([[1.0], [1.0]])
    array([[2., 2.],
           [2., 2.]])
    """

    def __init__(self, kernels: Sequence[Kernel], *, name: str | None = None) -> None:
        self.kernels = kernels
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        from .shared import combine

        kernels = self._members()
        return combine(kernels, np.ones(len(kernels)), X, Y, out)

    def diag(self, X: Data) -> Array:
        return np.asarray(np.sum([kernel.diag(X) for kernel in self._members()], axis=0))

    def terms(self) -> list[tuple[float, Kernel]]:
        return [term for kernel in self._members() for term in kernel.terms()]

    def _describe(self) -> str:
        return " + ".join(kernel.label for kernel in self.kernels)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return " + ".join(map(repr, self.kernels)) if self.name is None else super().__repr__()


class Product(Composite):
    """The product of kernels, k = Π_m k_m, written ``k_1 * k_2``.

    Samples are similar only if they are similar for every factor.

    Parameters
    ----------
    kernels : sequence of Kernel
        The factors. Parameters of kernel i can be set as ``k{i}__…``.
    name : str or None, default=None
        Name shown in results and plots. None joins the names of the members.

    See Also
    --------
    Power : A kernel times itself.
    manykernels.families.Products : All products of given kernels.

    Examples
    --------
    >>> from manykernels.kernels import Gaussian, OnColumns
    >>> k = OnColumns(Gaussian(1.0), [0]) * OnColumns(Gaussian(5.0), [1])
    >>> k([[0.0, 0.0], [0.0, 5.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    def __init__(self, kernels: Sequence[Kernel], *, name: str | None = None) -> None:
        self.kernels = kernels
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        from .shared import evaluate

        K = empty_matrix(X, Y, out)
        K.fill(1.0)
        for _, factor in evaluate(self._members(), X, Y):
            K *= factor
        return K

    def diag(self, X: Data) -> Array:
        return np.asarray(np.prod([kernel.diag(X) for kernel in self._members()], axis=0))

    @property
    def absence(self) -> Hashable | None:
        keys = tuple(kernel.absence for kernel in self.kernels)
        return None if all(key is None for key in keys) else keys

    def present(self, X: Data) -> Mask | None:
        """Return which samples have all of the views."""
        return reduce(both, presences(self.kernels, X), None)

    def _describe(self) -> str:
        return " * ".join(map(_factor, self.kernels))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return " * ".join(map(_operand, self.kernels)) if self.name is None else super().__repr__()


class Scaled(Kernel):
    """A multiple of a kernel, k = factor · kernel, written ``2.0 * kernel``.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is scaled.
    factor : float, default=1.0
        The factor, not negative. A model shrinks a kernel less if its factor is larger.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    Examples
    --------
    >>> from manykernels.kernels import Linear
    >>> (2.0 * Linear())([[1.0], [3.0]])
    array([[ 2.,  6.],
           [ 6., 18.]])
    """

    def __init__(self, kernel: Kernel, factor: float = 1.0, *, name: str | None = None) -> None:
        self.kernel = kernel
        self.factor = factor
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        factor = self._number("factor", zero=True)
        K = self.kernel(X, Y, out)
        K *= factor
        return K

    def diag(self, X: Data) -> Array:
        return self._number("factor", zero=True) * self.kernel.diag(X)

    @property
    def absence(self) -> Hashable | None:
        return self.kernel.absence

    def present(self, X: Data) -> Mask | None:
        return self.kernel.present(X)

    @property
    def statistic(self) -> Hashable | None:
        return self.kernel.statistic

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return self.kernel.compute_statistic(X, Y, out)

    def fill(self, S: Array, out: Array) -> None:
        factor = self._number("factor", zero=True)
        self.kernel.fill(S, out)
        out *= factor

    @property
    def member(self) -> Member:
        return self._member or self.kernel.member

    @property
    def has_features(self) -> bool:
        return self.kernel.has_features

    def feature_maps(self, *sets: Data) -> list[Any]:
        root = np.sqrt(self._number("factor", zero=True))
        return [root * Phi for Phi in self.kernel.feature_maps(*sets)]

    def terms(self) -> list[tuple[float, Kernel]]:
        factor = self._number("factor", zero=True)
        return [(factor * c, kernel) for c, kernel in self.kernel.terms()]

    def _describe(self) -> str:
        return f"{brief(self.factor)} * {_factor(self.kernel)}"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.factor!r} * {_operand(self.kernel)}" if self.name is None else super().__repr__()


class Power(Kernel):
    """A whole power of a kernel, k = kernel^degree elementwise, written ``kernel ** 2``.

    Parameters
    ----------
    kernel : Kernel
        The kernel whose values are raised.
    degree : int, default=2
        The exponent, at least 1.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    Examples
    --------
    >>> from manykernels.kernels import Linear
    >>> (Linear() ** 2)([[1.0], [3.0]])
    array([[ 1.,  9.],
           [ 9., 81.]])
    """

    def __init__(self, kernel: Kernel, degree: int = 2, *, name: str | None = None) -> None:
        self.kernel = kernel
        self.degree = degree
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        degree = self._integer("degree")
        K = self.kernel(X, Y, out)
        elementwise.power(K, 0.0, degree, K)
        return K

    def diag(self, X: Data) -> Array:
        return self.kernel.diag(X) ** self._integer("degree")

    @property
    def absence(self) -> Hashable | None:
        return self.kernel.absence

    def present(self, X: Data) -> Mask | None:
        return self.kernel.present(X)

    @property
    def statistic(self) -> Hashable | None:
        return self.kernel.statistic

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return self.kernel.compute_statistic(X, Y, out)

    def fill(self, S: Array, out: Array) -> None:
        degree = self._integer("degree")
        self.kernel.fill(S, out)
        elementwise.power(out, 0.0, degree, out)

    def _describe(self) -> str:
        return f"{_factor(self.kernel)}^{brief(self.degree)}"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{_operand(self.kernel)} ** {self.degree!r}" if self.name is None else super().__repr__()


def _factor(kernel: Kernel) -> str:
    """The label, in brackets where a product or power would misread it."""
    return f"({kernel.label})" if _is_compound(kernel) else kernel.label


def _operand(kernel: Kernel) -> str:
    """The repr, in brackets where a product or power would misread it."""
    return f"({kernel!r})" if _is_compound(kernel) else repr(kernel)


def _is_compound(kernel: Kernel) -> bool:
    return isinstance(kernel, Sum | Product | Scaled | Power) and kernel.name is None

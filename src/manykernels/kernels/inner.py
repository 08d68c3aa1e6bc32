"""Kernels of inner products: Linear, Polynomial, Cosine; and Constant."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from .._fast import elementwise
from .base import Kernel, empty_matrix, into
from .data import Array, Data, n_samples, numeric, numeric_pair


def inner_products(A: Any, B: Any, out: Array | None = None) -> Array:
    """A Bᵀ as a dense matrix, for dense or sparse A and B; exactly symmetric when B is A."""
    if sparse.issparse(A) or sparse.issparse(B):
        product = A @ B.T if sparse.issparse(A) else (B @ A.T).T
        return into(out, product.toarray() if sparse.issparse(product) else product)
    return np.asarray(np.matmul(A, B.T, out=out))


def squared_norms(A: Any) -> Array:
    """‖a‖² of every row a of a dense or CSR matrix."""
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", A, A), dtype=np.float64)


class _Inner(Kernel):
    """Base of kernels that are functions of ⟨x, x'⟩."""

    @property
    def statistic(self) -> Hashable | None:
        return ("inner",)

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        A, B, _ = numeric_pair(X, Y)
        return inner_products(A, B, out)

    def diag(self, X: Data) -> Array:
        d = squared_norms(numeric(X))
        self.fill(d[None, :], d[None, :])
        return d


class Linear(_Inner):
    """The linear kernel, k(x, x') = ⟨x, x'⟩.

    It learns linear functions of the features, and its features are the columns themselves, so that large and
    sparse tables need no matrix of n × n.

    Parameters
    ----------
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Polynomial : Adds products of features.
    Cosine : The linear kernel of rows that are scaled to length 1.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Linear
    >>> Linear()(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """

    def __init__(self, *, name: str | None = None) -> None:
        self.name = name

    def fill(self, S: Array, out: Array) -> None:
        if S is not out:
            out[...] = S

    @property
    def has_features(self) -> bool:
        return True

    def feature_maps(self, *sets: Data) -> list[Any]:
        return [numeric(X) for X in sets]


class Polynomial(_Inner):
    """The polynomial kernel, k(x, x') = (⟨x, x'⟩ + coef0)^degree.

    It learns polynomials of all features together. `Products` is a family that has every product of features
    as a kernel of its own.

    Parameters
    ----------
    degree : int, default=2
        Degree of the polynomial, at least 1. A larger degree allows interactions of more features.
    coef0 : float, default=1.0
        Constant inside of the power, not negative. With 0 only products of exactly `degree` features count; a
        larger value gives more weight to products of fewer features.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Linear : The polynomial kernel of degree 1 with ``coef0=0``.
    manykernels.families.Products : One kernel for every product of features.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Polynomial
    >>> Polynomial(degree=2)(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[ 36.,  49.],
           [ 49., 100.]])
    """

    def __init__(self, degree: int = 2, coef0: float = 1.0, *, name: str | None = None) -> None:
        self.degree = degree
        self.coef0 = coef0
        self.name = name

    def fill(self, S: Array, out: Array) -> None:
        elementwise.power(S, self._number("coef0", zero=True), self._integer("degree"), out)


class Cosine(Kernel):
    """The cosine of the angle between two samples, k(x, x') = ⟨x, x'⟩ / (‖x‖ ‖x'‖).

    The kernel is 0 where a norm is 0. It ignores the length of rows and so suits counts of words.

    Parameters
    ----------
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Linear : The same without the norms.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Cosine
    >>> Cosine()(np.array([[1.0, 0.0], [3.0, 3.0]])).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """

    def __init__(self, *, name: str | None = None) -> None:
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        A, B, symmetric = numeric_pair(X, Y)
        U = _unit_rows(A)
        return inner_products(U, U if symmetric else _unit_rows(B), out)

    def diag(self, X: Data) -> Array:
        return (squared_norms(numeric(X)) > 0).astype(np.float64)

    @property
    def has_features(self) -> bool:
        return True

    def feature_maps(self, *sets: Data) -> list[Any]:
        return [_unit_rows(numeric(X)) for X in sets]


class Constant(Kernel):
    """The constant kernel, k(x, x') = value.

    It is an intercept that is shrunk, or the base of a product of kernels.

    Parameters
    ----------
    value : float, default=1.0
        Value of the kernel, not negative. A larger value shrinks the intercept less.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Constant
    >>> Constant(2.0)(np.array([[1.0], [5.0]]))
    array([[2., 2.],
           [2., 2.]])
    """

    def __init__(self, value: float = 1.0, *, name: str | None = None) -> None:
        self.value = value
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        K = empty_matrix(X, Y, out)
        K.fill(self._number("value", zero=True))
        return K

    def diag(self, X: Data) -> Array:
        return np.full(n_samples(X), self._number("value", zero=True))

    @property
    def has_features(self) -> bool:
        return True

    def feature_maps(self, *sets: Data) -> list[Any]:
        root = np.sqrt(self._number("value", zero=True))
        return [np.full((n_samples(X), 1), root) for X in sets]


def _unit_rows(A: Any) -> Any:
    """The rows of A divided by their norms; zero rows stay zero."""
    norms = np.sqrt(squared_norms(A))
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return (sparse.diags_array(inverse) @ A).tocsr() if sparse.issparse(A) else A * inverse[:, None]

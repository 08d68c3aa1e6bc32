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
    """A function of ⟨x, x'⟩."""

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
    """k(x, x') = ⟨x, x'⟩."""

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
    """k(x, x') = (⟨x, x'⟩ + coef0)^degree, coef0 ≥ 0."""

    def __init__(self, degree: int = 2, coef0: float = 1.0, *, name: str | None = None) -> None:
        self.degree = degree
        self.coef0 = coef0
        self.name = name

    def fill(self, S: Array, out: Array) -> None:
        elementwise.power(S, self._number("coef0", zero=True), self._integer("degree"), out)


class Cosine(Kernel):
    """k(x, x') = ⟨x, x'⟩ / (‖x‖ ‖x'‖), and 0 where a norm is 0."""

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
    """k(x, x') = value: an intercept that is shrunk, or the base of a product."""

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

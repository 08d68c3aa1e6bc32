"""Kernels on strings."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .base import Kernel
from .data import Array, Data, strings
from .inner import inner_products, squared_norms


class Spectrum(Kernel):
    """The spectrum kernel of strings, k(s, s') = Σ_u count_u(s) count_u(s') over substrings u of length k.

    X is a list, a one-dimensional array or a column of strings. The substrings are collected anew in every
    call, so that new strings may hold substrings that training strings do not have.

    Parameters
    ----------
    k : int, default=3
        Length of the substrings, at least 1. Longer substrings make fewer strings similar.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    References
    ----------
    Leslie, Eskin & Noble (2002), "The spectrum kernel: a string kernel for SVM protein classification",
    Pacific Symposium on Biocomputing.

    Examples
    --------
    >>> from manykernels.kernels import Spectrum
    >>> Spectrum(k=2)(["GATTA", "ATTAC"])
    array([[4., 3.],
           [3., 4.]])
    """

    def __init__(self, k: int = 3, *, name: str | None = None) -> None:
        self.k = k
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        maps = self.feature_maps(X) if Y is None else self.feature_maps(X, Y)
        return inner_products(maps[0], maps[-1], out)

    def diag(self, X: Data) -> Array:
        return squared_norms(self.features(X))

    @property
    def has_features(self) -> bool:
        return True

    def feature_maps(self, *sets: Data) -> list[Any]:
        k = self._integer("k")
        vocabulary: dict[str, int] = {}
        rows = [
            [
                [vocabulary.setdefault(s[i : i + k], len(vocabulary)) for i in range(len(s) - k + 1)]
                for s in strings(X)
            ]
            for X in sets
        ]
        return [_counts(indices, len(vocabulary)) for indices in rows]


def _counts(rows: list[list[int]], n_columns: int) -> Any:
    """CSR matrix of how often each column's number occurs in each row's list."""
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter((j for row in rows for j in row), dtype=np.int64, count=int(indptr[-1]))
    counts = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), max(n_columns, 1)))
    counts.sum_duplicates()
    return counts

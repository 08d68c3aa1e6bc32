"""Kernels on strings."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .base import Kernel
from .data import Array, Data, strings
from .inner import inner_products, squared_norms


class Spectrum(Kernel):
    """k(s, s') = Σ_u count_u(s) count_u(s') over all substrings u of length k.

    X is a list, 1-D array or column of strings. The substrings are collected anew in every call, so strings
    with substrings never seen in training need no special care.
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

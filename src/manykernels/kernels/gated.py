"""A learned kernel that differs by region: every cluster has its own mixture (Lei et al. 2016, Eq. 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .algebra import Composite
from .base import Kernel, empty_matrix
from .data import Array, Data
from .shared import evaluate


class GatedMixture(Composite):
    """k(x, x') = Σ_j c_j(x) c_j(x') Σ_m β_jm k_m(x, x'); ``gate(X)`` gives c, a row of l shares per sample.

    Every k_m is evaluated once, whatever the number of clusters.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        weights: Any,
        gate: Callable[[Data], Array],
        *,
        name: str | None = None,
    ) -> None:
        self.kernels = kernels
        self.weights = weights
        self.gate = gate
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        weights = np.asarray(self.weights, dtype=np.float64)
        left = self.gate(X)
        right = left if Y is None else self.gate(Y)
        out = empty_matrix(X, Y, out)
        out.fill(0.0)
        used = np.flatnonzero(weights.any(axis=0)).tolist()
        for i, K in evaluate([self.kernels[m] for m in used], X, Y):
            beta = weights[:, used[i]]
            clusters = np.flatnonzero(beta)
            K *= (left[:, clusters] * beta[clusters]) @ right[:, clusters].T
            out += K
        return out

    def diag(self, X: Data) -> Array:
        shares = self.gate(X) ** 2 @ np.asarray(self.weights, dtype=np.float64)
        parts = [shares[:, m] * kernel.diag(X) for m, kernel in enumerate(self.kernels)]
        return np.asarray(np.sum(parts, axis=0))

    def _describe(self) -> str:
        return f"{len(np.asarray(self.weights))} clusters of {len(self.kernels)} kernels"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"GatedMixture({self._describe()})"

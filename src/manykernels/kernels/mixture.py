"""A learned kernel: finitely many kernels and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arguments import as_numbers
from .algebra import Composite
from .base import Kernel
from .data import Array, Data, n_samples
from .shared import combine

_SHOWN = 3


class Mixture(Composite):
    """The weighted sum of kernels, k = Σ_m w_m k_m.

    A fitted model's ``kernel_`` is one. Kernels share statistics and products of features, and those of
    weight zero cost nothing.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels k_m.
    weights : array-like of shape (n_kernels,)
        The weights w_m, not negative.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Sum : A sum without weights.

    Examples
    --------
    >>> from manykernels.kernels import Constant, Linear, Mixture
    >>> Mixture([Linear(), Constant()], [2.0, 0.5])([[1.0], [3.0]])
    array([[ 2.5,  6.5],
           [ 6.5, 18.5]])
    """

    def __init__(self, kernels: Sequence[Kernel], weights: Any, *, name: str | None = None) -> None:
        self.kernels = kernels
        self.weights = weights
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return combine(self.kernels, self._weights(), X, Y, out)

    def diag(self, X: Data) -> Array:
        d = np.zeros(n_samples(X))
        for kernel, w in zip(self.kernels, self._weights(), strict=True):
            if w != 0:
                d += w * kernel.diag(X)
        return d

    def terms(self) -> list[tuple[float, Kernel]]:
        pairs = zip(self.kernels, self._weights(), strict=True)
        return [(float(w) * c, k) for kernel, w in pairs if w != 0 for c, k in kernel.terms()]

    def _weights(self) -> Array:
        w = as_numbers(self.weights, "weights of Mixture", "one number per kernel").astype(np.float64)
        if w.shape != (len(self.kernels),):
            raise ValueError(f"Mixture was given {len(self.kernels)} kernels and weights of shape {w.shape}.")
        return w

    def _describe(self) -> str:
        pairs = sorted(zip(self._weights(), self.kernels, strict=True), key=lambda pair: -abs(pair[0]))
        shown = " + ".join(f"{w:.3g} * {kernel.label}" for w, kernel in pairs[:_SHOWN])
        return shown + (f" + … ({len(pairs)} kernels)" if len(pairs) > _SHOWN else "") if pairs else "0"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Mixture({self._describe()})"

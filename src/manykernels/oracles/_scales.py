"""Scales of the kernels of a continuous family: normalisation, and a prior on their parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..families import Parametric
from ..kernels.data import Data, n_samples
from .base import Array

_ROUNDING = 1e-9  # relative: diagonals that differ by less are constant


class Scale:
    """s(σ) = 1/(ρ(σ)² m(σ)), m the mean of the training diagonal of κ_σ ("trace"), its maximum ("max") or 1.

    "cosine" is served where the diagonal is constant, and then divides by it. `constant` says that s is the
    same for all σ: so for the families of this package, whose kernels have the same diagonal everywhere.
    """

    def __init__(
        self,
        family: Parametric,
        X: Data,
        normalize: str | None,
        sample_weight: Array | None,
        constant: bool,
        somewhere: Array,
    ) -> None:
        if normalize not in (None, "trace", "max", "cosine"):
            raise ValueError(
                f"normalize={normalize!r} was given with {type(family).__name__}; expected 'trace', 'max', "
                "'cosine' or None. Others would scale every kernel of the family by itself, and no search "
                "could bound them."
            )
        self.family, self.X, self.normalize = family, X, normalize
        self.weight = np.ones(n_samples(X)) if sample_weight is None else np.asarray(sample_weight, float)
        self.constant = False
        self._value = self(somewhere)
        self.constant = constant

    def __call__(self, sigma: Sequence[float] | Array) -> float:
        if self.constant:
            return self._value
        parameters = [float(value) for value in sigma]
        rho = self._prior(parameters)
        if self.normalize is None:
            return 1.0 / (rho * rho)
        kernel = self.family.kernel(*parameters)
        try:
            d = np.asarray(kernel.diag(self.X), dtype=float)
        except OverflowError:
            d = np.full(self.weight.size, np.inf)
        m = float(d.max() if self.normalize == "max" else d @ self.weight / self.weight.sum())
        if not 0.0 < m < np.inf:
            raise ValueError(
                f"{kernel.label} has the diagonal {m:g} on the training samples, which cannot be normalised. "
                "Scale the features, change the range of the family, or give normalize=None."
            )
        if self.normalize == "cosine" and np.ptp(d) > _ROUNDING * m:
            raise ValueError(
                f"normalize='cosine' was given, and the diagonal of {kernel.label} is not constant, so that "
                "it would change what the kernels are. Give normalize='trace', 'max' or None."
            )
        return 1.0 / (rho * rho * m)

    def _prior(self, parameters: list[float]) -> float:
        rho = float(self.family.prior(*parameters))
        if not 0.0 < rho < np.inf:
            raise ValueError(
                f"{type(self.family).__name__}.prior{tuple(parameters)} is {rho:g}; expected a positive "
                "number."
            )
        return rho

"""How good features are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import _safe_indexing

from ..kernels import Kernel, evaluate
from ..kernels.data import Array, Data, is_stack, n_samples
from .base import Features


def approximation_error(
    features: Features, kernels: Sequence[Kernel], X: Data, *, n_sample: int = 500, rng: np.random.RandomState
) -> Array:
    """‖Φ_m Φ_mᵀ − K_m‖_F / ‖K_m‖_F of every kernel on ``n_sample`` rows of X drawn without replacement."""
    if len(kernels) != features.n_kernels:
        raise ValueError(f"{len(kernels)} kernels were given with features of {features.n_kernels}.")
    if n_sample < 1:
        raise ValueError(f"n_sample={n_sample!r} was given; expected at least 1 row.")
    n = n_samples(X)
    rows = np.sort(rng.choice(n, min(n, int(n_sample)), replace=False))
    sample = _safe_indexing(X, rows)
    Phi = features.transform(sample)
    error = np.zeros(len(kernels))
    for m, K in evaluate(kernels, sample):
        K = K[:, rows] if is_stack(X) else K  # a stack holds k(x, all training points)
        Phi_m = Phi[:, features.ptr[m] : features.ptr[m + 1]]
        size = np.linalg.norm(K)
        difference = np.linalg.norm(Phi_m @ Phi_m.T - K)
        error[m] = difference / size if size > 0 else (0.0 if difference == 0 else np.inf)
    return error

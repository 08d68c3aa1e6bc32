"""The error of explicit features."""

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
    """Compute the relative error ‖Φ_m Φ_mᵀ − K_m‖_F / ‖K_m‖_F of the features of every kernel.

    Parameters
    ----------
    features : Features
        The features.
    kernels : sequence of Kernel
        The kernels that they stand for.
    X : array-like of shape (n_samples, n_columns)
        Samples.
    n_sample : int, default=500
        Number of rows that are compared, drawn without replacement.
    rng : RandomState
        Source of random numbers.

    Returns
    -------
    ndarray of shape (n_kernels,)
        The errors; 0 for exact features.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.approx import Nystroem, approximation_error
    >>> from manykernels.kernels import Gaussian
    >>> X = np.random.RandomState(0).randn(30, 2)
    >>> rng = np.random.RandomState(0)
    >>> kernels = [Gaussian(4.0)]
    >>> features = Nystroem(10).fit(kernels, X, rng=rng)
    >>> bool(approximation_error(features, kernels, X, rng=rng)[0] < 0.05)
    True
    """
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

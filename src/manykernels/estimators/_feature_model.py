"""Models that decide by explicit features: f(x) = features_.transform(x) @ feature_coef_ + intercept_."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from ..approx import Features
from ..kernels.data import take_rows

Array = NDArray[np.float64]
_ROWS = 4096  # whose features are held at a time


def decide(features: Features, coef: Array, X: Any) -> Array:
    """(n, outputs): features(X) @ coef, for X as kernels read it."""
    f = np.zeros((_num_samples(X), coef.shape[1]))
    for lo in range(0, len(f), _ROWS):
        part = take_rows(X, lo, min(lo + _ROWS, len(f)))
        f[lo : lo + _ROWS] = features.transform(part) @ coef
    return f


def parts(features: Features, coef: Array, active: NDArray[np.intp], X: Any) -> Array:
    """(n, active kernels, outputs): what each of these kernels adds."""
    result = np.zeros((_num_samples(X), active.size, coef.shape[1]))
    for lo in range(0, len(result) if active.size else 0, _ROWS):
        Phi = features.transform(take_rows(X, lo, min(lo + _ROWS, len(result))))
        for i, m in enumerate(active):
            own = slice(features.ptr[m], features.ptr[m + 1])
            result[lo : lo + _ROWS, i] = Phi[:, own] @ coef[own]
    return result


def no_coef() -> AttributeError:
    """What `coef_` says of such a model."""
    return AttributeError(
        "coef_ belongs to linear kernels of X itself, and this model has explicit features of its "
        "kernels: features_.transform(X) @ feature_coef_ + intercept_ decides."
    )

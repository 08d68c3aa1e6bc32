"""This package on a raw table of time to event, with nothing set."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import Array
from ..tables import Facts
from .splits import Endpoint


def ours(X: Any, y: Endpoint, Z: Any, times: Array) -> tuple[Array, Array | None, Facts]:
    """`MKLSurvivalCV()` on the frame as it is: categories, missing cells and all."""
    from manykernels import MKLSurvivalCV

    model = MKLSurvivalCV().fit(X, y)
    curves = np.asarray(model.predict_survival_function(Z, times=times))
    best = {key: str(value) for key, value in model.best_params_.items()}
    return np.asarray(model.predict(Z)), curves, {"best": best}

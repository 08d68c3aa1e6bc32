"""Targets of survival analysis made of any others, for tests that go through all estimators."""

from typing import Any

import numpy as np


def times(y: Any) -> Any:
    """(n, 2): whether there was an event, for most samples, and a time; both are functions of each target."""
    values = np.asarray(y)
    if values.dtype.kind not in "biuf":
        values = np.unique(values, return_inverse=True)[1]
    values = values.astype(float).ravel()
    return np.column_stack([values % 1.0 < 0.7, values - values.min() + 1.0])

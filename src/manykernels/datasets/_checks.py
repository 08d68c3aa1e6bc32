"""Checks of the arguments of generators, before anything is drawn."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Random = int | np.random.RandomState | None  # what scikit-learn's check_random_state takes


def count(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r} was given; expected a whole number, at least {least}.")
    return int(value)


def size(name: str, value: Any) -> float:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name}={value!r} was given; expected a finite number, at least 0.")
    return float(value)

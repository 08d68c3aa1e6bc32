"""Times that come back: the time of the year, the day of the week, the time of the day."""

from __future__ import annotations

import numpy as np

from .data import Array

CYCLES = {"time of year": 365.2425, "day of week": 7.0, "time of day": 1.0}  # in days
_TURNS = 2.0  # of a cycle that dates must span: over fewer, the date itself says the same
_PHASES = 3  # that must occur


def comes_back(days: Array, cycle: str) -> bool:
    """Tell whether dates span several turns of a cycle and fall on several times of it."""
    known, period = days[~np.isnan(days)], CYCLES[cycle]
    if not known.size or np.ptp(known) < _TURNS * period:
        return False
    return np.unique(np.round((known / period) % 1.0, 6)).size >= _PHASES


def wave_of(days: Array, cycle: str) -> Array:
    """(n, 2): cosine and sine of the time of a cycle, of a total variance of at most 1."""
    angle = 2.0 * np.pi * ((days / CYCLES[cycle]) % 1.0)
    return np.column_stack([np.cos(angle), np.sin(angle)])

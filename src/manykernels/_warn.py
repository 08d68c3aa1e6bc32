"""Warnings that point at the user's own line, wherever in the package they are raised."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_BETWEEN = (
    "manykernels",
    "sklearn",
    "joblib",
    "functools",
    "contextlib",
)  # whose lines are no news to the user


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package, and of what calls it for the user (pipelines, searches)."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level if frame is not None else 2)

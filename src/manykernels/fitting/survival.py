"""Targets that hold a time to an event, which are recognised so that they can be refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np

_EVENTS = {"event", "status", "dead", "death", "died", "censored", "censoring", "cens", "observed"}
_TIMES = {"time", "duration", "days", "months", "years", "os", "futime", "followup", "follow_up", "survival"}


def refuse_survival(y: Any) -> None:
    """An error where y pairs a truth value (did it happen?) with a number (when?) for each sample."""
    found = _named_fields(y) or _pairs(y)
    if found:
        raise ValueError(
            f"y holds pairs of an event and a time ({found}): the time to an event, with samples that are "
            "censored. Survival analysis is not served yet. Give one number for each sample (the time, where "
            "every event was observed), or a class such as 'died within five years'."
        )


def _named_fields(y: Any) -> str:
    """The two columns of a structured array or a frame, where one is an event and the other a time."""
    fields = getattr(getattr(y, "dtype", None), "names", None)
    names = list(getattr(y, "columns", ()) if fields is None else fields)
    if len(names) != 2:
        return ""
    for event, time in (names, names[::-1]):
        happened, when = np.asarray(y[event]), np.asarray(y[time])
        known = str(event).lower() in _EVENTS and str(time).lower() in _TIMES
        said = happened.dtype == bool or (known and set(np.unique(happened).tolist()) <= {0, 1})
        if said and when.dtype.kind in "iuf":
            return f"{str(event)!r} and {str(time)!r}"
    return ""


def _pairs(y: Any) -> str:
    """A list of (True, 12.5), or an array of such objects."""
    rows = y if isinstance(y, list | tuple) or str(getattr(y, "dtype", "")) == "object" else []
    if len(rows) == 0 or not all(map(_is_pair, rows)):
        return ""
    for i in (0, 1):
        happened, when = [row[i] for row in rows], [row[1 - i] for row in rows]
        times = all(isinstance(t, int | float | np.number) and not isinstance(t, bool) for t in when)
        if times and all(isinstance(value, bool | np.bool_) for value in happened):
            return f"such as {tuple(rows[0])!r}"
    return ""


def _is_pair(row: Any) -> bool:
    """Whether a row holds two things; nested lists are not looked into, since they may have no end."""
    return isinstance(row, list | tuple | np.ndarray) and getattr(row, "ndim", 1) == 1 and len(row) == 2

"""Targets that hold a time to an event: which y does, how it is read, and refused where nothing serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import and_more, shown

Array = NDArray[np.float64]
_EVENTS = {"event", "status", "dead", "death", "died", "censored", "censoring", "cens", "observed"}
_CENSORED = {"censored", "censoring", "cens"}  # may well say the opposite of an event
_TIMES = {"time", "duration", "days", "months", "years", "os", "futime", "followup", "follow_up", "survival"}
_EXPECTED = (
    "whether the event was observed and the time until then, for each sample: a structured array or a frame "
    "with the fields 'event' (true or false) and 'time', or an array of shape (n_samples, 2) of both"
)


@dataclass(frozen=True)
class Survival:
    """Times until an event, or until a sample was seen last without one."""

    event: NDArray[np.bool_]  # (n,): whether it was observed
    time: Array  # (n,)


def refuse_survival(y: Any) -> None:
    """An error where y pairs a truth value (did it happen?) with a number (when?) for each sample."""
    found = survival_pair(y)
    if found is not None:
        raise ValueError(
            f"y holds pairs of an event and a time ({found[2]}): the time to an event, with samples that are "
            "censored. Survival analysis is not served yet. Give one number for each sample (the time, where "
            "every event was observed), or a class such as 'died within five years'."
        )


def survival_pair(y: Any) -> tuple[Any, Any, str] | None:
    """The events and the times of y, and how they are called, where y pairs both; else None."""
    return _named_fields(y) or _pairs(y)


def read_survival(y: Any) -> Survival:
    """Events and times, or an error that says what is wrong with them."""
    found = survival_pair(y)
    if found is None:
        A = np.asarray(y)
        if A.ndim != 2 or A.shape[1] != 2 or A.dtype.kind not in "biuf":
            raise ValueError(f"y={shown(y)} was given; expected {_EXPECTED}.")
        found = A[:, 0], A[:, 1], "its two columns"
    events, times, said = found
    if any(f"'{name}'" in said.lower() for name in _CENSORED):
        raise ValueError(
            f"y has {said}: is a sample with a 1 censored, or was its event observed? Give the field 'event' "
            "with 1 (or True) where the event was observed, and 'time'."
        )
    happened, when = np.asarray(events), np.asarray(times, dtype=np.float64)
    known = happened.astype(np.float64)
    if not np.isin(known, (0.0, 1.0)).all():
        raise ValueError(
            f"the events of y ({said}) hold {and_more([f'{v:g}' for v in np.unique(known)], 5)}; expected "
            "1 (or True) where the event was observed and 0 where the sample is censored."
        )
    bad = np.flatnonzero(~(np.isfinite(when) & (when >= 0.0)))
    if bad.size:
        raise ValueError(
            f"the times of y ({said}) are negative, missing or infinite in rows "
            f"{and_more([str(i) for i in bad], 5)}; expected numbers from 0 on. Leave these samples out."
        )
    if not known.any():
        raise ValueError(
            f"y has no event among {known.size} samples: all are censored, so that nothing says who has the "
            "event first. Expected at least one event that was observed (1 or True)."
        )
    return Survival(known > 0.0, when)


def _named_fields(y: Any) -> tuple[Any, Any, str] | None:
    """The two columns of a structured array or a frame, where one is an event and the other a time."""
    fields = getattr(getattr(y, "dtype", None), "names", None)
    names = list(getattr(y, "columns", ()) if fields is None else fields)
    if len(names) != 2:
        return None
    for event, time in (names, names[::-1]):
        happened, when = np.asarray(y[event]), np.asarray(y[time])
        known = str(event).lower() in _EVENTS and str(time).lower() in _TIMES
        said = happened.dtype == bool or (known and set(np.unique(happened).tolist()) <= {0, 1})
        if said and when.dtype.kind in "iuf":
            return y[event], y[time], f"{str(event)!r} and {str(time)!r}"
    return None


def _pairs(y: Any) -> tuple[Any, Any, str] | None:
    """A list of (True, 12.5), or an array of such objects."""
    rows = y if isinstance(y, list | tuple) or str(getattr(y, "dtype", "")) == "object" else []
    if len(rows) == 0 or not all(map(_is_pair, rows)):
        return None
    for i in (0, 1):
        happened, when = [row[i] for row in rows], [row[1 - i] for row in rows]
        times = all(isinstance(t, int | float | np.number) and not isinstance(t, bool) for t in when)
        if times and all(isinstance(value, bool | np.bool_) for value in happened):
            return np.array(happened), np.array(when), f"such as {tuple(rows[0])!r}"
    return None


def _is_pair(row: Any) -> bool:
    """Whether a row holds two things; nested lists are not looked into, since they may have no end."""
    return isinstance(row, list | tuple | np.ndarray) and getattr(row, "ndim", 1) == 1 and len(row) == 2

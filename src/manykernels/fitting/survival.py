"""Times to an event as targets: how y is recognised, read and refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import and_more, number_of, shown

Array = NDArray[np.float64]
_EVENTS = {"event", "status", "dead", "death", "died", "censored", "censoring", "cens", "observed"}
CENSORED = {"censored", "censoring", "cens"}  # may well say the opposite of an event
_TIMES = {"time", "duration", "days", "months", "years", "os", "futime", "followup", "follow_up", "survival"}
_ENTRIES = {"entry", "enter", "entered", "start", "truncation", "left_truncation", "delayed_entry"}
_STRATA = {"stratum", "strata"}
_HAPPENED = {"1", "1.0", "true", "t", "yes", "y", "event", "observed", "dead", "died", "death", "deceased"}
_NOT = {"0", "0.0", "false", "f", "no", "n", "none", "censored", "alive", "living", "survived", "no event"}
_EXPECTED = (
    "whether the event was observed and the time until then, for each sample: a structured array or a frame "
    "with the fields 'event' (true or false) and 'time', or an array of shape (n_samples, 2) of both"
)
_BOTH = {"0", "1", "0.0", "1.0", "True", "False"}
KIND = np.dtype([("event", np.bool_), ("time", np.float64), ("entry", np.float64), ("stratum", object)])


@dataclass(frozen=True)
class Survival:
    """Times until an event, or until a sample was seen last without one."""

    event: NDArray[np.bool_]  # (n,): whether it was observed
    time: Array  # (n,)
    entry: Array | None = None  # (n,): from when on it was seen; None is from the beginning
    stratum: NDArray[Any] | None = None  # (n,): who is compared with whom; None is with all


def refuse_survival(y: Any) -> None:
    """Raise an error if y pairs a truth value (did it happen?) with a number (when?) for each sample."""
    found = survival_pair(y)
    if found is not None:
        raise ValueError(
            f"y holds pairs of an event and a time ({found[2]}): the time to an event, with samples that are "
            "censored. Take MKLSurvival or MKLSurvivalCV for it; or give one number or one class for each "
            "sample, such as 'died within five years'."
        )


def survival_pair(y: Any) -> tuple[Any, Any, str] | None:
    """The events and the times of y, and how they are called, where y pairs both; else None."""
    names, beside = _field_names(y), _ENTRIES | _STRATA
    if len(names) > 2:
        names = [name for name in names if str(name).lower() not in beside]
        return _named_fields(y[names]) if len(names) == 2 else None
    return _named_fields(y) or _pairs(y)


def read_survival(y: Any) -> Survival:
    """Events and times, with entries and strata where y has them, or an error that says what is wrong."""
    y, extra = _set_apart(y)
    events, times, said = survival_pair(y) or _two_columns(y)
    if any(f"'{name}'" in said.lower() for name in CENSORED):
        raise ValueError(
            f"y has {said}: is a sample with a 1 censored, or was its event observed? Give the field 'event' "
            "with 1 (or True) where the event was observed, and 'time'."
        )
    when = _numbers_of(times, f"the times of y ({said})")
    happened = _happened(events, when, said)
    bad = np.flatnonzero(~(np.isfinite(when) & (when >= 0.0)))
    if bad.size:
        raise ValueError(
            f"the times of y ({said}) are negative, missing or infinite in {number_of(bad.size, 'row')} "
            f"({and_more([str(i) for i in bad], 5)}); expected numbers from 0 on. Leave these samples out."
        )
    require_events(happened)
    return Survival(happened, when, _entries(extra.get("entry"), when), _strata(extra.get("stratum")))


def require_events(happened: NDArray[np.bool_]) -> None:
    """Raise an error if nobody had the event."""
    if not happened.any():
        raise ValueError(
            f"y has no event among {happened.size} samples: all are censored, so that nothing says who has "
            "the event first. Expected at least one event that was observed (1 or True)."
        )


def as_records(seen: Survival) -> NDArray[Any]:
    """(n,) records of event, time, entry (−∞: from the beginning) and stratum, which rows can be taken of."""
    found = np.empty(seen.time.size, dtype=KIND)
    found["event"], found["time"] = seen.event, seen.time
    found["entry"] = -np.inf if seen.entry is None else seen.entry
    found["stratum"] = "" if seen.stratum is None else seen.stratum
    return found


def records_of(seen: Survival) -> NDArray[Any]:
    """(n,) records of event and time, as other packages take them, and of entry and stratum if there are."""
    parts = {"event": seen.event, "time": seen.time, "entry": seen.entry, "stratum": seen.stratum}
    known = {name: np.asarray(values) for name, values in parts.items() if values is not None}
    found = np.empty(seen.time.size, dtype=[(name, values.dtype) for name, values in known.items()])
    for name, values in known.items():
        found[name] = values
    return found


def _two_columns(y: Any) -> tuple[Any, Any, str]:
    """The columns of an array, events first; of fields, the event is the one that is called or looks so."""
    names = _field_names(y)
    if len(names) == 2:
        called = str(names[1]).lower() in _EVENTS and str(names[0]).lower() in _TIMES
        swapped = called or (_holds_truth(y[names[1]]) and not _holds_truth(y[names[0]]))
        event, time = names[::-1] if swapped else names
        return y[event], y[time], f"{str(event)!r} and {str(time)!r}"
    try:
        A = np.asarray(y)
    except (TypeError, ValueError):
        A = np.empty(0)
    if names or A.ndim != 2 or A.shape[1] != 2 or A.dtype.kind not in "biufOUS":
        raise ValueError(f"y={shown(y)} was given; expected {_EXPECTED}.")
    return A[:, 0], A[:, 1], "its two columns"


def _holds_truth(values: Any) -> bool:
    """Tell whether a column holds truth values, 0 and 1, or words such as yes and no, and nothing else."""
    given = np.asarray(values)
    if given.dtype.kind in "OUS":
        return as_truth(given) is not None
    return given.dtype.kind in "biuf" and bool(np.isin(given, (0, 1)).all())


def _numbers_of(values: Any, who: str) -> Array:
    try:
        return np.asarray(values, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{who} could not be read as numbers ({error}); expected numbers from 0 on."
        ) from error


def _happened(events: Any, when: Array, said: str) -> NDArray[np.bool_]:
    """Truth values, 0 and 1, or words that say so."""
    given = np.asarray(events).reshape(-1)
    if given.dtype == bool:
        return given
    if given.dtype.kind in "OUS":
        truth = as_truth(given)
        if truth is None:
            named = and_more([repr(str(v)) for v in np.unique(given.astype(str))], 5)
            raise ValueError(
                f"the events of y ({said}) hold {named}; which of them mean that the event was "
                "observed? Give True (or 1) for these samples and False "
                "(or 0) for the others: y['event'] == 'dead', say."
            )
        return truth
    known = _numbers_of(given, f"the events of y ({said})")
    if not np.isin(known, (0.0, 1.0)).all():
        swapped = np.isin(when, (0.0, 1.0)).all() and when.size > 2
        held = and_more([f"{v:g}" for v in np.unique(known)], 5)
        raise ValueError(
            f"the events of y ({said}) hold {held}; expected 1 (or True) where the event was observed and 0 "
            "where the sample is censored."
            + (" The times hold only 0 and 1: are the two swapped? The event comes first." if swapped else "")
        )
    return known > 0.0


def as_truth(words: Any) -> NDArray[np.bool_] | None:
    """Read words such as "yes", "dead" or "0" as events that were observed; None where one is unclear."""
    plain = np.array([str(word).strip().lower() for word in words])
    if not set(plain.tolist()) <= _HAPPENED | _NOT:
        return None
    return np.isin(plain, list(_HAPPENED))


def _entries(entry: Any, when: Array) -> Array | None:
    if entry is None:
        return None
    found = _numbers_of(entry, "the entries of y")
    if np.all(np.isneginf(found)):
        return None
    late = np.flatnonzero(~(found < when))
    if late.size or np.any(np.isnan(found)):
        rows = and_more([str(i) for i in late], 5)
        raise ValueError(
            f"the entries of y are missing, or not before the time, in rows {rows}; expected the time from "
            "which on a sample was seen, earlier than its event or its last look. Leave these samples out."
        )
    return found


def _strata(stratum: Any) -> NDArray[Any] | None:
    if stratum is None:
        return None
    given = np.asarray(stratum).reshape(-1)
    missing = [i for i, v in enumerate(given) if v is None or v != v]
    if missing:
        rows = and_more([str(i) for i in missing], 5)
        raise ValueError(f"the strata of y are missing in rows {rows}; give each sample one.")
    found = np.array([str(v) for v in given], dtype=object)
    return None if np.all(found == "") else found


def _field_names(y: Any) -> list[Any]:
    """Return the fields of a structured array or a frame."""
    fields = getattr(getattr(y, "dtype", None), "names", None)
    return list(getattr(y, "columns", ()) if fields is None else fields)


def _set_apart(y: Any) -> tuple[Any, dict[str, Any]]:
    """y without the fields that are called entry or stratum, and these."""
    names = _field_names(y)
    found: dict[str, Any] = {}
    if len(names) <= 2:
        return y, found
    for field, known in (("entry", _ENTRIES), ("stratum", _STRATA)):
        named = [name for name in names if str(name).lower() in known]
        if len(named) == 1:
            found[field] = y[named[0]]
            names.remove(named[0])
    if len(names) != 2:
        fields = and_more([repr(str(name)) for name in _field_names(y)], 8)
        raise ValueError(
            f"y has the fields {fields}; expected 'event' and 'time', and where there are such 'entry' (the "
            "time from which on a sample was seen) and 'stratum' (samples are compared within it)."
        )
    return y[names], found


def _named_fields(y: Any) -> tuple[Any, Any, str] | None:
    """The two columns of a structured array or a frame, where one is an event and the other a time."""
    names = _field_names(y)
    if len(names) != 2:
        return None
    for event, time in (names, names[::-1]):
        happened, when = np.asarray(y[event]), np.asarray(y[time])
        known = str(event).lower() in _EVENTS and str(time).lower() in _TIMES
        said = happened.dtype == bool or (known and set(np.unique(happened.astype(str))) <= _BOTH)
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
    """Tell whether a row holds two things; nested lists are not looked into, since they may have no end."""
    return isinstance(row, list | tuple | np.ndarray) and getattr(row, "ndim", 1) == 1 and len(row) == 2

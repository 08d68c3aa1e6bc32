"""Events and times as arrays, checked: what every function of this part begins with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import and_more, as_numbers, is_number, shown
from .._fast.survival import cover_sums

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Observed:
    """Samples that are seen in (entry, time], and whether the event ended it."""

    event: NDArray[np.bool_]  # (n,)
    time: Array  # (n,)
    weight: Array  # (n,): a weight of 2 is a sample given twice
    entry: Array  # (n,): −∞ for those that are seen from the beginning

    @property
    def event_times(self) -> Array:
        """Every time at which an event was observed, once."""
        return np.unique(self.time[self.event])

    def seen_at(self, times: Array) -> tuple[Index, Index]:
        """The range of `times` (growing) at which each sample is at risk: entry < t ≤ time."""
        return np.searchsorted(times, self.entry, "right"), np.searchsorted(times, self.time, "right")

    def at_risk(self, times: Array) -> Array:
        """The weight of the samples at risk at each of `times` (growing)."""
        return np.asarray(cover_sums(*self.seen_at(times), self.weight, times.size, False))

    def events_at(self, times: Array) -> Array:
        """The weight of the events at each of the event times."""
        places = np.searchsorted(times, self.time[self.event])
        return np.asarray(np.bincount(places, self.weight[self.event], times.size), dtype=np.float64)

    def part(self, rows: Any) -> Observed:
        return Observed(self.event[rows], self.time[rows], self.weight[rows], self.entry[rows])


def observed(event: Any, time: Any, sample_weight: Any = None, entry: Any = None) -> Observed:
    """The samples, or an error that says what is wrong with them."""
    when = _vector(time, "time", None)
    happened = _vector(event, "event", when.size)
    wrong = ~np.isin(happened, (0.0, 1.0))
    if wrong.any():
        values = and_more([f"{value:g}" for value in np.unique(happened[wrong])], 5)
        swapped = " Are event and time in each other's place?" if np.isin(when, (0.0, 1.0)).all() else ""
        raise ValueError(
            f"event holds {values}; expected 1 (or True) where the event was observed and 0 where the sample "
            f"is censored.{swapped}"
        )
    _require(when >= 0.0, "time", "negative", "numbers from 0 on")
    weight = (
        np.ones(when.size) if sample_weight is None else _vector(sample_weight, "sample_weight", when.size)
    )
    _require(weight >= 0.0, "sample_weight", "negative", "numbers from 0 on")
    if not weight.any():
        raise ValueError("no sample has a weight above 0; expected at least one.")
    since = np.full(when.size, -np.inf) if entry is None else _entries(entry, when)
    return Observed(happened > 0.0, when, weight, since)


def counted(event: Any, time: Any, sample_weight: Any = None, entry: Any = None) -> Observed:
    """The samples of weight above 0."""
    seen = observed(event, time, sample_weight, entry)
    return seen if seen.weight.all() else seen.part(seen.weight > 0.0)


def pair(given: Any, name: str) -> tuple[Any, Any]:
    """The events and the times of a pair of both, or of something with these two fields."""
    fields = getattr(getattr(given, "dtype", None), "names", None)
    if fields is not None and len(fields) == 2:
        event, when = sorted(fields, key=lambda field: given[field].dtype != bool)
        return given[event], given[when]
    if hasattr(given, "event") and hasattr(given, "time"):
        return given.event, given.time
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    raise ValueError(
        f"{name}={shown(given)} was given; expected a pair (event, time) of arrays, or a structured array "
        "with these two fields."
    )


def risks(risk: Any, n: int | None) -> Array:
    """One finite number for each sample."""
    return _vector(risk, "risk", n)


def labels_of(values: Any, name: str, n: int) -> NDArray[Any]:
    """One label for each sample."""
    labels = np.asarray(values)
    if labels.shape != (n,):
        raise ValueError(f"{name} has the shape {labels.shape}; expected one label for each of {n} samples.")
    missing = np.array([label is None or label != label for label in labels.tolist()])
    if missing.any():
        rows = and_more([str(i) for i in np.flatnonzero(missing)], 5)
        raise ValueError(
            f"{name} is missing in rows {rows}; expected a label for each sample, such as 'none'."
        )
    return labels.astype(str) if labels.dtype.kind == "O" else labels


def by_label(labels: NDArray[Any]) -> Iterator[tuple[Any, Index]]:
    """Every label with the rows that have it, in the order of labels; one sort, however many there are."""
    known, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rows = np.split(np.argsort(which, kind="stable"), np.cumsum(counts)[:-1])
    yield from zip(known, rows, strict=True)


def share(value: Any, name: str, such_as: float) -> float:
    """A number between 0 and 1."""
    if not is_number(value) or not 0.0 < value < 1.0:
        raise ValueError(
            f"{name}={shown(value)} was given; expected a number between 0 and 1, such as {such_as}."
        )
    return float(value)


def at_least_zero(value: Any, name: str) -> float:
    """A number from 0 on."""
    if not is_number(value) or not value >= 0.0:
        raise ValueError(f"{name}={shown(value)} was given; expected a number from 0 on.")
    return float(value)


def _vector(values: Any, name: str, n: int | None) -> Array:
    A = as_numbers(values, name, "one number for each sample")
    if A.ndim != 1 or A.size == 0 or (n is not None and A.size != n):
        many = "one number for each sample" if n is None else f"one number for each of the {n} samples"
        raise ValueError(f"{name} has the shape {A.shape}; expected {many}.")
    if A.dtype.kind == "c":
        raise ValueError(f"{name} holds complex numbers; expected one real number for each sample.")
    A = A.astype(np.float64)
    _require(np.isfinite(A), name, "missing or infinite", "finite numbers")
    return A


def _require(holds: NDArray[np.bool_], name: str, wrong: str, expected: str) -> None:
    bad = np.flatnonzero(~holds)
    if bad.size:
        rows = and_more([str(i) for i in bad], 5)
        raise ValueError(f"{name} is {wrong} in rows {rows}; expected {expected}. Leave these samples out.")


def _entries(entry: Any, time: Array) -> Array:
    """Times of entry, of which 0 and −∞ are the beginning. Who enters when leaving was never seen."""
    given = as_numbers(entry, "entry", "one number for each sample").astype(np.float64)
    since = _vector(np.where(np.isneginf(given), 0.0, given), "entry", time.size)
    since[since <= 0.0] = -np.inf
    late = np.flatnonzero(since >= time)
    if late.size:
        raise ValueError(
            f"entry is not before time in rows {and_more([str(i) for i in late], 5)}; a sample is observed "
            "from its entry to its time, so that entry < time is expected. Leave these samples out."
        )
    return since

"""Times to an event as a target of fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._arguments import number_of
from ..losses import Criterion
from ..objectives import Cox, Risk
from .survival import as_records, read_survival, require_events
from .targets import Kind

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TimeToEvent(Kind):
    """The encoded target of a sample is a row of `table`: event, time, entry and number of the stratum.

    Equal rows have equal numbers, so that samples can be merged by them.
    """

    ties: str = "breslow"
    table: Any = None  # (different rows, 4), once learned
    strata: Any = None  # labels, in the order of their numbers
    task: ClassVar[str] = "survival"
    flat: ClassVar[bool] = True
    outputs: ClassVar[int] = 1
    classes: ClassVar[Any] = None

    @property
    def merges(self) -> bool:  # type: ignore[override]
        """Efron's ties count events, and take the mean of their weights: equal samples stay apart."""
        return self.ties == "breslow"

    def read(self, y: Any) -> NDArray[Any]:
        return as_records(read_survival(y))

    def learn(self, y: NDArray[Any]) -> Self:
        """Return which times and strata there are."""
        require_events(y["event"])
        strata = np.unique(y["stratum"].astype(str))
        _require_comparable(y, strata)
        learned = replace(self, strata=strata)
        return replace(learned, table=np.unique(learned._rows(y), axis=0))

    def encode(self, y: NDArray[Any], weight: Array) -> tuple[Array, Array]:
        rows = self._rows(y)
        n = len(self.table)
        together, codes = np.unique(np.concatenate([self.table, rows]), axis=0, return_inverse=True)
        if len(together) != n:
            raise ValueError("y holds times that the model was not fitted on; expected those of its samples.")
        return codes.ravel()[n:, None].astype(np.float64), np.ones(len(y))

    def _rows(self, y: NDArray[Any]) -> Array:
        stratum = np.searchsorted(self.strata, y["stratum"].astype(str)).astype(np.float64)
        return np.column_stack([y["event"].astype(np.float64), y["time"], y["entry"], stratum]) + 0.0

    def rows(self, Y: Array) -> Array:
        """(n, 4): what the encoded targets (n, 1) stand for."""
        return np.asarray(self.table[Y[:, 0].astype(np.intp)])

    def numbers(self, Y: Array, weight: Array) -> Array:
        """Martingale residuals without any covariate: large for those whose event came early."""
        return -self._risk(Y, weight, weight, None).gradient(np.zeros((len(Y), 1)))

    def risk(
        self, loss: Criterion, Y: Array, costs: Array, C: Array, intercept: bool, Z: Array | None
    ) -> Risk:
        return self._risk(Y, C, costs, Z)

    def _risk(self, Y: Array, C: Array, w: Array, Z: Array | None) -> Cox:
        return _cox(self.rows(Y), C, w, self.ties, Z)

    def predict(self, f: Array) -> NDArray[Any]:
        return np.asarray(f[:, 0])

    @property
    def attributes(self) -> dict[str, Any]:
        event = self.table[:, 0] > 0.0
        return {"event_times_": np.unique(self.table[event, 1])}


def _cox(rows: Array, C: Array, w: Array, ties: str, Z: Array | None = None) -> Cox:
    event, time, entry, stratum = rows.T
    late = None if np.all(np.isneginf(entry)) else entry
    return Cox(event, time, C, w=w, stratum=stratum, entry=late, ties=ties, Z=Z)


def cox_of(y: NDArray[Any], weight: Array, ties: str) -> Cox:
    """The risk at C = 1 of records as `TimeToEvent.read` has them."""
    known = TimeToEvent(ties, strata=np.unique(y["stratum"].astype(str)))
    return _cox(known._rows(y), weight, weight, ties)


def _require_comparable(y: NDArray[Any], strata: NDArray[Any]) -> None:
    """Raise an error if no event has anybody beside it who could have had it instead."""
    for stratum in strata:
        own = y[y["stratum"].astype(str) == stratum]
        times, entries = own["time"], own["entry"]
        for t in np.unique(times[own["event"]]):
            at_risk = (times >= t) & (entries < t)
            events = own["event"] & (times == t)
            if at_risk.sum() > events.sum():
                return
    said = f" in {len(strata)} strata" if len(strata) > 1 else ""
    raise ValueError(
        f"y has {number_of(int(y['event'].sum()), 'event')} among {len(y)} samples{said}, but no other "
        "sample was under observation at the time of any event: there is no order of events to learn from. "
        "Expected events at different times, or samples that are observed longer"
        + ("; take fewer strata." if len(strata) > 1 else ".")
    )

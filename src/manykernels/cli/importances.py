"""Importance of columns and views, if it does not take too long."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.markup import escape
from sklearn.utils.metaestimators import _safe_split

from ..comparison.folds import Splits
from ..inspection import Importance, importance
from ..report.importances import EFFECTS, TITLE
from ._console import Voice, one_line
from .learned import Learned

_SECONDS = 30.0  # that it may take
_REPEATS = (5, 2, 1)  # permutations in each fold, the fewer the slower predictions are
_COLUMNS = (100, 20, 0)  # columns that are looked at, of more
_COPIES, _SMALL = 8, 2000  # tables that are predicted to see how long it takes, of up to so many samples
_PYTHON = "In Python: inspection.importance."
_TOLD = 5  # columns, and views, that are named


@dataclass(frozen=True)
class Needed:
    """The importance of columns and views, or why it is not known."""

    found: Importance | None = None
    why: str = ""

    @property
    def for_report(self) -> dict[str, Any]:
        if self.found is None:
            return {"left_out": {TITLE: self.why}} if self.why else {}
        told: dict[str, Any] = {"importance": self.found}
        if not self.found.names:  # there was time for views alone
            why = f"To shuffle single columns would take more than {_SECONDS:.0f} s."
            told["left_out"] = {TITLE: f"{why} {_PYTHON}"}
        return told

    def say(self, voice: Voice, called: Mapping[str, str]) -> dict[str, Any]:
        """Name what leads, and give all of it as values."""
        if self.found is None:
            if self.why:
                voice.note(f"the importance of columns was skipped. {self.why}")
            return {"importance": None}
        told = {"views": self.found.views, "columns": self.found if self.found.names else None}
        if told["columns"] is not None and len(self.found.names) > 1:
            voice.show(escape(_sentence("columns", self.found, called)))
        values = {what: None if table is None else _values(table) for what, table in told.items()}
        return {"importance": {"metric": self.found.metric, "level": self.found.level, **values}}


def _sentence(what: str, table: Importance, called: Mapping[str, str]) -> str:
    leading = table.leading(_TOLD)
    shown = leading or [int(j) for j in table.order[:_TOLD]]
    names = [table.names[j] for j in shown]
    named = [f"{called.get(name, name)} {table.shown(name)}" for name in names]
    matter = " that matter most" if leading else ", of which none clearly matters"
    by = f"by the {table.metric} lost without each, with {100 * table.level:g} % intervals"
    return f"{what}{matter}, {by}: {', '.join(named)}"


def _values(table: Importance) -> dict[str, Any]:
    columns = table.columns()
    rows = zip(columns["name"], columns["mean"], columns["low"], columns["high"], strict=True)
    return {name: {"loss": float(m), "low": float(a), "high": float(b)} for name, m, a, b in rows}


def needed(voice: Voice, learned: Learned, splits: Splits, jobs: int) -> Needed:
    """Compute the loss of score without each column and view; fewer of them if that is slow."""
    data = learned.data
    try:
        how = _affordable(learned, splits, jobs)
        if how is None:
            return Needed(why=f"It would take more than {_SECONDS:.0f} s. {_PYTHON}")
        with voice.waiting("permuting columns of held-out samples"):
            found = importance(
                learned.whole,
                data.X,
                data.y,
                groups=data.views or None,
                cv=splits,
                random_state=0,
                n_jobs=jobs,
                n_effects=EFFECTS,
                **how,
            )
    except KeyboardInterrupt:
        voice.stopped = True
        voice.note("Stopped by Ctrl-C; the importance of columns was skipped.")
        return Needed(why="It was stopped.")
    except ValueError as error:
        return Needed(why=one_line(error))
    return Needed(found)


def _screening(width: int, columns: int) -> float:
    """Predictions that it takes, at most, to find the columns that are looked at."""
    return 2 * columns * (1.0 + math.log2(width / columns)) if width > columns > 0 else 0.0


def _affordable(learned: Learned, splits: Splits, jobs: int) -> dict[str, Any] | None:
    """Count how many permutations of how many columns there is time for, by one fit and one prediction."""
    data, (train, test) = learned.data, splits[0]
    model = learned.settled()
    started = time.perf_counter()
    model.fit(*_safe_split(model, data.X, data.y, train))
    fitted = time.perf_counter()
    copies = _COPIES if data.n <= _SMALL else 1  # small tables are predicted many at a time
    model.predict(_safe_split(model, data.X, data.y, np.tile(test, copies), train)[0])
    predicted = (time.perf_counter() - fitted) / copies
    width = data.X.shape[-1]
    for repeats in _REPEATS:
        for columns in _COLUMNS if repeats == _REPEATS[-1] else _COLUMNS[:1]:
            blocks = len(data.views) + min(columns, width)
            each = fitted - started + repeats * blocks * predicted
            screened = _screening(width, columns) * predicted
            if blocks and screened + len(splits) * each / min(jobs, len(splits)) <= _SECONDS:
                return {"n_repeats": repeats, "max_columns": columns}
    return None

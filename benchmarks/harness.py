"""How things are timed and told: contenders run in turns in one process, and a table says their ratios.

Everything that disturbs a machine for a while (other users, heat, the file cache) then disturbs all
contenders alike. A time is a median with its quartiles; a ratio is one of medians.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from .limits import Limits, machine

Facts = dict[str, Any]
MISSING = "not installed"


class Skip(Exception):
    """A benchmark cannot run here; the message says what is missing."""


@dataclass
class Timing:
    """Seconds of every run of a contender (and of processor time), and what its last run returned."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    result: Any = None

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))

    def as_dict(self) -> Facts:
        q1, q3 = np.quantile(self.seconds, [0.25, 0.75])
        spread = {"median": self.median, "q1": float(q1), "q3": float(q3), "best": min(self.seconds)}
        return {**spread, "cpu": float(np.median(self.cpu)), "runs": len(self.seconds)}

    def __str__(self) -> str:
        facts = self.as_dict()
        return f"{number(self.median)} s [{number(facts['q1'])}, {number(facts['q3'])}]"


@dataclass
class Contender:
    """What is timed, and a cheaper call that compiles and warms up what it needs (default: itself)."""

    call: Callable[[], Any]
    warm: Callable[[], Any] | None = None


def compare(
    contenders: Mapping[str, Callable[[], Any] | Contender], repeats: int = 5, budget: float = 60.0
) -> dict[str, Timing]:
    """Warm every contender up, then run all of them in turns, `repeats` times.

    One that has used up its `budget` of seconds sits out the rounds that are left.
    """
    entries = {name: c if isinstance(c, Contender) else Contender(c) for name, c in contenders.items()}
    for entry in entries.values():
        (entry.warm or entry.call)()
    timings = {name: Timing() for name in entries}
    for _ in range(repeats):
        for name, entry in entries.items():
            timing = timings[name]
            if timing.seconds and sum(timing.seconds) >= budget:
                continue
            timing.result = None  # before the next one is made: two results may not fit in memory
            gc.collect()
            started, cpu = time.perf_counter(), time.process_time()
            timing.result = entry.call()
            timing.seconds.append(time.perf_counter() - started)
            timing.cpu.append(time.process_time() - cpu)
    return timings


def ratio_rows(
    timings: Mapping[str, Timing],
    rival: str,
    facts: Callable[[str, Any], Facts] | None = None,
    cost: str | None = None,
) -> list[Facts]:
    """One row per contender: its time, how many times faster than `rival`, and facts of (name, result).

    With `cost`, the ratio is the other way: the contender's time in units of one run of the rival.
    """
    base, rows = timings[rival].median, []
    for name, timing in timings.items():
        ratio = timing.median / base if cost else base / timing.median
        row: Facts = {"contender": name, "seconds": timing, cost or f"× faster than {rival}": ratio}
        rows.append({**row, **(facts(name, timing.result) if facts else {})})
    return rows


def split_rows(
    splits: Iterable[tuple[Mapping[str, Contender], Callable[[str, Any], float]]], ours: str, error: str
) -> list[Facts]:
    """One row per contender: seconds and errors over several splits, each fitted once by all in turns.

    A split is its contenders and what says the error of a result of one of them. One without a result is not
    installed.
    """
    errors: dict[str, list[float]] = {}
    timings: dict[str, Timing] = {}
    for contenders, error_of in splits:
        for name, timing in compare(contenders, 1).items():
            kept = timings.setdefault(name, Timing())
            kept.seconds += timing.seconds
            kept.cpu += timing.cpu
            if timing.result is not None:
                errors.setdefault(name, []).append(error_of(name, timing.result))
    rows = []
    for name, timing in timings.items():
        row: Facts = {"contender": name, "seconds": timing if name in errors else MISSING}
        if name in errors:
            row["CPU ms"] = 1e3 * float(np.median(timing.cpu))
            row[error] = float(np.mean(errors[name]))
            row["worst split"] = max(errors[name])
            paired = np.subtract(errors[name], errors[ours])
            row["splits with a smaller error than ours"] = int((paired < 0).sum())
        rows.append(row)
    return rows


@dataclass
class Report:
    """The tables of one benchmark, printed as they come and written as JSON at the end."""

    name: str
    limits: Limits
    quick: bool = False
    tables: list[Facts] = field(default_factory=list)

    def pick(self, full: Any, quick: Any) -> Any:
        """The size of a full run, or of a quick one."""
        return quick if self.quick else full

    def table(self, title: str, rows: list[Facts], goal: str | None = None) -> None:
        """Add rows (columns are the union of their keys); `goal` says what was asked for."""
        self.tables.append({"title": title, **({"goal": goal} if goal else {}), "rows": rows})
        print(f"\n{title}" + (f"  (goal: {goal})" if goal else ""))
        print(render(rows), flush=True)

    def write(self, folder: Path) -> Path:
        """Put everything into folder/name.json, rounded to four digits so that differences are readable."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {"benchmark": self.name, "quick": self.quick, "machine": machine()}
        content |= {"limits": self.limits.as_dict(), "tables": self.tables}
        file = folder / f"{self.name}.json"
        file.write_text(json.dumps(_plain(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return file


def render(rows: list[Facts]) -> str:
    """Rows as a table in text."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(columns))]
    texts = [any(isinstance(row.get(column), str) for row in rows) for column in columns]
    lines = (
        "  ".join(c.ljust(w) if text else c.rjust(w) for c, w, text in zip(line, widths, texts, strict=True))
        for line in cells
    )
    return "\n".join("  " + line.rstrip() for line in lines)


def number(value: float) -> str:
    """Three digits, as people write them."""
    return f"{value:.3g}" if abs(value) < 1e3 else f"{value:,.0f}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return number(float(value)) if isinstance(value, float | np.floating) else str(value)


def _plain(value: Any) -> Any:
    """What JSON can hold, floats rounded to four digits (infinite ones as text)."""
    if isinstance(value, Timing):
        value = value.as_dict()
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.4g}") if np.isfinite(value) else str(value)
    return value


@contextmanager
def pinned(threads: int) -> Iterator[None]:
    """BLAS, OpenMP and compiled passes all on this many threads, for every contender alike.

    Only libraries that are loaded can be told: import what is timed before.
    """
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        with threadpool_limits(threads):
            yield
    finally:
        numba.set_num_threads(before)

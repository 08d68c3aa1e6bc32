"""Results of single runs, kept as they come, so that hours of them can be stopped and gone on with.

A line of the file is one run: set, seed, method, error, seconds, and the commit whose code was run. The last
line about a run counts, so that a run can be repeated after a change of the code. Most files are not kept in
git, and the tables made of them are; `kept` are small ones of experiments that take hours, which are gone on
with elsewhere. MANYKERNELS_MINUTES bounds how long new runs of these are begun.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits

from ..records import commit
from ..tables import Facts, Report

FOLDER = Path(__file__).parent.parent / "results" / "cache"
Key = tuple[str, int, str]


class Runs:
    """What is known of runs (set, seed, method), in a file or, with none, in memory only."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        commit()  # of the code as it was loaded
        self.known: dict[Key, Facts] = {}
        if file is not None and file.is_file():
            for line in file.read_text(encoding="utf-8").splitlines():
                facts = json.loads(line)
                self.known[facts["set"], facts["seed"], facts["method"]] = facts

    def __contains__(self, key: Key) -> bool:
        return key in self.known

    def add(self, key: Key, facts: Facts) -> None:
        row = dict(zip(("set", "seed", "method"), key, strict=True)) | facts | {"commit": commit()}
        self.known[key] = row
        if self.file is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")

    def seeds(self, name: str, method: str) -> list[int]:
        """For which a method was run on a set."""
        return sorted(seed for known, seed, tried in self.known if (known, tried) == (name, method))

    def values(self, name: str, method: str, seeds: list[int], column: str = "error") -> list[float]:
        return [float(self.known[name, seed, method][column]) for seed in seeds]

    def commits(self, method: str) -> list[str]:
        """Whose code gave the results of a method."""
        rows = (facts["commit"] for (_, _, tried), facts in self.known.items() if tried == method)
        return sorted(set(rows))


def kept(name: str) -> Runs:
    """The runs of an experiment that are kept beside its record."""
    return Runs(FOLDER.parent / f"{name}_runs.jsonl")


def completed(
    report: Report,
    name: str,
    keys: Iterable[Key],
    trial: Callable[..., Facts],
    warm_up: Callable[[], object] | None = None,
) -> Runs:
    """The runs of an experiment, with those that were missing; the report says how many are still to do.

    `trial` takes a key, and whether it is a quick one.
    """
    runs, todo = Runs() if report.quick else kept(name), list(keys)
    if warm_up is not None and not report.quick and any(key not in runs for key in todo):
        warm_up()
    left = go_on(runs, todo, partial(trial, quick=report.quick))
    if left:
        report.left_out["runs"] = f"{left} of {len(todo)} are not done"
    return runs


def go_on(runs: Runs, keys: Iterable[Key], trial: Callable[..., Facts]) -> int:
    """Run what is not known yet, as long as MANYKERNELS_MINUTES allow; how many runs are left to do."""
    ends = time.monotonic() + 60.0 * float(os.environ.get("MANYKERNELS_MINUTES", "inf"))
    todo = [key for key in keys if key not in runs]
    with threadpool_limits(1, "blas"):
        while todo and time.monotonic() < ends:
            key = todo.pop(0)
            runs.add(key, trial(*key))
            print(*key, f"is done, {len(todo)} to go", file=sys.stderr, flush=True)
    return len(todo)

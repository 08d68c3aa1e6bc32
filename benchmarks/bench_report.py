"""`manykernels fit --report` on one process: processor time, in units of the search that it begins with."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from manykernels import MKLClassifierCV
from manykernels.families import auto, relevance

from .harness import Facts, Report
from .problems import breast_cancer

GOAL = "569 × 30: at most 20 s of processor time (10 s on two cores); 30 × 2,000: at most 15 s"
_TARGET = "target"


def run(report: Report) -> None:
    """A table of many rows, and one of many columns; rows differ by the permuted targets."""
    rows: list[Facts] = []
    for name, frame in _tables(report).items():
        with tempfile.TemporaryDirectory() as folder:
            rows += _rows(name, frame, Path(folder))
    report.table("A report, and the parts of it that can be left out; processor seconds", rows, GOAL)


def _rows(name: str, frame: Any, folder: Path) -> list[Facts]:
    data, page = folder / "data.csv", folder / "report.html"
    frame.to_csv(data, index=False)
    command = ["fit", str(data), "--target", _TARGET, "--report", str(page), "--jobs", "1", "--force", "-q"]
    without = {
        "all of it": [],
        "without permuted targets": ["--permutations", "0"],
    }
    X, y = frame.drop(columns=_TARGET), frame[_TARGET].to_numpy()
    _seconds(lambda: _manykernels(command))  # loads and compiles
    search = _seconds(lambda: MKLClassifierCV().fit(X, y))
    rows: list[Facts] = [{"table": name, "contender": "the search alone", "cpu s": search, "searches": 1.0}]
    for contender, less in without.items():
        spent = _seconds(lambda less=less: _manykernels(command + less))  # type: ignore[misc]
        rows.append({"table": name, "contender": contender, "cpu s": spent, "searches": spent / search})
    return rows


def _seconds(call: Callable[[], Any]) -> float:
    """Processor seconds, without what earlier calls left to be remembered."""
    for part in (auto, relevance):
        part._REMEMBERED.results.clear()
    started = time.process_time()
    call()
    return time.process_time() - started


def _manykernels(arguments: list[str]) -> None:
    """Run the command, which prints nothing and must succeed."""
    from manykernels.cli import main

    with (
        mock.patch.object(sys, "argv", ["manykernels", *arguments]),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        try:
            main()
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(f"manykernels {' '.join(arguments)} ended with {ended.code}") from ended


def _tables(report: Report) -> dict[str, Any]:
    X, y = breast_cancer()
    if report.quick:
        X, y = X[::5], y[::5]
    rng = np.random.RandomState(0)
    wide = rng.randn(30, report.pick(2000, 200))
    z = np.where(wide[:, 0] + wide[:, 1] + 0.5 * rng.randn(30) > 0, 1, 0)
    return {f"{len(A)} × {A.shape[1]}": _frame(A, b) for A, b in ((X, y), (wide, z))}


def _frame(X: Any, y: Any) -> Any:
    columns = {f"column {j}": X[:, j] for j in range(X.shape[1])}
    return pd.DataFrame({**columns, _TARGET: np.asarray(y, dtype=int)})

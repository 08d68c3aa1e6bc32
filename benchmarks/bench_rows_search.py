"""The default search on a million rows that stay in a file or a Dask collection, beside one on 5,000 of them.

`MKLRegressorCV()` with nothing set, on Friedman's first problem in 5 columns with noise as large as itself.
The rows are an array that is mapped into memory, a Parquet file that is read by row groups, or a Dask array
whose chunks are read from the mapped file. Errors are those of 100,000 new rows. Memory is what is not the
file: the largest anonymous memory of the process during the fit, less what it had before.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from manykernels import MKLRegressorCV

from .bench_rows_products import Array, anonymous_memory, mapped
from .bench_rows_widths import Problem
from .harness import Facts, Report

FEW, NEW, COLUMNS = 5_000, 100_000, 5
GROUP = 50_000  # rows of a row group, and of a chunk


class Narrow:
    """The columns that the target depends on."""

    r = COLUMNS

    def __init__(self, seed: int) -> None:
        self.whole = Problem(seed)

    def samples(self, n: int) -> tuple[Array, Array]:
        X, y = self.whole.samples(n)
        return X[:, : self.r], y


def run(report: Report) -> None:
    """One fit from each kind of source."""
    n = report.pick(1_000_000, 20_000)
    problem = Narrow(0)
    few, new = problem.samples(FEW), problem.samples(NEW)
    small = float(np.mean(np.square(MKLRegressorCV().fit(*few).predict(new[0]) - new[1])))
    rows: list[Facts] = []
    with tempfile.TemporaryDirectory() as folder:
        X, y = mapped(problem, n, Path(folder) / "X")
        for source, data, target in _sources(X, y, Path(folder)):
            rows.append(_row(source, data, target, new) | {f"error, {FEW} rows": small})
    report.table(f"{n} rows × {COLUMNS}", rows, "at most 30 minutes, and less error than on few rows")


def _sources(X: Any, y: Array, folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """The same rows in all forms whose packages are there."""
    yield "mapped array", X, y
    try:
        yield "Parquet path", _parquet(X, y, folder / "rows.parquet"), "y"
        from dask import array

        yield "Dask array", array.from_array(X, chunks=(GROUP, COLUMNS)), y
    except ImportError:
        return


def _parquet(X: Any, y: Array, file: Path) -> Path:
    """Write the rows group by group."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{j}" for j in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.float64())])
    with parquet.ParquetWriter(file, schema) as writer:
        for lo in range(0, len(y), GROUP):
            part = [X[lo : lo + GROUP, j] for j in range(COLUMNS)] + [y[lo : lo + GROUP]]
            writer.write_table(pa.table([pa.array(column) for column in part], schema=schema))
    return file


def _row(source: str, data: Any, target: Any, new: tuple[Array, Array]) -> Facts:
    model = MKLRegressorCV(random_state=0)
    with anonymous_memory() as seen:
        started, cpu = time.perf_counter(), time.process_time()
        model.fit(data, target)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    names = getattr(model, "feature_names_in_", None)
    asked: Any = new[0]
    if names is not None:
        import pandas as pd

        asked = pd.DataFrame(asked, columns=list(names))
    return {
        "source": source,
        "seconds": seconds,
        "CPU s": cpu,
        "MB above the file": seen[0] / 2**20,
        "landmarks": int(model.best_estimator_.n_landmarks_),
        "error, all rows": float(np.mean(np.square(model.predict(asked) - new[1]))),
    }

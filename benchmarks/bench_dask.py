"""The pass over rows on a Dask cluster of one and of two processes, one BLAS thread each, and in memory."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from manykernels import MKLRegressor
from manykernels.approx import Nystroem
from manykernels.families import gaussian_grid

from .bench_scale import _data
from .harness import Report, Skip


def run(report: Report) -> None:
    """Times are medians of whole fits with the rows in the memory of the workers."""
    try:
        from dask import array
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise Skip(f"needs the extra 'dask': {error}") from error
    n, M, components, repeats = report.pick((200_000, 10, 100, 3), (25_000, 4, 20, 1))
    X, y = _data(n)
    memory = _model(M, components, n).fit(X, y)
    rows: list[dict[str, Any]] = []
    for workers in (1, 2):
        options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
            data = [array.from_array(part, chunks=(n // 16, *part.shape[1:])).persist() for part in (X, y)]
            _model(M, components, n).fit(*data)  # imports and compiles on the workers
            seconds = []
            for _ in range(repeats):
                started = time.perf_counter()
                model = _model(M, components, n).fit(*data)
                seconds.append(time.perf_counter() - started)
            client.cancel(data)
        difference = float(np.abs(model.predict(X[:1000]) - memory.predict(X[:1000])).max())
        rows.append(
            {"workers": workers, "seconds": float(np.median(seconds)), "difference from memory": difference}
        )
    for row in rows:
        row["× faster than one worker"] = rows[0]["seconds"] / row["seconds"]
    report.table(f"{n} rows, {M} kernels × {components}", rows, "≥ 1.7 × with two, equal to 1e-8")


def _model(M: int, components: int, n: int) -> MKLRegressor:
    approx = Nystroem(components)
    return MKLRegressor(gaussian_grid(2.0, 30.0, M), approx=approx, C=1e3 / n, norm=2.0, random_state=0)

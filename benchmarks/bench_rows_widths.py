"""Gaussian widths learned from a million rows in random features, beside an exact fit on 5,000 of them.

A million rows of 10 columns are a file that is mapped into memory; the target is Friedman's first problem,
with noise as large as itself. All widths of an interval compete, each in 256 features, and one pass looks at
all of them: the gap, of at most 1 %, covers the interval, of kernels in these features. C falls as 1/√n, by
a factor that is chosen for exact fits on 1,000 other rows. Errors are those of 100,000 new rows; a standard
error is that of the difference of the two. Memory is what is not the file: the largest anonymous memory of
the process during the fit, less what it had before.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.approx import RandomFeatures
from manykernels.families import Gaussians

from .bench_rows_products import Array, anonymous_memory, mapped
from .harness import Facts, Report

FEW, LEAST, NEW, SEEDS = 5_000, 1_000, 100_000, 3
FACTORS = (1.0, 3.0, 10.0, 30.0)  # of C √n
TOL = 1e-2
WIDTHS = Gaussians(0.3, 6.0)


def run(report: Report) -> None:
    """Several seeds in a mapped file; other losses, and a cluster of two processes, on fewer rows."""
    n, features, seeds = report.pick((1_000_000, 256, SEEDS), (40_000, 32, 1))
    factor = _factor()
    rows = [_row(n, features, factor, seed) for seed in range(seeds)]
    goal = "minutes on two cores, < 1 GB, no worse than the exact fit by two standard errors"
    report.table(f"{n} rows, widths from 0.3 to 6 in {features} features, squared loss", rows, goal)
    some = report.pick(20_000, 5_000)
    losses = [_loss(loss, some, features // 4, factor) for loss in ("squared", "logistic", "hinge")]
    report.table(f"Two classes, {some} rows, {features // 4} features", losses, f"a gap of at most {TOL:g}")
    cluster = _on_cluster(report.pick(50_000, 25_000), features // 4, factor)
    if cluster is not None:
        report.table("A Dask cluster of two processes", [cluster], "equal to 1e-6")


class Problem:
    """Friedman's first problem with noise of its size, as samples come, over the size of both."""

    r = 10

    def __init__(self, seed: int) -> None:
        self.draw = np.random.RandomState(seed)

    def samples(self, n: int) -> tuple[Array, Array]:
        X = self.draw.uniform(size=(n, self.r)).astype(np.float32).astype(float)
        f = (
            10.0 * np.sin(np.pi * X[:, 0] * X[:, 1])
            + 20.0 * (X[:, 2] - 0.5) ** 2
            + 10.0 * X[:, 3]
            + 5.0 * X[:, 4]
        )
        return X, (f - 14.4) / 4.9 + self.draw.standard_normal(n)


def _factor() -> float:
    """Of C √n: the best of exact fits on few rows, for others."""
    problem = Problem(100)
    few, other = problem.samples(LEAST), problem.samples(FEW)
    models = [MKLRegressor(WIDTHS, C=c / np.sqrt(LEAST), tol=TOL).fit(*few) for c in FACTORS]
    errors = [float(np.mean((model.predict(other[0]) - other[1]) ** 2)) for model in models]
    return FACTORS[int(np.argmin(errors))]


def _model(n: int, features: int, factor: float, seed: int, **options: Any) -> MKLRegressor:
    approx = RandomFeatures(features)
    return MKLRegressor(
        WIDTHS, C=factor / np.sqrt(n), approx=approx, random_state=seed, **{"tol": TOL, **options}
    )


def _row(n: int, features: int, factor: float, seed: int) -> Facts:
    problem = Problem(seed)
    few, new = problem.samples(FEW), problem.samples(NEW)
    exact = MKLRegressor(WIDTHS, C=factor / np.sqrt(FEW), tol=TOL).fit(*few)
    small = np.square(exact.predict(new[0]) - new[1])
    model = _model(n, features, factor, seed)
    with tempfile.TemporaryDirectory() as folder:
        X, y = mapped(problem, n, Path(folder) / "X")
        with anonymous_memory() as seen:
            started, cpu = time.perf_counter(), time.process_time()
            model.fit(X, y)
            seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    large = np.square(model.predict(new[0]) - new[1])
    difference = large - small
    return {
        "seed": seed,
        "C √n": factor,
        "seconds": seconds,
        "CPU s": cpu,
        "MB above the file": seen[0] / 2**20,
        "gap": float(model.dual_gap_),
        "certified": bool(model.certified_),
        "looks at all widths": int(model.n_iter_),
        "widths": len(model.weights_),
        f"error, exact on {FEW}": float(small.mean()),
        "error, all rows": float(large.mean()),
        "difference in standard errors": float(difference.mean() / (difference.std() / np.sqrt(NEW))),
    }


def _loss(loss: str, n: int, features: int, factor: float) -> Facts:
    """Two classes: the sign of the target."""
    problem = Problem(0)
    X, y = problem.samples(n)
    new, truth = problem.samples(NEW)
    C, approx = factor / np.sqrt(n), RandomFeatures(features)
    model = MKLClassifier(WIDTHS, loss=loss, C=C, approx=approx, random_state=0, tol=TOL)
    started = time.process_time()
    model.fit(X, y > 0)
    return {
        "loss": loss,
        "CPU s": time.process_time() - started,
        "gap": float(model.dual_gap_),
        "certified": bool(model.certified_),
        "looks at all widths": int(model.n_iter_),
        "widths": len(model.weights_),
        "accuracy on new rows": float(np.mean(model.predict(new) == (truth > 0))),
    }


def _on_cluster(n: int, features: int, factor: float) -> Facts | None:
    """The same fit on rows that are in the memory of two workers, and in this process."""
    try:
        from dask import array
        from distributed import Client, LocalCluster
    except ImportError:
        return None
    X, y = Problem(0).samples(n)
    model = _model(n, features, factor, 0)
    memory = model.fit(X, y).predict(X[:1000])
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster):
        data = [array.from_array(part, chunks=(n // 16, *part.shape[1:])).persist() for part in (X, y)]
        started = time.perf_counter()
        model.fit(*data)
        seconds = time.perf_counter() - started
    return {
        "rows": n,
        "seconds": seconds,
        "gap": float(model.dual_gap_),
        "certified": bool(model.certified_),
        "difference from memory": float(np.abs(model.predict(X[:1000]) - memory).max()),
    }

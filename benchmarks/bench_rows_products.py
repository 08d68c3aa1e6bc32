"""Sparse learning over all products of columns from a million rows, beside an exact fit on 5,000 of them.

A million rows of 80 columns are a file that is mapped into memory; the target is a sum of 20 products of up
to three of them, and noise of the same size. Of 91,881 products those that matter are learned, certified over
all of them. C falls as 1/√n, by a factor that is chosen for the exact fit on other rows. Errors are those of
100,000 new rows; a standard error is that of the difference of the two. Memory is what is not the file: the
largest anonymous memory of the process during the fit, less what it had before.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import Products

from .harness import Facts, Report

Array = NDArray[np.float64]
TERMS, FEW, NEW = 20, 5_000, 100_000
FACTORS = (0.1, 0.3, 1.0)  # of C √n
_BLOCK = 50_000
PRODUCTS = Products(degree=3, atom_scale="rms")


def run(report: Report) -> None:
    """Several seeds in a mapped file; other losses, and a cluster of two processes, on fewer rows."""
    n, r, seeds = report.pick((1_000_000, 80, 3), (40_000, 12, 1))
    rows = [_row(n, r, seed) for seed in range(seeds)]
    goal = "minutes on two cores, < 1 GB, no worse than the exact fit by two standard errors"
    report.table(f"{n} rows × {_count(r)} products, squared loss", rows, goal)
    some = report.pick(50_000, 40_000)
    losses = [_loss(loss, some, r) for loss in ("squared", "logistic", "hinge")]
    report.table(f"Two classes, {some} rows × {_count(r)} products", losses, "a gap of at most 1e-3")
    cluster = _on_cluster(some, r)
    if cluster is not None:
        report.table(
            f"A Dask cluster of two processes, {some} rows", [cluster], "equal to 1e-6 at a gap of 1e-7"
        )


def _count(r: int) -> int:
    return (r + 3) * (r + 2) * (r + 1) // 6


class Problem:
    """A sum of products of columns, and samples of it as they come."""

    def __init__(self, r: int, seed: int) -> None:
        self.r, self.draw = r, np.random.RandomState(seed)
        degrees = self.draw.randint(1, 4, TERMS)
        self.terms = [np.sort(self.draw.choice(r, d, replace=False)) for d in degrees]
        self.w = self.draw.standard_normal(TERMS)
        self.noise = float(np.linalg.norm(self.w))

    def samples(self, n: int) -> tuple[Array, Array]:
        X = self.draw.standard_normal((n, self.r)).astype(np.float32).astype(float)
        f = sum(w * np.prod(X[:, z], axis=1) for w, z in zip(self.w, self.terms, strict=True))
        return X, (f + self.noise * self.draw.standard_normal(n)) / self.noise


def mapped(problem: Any, n: int, file: Path) -> tuple[Any, Array]:
    """Many samples of a problem with `r` columns, in a file."""
    X = np.memmap(file, dtype=np.float32, mode="w+", shape=(n, problem.r))
    y = np.empty(n)
    for lo in range(0, n, _BLOCK):
        hi = min(lo + _BLOCK, n)
        X[lo:hi], y[lo:hi] = problem.samples(hi - lo)
    X.flush()
    return np.memmap(file, dtype=np.float32, mode="r", shape=(n, problem.r)), y


def _row(n: int, r: int, seed: int) -> Facts:
    problem = Problem(r, seed)
    few, other, new = (problem.samples(size) for size in (FEW, FEW, NEW))
    exact = [MKLRegressor(PRODUCTS, C=c / np.sqrt(FEW)).fit(*few) for c in FACTORS]
    best = int(np.argmin([np.mean((model.predict(other[0]) - other[1]) ** 2) for model in exact]))
    small = np.square(exact[best].predict(new[0]) - new[1])
    with tempfile.TemporaryDirectory() as folder:
        X, y = mapped(problem, n, Path(folder) / "X")
        model = MKLRegressor(PRODUCTS, C=FACTORS[best] / np.sqrt(n), approx="features", random_state=seed)
        with anonymous_memory() as seen:
            started, cpu = time.perf_counter(), time.process_time()
            model.fit(X, y)
            seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    large = np.square(model.predict(new[0]) - new[1])
    difference = large - small
    return {
        "seed": seed,
        "seconds": seconds,
        "CPU s": cpu,
        "MB above the file": seen[0] / 2**20,
        "gap": float(model.dual_gap_),
        "certified": bool(model.certified_),
        "looks at all products": int(model.n_iter_),
        "products": len(model.weights_),
        f"error, exact on {FEW}": float(small.mean()),
        "error, all rows": float(large.mean()),
        "difference in standard errors": float(difference.mean() / (difference.std() / np.sqrt(NEW))),
    }


def _loss(loss: str, n: int, r: int) -> Facts:
    """Two classes: the sign of the target."""
    problem = Problem(r, 0)
    X, y = problem.samples(n)
    new, truth = problem.samples(NEW)
    model = MKLClassifier(PRODUCTS, loss=loss, C=1.0 / np.sqrt(n), approx="features", random_state=0)
    started = time.process_time()
    model.fit(X, y > 0)
    return {
        "loss": loss,
        "CPU s": time.process_time() - started,
        "gap": float(model.dual_gap_),
        "certified": bool(model.certified_),
        "looks at all products": int(model.n_iter_),
        "products": len(model.weights_),
        "accuracy on new rows": float(np.mean(model.predict(new) == (truth > 0))),
    }


def _on_cluster(n: int, r: int) -> Facts | None:
    """The same fit on rows that are in the memory of two workers, and in this process."""
    try:
        from dask import array
        from distributed import Client, LocalCluster
    except ImportError:
        return None
    X, y = Problem(r, 0).samples(n)
    model = MKLRegressor(PRODUCTS, C=0.1 / np.sqrt(n), tol=1e-7, approx="features", random_state=0)
    memory = model.fit(X, y).predict(X[:1000])
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster):
        data = [array.from_array(part, chunks=(n // 16, *part.shape[1:])).persist() for part in (X, y)]
        started = time.perf_counter()
        model.fit(*data)
        seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "gap": float(model.dual_gap_),
        "certified": bool(model.certified_),
        "difference from memory": float(np.abs(model.predict(X[:1000]) - memory).max()),
    }


@contextmanager
def anonymous_memory() -> Iterator[list[int]]:
    """Bytes of anonymous memory at the worst moment inside, less those before; needs /proc."""
    before, worst, stop = _anonymous(), [0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.05):
            worst[0] = max(worst[0], _anonymous() - before)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield worst
    finally:
        stop.set()
        watcher.join()


def _anonymous() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    return 0

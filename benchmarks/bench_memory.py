"""1,000 Gaussian kernels on 2,000 points (32 GB if stored) within 2 GB, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from manykernels import MKLClassifier

from .harness import Report, pinned
from .limits import memory
from .problems import classification, gaussians

ROOT = Path(__file__).resolve().parents[1]


def run(report: Report) -> None:
    """Seconds, gap and peak memory of the fit on the fly; then both ways where the stack fits too."""
    n, M, limit = report.pick((2000, 1000, "2GB"), (500, 200, "100MB"))
    rows = [_in_a_process(n, M, norm, limit, report.limits.threads) for norm in report.pick((1, 2), (1,))]
    report.table(f"{M} kernels on {n} points, memory_limit={limit}", rows, f"certified, within {limit}")

    n, M = report.pick((300, 1000), (150, 200))
    small = 20 * 8 * n * n  # room for a few kernels
    rows = [_both_ways(n, M, norm, small) for norm in (1, 2)]
    report.table(f"{M} kernels on {n} points, on the fly and stored", rows, "weights equal to 1e-6")


def _fit(n: int, M: int, norm: float, limit: Any, tol: float = 1e-3) -> MKLClassifier:
    X, y = classification(n)
    model = MKLClassifier(gaussians(M), norm=norm, C=1.0, tol=tol, memory_limit=limit)
    return model.fit(X, y)


def _both_ways(n: int, M: int, norm: float, limit: int) -> dict[str, Any]:
    fly, stored = _fit(n, M, norm, limit), _fit(n, M, norm, None)
    row: dict[str, Any] = {"norm": norm, "gap on the fly": fly.dual_gap_, "gap stored": stored.dual_gap_}
    row["largest difference of weights"] = float(np.abs(fly.weights_ - stored.weights_).max())
    row["relative difference of P"] = abs(fly.objective_ / stored.objective_ - 1.0)
    return row


def _in_a_process(n: int, M: int, norm: float, limit: str, threads: int) -> dict[str, Any]:
    task = json.dumps({"n": n, "M": M, "norm": norm, "limit": limit, "threads": threads})
    command = [sys.executable, "-m", "benchmarks.bench_memory", task]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process that fits {task} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _child(n: int, M: int, norm: float, limit: str, threads: int) -> dict[str, Any]:
    """Fit once, small, to load and compile everything; then for real, with the memory it takes above that."""
    with pinned(threads):
        _fit(100, 20, norm, 8 * 100 * 100 * 15)
        before = memory("VmRSS")
        started = time.perf_counter()
        model = _fit(n, M, norm, limit)
        seconds = time.perf_counter() - started
    row = {"norm": norm, "seconds": seconds, "gap": model.dual_gap_, "certified": model.certified_}
    row |= {"iterations": model.n_iter_, "active": len(model.active_)}
    return {
        **row,
        "GB above the start": (memory("VmHWM") - before) / 2**30,
        "GB if stored": 8 * M * n * n / 2**30,
    }


if __name__ == "__main__":
    print(json.dumps(_child(**json.loads(sys.argv[1]))))

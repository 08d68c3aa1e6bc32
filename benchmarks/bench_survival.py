"""Times to an event: certified fits beside those of the logistic loss, and at sizes that matrices limit.

Both have the same samples and kernels; the classes are whether the time is above its median. Times are those
of one processor, ratios within one run. Large fits run in processes of their own, which measure their memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLSurvival
from manykernels.approx import Nystroem
from manykernels.families import gaussian_grid

from .harness import Facts, Report, compare, pinned
from .limits import memory
from .problems import Array

ROOT = Path(__file__).resolve().parents[1]
TOL = 1e-3


def run(report: Report) -> None:
    """Beside the logistic loss on one thread; then many samples, exactly and by features."""
    n, kernels = report.pick((1000, 20), (100, 4))
    with pinned(1):
        rows = [beside(n, kernels, norm, ties, report.pick(5, 1)) for norm, ties in CASES]
        report.table(
            f"{n} samples, {kernels} Gaussian kernels, C = 1, gap ≤ {TOL:g}",
            rows,
            "norm 1 in at most 3 times the time of the logistic loss",
        )
    many, most = report.pick((5000, 100_000), (300, 2000))
    threads = report.limits.threads
    rows = [
        _in_a_process(n=many, kernels=5, limit="2GB", landmarks=0, threads=threads),
        _in_a_process(n=most, kernels=5, limit="8GB", landmarks=100, threads=threads),
    ]
    report.table("Many samples, norm 1", rows, f"{many} within 2 GB, {most} by features in minutes")


CASES = [(1.0, "breslow"), (1.0, "efron"), (2.0, "breslow"), (np.inf, "breslow")]


def samples(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Half of the events are seen; days are whole numbers, so that some are tied."""
    draw = np.random.RandomState(seed)
    X = draw.standard_normal((n, 8))
    f = X[:, 0] + np.sin(2.0 * X[:, 1])
    death, last = draw.exponential(500.0 * np.exp(-f)), draw.exponential(500.0, n)
    return X, np.column_stack([death <= last, np.ceil(np.minimum(death, last))])


def beside(n: int, kernels: int, norm: float, ties: str, draws: int) -> Facts:
    """Processor time of both losses over several targets."""
    times: dict[str, list[float]] = {"logistic": [], "survival": []}
    worst = 0.0
    for seed in range(draws):
        X, y = samples(n, seed)
        labels = y[:, 1] > np.median(y[:, 1])
        given: dict[str, Any] = {"kernels": gaussian_grid(0.5, 50.0, kernels), "norm": norm, "tol": TOL}
        model = MKLSurvival(**given, ties=ties)
        ways = {
            "logistic": partial(MKLClassifier(**given, loss="logistic").fit, X, labels),
            "survival": partial(model.fit, X, y),
        }
        for name, timing in compare(ways, 3).items():
            times[name].append(float(np.median(timing.cpu)))
        worst = max(worst, float(model.dual_gap_))
    logistic, survival = (1e3 * float(np.mean(times[name])) for name in times)
    ratios = np.array(times["survival"]) / np.array(times["logistic"])
    return {
        "norm": norm,
        "ties": ties,
        "CPU ms logistic": logistic,
        "CPU ms survival": survival,
        "× logistic": survival / logistic,
        "lowest": float(ratios.min()),
        "highest": float(ratios.max()),
        "largest gap": worst,
    }


def _in_a_process(**task: Any) -> Facts:
    command = [sys.executable, "-m", "benchmarks.bench_survival", json.dumps(task)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process that fits {task} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _child(n: int, kernels: int, limit: str, landmarks: int, threads: int) -> Facts:
    """Fit once, small, to load and compile everything; then for real, with the memory it takes above that."""
    approx = Nystroem(landmarks) if landmarks else None
    given: dict[str, Any] = {"memory_limit": limit, "approx": approx, "random_state": 0, "tol": TOL}
    with pinned(threads):
        few = {**given, "approx": Nystroem(10) if landmarks else None}
        MKLSurvival(gaussian_grid(1.0, 20.0, 3), **few).fit(*samples(100))
        X, y = samples(n)
        before, started, used = memory("VmRSS"), time.perf_counter(), time.process_time()
        model = MKLSurvival(gaussian_grid(1.0, 20.0, kernels), **given).fit(X, y)
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
    return {
        "samples": n,
        "kernels": kernels,
        "landmarks": landmarks,
        "memory_limit": limit,
        "seconds": seconds,
        "CPU seconds": cpu,
        "gap": float(model.dual_gap_),
        "GB above the start": (memory("VmHWM") - before) / 2**30,
    }


if __name__ == "__main__":
    print(json.dumps(_child(**json.loads(sys.argv[1]))))

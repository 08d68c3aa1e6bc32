"""20 kernels × 100 landmarks on 10⁵ to 10⁶ rows: a fit and a cross-validation in units of the SYRK inside."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from manykernels import MKLRegressor
from manykernels.approx import Nystroem
from manykernels.families import gaussian_grid
from manykernels.fitting.featured import map_kernels
from manykernels.fitting.lazy import pose
from manykernels.grams.statistics import block_rows, spans
from manykernels.selection.sums import cross_validate, sums_of_folds

from .harness import Report, pinned
from .limits import memory

ROOT = Path(__file__).resolve().parents[1]
Array = NDArray[np.float64]
_FOLDS, _NORMS = 5, [1.0, 2.0, np.inf]


def run(report: Report) -> None:
    """Each size in a process of its own, for its peak of memory."""
    M, components = report.pick((20, 100), (5, 20))
    rows = [
        _in_a_process(n, M, components, report.limits.threads)
        for n in report.pick((100_000, 300_000, 1_000_000), (5_000, 10_000))
    ]
    title = f"{M} kernels × {components} landmarks, 20 features, squared loss"
    goal = "fit ≤ 2 SYRK, 10 costs × 3 norms × 5 folds ≤ 4 SYRK, under 2 GB, linear in n"
    report.table(title, rows, goal)


def _data(n: int) -> tuple[Array, Array]:
    rng = np.random.RandomState(0)
    X = rng.randn(n, 20)
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.randn(n)


def _model(M: int, components: int, n: int) -> MKLRegressor:
    approx = Nystroem(components)
    return MKLRegressor(gaussian_grid(2.0, 30.0, M), approx=approx, C=1e3 / n, norm=2.0, random_state=0)


def _clock(call: Callable[[], Any]) -> tuple[Any, float, float]:
    started, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - started, time.process_time() - cpu


def _syrk(n: int, p: int) -> None:
    """ΦᵀΦ of n rows, block by block as in the fit, with nothing around it."""
    Phi = np.random.RandomState(0).rand(min(block_rows(p), n), p)
    G = np.zeros((p, p), order="F")
    for lo, hi in spans(n, p):
        G = blas.dsyrk(1.0, Phi[: hi - lo].T, beta=1.0, c=G, trans=0, lower=1, overwrite_c=1)


def _cross_validation(model: MKLRegressor, X: Array, y: Array) -> tuple[Any, Any]:
    """Everything that a search does: the pass over folds, all candidates, and the best one on all rows."""
    options = model._options()
    samples = pose(options, X, y, None, model._target(), in_place=True)
    fold = np.arange(samples.n) % _FOLDS
    sums = sums_of_folds(options, samples, map_kernels(options, samples), fold, _FOLDS)
    Cs = float(model.C) * np.logspace(-3, 1.5, 10)
    path = cross_validate(sums, list(Cs), _NORMS)
    i, c = np.unravel_index(int(path.mean_squared_error.argmin()), path.mean_squared_error.shape)
    return path, sums.refit(_NORMS[i], float(Cs[c]))


def _in_a_process(n: int, M: int, components: int, threads: int) -> dict[str, Any]:
    task = json.dumps({"n": n, "M": M, "components": components, "threads": threads})
    command = [sys.executable, "-m", "benchmarks.bench_scale", task]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process that fits {task} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _child(n: int, M: int, components: int, threads: int) -> dict[str, Any]:
    """A small fit to load and compile everything, then half of the SYRK, both fits, and its other half."""
    with pinned(threads):
        _model(M, components, 3000).fit(*_data(3000))
        X, y = _data(n)
        p = M * components
        first = _clock(lambda: _syrk(n // 2, p))
        model, seconds, cpu = _clock(lambda: _model(M, components, n).fit(X, y))
        peak = memory("VmHWM")
        (path, _), cv_seconds, cv_cpu = _clock(lambda: _cross_validation(_model(M, components, n), X, y))
        second = _clock(lambda: _syrk(n - n // 2, p))
    syrk, syrk_cpu = first[1] + second[1], first[2] + second[2]
    return {
        "rows": n,
        "SYRK s": syrk,
        "fit s": seconds,
        "fit / SYRK": seconds / syrk,
        "search s": cv_seconds,
        "search / SYRK": cv_seconds / syrk,
        "fit / SYRK, processor time": cpu / syrk_cpu,
        "search / SYRK, processor time": cv_cpu / syrk_cpu,
        "gap": model.dual_gap_,
        "largest gap of the search": float(path.gap.max()),
        "features": int(model.features_.n_features),
        "R²": float(model.score(X[:10_000], y[:10_000])),
        "peak GB, fit": peak / 2**30,
        "peak GB, all": memory("VmHWM") / 2**30,
    }


if __name__ == "__main__":
    print(json.dumps(_child(**json.loads(sys.argv[1]))))

"""Weights of its own for every target: MKLRegressorCV(multi_output="own") beside himalaya's random search.

Targets are mixtures of linear functions of five feature spaces and noise (`datasets.make_voxels`), a third of
them of one space alone. himalaya gets the kernels of the spaces in single precision, which it is made for,
its own folds and a list of α; MKLRegressorCV gets the features, and finds values of C itself. Both are scored
on samples that neither has seen. The loss of a contender is its R² below that of the better one, target by
target.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from manykernels import MKLRegressorCV
from manykernels.datasets import make_voxels
from manykernels.families import Views, views
from manykernels.inspection import explained_parts, r2_scores
from manykernels.kernels import Linear

from .bench_ridge import ALPHAS, RIVAL, sets, splits
from .harness import MISSING, Contender, Facts, Report, compare, pinned, split_rows
from .limits import memory
from .problems import Array
from .rivals_linear import ridge_search

ROOT = Path(__file__).resolve().parents[1]
OURS = 'MKLRegressorCV(multi_output="own")'
WIDTHS = (50, 100, 300, 800, 2000)
TEST = 500  # samples that models are scored on
STRENGTHS = np.logspace(-3, 4, 10)  # α of himalaya, for kernels with a mean diagonal of 1


def run(report: Report) -> None:
    """Accuracy and time beside the rival; cost and memory as targets grow; Friedman 1. All on one thread."""
    n, widths, targets = report.pick((1000, WIDTHS, 10_000), (120, (10, 20, 40), 60))
    spaces = f"{len(widths)} spaces of {widths[0]} to {widths[-1]:,} features, {n:,} samples"
    with pinned(1):
        rows = against_the_rival(n, widths, targets, report.pick(100, 5))
    goal = "median R² at least himalaya's − 0.002, a smaller loss, a fifth of its CPU s; 95 % found"
    report.table(f"{targets:,} targets of {spaces}", rows, goal)
    sizes = report.pick((100, 1000, 10_000, 100_000), (60, 120))
    rows = [in_a_process(n, widths, k) for k in sizes]
    goal = "cost per target flat or falling; below 4 GB at 100,000 targets"
    report.table(f"The same for more and more targets: {spaces}", rows, goal)
    X, y, kernels = sets(report.pick(None, 60))["Friedman 1"]
    seeds, draws = report.pick((5, (20, 100)), (2, (5,)))
    with pinned(1):
        rows = split_rows(splits(X, y, kernels, seeds, draws, models), OURS, "relative squared error")
    goal = "error at most himalaya's with 100 draws, in at most its time"
    title = f"Friedman 1, one target: {len(kernels)} kernels, {len(y)} samples, {seeds} splits"
    report.table(title, rows, goal)


# -- beside the rival ---------------------------------------------------------------------------------
def bands(widths: tuple[int, ...]) -> Views:
    """A linear kernel for each feature space."""
    ends = np.cumsum(widths)
    return views(
        {f"space {m}": (slice(int(end) - widths[m], int(end)), Linear()) for m, end in enumerate(ends)}
    )


def stack(A: Array, B: Array, widths: tuple[int, ...]) -> Array:
    """(M, n_A, n_B), in single precision: kernels of the spaces, scaled to a mean diagonal of 1 on B."""
    parts = zip(*(np.split(Z, np.cumsum(widths)[:-1], axis=1) for Z in (A, B)), strict=True)
    return np.array([a @ b.T / np.mean((b**2).sum(axis=1)) for a, b in parts], dtype=np.float32)


def search(X: Array, Y: Array, widths: tuple[int, ...]) -> MKLRegressorCV:
    """Weights and C of every target."""
    return MKLRegressorCV(bands(widths), multi_output="own", random_state=0).fit(X, Y)


def against_the_rival(n: int, widths: tuple[int, ...], targets: int, draws: int) -> list[Facts]:
    """One fit of each, and what they say of samples that they have not seen."""
    X, Y, truth = make_voxels(n + TEST, targets, widths=widths, random_state=0)
    A, B, a, b = X[:n], X[n:], Y[:n], Y[n:]
    K, rival, few = stack(A, A, widths), RIVAL.format(draws), a[:, :20]
    contenders = {
        OURS: Contender(partial(search, A, a, widths), partial(search, A[:60], few[:60], widths)),
        rival: Contender(
            partial(ridge_search, K, a.astype(np.float32), 5, STRENGTHS, draws),
            partial(ridge_search, K[:, :60, :60], few[:60].astype(np.float32), 5, STRENGTHS, 2),
        ),
    }
    timings = compare(contenders, 1)
    ours, theirs = timings[OURS].result, timings[rival].result
    told = {OURS: (ours.predict(B), ours.weights_)}
    if theirs is not None:
        told[rival] = np.asarray(theirs.predict(stack(B, A, widths))), np.exp(np.asarray(theirs.deltas_)).T
    r2 = {name: r2_scores(b, predicted) for name, (predicted, _) in told.items()}
    best = np.max(list(r2.values()), axis=0)
    rows = []
    for name, timing in timings.items():
        row: Facts = {"contender": name, "seconds": timing if name in told else MISSING}
        if name in told:
            row |= {"CPU s": timing.cpu[0], "median R²": float(np.median(r2[name]))}
            row |= {"mean R²": float(r2[name].mean()), "mean loss": float((best - r2[name]).mean())}
            row["single spaces found, %"] = 100.0 * found(told[name][1], r2[name], truth)
        if name == OURS:
            row["Σ parts − R²"] = float(np.abs(explained_parts(ours, B, b).sum(axis=0) - r2[name]).max())
        rows.append(row)
    return rows


def found(weights: Array, r2: Array, truth: Array) -> float:
    """The share of targets of one space, with R² ≥ 0.1, whose largest weight is that of this space."""
    alone = (np.count_nonzero(truth, axis=0) == 1) & (r2 >= 0.1)
    return (
        float(np.mean(weights[alone].argmax(axis=1) == truth[:, alone].argmax(axis=0)))
        if alone.any()
        else np.nan
    )


def models(K: Array, y: Array, draws: tuple[int, ...]) -> dict[str, Callable[[], Any]]:
    """Searches on given kernels: by default, in the rival's folds, and the rival's."""
    cv = KFold(5, shuffle=True, random_state=0)
    given, own = np.moveaxis(K, 0, -1), {"multi_output": "own", "normalize": None, "random_state": 0}
    contenders: dict[str, Callable[[], Any]] = {
        OURS: partial(MKLRegressorCV("precomputed", **own).fit, given, y),
        f"{OURS}, the same folds": partial(MKLRegressorCV("precomputed", cv=cv, **own).fit, given, y),
    }
    for n_iter in draws:
        contenders[RIVAL.format(n_iter)] = partial(ridge_search, K, y, cv, ALPHAS, n_iter)
    return contenders


# -- as targets grow ----------------------------------------------------------------------------------
def in_a_process(n: int, widths: tuple[int, ...], targets: int) -> Facts:
    """A process of its own, so that its memory is that of this fit."""
    task = json.dumps({"n": n, "widths": widths, "targets": targets})
    command = [sys.executable, "-m", "benchmarks.bench_targets", task]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process that fits {task} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _child(n: int, widths: list[int], targets: int) -> Facts:
    """Targets are those of a tenth, several times, each with noise of its own."""
    few = min(targets, 10_000)
    X, some, _ = make_voxels(n, few, widths=widths, random_state=0)
    rng, Y = np.random.RandomState(1), np.empty((n, targets), dtype=np.float32)
    for lo in range(0, targets, few):
        part = some[:, : targets - lo]
        Y[:, lo : lo + few] = part if lo == 0 else part + 0.3 * rng.standard_normal(part.shape)
    del some
    with pinned(1):
        search(X[:60], Y[:60, :20], tuple(widths))
        started, cpu = time.perf_counter(), time.process_time()
        model = search(X, Y, tuple(widths))
        row: Facts = {"targets": targets, "seconds": time.perf_counter() - started}
        row["CPU s"] = time.process_time() - cpu
    row |= {"CPU ms a target": 1e3 * row["CPU s"] / targets, "peak GB": memory("VmHWM") / 2**30}
    return row | {"GB of targets": Y.nbytes / 2**30, "median CV R²": float(np.median(model.cv_scores_))}


if __name__ == "__main__":
    print(json.dumps(_child(**json.loads(sys.argv[1]))))

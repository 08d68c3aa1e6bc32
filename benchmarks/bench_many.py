"""Thousands of kernels: time per kernel as their number grows, rank-one and dense ones on the fly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from manykernels import MKLClassifier
from manykernels.families import rank_one
from manykernels.kernels import Gaussian, Kernel, OnColumns, evaluate

from .harness import Contender, Report, Timing, compare
from .problems import classification, told

GOAL = "time per kernel flat or falling"


def run(report: Report) -> None:
    """Rank-one kernels for norm = 1 and 2, then Gaussian kernels on subsets of the features."""
    n, counts = report.pick((500, (1000, 2000, 5000, 10_000)), (200, (500, 1000)))
    rng = np.random.RandomState(0)
    X = rng.randn(n, counts[-1])
    y = np.sign(X[:, :20] @ rng.randn(20) + rng.randn(n))
    for norm in (1, 2):
        fits = {M: partial(_fit, rank_one(), X[:, :M], y, norm=norm) for M in counts}
        title = f"rank-one kernels (columns of X) on {n} points, norm={norm}"
        read = {M: 8 * n * M / 1e9 / report.limits.read_gb_s for M in counts}
        report.table(title, _rows(fits, report.pick(3, 1), {"reads of X": read}), GOAL)

    n, counts = report.pick((1000, (500, 1000, 2000, 5000)), (300, (100, 200)))
    limit = report.pick("1GB", "20MB")  # less than the smallest stack
    X, y = classification(n)
    kernels = subsets(counts[-1], X.shape[1])
    fits = {M: partial(_fit, kernels[:M], X, y, memory_limit=limit) for M in counts}
    once = {M: compare({"": partial(_evaluate, kernels[:M], X)}, 1)[""].median for M in counts}
    title = f"Gaussian kernels on subsets of features, {n} points, norm=1, memory_limit={limit}"
    report.table(title, _rows(fits, 1, {"evaluations of all": once}), GOAL)


def subsets(M: int, d: int, size: int = 5, widths: int = 10) -> list[Kernel]:
    """M Gaussian kernels: every `widths` of them share the distances of one random subset of the features."""
    rng = np.random.RandomState(0)
    columns = [sorted(rng.choice(d, size, replace=False).tolist()) for _ in range(M // widths)]
    return [OnColumns(Gaussian(w), c) for c in columns for w in np.geomspace(0.5, 20.0, widths).tolist()]


def _fit(kernels: Any, X: Any, y: Any, **options: Any) -> MKLClassifier:
    return MKLClassifier(kernels, C=1.0, tol=1e-3, **options).fit(X, y)


def _evaluate(kernels: list[Kernel], X: Any) -> None:
    for _ in evaluate(kernels, X):
        pass


def _nothing() -> None:
    pass


def _rows(
    fits: Mapping[int, Callable[[], Any]], repeats: int, units: dict[str, dict[int, float]]
) -> list[dict[str, Any]]:
    """One row per number of kernels; `units` are seconds of something to measure the time in."""
    smallest = min(fits)  # warms up for all of them
    timings = compare(
        {str(M): Contender(call, warm=call if M == smallest else _nothing) for M, call in fits.items()},
        repeats,
    )

    def row(M: int, t: Timing) -> dict[str, Any]:
        measured = {unit: t.median / seconds[M] for unit, seconds in units.items()}
        return {"kernels": M, "seconds": t, "ms per kernel": 1e3 * t.median / M, **measured, **told(t.result)}

    return [row(M, timings[str(M)]) for M in fits]

"""The certified search over one width, in units of one evaluation of h by compiled exponentials."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from manykernels._fast.exponentials import forms
from manykernels.kernels.stationary import squared_distances
from manykernels.oracles._frequencies import FrequencySearch
from manykernels.oracles._widths import WidthSearch

from .harness import Facts, Report, Timing, compare
from .problems import Array

EVALUATION = "one evaluation of h"


def run(report: Report) -> None:
    """Widths for several sizes and kinds of S; then frequencies, which have no such unit."""
    rows: list[Facts] = []
    for n, d in report.pick([(500, 5), (1000, 5), (1000, 100), (2000, 5), (4000, 20)], [(200, 5)]):
        rows += _widths(n, d, report.pick(31, 3))
    goal = "n ≥ 1000: at most 2 evaluations; n = 500: 3 ms; certificate at most 1e-6"
    report.table("Best of all Gaussian widths from 0.01 to 100", rows, goal)
    report.table("Best of all frequencies from 0.1 to 20, points in [0, 10]", _frequencies(report))


def _widths(n: int, d: int, repeats: int) -> list[Facts]:
    """S = aaᵀ of ridge residuals, a centred alignment gradient, and what it takes to prepare for any S."""
    rng = np.random.RandomState(0)
    X = rng.randn(n, d)
    D = squared_distances(X)
    a, S = _residual(X, D), _gradient(X, D)
    search, row = WidthSearch(D, 0.01, 100.0), np.ascontiguousarray(a.T)
    rates, out = np.array([-1.0]), np.zeros((1, 1))
    contenders: dict[str, Any] = {
        EVALUATION: lambda: forms(D, rates, row, 0, out),  # over both triangles, so half of it is the unit
        "S = aaᵀ": lambda: search.best(a),
        "S a matrix": lambda: search.best(S),
        "preparation": lambda: WidthSearch(D, 0.01, 100.0),
    }
    timings = compare(contenders, repeats)
    unit = 0.5 * timings[EVALUATION].median
    sizes = {"S = aaᵀ": float(np.abs(a).sum() ** 2), "S a matrix": float(np.abs(S).sum())}
    return [
        _row(name, n, d, timings[name], unit, sizes.get(name)) for name in contenders if name != EVALUATION
    ]


def _row(name: str, n: int, d: int, timing: Timing, unit: float, size: float | None) -> Facts:
    row: Facts = {"contender": name, "n": n, "d": d, "seconds": timing, "evaluations": timing.median / unit}
    if size is not None:
        found = timing.result
        row["certificate"] = (found.upper - found.value) / max(abs(found.value), 1e-7 * size)
        row["Σ|S|/|h|"] = size / abs(found.value)
    return row


def _residual(X: Array, D: Array) -> Array:
    """Dual coefficients of kernel ridge regression."""
    K = np.exp(-D / np.median(D))
    K.flat[:: len(D) + 1] += 0.1
    return np.linalg.solve(K, np.sin(2.0 * X[:, :1]))


def _gradient(X: Array, D: Array) -> Array:
    """Alignment with the signs of a feature: its gradient at the Gaussian kernel of the median width."""
    y = np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)
    K = np.exp(-D / np.median(D))
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    Y = np.outer(y - y.mean(), y - y.mean())
    return np.asarray(Y - K * (np.sum(K * Y) / np.sum(K * K)))


def _frequencies(report: Report) -> list[Facts]:
    rows: list[Facts] = []
    for n, kind in itertools.product(report.pick([500, 1000], [100]), ("S = aaᵀ", "S a matrix")):
        x = np.random.RandomState(0).uniform(0.0, 10.0, n)
        a = np.sign(np.sin(np.sqrt(2.0) * x) + np.sin(np.sqrt(12.0) * x) + np.sin(np.sqrt(60.0) * x))[:, None]
        search = partial(FrequencySearch(x, 0.1, 20.0).best, a if kind == "S = aaᵀ" else a @ a.T)
        timing = compare({kind: search}, report.pick(9, 2))[kind]
        found = timing.result
        certificate = (found.upper - found.value) / abs(found.value)
        rows.append({"contender": kind, "n": n, "seconds": timing, "certificate": certificate})
    return rows

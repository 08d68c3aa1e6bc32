"""Passes over a stored stack of about 1 GB, as a share of the measured read bandwidth, and against BLAS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from manykernels._fast.checking import check
from manykernels.grams import StackGram

from .harness import Report, compare
from .limits import read
from .problems import Array


def run(report: Report) -> None:
    """Combining, quadratic forms, products and the check of what a user gives, in turns with a plain read."""
    M, n = report.pick((125, 1000), (20, 500))
    rng = np.random.RandomState(0)
    stack = rng.rand(M, n, n)
    for K in stack:
        K += K.T  # symmetric, for the check
        K.flat[:: n + 1] += n
    calls = {"read (the limit)": (lambda: read(stack), float(stack.nbytes)), **passes(stack, rng)}
    contenders = {**{name: call for name, (call, _) in calls.items()}, **blas(stack, rng)}
    timings = compare(contenders, report.pick(15, 5))
    limit, rows = timings["read (the limit)"], []
    for name, (_, size) in calls.items():
        t, rival, share = timings[name], timings.get("BLAS " + name), 100 * size / stack.nbytes
        row: dict[str, Any] = {"pass": name, "seconds": t, "GB/s": size / 1e9 / t.median}
        row["% of read, medians"] = share * limit.median / t.median
        row["% of read, best"] = share * min(limit.seconds) / min(t.seconds)
        rows.append({**row, "× faster than BLAS": rival.median / t.median if rival else None})
    report.table(
        f"{M} kernels on {n} points, {stack.nbytes / 1e9:.2f} GB", rows, "combine and quadratic forms at 80 %"
    )


def passes(stack: Array, rng: np.random.RandomState) -> dict[str, tuple[Callable[[], Any], float]]:
    """Each pass and the bytes it must read: a triangle of each symmetric kernel, or all of it to check."""
    M, n = stack.shape[:2]
    gram, theta, out = StackGram(stack), rng.rand(M), np.empty((n, n))
    one, found, means = rng.randn(n, 1), np.empty((M, 3)), np.empty((M, n))
    triangle = 8.0 * M * n * (n + 1) / 2
    return {
        "combine": (lambda: gram.combine(theta, out=out), triangle),
        "quadratic forms": (lambda: gram.quad(one), triangle),
        "products": (lambda: gram.products(one), triangle),
        "check": (lambda: check(stack, one[:, 0], 1.0 + 1e-8, one[:, 0], found, means), 2.0 * triangle),
    }


def blas(stack: Array, rng: np.random.RandomState) -> dict[str, Callable[[], Any]]:
    """The same by NumPy's BLAS, which reads both triangles."""
    M, n = stack.shape[:2]
    theta, one = rng.rand(M), rng.randn(n)
    return {
        "BLAS combine": lambda: theta @ stack.reshape(M, n * n),
        "BLAS quadratic forms": lambda: (stack.reshape(M * n, n) @ one).reshape(M, n) @ one,
        "BLAS products": lambda: stack.reshape(M * n, n) @ one,
    }

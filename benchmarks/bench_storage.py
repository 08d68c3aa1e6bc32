"""Kernel matrices in float32 beside float64: time, memory, and the gap with all that rounding may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manykernels import MKLClassifier
from manykernels.inspection import certificate

from .harness import Report, compare
from .problems import Array, classification, gaussians

STORAGES = ("float64", "float32")


def run(report: Report) -> None:
    """Whole fits of Gaussian kernels, at small and large costs of errors."""
    n, M = report.pick((2000, 100), (300, 10))
    X, y = classification(n)
    rows = []
    for loss in ("hinge", "squared"):
        for norm in (1.0, 2.0):
            for C in (1.0, 100.0):
                rows.append({"loss": loss, "norm": norm, "C": C} | _beside(report, X, y, M, loss, norm, C))
    size = 8.0 * M * n * n / 1e9
    title = f"{M} Gaussian kernels on {n} points, {size:.1f} GB in float64 and {size / 2:.1f} GB in float32"
    report.table(title, rows, "float32 in half of the time, with gaps of at most 1e-3")


def _beside(report: Report, X: Array, y: Array, M: int, loss: str, norm: float, C: float) -> dict[str, Any]:
    """Both fits in turns, and the gap of the second one computed anew from the exact kernels."""
    how = {"loss": loss, "norm": norm, "C": C}

    def fit(storage: str) -> Callable[[], MKLClassifier]:
        return lambda: MKLClassifier(gaussians(M), **how, storage=storage).fit(X, y)

    timings = compare({storage: fit(storage) for storage in STORAGES}, repeats=report.pick(3, 1))
    double, single = (timings[storage] for storage in STORAGES)
    exact = certificate(single.result, X, y)
    return {
        "float64, s": double,
        "float32, s": single,
        "× faster": double.median / single.median,
        "gap, float64": double.result.dual_gap_,
        "gap, float32": single.result.dual_gap_,
        "the same without allowances": exact.gap,
        "relative difference of P": abs(single.result.objective_ / double.result.objective_ - 1.0),
    }

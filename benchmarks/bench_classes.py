"""All classes in one problem (Crammer and Singer): MKLClassifier(multi_class=...) beside one-vs-rest.

Digits, and a made problem whose classes overlap so much that most samples are torn between several of them,
which is where one problem costs most. Times are of whole fits, kernels included, to a certified gap of 1e-3.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification

from manykernels import MKLClassifier
from manykernels.families import gaussian_grid

from .harness import Contender, Facts, Report, compare

WAYS = ("ovr", "shared", "crammer-singer")
RIVAL = "ovr"


def sets(n: int) -> dict[str, tuple[Any, Any]]:
    """Two problems of ten classes."""
    X, y = load_digits(return_X_y=True)
    made = make_classification(n, 20, n_informative=12, n_classes=10, n_clusters_per_class=1, random_state=0)
    return {"digits": (X[:n] / 16.0, y[:n]), "overlapping classes": made}


def run(report: Report) -> None:
    """Seconds and ratios at two norms and two costs, for each set."""
    n, M = report.pick((1000, 20), (150, 5))
    for name, (X, y) in sets(n).items():
        rows: list[Facts] = []
        for norm in (1.0, 2.0):
            for C in report.pick((1.0, 10.0), (1.0,)):
                rows += compared(X, y, M, norm, C)
        title = f"{name}: {len(y):,} samples, {np.unique(y).size} classes, {M} Gaussian kernels"
        report.table(title, rows, "one problem in at most 3 times the time of one-vs-rest")


def compared(X: Any, y: Any, M: int, norm: float, C: float) -> list[Facts]:
    """A row for each way, with its time beside that of one-vs-rest, its gap and its score on the samples."""
    calls = {way: Contender(partial(fitted, X, y, M, norm, C, way)) for way in WAYS}
    timings = compare(calls, repeats=5, budget=60.0)
    return [
        {
            "norm": norm,
            "C": C,
            "multi_class": way,
            "seconds": timing,
            "times ovr": timing.median / timings[RIVAL].median,
            "gap": float(timing.result.dual_gap_),
            "active kernels": int(np.size(timing.result.active_)),
        }
        for way, timing in timings.items()
    ]


def fitted(X: Any, y: Any, M: int, norm: float, C: float, way: str) -> MKLClassifier:
    """The fit that is timed."""
    kernels = gaussian_grid(0.5, 50.0, M)
    return MKLClassifier(kernels, norm=norm, C=C, multi_class=way).fit(X, y)

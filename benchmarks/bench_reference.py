"""Every loss and norm on a small problem: agreement with cvxpy and Clarabel, and the seconds of both."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from manykernels.grams import StackGram
from manykernels.kernels import Gaussian, Kernel, Linear
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Squared, SquaredHinge

from .harness import Report, Skip, compare
from .problems import risk_of, solve, stack_of
from .rivals import cvxpy_optimum

LOSSES = [Hinge(), SquaredHinge(), Logistic(), Squared(), EpsilonInsensitive(0.1)]
NORMS = {"1": 1.0, "4/3": 4 / 3, "2": 2.0, "inf": np.inf}


def run(report: Report) -> None:
    """The relative difference of the optimal values, solved here to a gap of 1e-7."""
    try:
        import cvxpy  # noqa: F401
    except ImportError as error:
        raise Skip("cvxpy is not installed (the dev extra has it)") from error
    rng = np.random.RandomState(0)
    n = report.pick(60, 25)
    X = rng.randn(n, 4)
    t = X[:, 0] * X[:, 1] + 0.2 * rng.randn(n)
    kernels: list[Kernel] = [Linear(), *(Gaussian(width) for width in (0.7, 1.5, 3.0, 7.0))]
    stack = stack_of(kernels, X)
    rows: list[dict[str, Any]] = []
    for loss in LOSSES:
        y = np.sign(t) if loss.task == "classification" else t
        for name, p in NORMS.items():
            timings = compare(
                {
                    "ours": partial(solve, StackGram(stack), risk_of(y, 1.0, loss), p, 1e-7),
                    "cvxpy": partial(cvxpy_optimum, stack, y, 1.0, loss, p),
                },
                repeats=report.pick(3, 1),
            )
            ours, reference = timings["ours"], timings["cvxpy"]
            row: dict[str, Any] = {"loss": type(loss).__name__, "norm": name}
            row["relative difference"] = abs(ours.result.primal - reference.result) / abs(reference.result)
            row |= {"gap": ours.result.gap, "seconds": ours, "seconds of cvxpy": reference}
            rows.append({**row, "× faster than cvxpy": reference.median / ours.median})
    worst = max(row["relative difference"] for row in rows)
    report.table(
        f"{len(stack)} kernels on {n} points; worst difference {worst:.1e}", rows, "difference ≤ 1e-5"
    )

"""Cost curves: processor time of the solvers against n, M, and the number and degree of factors."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import Products, rank_one

from .harness import Facts, Report
from .problems import classification, gaussians

GOAL = "no exponent between neighbouring sizes far above the one over all of them: no curve jumps"
_LISTED = ("active-set", "alternating", "hessian", "simplemkl", "silp")
_BUDGET = 20.0  # seconds that a fit may have taken for a larger one to be tried


def run(report: Report) -> None:
    """Lists of Gaussian kernels, columns of a table as kernels, and products of columns."""
    warnings.simplefilter("ignore")  # rivals that stop early say so in their gaps
    sizes, counts = report.pick((250, 500, 1000, 2000), (100, 200)), report.pick((10, 30, 100, 300), (10, 20))
    n, M = report.pick((250, 20), (100, 10))
    solvers = {name: _listed(name) for name in _LISTED}
    _curve(report, f"{M} Gaussian kernels, hinge, norm 1", "n", sizes, solvers, lambda k: (k, M))
    _curve(report, f"Gaussian kernels on {n} points, hinge, norm 1", "M", counts, solvers, lambda k: (n, k))
    columns = report.pick((100, 1000, 10_000), (50, 100))
    by_norm = {f"norm {norm}": _rank_one(norm) for norm in (1, 2)}
    _curve(report, "columns as kernels, 200 points, hinge", "M", columns, by_norm, lambda k: (200, k))
    over = {"corrective": _products}
    widths, degrees = report.pick((10, 30, 100), (5, 10)), report.pick((1, 2, 3, 4), (1, 2))
    _curve(
        report,
        "products of up to 2 of r columns, squared loss, 500 points",
        "r",
        widths,
        over,
        lambda r: (r, 2),
    )
    _curve(
        report,
        "products of up to D of 20 columns, squared loss, 500 points",
        "D",
        degrees,
        over,
        lambda D: (20, D),
    )


def _curve(
    report: Report,
    title: str,
    size: str,
    sizes: Sequence[int],
    fits: Mapping[str, Callable[[int, int], Any]],
    given: Callable[[int], tuple[int, int]],
) -> None:
    """A row for each solver and size, and one for each solver with its exponents."""
    rows: list[Facts] = []
    exponents: list[Facts] = []
    for name, fit in fits.items():
        fit(*given(sizes[0]))  # loads and compiles
        spent: list[float] = []
        for k in sizes:
            if spent and spent[-1] > _BUDGET:
                break
            started = time.process_time()
            model = fit(*given(k))
            spent.append(time.process_time() - started)
            rows.append({"contender": name, size: k, "cpu s": spent[-1], "gap": float(model.dual_gap_)})
        if len(spent) > 1:
            x, t = np.log(sizes[: len(spent)]), np.log(spent)
            steps = np.diff(t) / np.diff(x)
            whole = float((t[-1] - t[0]) / (x[-1] - x[0]))
            exponents.append({"contender": name, "exponent": whole, "largest of a step": float(steps.max())})
    report.table(f"{title}: seconds", rows)
    report.table(f"{title}: exponents in {size}", exponents, GOAL)


def _listed(solver: str) -> Callable[[int, int], Any]:
    def fit(n: int, M: int) -> Any:
        X, y = classification(n)
        model = MKLClassifier(gaussians(M), solver=solver, C=1.0, loss="hinge", tol=1e-2, max_iter=200)
        return model.fit(X, y)

    return fit


def _rank_one(norm: float) -> Callable[[int, int], Any]:
    def fit(n: int, M: int) -> Any:
        rng = np.random.RandomState(0)
        X = rng.randn(n, M)
        y = np.sign(X[:, :20] @ rng.randn(20) + rng.randn(n))
        return MKLClassifier(rank_one(), C=1.0, norm=norm, loss="hinge").fit(X, y)

    return fit


def _products(r: int, D: int) -> Any:
    rng = np.random.RandomState(0)
    X = rng.randn(500, r)
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.randn(500)
    return MKLRegressor(Products(rank_one(), degree=D), C=1.0, loss="squared").fit(X, y)

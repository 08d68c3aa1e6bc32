"""000 Fig. 6.3, 001 Fig. 2: test error and time of all methods for products, as variables become many."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from manykernels import HierarchicalMKLRegressor, MKLRegressor, NonlinearMKLRegressor
from manykernels.families import PolynomialDAG, Products, rank_one

from .common import in_parallel
from .data import Array
from .plots import Lines
from .products_synthetic import problem, scaled_error
from .tables import Facts, Report, Spread

DEGREE, STEPS, LISTED = 3, 300, 20  # of SGD-1s; and variables up to which all products are listed, for LPMKL
COSTS = [1e0, 1e2, 1e4, 1e6, 1e8]
VARIABLES, SEEDS = (5, 10, 20, 40, 70, 100), 3
NAMES = ("norm 1", "SGD-1s", "LPMKL", "NLMKL", "HMKL", "uniform")
ERRORS, SECONDS = "log₁₀ of the test error / variance", "Seconds of one processor for a fit"
PLOTS = [
    Lines("products_methods.png", ERRORS, "variables", "log₁₀ of the test error / variance", x="r", y=NAMES),
    Lines("products_methods.png", SECONDS, "variables", "seconds of one processor", x="r", y=NAMES, log="y"),
]


def run(report: Report) -> None:
    """A row for each number of variables, a column for each method."""
    variables, seeds = ((5, 6), 2) if report.quick else (VARIABLES, SEEDS)
    sizes, costs = ((60, 40, 40), COSTS[::2]) if report.quick else ((500, 1000, 1000), COSTS)
    jobs = [(seed, r, sizes, costs) for r in variables for seed in range(seeds)]
    found = dict(zip(jobs_of(jobs), in_parallel(trial, jobs, report.quick), strict=True))
    for title, key, digits in ((ERRORS, "error", 2), (SECONDS, "seconds", 2)):
        rows: list[Facts] = []
        for r in variables:
            row: Facts = {"r": r, "products": math.comb(r + DEGREE, DEGREE)}
            for name in NAMES:
                values = [found[r, seed][name][key] for seed in range(seeds) if name in found[r, seed]]
                row[name] = Spread(values, digits) if values else None
            rows.append(row)
        report.table(title, rows, NOTE if key == "error" else TIMES)


NOTE = (
    "Mean ± standard deviation over draws. Ten products of five of r variables without noise, 500 samples to "
    "train on, C of 1, 10² … 10⁸ by 1,000 others, 1,000 to test on. Norm 1: corrective learning over all "
    f"products of degree ≤ 3. SGD-1s: {STEPS} steps at norm 2. LPMKL: Kloft's update at norm 2 with all "
    f"products as kernels, up to r = {LISTED} (000: 25). NLMKL: a third power of a learned sum of the "
    "variables' kernels and a constant, one start. HMKL: the graph of all products, powers up to three in "
    "each variable. Uniform: ridge regression with (1 + x·x')³."
)
TIMES = "At the chosen C."


def jobs_of(jobs: list[tuple[Any, ...]]) -> list[tuple[int, int]]:
    return [(r, seed) for seed, r, *_ in jobs]


def trial(seed: int, r: int, sizes: tuple[int, int, int], costs: list[float]) -> dict[str, Facts]:
    """Of every method the test error at the C that the validation part chooses, and the time of that fit."""
    (X, y), validation, test = problem(seed, r, *sizes).parts
    found: dict[str, Facts] = {}
    for name in NAMES:
        if name == "LPMKL" and r > LISTED:
            continue
        fits = []
        for C in costs:
            before = time.process_time()
            model = quietly(METHODS[name](C), X, y)
            seconds = time.process_time() - before
            fits.append((scaled_error(model, *validation), scaled_error(model, *test), seconds))
        _, error, seconds = min(fits)
        found[name] = {"error": math.log10(max(error, 1e-30)), "seconds": seconds}
    return found


def quietly(model: Any, X: Array, y: Array) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # errors and times are told as they are
        return model.fit(X, y)


def with_constant(X: Array) -> Array:
    return np.column_stack([X, np.ones(len(X))])


def nonlinear(C: float) -> Any:
    options: dict[str, Any] = {"degree": DEGREE, "fit_intercept": False, "n_starts": 1, "random_state": 0}
    return make_pipeline(
        FunctionTransformer(with_constant), NonlinearMKLRegressor(rank_one(), C=C, **options)
    )


def listed(C: float) -> Any:
    learned = MKLRegressor(rank_one(), norm=2.0, solver="alternating", C=C)
    return make_pipeline(PolynomialFeatures(DEGREE, include_bias=False), learned)


METHODS: dict[str, Callable[[float], Any]] = {
    "norm 1": lambda C: MKLRegressor(Products(degree=DEGREE, atom_scale="rms"), norm=1, C=C),
    "SGD-1s": lambda C: MKLRegressor(
        Products(degree=DEGREE), norm=2.0, solver="stochastic", C=C, max_iter=STEPS, random_state=0
    ),
    "LPMKL": listed,
    "NLMKL": nonlinear,
    "HMKL": lambda C: HierarchicalMKLRegressor(PolynomialDAG(degree=DEGREE), C=C),
    "uniform": lambda C: KernelRidge(kernel="poly", degree=DEGREE, gamma=1.0, coef0=1.0, alpha=1.0 / C),
}

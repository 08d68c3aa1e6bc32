"""Afkanpour 2013, Fig. 6.3, and Afkanpour et al. 2013, Fig. 2: all methods for products of many variables."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from manykernels import HierarchicalMKLRegressor, MKLRegressor, NonlinearMKLRegressor
from manykernels.families import PolynomialDAG, Products, rank_one

from .data import Array
from .plots import Lines
from .products_synthetic import problem, scaled_error
from .selection.resume import Key, Runs, go_on, kept
from .tables import Facts, Report, Spread

DEGREE, STEPS, LISTED = 3, 300, 20  # of SGD-1s; and variables up to which all products are listed, for LPMKL
COSTS = [1e0, 1e2, 1e4, 1e6, 1e8]
SIZES, DRAWS = (500, 1000, 1000), 10
VARIABLES, QUICK = (5, *range(10, 101, 10)), (5, 6)
NAMES = ("norm 1", "SGD-1s", "LPMKL", "NLMKL", "HMKL", "uniform")
SLOW = ("HMKL", "SGD-1s")  # minutes a draw
TERMS = {  # and of how many variables
    "five": ("Products of the first five variables", 5),
    "all": ("Products of all variables", 100),
}
ERRORS, SECONDS = "log₁₀ of the test error / variance", "seconds of one processor for a fit"
PLOTS = [
    Lines(file, f"{figure}: {title}", "variables", label, x="r", y=NAMES, log=log, title=figure)
    for file, (figure, _) in zip(
        ("products_methods.png", "products_methods_all.png"), TERMS.values(), strict=True
    )
    for title, label, log in (
        (ERRORS, "log₁₀ of the test error / variance", ""),
        (SECONDS, "seconds of one processor", "y"),
    )
]


def run(report: Report) -> None:
    """Of both figures, a row for each number of variables, a column for each method."""
    runs = Runs() if report.quick else kept("products_methods")
    left = go_on(runs, keys(report.quick), quick_trial if report.quick else trial)
    if left:
        report.left_out["draws"] = f"{left} of {len(keys())} runs of a method are not done"
    for which, (figure, _) in TERMS.items():
        for title, key in ((ERRORS, "error"), (SECONDS, "seconds")):
            known = [r for r in (QUICK if report.quick else VARIABLES) if drawn(runs, which, r)]
            rows = [told(runs, which, r, key) for r in known]
            report.table(f"{figure}: {title}", rows, NOTE if key == "error" else TIMES)
    if not report.quick:
        rows = [{"method": name, "commits": ", ".join(runs.commits(name))} for name in NAMES]
        report.table("Whose code was run", rows)


NOTE = (
    "Mean ± standard deviation over the draws. Ten products of the first five of r variables (Afkanpour "
    "2013, Fig. 6.3) or of all (Afkanpour et al. 2013, Fig. 2), no noise; 500 samples to train on, C of 1, "
    "10² … 10⁸ by 1,000 others, 1,000 to test on. Norm 1: corrective learning over all products of degree "
    f"≤ 3. SGD-1s: {STEPS} steps at norm 2. LPMKL: Kloft's update at norm 2 with all products as kernels, "
    f"up to r = {LISTED} (Afkanpour 2013: 25). NLMKL: a third power of a learned sum of the variables' "
    "kernels and a "
    "constant, one start. HMKL: the graph of all products, powers up to three in each variable. Uniform: "
    f"ridge regression with (1 + x·x')³. {DRAWS} draws are to be run; the last columns say how many are."
)
TIMES = "At the chosen C, on a machine that others used. Runs of several days are joined, see the last table."


def keys(quick: bool = False) -> list[Key]:
    """(which terms and variables, draw, method) of all runs: the quick methods first, then draw by draw."""
    draws, variables = (range(2), QUICK) if quick else (range(DRAWS), VARIABLES)
    fast = [name for name in NAMES if name not in SLOW]
    some = [(name, seed) for seed in draws for name in fast] + [(n, seed) for seed in draws for n in SLOW]
    every = [(f"{which}, {r}", seed, name) for name, seed in some for which in TERMS for r in variables]
    return [key for key in every if key[2] != "LPMKL" or int(key[0].split(", ")[1]) <= LISTED]


def drawn(runs: Runs, which: str, r: int) -> bool:
    """Whether there is a run of any method."""
    return any(key[0] == f"{which}, {r}" for key in runs.known)


def told(runs: Runs, which: str, r: int, key: str) -> Facts:
    """A row; how many draws of the methods that take long, and of the others."""
    task, row = f"{which}, {r}", Facts({"r": r, "products": math.comb(r + DEGREE, DEGREE)})
    for name in NAMES:
        values = runs.values(task, name, runs.seeds(task, name), key)
        row[name] = Spread(values, 2) if values else None
    counts = {f"draws of {name}": len(runs.seeds(task, name)) for name in SLOW}
    return row | counts | {"of the others": len(runs.seeds(task, "norm 1"))}


def quick_trial(task: str, seed: int, method: str) -> Facts:
    return trial(task, seed, method, (60, 40, 40), COSTS[::2])


def trial(
    task: str, seed: int, method: str, sizes: tuple[int, int, int] = SIZES, costs: Sequence[float] = COSTS
) -> Facts:
    """The test error at the C that the validation part chooses, and the time of that fit."""
    which, text = task.split(", ")
    r = int(text)
    given = problem(seed, r, *sizes, variables=min(TERMS[which][1], r))
    (X, y), validation, test = given.parts
    fits = []
    for C in costs:
        before = time.process_time()
        model = quietly(METHODS[method](C), X, y)
        seconds = time.process_time() - before
        fits.append((scaled_error(model, *validation), scaled_error(model, *test), seconds, C))
    _, error, seconds, C = min(fits)
    return {"error": math.log10(max(error, 1e-30)), "seconds": seconds, "C": C}


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

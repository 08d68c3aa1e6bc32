"""Afkanpour 2013, Fig. 6.4: mean squared errors of products and powers, and of LPMKL over linear kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from manykernels import MKLRegressor, NonlinearMKLRegressor
from manykernels.families import rank_one

from .data import Array, three_parts
from .products_real import (
    PRIOR,
    RUNS,
    SETS,
    STEPS,
    STRENGTHS,
    Part,
    drawn,
    hierarchical,
    polynomial,
    quiet,
    stochastic,
)
from .selection.resume import Key, Runs, go_on, kept
from .tables import Facts, Report, Spread

Predictor = Callable[[Array], Array]
WRONG, SQUARED, LESS = (
    "Per cent wrong",
    "Mean squared error",
    "Less that of the linear kernel in the same draw",
)
FAST = ("LPMKL, p = 1", "LPMKL, p = 2", "uniform, D = 1", "uniform, D = 2", "uniform, D = 3")


def run(report: Report) -> None:
    """Both errors of every method, a column for each set."""
    runs = Runs() if report.quick else kept("products_squared")
    left = go_on(runs, keys(report.quick), quick_trial if report.quick else trial)
    if left:
        report.left_out["draws"] = f"{left} of {len(keys())} runs of a method are not done"
    for title, column, digits in ((WRONG, "wrong", 1), (SQUARED, "squared", 3)):
        report.table(title, [row(runs, name, column, digits) for name in methods(runs)], NOTE)
    for title, column, digits in ((WRONG, "wrong", 2), (SQUARED, "squared", 3)):
        rows = [paired(runs, name, column, digits) for name in methods(runs) if name != "uniform, D = 1"]
        report.table(f"{title}: {LESS[0].lower()}{LESS[1:]}", rows, PAIRED)


NOTE = (
    "Sets, parts, standardised variables and squared loss on labels ±1 are those of products_real; 1/C from "
    "10⁻⁴ to 10³ by the same error on the validation part. LPMKL: weights of norm p over one linear kernel "
    "for each variable. Uniform: ridge regression with (1 + x·x')^D, of which D = 1 is the linear kernel. "
    f"SGD-1s: {STEPS} iterations at norm 2; prior: products of degree 3 count a quarter. NLMKL: Λ = 1, one "
    f"start. Mean ± standard deviation over {RUNS} draws; a method with fewer says how many."
)
PAIRED = "Mean ± standard error over the draws."


# -- runs -------------------------------------------------------------------------------------------
def keys(quick: bool = False) -> list[Key]:
    """(set, draw, method) of all runs: the quick methods, then draw by draw, and last what takes hours."""
    sets, draws = (list(SETS)[:1], range(2)) if quick else (list(SETS), range(RUNS))
    fast = [(name, seed, method) for method in FAST for seed in draws for name in sets]
    if quick:
        return fast
    slow = [method for method in METHODS if method.startswith("HMKL")]
    rest = [method for method in METHODS if method not in (*FAST, *slow)]
    return fast + [
        (name, seed, method)
        for several in (rest, slow)
        for seed in draws
        for method in several
        for name in sets
    ]


def quick_trial(name: str, seed: int, method: str) -> Facts:
    return trial(name, seed, method, STRENGTHS[1::3], True)


def trial(
    name: str, seed: int, method: str, strengths: Sequence[float] = STRENGTHS, quick: bool = False
) -> Facts:
    """Both test errors, each at the first 1/C that is best on the validation part."""
    source, sizes = SETS[name]
    data = source.load(m=100_000, quick=quick)
    parts = drawn(data.X, data.y, three_parts(data) if quick else sizes, seed)
    errors = np.array([both(f, parts[1:]) for f in METHODS[method](parts[0], strengths)])
    facts = {}
    for k, column in enumerate(("wrong", "squared")):
        best = int(np.argmin(errors[:, 0, k]))
        facts |= {column: float(errors[best, 1, k]), f"1/C by {column}": strengths[best]}
    return facts


def both(predict: Predictor, parts: list[Part]) -> list[list[float]]:
    """Per cent wrong and mean squared error, on the validation part and on the test part."""
    found = []
    for X, y in parts:
        f = predict(X)
        wrong = 100.0 * float(np.mean(np.where(f > 0.0, 1.0, -1.0) != y))
        found.append([wrong, float(np.mean((f - y) ** 2))])
    return found


def listed(part: Part, strengths: Sequence[float], norm: float) -> Iterator[Predictor]:
    """LPMKL over one linear kernel for each variable."""
    for strength in strengths:
        yield quiet(MKLRegressor(rank_one(), norm=norm, C=1.0 / strength), *part).predict


def powers(part: Part, strengths: Sequence[float], degree: int) -> Iterator[Predictor]:
    """NLMKL with a constant, of one start."""
    X, y = with_constant(part[0]), part[1]
    options: dict[str, Any] = {"degree": degree, "fit_intercept": False, "n_starts": 1, "random_state": 0}
    for strength in strengths:
        model = quiet(NonlinearMKLRegressor(rank_one(), C=1.0 / strength, **options), X, y)
        yield lambda Z, model=model: model.predict(with_constant(Z))


def with_constant(X: Array) -> Array:
    return np.column_stack([X, np.ones(len(X))])


def drawing(part: Part, strengths: Sequence[float], **family: Any) -> Iterator[Predictor]:
    """SGD-1s."""
    for strength in strengths:
        yield stochastic(*part, 1.0 / strength, STEPS, **family).predict


def hulls(part: Part, strengths: Sequence[float], degree: int) -> Iterator[Predictor]:
    """HMKL."""
    for strength in strengths:
        yield hierarchical(*part, 1.0 / strength, degree).predict


def sums(part: Part, strengths: Sequence[float], degree: int) -> Iterator[Predictor]:
    """Uniform weights."""
    return polynomial(*part, degree, list(strengths))


METHODS: dict[str, Callable[[Part, Sequence[float]], Iterator[Predictor]]] = {
    "LPMKL, p = 1": partial(listed, norm=1.0),
    "LPMKL, p = 2": partial(listed, norm=2.0),
    **{f"uniform, D = {D}": partial(sums, degree=D) for D in (1, 2, 3)},
    **{f"NLMKL, D = {D}": partial(powers, degree=D) for D in (2, 3)},
    **{f"SGD-1s, D = {D}": partial(drawing, degree=D) for D in (2, 3)},
    "SGD-1s, D = 3, prior": partial(drawing, degree=3, rho=PRIOR),
    **{f"HMKL, D = {D}": partial(hulls, degree=D) for D in (2, 3)},
}


# -- tables -----------------------------------------------------------------------------------------
def methods(runs: Runs) -> list[str]:
    """Those that were run."""
    return [method for method in METHODS if any(key[2] == method for key in runs.known)]


def row(runs: Runs, method: str, column: str, digits: int) -> Facts:
    """Errors by set, and the least number of draws."""
    facts: Facts = {"method": method}
    for name in SETS:
        seeds = runs.seeds(name, method)
        if seeds:
            facts[name] = Spread(runs.values(name, method, seeds, column), digits)
    return facts | {"draws": min(len(runs.seeds(name, method)) for name in facts if name in SETS)}


def paired(runs: Runs, method: str, column: str, digits: int) -> Facts:
    """Less the linear kernel's, in the draws of both."""
    facts: Facts = {"method": method}
    for name in SETS:
        linear = runs.seeds(name, "uniform, D = 1")
        seeds = [seed for seed in runs.seeds(name, method) if seed in linear]
        if len(seeds) > 1:
            ours, theirs = (runs.values(name, m, seeds, column) for m in (method, "uniform, D = 1"))
            d = np.array(ours) - np.array(theirs)
            facts[name] = f"{d.mean():+.{digits}f} ± {d.std(ddof=1) / np.sqrt(d.size):.{digits}f}"
    return facts

"""Afkanpour 2013, Fig. 6.8: error and seconds by the number of samples, and of kernels in a grid."""

from __future__ import annotations

import time
import warnings
from functools import cache

import numpy as np

from manykernels import KernelAligner, MKLClassifier
from manykernels.families import ARDGaussians, Gaussians, gaussian_grid
from manykernels.weightings import GreedyAlignment

from .common import CKL, in_parallel
from .continuous_relevance import (
    COSTS,
    ONE_STAGE,
    RANGE,
    SHRINKAGES,
    WIDTHS,
    Parts,
    aligned,
    fits,
    machine,
    problem,
    timed,
    tuned,
)
from .plots import Lines
from .tables import Facts, Report, Spread

GAMMA, REPEATS = 40, 5
SAMPLES = (50, 100, 200, 400, 800)  # Afkanpour 2013 does not say which
COUNTS = (50, 100, 200, 500, 1000, 2000)
VALIDATION, TEST, FEWEST = 1000, 2000, 50
STEPS = 20  # iterations of CKL with a width for each feature, at the C of one width
PLOTS = [
    Lines(
        f"continuous_scaling_{what}_{kind}.png",
        f"{title}, by {what}",
        f"{what}",
        ylabel,
        across="method",
        log=log,
        title=f"Afkanpour 2013, Fig. 6.8: {title.lower()}",
    )
    for what in ("samples", "kernels")
    for kind, title, ylabel, log in (
        ("error", "Per cent wrong", "per cent wrong, mean ± sd", "x"),
        ("seconds", "Seconds", "seconds of one processor", "xy"),
    )
]


def run(report: Report) -> None:
    """Errors and seconds by the number of samples with 50 kernels, and by that of kernels with 50 samples."""
    quick, repeats = report.quick, 2 if report.quick else REPEATS
    rest = (60, 80) if quick else (VALIDATION, TEST)
    sizes, counts = ((30, 40), (5, 10)) if quick else (SAMPLES, COUNTS)
    fewest = sizes[0] if quick else FEWEST
    for what, trial, values in (("samples", by_samples, sizes), ("kernels", by_kernels, counts)):
        jobs = []
        for value in values:
            n, count = (value, counts[0]) if what == "samples" else (fewest, value)
            jobs += [(seed, (n, *rest), count, quick) for seed in range(repeats)]
        flat = iter(in_parallel(trial, jobs, quick))
        found = {value: [next(flat) for _ in range(repeats)] for value in values}
        report.table(f"Per cent wrong, by {what}", rows(found, "error", 1), NOTE)
        report.table(f"Seconds, by {what}", rows(found, "seconds", 3), SECONDS)


NOTE = (
    f"50 features of which few are relevant (γ = {GAMMA}); {REPEATS} repeats, the same data for all methods. "
    "C and λ are chosen as in continuous_relevance. Grids have 50 widths from 10⁻³ to 10³, or as many as the "
    "column says, with 50 samples. CKL (nD) has the C that CKL (1D) chose and "
    f"{STEPS} iterations at most. No classifier errs less than 4.0 % on average."
)
SECONDS = (
    "Of one processor, one thread: kernel and machine at the C chosen; GCD-2s (nD) for all five λ, as in "
    "Afkanpour 2013. Others used the machine too. Mean ± standard deviation."
)


def by_samples(seed: int, sizes: tuple[int, int, int], count: int, quick: bool = False) -> dict[str, Facts]:
    """All methods."""
    if not quick:
        warm()
    parts, costs, one_stage = given(seed, sizes, quick)
    found = {name: machine(*model, parts, costs) for name, model in searched(parts, quick).items()}
    found["CKL (1D)"] = tuned(fits(Gaussians(*RANGE), parts, one_stage, 1, CKL), parts)
    found["CKL (nD)"] = wide(parts, found["CKL (1D)"]["C"], 2 if quick else STEPS)
    return plain(found | listed(parts, count, costs, one_stage))


def by_kernels(seed: int, sizes: tuple[int, int, int], count: int, quick: bool = False) -> dict[str, Facts]:
    """Those that are given a grid, and GCD-2s with one width for comparison."""
    if not quick:
        warm()
    parts, costs, one_stage = given(seed, sizes, quick)
    model = timed(lambda: KernelAligner(Gaussians(*RANGE), weighting="greedy"), parts[0])
    return plain({"GCD-2s (1D)": machine(*model, parts, costs)} | listed(parts, count, costs, one_stage))


@cache
def warm() -> None:
    """So that no time is that of the compiler, in whichever process."""
    by_samples(0, (30, 60, 80), 5, quick=True)


def searched(parts: Parts, quick: bool) -> dict[str, tuple[KernelAligner, float]]:
    """GCD-2s: with one width, with one for each feature, and with the λ of the largest alignment in between.

    λ = ∞ is one width; the seconds of the last are those of all λ.
    """
    models = {np.inf: timed(lambda: KernelAligner(Gaussians(*RANGE), weighting="greedy"), parts[0])}
    for strength in [0.0, *(SHRINKAGES[2:] if quick else SHRINKAGES)]:
        weighting = GreedyAlignment(shrinkage=strength)
        models[strength] = timed(
            lambda w=weighting: KernelAligner(ARDGaussians(*WIDTHS), weighting=w), parts[0]
        )
    best = max(models.values(), key=lambda model: aligned(model[0], parts[1]))
    total = sum(seconds for _, seconds in models.values())
    return {"GCD-2s (1D)": models[np.inf], "GCD-2s (nD, NoReg)": models[0.0], "GCD-2s (nD)": (best[0], total)}


def given(seed: int, sizes: tuple[int, int, int], quick: bool) -> tuple[Parts, list[float], list[float]]:
    costs = (COSTS[6:15:4], ONE_STAGE[1:4:2]) if quick else (COSTS, ONE_STAGE)
    return problem(GAMMA, seed, sizes), *costs


def listed(parts: Parts, count: int, costs: list[float], one_stage: list[float]) -> dict[str, Facts]:
    """The methods over a grid of so many widths."""
    grid, found = gaussian_grid(*RANGE, count), {}
    for name, weighting in (("alignf (AMKL)", "alignf"), ("uniform", "uniform")):
        model = timed(lambda weighting=weighting: KernelAligner(grid, weighting=weighting), parts[0])
        found[name] = machine(*model, parts, costs)
    for norm in (1, 2):
        found[f"LPMKL, p = {norm}"] = tuned(fits(grid, parts, one_stage, norm, "auto"), parts)
    return found


def wide(parts: Parts, C: float, steps: int) -> Facts:
    """CKL with a width for each feature."""
    model = MKLClassifier(ARDGaussians(*WIDTHS), norm=1, C=C, solver=CKL, tol=1e-2, max_iter=steps)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a gap above tol, which is asked for
        model.fit(*parts[0])
    spent = time.process_time() - started
    X, y = parts[2]
    return {"error": 100.0 * float(np.mean(model.predict(X) != y)), "seconds": spent, "C": C}


def plain(found: dict[str, Facts]) -> dict[str, Facts]:
    """Without what cannot be kept."""
    return {name: {key: facts[key] for key in ("error", "seconds", "C")} for name, facts in found.items()}


def rows(found: dict[int, list[dict[str, Facts]]], key: str, digits: int) -> list[Facts]:
    """A row for each method, a column for each number."""
    return [
        {"method": name}
        | {f"{value:,}": Spread([t[name][key] for t in trials], digits) for value, trials in found.items()}
        for name in next(iter(found.values()))[0]
    ]

"""Afkanpour 2013, Fig. 6.6: CKL with a width for each feature, beside GCD-2s without shrinkage."""

from __future__ import annotations

import numpy as np

from manykernels.families import ARDGaussians, Gaussians
from manykernels.weightings import GreedyAlignment

from .common import CKL
from .continuous_relevance import (
    COSTS,
    GAMMAS,
    ONE_STAGE,
    RANGE,
    SIZES,
    WIDTHS,
    KernelAligner,
    fits,
    machine,
    problem,
    timed,
    tuned,
)
from .plots import Lines
from .selection.resume import Key, Runs, go_on, kept
from .tables import Facts, Report, Spread

DRAWS = 10  # Afkanpour's
ALL = "all methods"
TWO_STAGE, ONE = ("GCD-2s (1D)", "GCD-2s (nD), no shrinkage"), ("CKL (1D)", "CKL (nD)")
FEW = ONE_STAGE[1:4]  # C of CKL (nD): 0.1 … 10
TABLES = {
    "Per cent wrong on test data": ("error", 1),
    "Seconds of one processor": ("seconds", 3),
    "Centred alignment on test data": ("alignment", 3),
}
PLOTS = [
    Lines(
        "continuous_relevance_nd.png",
        title,
        "γ (0: all features matter alike)",
        title.lower(),
        across="method",
        log=log,
        title="Afkanpour 2013, Fig. 6.6",
    )
    for title, log in zip(list(TABLES)[:2], ("", "y"), strict=True)
]


def run(report: Report) -> None:
    """Errors, seconds and alignments against γ."""
    runs = Runs() if report.quick else kept("continuous_relevance_nd")
    left = go_on(runs, keys(report.quick), quick_trial if report.quick else trial)
    if left:
        report.left_out["draws"] = f"{left} of {len(keys())} are not done"
    for title, (key, digits) in TABLES.items():
        report.table(title, rows(runs, key, digits), NOTE)
    report.table("Errors of CKL (nD) less those of the method, in the same draw", paired(runs), PAIRED)


NOTE = (
    f"The problem, sizes and seeds of continuous_relevance, its first {DRAWS} draws (Afkanpour 2013 has "
    "ten): 50 "
    "samples to train on, 1,000 to choose C on, 2,000 to test on. C of the SVM 10⁻⁵ … 10⁵, of CKL (1D) "
    "10⁻² … 10³ and of CKL (nD) 10⁻¹ … 10, hinge, at most 50 iterations or a gap of 1 %. Seconds are "
    "process time for kernel and machine at the C chosen, on a machine that others used. Mean ± standard "
    "deviation."
)
PAIRED = "Mean and standard error."


def keys(quick: bool = False) -> list[Key]:
    """(γ, draw, all methods)."""
    gammas, draws = ((0, 40), range(2)) if quick else (GAMMAS, range(DRAWS))
    return [(f"γ = {gamma}", seed, ALL) for seed in draws for gamma in gammas]


def quick_trial(task: str, seed: int, method: str) -> Facts:
    return trial(task, seed, method, (40, 60, 80), True)


def trial(task: str, seed: int, _: str, sizes: tuple[int, int, int] = SIZES, quick: bool = False) -> Facts:
    """Error, seconds, alignment and C of every method on one draw."""
    parts = problem(float(task.split("= ")[1]), seed, sizes)
    free = GreedyAlignment(shrinkage=0.0)
    made = (
        lambda: KernelAligner(Gaussians(*RANGE), weighting="greedy"),
        lambda: KernelAligner(ARDGaussians(*WIDTHS), weighting=free),
    )
    found = {
        name: machine(*timed(make, parts[0]), parts, COSTS[6:15:4] if quick else COSTS)
        for name, make in zip(TWO_STAGE, made, strict=True)
    }
    families = (Gaussians(*RANGE), ONE_STAGE), (ARDGaussians(*WIDTHS), FEW)
    for name, (family, costs) in zip(ONE, families, strict=True):
        found[name] = tuned(fits(family, parts, costs[1:4:2] if quick else costs, 1, CKL), parts)
    keep = ("error", "seconds", "alignment", "C")
    return {"found": {name: {key: float(facts[key]) for key in keep} for name, facts in found.items()}}


def by_gamma(runs: Runs) -> dict[str, list[dict[str, Facts]]]:
    """What was found at each γ, in the order of γ and of the draws."""
    tasks = sorted({task for task, _, _ in runs.known}, key=lambda task: float(task.split("= ")[1]))
    return {t: [runs.known[t, seed, ALL]["found"] for seed in runs.seeds(t, ALL)] for t in tasks}


def rows(runs: Runs, key: str, digits: int) -> list[Facts]:
    """A row for each method, a column for each γ."""
    found = by_gamma(runs)
    return [
        {"method": name}
        | {t: Spread([one[name][key] for one in trials], digits) for t, trials in found.items()}
        for name in (*TWO_STAGE, *ONE)
    ]


def paired(runs: Runs) -> list[Facts]:
    """Of every other method."""
    table: list[Facts] = []
    for name in (*TWO_STAGE, ONE[0]):
        row: Facts = {"method": name}
        for task, trials in by_gamma(runs).items():
            d = np.array([one[ONE[1]]["error"] - one[name]["error"] for one in trials])
            error = d.std(ddof=1) / np.sqrt(d.size) if d.size > 1 else 0.0
            row[task] = f"{d.mean():+.2f} ± {error:.2f}"
        table.append(row)
    return table

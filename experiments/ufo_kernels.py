"""Orabona & Jie 2011, Fig. 3 on several draws: seconds and accuracy by kernels and α, two sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manykernels.solvers.ufo import dual_exponent

from .baselines.obscure import Obscure
from .common import in_parallel
from .plots import Lines
from .tables import Facts, Report, Spread
from .ufo_obscure import COST, SPARSE, Look, Ultra, followed, mean, problem

SETS = {"mfeat": 30, "protein_fold": 15}  # samples a class
VIEWS = {"mfeat": 6, "protein_fold": 12}
TOTALS = (48, 96, 192, 396, 804, 1404)  # kernels in all; Orabona & Jie 2011 has up to 1,400
# Orabona & Jie's, of which the second has all numbers of kernels
ALPHAS = (1e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2e-2)
MIDDLE, PASSES, SEEDS = 396, 10, 5
PLOTS = [
    Lines(
        f"ufo_kernels_{name}.png",
        f"{name}: by the number of kernels",
        "kernels",
        "seconds of one processor, mean ± sd",
        x="kernels",
        y=("UFO-MKL: seconds", "OBSCURE: seconds"),
        title=f"Orabona & Jie 2011, Fig. 3: {name}",
    )
    for name in SETS
]


def run(report: Report) -> None:
    """For each set one table by the number of kernels and one by α."""
    quick = report.quick
    for name in SETS:
        with report.leaving_out(name):
            counts = (1, 2) if quick else tuple(total // VIEWS[name] for total in TOTALS)
            table(report, name, by_count, counts, "the number of kernels", COUNTS)
            table(report, name, by_alpha, ALPHAS[:2] if quick else ALPHAS, "α", STRENGTHS)


def table(
    report: Report,
    name: str,
    trial: Callable[..., tuple[Facts, dict[str, Look]]],
    values: tuple[Any, ...],
    by: str,
    note: str,
) -> None:
    """Rows by a value, columns by method."""
    quick, seeds = report.quick, range(2 if report.quick else SEEDS)
    jobs = [(name, value, seed, quick) for value in values for seed in seeds]
    flat = iter(in_parallel(trial, jobs, quick))
    rows: list[Facts] = []
    for _ in values:
        several = [next(flat) for _ in seeds]
        row: Facts = dict(several[0][0])
        for method, facts in several[0][1].items():
            for key, digits in (("accuracy", 1), ("seconds", 2), ("used", 1)):
                if key in facts:
                    row[f"{method}: {key}"] = Spread([found[method][key] for _, found in several], digits)
        rows.append(row)
    report.table(f"{name}: by {by}", rows, note)


COUNTS = (
    f"{SEEDS} draws, {PASSES} passes at λ = 1/({COST:g} N), α = {ALPHAS[1]:g} for UFO-MKL, p = {SPARSE} for "
    "OBSCURE. Uniform: an SVM for each pair of classes. Seconds of one processor, all Gram matrices ready. "
    "Mean ± standard deviation."
)
STRENGTHS = f"The same draws with {MIDDLE} kernels."


def by_count(name: str, count: int, seed: int, quick: bool) -> tuple[Facts, dict[str, Look]]:
    """Three methods with so many kernels a view."""
    given = problem(name, 8 if quick else SETS[name], count, seed, quick)
    F, lam, passes = len(given.stack), 1.0 / (COST * len(given.y)), (2 if quick else PASSES,)
    ultra = followed(lambda: Ultra(given, lam, ALPHAS[1], dual_exponent(F)), given, passes, seed)[-1]
    q = SPARSE / (SPARSE - 1.0)
    rival = followed(lambda: Obscure(given.stack, given.y, lam, q), given, passes, seed)[-1]
    uniform = mean(given)
    found = {"UFO-MKL": used(ultra), "OBSCURE": used(rival), "uniform": {"accuracy": uniform["accuracy"]}}
    return {"kernels": F}, found


def by_alpha(name: str, alpha: float, seed: int, quick: bool) -> tuple[Facts, dict[str, Look]]:
    """UFO-MKL with α, and with what it keeps."""
    given = problem(name, 8 if quick else SETS[name], 2 if quick else MIDDLE // VIEWS[name], seed, quick)
    lam, q = 1.0 / (COST * len(given.y)), dual_exponent(len(given.stack))
    looks = (2 if quick else PASSES,)
    found = followed(lambda: Ultra(given, lam, alpha, q), given, looks, seed)[-1]
    return {"α": f"{alpha:g}"}, {"UFO-MKL": used(found)}


def used(look: Look) -> Look:
    return {"accuracy": look["accuracy"], "seconds": look["seconds"], "used": look["kernels"]}

"""Orabona & Jie 2011, Fig. 2, bottom: accuracy by samples a class, multiclass hinge and one-vs-rest."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from manykernels import MKLClassifier
from manykernels.solvers.ufo import dual_exponent

from .baselines.obscure import Obscure
from .common import in_parallel
from .tables import Facts, Report, Spread
from .ufo_obscure import COST, SETS, SPARSE, Look, Problem, Ultra, followed, mean, problem

SEEDS = 10  # draws
SAMPLES = {"mfeat": (5, 15, 30), "protein_fold": (3, 5, 15)}  # a class
ALPHAS = (0.0, 1e-3, 5e-3, 2e-2)  # 0 and three of Orabona & Jie's
PASSES = 32
TOL = 1e-2
BATCH: dict[str, Facts] = {  # to a gap of TOL, at norm 1
    "each class against the rest, SILP": {"multi_class": "ovr", "solver": "silp"},
    "each class against the rest": {"multi_class": "ovr"},
    "each against the rest, shared weights": {"multi_class": "shared"},
    "multiclass hinge (MC-MKL)": {"multi_class": "crammer-singer", "fit_intercept": False},
}


def run(report: Report) -> None:
    """A table of accuracies for each set, and one of the differences from SILP."""
    quick = report.quick
    seeds = range(2 if quick else SEEDS)
    for name in SETS:
        with report.leaving_out(name):
            sizes = (4, 8) if quick else SAMPLES[name]
            jobs = [(name, each, seed, quick) for each in sizes for seed in seeds]
            flat = iter(in_parallel(compare, jobs, quick))
            by_size = {each: [next(flat) for _ in seeds] for each in sizes}
            report.table(f"{name}: per cent right", accuracy_rows(by_size), ACCURACY)
            report.table(f"{name}: less {RIVAL} in the same draw", paired_rows(by_size), PAIRED)


RIVAL = next(iter(BATCH))
ACCURACY = (
    f"{SEEDS} draws, {PASSES} passes at λ = 1/({COST:g} N) for UFO-MKL and OBSCURE, with the multiclass "
    f"hinge; C = {COST:g} for the others, those at norm 1 to a relative gap of {TOL:g}. Kernels, seconds of "
    "one processor and the largest gap are for the most samples. Of small classes no more than half are "
    "trained on. Kernels: those whose norm is not 0, of any class."
)
PAIRED = "Points more than SILP's, mean ± standard error over the draws."


def compare(name: str, each: int, seed: int, quick: bool) -> dict[str, Look]:
    """Every method on one draw: after the same number of passes at the same λ, or to the same gap."""
    given = problem(name, each, 2 if quick else SETS[name][1], seed, quick)
    F, lam, passes = len(given.stack), 1.0 / (COST * len(given.y)), (2 if quick else PASSES,)
    q, sharp = dual_exponent(F), SPARSE / (SPARSE - 1.0)
    makes: dict[str, Callable[[], Any]] = {
        f"UFO-MKL, α = {alpha:g}": lambda alpha=alpha: Ultra(given, lam, alpha, q) for alpha in ALPHAS
    }
    makes["OBSCURE, q = 2 log F"] = lambda: Obscure(given.stack, given.y, lam, q)
    makes[f"OBSCURE, p = {SPARSE}"] = lambda: Obscure(given.stack, given.y, lam, sharp)
    found = {method: followed(make, given, passes, seed)[-1] for method, make in makes.items()}
    found |= {method: batch(given, **options) for method, options in BATCH.items()}
    return found | {"uniform weights, SVM": mean(given)}


def batch(given: Problem, **options: Any) -> Look:
    """Batch learning at norm 1."""
    model = MKLClassifier("precomputed", norm=1, C=COST, normalize=None, tol=TOL, **options)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a gap above tol: the table says the gap
        model.fit(given.stack.transpose(1, 2, 0), given.y)
    spent = time.process_time() - started
    right = 100.0 * float(np.mean(model.predict(given.test.transpose(1, 2, 0)) == given.y_test))
    gap = float(np.max(model.dual_gap_))
    return {"accuracy": right, "seconds": spent, "kernels": float(model.active_.size), "gap": gap}


def accuracy_rows(found: dict[int, list[dict[str, Look]]]) -> list[Facts]:
    """A row a method: accuracy by samples a class; kernels, seconds and gap for the most of them."""
    rows, last = [], found[max(found)]
    for method in last[0]:
        row: Facts = {"method": method}
        for each, trials in found.items():
            row[f"{each} a class"] = Spread([trial[method]["accuracy"] for trial in trials], 1)
        row["kernels"] = Spread([trial[method]["kernels"] for trial in last], 1)
        row["seconds"] = Spread([trial[method]["seconds"] for trial in last], 2)
        gaps = [trial[method]["gap"] for trial in last if "gap" in trial[method]]
        rows.append(row | {"largest gap": f"{max(gaps):.1e}" if gaps else None})
    return rows


def paired_rows(found: dict[int, list[dict[str, Look]]]) -> list[Facts]:
    """Of every other method."""
    rows = []
    for method in [name for name in found[max(found)][0] if name != RIVAL]:
        row: Facts = {"method": method}
        for each, trials in found.items():
            d = np.array([trial[method]["accuracy"] - trial[RIVAL]["accuracy"] for trial in trials])
            row[f"{each} a class"] = f"{d.mean():+.1f} ± {d.std(ddof=1) / np.sqrt(d.size):.1f}"
        rows.append(row)
    return rows

"""Afkanpour 2013, Fig. 6.4: powers of a learned sum of linear kernels (NLMKL) on sets of products_real."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manykernels import NonlinearMKLRegressor
from manykernels.families import rank_one

from .common import in_parallel
from .data import Array, three_parts
from .products_real import RUNS, SETS, STRENGTHS, Part, chosen, drawn, polynomial
from .tables import Facts, Report, Spread


def run(report: Report) -> None:
    """Errors in per cent beside uniform powers on the same parts, and what was found."""
    sets = dict(list(SETS.items())[:1]) if report.quick else SETS
    found: dict[str, list[dict[str, Facts]]] = {}
    for name, (source, sizes) in sets.items():
        with report.leaving_out(name):
            data = source.load(m=100_000, quick=report.quick)
            runs, sizes = (2, three_parts(data)) if report.quick else (RUNS, sizes)
            jobs = [(data.X, data.y, sizes, seed, report.quick) for seed in range(runs)]
            found[name] = in_parallel(trial, jobs, report.quick)
    if not found:
        return
    report.table("Per cent wrong", error_rows(found), NOTE)
    report.table("Less the errors of the uniform power in the same draw", paired_rows(found), PAIRED)
    report.table("What was found", found_rows(found), FOUND)


NOTE = (
    "The parts, standardised variables, squared loss on labels ±1, and 1/C from 10⁻⁴ to 10³ chosen on the "
    "validation part, are those of products_real, whose linear and uniform rows are run again here. NLMKL: "
    "one linear kernel for each of the r variables and a constant one (Afkanpour 2013, §6.1.3), μ₀ = 0 and "
    "no intercept, "
    "which is Afkanpour 2013, Eq. 2.17; two starts. With μ₀ = 0 another Λ is another 1/C: Λ = 1 is the "
    "default of the "
    "package, and Λ = 1/√(r + 1) makes the mean diagonal of K_μ at equal weights 1, as in the uniform rows."
)
PAIRED = "Mean ± standard error over the draws."
FOUND = (
    "At the chosen 1/C: the largest relative difference between the objectives of the two starts; weights "
    "above 1 % of the largest; draws where 1/C is the least or the largest of the grid; the mean of seconds "
    "of one processor for a fit with two starts, over all 1/C."
)
RADII = {"Λ = 1": lambda M: 1.0, "Λ = 1/√(r + 1)": lambda M: M**-0.5}
METHODS = {f"NLMKL, D = {D}, {name}": (D, radius) for D in (2, 3) for name, radius in RADII.items()}


def trial(
    X: Array, y: Array, sizes: tuple[int, int, int], seed: int, quick: bool = False
) -> dict[str, Facts]:
    """Test error and facts of every method on one draw."""
    parts = drawn(X, y, sizes, seed)
    strengths = STRENGTHS[1::3] if quick else STRENGTHS
    facts: dict[str, Facts] = {}
    for method, (degree, radius) in METHODS.items():
        facts[method] = nonlinear(parts, degree, radius(X.shape[1] + 1), strengths)
    for degree, name in ((1, "linear"), (2, "uniform, D = 2"), (3, "uniform, D = 3")):
        facts[name] = {"error": chosen(polynomial(*parts[0], degree, strengths), parts)[1]}
    return facts


def nonlinear(parts: list[Part], degree: int, radius: float, strengths: list[float]) -> Facts:
    """The tuned fit: its test error, spread over starts, weights in use, place in the grid and time."""
    parts = [(np.column_stack([X, np.ones(len(X))]), y) for X, y in parts]
    models: list[Any] = []
    before = time.process_time()
    for strength in strengths:
        model = NonlinearMKLRegressor(
            rank_one(),
            degree=degree,
            radius=radius,
            C=1.0 / strength,
            fit_intercept=False,
            random_state=0,
            n_starts=2,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            models.append(model.fit(*parts[0]))
    seconds = (time.process_time() - before) / len(strengths)
    best, error = chosen((model.predict for model in models), parts)
    model, last = models[best], len(strengths) - 1
    used = int(np.sum(model.weights_ > 0.01 * model.weights_.max()))
    facts: Facts = {"error": error, "spread": model.spread_, "used": used, "edge": best in (0, last)}
    return facts | {"seconds": seconds}


# -- tables -----------------------------------------------------------------------------------------
def error_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    methods = next(iter(found.values()))[0]
    return [
        {"method": m} | {name: Spread([t[m]["error"] for t in trials], 1) for name, trials in found.items()}
        for m in methods
    ]


def paired_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    rows = []
    for method, (degree, _) in METHODS.items():
        row: Facts = {"method": method}
        for name, trials in found.items():
            pairs = [(t[method]["error"], t[f"uniform, D = {degree}"]["error"]) for t in trials]
            d = np.array([ours - uniform for ours, uniform in pairs])
            row[name] = f"{d.mean():+.2f} ± {d.std(ddof=1) / np.sqrt(d.size):.2f}"
        rows.append(row)
    return rows


def found_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    rows = []
    for name, trials in found.items():
        for method in METHODS:
            facts = [t[method] for t in trials]
            row: Facts = {"set": name, "method": method, "spread": f"{max(f['spread'] for f in facts):.0e}"}
            row["weights in use"] = Spread([float(f["used"]) for f in facts], 1)
            row["1/C at an end"] = f"{sum(f['edge'] for f in facts)} of {len(facts)}"
            row["s"] = Spread([f["seconds"] for f in facts], 2)
            rows.append(row)
    return rows

"""Ten products of degree ≤ 3 of 1,000 variables, searched among all 8·10¹² of degree ≤ 5."""

from __future__ import annotations

import math
import time

import numpy as np

from .common import in_parallel
from .products_synthetic import Problem, fit, in_a_process, problem, scaled_error, term_name
from .tables import Facts, Report

# Fixed before: at C = 0.1 the threshold of the lasso is Σ|w|/(Cn) ≈ 0.01 in units of the output's deviation,
# about what noise of 0.1 makes of the best of 10¹² products of no use; without noise there is no such floor.
CASES = ((0.0, 1.0), (0.1, 0.1))  # noise, C
SEEDS = 3


def run(report: Report) -> None:
    """Without noise and with 10 % of it, each fit in a process of its own."""
    r, degree, n, seeds = (12, 4, 150, 1) if report.quick else (1000, 5, 2000, SEEDS)
    tasks = [
        {"seed": seed, "noise": noise, "C": C, "r": r, "degree": degree, "n": n}
        for seed in range(seeds)
        for noise, C in CASES
    ]
    rows = in_parallel(alone, [(task,) for task in tasks], report.quick)
    title = f"r = {r}, D = {degree}: {math.comb(r + degree, degree):.1e} products, {n} samples to train on"
    report.table(title, rows, NOTE)


NOTE = (
    "t above 4: of the true products that a least-squares fit on these ten alone gives |t| > 4, how many "
    "have weight. Largest ten: how many of the ten products of the largest weight are true. "
    "Certified: whether the bound covers all products, not only those that were looked at."
)


def alone(task: Facts) -> Facts:
    """A row of the table."""
    facts = in_a_process(__name__, task)
    memory = {"MB at most": f"{facts.pop('peak'):.0f}", "MB above the start": f"{facts.pop('above'):.0f}"}
    return {key: task[key] for key in ("seed", "noise", "C")} | facts | memory


def child(task: Facts) -> Facts:
    """One fit, and what it found."""
    given = problem(
        task["seed"], task["r"], task["n"], 0, 1000, variables=5, constant=False, noise=task["noise"]
    )
    (X, y), _, test = given.parts
    started, cpu = time.perf_counter(), time.process_time()
    model = fit(X, y, task["C"], task["degree"])
    facts: Facts = {"seconds": time.perf_counter() - started, "of one processor": time.process_time() - cpu}
    names = model.selected_products_["product"]  # in the order of falling weight
    true = [term_name(z) for z in given.terms]
    clear = [name for name, t in zip(true, t_values(given), strict=True) if abs(t) > 4.0]
    facts |= {"true found": f"{len(set(true) & set(names))} of {len(true)}"}
    facts |= {"t above 4": f"{len(set(clear) & set(names))} of {len(clear)}"}
    facts |= {"largest ten": len(set(names[:10]) & set(true)), "products": len(names)}
    facts |= {
        "test error / variance": f"{scaled_error(model, *test):.1e}",
        "certified": bool(model.certified_),
    }
    return facts | {"gap": f"{model.dual_gap_:.1e}", "iterations": model.n_iter_}


def t_values(given: Problem) -> list[float]:
    """Of the true products in a least-squares fit on them alone, with an intercept; huge without noise."""
    X, y = given.parts[0]
    F = np.column_stack([np.ones(y.size), *(X[:, list(z)].prod(axis=1) for z in given.terms)])
    w, *_ = np.linalg.lstsq(F, y, rcond=None)
    s2 = float(np.sum((y - F @ w) ** 2)) / (y.size - F.shape[1])
    deviation = np.sqrt(np.maximum(s2 * np.diag(np.linalg.inv(F.T @ F)), 1e-300))
    return [float(t) for t in (w / deviation)[1:]]

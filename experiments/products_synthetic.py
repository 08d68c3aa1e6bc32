"""Afkanpour 2013, §6.1.3: ten products of five of r variables, searched among all products of degree ≤ 3."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manykernels import MKLRegressor
from manykernels.datasets import make_polynomials
from manykernels.families import Products

from .common import in_parallel
from .data import Array
from .tables import Facts, Report

ROOT = Path(__file__).resolve().parents[1]
COSTS = [10.0**k for k in range(-2, 9)]
Term = tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """Inputs and output, standardised by the moments of the first `n` samples, which are trained on."""

    X: Array
    y: Array
    n: int
    validation: int
    terms: list[Term]

    @cached_property
    def parts(self) -> list[tuple[Array, Array]]:
        """(X, y) to train on, to choose C on, to test on."""
        ends = [0, self.n, self.n + self.validation, self.y.size]
        return [(self.X[lo:hi], self.y[lo:hi]) for lo, hi in itertools.pairwise(ends)]


def problem(
    seed: int,
    r: int,
    n: int = 500,
    validation: int = 1000,
    test: int = 1000,
    *,
    variables: int = 5,
    constant: bool = True,
    noise: float = 0.0,
) -> Problem:
    """Ten products of the first few variables (`make_polynomials`), standardised by the first n samples."""
    X, y, terms = make_polynomials(
        n + validation + test, r, n_relevant=variables, constant=constant, noise=noise, random_state=seed
    )
    X = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    return Problem(X, (y - y[:n].mean()) / y[:n].std(), n, validation, terms)


def fit(X: Array, y: Array, C: float, degree: int = 3, **options: Any) -> MKLRegressor:
    """The sparse end: norm 1 over all products, each scaled to unit size."""
    family = Products(degree=degree, atom_scale="rms")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap is told
        return MKLRegressor(family, norm=1, solver="corrective", C=C, **options).fit(X, y)


def scaled_error(model: Any, X: Array, y: Array) -> float:
    """Mean squared error in units of the variance."""
    return float(np.mean((model.predict(X) - y) ** 2) / y.var())


def chosen(seed: int, r: int, sizes: tuple[int, int, int], costs: list[float]) -> float:
    """The cost of the least error on the validation set; the smaller of equal ones."""
    given = problem(seed, r, *sizes)
    (X, y), held_out, _ = given.parts
    return costs[int(np.argmin([scaled_error(fit(X, y, C), *held_out) for C in costs]))]


def run(report: Report) -> None:
    """A table for each r: ten seeds, every one with its own C."""
    sizes, costs, seeds = (500, 1000, 1000), COSTS, range(10)
    if report.quick:
        sizes, costs, seeds = (60, 50, 50), [1e0, 1e4], range(2)
    for r in (8,) if report.quick else (100, 200):
        best = in_parallel(chosen, [(seed, r, sizes, costs) for seed in seeds], report.quick)
        rows = [told(seed, r, sizes, C) for seed, C in zip(seeds, best, strict=True)]
        title = f"r = {r}: {math.comb(r + 3, 3):,} products, {sizes[0]} samples to train on"
        report.table(title, rows, note(r, sizes, best))


def told(seed: int, r: int, sizes: tuple[int, int, int], C: float) -> Facts:
    """The chosen fit again, alone on the machine, three times for its median time."""
    (X, y), _, test = (given := problem(seed, r, *sizes)).parts
    seconds, cpu = [], []
    for _ in range(3):
        started, before = time.perf_counter(), time.process_time()
        model = fit(X, y, C)
        seconds.append(time.perf_counter() - started)
        cpu.append(time.process_time() - before)
    products = model.selected_products_
    names = {term_name(z) for z in given.terms if z}
    row: Facts = {"seed": seed, "test error / variance": f"{scaled_error(model, *test):.1e}", "C": f"{C:.0e}"}
    row |= {"certified": model.certified_, "gap": f"{model.dual_gap_:.1e}"}
    row |= {"seconds": float(np.median(seconds)), "of one processor": float(np.median(cpu))}
    row |= {"products": len(products["product"])}
    return row | {"of the truth": f"{len(names & set(products['product']))} of {len(names)}"}


def term_name(z: Term) -> str:
    """As the package writes a product of unnamed columns."""
    powers = str.maketrans("123456789", " ²³⁴⁵⁶⁷⁸⁹")
    runs = [(j, len(list(run))) for j, run in itertools.groupby(z)]
    return " · ".join(f"x{j}" + str(m).translate(powers).strip() for j, m in runs) or "1"


def note(r: int, sizes: tuple[int, int, int], best: list[float]) -> str:
    """The memory of one fit, in a process of its own."""
    task = {"seed": 0, "r": r, "sizes": sizes, "C": best[0]}
    memory = in_a_process(__name__, task)
    return (
        f"A process that does nothing but the fit of seed 0 takes {memory['peak']:.0f} MB at most, "
        f"{memory['above']:.0f} MB above what it has after a small fit."
    )


# -- processes of their own -----------------------------------------------------------------------
def in_a_process(module: str, task: Facts) -> Facts:
    """What `child(task)` of the module gives in a new process, with the memory it took (MB)."""
    code = f"from {module} import child; from experiments.products_synthetic import serve; serve(child)"
    command = [sys.executable, "-c", code, json.dumps(task)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process that runs {task} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def serve(child: Any) -> None:
    """Called in the new process: a small fit first, so that loading and compiling are not counted."""
    (X, y), _, _ = problem(0, 5, 40, 5, 5).parts
    fit(X, y, 1.0)
    before = memory_of("VmRSS")
    facts = child(json.loads(sys.argv[-1]))
    peak = memory_of("VmHWM")
    print(json.dumps({**facts, "peak": peak, "above": peak - before}))


def memory_of(key: str) -> float:
    """MB of this process, now (VmRSS) or at most so far (VmHWM); NaN where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return float("nan")
    return next(float(line.split()[1]) for line in lines if line.startswith(key + ":")) / 1024.0


def child(task: Facts) -> Facts:
    """One fit."""
    (X, y), _, _ = problem(task["seed"], task["r"], *task["sizes"]).parts
    fit(X, y, task["C"])
    return {}

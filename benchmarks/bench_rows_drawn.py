"""Two classes, many rows and all products of columns: passes over all rows beside steps on drawn ones.

The data are those of `rows_products`, with the sign of the target as class, the logistic loss, C = 1/√n,
interactions of 80 columns up to degree 3 and no intercept. At norm 1 the corrective solver (Newton's method
on sums over rows, certified) is beside dual averaging on drawn rows, with all products scored on them or some
drawn in proportion to the gradient (`rivals_drawn.py`; the best of three sizes of steps). P is in units of
its optimum. At norm 2, where every product has weight, dual ascent on drawn rows learns all of them,
certified.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from manykernels.families import Products
from manykernels.grams.row_blocks import HeldBlocks
from manykernels.losses import Logistic
from manykernels.objectives import Separable
from manykernels.oracles import build_oracle
from manykernels.oracles.bind_rows import bind_rows
from manykernels.oracles.row_products import RowProducts
from manykernels.penalties import LpBall, Penalty, Simplex
from manykernels.solvers import Corrective, DualAscent, History, Run, Solver

from .bench_rows_products import Problem, anonymous_memory, mapped
from .harness import Facts, Report
from .rivals_drawn import Array, DualAveraging, Weights, features

FAMILY = Products(degree=3, interactions_only=True)
ROWS, DRAWS, SIZES = 512, 128, (10.0, 100.0, 1000.0)
_BLOCK = 1 << 13


def run(report: Report) -> None:
    """Both norms on the same rows."""
    n, r, seconds = report.pick((100_000, 80, (1.0, 2.0, 4.0, 8.0, 16.0)), (20_000, 10, (0.2, 0.5)))
    with tempfile.TemporaryDirectory() as folder:
        X, y = mapped(Problem(r, 0), n, Path(folder) / "X")
        y = np.where(y > 0, 1.0, -1.0)
        oracle = _oracle(X)
        found, passes = _fit(Corrective(), oracle, y, Simplex(), 1e-3)
        title = f"{n} rows × {int(oracle.size)} products, logistic loss, norm 1"
        report.table(f"{title}: certified", [passes])
        rows = [_looks(found.history, found.primal, seconds)]
        rows += [_best(name, make, X, y, found.primal, seconds) for name, make in _rivals(oracle).items()]
        report.table(f"{title}: P / optimum after so many seconds of a processor", rows)
        _, ascent = _fit(DualAscent(), oracle, y, LpBall(2.0), 1e-3)
        report.table(f"{n} rows × {int(oracle.size)} products, logistic loss, norm 2: certified", [ascent])


def _oracle(X: Any) -> RowProducts:
    known: Facts = {"normalize": None, "sample_weight": None, "feature_names": None, "memory_limit": "2GB"}
    return bind_rows(FAMILY, HeldBlocks(X, len(X)), X[:16], **known)


@dataclass
class Clock(History):
    """A history that also has the seconds of the processor."""

    cpu: list[float] = field(default_factory=list)
    begun: float = field(default_factory=time.process_time)

    def add(self, objective: float, gap: float, active: int) -> None:
        super().add(objective, gap, active)
        self.cpu.append(time.process_time() - self.begun)


def _fit(solver: Solver, oracle: RowProducts, y: Array, penalty: Penalty, tol: float) -> tuple[Any, Facts]:
    n = len(y)
    risk = Separable(Logistic(), y[:, None], np.full((n, 1), 1.0 / np.sqrt(n)), False)
    with anonymous_memory() as seen:
        clock = Clock()
        found = solver.run(oracle, risk, penalty, Run(tol, 1000, np.random.RandomState(0), history=clock))
    return found, {
        "solver": type(solver).__name__,
        "CPU s": clock.cpu[-1],
        "MB above the file": seen[0] / 2**20,
        "gap": found.gap,
        "certified": found.certified,
        "iterations": found.n_iter,
        "products": len(found.atoms),
    }


def _looks(history: Any, optimum: float, seconds: tuple[float, ...]) -> Facts:
    """P of the corrective solver at its looks."""
    row: Facts = {"method": "corrective"}
    for t in seconds:
        known = [P for P, at in zip(history.objective, history.cpu, strict=True) if at <= t]
        row[f"{t:g} s"] = f"{min(known) / optimum:.4f}" if known else ""
    return row | {"steps": len(history.cpu)}


def _rivals(oracle: RowProducts) -> dict[str, Callable[[DualAveraging], Iterator[tuple[float, Weights]]]]:
    whole = oracle.whole()
    return {
        "rows drawn": lambda run: run.all_scored(whole),
        "rows and products drawn": lambda run: run.some_drawn(
            lambda X: build_oracle(FAMILY, X, normalize=None), DRAWS
        ),
    }


def _best(
    name: str, make: Callable[..., Any], X: Any, y: Array, optimum: float, seconds: tuple[float, ...]
) -> Facts:
    """The curve of the size of steps that is best after the least of these times."""
    trials = {beta: _curve(make, X, y, optimum, beta, (seconds[0],)) for beta in SIZES}
    beta = min(trials, key=lambda size: trials[size][0][-1])
    values, steps = _curve(make, X, y, optimum, beta, seconds)
    named = {f"{t:g} s": f"{value:.4f}" for t, value in zip(seconds, values, strict=True)}
    return {"method": name, **named, "steps": steps}


def _curve(
    make: Callable[..., Any], X: Any, y: Array, optimum: float, beta: float, seconds: tuple[float, ...]
) -> tuple[list[float], int]:
    """P / optimum after so many seconds, and the number of steps."""
    run = DualAveraging(X, y, 1.0 / np.sqrt(len(y)), Logistic(), beta, ROWS, 0)
    values: list[float] = []
    for spent, w in make(run):
        if spent >= seconds[len(values)]:
            values.append(_primal(X, y, w) / optimum)
            if len(values) == len(seconds):
                break
    return values, run.t


def _primal(X: Any, y: Array, w: Weights) -> float:
    """½‖w‖₁² + R(Φw)."""
    coefficients, loss, risk = np.fromiter(w.values(), float, len(w)), Logistic(), 0.0
    for lo in range(0, len(y), _BLOCK):
        part = np.asarray(X[lo : lo + _BLOCK], dtype=np.float64)
        f = coefficients @ features(part, w) if w else np.zeros(len(part))
        risk += float(np.sum(loss.value(y[lo : lo + _BLOCK], f)))
    return 0.5 * float(np.abs(coefficients).sum()) ** 2 + risk / np.sqrt(len(y))

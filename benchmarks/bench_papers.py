"""The solvers of the papers beside ours, on the same matrices: processor time, and the gap they reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from experiments.baselines.obscure import Obscure

from manykernels import UFOMKLClassifier
from manykernels.families import per_feature
from manykernels.grams import StackGram
from manykernels.losses import Hinge
from manykernels.objectives import Separable
from manykernels.penalties import LpBall, Simplex
from manykernels.solvers import SILP, ActiveSet, Alternating, HessianMKL, Result, Run, SimpleMKL, Solver

from .harness import Contender, Facts, Report, Timing, compare
from .problems import Array, breast_cancer, gaussians, load, risk_of, stack_of
from .rivals import qcqp

SOLVERS: dict[str, Solver] = {
    "ActiveSet": ActiveSet(),
    "HessianMKL": HessianMKL(),
    "SILP": SILP(),
    "SimpleMKL": SimpleMKL(),
    "Alternating": Alternating(),
}
OURS = "ActiveSet"
PRINTED = {"SILP": "191.2 ± 38.7", "UFO-MKL": "9.9 ± 0.5"}  # Orabona and Jie 2011, Table 1: Sonar, α = 1e-3
TRAIN, EPOCHS, ALPHA = 145, 20, 1e-3  # theirs
ITERATIONS = 300
LIMITS = {"SILP": 3000}  # iterations, where they are cheap and many
QCQP = 1_500_000  # entries of kernels that the general solver is given, at most
ONLINE = "its own (a group norm near 1, no intercept)"
PAPER = "Orabona & Jie 2011 print, s"


@dataclass(frozen=True)
class Online:
    """What a method reached on a problem of its own: its value, and a bound of that once it is asked for."""

    weights: Array
    value: float
    bound: Callable[[], float]

    @property
    def gap(self) -> float:
        return (self.value - self.bound()) / self.value


def run(report: Report) -> None:
    """569 samples × 200 widths, and SimpleMKL's dictionary on Sonar, with the C of the paper."""
    X, y = breast_cancer()
    rows = slice(None, None, report.pick(1, 6))
    stack = scaled(stack_of(gaussians(report.pick(200, 10)), X[rows]))
    table(report, "breast cancer", stack, y[rows], 1.0, 1e-3, {})
    X, y = load("sonar")
    order = np.random.RandomState(0).permutation(y.size)[: report.pick(TRAIN, 60)]
    X, y = X[order, : report.pick(60, 4)], y[order]
    stack = scaled(stack_of(list(per_feature().resolve(X).values()), X))
    table(report, "Sonar", stack, y, 100.0, 1e-2, report.pick(PRINTED, {}))


def scaled(stack: Array) -> Array:
    """With a mean diagonal of 1."""
    stack /= np.einsum("mii->m", stack)[:, None, None] / stack.shape[1]
    return stack


def table(report: Report, name: str, stack: Array, y: Array, C: float, tol: float, paper: Facts) -> None:
    """All solvers on one problem, hinge and norm 1; the two online methods and the QCQP beside them."""
    gram, quick = StackGram(stack), report.quick
    contenders: dict[str, Any] = {
        who: Contender(
            *(partial(learn, solver, gram, y, C, tol, limit) for limit in (LIMITS.get(who, ITERATIONS), 2))
        )
        for who, solver in SOLVERS.items()
    }
    few = stack[:: max(len(stack) * len(y) ** 2 // QCQP, 1)]
    who = "QCQP by Clarabel" if len(few) == len(stack) else f"QCQP by Clarabel, {len(few)} of the kernels"
    contenders[who] = Contender(partial(qcqp, few, y, C), partial(qcqp, few[:2, :20, :20], y[:20], C))
    for online, method in (("UFO-MKL", ufo), ("OBSCURE", obscure)):
        contenders[online] = Contender(partial(method, stack, y, C), partial(method, stack[:3], y, C))
    timings = compare(contenders, repeats=1 if quick else 3, budget=3.0)
    bound = max(t.result.dual for who, t in timings.items() if who in SOLVERS)
    rows = [row(who, timing, timings[OURS], bound, paper) for who, timing in timings.items()]
    title = f"{name}: {len(stack)} kernels, {y.size} samples, C = {C:g}, to a gap of {tol:g}"
    report.table(title, rows, "the same objective by all that solve the same problem")


def row(who: str, timing: Timing, ours: Timing, bound: float, paper: Facts) -> Facts:
    """Times, in processor seconds too, the gap, and P above the best bound that any solver proved."""
    found, cpu = timing.result, timing.as_dict()["cpu"]
    facts: Facts = {"contender": who, "seconds": timing, "processor s": cpu}
    facts["× ActiveSet's processor time"] = cpu / ours.as_dict()["cpu"]
    facts |= {"gap": found.gap, "kernels": int(np.count_nonzero(found.weights > 1e-6 * found.weights.max()))}
    if isinstance(found, Result):
        facts |= {"P above the best bound": (found.primal - bound) / found.primal, "iterations": found.n_iter}
    facts["problem"] = ONLINE if isinstance(found, Online) else "norm 1"
    return facts | ({PAPER: paper[who]} if who in paper else {})


def learn(solver: Solver, gram: StackGram, y: Array, C: float, tol: float, limit: int) -> Result:
    return solver.run(gram, risk_of(y, C), Simplex(), Run(tol, limit, np.random.RandomState(0)))


def ufo(stack: Array, y: Array, C: float) -> Online:
    """As in the paper: λ = 1/(CN), 20 passes, no bias; kernels have a largest diagonal of 1 by default."""
    options: dict[str, Any] = {"alpha": ALPHA, "epochs": EPOCHS, "fit_intercept": False, "random_state": 0}
    model = UFOMKLClassifier("precomputed", lam=1.0 / (C * y.size), loss="hinge", **options)
    model.fit(np.moveaxis(stack, 0, 2), y)
    return Online(np.abs(model.weights_), 1.0, lambda: 1.0 - float(model.dual_gap_))


def obscure(stack: Array, y: Array, C: float) -> Online:
    """As many passes; the bound is what our solver proves for its problem, and is not timed.

    Two classes with a vector each are one of half the squared norm, so that λ = 2/(CN) is the same problem.
    """
    n, q = y.size, 2.0 * np.log(max(len(stack), 3))
    method, rng = Obscure(stack, (y > 0).astype(np.intp), 2.0 / (C * n), q), np.random.RandomState(0)
    for _ in range(EPOCHS):
        method.advance(rng.permutation(n))
    return Online(method.norms, C * n * method.objective, partial(group_bound, stack, y, C, q))


def group_bound(stack: Array, y: Array, C: float, q: float) -> float:
    """A lower bound of ½‖u‖²_{2,p} + C Σ hinge, 1/p + 1/q = 1, without an intercept."""
    p = q / (q - 1.0)
    risk = Separable(Hinge(), y[:, None], np.full((y.size, 1), C), False)
    told = Run(1e-4, 300, np.random.RandomState(0))
    return ActiveSet().run(StackGram(stack), risk, LpBall(p / (2.0 - p)), told).dual

"""Orabona & Jie 2011, Fig. 2 (top): the objective of UFO-MKL against time, beside that of a batch solver."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from manykernels.families import gaussian_grid
from manykernels.grams import StackGram
from manykernels.grams.expansions import KernelExpansion
from manykernels.kernels import Gaussian, Kernel, evaluate
from manykernels.losses import Hinge
from manykernels.losses.structured import PerScore
from manykernels.objectives import Separable
from manykernels.penalties import resolve_penalty
from manykernels.solvers import ActiveSet, Run
from manykernels.solvers.ufo import UFO, GroupRegularizer, dual_exponent

from . import ufo_obscure
from .common import in_parallel
from .data import Array, Source
from .plots import Lines
from .products_convergence import Clock
from .tables import Facts, Report, Spread

TABLES = {
    "sonar": (60, 150),
    "ida_german": (20, 700),
}  # features, samples of a draw: all widths of one kernel
SETS = [*TABLES, "mfeat"]
COSTS = (1.0, 100.0)  # λ = 1/(cost · N)
KERNELS, PASSES, SEEDS = 50, 64, 5
PLOTS = [
    Lines(f"ufo_batch_{cost:g}.png", f"λ = 1/({cost:g} N)", "seconds of one processor",
          "log₁₀(objective / bound − 1)", x="seconds", y=("UFO-MKL", "batch"), log="x")
    for cost in COSTS
]  # fmt: skip


def run(report: Report) -> None:
    """A table for each λ and set."""
    seeds = range(2 if report.quick else SEEDS)
    for cost in COSTS:
        for name in SETS:
            with report.leaving_out(name):
                found = in_parallel(race, [(name, cost, s, report.quick) for s in seeds], report.quick)
                stack, Y = problem(name, 0, report.quick)
                title = f"λ = 1/({cost:g} N), {name}: {len(stack)} kernels, {len(Y)} samples, α = 0"
                report.table(title, rows_of(found), NOTE)


NOTE = (
    f"log₁₀(objective / bound − 1), mean ± standard deviation over {SEEDS} draws, with seconds of one "
    "processor, all Gram matrices ready. The bound is that of the batch solver at a gap of 10⁻⁴; 'as good': "
    "when it is below what the last pass reached. Mfeat: each class against the rest, with shared weights."
)


@dataclass
class Curve:
    """Seconds of one processor, and the objective reached by then."""

    seconds: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)


def problem(name: str, seed: int, quick: bool) -> tuple[Array, Array]:
    """(stack, ±1 targets) of one draw: 50 widths of a table, or 48 kernels of ten digits' views."""
    if name not in TABLES:
        given = ufo_obscure.problem(name, *((8, 2) if quick else ufo_obscure.SETS[name]), seed, quick)
        return given.stack, np.where(given.y[:, None] == np.arange(given.n_classes), 1.0, -1.0)
    d, n = TABLES[name]
    data = Source(name, "classification", "raw", n_features=d).load(m=100_000, quick=quick)
    rows = np.random.RandomState(seed).permutation(len(data.y))[:n]
    X = data.X[rows]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300)
    typical = np.sqrt(2.0 * d)
    kernels = gaussian_grid(typical / 8.0, 8.0 * typical, 5 if quick else KERNELS)
    stack = np.empty((len(kernels), len(X), len(X)))
    for m, K in evaluate(kernels, X):
        stack[m] = K
    return stack, data.y[rows, None]


def race(name: str, cost: float, seed: int, quick: bool) -> tuple[Curve, Curve, float]:
    """Both on one draw, and the lower bound."""
    stack, Y = problem(name, seed, quick)
    lam = 1.0 / (cost * len(Y))
    return online(stack, Y, lam, 4 if quick else PASSES, seed), *batch(stack, Y, lam)


def online(stack: Array, Y: Array, lam: float, passes: int, seed: int = 0) -> Curve:
    """UFO-MKL at α = 0, looked at after every pass; looking is not timed."""
    F, n = len(stack), len(Y)
    regularizer, loss = GroupRegularizer(lam, 0.0, dual_exponent(F)), PerScore(Hinge(), Y.shape[1])
    kernels: list[Kernel] = [Gaussian(1.0)] * F  # their values are in the stack
    gram, rng, curve, spent = StackGram(stack), np.random.RandomState(seed), Curve(), 0.0
    for timed in (False, True):  # once for the compiler
        expansion = KernelExpansion(kernels, Y.shape[1], constant=False, gram=gram)
        rows, state = expansion.enter(np.arange(n)), UFO(regularizer, F)
        for _ in range(passes if timed else 1):
            order = rng.permutation(n)
            started = time.process_time()
            state.advance(expansion, loss, rows[order], Y[order])
            spent += time.process_time() - started if timed else 0.0
            if timed:
                curve.seconds.append(spent)
                curve.objective.append(state.primal(expansion, loss, rows, Y))
    return curve


def batch(stack: Array, Y: Array, lam: float) -> tuple[Curve, float]:
    """The same problem by the batch solver, and the lower bound that it ends with.

    ½ λ ‖w‖²_{2,p̃} + (1/N) Σ ℓ is λ times P = ½ ‖w‖²_{2,p̃} + C Σ ℓ with C = 1/(Nλ); weights in the ball of
    norm p = p̃/(2 − p̃) make the group norm of exponent 2p/(p + 1) = p̃, and p̃ = q/(q − 1).
    """
    q = dual_exponent(len(stack))
    exponent = q / (q - 1.0)
    penalty = resolve_penalty(exponent / (2.0 - exponent))
    risk = Separable(Hinge(), Y, np.full(Y.shape, 1.0 / (len(Y) * lam)), False)
    gram, rng = StackGram(stack), np.random.RandomState(0)
    ActiveSet().run(gram, risk, penalty, Run(tol=0.1, max_iter=1000, rng=rng))
    clock = Clock()
    ActiveSet().run(gram, risk, penalty, Run(tol=1e-4, max_iter=1000, rng=rng, history=clock))
    bound = max(P * (1.0 - gap) for P, gap in zip(clock.objective, clock.gap, strict=True))
    return Curve(clock.seconds, [lam * P for P in np.minimum.accumulate(clock.objective)]), lam * bound


def rows_of(found: list[tuple[Curve, Curve, float]]) -> list[Facts]:
    """After 1, 4, 16 … passes, and the batch solver when it was as good as the last pass, and at its end."""
    rows: list[Facts] = []
    for k in (k for k in (0, 3, 15, 63) if k < len(found[0][0].seconds)):
        curves = [(ours.seconds[k], ours.objective[k], bound) for ours, _, bound in found]
        rows.append(row_of(f"UFO-MKL, {k + 1} passes" if k else "UFO-MKL, 1 pass", "UFO-MKL", curves))
    reached = [(theirs, bound, as_good(ours, theirs)) for ours, theirs, bound in found]
    curves = [(theirs.seconds[k], theirs.objective[k], bound) for theirs, bound, k in reached]
    rows.append(row_of("batch, as good", "batch", curves))
    ends = [(theirs.seconds[-1], theirs.objective[-1], bound) for theirs, bound, _ in reached]
    return [*rows, row_of("batch, end", "batch", ends)]


def as_good(ours: Curve, theirs: Curve) -> int:
    """The first of their looks that is below our last, or their last."""
    below = [k for k, P in enumerate(theirs.objective) if P <= ours.objective[-1]]
    return below[0] if below else len(theirs.objective) - 1


def row_of(title: str, column: str, curves: list[tuple[float, float, float]]) -> Facts:
    excess = [float(np.log10(max(P / bound - 1.0, 1e-16))) for _, P, bound in curves]
    row: Facts = {"": title, "seconds": Spread([s for s, _, _ in curves], 3), "UFO-MKL": None, "batch": None}
    return row | {column: Spread(excess, 2)}

"""000 Figs 6.1, 6.2: the objective against time, kernels drawn by the gradient, uniformly, or all at once."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from manykernels.families import Products
from manykernels.grams import FactorGram, Gram, StackGram
from manykernels.kernels import Fitted
from manykernels.losses import Squared
from manykernels.objectives import Risk
from manykernels.oracles import Oracle, build_oracle
from manykernels.oracles.products import ProductsOracle
from manykernels.penalties import LpBall
from manykernels.solvers import Alternating, History, Stochastic

from .data import Array
from .products_real import SETS
from .products_synthetic import problem
from .tables import Facts, Report

FIGURE = Path(__file__).parent / "results" / "products_convergence.png"
SECONDS = (0.1, 0.3, 1.0, 3.0)
LONGER = (1.0, 3.0, 10.0, 20.0)
C, C_SYNTHETIC = 1e5, 1e3  # 000's regularisation, 10⁻⁵; and one at which 176,851 kernels do not fit all
SGD, UCD = "SGD-1s", "UCD"
FEATURES, MATRICES = "LPMKL, features", "LPMKL, matrices"
Curves = dict[str, "Clock"]


class TimeUp(Exception):
    """The time that a method has is over."""


@dataclass
class Clock(History):
    """Counts seconds of the processor, which others on the machine do not lengthen; stops after `limit`."""

    started: float = field(default_factory=time.process_time)
    limit: float = math.inf

    def add(self, objective: float, gap: float, active: int) -> None:
        self.objective.append(objective)
        self.gap.append(gap)
        self.seconds.append(time.process_time() - self.started)
        self.active.append(active)
        if self.seconds[-1] > self.limit:
            raise TimeUp

    def at(self, seconds: float) -> float | None:
        """The least objective known after so many seconds."""
        known = [P for P, t in zip(self.objective, self.seconds, strict=True) if t <= seconds]
        return min(known) if known else None


def run(report: Report) -> None:
    """000's sets and the synthetic problem of 100 variables; a figure; the cost of an iteration."""
    figure: dict[str, tuple[Curves, float]] = {}
    seconds = (0.05, 0.2) if report.quick else SECONDS
    for name in list(SETS)[:1] if report.quick else SETS:
        with report.leaving_out(name):
            X, y = training_part(name, report.quick)
            figure[name] = told(report, name, compete(X, y, C, seconds[-1]), X.shape, seconds)
    if not report.quick:
        name, (X, y) = "synthetic", problem(0, 100).parts[0]
        curves = compete(X, y, C_SYNTHETIC, LONGER[-1], matrices=False)
        figure[name] = told(report, name, curves, X.shape, LONGER)
        draw(figure, FIGURE)
    report.table(*growth(report.quick))


def told(
    report: Report, name: str, curves: Curves, shape: tuple[int, ...], seconds: Sequence[float]
) -> tuple[Curves, float]:
    """The table of a set, and what its figure needs."""
    bound = max(P * (1.0 - g) for c in curves.values() for P, g in zip(c.objective, c.gap, strict=True))
    kernels = math.comb(shape[1] + 3, 3)
    title = f"{name}: P after so many seconds of one processor; {kernels:,} kernels, {shape[0]} samples"
    report.table(title, rows_of(curves, seconds), f"No weights give less than {bound:.5g}.")
    return curves, bound


def training_part(name: str, quick: bool) -> tuple[Array, Array]:
    """As many samples as 000 trains on, standardised."""
    source, (n, _, _) = SETS[name]
    data = source.load(m=n, quick=quick)
    X, y = data.X, data.y
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300), (y - y.mean()) / y.std()


def compete(X: Array, y: Array, C: float, limit: float, matrices: bool = True) -> Curves:
    """Every method from its own start on the same problem: squared loss, θ in the L2 ball, degree ≤ 3.

    LPMKL, which is Kloft's, gets all kernels ready made, which is not counted: as features, n numbers a
    kernel, and as matrices, n² numbers a kernel, which is what 000 gave it.
    """
    oracle = build_oracle(Products(degree=3), X, normalize="trace", norm=2.0)
    assert isinstance(oracle, ProductsOracle)
    gram = oracle.gram(list(oracle.atoms()))
    risk = Risk(Squared(), y[:, None], np.full((y.size, 1), C), True)
    curves = {
        SGD: timed(Stochastic().run_family, oracle, risk, limit),
        UCD: timed(Stochastic(sampling="uniform").run_family, oracle, risk, limit),
        FEATURES: timed(Alternating().run, gram, risk, limit),
    }
    if matrices:
        assert isinstance(gram, FactorGram)
        F = np.ascontiguousarray((gram.features * np.sqrt(gram.scale)).T)
        stack = np.empty((len(F), y.size, y.size))
        np.multiply(F[:, :, None], F[:, None, :], out=stack)
        curves[MATRICES] = timed(Alternating().run, StackGram(stack), risk, limit)
    return curves


def timed(solve: Any, family: Any, risk: Risk, limit: float) -> Clock:
    """The history of a method, after two iterations that compile what it needs."""
    penalty = LpBall(2.0)
    solve(family, risk, penalty, tol=1e-1, max_iter=2, rng=np.random.RandomState(0))
    clock = Clock(limit=limit)
    options: dict[str, Any] = {"tol": 1e-6, "max_iter": 1 << 20, "rng": np.random.RandomState(0)}
    try:
        solve(family, risk, penalty, history=clock, **options)
    except TimeUp:
        pass
    return clock


def rows_of(curves: Curves, seconds: Sequence[float]) -> list[Facts]:
    rows = []
    for name, curve in curves.items():
        found = {f"{t:g} s": curve.at(t) for t in seconds}
        row: Facts = {key: None if P is None else f"{P:.5g}" for key, P in found.items()}
        rows.append({"method": name, **row, "looks": len(curve.seconds)})
    return rows


def draw(figure: dict[str, tuple[Curves, float]], file: Path) -> None:
    """P less the best bound, relative to it, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, len(figure), figsize=(3 * len(figure), 3), squeeze=False)
    for ax, (title, (curves, bound)) in zip(axes.ravel(), figure.items(), strict=True):
        for name, curve in curves.items():
            excess = np.maximum(np.array(curve.objective) / bound - 1.0, 1e-6)
            ax.loglog(curve.seconds, excess, label=name, linewidth=1.2)
        ax.set_title(title, fontsize=9)
    axes[0, 0].legend(fontsize=8)
    fig.supxlabel("seconds of one processor")
    fig.supylabel("P / bound − 1")
    fig.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(file, dpi=60)
    plt.close(fig)


# -- the cost of an iteration ---------------------------------------------------------------------
class Unbounded(Oracle):
    """A family that is never summed over, as one that is too large for it: drawing is all that is timed."""

    def __init__(self, family: Oracle) -> None:
        self.family, self.n, self.size, self.rank_one = family, family.n, family.size, family.rank_one

    def name(self, atom: Any) -> str:
        return self.family.name(atom)

    def kernel(self, atom: Any) -> Fitted:
        return self.family.kernel(atom)

    def gram(self, atoms: Any) -> Gram:
        return self.family.gram(atoms)

    def quad(self, A: Array, atoms: Any) -> Array:
        return self.family.quad(A, atoms)

    def sample(self, A: Array, size: int, rng: np.random.RandomState) -> Any:
        return self.family.sample(A, size, rng)

    def total(self, A: Array, r: float) -> float | None:
        return None


def growth(quick: bool) -> tuple[str, list[Facts], str]:
    """Milliseconds an iteration for D = 2 … 8 at r = 20: of one draw, as in 000, and of the default batch."""
    n, r, iterations, repeats, degrees = 500, 20, 32, 3, range(2, 9)
    if quick:
        n, r, iterations, repeats, degrees = 60, 5, 8, 1, range(2, 4)
    rng = np.random.RandomState(0)
    X = rng.uniform(-1.0, 1.0, (n, r))
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 3 + 0.1 * rng.randn(n)
    risk = Risk(Squared(), (y / y.std())[:, None], np.ones((n, 1)), True)
    rows: list[Facts] = []
    for D in degrees:
        oracle = Unbounded(build_oracle(Products(degree=D), X, normalize="trace", norm=2.0))
        row: Facts = {"D": D, "kernels": f"{math.comb(r + D, D):,}"}
        for solver in (Stochastic(batch=1), Stochastic()):
            options: dict[str, Any] = {"tol": 0.0, "max_iter": iterations}
            spent = []
            for seed in range(repeats):
                started = time.process_time()
                solver.run_family(oracle, risk, LpBall(2.0), rng=np.random.RandomState(seed), **options)
                spent.append(1e3 * (time.process_time() - started) / iterations)
            row[f"ms, {solver.batch} a batch"] = round(float(np.median(spent)), 1)
        rows.append(row)
    note = (
        "An iteration draws, weighs and solves for α. In milliseconds of one processor. Draws of a batch "
        "share the work of what they have in common, which is much for low degrees."
    )
    return f"The cost of an iteration of SGD-1s, r = {r}, n = {n}", rows, note

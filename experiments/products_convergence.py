"""Afkanpour 2013, Figs 6.1, 6.2: the objective against time; kernels drawn in two ways, or all at once."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manykernels.families import Products
from manykernels.grams import FactorGram, Gram, StackGram
from manykernels.kernels import Fitted
from manykernels.losses import Squared
from manykernels.objectives import Risk, Separable
from manykernels.oracles import Oracle, build_oracle
from manykernels.oracles.products import ProductsOracle
from manykernels.penalties import LpBall
from manykernels.solvers import Alternating, History, Run, Stochastic

from .data import Array
from .plots import Lines
from .products_real import SETS
from .products_synthetic import problem
from .tables import Facts, Report, Spread

# Afkanpour 2013 has four sets, and does not say which
NAMES, SEEDS = ("german", "ringnorm", "waveform", "sonar"), 5
SECONDS = (0.1, 0.3, 1.0, 3.0)
LONGER = (1.0, 3.0, 10.0, 20.0)
C, C_SYNTHETIC = 1e5, 1e3  # Afkanpour's regularisation, 10⁻⁵; and one at which 176,851 kernels do not fit all
SGD, UCD = "SGD-1s", "UCD"
FEATURES, MATRICES = "LPMKL, features", "LPMKL, matrices"
Curves = dict[str, "Clock"]
PLOTS = [
    Lines(
        f"products_convergence_{name}.png",
        name,
        "seconds of one processor",
        "P / bound − 1, mean ± sd",
        across="method",
        log="xy",
    )
    for name in (*NAMES, "synthetic")
]


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
    """Afkanpour's sets and the synthetic problem of 100 variables; the cost of an iteration."""
    seconds, seeds = ((0.05, 0.2), 2) if report.quick else (SECONDS, SEEDS)
    for name in NAMES[:1] if report.quick else NAMES:
        with report.leaving_out(name):
            draws = [training_part(name, seed, report.quick) for seed in range(seeds)]
            found = [compete(X, y, C, seconds[-1], seed) for seed, (X, y) in enumerate(draws)]
            report.table(*told(name, found, draws[0][0].shape, seconds))
    if not report.quick:
        draws = [problem(seed, 100).parts[0] for seed in range(seeds)]
        found = [
            compete(X, y, C_SYNTHETIC, LONGER[-1], seed, matrices=False) for seed, (X, y) in enumerate(draws)
        ]
        report.table(*told("synthetic", found, draws[0][0].shape, LONGER))
    report.table(*growth(report.quick))


def told(
    name: str, found: list[Curves], shape: tuple[int, ...], seconds: Sequence[float]
) -> tuple[str, list[Facts], str]:
    """The table of a set."""
    kernels = math.comb(shape[1] + 3, 3)
    title = f"{name}: P / bound − 1 after so many seconds; {kernels:,} kernels, {shape[0]} samples"
    return title, rows_of(found, seconds), NOTE


NOTE = (
    "Seconds of one processor; mean ± standard deviation over draws of the samples and of the kernels. The "
    "bound is the largest that any of the methods proves for the draw; nothing where a method has not looked "
    "at P by then in every draw."
)


def training_part(name: str, seed: int, quick: bool) -> tuple[Array, Array]:
    """As many samples as Afkanpour 2013 trains on, standardised."""
    source, (n, _, _) = SETS[name]
    data = source.load(m=100_000, quick=quick)
    rows = np.random.RandomState(seed).permutation(len(data.y))[:n]
    X, y = data.X[rows], data.y[rows]
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300), (y - y.mean()) / y.std()


def compete(X: Array, y: Array, C: float, limit: float, seed: int, matrices: bool = True) -> Curves:
    """Every method from its own start on the same problem: squared loss, θ in the L2 ball, degree ≤ 3.

    LPMKL, which is Kloft's, gets all kernels ready made, which is not counted: as features, n numbers a
    kernel, and as matrices, n² numbers a kernel, which is what Afkanpour 2013 gave it.
    """
    oracle = build_oracle(Products(degree=3), X, normalize="trace", norm=2.0)
    assert isinstance(oracle, ProductsOracle)
    gram = oracle.gram(list(oracle.atoms()))
    risk = Separable(Squared(), y[:, None], np.full((y.size, 1), C), True)
    curves = {
        SGD: timed(Stochastic().run, oracle, risk, limit, seed),
        UCD: timed(Stochastic(sampling="uniform").run, oracle, risk, limit, seed),
        FEATURES: timed(Alternating().run, gram, risk, limit, seed),
    }
    if matrices:
        assert isinstance(gram, FactorGram)
        F = np.ascontiguousarray((gram.features * np.sqrt(gram.scale)).T)
        stack = np.empty((len(F), y.size, y.size))
        np.multiply(F[:, :, None], F[:, None, :], out=stack)
        curves[MATRICES] = timed(Alternating().run, StackGram(stack), risk, limit, seed)
    return curves


def timed(solve: Any, family: Any, risk: Risk, limit: float, seed: int) -> Clock:
    """The history of a method, after two iterations that compile what it needs."""
    penalty = LpBall(2.0)
    solve(family, risk, penalty, Run(tol=1e-1, max_iter=2, rng=np.random.RandomState(0)))
    clock = Clock(limit=limit)
    rng = np.random.RandomState(seed)
    try:
        solve(family, risk, penalty, Run(tol=1e-6, max_iter=1 << 20, rng=rng, history=clock))
    except TimeUp:
        pass
    return clock


def rows_of(found: list[Curves], seconds: Sequence[float]) -> list[Facts]:
    bounds = [
        max(P * (1.0 - g) for c in curves.values() for P, g in zip(c.objective, c.gap, strict=True))
        for curves in found
    ]
    rows = []
    for name in found[0]:
        row: Facts = {"method": name}
        for t in seconds:
            reached = [curves[name].at(t) for curves in found]
            excess = [P / bound - 1.0 for P, bound in zip(reached, bounds, strict=True) if P is not None]
            row[f"{t:g}"] = Spread(excess, 4) if len(excess) == len(found) else None
        rows.append({**row, "looks": Spread([float(len(curves[name].seconds)) for curves in found], 0)})
    return rows


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
    """Milliseconds an iteration, D = 2 … 8, r = 20: one draw (Afkanpour 2013), or the default batch."""
    n, r, iterations, repeats, degrees = 500, 20, 32, 3, range(2, 9)
    if quick:
        n, r, iterations, repeats, degrees = 60, 5, 8, 1, range(2, 4)
    rng = np.random.RandomState(0)
    X = rng.uniform(-1.0, 1.0, (n, r))
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 3 + 0.1 * rng.randn(n)
    risk = Separable(Squared(), (y / y.std())[:, None], np.ones((n, 1)), True)
    rows: list[Facts] = []
    for D in degrees:
        oracle = Unbounded(build_oracle(Products(degree=D), X, normalize="trace", norm=2.0))
        row: Facts = {"D": D, "kernels": f"{math.comb(r + D, D):,}"}
        for solver in (Stochastic(batch=1), Stochastic()):
            spent = []
            for seed in range(repeats):
                run = Run(tol=0.0, max_iter=iterations, rng=np.random.RandomState(seed))
                started = time.process_time()
                solver.run(oracle, risk, LpBall(2.0), run)
                spent.append(1e3 * (time.process_time() - started) / iterations)
            row[f"ms, {solver.batch} a batch"] = round(float(np.median(spent)), 1)
        rows.append(row)
    note = (
        "An iteration draws, weighs and solves for α. In milliseconds of one processor. Draws of a batch "
        "share the work of what they have in common, which is much for low degrees."
    )
    return f"The cost of an iteration of SGD-1s, r = {r}, n = {n}", rows, note

"""SGD-1s where no list exists: 1,000 variables, degree 4 and 5, beside uniform draws, greedy, corrective."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manykernels.families import Products
from manykernels.losses import Squared
from manykernels.objectives import Separable
from manykernels.oracles import Draws, Oracle, build_oracle
from manykernels.penalties import LpBall, Penalty, Simplex
from manykernels.solvers import Corrective, Greedy, Run, Stochastic

from .plots import Lines
from .products_convergence import Clock, TimeUp, Unbounded
from .products_synthetic import problem
from .tables import Facts, Report, Spread

VARIABLES, SAMPLES, SEEDS, DEGREES, C = 1000, 150, 1, (4, 5), 0.1
SECONDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
BATCH, COSTS = 128, (2, 3, 4, 5, 6, 8)  # draws, and the degrees for which they are timed
PLOTS = [
    Lines(
        f"products_drawn_{D}.png",
        f"D = {D}, norm 1",
        "seconds of one processor",
        "P / P(0)",
        across="method",
        log="x",
        title=f"Ten products of five of 1,000 variables, D = {D}",
    )
    for D in DEGREES
]


@dataclass(frozen=True)
class Method:
    """A solver, whether it only draws, and the share of the time that it gets."""

    name: str
    solver: Any
    draws: bool = False
    share: float = 1.0


SGD = Method("SGD-1s", Stochastic(), True, 1 / 8)
UCD = Method("UCD", Stochastic(sampling="uniform"), True, 1 / 8)
NORMS: dict[str, tuple[Penalty, tuple[Method, ...]]] = {
    "norm 1": (
        Simplex(),
        (
            SGD,
            UCD,
            Method("greedy", Greedy("line-search")),
            Method("corrective at C", Corrective(add=10, steps=0)),
            Method("corrective", Corrective()),
        ),
    ),
    "norm 2": (LpBall(2.0), (SGD, UCD)),
}
NOTE = (
    "Seconds of one processor, with all that a method prepares. P is the least objective that a method has "
    "looked at by then, squared loss, C = 0.1, in units of P at θ = 0. Greedy and corrective search by the "
    "beam of the package, which has no bound here: nothing is certified. Corrective learning raises C along "
    "a path and looks at P at its end; 'at C' it begins at C itself, and adds at most ten products between "
    "looks. Methods that only draw have an eighth of the time; all stop at the first look after their "
    "time, which the last two columns tell."
)


class Drawn(Unbounded):
    """Neither summed over nor searched: draws by the gradient and uniform ones are all there is."""

    def sample_uniform(self, size: int, rng: np.random.RandomState) -> Draws:
        return self.family.sample_uniform(size, rng)


def run(report: Report) -> None:
    """P after so many seconds; at norm 1 all methods, at norm 2, the papers', those that draw."""
    r, n, seeds, degrees, seconds = VARIABLES, SAMPLES, SEEDS, DEGREES, SECONDS
    if report.quick:
        r, n, seeds, degrees, seconds = 12, 60, 1, (4,), (0.1, 0.3)
    for D in degrees:
        for norm, (penalty, methods) in NORMS.items():
            found = [
                {method.name: timed(method, penalty, seed, r, n, D, seconds[-1]) for method in methods}
                for seed in range(seeds)
            ]
            count = f"{math.comb(r + D, D):.1e} products, {n} samples"
            report.table(
                f"D = {D}, {norm}: P / P(0) after so many seconds; {count}", rows_of(found, seconds), NOTE
            )

    rows = [
        cost_of(d, *(12, 60) if report.quick else (20, 500)) for d in (COSTS[:2] if report.quick else COSTS)
    ]
    report.table(f"Milliseconds of one processor for {BATCH} draws by the gradient, by degree", rows, DRAWN)


DRAWN = "The least of five batches at a random dual point; the first also prepares sums over all products."


def cost_of(D: int, r: int, n: int) -> Facts:
    """The time of a batch of draws among all products of r variables up to degree D, on n samples."""
    rng = np.random.RandomState(0)
    X, A = rng.randn(n, r), rng.randn(n, 1)
    oracle = build_oracle(Products(degree=D), X, normalize="trace", norm=2.0)
    spent = []
    for _ in range(5):
        started = time.process_time()
        oracle.sample(A, BATCH, rng)
        spent.append(1e3 * (time.process_time() - started))
    row: Facts = {"D": D, "products": math.comb(r + D, D)}
    return row | {"first batch": Spread(spent[:1], 1), "milliseconds": Spread([min(spent)], 1)}


def timed(method: Method, penalty: Penalty, seed: int, r: int, n: int, D: int, limit: float) -> Clock:
    """The history of a method on ten products of the first five variables, objectives in units of P(0)."""
    X, y = problem(seed, r, n, 0, 10, variables=5, constant=False, noise=0.1).parts[0]
    risk = Separable(Squared(), y[:, None], np.full((n, 1), C), True)
    clock = Clock(limit=limit * method.share)
    oracle: Oracle = build_oracle(Products(degree=D), X, normalize="trace", norm=getattr(penalty, "p", 1.0))
    asked = Drawn(oracle) if method.draws else oracle
    rng = np.random.RandomState(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it stops early
            method.solver.run(asked, risk, penalty, Run(tol=1e-4, max_iter=1 << 20, rng=rng, history=clock))
    except TimeUp:
        pass
    start = risk.value(np.zeros((n, 1)))
    clock.objective[:] = [P / start for P in clock.objective]
    return clock


def rows_of(found: Sequence[dict[str, Clock]], seconds: Sequence[float]) -> list[Facts]:
    """A row for each method."""
    rows = []
    for name in found[0]:
        row: Facts = {"method": name}
        clocks = [curves[name] for curves in found]
        for t in seconds:
            known = [P for P in (clock.at(t) for clock in clocks if t <= clock.limit) if P is not None]
            row[f"{t:g}"] = Spread(known, 4) if len(known) == len(clocks) else None
        row["kernels"] = Spread([float(clock.active[-1]) for clock in clocks], 0)
        row["looks"] = Spread([float(len(clock.seconds)) for clock in clocks], 0)
        row["seconds"] = Spread([clock.seconds[-1] for clock in clocks], 1)
        rows.append({**row, "P at the end": Spread([min(clock.objective) for clock in clocks], 4)})
    return rows

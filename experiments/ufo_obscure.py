"""Orabona & Jie 2011, Fig. 2, top: UFO-MKL and OBSCURE, the objective against passes and seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from manykernels.grams import StackGram
from manykernels.grams.expansions import KernelExpansion
from manykernels.kernels import Gaussian, Kernel
from manykernels.losses import MulticlassHinge
from manykernels.solvers.ufo import UFO, GroupRegularizer, dual_exponent

from .baselines.obscure import Codes, Obscure
from .common import in_parallel
from .data import Array, stand_in, stored
from .plots import Lines
from .tables import Facts, Report, Spread

SETS = {"mfeat": (30, 8), "protein_fold": (15, 4)}  # samples a class, kernels a view: 48 of each
COSTS = (1.0, 10.0, 100.0, 1000.0)  # λ = 1/(CN), Orabona & Jie's grid
LOOKS = (1, 2, 4, 5, 6, 8, 16, 32, 64, 128, 256, 512)  # passes after which is looked
RACES, LONG = 5, 256  # draws, and passes for the lower bound
COST = 1000.0  # Orabona & Jie 2011: best for all
SPARSE = 1.01  # Orabona & Jie's p of OBSCURE where sparsity is wanted
METHODS = ("UFO-MKL", "OBSCURE")
PLOTS = [
    Lines(
        f"ufo_obscure_{name}.png",
        f"{name}: convergence",
        "passes",
        "log₁₀(f/bound − 1), mean ± sd",
        x="passes",
        y=tuple(f"{method}: log₁₀(f/bound − 1)" for method in METHODS),
        log="x",
    )
    for name in SETS
]
Look = dict[str, float]


class Problem(NamedTuple):
    """Kernels between training samples, and of test samples with them; labels 0, 1, …."""

    stack: Array
    y: Codes
    test: Array
    y_test: Codes

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1


# -- data -------------------------------------------------------------------------------------------
def views(name: str, quick: bool) -> tuple[list[Array], Codes]:
    """The views of all samples, and labels 0, 1, …."""
    if stand_in(quick):
        rng, y = np.random.RandomState(0), np.arange(72) % 3
        return [rng.standard_normal((72, 4)) + np.eye(3, 4)[y] * (v + 1) for v in range(3)], y
    data = stored(name, float)
    return [data.view(view) for view in data.views], np.unique(data.y, return_inverse=True)[1]


def distances(name: str, each: int, seed: int, quick: bool) -> tuple[Array, Codes, Array, Codes]:
    """(n, n, views) between so many samples of each class, and (m, n, views) of at most 500 others.

    Of small classes no more than half are taken. Euclidean on columns standardised by the training samples,
    in units of their mean.
    """
    (parts, y), rng = views(name, quick), np.random.RandomState(seed)
    order = rng.permutation(len(y))
    place = np.empty(len(y), dtype=int)  # of a sample among those of its class
    for c in range(int(y.max()) + 1):
        own = order[y[order] == c]
        place[own] = np.arange(own.size) - min(each, own.size // 2)
    train, test = order[place[order] < 0], order[place[order] >= 0][:500]
    D, D_test = (np.empty((rows.size, train.size, len(parts))) for rows in (train, test))
    for v, X in enumerate(parts):
        Z = (X - X[train].mean(axis=0)) / np.maximum(X[train].std(axis=0), 1e-12)
        D[:, :, v] = cdist(Z[train], Z[train])
        unit = D[:, :, v].mean()
        D[:, :, v] /= unit
        D_test[:, :, v] = cdist(Z[test], Z[train]) / unit
    return D, y[train], D_test, y[test]


def problem(name: str, each: int, count: int, seed: int, quick: bool) -> Problem:
    """exp(−d/γ) with so many γ from 0.01 to 100 for every view (Orabona & Jie 2011, §5.4)."""
    D, y, D_test, y_test = distances(name, each, seed, quick)
    rates = [float(1.0 / gamma) for gamma in np.geomspace(0.01, 100.0, count)]
    stacks = []
    for S in (D, D_test):
        stack = np.empty((S.shape[2] * count, *S.shape[:2]))
        for j in range(len(stack)):
            np.exp(-rates[j % count] * S[:, :, j // count], out=stack[j])
        stacks.append(stack)
    return Problem(stacks[0], y, stacks[1], y_test)


# -- the two methods --------------------------------------------------------------------------------
class Ultra:
    """UFO-MKL with stored Gram matrices, of which the same is asked as of `Obscure`."""

    def __init__(self, given: Problem, lam: float, alpha: float, q: float) -> None:
        F, n, _ = given.stack.shape
        kernels: list[Kernel] = [Gaussian(1.0)] * F  # their values are in the stack
        self.loss, self.Y = MulticlassHinge(), given.y[:, None].astype(float)
        self.expansion = KernelExpansion(
            kernels, given.n_classes, constant=False, gram=StackGram(given.stack)
        )
        self.rows = self.expansion.enter(np.arange(n))
        self.state = UFO(GroupRegularizer(lam, alpha, q), F)

    def advance(self, order: Codes) -> None:
        self.state.advance(self.expansion, self.loss, self.rows[order], self.Y[order])

    @property
    def norms(self) -> Array:
        return np.asarray(self.state.s * self.state.sizes)

    @property
    def objective(self) -> float:
        return self.state.primal(self.expansion, self.loss, self.rows, self.Y)

    @property
    def bound(self) -> float:
        """Below the minimum of f."""
        return self.state.dual(self.expansion, self.loss, self.Y)

    def decide(self, stack: Array) -> Array:
        return np.asarray(np.einsum("j,jmn->mn", self.state.s, stack) @ self.expansion.coef)


def followed(make: Callable[[], Any], given: Problem, looks: tuple[int, ...], seed: int) -> list[Look]:
    """What is reached after so many passes; looking is not timed, and neither is the compiler."""
    make().advance(np.arange(len(given.y)))
    model, rng, spent, found = make(), np.random.RandomState(seed), 0.0, []
    for done in range(1, max(looks) + 1):
        order = rng.permutation(len(given.y))
        started = time.process_time()
        model.advance(order)
        spent += time.process_time() - started
        if done in looks:
            right = 100.0 * float(np.mean(model.decide(given.test).argmax(axis=1) == given.y_test))
            facts = {"passes": float(done), "seconds": spent, "f": model.objective, "accuracy": right}
            found.append(facts | {"kernels": float(np.count_nonzero(model.norms))})
    return found


# -- convergence ------------------------------------------------------------------------------------
def race(set_name: str, cost: float, seed: int, quick: bool) -> tuple[dict[str, list[Look]], float]:
    """Both methods on one draw, and a lower bound on the minimum of f."""
    given = problem(set_name, *(SETS[set_name] if not quick else (8, 2)), seed, quick)
    n, q, looks = len(given.y), dual_exponent(len(given.stack)), LOOKS[:6] if quick else LOOKS
    lam = 1.0 / (cost * n)
    makes: list[Callable[[], Any]] = [
        lambda: Ultra(given, lam, 0.0, q),
        lambda: Obscure(given.stack, given.y, lam, q),
    ]
    found = {name: followed(make, given, looks, seed) for name, make in zip(METHODS, makes, strict=True)}
    bounds = (bound(given, lam, start, q, 20 if quick else LONG) for start in {lam, max(lam, 0.1 / n)})
    return found, max(bounds)


def bound(given: Problem, lam: float, start: float, q: float, passes: int) -> float:
    """A dual value of f, of what many passes found with λ = `start`.

    Where samples can be told apart the dual variables of a larger λ are those of a smaller one but for a
    factor, and are found sooner.
    """
    model, rng = Ultra(given, start, 0.0, q), np.random.RandomState(0)
    for _ in range(passes):
        model.advance(rng.permutation(len(given.y)))
    model.state.regularize(GroupRegularizer(lam, 0.0, q))
    return model.bound


def race_rows(found: list[tuple[dict[str, list[Look]], float]]) -> list[Facts]:
    """Excess over the bound, seconds and accuracy after 1, 2, 4 … passes."""
    rows: list[Facts] = []
    for k, look in enumerate(found[0][0]["UFO-MKL"]):
        row: Facts = {"passes": int(look["passes"])}
        excess = {m: [curves[m][k]["f"] / least - 1.0 for curves, least in found] for m in found[0][0]}
        for method, values in excess.items():
            row[f"{method}: log₁₀(f/bound − 1)"] = Spread([float(np.log10(v)) for v in values], 2)
        lower = sum(a < b for a, b in zip(*excess.values(), strict=True))
        row["UFO-MKL lower in"] = f"{lower} of {len(found)}"
        for method in excess:
            row[f"{method}: seconds"] = Spread([curves[method][k]["seconds"] for curves, _ in found], 2)
        for method in excess:
            row[f"{method}: accuracy"] = Spread([curves[method][k]["accuracy"] for curves, _ in found], 1)
        rows.append(row)
    return rows


def mean(given: Problem) -> Look:
    """An SVM for each pair of classes on the mean of all kernels, as a yardstick."""
    started = time.process_time()
    machine = SVC(C=COST, kernel="precomputed").fit(given.stack.mean(axis=0), given.y)
    spent = time.process_time() - started
    right = 100.0 * float(np.mean(machine.predict(given.test.mean(axis=0)) == given.y_test))
    return {"accuracy": right, "seconds": spent, "kernels": float(len(given.stack))}


def run(report: Report) -> None:
    """For each set a table of convergence for every λ."""
    quick = report.quick
    for name in SETS:
        with report.leaving_out(name):
            for cost in COSTS[::2] if quick else COSTS:
                races = [(name, cost, seed, quick) for seed in range(2 if quick else RACES)]
                rows = race_rows(in_parallel(race, races, quick))
                report.table(f"{name}: convergence, λ = 1/({cost:g} N)", rows, RACE)


RACE = (
    f"{RACES} draws, 48 kernels, α = 0 and q = 2 log F: one objective for both. OBSCURE's passes are those "
    f"of both stages, {LOOKS[3]} at most of the first. The bound is a dual value of UFO-MKL, {LONG} passes "
    "at this λ or at 1/(10 N). Seconds of one processor, all Gram matrices ready, both compiled. "
    "Mean ± standard deviation."
)

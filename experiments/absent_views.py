"""Samples that lack views: a mean in their place, beside zeros, rescaling, medians and complete cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import Subset, Views, resolve_kernels, views
from manykernels.kernels import Fitted

from .data import Array, _read
from .tables import Facts, Report, Spread
from .trials import in_parallel

Mask = NDArray[np.bool_]
TASKS = {"breast_tcga": 3, "3sources": 3, "prokaryotic": 3, "protein_fold": 12, "mfeat": 6}  # set -> views
QUICK = {"synthetic": 2}
RATES = (0.3, 0.6)
DRAWS = 10
MOST = 500  # samples of a set; half of them to learn from
KERNELS = ("Linear", "Gaussian(0.5 × median)", "Gaussian(1 × median)")  # of every view, of those of "auto"
CS = (1.0, 10.0, 100.0)
FEWEST = 10  # complete cases to learn from; with fewer, the commonest class


@dataclass(frozen=True)
class Problem:
    """Samples with blocks removed (X is NaN there), and which views each has."""

    X: Array
    y: Any
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    columns: dict[str, list[int]]
    having: Mask  # (n, views)

    @property
    def spec(self) -> Views:
        return views({view: (columns, Subset("auto", KERNELS)) for view, columns in self.columns.items()})


def loaded(name: str, quick: bool = False) -> tuple[list[Array], Any]:
    """The views of a set, and its classes; of breast_tcga the samples that have all views."""
    if quick:
        rng = np.random.RandomState(0)
        y = np.arange(80) % 2
        return [rng.standard_normal((80, 3)) + y[:, None] for _ in range(QUICK[name])], y
    y, *parts = _read(name, "y", *(f"V{v}" for v in range(TASKS[name])))
    rows = _read(name, "train")[0] if name == "breast_tcga" else np.arange(len(y))
    return [np.asarray(part[rows], dtype=float) for part in parts], y[rows]


def removed(y: Any, count: int, rate: float, by_class: bool, rng: np.random.RandomState) -> Mask:
    """Which views each sample has, at least one: removed by chance, or more often in half of the classes.

    By class, each view is removed at 1.6 times the rate (at most 0.95) in half of the classes, drawn for
    every view, and less often in the others, so that the mean stays the rate.
    """
    p = np.full((len(y), count), rate)
    classes = np.unique(y)
    for v in range(count) if by_class else ():
        often = rng.permutation(classes)[: len(classes) // 2]
        high = min(1.6 * rate, 0.95)
        p[:, v] = np.where(np.isin(y, often), high, 2.0 * rate - high)
    having = rng.uniform(size=p.shape) >= p
    empty = np.flatnonzero(~having.any(axis=1))
    having[empty, rng.randint(count, size=empty.size)] = True
    return np.asarray(having)


def drawn(name: str, rate: float, by_class: bool, seed: int, quick: bool = False) -> Problem:
    parts, y = loaded(name, quick)
    rng = np.random.RandomState(seed)
    rows = rng.permutation(len(y))[:MOST]
    having = removed(y[rows], len(parts), rate, by_class, rng)
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    columns = {f"V{v}": list(range(ends[v], ends[v + 1])) for v in range(len(parts))}
    X = np.hstack([np.where(having[:, [v]], part[rows], np.nan) for v, part in enumerate(parts)])
    half = len(rows) // 2
    return Problem(X, y[rows], np.arange(half), np.arange(half, len(rows)), columns, having)


# -- methods ----------------------------------------------------------------------------------------
def score(X: Any, p: Problem, kernels: Any, rows: NDArray[np.intp] | None = None) -> tuple[float, float]:
    """(per cent wrong, gap) of the norm 2 and squared loss; C by a third of the training samples held out.

    X is a table, or a stack of all samples; `rows` are those to learn from, by default all for training.
    """
    rows = p.train if rows is None else rows
    order = np.random.RandomState(0).permutation(rows)
    held, first = order[: len(order) // 3], order[len(order) // 3 :]

    def fitted(C: float, train: NDArray[np.intp]) -> MKLClassifier:
        model = MKLClassifier(kernels, loss="squared", norm=2.0, C=C)
        return model.fit(X[np.ix_(train, train)] if X.ndim == 3 else X[train], p.y[train])

    def hits(model: MKLClassifier, train: NDArray[np.intp], new: NDArray[np.intp]) -> float:
        return float(model.score(X[np.ix_(new, train)] if X.ndim == 3 else X[new], p.y[new]))

    best = CS[int(np.argmax([hits(fitted(C, first), first, held) for C in CS]))]
    model = fitted(best, rows)
    return 100.0 * (1.0 - hits(model, rows, p.test)), float(model.dual_gap_)


def mean(p: Problem) -> tuple[float, float]:
    """What the package does."""
    return score(p.X, p, p.spec)


def medians(p: Problem) -> tuple[float, float]:
    """Every cell that is missing filled with the median of the training samples."""
    middle = np.nan_to_num(np.nanmedian(p.X[p.train], axis=0))
    return score(np.where(np.isnan(p.X), middle, p.X), p, p.spec)


def complete(p: Problem) -> tuple[float, float]:
    """Learned from samples that have all views; new ones are filled with the medians of these."""
    rows = p.train[p.having[p.train].all(axis=1)]
    labels, counts = np.unique(p.y[p.train], return_counts=True)
    if len(rows) < FEWEST or len(np.unique(p.y[rows[: 2 * len(rows) // 3]])) < 2:
        return 100.0 * float(np.mean(p.y[p.test] != labels[counts.argmax()])), 0.0
    X = np.where(np.isnan(p.X), np.median(p.X[rows], axis=0), p.X)
    return score(X, p, p.spec, rows)


def stacked(p: Problem, own: bool, zero: bool = False) -> Array:
    """The kernels of all samples with the constants of the training samples, centred unless `zero`."""
    train, layers = p.X[p.train], []
    for kernel in resolve_kernels(p.spec, train).values():
        fitted = Fitted(kernel, center=not zero, normalize="trace").fit(train)
        assert fitted.rest_ is not None
        if not own:
            fitted.rest_.own = 0.0
        layers.append(kernel(p.X) * fitted.scale_ if zero else fitted(p.X))
    return np.stack(layers, axis=2)


def zero(p: Problem) -> tuple[float, float]:
    """Kernels that are not centred, zero where a view is absent."""
    return score(stacked(p, False, zero=True), p, "precomputed")


def neutral(p: Problem) -> tuple[float, float]:
    """The mean alone: absence says nothing."""
    return score(stacked(p, False), p, "precomputed")


def told(p: Problem) -> tuple[float, float]:
    """The mean, and a linear kernel of who has which views."""
    S = p.having - p.having[p.train].mean(axis=0)
    K = S @ S.T
    return score(np.dstack([stacked(p, False), K / K[p.train, p.train].mean()]), p, "precomputed")


def rescaled(p: Problem) -> tuple[float, float]:
    """The package's kernels times √(views / views that are there) of both samples."""
    c = np.sqrt(p.having.shape[1] / p.having.sum(axis=1))
    return score(stacked(p, True) * np.outer(c, c)[:, :, None], p, "precomputed")


METHODS: dict[str, Callable[[Problem], tuple[float, float]]] = {
    "mean": mean,
    "zero": zero,
    "mean, silent": neutral,
    "mean + kernel of presence": told,
    "rescaled": rescaled,
    "medians": medians,
    "complete cases": complete,
}


def trial(name: str, rate: float, by_class: bool, seed: int, quick: bool) -> dict[str, tuple[float, float]]:
    p = drawn(name, rate, by_class, seed, quick)
    return {method: run_one(p) for method, run_one in METHODS.items()}


# -- other questions ----------------------------------------------------------------------------------
def protein() -> list[Facts]:
    """The test samples of breast_tcga, which lack protein: by a model that was fitted with it."""
    parts = _read("breast_tcga", "V0", "V1", "V2")
    y, train, test = _read("breast_tcga", "y", "train", "test")
    X = np.hstack(parts)
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    columns = {f"V{v}": list(range(ends[v], ends[v + 1])) for v in range(3)}
    rows = []
    for given, used in (
        ("all three, in training", columns),
        ("without protein", dict(list(columns.items())[:2])),
    ):
        p = Problem(X, y, train, test, used, np.ones((len(y), len(used)), dtype=bool))
        wrong, gap = score(X, p, p.spec)
        rows.append({"views": given, "train": len(train), "test": len(test), "% wrong": wrong, "gap": gap})
    return rows


def independent(seed: int, quick: bool) -> dict[str, float]:
    """R² where two views say different things: y = f(a) + g(b), half of the blocks removed."""
    rng, n = np.random.RandomState(seed), 100 if quick else 400
    X = rng.standard_normal((n, 6))
    y = 2.0 * np.sin(X[:, 0]) + X[:, 3] + 0.2 * rng.standard_normal(n)
    having = removed(np.zeros(n), 2, 0.5, False, rng)
    X[~having[:, 0], :3], X[~having[:, 1], 3:] = np.nan, np.nan
    half = n // 2
    p = Problem(X, y, np.arange(half), np.arange(half, n), {"a": [0, 1, 2], "b": [3, 4, 5]}, having)
    c = np.sqrt(2.0 / having.sum(axis=1))
    found = {}
    for name, K in (("mean", stacked(p, True)), ("rescaled", stacked(p, True) * np.outer(c, c)[:, :, None])):
        model = MKLRegressor("precomputed", norm=2.0, C=10.0)
        model.fit(K[np.ix_(p.train, p.train)], y[p.train])
        found[name] = float(model.score(K[np.ix_(p.test, p.train)], y[p.test]))
    return found


# -- tables -------------------------------------------------------------------------------------------
def run(report: Report) -> None:
    sets, draws = list(QUICK if report.quick else TASKS), 2 if report.quick else DRAWS
    cases = [(name, rate, by) for name in sets for by in (False, True) for rate in RATES]
    found = {}
    for case in cases:
        with report.leaving_out(case[0]):
            arguments = [(*case, seed, report.quick) for seed in range(draws)]
            found[case] = in_parallel(trial, arguments, report.quick)
    report.table("Per cent wrong", [error_row(case, runs) for case, runs in found.items()], ERRORS)
    report.table("Less the errors of the package", [paired_row(*one) for one in found.items()], PAIRED)
    if not report.quick:
        with report.leaving_out("breast_tcga"):
            report.table("Test samples without protein", protein(), PROTEIN)
    made = in_parallel(independent, [(seed, report.quick) for seed in range(draws)], report.quick)
    row = {name: Spread([one[name] for one in made]) for name in made[0]}
    report.table("R² where views say different things", [row], MADE)


ERRORS = (
    "Mean ± standard deviation over draws of samples (at most 500, half of them to learn from) and blocks. "
    "Linear and two Gaussian kernels of every view, squared loss, norm 2, C of three by held-out samples. "
    "mean: the package. gap: its largest."
)
PAIRED = (
    "Error of the others less that of the package in the same draws ± its standard error: positive where the "
    "package is better. worst: the difference from medians or complete cases, in standard errors, that is "
    "least."
)
PROTEIN = "The 70 test samples of breast_tcga lack protein; no new fit for them."
MADE = "y = 2 sin a + b with independent views a and b, half of the blocks removed by chance; C = 10."


def _case(case: tuple[str, float, bool]) -> Facts:
    name, rate, by_class = case
    return {"set": name, "removed": f"{rate:.0%}", "by": "class" if by_class else "chance"}


def error_row(case: tuple[str, float, bool], runs: list[dict[str, tuple[float, float]]]) -> Facts:
    errors = {method: Spread([one[method][0] for one in runs], 1) for method in METHODS}
    return _case(case) | errors | {"gap": max(one["mean"][1] for one in runs)}


def paired_row(case: tuple[str, float, bool], runs: list[dict[str, tuple[float, float]]]) -> Facts:
    row, worst = _case(case), []
    for method in list(METHODS)[1:]:
        apart = np.array([one[method][0] - one["mean"][0] for one in runs])
        error = float(apart.std(ddof=1) / np.sqrt(len(apart)))
        row[method] = f"{apart.mean():+.1f} ± {error:.1f}"
        if method in ("medians", "complete cases"):
            worst.append(float(apart.mean() / max(error, 1e-9)))
    return row | {"worst": round(min(worst), 1)}

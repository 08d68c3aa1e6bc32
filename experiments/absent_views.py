"""Samples that lack views: a mean in their place, rescaled or not, zeros, medians and complete cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import Subset, Views, resolve_kernels, views
from manykernels.kernels.presence import TOLD

from .data import Array, _read
from .tables import Facts, Report, Spread
from .trials import in_parallel

Mask = NDArray[np.bool_]
TASKS = {"breast_tcga": 3, "3sources": 3, "prokaryotic": 3, "protein_fold": 12, "mfeat": 6}  # set -> views
QUICK = {"synthetic": 2}
RATES = (0.3, 0.6)
DRAWS = 10
MOST = 400  # samples of a set; half of them to learn from
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
def score(
    K: Array, p: Problem, rows: NDArray[np.intp] | None = None, Z: Array | None = None
) -> tuple[float, float]:
    """(per cent wrong, gap) of the norm 2 and squared loss; C by a third of the training samples held out.

    K is a stack of all samples, Z holds their covariates; `rows` are those to learn from, by default all for
    training.
    """
    rows = p.train if rows is None else rows
    order = np.random.RandomState(0).permutation(rows)
    held, first = order[: len(order) // 3], order[len(order) // 3 :]

    def fitted(C: float, train: NDArray[np.intp]) -> MKLClassifier:
        model = MKLClassifier("precomputed", loss="squared", norm=2.0, C=C)
        return model.fit(K[np.ix_(train, train)], p.y[train], covariates=None if Z is None else Z[train])

    def hits(model: MKLClassifier, train: NDArray[np.intp], new: NDArray[np.intp]) -> float:
        said = model.predict(K[np.ix_(new, train)], covariates=None if Z is None else Z[new])
        return float(np.mean(said == p.y[new]))

    best = CS[int(np.argmax([hits(fitted(C, first), first, held) for C in CS]))]
    model = fitted(best, rows)
    return 100.0 * (1.0 - hits(model, rows, p.test)), float(model.dual_gap_)


def raw(p: Problem, X: Array, rows: NDArray[np.intp]) -> Array:
    """The kernels of all samples, made from those of `rows`; zero for samples that lack the view."""
    return np.stack([kernel(X) for kernel in resolve_kernels(p.spec, X[rows]).values()], axis=2)


def layers(p: Problem, K: Array) -> list[tuple[Array, Mask, NDArray[np.intp]]]:
    """Each kernel, who has its view, and which of the training samples have it."""
    each = [p.having[:, m // len(KERNELS)] for m in range(K.shape[2])]
    return [(K[:, :, m], s, p.train[s[p.train]]) for m, s in enumerate(each)]


def rescaled(p: Problem, K: Array) -> tuple[float, float]:
    """What the package does, of classes: NaN where a sample lacks the view."""
    given = [np.where(s[:, None] & s, A, np.nan) for A, s, _ in layers(p, K)]
    return score(np.stack(given, axis=2), p)


def zero(p: Problem, K: Array) -> tuple[float, float]:
    """Kernels that are not centred, zero where a view is absent."""
    return score(np.stack([A / np.diag(A)[here].mean() for A, _, here in layers(p, K)], axis=2), p)


def centred(p: Problem, K: Array, own: float) -> Array:
    """Kernels centred over the training samples that have the view; absent ones have `own` in common."""
    found = []
    for A, s, here in layers(p, K):
        r = A[:, here].mean(axis=1)
        A = (A - r[:, None] - r + r[here].mean()) * s[:, None] * s
        found.append(A / np.diag(A)[here].mean() + own * np.outer(~s, ~s))
    return np.stack(found, axis=2)


def mean(p: Problem, K: Array) -> tuple[float, float]:
    """The same, not rescaled to the views that are there, as the package does of numbers."""
    return score(centred(p, K, TOLD), p)


def neutral(p: Problem, K: Array) -> tuple[float, float]:
    """The mean alone: absence says nothing."""
    return score(centred(p, K, 0.0), p)


def told(p: Problem, K: Array) -> tuple[float, float]:
    """The mean, and a linear kernel of who has which views."""
    S = p.having - p.having[p.train].mean(axis=0)
    L = S @ S.T
    return score(np.dstack([centred(p, K, 0.0), L / L[p.train, p.train].mean()]), p)


def adjusted(p: Problem, K: Array) -> tuple[float, float]:
    """The mean, and who lacks which views as covariates, which are not penalised."""
    lacks = (~p.having).astype(float)
    varies = lacks[p.train].any(axis=0) & ~lacks[p.train].all(axis=0)
    return score(centred(p, K, 0.0), p, Z=lacks[:, varies])


def medians(p: Problem, K: Array) -> tuple[float, float]:
    """Every cell that is missing filled with the median of the training samples."""
    middle = np.nan_to_num(np.nanmedian(p.X[p.train], axis=0))
    return score(raw(p, np.where(np.isnan(p.X), middle, p.X), p.train), p)


def complete(p: Problem, K: Array) -> tuple[float, float]:
    """Learned from samples that have all views; new ones are filled with the medians of these."""
    rows = p.train[p.having[p.train].all(axis=1)]
    labels, counts = np.unique(p.y[p.train], return_counts=True)
    first = np.random.RandomState(0).permutation(rows)[len(rows) // 3 :]
    if len(rows) < FEWEST or len(np.unique(p.y[first])) < 2:
        return 100.0 * float(np.mean(p.y[p.test] != labels[counts.argmax()])), 0.0
    return score(raw(p, np.where(np.isnan(p.X), np.median(p.X[rows], axis=0), p.X), rows), p, rows)


METHODS: dict[str, Callable[[Problem, Array], tuple[float, float]]] = {
    "rescaled": rescaled,
    "mean": mean,
    "zero": zero,
    "mean, silent": neutral,
    "mean + kernel of presence": told,
    "mean + covariates of presence": adjusted,
    "medians": medians,
    "complete cases": complete,
}


def trial(name: str, rate: float, by_class: bool, seed: int, quick: bool) -> dict[str, tuple[float, float]]:
    p = drawn(name, rate, by_class, seed, quick)
    K = raw(p, p.X, p.train)
    return {method: run_one(p, K) for method, run_one in METHODS.items()}


# -- other questions ----------------------------------------------------------------------------------
def protein() -> list[Facts]:
    """The test samples of breast_tcga, which lack protein: by a model that was fitted with it."""
    parts = _read("breast_tcga", "V0", "V1", "V2")
    y, train, test = _read("breast_tcga", "y", "train", "test")
    X = np.hstack(parts)
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    columns = {f"V{v}": list(range(ends[v], ends[v + 1])) for v in range(3)}
    rows = []
    for given, count in (("all three in training", 3), ("without protein", 2)):
        spec = views({name: (columns[name], Subset("auto", KERNELS)) for name in list(columns)[:count]})
        model = MKLClassifier(spec, loss="squared", norm=2.0, C=10.0).fit(X[train], y[train])
        wrong = 100.0 * (1.0 - model.score(X[test], y[test]))
        gap = float(model.dual_gap_)
        rows.append({"views": given, "train": len(train), "test": len(test), "% wrong": wrong, "gap": gap})
    return rows


def independent(seed: int, complete: bool, quick: bool) -> dict[str, float]:
    """R² where two views say different things: y = f(a) + g(b), half of the blocks removed.

    Where training samples are `complete`, only test samples lack blocks.
    """
    rng, n = np.random.RandomState(seed), 100 if quick else 400
    X = rng.standard_normal((n, 6))
    y = 2.0 * np.sin(X[:, 0]) + X[:, 3] + 0.2 * rng.standard_normal(n)
    having, half = removed(np.zeros(n), 2, 0.5, False, rng), n // 2
    having[:half] |= complete
    X[~having[:, 0], :3], X[~having[:, 1], 3:] = np.nan, np.nan
    p = Problem(X, y, np.arange(half), np.arange(half, n), {"a": [0, 1, 2], "b": [3, 4, 5]}, having)
    K, c, found = centred(p, raw(p, X, p.train), TOLD), np.sqrt(2.0 / having.sum(axis=1)), {}
    for name, A in (("mean", K), ("rescaled", K * np.outer(c, c)[:, :, None])):
        model = MKLRegressor("precomputed", norm=2.0, C=10.0)
        model.fit(A[np.ix_(p.train, p.train)], y[p.train])
        found[name] = float(model.score(A[np.ix_(p.test, p.train)], y[p.test]))
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
    rows = []
    for complete in (False, True):
        arguments = [(seed, complete, report.quick) for seed in range(draws)]
        made = in_parallel(independent, arguments, report.quick)
        row = {name: Spread([one[name] for one in made]) for name in made[0]}
        apart = [one["rescaled"] - one["mean"] for one in made]
        rows.append({"lacking": "test samples" if complete else "all samples", **row, "apart": Spread(apart)})
    report.table("R² where views say different things", rows, MADE)


ERRORS = (
    "Mean ± standard deviation over draws of samples (at most 400, half of them to learn from) and blocks. "
    "Linear and two Gaussian kernels of every view, squared loss, norm 2, C of three by held-out samples. "
    "rescaled: the package. gap: its largest."
)
PAIRED = (
    "Error of the others less that of the package in the same draws ± its standard error: positive where the "
    "package is better. worst: the difference from medians or complete cases, in standard errors, that is "
    "least."
)
PROTEIN = "The 70 test samples of breast_tcga lack protein; no new fit for them. C = 10."
MADE = (
    "y = 2 sin a + b with independent views a and b, half of the blocks removed by chance, of all samples or "
    "of those to test on; C = 10. mean: the package, of numbers. apart: rescaled less mean."
)


def _case(case: tuple[str, float, bool]) -> Facts:
    name, rate, by_class = case
    return {"set": name, "removed": f"{rate:.0%}", "by": "class" if by_class else "chance"}


def error_row(case: tuple[str, float, bool], runs: list[dict[str, tuple[float, float]]]) -> Facts:
    errors = {method: Spread([one[method][0] for one in runs], 1) for method in METHODS}
    return _case(case) | errors | {"gap": max(one["rescaled"][1] for one in runs)}


def paired_row(case: tuple[str, float, bool], runs: list[dict[str, tuple[float, float]]]) -> Facts:
    row, worst = _case(case), []
    for method in list(METHODS)[1:]:
        apart = np.array([one[method][0] - one["rescaled"][0] for one in runs])
        error = float(apart.std(ddof=1) / np.sqrt(len(apart)))
        row[method] = f"{apart.mean():+.1f} ± {error:.1f}"
        if method in ("medians", "complete cases"):
            worst.append(float(apart.mean() / max(error, 1e-9)))
    return row | {"worst": round(min(worst), 1)}

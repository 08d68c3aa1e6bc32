"""Lei et al. 2016: weights by region against global ones, on two made problems and ten real sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from manykernels import LocalizedMKLClassifier, LocalizedMKLRegressor, MKLClassifier, MKLRegressor
from manykernels.datasets import make_regions_views, make_regions_widths
from manykernels.kernels import Gaussian, Kernel, Linear, OnColumns

from .common import in_parallel
from .continuous_digits import Part, draw
from .continuous_ranks import SETS, standardised
from .data import Array, Source, Task, three_parts
from .tables import Facts, Report, Spread

SEEDS, DRAWS = 20, 10
SIZES = (150, 150, 2000)  # samples to train on, to choose on, to test on
REAL = {file: sizes for file, sizes in SETS.values() if file.startswith("ida_")}
REAL |= {"ida_titanic": (150, 150, 1000), "sonar": (90, 40, 78)}
COSTS: dict[Task, list[float]] = {
    "classification": [10.0**k for k in range(-1, 3)],
    "regression": [10.0**k for k in range(4)],
}
CLUSTERS, TEMPERATURES, NORMS = (2, 3), (0.1, 0.5, 2.0), (1.0, 2.0)
GLOBAL, SOFT, HARD, EITHER = "global", "CLMKL", "HLMKL", "CLMKL or global"
SOFTMAX, SIGMOID = "LMKL", "LMKL, sigmoid"
GATES = {SOFTMAX: "softmax", SIGMOID: "sigmoid"}
STEPS = 200  # of gradient descent for the gates of LMKL, at most
Candidate = tuple[str, Facts, Callable[[], Any]]


def run(report: Report) -> None:
    """Made problems, real sets, and what was chosen."""
    quick = report.quick
    seeds, sizes = (2, (40, 30, 100)) if quick else (SEEDS, SIZES)
    found = {}
    for name in PROBLEMS:
        found[name] = in_parallel(made_trial, [(name, seed, sizes, quick) for seed in range(seeds)], quick)
        print(f"{name} is done", flush=True)
    report.table("The right kernel differs by region", made_rows(found), MADE)
    report.table("What was chosen there", chosen_rows(found))
    real = {}
    for name in list(REAL)[: 1 if quick else None]:
        with report.leaving_out(name):
            real[name] = real_trials(name, quick)
    if not real:
        return
    report.table("Real sets, per cent wrong", real_rows(real), NOTE)
    report.table("Real sets, less the errors of global learning in the same draw", paired_rows(real), PAIRED)


MADE = (
    f"{SEEDS} draws of {SIZES[0]} samples to train on, {SIZES[1]} to choose on, {SIZES[2]} to test on. "
    "views: per cent wrong; two views of six features, and a third that says in which of two regions a "
    "sample is; the label is linear in the first view in one region, in the second in the other. "
    "widths: squared error of the noiseless target, in per cent of its variance; smooth in three "
    "features in one region, five periods of a sine in the other. C and norm (1 or 2) of all methods, "
    "and clusters (2 or 3) and temperature (0.1, 0.5 or 2) of CLMKL, are the best on the validation "
    'part. HLMKL has hard clusters. LMKL is that of Gönen and Alpaydın (`gating="softmax"`, and '
    '`"sigmoid"`), its gates linear in x and learned with the machine by gradient descent, not convex. '
    "'less global's': mean and standard error of the paired differences."
)
NOTE = (
    f"{DRAWS} draws with the sizes of Afkanpour 2013, Table 6.2, features standardised by the training "
    "part; a linear "
    "kernel and Gaussians of five widths from √d/4 to 4√d; norm 2; C from 0.1 to 100. 'CLMKL or global' "
    "takes the number of clusters, 1 among them, by the validation part."
)
PAIRED = "Mean ± standard error of the paired differences, and in brackets the one over the other."


# -- problems ---------------------------------------------------------------------------------------
def views_problem(seed: int, sizes: tuple[int, int, int]) -> list[Part]:
    """Which of two views is informative depends on a third."""
    X, y = make_regions_views(sum(sizes), random_state=seed)
    return _parts(X, y, y, sizes)


def widths_problem(seed: int, sizes: tuple[int, int, int]) -> list[Part]:
    """Smooth in three features on the left; on the right samples lie on a line, along which it is wiggly."""
    X, y, truth = make_regions_widths(sum(sizes), random_state=seed)
    return _parts(X, y, truth, sizes)


def _parts(X: Array, y: Array, truth: Array, sizes: tuple[int, int, int]) -> list[Part]:
    a, b = np.cumsum(sizes)[:2]
    return [(X[:a], y[:a]), (X[a:b], y[a:b]), (X[b:], truth[b:])]


VIEWS: list[Kernel] = [
    OnColumns(Gaussian(2.0), [0, 1], name="place"),
    OnColumns(Gaussian(4.0), list(range(2, 8)), name="first"),
    OnColumns(Gaussian(4.0), list(range(8, 14)), name="second"),
]
WIDTHS: list[Kernel] = [Gaussian(0.05 * 2.0**k) for k in range(7)]
PROBLEMS: dict[str, tuple[Callable[..., list[Part]], list[Kernel], Task]] = {
    "views": (views_problem, VIEWS, "classification"),
    "widths": (widths_problem, WIDTHS, "regression"),
}


# -- methods ----------------------------------------------------------------------------------------
def candidates(
    kernels: list[Kernel], task: Task, norms: tuple[float, ...], quick: bool
) -> Iterator[Candidate]:
    """(method, its parameters, a function that makes it), from much regularisation to little."""
    whole, local = (
        (MKLClassifier, LocalizedMKLClassifier)
        if task == "classification"
        else (MKLRegressor, LocalizedMKLRegressor)
    )
    costs = COSTS[task][1:3] if quick else COSTS[task]
    clusters, temperatures = (CLUSTERS[:1], TEMPERATURES[:1]) if quick else (CLUSTERS, TEMPERATURES)
    for C, norm in product(costs, norms[:1] if quick else norms):
        common: Facts = {"C": C, "norm": norm}
        yield GLOBAL, common, lambda c=common: whole(kernels, max_iter=100, **c)
        for l in clusters:
            fixed: Facts = {**common, "n_clusters": l}
            options: Facts = {"max_iter": 100, "random_state": 0}
            yield HARD, fixed, lambda f=fixed, o=options: local(kernels, gating="hard", **f, **o)
            for t in temperatures:
                soft: Facts = {**fixed, "temperature": t}
                yield SOFT, soft, lambda f=soft, o=options: local(kernels, **f, **o)
    for C, kind in product(costs, (SOFTMAX, SIGMOID)):
        yield kind, {"C": C}, lambda C=C, k=kind: local(kernels, gating=GATES[k], max_iter=STEPS, C=C)


# -- trials -----------------------------------------------------------------------------------------
def trial(parts: list[Part], methods: Iterator[Candidate], task: Task) -> dict[str, Facts]:
    """Of every method, the candidate that is best on the validation part: parameters, gap and test error."""
    found: dict[str, Facts] = {}
    for name, options, make in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a gap above tol: the table says the gap
            model = make().fit(*parts[0])
        on_validation = wrong(task, parts[1][1], model.predict(parts[1][0]))
        if on_validation < found.get(name, {"validation": np.inf})["validation"]:
            error, gap = (
                wrong(task, parts[2][1], model.predict(parts[2][0])),
                getattr(model, "dual_gap_", 0.0),
            )
            found[name] = {**options, "validation": on_validation, "error": error, "gap": gap}
    found[EITHER] = min((found[GLOBAL], found[SOFT]), key=lambda facts: facts["validation"])
    return found


def wrong(task: Task, y: Array, f: Array) -> float:
    """Misclassified per cent, or the squared error in per cent of the variance."""
    if task == "classification":
        return 100.0 * float(np.mean(y != f))
    return 100.0 * float(np.mean((y - f) ** 2) / np.var(y))


def made_trial(name: str, seed: int, sizes: tuple[int, int, int], quick: bool) -> dict[str, Facts]:
    problem, kernels, task = PROBLEMS[name]
    return trial(problem(seed, sizes), candidates(kernels, task, NORMS, quick), task)


def real_trials(name: str, quick: bool) -> list[dict[str, Facts]]:
    """All draws of one set."""
    data = Source(name, "classification", "raw", n_features=3).load(m=100_000, quick=quick)
    sizes, draws = (three_parts(data), 2) if quick else (REAL[name], DRAWS)
    parts = [standardised(draw(data.X, data.y, sizes, seed)) for seed in range(draws)]
    return in_parallel(real_trial, [(part, quick) for part in parts], quick)


def real_trial(parts: list[Part], quick: bool) -> dict[str, Facts]:
    root = float(np.sqrt(parts[0][0].shape[1]))
    kernels: list[Kernel] = [Linear(), *(Gaussian(root * 2.0**k) for k in range(-2, 3))]
    return trial(parts, candidates(kernels, "classification", (2.0,), quick), "classification")


# -- tables -----------------------------------------------------------------------------------------
def less_global(trials: list[dict[str, Facts]], name: str) -> tuple[float, float]:
    """Mean and standard error of the errors less those of global learning in the same draw."""
    d = np.array([found[name]["error"] - found[GLOBAL]["error"] for found in trials])
    return float(d.mean()), float(d.std(ddof=1) / np.sqrt(d.size))


def made_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    rows = []
    for name in (GLOBAL, SOFT, HARD, *GATES):
        row: Facts = {"method": name}
        for problem, trials in found.items():
            row[problem] = Spread([t[name]["error"] for t in trials], 1)
            mean, error = less_global(trials, name)
            row[f"{problem}, less global's"] = f"{mean:+.2f} ± {error:.2f}" if name != GLOBAL else None
            better = sum(t[name]["error"] < t[GLOBAL]["error"] for t in trials)
            row[f"{problem}, better in"] = f"{better} of {len(trials)}" if name != GLOBAL else None
        gaps = [t[name]["gap"] for trials in found.values() for t in trials]
        row["largest gap"] = f"{max(gaps):.2e}" if name not in GATES else None
        rows.append(row)
    return rows


def chosen_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    """How often each value was chosen, by method and parameter."""
    rows = []
    for problem, trials in found.items():
        for name in (GLOBAL, SOFT, HARD, *GATES):
            row: Facts = {"problem": problem, "method": name}
            for key in ("C", "norm", "n_clusters", "temperature"):
                values = [t[name][key] for t in trials if key in t[name]]
                counts = [f"{value:g}: {values.count(value)}" for value in sorted(set(values))]
                row[key] = ", ".join(counts) or None
            rows.append(row)
    return rows


def real_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    """Errors, and the largest gap of what was chosen for CLMKL."""
    rows = []
    for name, trials in found.items():
        row: Facts = {"set": name}
        row |= {m: Spread([t[m]["error"] for t in trials], 1) for m in (GLOBAL, SOFT, HARD, *GATES, EITHER)}
        row["CLMKL, largest gap"] = f"{max(t[SOFT]['gap'] for t in trials):.2e}"
        rows.append(row)
    return rows


def paired_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    """By set, and of the mean over the sets, whose draws are independent."""
    rows, columns = [], (SOFT, HARD, *GATES, EITHER)
    pairs = {name: {m: less_global(trials, m) for m in columns} for name, trials in found.items()}
    for name, row in pairs.items():
        rows.append({"set": name} | {m: _ratio(*row[m]) for m in columns})
    values = {m: np.array([row[m] for row in pairs.values()]) for m in columns}
    mean = {m: (v[:, 0].mean(), np.sqrt(np.sum(v[:, 1] ** 2)) / len(v)) for m, v in values.items()}
    return [*rows, {"set": "mean"} | {m: _ratio(*pair) for m, pair in mean.items()}]


def _ratio(mean: float, error: float) -> str:
    return f"{mean:+.2f} ± {error:.2f} ({mean / error if error > 1e-9 else 0.0:+.1f})"

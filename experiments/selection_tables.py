"""Model selection on every table at hand: the default of this package beside the grid search people use."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import train_test_split

from .data import Array, Source, Task, _read, _synthetic
from .selection import methods
from .selection.resume import FOLDER, Runs
from .selection.rivals import average_mkl, easy_mkl, himalaya, load_rivals
from .tables import Facts, Report

CLASSES = (
    "ida_banana ida_breast_cancer ida_german ida_image ida_titanic ida_waveform ida_heart ida_ringnorm sonar "
    "pima breast_wisconsin liver_bupa wdbc german_numeric heart_statlog spambase letter dna_statlog "
    "splice_uci penbased optdigits segment yeast_localisation ecoli_localisation"
).split()
NUMBERS = (
    "delve_bank32fh delve_bank32fm delve_bank32nm delve_bank8fh delve_bank8fm delve_bank8nh delve_bank8nm "
    "delve_cpu delve_cpusmall delve_house16H delve_house8L delve_kin32fh delve_kin32fm delve_kin32nh "
    "delve_kin8fh delve_kin8fm delve_kin8nh delve_kin8nm delve_pumadyn32fh delve_pumadyn32fm "
    "delve_pumadyn32nh delve_pumadyn8fh delve_pumadyn8fm delve_pumadyn8nh delve_pumadyn8nm abalone energy"
).split()
TASKS: dict[str, Task] = dict.fromkeys(CLASSES, "classification") | dict.fromkeys(NUMBERS, "regression")
QUICK: dict[str, Task] = {"synthetic classes": "classification", "synthetic numbers": "regression"}

BOTH: tuple[Task, ...] = ("classification", "regression")
# Name -> function, tasks. "single" is read off the search of "ours".
METHODS: dict[str, tuple[methods.Method, tuple[Task, ...]]] = {
    "ours": (methods.ours, BOTH),
    "grid": (methods.grid, BOTH),
    "single": (methods.single, BOTH),
    "uniform": (methods.uniform, BOTH),
    "widths": (methods.widths, ("regression",)),
    "GP": (methods.gaussian_process, ("regression",)),
    "himalaya": (himalaya, ("regression",)),
    "EasyMKL": (easy_mkl, ("classification",)),
    "AverageMKL": (average_mkl, ("classification",)),
}
LEAST, TRAINING, TEST = 10, 500, 2000  # members of a class; samples


@dataclass(frozen=True)
class Parts:
    """Samples to learn from (X, y) and to test on (Z, t)."""

    X: Array
    y: Array
    Z: Array
    t: Array
    task: Task


def drawn(name: str, seed: int, quick: bool = False) -> Parts:
    """min(500, 60 %) complete samples of classes with ten members at least, and up to 2,000 others."""
    task = (QUICK if quick else TASKS)[name]
    X, y = _synthetic(Source("", task), np.random.RandomState(0), 100) if quick else _read(name, "X", "y")
    X = X.astype(float)
    kept = ~np.isnan(X).any(axis=1)
    if task == "classification":
        labels, counts = np.unique(y[kept], return_counts=True)
        kept &= np.isin(y, labels[counts >= LEAST])
    X, y = X[kept], y[kept]
    n = min(TRAINING, int(0.6 * len(y)))
    classes = y if task == "classification" else None
    size = min(TEST, len(y) - n)
    rows = train_test_split(
        np.arange(len(y)), train_size=n, test_size=size, random_state=seed, stratify=classes
    )
    return Parts(X[rows[0]], y[rows[0]], X[rows[1]], y[rows[1]], task)


def collect(
    runs: Runs,
    sets: Iterable[str],
    seeds: Iterable[int],
    chosen: Iterable[str],
    quick: bool = False,
    again: bool = False,
) -> None:
    """Run what is not known yet; set by set, so that the times of methods compare."""
    sets, chosen = list(sets), list(chosen)
    for seed in seeds:
        for name in sets:
            todo = [m for m in chosen if again or (name, seed, m) not in runs]
            parts = drawn(name, seed, quick) if todo else None
            for method in todo:
                if parts is not None and parts.task in METHODS[method][1]:
                    one_run(runs, name, seed, method, parts)


def one_run(runs: Runs, name: str, seed: int, method: str, p: Parts) -> None:
    """A method that cannot be run here, or on this set, leaves a gap in the tables and says why."""
    data = (p.X, p.y, p.Z, p.t, p.task)
    try:
        if method != "single":
            facts = methods.timed(METHODS[method][0], *data)
        else:
            best = runs.known.get((name, seed, "ours"), {}).get("alone")
            facts = methods.timed(lambda *given: methods.single(*given, best=best), *data)
    except (ImportError, ValueError, ArithmeticError, np.linalg.LinAlgError) as reason:
        print(f"{name}, seed {seed}, {method}: {reason}", file=sys.stderr, flush=True)
        return
    shape = {"n": len(p.y), "d": p.X.shape[1], "test": len(p.t)}
    runs.add((name, seed, method), facts | shape)


def warm_up() -> None:
    """Compiled code and other packages are loaded before the first clock starts."""
    load_rivals()
    for name in QUICK:
        p = drawn(name, 0, quick=True)
        methods.ours(p.X, p.y, p.Z, p.task)


def run(report: Report) -> None:
    """What is missing, then the tables."""
    runs = Runs(None if report.quick else FOLDER / "selection_tables.jsonl")
    sets = list(QUICK if report.quick else TASKS)
    if not report.quick:
        warm_up()
    collect(runs, sets, range(2 if report.quick else 10), METHODS, report.quick)
    tables(report, runs, sets)


# -- tables -----------------------------------------------------------------------------------------
def tables(report: Report, runs: Runs, sets: list[str]) -> None:
    report.table("Beside the grid search, seed by seed", paired_rows(runs, sets), PAIRED)
    report.table("In sum", summary_rows(runs, sets), SUMMARY)
    report.table("Errors of all methods", error_rows(runs, sets), ERRORS)
    report.table("Mean ranks over sets", rank_rows(runs, sets), RANKS)
    slow = process_rows(runs, sets)
    if slow:
        report.table("Beside a Gaussian process with a width per feature", slow, PROCESS)
    report.table("What was run", run_rows(runs), RUNS)


PAIRED = (
    "Per cent wrong, or per cent of the variance that is left (abalone, energy and all sets of Delve); mean "
    "over seeds. Less grid's: mean difference ± its standard error over seeds, and their ratio. Seconds of "
    "one processor for choosing, fitting and predicting, one thread, over the seeds at which both methods "
    "were run in turn with the same code."
)
SUMMARY = (
    "No worse: the mean difference is at most two of its standard errors; better: it is below minus two. "
    "Chance makes some sets better and as many worse: where methods are equal, the ratio is beyond two in "
    "one direction on 15 % of sets for two seeds, 9 % for three, 6 % for five, 4 % for ten."
)
ERRORS = "Mean over the seeds that a method has; figures over different seeds are no pairs."
RANKS = (
    "1 is the least error, equal ones share ranks. In a line all methods are ranked on the same sets by "
    "their mean error over the same seeds."
)
PROCESS = (
    "Over the seeds of the Gaussian process. Widths: the search over widths of features alone, "
    '`MKLRegressorCV(strategy="continuous", cv="loo", norms=[2.0])`.'
)
RUNS = "Seeds, and the commits of this package whose code was run."


def pairs(runs: Runs, name: str, first: str, second: str) -> tuple[Array, Array, list[int]]:
    """Errors of two methods over the seeds that both have."""
    seeds = sorted(set(runs.seeds(name, first)) & set(runs.seeds(name, second)))
    return np.array(runs.values(name, first, seeds)), np.array(runs.values(name, second, seeds)), seeds


def same_code(runs: Runs, name: str, seeds: list[int]) -> list[int]:
    """Seeds at which "ours" and "grid" were run one after the other, so that their times compare."""
    return [k for k in seeds if len({runs.known[name, k, m]["commit"] for m in ("ours", "grid")}) == 1]


def difference(a: Array, b: Array) -> tuple[float, float]:
    """The mean of a − b, and its standard error."""
    d = a - b
    return float(d.mean()), float(d.std(ddof=1) / np.sqrt(d.size))


def ratio(mean: float, error: float) -> float:
    return mean / error if error > 0.0 else float(np.sign(mean)) * np.inf if mean else 0.0


def paired_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows: list[Facts] = []
    for name in sets:
        a, b, seeds = pairs(runs, name, "ours", "grid")
        if len(seeds) < 2:
            continue
        mean, error = difference(a, b)
        facts = runs.known[name, seeds[0], "ours"]
        row: Facts = {"set": name, "n": facts["n"], "d": facts["d"], "seeds": len(seeds)}
        row |= {"ours": float(a.mean()), "grid": float(b.mean()), "less grid's": f"{mean:+.2f} ± {error:.2f}"}
        row["ratio"] = f"{ratio(mean, error):+.1f}"
        timed = same_code(runs, name, seeds)
        for method in ("ours", "grid"):
            seconds = runs.values(name, method, timed, "seconds")
            row[f"{method}, s"] = f"{np.mean(seconds):.1f}" if timed else None
        rows.append(row)
    return rows


def summary_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows = []
    for title, task in (("all", None), ("classes", "classification"), ("numbers", "regression")):
        ratios, total = [], np.zeros(2)
        for name in sets:
            a, b, seeds = pairs(runs, name, "ours", "grid")
            if len(seeds) < 2 or task not in (None, (TASKS | QUICK)[name]):
                continue
            ratios.append(ratio(*difference(a, b)))
            timed = same_code(runs, name, seeds)
            total += [sum(runs.values(name, method, timed, "seconds")) for method in ("ours", "grid")]
        share = {"no worse": np.array(ratios) <= 2.0, "better": np.array(ratios) < -2.0}
        row: Facts = {"sets": title, "count": len(ratios)}
        row |= {key: f"{np.sum(true)} ({100.0 * np.mean(true):.0f} %)" for key, true in share.items()}
        row |= {"ours, s": f"{total[0]:.0f}", "grid, s": f"{total[1]:.0f}"}
        rows.append(row | {"ours / grid": total[0] / total[1]})
    return rows


def error_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows = []
    for name in sets:
        row: Facts = {"set": name}
        for method in METHODS:
            seeds = runs.seeds(name, method)
            row[method] = float(np.mean(runs.values(name, method, seeds))) if seeds else None
        rows.append(row)
    return rows


GROUPS: list[tuple[str, list[str], Task | None]] = [
    ("all", ["ours", "grid"], None),
    ("all", ["ours", "grid", "single", "uniform"], None),
    ("classes", ["ours", "grid", "single", "uniform"], "classification"),
    ("classes", ["ours", "grid", "single", "uniform", "AverageMKL"], "classification"),
    ("classes", ["ours", "grid", "single", "uniform", "AverageMKL", "EasyMKL"], "classification"),
    ("numbers", ["ours", "grid", "single", "uniform"], "regression"),
    ("numbers", ["ours", "grid", "single", "uniform", "GP"], "regression"),
    ("numbers", ["ours", "grid", "single", "uniform", "himalaya"], "regression"),
    ("numbers", ["ours", "grid", "single", "uniform", "himalaya", "GP"], "regression"),
]


def rank_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows = []
    for title, chosen, task in GROUPS:
        ranks, seen = [], []
        for name in sets:
            seeds = sorted(set.intersection(*(set(runs.seeds(name, method)) for method in chosen)))
            if seeds and task in (None, (TASKS | QUICK)[name]):
                means = [np.mean(runs.values(name, method, seeds)) for method in chosen]
                ranks.append(rankdata(np.round(means, 9)))
                seen.append(len(seeds))
        if ranks:
            row: Facts = {"sets": title, "count": len(ranks), "seeds": _span(seen)}
            rows.append(row | dict(zip(chosen, map(float, np.mean(ranks, axis=0)), strict=True)))
    return rows


def process_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows: list[Facts] = []
    for name in sets:
        seeds = pairs(runs, name, "ours", "GP")[2]
        if not seeds:
            continue
        present = [m for m in ("ours", "widths", "GP") if set(seeds) <= set(runs.seeds(name, m))]
        row: Facts = {"set": name, "d": runs.known[name, seeds[0], "GP"]["d"], "seeds": len(seeds)}
        for what, form in (("error", ".2f"), ("seconds", ".1f")):
            means = {m: float(np.mean(runs.values(name, m, seeds, what))) for m in present}
            row |= {f"{what}, {m}": f"{mean:{form}}" for m, mean in means.items()}
            row |= {f"{what}, {m} / GP": f"{means[m] / means['GP']:.2f}" for m in present[:-1]}
        rows.append(row)
    return rows


def run_rows(runs: Runs) -> list[Facts]:
    rows = []
    for method in METHODS:
        counts: dict[str, int] = {}
        for name, _, tried in runs.known:
            if tried == method:
                counts[name] = counts.get(name, 0) + 1
        if counts:
            row: Facts = {"method": method, "sets": len(counts), "seeds": _span(list(counts.values()))}
            rows.append(row | {"commits": ", ".join(runs.commits(method))})
    return rows


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"

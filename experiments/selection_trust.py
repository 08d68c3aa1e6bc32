"""Intervals and probabilities of the default, beside those of MAPIE and scikit-learn for the same model."""

from __future__ import annotations

import time
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from manykernels import MKLClassifierCV, MKLRegressorCV

from .selection.resume import Key, Runs, completed
from .selection_tables import CLASSES, NUMBERS, QUICK, Parts, difference, drawn, warm_up
from .tables import Facts, Report

COVERAGE = 0.9
SEEDS = 2
INTERVALS, PROBABILITIES = ("ours", "MAPIE"), ("ours", "calibrated")


def run(report: Report) -> None:
    """What is missing, then the tables."""
    runs = completed(report, "selection_trust", keys(report.quick), trial, warm_up)
    tables(report, runs)


def tables(report: Report, runs: Runs) -> None:
    """One table for intervals and one for probabilities, each with a line for all sets."""
    report.table("Intervals of 90 %", interval_rows(runs), OF_INTERVALS)
    report.table("Log loss", loss_rows(runs), OF_LOSSES)


OF_INTERVALS = (
    "Per cent of new samples inside, and mean width over the standard deviation of their targets: means over "
    "splits. Ours: MKLRegressorCV(intervals=True), the chosen strategy is learned anew in each fold. MAPIE: "
    "CrossConformalRegressor(MKLRegressorCV(), method='plus', cv=KFold(5)), the whole search in each fold. "
    "Width: ours over MAPIE's. Seconds of one processor, fit and predict, while others were using the "
    "machine. All: the mean over sets; of widths the geometric mean."
)
OF_LOSSES = (
    "Mean over splits. Ours: predict_proba of MKLClassifierCV(). Calibrated: "
    "CalibratedClassifierCV(MKLClassifierCV()) with its defaults. Less: ours less calibrated ± its standard "
    "error over splits. Seconds of one processor, fit and predict, while others were using the machine."
)


def keys(quick: bool = False) -> list[Key]:
    """(set, seed, method): numbers first, seed by seed, both methods in turn."""
    seeds, numbers, classes = range(2 if quick else SEEDS), NUMBERS, CLASSES
    if quick:
        numbers = [name for name, task in QUICK.items() if task == "regression"]
        classes = [name for name, task in QUICK.items() if task == "classification"]
    chosen = [(name, method) for name in numbers for method in INTERVALS if _is_here(method)]
    chosen += [(name, method) for name in classes for method in PROBABILITIES]
    return [(name, seed, method) for seed in seeds for name, method in chosen]


def _is_here(method: str) -> bool:
    return method != "MAPIE" or find_spec("mapie") is not None


# -- runs -------------------------------------------------------------------------------------------
def trial(name: str, seed: int, method: str, quick: bool = False) -> Facts:
    """Coverage and width, or log loss, and seconds of one processor."""
    p = drawn(name, seed, quick)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clock = time.process_time()
        facts = intervals(method, p) if p.task == "regression" else probabilities(method, p)
    return facts | {"seconds": time.process_time() - clock, "n": len(p.y), "test": len(p.t)}


def intervals(method: str, p: Parts) -> Facts:
    """Coverage and mean width, in standard deviations of the new targets."""
    if method == "ours":
        ends = MKLRegressorCV(intervals=True, random_state=0).fit(p.X, p.y).predict_interval(p.Z, COVERAGE)
    else:
        ends = _of_mapie(p)
    inside = (ends[:, 0] <= p.t) & (p.t <= ends[:, 1])
    width = float(np.mean(ends[:, 1] - ends[:, 0]) / np.std(p.t))
    return {"coverage": 100.0 * float(np.mean(inside)), "width": width}


def _of_mapie(p: Parts) -> Any:
    from mapie.regression import CrossConformalRegressor

    folds = KFold(5, shuffle=True, random_state=0)
    search = MKLRegressorCV(random_state=0)
    model = CrossConformalRegressor(search, confidence_level=COVERAGE, method="plus", cv=folds)
    _, ends = model.fit_conformalize(p.X, p.y).predict_interval(p.Z)
    return np.reshape(ends, (len(p.t), 2))


def probabilities(method: str, p: Parts) -> Facts:
    """The log loss on new samples."""
    model: Any = MKLClassifierCV(random_state=0)
    if method == "calibrated":
        model = CalibratedClassifierCV(model)
    model.fit(p.X, p.y)
    return {"loss": float(log_loss(p.t, model.predict_proba(p.Z), labels=model.classes_))}


# -- tables -----------------------------------------------------------------------------------------
def _both(runs: Runs, methods: tuple[str, str], sets: list[str]) -> list[tuple[str, list[int]]]:
    """The sets of which ours is known, with the seeds that both methods have, or those of ours."""
    found = []
    for name in sets:
        own, other = (runs.seeds(name, method) for method in methods)
        if own:
            found.append((name, sorted(set(own) & set(other)) or own))
    return found


def _mean(runs: Runs, name: str, method: str, seeds: list[int], column: str) -> float | None:
    known = [runs.known[name, s, method][column] for s in seeds if (name, s, method) in runs]
    return float(np.mean(known)) if known else None


def interval_rows(runs: Runs) -> list[Facts]:
    """A row for each set, then one for all of them."""
    rows: list[Facts] = []
    sets = sorted({name for name, _, _ in runs.known if "width" in _first(runs, name)})
    for name, seeds in _both(runs, INTERVALS, sets):
        row: Facts = {"set": name, "seeds": len(seeds), "test": _first(runs, name)["test"]}
        width = [_mean(runs, name, method, seeds, "width") for method in INTERVALS]
        for what in ("coverage", "seconds"):
            for method in INTERVALS:
                row[f"{what}, {method}"] = _mean(runs, name, method, seeds, what)
        row["width, ours"] = width[0]
        row["width"] = None if width[1] is None else width[0] / width[1]  # type: ignore[operator]
        rows.append(row)
    return [*rows, _over_all(rows, "width")] if rows else []


def loss_rows(runs: Runs) -> list[Facts]:
    """The same for probabilities."""
    rows: list[Facts] = []
    sets = sorted({name for name, _, _ in runs.known if "loss" in _first(runs, name)})
    for name, seeds in _both(runs, PROBABILITIES, sets):
        row: Facts = {"set": name, "seeds": len(seeds), "test": _first(runs, name)["test"]}
        for what in ("loss", "seconds"):
            for method in PROBABILITIES:
                row[f"{what}, {method}"] = _mean(runs, name, method, seeds, what)
        row |= {"less": None, "standard error": None}
        if row["loss, calibrated"] is not None:
            a, b = (np.array(runs.values(name, method, seeds, "loss")) for method in PROBABILITIES)
            mean, error = difference(a, b) if len(seeds) > 1 else (float((a - b)[0]), np.nan)
            row |= {"less": mean, "standard error": None if np.isnan(error) else error}
        rows.append(row)
    return [*rows, _over_all(rows)] if rows else []


def _over_all(rows: list[Facts], ratio: str = "") -> Facts:
    """Means over the sets that have all figures; of a ratio the geometric mean."""
    rows = [row for row in rows if all(row[k] is not None for k in row if k != "standard error")] or rows
    row: Facts = {"set": "all", "seeds": min(row["seeds"] for row in rows)}
    for column in rows[0]:
        known = [one[column] for one in rows if isinstance(one[column], float)]
        if known:
            row[column] = float(np.exp(np.mean(np.log(known))) if column == ratio else np.mean(known))
    return row


def _first(runs: Runs, name: str) -> Facts:
    return next(facts for (known, _, _), facts in runs.known.items() if known == name)

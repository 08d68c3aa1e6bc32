"""The default on small tables, beside the rivals of its own report, by the corrected paired test."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV
from manykernels.comparison import corrected_ttest
from manykernels.comparison.comparing import in_folds
from manykernels.comparison.folds import make_folds
from manykernels.comparison.results import share_of
from manykernels.comparison.statistics import ALPHA, holm
from manykernels.estimators import TablePreparer
from manykernels.report import baseline_models

from .data import Array, Task, _read
from .selection.clinics import ROWS, TABLES, table
from .selection.resume import Key, Runs, completed
from .selection_tables import LEAST
from .tables import Facts, Report, Spread

SMALL = "breast_wisconsin ecoli_localisation heart_statlog ida_breast_cancer ida_heart liver_bupa sonar wdbc"
SETS: dict[str, Task] = TABLES | dict.fromkeys(SMALL.split(), "classification")
OURS = "ours"
RIVALS = ("plain sum", "best single kernel", "tuned one kernel", "histogram boosting", "sparse linear")
FOLDS, REPEATS = 5, 2


def run(report: Report) -> None:
    """What is missing, then the tables."""
    runs = completed(report, "selection_clinics", keys(report.quick), trial)
    tables(report, runs)


def tables(report: Report, runs: Runs) -> None:
    """Scores, differences with their tests, and seconds."""
    report.table("Scores", score_rows(runs), SCORES)
    report.table("Ours less the rival", difference_rows(runs), DIFFERENCES)
    report.table("Seconds", second_rows(runs), SECONDS)


SCORES = (
    f"Accuracy, or R² (clinic 6 to 9), over {FOLDS} folds, drawn up to {REPEATS} times. The tables clinic 0 "
    f"to 9 are made: {ROWS} rows, nine columns, categories of up to 40 levels, gaps, a date, a grade; "
    "experiments/selection/clinics.py has their law. The others are the sets with at most 700 samples. "
    "Everything is chosen within the training part of a fold; rivals get the table prepared as ours is."
)
DIFFERENCES = (
    "Mean difference over folds, with the p-value of the corrected resampled paired t-test (Nadeau and "
    "Bengio 2003) behind it. Behind: the rivals that are better with p ≤ 0.05, adjusted for the number of "
    "rivals by Holm's method as in a report; and one by one, with p as it is."
)
SECONDS = "Of one processor, for all folds of one draw; others were using the machine."


def keys(quick: bool = False) -> list[Key]:
    """(set, repeat, method), repeat by repeat."""
    sets = ["clinic 0", "clinic 6"] if quick else list(SETS)
    return [
        (name, repeat, method)
        for repeat in range(1 if quick else REPEATS)
        for name in sets
        for method in (OURS, *RIVALS)
    ]


# -- runs -------------------------------------------------------------------------------------------
def loaded(name: str, quick: bool = False) -> tuple[Any, Array]:
    """A made table, or the complete rows of a set in classes of ten members at least."""
    if name in TABLES:
        return table(name, 60 if quick else ROWS)
    X, y = _read(name, "X", "y")
    X = X.astype(float)
    labels, counts = np.unique(y, return_counts=True)
    rows = ~np.isnan(X).any(axis=1) & np.isin(y, labels[counts >= LEAST])
    return X[rows], y[rows]


def trial(name: str, repeat: int, method: str, quick: bool = False) -> Facts:
    """The scores of a method in all folds of one draw, and seconds of one processor."""
    X, y = loaded(name, quick)
    classes = SETS[name] == "classification"
    folds = make_folds(y, classes=classes, cv=2 if quick else FOLDS, random_state=repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = made(method, classes, X, y)
        clock = time.process_time()
        found = in_folds({method: learner}, X, y, folds, task=SETS[name]).scores[method]
    if found.error:
        raise RuntimeError(f"{method} failed on {name}: {found.error}")
    facts: Facts = {"scores": [float(score) for score in found.values], "share": share_of(folds)}
    return facts | {"seconds": time.process_time() - clock, "n": len(y), "d": X.shape[1]}


def made(method: str, classes: bool, X: Any, y: Array) -> Any:
    """The estimator of a method, not fitted."""
    if method == OURS:
        return (MKLClassifierCV if classes else MKLRegressorCV)(random_state=0)
    if method == "histogram boosting":
        kind: Any = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return make_pipeline(TablePreparer(), kind(random_state=0))
    if method == "sparse linear":
        linear: Any = LassoCV(random_state=0)
        if classes:
            linear = LogisticRegressionCV(l1_ratios=(1.0,), solver="liblinear", random_state=0)
            if len(np.unique(y)) > 2:  # which liblinear learns one by one
                linear = OneVsRestClassifier(linear)
        return make_pipeline(TablePreparer(), linear)
    model: Any = (MKLClassifier if classes else MKLRegressor)(norm=np.inf, loss="squared").fit(X, y)
    known = baseline_models(model, X)
    tuned = "tuned SVC" if classes else "tuned kernel ridge"
    return known[{"plain sum": next(iter(known)), "tuned one kernel": tuned}.get(method, method)]


# -- tables -----------------------------------------------------------------------------------------
def _sets(runs: Runs) -> list[str]:
    return [name for name in SETS if runs.seeds(name, OURS)]


def _scores(runs: Runs, name: str, method: str) -> list[float]:
    return [s for repeat in runs.seeds(name, method) for s in runs.known[name, repeat, method]["scores"]]


def score_rows(runs: Runs) -> list[Facts]:
    """A row for each set, with the spread over folds."""
    rows = []
    for name in _sets(runs):
        facts = runs.known[name, runs.seeds(name, OURS)[0], OURS]
        row: Facts = {"set": name, "n": facts["n"], "d": facts["d"]}
        for method in (OURS, *RIVALS):
            scores = _scores(runs, name, method)
            row[method] = Spread(scores, 3) if scores else None
        rows.append(row)
    return rows


def difference_rows(runs: Runs) -> list[Facts]:
    """Mean differences and p-values; who is ahead, with p adjusted for the number of rivals and as it is."""
    rows = []
    for name in _sets(runs):
        row: Facts = {"set": name, "draws": len(runs.seeds(name, OURS))}
        found = {}
        for rival in RIVALS:
            both = sorted(set(runs.seeds(name, OURS)) & set(runs.seeds(name, rival)))
            if not both:
                continue
            a, b = (
                np.concatenate([runs.known[name, repeat, method]["scores"] for repeat in both])
                for method in (OURS, rival)
            )
            found[rival] = corrected_ttest(a - b, runs.known[name, both[0], OURS]["share"])
            row[rival] = f"{found[rival].mean:+.3f} ({found[rival].p_value:.2f})"
        adjusted = holm([one.p_value for one in found.values()])
        for column, p in (("behind", adjusted), ("behind one by one", [f.p_value for f in found.values()])):
            ahead = [r for (r, one), q in zip(found.items(), p, strict=True) if one.mean < 0.0 and q <= ALPHA]
            row[column] = ", ".join(ahead) or "none"
        rows.append(row)
    return rows


def second_rows(runs: Runs) -> list[Facts]:
    """Mean seconds of a draw."""
    rows: list[Facts] = []
    for name in _sets(runs):
        row: Facts = {"set": name}
        for method in (OURS, *RIVALS):
            known = [runs.known[name, s, method]["seconds"] for s in runs.seeds(name, method)]
            row[method] = f"{np.mean(known):.1f}" if known else None
        rows.append(row)
    return rows

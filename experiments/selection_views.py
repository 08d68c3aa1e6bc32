"""Model selection with kernels per view, beside the best view, the uniform sum and all columns in one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from manykernels import MKLClassifier, MKLClassifierCV
from manykernels.families import views

from .data import Array, Source, Task, _read, _synthetic
from .selection import methods
from .selection.resume import Runs, kept
from .selection_tables import difference
from .tables import Facts, Report, Spread

# Set -> number of views, seeds.
TASKS = {
    "nutrimouse": (2, 10),
    "3sources": (3, 10),
    "bbcsport": (2, 10),
    "prokaryotic": (3, 10),
    "protein_fold": (12, 1),
    "mfeat": (6, 10),
}
QUICK = {"synthetic": (2, 2)}
TASK: Task = "classification"


@dataclass(frozen=True)
class Parts:
    """Samples to learn from (X, y) and to test on (Z, t), and the columns of every view."""

    X: Array
    y: Array
    Z: Array
    t: Array
    columns: dict[str, list[int]]


def drawn(name: str, seed: int, quick: bool = False) -> Parts:
    """60 % of the samples, stratified, and the others; of protein_fold the parts of Damoulas & Girolami."""
    count, _ = (QUICK if quick else TASKS)[name]
    if quick:
        X, y = _synthetic(Source("", TASK), np.random.RandomState(0), 100)
        parts = np.array_split(X, count, axis=1)
    else:
        y, *parts = _read(name, "y", *(f"V{v}" for v in range(count)))
    X = np.hstack(parts).astype(float)
    ends = np.cumsum([0] + [part.shape[1] for part in parts])
    columns = {f"V{v}": list(range(ends[v], ends[v + 1])) for v in range(count)}
    if name == "protein_fold":
        train, test = (np.asarray(rows) for rows in _read(name, "train", "test"))
    else:
        train, test = train_test_split(np.arange(len(y)), train_size=0.6, random_state=seed, stratify=y)
    return Parts(X[train], y[train], X[test], y[test], columns)


# -- methods ----------------------------------------------------------------------------------------
def ours(p: Parts) -> tuple[Array, Facts]:
    """The kernels of "auto" for every view."""
    model = MKLClassifierCV(views(p.columns)).fit(p.X, p.y)
    total = sum(model.view_weights_.values())
    weights = {view: float(model.view_weights_.get(view, 0.0) / total) for view in p.columns}
    return model.predict(p.Z), {"best": _text(model), "views": weights}


def best_view(p: Parts) -> tuple[Array, Facts]:
    """Every view by itself; that with the best score in the folds."""
    found: list[tuple[float, str, Array]] = []
    for view, columns in p.columns.items():
        model = MKLClassifierCV().fit(p.X[:, columns], p.y)
        found.append((float(model.best_score_), view, model.predict(p.Z[:, columns])))
    _, best, predicted = max(found, key=lambda entry: entry[0])
    errors = {view: methods.percent(TASK, p.t, predictions) for _, view, predictions in found}
    return predicted, {"view": best, "errors": errors}


def uniform(p: Parts) -> tuple[Array, Facts]:
    """The plain sum of the kernels of all views, with C by five folds."""
    machine = MKLClassifier(views(p.columns), norm=np.inf, loss="squared")
    model = MKLClassifierCV(views(p.columns), strategy=[machine]).fit(p.X, p.y)
    return model.predict(p.Z), {"best": _text(model)}


def concatenated(p: Parts) -> tuple[Array, Facts]:
    """All columns as one table, with nothing set."""
    model = MKLClassifierCV().fit(p.X, p.y)
    return model.predict(p.Z), {"best": _text(model)}


def grid(p: Parts) -> tuple[Array, Facts]:
    """All columns as one table: the grid search of selection_tables."""
    return methods.grid(p.X, p.y, p.Z, TASK)


METHODS = {
    "ours": ours,
    "best view": best_view,
    "uniform": uniform,
    "concatenated": concatenated,
    "grid, concatenated": grid,
}


def _text(model: Any) -> dict[str, str]:
    return {key: str(value) for key, value in model.best_params_.items()}


# -- runs -------------------------------------------------------------------------------------------
def collect(
    runs: Runs,
    sets: Iterable[str],
    seeds: Iterable[int],
    chosen: Iterable[str],
    quick: bool = False,
    again: bool = False,
) -> None:
    """Run what is not known yet, set by set."""
    sets, chosen = list(sets), list(chosen)
    for seed in seeds:
        for name in sets:
            todo = [m for m in chosen if again or (name, seed, m) not in runs]
            if not todo or seed >= (QUICK if quick else TASKS)[name][1]:
                continue
            p = drawn(name, seed, quick)
            for method in todo:
                runs.add((name, seed, method), one_run(method, p))


def one_run(method: str, p: Parts) -> Facts:
    facts = methods.timed(lambda *_: METHODS[method](p), p.X, p.y, p.Z, p.t, TASK)
    return facts | {"n": len(p.y), "test": len(p.t), "d": p.X.shape[1]}


def warm_up() -> None:
    """Compiled code is loaded before the first clock starts."""
    for name in QUICK:
        ours(drawn(name, 0, quick=True))


def run(report: Report) -> None:
    """What is missing, then the tables."""
    runs = Runs() if report.quick else kept("selection_views")
    sets = list(QUICK if report.quick else TASKS)
    if not report.quick:
        warm_up()
    collect(runs, sets, range(2 if report.quick else 10), METHODS, report.quick)
    tables(report, runs, sets)


def tables(report: Report, runs: Runs, sets: list[str]) -> None:
    sets = [name for name in sets if runs.seeds(name, "ours")]
    report.table("Per cent wrong", error_rows(runs, sets), ERRORS)
    report.table("Less the errors of the others, seed by seed", paired_rows(runs, sets), PAIRED)
    report.table("Seconds", second_rows(runs, sets), SECONDS)
    report.table("Views", view_rows(runs, sets), VIEWS)


ERRORS = (
    "Mean ± standard deviation over stratified splits of 60 % to train on and 40 % to test on; protein_fold "
    "has one split. All methods get raw features: counts of words (3sources) and weights of words (bbcsport) "
    "are scaled column by column, as any table is."
)
PAIRED = "Mean of ours less the other's ± its standard error over seeds; negative where ours is better."
SECONDS = (
    "Of one processor, for choosing, fitting and predicting; mean over seeds; others were using the machine. "
    "Best view: all views in turn."
)
VIEWS = (
    "Weight: the part of a view in all weights (kernels have a mean diagonal of 1), mean over seeds. Alone: "
    "per cent wrong from this view only. Chosen: how often its score in the folds was best."
)


def known(runs: Runs, name: str, method: str) -> list[Facts]:
    return [runs.known[name, seed, method] for seed in runs.seeds(name, method)]


def error_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows = []
    for name in sets:
        facts = known(runs, name, "ours")
        row: Facts = {"set": name, "n": facts[0]["n"], "test": facts[0]["test"], "d": facts[0]["d"]}
        row |= {"views": len(facts[0]["views"]), "seeds": len(facts)}
        for method in METHODS:
            errors = [f["error"] for f in known(runs, name, method)]
            row[method] = Spread(errors, 1) if len(errors) > 1 else f"{errors[0]:.1f}" if errors else None
        rows.append(row)
    return rows


def paired_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows = []
    for name in sets:
        row: Facts = {"set": name}
        for method in list(METHODS)[1:]:
            seeds = sorted(set(runs.seeds(name, "ours")) & set(runs.seeds(name, method)))
            a, b = (np.array(runs.values(name, m, seeds)) for m in ("ours", method))
            if len(seeds) > 1:
                mean, error = difference(a, b)
                row[method] = f"{mean:+.2f} ± {error:.2f}"
            elif seeds:
                row[method] = f"{(a - b)[0]:+.2f}"
        rows.append(row)
    return rows


def second_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows = []
    for name in sets:
        row: Facts = {"set": name}
        for method in METHODS:
            seconds = [f["seconds"] for f in known(runs, name, method)]
            row[method] = f"{np.mean(seconds):.1f}" if seconds else None
        rows.append(row)
    return rows


def view_rows(runs: Runs, sets: list[str]) -> list[Facts]:
    rows = []
    for name in sets:
        learned, alone = known(runs, name, "ours"), known(runs, name, "best view")
        for view in learned[0]["views"]:
            row: Facts = {"set": name, "view": view}
            row["weight"] = float(np.mean([f["views"][view] for f in learned]))
            if alone:
                row["alone"] = float(np.mean([f["errors"][view] for f in alone]))
                row["chosen"] = f"{sum(f['view'] == view for f in alone)} of {len(alone)}"
            rows.append(row)
    return rows

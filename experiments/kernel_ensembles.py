"""Rostamizadeh 2010, Eq. 3.6: one predictor a kernel, combined, beside learned kernels.

Rostamizadeh 2010 leaves the comparison open. On the sets of its Table 3.1 every method has the same kernels
and the same values of C. Learned kernels train on three folds and choose C on a fourth. Ensembles choose C of
each predictor and λ by cross-fitting, once without the fourth fold ("three folds") and once with it as more
samples to learn from ("four folds"), so that a fair comparison lies between the two. On views all methods
have the same training samples, kernels, loss and values of C, and choose by five folds of them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from manykernels import (
    KernelEnsembleClassifier,
    KernelEnsembleRegressor,
    MKLClassifier,
    MKLClassifierCV,
)
from manykernels.families import views
from manykernels.penalties import L2Ball

from .alignment_correlation import PAPER as SETS
from .common import COSTS, Split, error, gaussians, in_parallel, one_stage, splits, two_stage
from .data import Dataset
from .selection_views import QUICK, TASKS, drawn
from .tables import Facts, Report, Spread

SEEDS = 3
VIEWS = (
    "nutrimouse",
    "3sources",
    "bbcsport",
    "prokaryotic",
    "protein_fold",
)  # not mfeat, which takes far longer
VIEW_COSTS = [0.01, 0.1, 1.0, 10.0, 100.0]
NORMS = {"plain sum": np.inf, "learned, norm 2": 2.0, "learned, norm 1": 1.0}


def run(report: Report) -> None:
    """One table a set of Rostamizadeh 2010, and one of all sets with views."""
    for name, (source, (low, high), _) in SETS.items():
        with report.leaving_out(name):
            data = source.load(quick=report.quick)
            trials = splits(data)[:2] if report.quick else splits(data)
            arguments = [(data, split, range(low, high + 1)) for split in trials]
            found = in_parallel(trial, arguments, report.quick)
            what = "per cent wrong" if data.task == "classification" else "RMSE"
            report.table(
                f"{name}: {what}; {len(data.y)} samples, γ = 2^{low} … 2^{high}", rows(data.task, found)
            )
    tasks = [
        (name, seed)
        for name in (QUICK if report.quick else VIEWS)
        for seed in range(min((QUICK if report.quick else TASKS)[name][1], SEEDS))
    ]
    table: list[Facts] = []
    for name in dict.fromkeys(name for name, _ in tasks):
        with report.leaving_out(name):
            own = [(n, seed, report.quick) for n, seed in tasks if n == name]
            table += view_rows(name, in_parallel(on_views, own, report.quick))
    report.table("Views: per cent wrong, five folds of the training samples to choose by", table)


def rows(task: Any, found: list[dict[str, Facts]]) -> list[Facts]:
    """A row for each method: its error, and the difference from the best of the learned kernels by trial."""
    digits = 1 if task == "classification" else 3
    learned = [method for method in found[0] if "ensemble" not in method]
    least = min(learned, key=lambda m: float(np.mean([t[m]["error"] for t in found])))
    table = []
    for method in found[0]:
        errors = [t[method]["error"] for t in found]
        apart = [t[method]["error"] - t[least]["error"] for t in found]
        table.append(
            {
                "method": method,
                "error": Spread(errors, digits),
                f"less {least}'s": Spread(apart, digits),
                "kernels used": Spread([t[method]["active"] for t in found], 1),
            }
        )
    return table


# -- Rostamizadeh's sets -------------------------------------------------------------------------------------
def trial(data: Dataset, split: Split, exponents: range) -> dict[str, Facts]:
    """Every method on one division of the samples."""
    kernels = gaussians(exponents)
    found: dict[str, Facts] = {"unif": two_stage(data, split, kernels, "uniform")}
    norm: Any = L2Ball(radius=1.0) if data.task == "regression" else 1
    found["one-stage"] = one_stage(data, split, kernels, norm=norm)
    found["alignf"] = two_stage(data, split, kernels, "alignf")
    both = np.concatenate([split.train, split.validation])
    for rows_, folds in ((split.train, "three"), (both, "four")):
        for combination in ("l1", "l2"):
            found[f"{combination} ensemble, {folds} folds"] = ensemble(
                data, split, rows_, kernels, combination
            )
    return found


def ensemble(data: Dataset, split: Split, used: Any, kernels: Any, combination: str) -> Facts:
    """Machines of the same kind as the others have: hinge for classes, squared for numbers."""
    classes = data.task == "classification"
    Model = KernelEnsembleClassifier if classes else KernelEnsembleRegressor
    loss = "hinge" if classes else "squared"
    options: Facts = {"Cs": COSTS[data.task], "center": True, "loss": loss, "tol": 1e-2}
    model = Model(kernels, combination=combination, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(data.X[used], data.y[used])
    wrong = error(data.task, data.y[split.test], model.predict(data.X[split.test]))
    return {"error": wrong, "active": float(model.active_.size)}


# -- views --------------------------------------------------------------------------------------------
def on_views(name: str, seed: int, quick: bool) -> dict[str, Facts]:
    """Every method on one division; kernels are those of "auto" for every view."""
    p, found = drawn(name, seed, quick), {}
    kernels = views(p.columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for method, norm in NORMS.items():
            machine = MKLClassifier(kernels, norm=norm, loss="squared")
            model: Any = MKLClassifierCV(kernels, strategy=[machine], Cs=VIEW_COSTS, random_state=0)
            found[method] = _seen(model.fit(p.X, p.y), p)
        for combination in ("l1", "l2"):
            model = KernelEnsembleClassifier(kernels, combination=combination, Cs=VIEW_COSTS, random_state=0)
            found[f"{combination} ensemble"] = _seen(model.fit(p.X, p.y), p)
    return found


def _seen(model: Any, p: Any) -> Facts:
    return {"error": error("classification", p.t, model.predict(p.Z)), "active": float(model.active_.size)}


def view_rows(name: str, found: list[dict[str, Facts]]) -> list[Facts]:
    """A row for the set: errors of all methods."""
    row: Facts = {"set": name, "draws": len(found)}
    for method in found[0]:
        row[method] = Spread([t[method]["error"] for t in found], 1)
    for method in ("l1 ensemble", "l2 ensemble"):
        apart = [t[method]["error"] - t["learned, norm 2"]["error"] for t in found]
        row[f"{method} less norm 2"] = Spread(apart, 1)
    return [row]

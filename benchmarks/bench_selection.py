"""The searches with nothing set, beside a grid search over one Gaussian kernel: seconds and errors.

MKLClassifierCV() and MKLRegressorCV() against scikit-learn's GridSearchCV over StandardScaler and SVC
(5 costs × 11 widths) or kernel ridge regression (6 × 11), five folds, on tables that come with scikit-learn.
Several splits, each fitted once by both in turns; choosing, fitting and predicting are timed. More tables are
in the experiment selection_tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from experiments.data import Task
from experiments.selection.methods import grid, ours, percent
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_friedman1
from sklearn.model_selection import train_test_split

from .harness import Contender, Report, split_rows
from .problems import Array

GOAL = "no worse an error, in no more time"
OURS, RIVAL = "ours, nothing set", "grid search"
Data = tuple[Array, Array, Task]


def run(report: Report) -> None:
    """Three tables with classes, two with numbers."""
    seeds = report.pick(5, 2)
    for title, (X, y, task) in sets(report.pick(600, 60)).items():
        error = "per cent wrong" if task == "classification" else "per cent of the variance left"
        rows = split_rows(splits(X, y, task, seeds), OURS, error)
        report.table(f"{title}: {X.shape[1]} features, {len(y)} samples, {seeds} splits", rows, GOAL)


def sets(most: int) -> dict[str, Data]:
    """At most so many samples of each, in random order."""
    friedman = make_friedman1(500, 10, noise=1.0, random_state=0)
    classes = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
    found: dict[str, Data] = {}
    for name, load in classes.items():
        X, y = load(return_X_y=True)
        rows = np.random.RandomState(0).permutation(len(y))[:most]
        found[name] = X[rows], y[rows], "classification"
    for name, (X, y) in {"diabetes": load_diabetes(return_X_y=True), "Friedman 1": friedman}.items():
        found[name] = X[:most], y[:most], "regression"
    return found


def splits(X: Array, y: Array, task: Task, seeds: int) -> Iterator[Any]:
    """For every split what is timed, and how predictions err."""
    for seed in range(seeds):
        A, B, a, b = train_test_split(
            X, y, test_size=1 / 3, random_state=seed, stratify=y if task == "classification" else None
        )
        few = min(len(a), 120)  # to compile: the first split is timed as the others are
        yield (
            {
                name: Contender(
                    partial(method, A, a, B, task), partial(method, A[:few], a[:few], B[:few], task)
                )
                for name, method in {OURS: ours, RIVAL: grid}.items()
            },
            lambda _, found, b=b: percent(task, b, found[0]),
        )

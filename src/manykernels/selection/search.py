"""A whole search: which strategies, in which folds, and which model is best."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from ..fitting.progress import progress
from ..fitting.spec import short
from .folds import Data, Folds, Table, run_folds
from .leave_one_out import loo_table, only
from .strategies import Strategy
from .sums import FoldedSums
from .sums_table import from_sums, sums_table

COLUMNS = "strategy norm kernels C score std folds seconds".split()


@dataclass(frozen=True)
class Outcome:
    """What was compared, and what is best."""

    comparison: dict[str, list[Any]]  # a row for each strategy at its best
    path: dict[str, dict[str, Any]]  # by strategy: columns, a row for each model
    chosen: Strategy
    params: dict[str, Any]
    score: float
    sums: FoldedSums | None  # from which the best model follows without another look at the samples


@dataclass(frozen=True)
class Effort:
    """How a search goes about it."""

    title: str
    verbose: int
    n_jobs: int | None
    race: bool  # whether what is far behind in the first fold is left


def compare(found: list[Strategy], data: Data, folds: Folds | None, effort: Effort) -> Outcome:
    """Every strategy in every fold; without folds, one strategy by leave-one-out."""
    lazy, sums = data.given is None, None
    if folds is None and not lazy:
        tables = [loo_table(only(found), data)]
    elif folds is not None and len(found) == 1 and from_sums(found[0], data, folds):
        table, sums = sums_table(found[0], data, folds)
        tables = [table]
    elif lazy or folds is None:
        raise ValueError(
            "X is a Dask collection, and this search needs all samples in memory: sums over rows are "
            "enough for loss='squared', scoring=None, strategy='finite' and a cv that holds every sample "
            "out once. Take these, or call X.compute() first."
        )
    else:
        with progress(effort.title, effort.verbose, total=len(found) * len(folds)) as shown:
            tables = run_folds(found, data, folds, effort.n_jobs, effort.race, shown.step)
    return _judge(tables, data.scorer is not None, sums)


def _judge(tables: list[Table], by_score: bool, sums: FoldedSums | None) -> Outcome:
    rows: dict[str, list[Any]] = {column: [] for column in COLUMNS}
    path: dict[str, dict[str, Any]] = {}
    best: Any = None
    n_folds = max(len(table.trials) for table in tables)
    for table in tables:
        rank, i = table.best(by_score)
        norm, kernels, C = key = table.keys[i]
        score, std = table.column("score").mean(axis=0), table.column("score").std(axis=0)
        told = (norm, kernels, C, float(score[i]), float(std[i]), len(table.trials), table.seconds)
        for column, value in zip(rows, (table.strategy.name, *told), strict=True):
            rows[column].append(value)
        path[table.strategy.name] = _columns(table)
        if len(table.trials) == n_folds and (best is None or rank < best[0]):
            best = (rank, table.strategy, key, float(score[i]))
    _, chosen, (norm, kernels, C), value = best
    params = {"strategy": chosen.name, "norm": norm, "kernels": kernels, "C": C}
    return Outcome(rows, path, chosen, params, value, sums)


def _columns(table: Table) -> dict[str, Any]:
    return {
        "norm": [key[0] for key in table.keys],
        "kernels": [key[1] for key in table.keys],
        "C": np.array([key[2] for key in table.keys]),
        "score": table.column("score").mean(axis=0),
        "std": table.column("score").std(axis=0),
        "loss": table.column("loss").mean(axis=0),
        "gap": np.fmax.reduce(table.column("gap")),
        "n_active": table.column("n_active").mean(axis=0),
    }


def require_weights(scorer: Any, scoring: Any) -> None:
    """An error where a score that takes no weights is to score weighted samples."""
    function = getattr(scorer, "_score_func", scorer)
    kinds = {name: given.kind for name, given in signature(function).parameters.items()}
    if "sample_weight" not in kinds and Parameter.VAR_KEYWORD not in kinds.values():
        raise ValueError(
            f"sample_weight was given with scoring={short(scoring)}, which takes no weights. Give a "
            "scoring that takes sample_weight, or repeat samples in place of weights."
        )

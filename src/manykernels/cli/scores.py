"""Cross-validation that can be stopped, with what there is until then."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from ..plots._reading import unwrap
from ._console import UserError, Voice, counted, one_line
from .data import Data

METRIC = {"classification": "accuracy", "regression": "R²"}
Split = tuple[Any, Any]


@dataclass(frozen=True)
class Fold:
    """Of one method: its score, the seconds it took and the kernels it used, or why it does not apply."""

    value: float = float("nan")
    seconds: float = 0.0
    kernels: int | None = None
    error: str = ""


@dataclass
class Scores:
    """Of one method, a value for each fold that was finished."""

    values: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    kernels: list[int] = field(default_factory=list)
    error: str = ""
    interrupted: bool = False

    def add(self, one: Fold) -> None:
        if one.error or self.error:
            self.error = self.error or one.error
            return
        self.values.append(one.value)
        self.seconds.append(one.seconds)
        if one.kernels is not None:
            self.kernels.append(one.kernels)

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.values else -np.inf

    @property
    def std(self) -> float:
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def shown(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f}"

    def against(self, data: Data) -> str:
        if data.task == "regression":
            return f"{len(self.values)} folds; a constant has 0"
        share = np.unique(np.asarray(data.y, dtype=str), return_counts=True)[1].max() / data.n
        return f"{len(self.values)} folds; always the largest class: {share:.3f}"

    def as_dict(self) -> dict[str, Any]:
        known = bool(self.values)
        return {
            "mean": self.mean if known else None,
            "std": self.std if known else None,
            "folds": self.values,
            "seconds": sum(self.seconds),
            "kernels": float(np.mean(self.kernels)) if self.kernels else None,
            "error": self.error or None,
        }


def folds(data: Data, cv: int) -> list[Split]:
    """The same for all methods."""
    if data.n < cv:
        raise UserError(f"{data.n} samples cannot be split into {cv} folds; give --cv, or --no-score.")
    if data.task == "regression":
        if data.n < 2 * cv:
            raise UserError(
                f"{data.n} samples make {cv} folds of fewer than two, and R² needs two; give a smaller --cv, "
                "or --no-score."
            )
        return list(KFold(cv, shuffle=True, random_state=0).split(np.arange(data.n)))
    labels, counts = np.unique(np.asarray(data.y, dtype=str), return_counts=True)
    if counts.min() < cv:
        raise UserError(
            f"class {str(labels[counts.argmin()])!r} has {counted(counts.min(), 'sample')}, fewer than the "
            f"{cv} folds of the cross-validation; give a smaller --cv, or fit with --no-score."
        )
    return list(StratifiedKFold(cv, shuffle=True, random_state=0).split(np.arange(data.n), data.y))


def cross_validate(
    voice: Voice, models: dict[str, Any], data: Data, splits: list[Split], jobs: int = 1
) -> dict[str, Scores]:
    """Fold by fold, so that Ctrl-C leaves comparable scores of all methods; `jobs` of them at a time."""
    results = {name: Scores() for name in models}
    tasks = [(name, split) for split in splits for name in models]
    with voice.steps("scoring", len(tasks)) as advance:
        try:
            run = Parallel(n_jobs=jobs, return_as="generator")
            found = run(delayed(_score)(clone(models[name]), data, *split) for name, split in tasks)
            for (name, _), one in zip(tasks, found, strict=True):
                results[name].add(one)
                advance(name)
        except KeyboardInterrupt:
            for scores in results.values():
                scores.interrupted = True
    return results


def _score(model: Any, data: Data, train: Any, test: Any) -> Fold:
    started = time.perf_counter()
    try:
        model.fit(*_part(data, train, train))
        X, y = _part(data, test, train)
        value = float(model.score(X, y))
    except (ValueError, TypeError) as error:  # of a method that is not for these data
        return Fold(error=one_line(error))
    seconds = time.perf_counter() - started
    try:
        return Fold(value, seconds, len(unwrap(model)[0].active_))
    except (TypeError, AttributeError):
        return Fold(value, seconds)  # a rival without kernels of ours


def _part(data: Data, rows: Any, train: Any) -> tuple[Any, Any]:
    if data.kernels:
        return data.X[np.ix_(rows, train)], data.y[rows]
    return data.X.iloc[rows], data.y[rows]

"""Cross-validation of strategies: the same folds for all, whole paths at a time."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import _safe_split

from ._base import BaseMKL
from ._cv_path import path_steps
from ._strategies import Strategy

Array = NDArray[np.float64]
_LOOSE = 1e-2  # the gap to which models are solved that are only scored
_BEHIND = 1.5  # times the error of the best, in the first fold: what is raced and further behind is left


@dataclass(frozen=True)
class Trial:
    """What one strategy reached in one fold: a row for each norm and C."""

    norm: list[Any]
    C: list[float]
    score: Array
    loss: Array  # a smooth error, to choose between equal scores
    gap: Array
    n_active: Array
    seconds: float


@dataclass
class Table:
    """One strategy over all folds."""

    strategy: Strategy
    trials: list[Trial] = field(default_factory=list)

    @property
    def mean(self) -> Array:
        return np.asarray(np.mean([trial.score for trial in self.trials], axis=0))

    @property
    def std(self) -> Array:
        return np.asarray(np.std([trial.score for trial in self.trials], axis=0))

    def best(self) -> int:
        """The row with the best mean score; equal ones by the smooth error, then by C."""
        loss = np.mean([trial.loss for trial in self.trials], axis=0)
        mean = np.round(self.mean, 12)
        return int(np.lexsort((np.array(self.trials[0].C), loss, -mean))[0])


class Decided(BaseEstimator):
    """Stands for a fitted model whose decisions on the samples to score are known."""

    def __init__(self, f: Array, classes: NDArray[Any] | None = None) -> None:
        self.f, self.classes = f, classes

    def __sklearn_is_fitted__(self) -> bool:
        return True


class DecidedClassifier(ClassifierMixin, Decided):
    @property
    def classes_(self) -> Any:
        return self.classes

    def decision_function(self, X: Any) -> Array:
        return self.f[:, 0] if self.f.shape[1] == 1 else self.f

    def predict(self, X: Any) -> NDArray[Any]:
        assert self.classes is not None
        f = self.f
        return np.asarray(self.classes[f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)])


class DecidedRegressor(RegressorMixin, Decided):
    def predict(self, X: Any) -> Array:
        return self.f[:, 0] if self.f.shape[1] == 1 else self.f


@dataclass(frozen=True)
class Data:
    """Samples, targets and weights as given, and how models are scored."""

    X: Any
    y: NDArray[Any]
    weight: Array | None
    classes: NDArray[Any] | None  # None for regression
    scorer: Any
    owner: BaseEstimator  # whose tags say how X is split

    def part(self, rows: NDArray[np.intp], train: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """Rows of the data; of a stack, against the training samples."""
        X, y = _safe_split(self.owner, self.X, self.y, rows, train)
        return X, y, None if self.weight is None else self.weight[rows]


def run_folds(
    found: list[Strategy], data: Data, folds: list[tuple[Any, Any]], n_jobs: int | None, race: bool
) -> list[Table]:
    """Every strategy in every fold; with `race`, slow ones go on only if their first fold is not hopeless."""
    tables = [Table(strategy) for strategy in found]
    going = tables
    if race and len(folds) > 1 and any(strategy.race for strategy in found):
        for table in tables:
            table.trials.append(run_trial(table.strategy, data, *folds[0]))
        errors = [1.0 - float(table.trials[0].score.max()) for table in tables]
        limit = _BEHIND * max(min(errors), 1e-3)
        going = [t for t, error in zip(tables, errors, strict=True) if not t.strategy.race or error <= limit]
        folds = folds[1:]
    jobs = [(table, fold) for fold in folds for table in going]
    run = Parallel(n_jobs=n_jobs)
    trials = run(delayed(run_trial)(table.strategy, data, *fold) for table, fold in jobs)
    for (table, _), trial in zip(jobs, trials, strict=True):
        table.trials.append(trial)
    return tables


def run_trial(strategy: Strategy, data: Data, train: NDArray[np.intp], test: NDArray[np.intp]) -> Trial:
    """One strategy in one fold."""
    started = time.perf_counter()
    X, y, weight = data.part(train, train)
    new, answer, new_weight = data.part(test, train)
    if isinstance(strategy.template, BaseMKL) and strategy.keys == ("C", "norm"):
        rows = _path(strategy, data, X, y, weight, new)
    else:
        rows = _one_by_one(strategy, X, y, weight)
    norm, C, score, loss, gap, active = [], [], [], [], [], []
    options = {} if new_weight is None else {"sample_weight": new_weight}
    for row in rows:
        norm.append(row[0])
        C.append(row[1])
        model = row[2]
        score.append(float(data.scorer(model, new, answer, **options)))
        loss.append(_smooth_error(model, new, answer, new_weight, data.classes))
        gap.append(row[3])
        active.append(row[4])
    seconds = time.perf_counter() - started
    return Trial(norm, C, np.array(score), np.array(loss), np.array(gap), np.array(active), seconds)


def _path(strategy: Strategy, data: Data, X: Any, y: Any, weight: Any, new: Any) -> list[Any]:
    template = strategy.template
    assert isinstance(template, BaseMKL)
    loose = clone(template).set_params(tol=max(float(template.tol), _LOOSE), verbose=0)
    present = None if data.classes is None else np.unique(y if weight is None else y[weight > 0])
    rows = []
    for step in path_steps(loose, X, y, weight, new, strategy.norms, strategy.Cs):
        f = step.decision
        model: Decided = DecidedRegressor(f)
        if data.classes is not None and present is not None:
            model = DecidedClassifier(_all_classes(f, present, data.classes), data.classes)
        rows.append((step.norm, step.C, model, step.gap, step.n_active))
    return rows


def _all_classes(f: Array, present: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Decisions for all classes, where some had no sample to train on: those are never chosen."""
    if present.size == classes.size:
        return f
    if f.shape[1] == 1:
        f = np.hstack([-f, f])
    full = np.full((len(f), classes.size), float(f.min(initial=0.0)) - 1.0)
    full[:, np.searchsorted(classes, present)] = f
    return full


def _one_by_one(strategy: Strategy, X: Any, y: Any, weight: Any) -> list[Any]:
    """Models that have no path of their own, fitted for each C anew."""
    rows = []
    for norm in strategy.norms:
        for C in strategy.Cs:
            model = clone(strategy.template).set_params(**strategy.params(C, norm))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
            active = getattr(model, "active_", np.empty(0))
            rows.append((norm, C, model, getattr(model, "dual_gap_", np.nan), len(active)))
    return rows


def _smooth_error(model: Any, X: Any, y: Any, weight: Any, classes: NDArray[Any] | None) -> float:
    """The mean squared error of the predictions, or of decisions clipped to ±1 around the right label."""
    w = np.ones(len(y)) if weight is None else weight
    if classes is None:
        residual = np.asarray(model.predict(X)) - y
        squares = residual**2 if residual.ndim == 1 else np.mean(residual**2, axis=1)
        return float(np.average(squares, weights=w)) if w.sum() else 0.0
    if not hasattr(model, "decision_function"):
        return 0.0
    f = np.clip(model.decision_function(X), -1.0, 1.0)
    if f.ndim == 1:
        squares = (f - np.where(y == classes[1], 1.0, -1.0)) ** 2
    else:
        squares = np.mean((f - np.where(np.asarray(y)[:, None] == classes, 1.0, -1.0)) ** 2, axis=1)
    return float(np.average(squares, weights=w)) if w.sum() else 0.0

"""Cross-validation of strategies: the same folds for all, whole paths at a time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import _safe_split, available_if

from .._arguments import shown
from .._fast.stopping import goes_on
from .._fast.threads import processes
from ..grams import parse_memory
from ._base import BaseMKL
from ._cv_path import Only, path_steps
from ._strategies import Strategy
from ._targets import class_costs

Array = NDArray[np.float64]
_LOOSE = 1e-2  # the gap to which models are solved that are only scored
_BEHIND = 1.5  # times the error of the best, in the first fold: what is raced and further behind is left


@dataclass(frozen=True)
class Row:
    """One model in one fold."""

    score: float
    loss: float  # a smooth error, which tells models apart that score the same
    gap: float
    n_active: int


Key = tuple[Any, Only, float]  # norm, kernels, C
Trial = dict[Key, Row]


@dataclass
class Table:
    """One strategy over the folds: the models that were there in all of them, in the order of the first."""

    strategy: Strategy
    trials: list[Trial] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def keys(self) -> list[Key]:
        return [key for key in self.trials[0] if all(key in trial for trial in self.trials)]

    def column(self, name: str) -> Array:
        """(folds, models)."""
        return np.array([[getattr(trial[key], name) for key in self.keys] for trial in self.trials])

    def best(self, by_score: bool) -> tuple[tuple[float, float], int]:
        """How good the best model is (smaller is better), and which it is."""
        loss, score = self.column("loss").mean(axis=0), np.round(self.column("score").mean(axis=0), 12)
        order = np.lexsort((loss, -score)) if by_score else np.lexsort((-score, loss))
        i = int(order[0])
        return ((-float(score[i]), float(loss[i])) if by_score else (float(loss[i]), -float(score[i]))), i


def read_folds(cv: Any, n: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Folds that were given one by one: pairs of rows to train on and rows to score."""
    expected = (
        "expected a number of folds, a splitter such as KFold(5), 'loo', or pairs (train, test) of the "
        "numbers of rows"
    )
    if isinstance(cv, str | bytes) or not np.iterable(cv):
        raise ValueError(f"cv={shown(cv)} was given; {expected}.")
    folds = []
    for pair in cv:
        rows = [np.asarray(part) for part in pair] if isinstance(pair, tuple | list) else []
        fits = [r.ndim == 1 and (r.dtype.kind in "iu" or (r.dtype == bool and len(r) == n)) for r in rows]
        if len(rows) != 2 or not all(fits) or any(r.dtype.kind in "iu" and not _within(r, n) for r in rows):
            raise ValueError(f"cv={shown(cv)} was given; {expected}, each below {n}.")
        folds.append((rows[0], rows[1]))
    if not folds:
        raise ValueError(f"cv={shown(cv)} holds no fold; {expected}.")
    return folds


def _within(rows: NDArray[Any], n: int) -> bool:
    return bool(np.all((rows >= -n) & (rows < n)))


class Decided(BaseEstimator):
    """Stands for a fitted model whose decisions on the samples to score are known."""

    def __init__(self, f: Array, classes: NDArray[Any] | None = None) -> None:
        self.f, self.classes = f, classes

    def __sklearn_is_fitted__(self) -> bool:
        return True


class DecidedClassifier(ClassifierMixin, Decided):
    def __init__(self, f: Array, classes: NDArray[Any] | None = None, logistic: bool = False) -> None:
        super().__init__(f, classes)
        self.logistic = logistic

    @property
    def classes_(self) -> Any:
        return self.classes

    def decision_function(self, X: Any) -> Array:
        return self.f[:, 0] if self.f.shape[1] == 1 else self.f

    def predict(self, X: Any) -> NDArray[Any]:
        assert self.classes is not None
        f = self.f
        return np.asarray(self.classes[f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)])

    @available_if(lambda model: model.logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        p = expit(np.hstack([-self.f, self.f]) if self.f.shape[1] == 1 else self.f)
        return np.asarray(p / p.sum(axis=1, keepdims=True))


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
    scorer: Any  # None: accuracy, or R²
    owner: BaseEstimator  # whose tags say how X is split

    def part(self, rows: NDArray[np.intp], train: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """Rows of the data; of a stack, against the training samples."""
        X, y = _safe_split(self.owner, self.X, self.y, rows, train)
        return X, y, None if self.weight is None else self.weight[rows]

    def cost(self, rows: NDArray[np.intp]) -> Array | None:
        """What errors on these samples count where models are chosen: weight times that of the class."""
        class_weight = getattr(self.owner, "class_weight", None)
        if self.classes is None or class_weight is None:
            return None if self.weight is None else self.weight[rows]
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        used = weight > 0  # others may be of no class
        codes = np.searchsorted(self.classes, self.y[used])
        cost = np.zeros(len(self.y))
        cost[used] = weight[used] * class_costs(class_weight, self.classes, codes, weight[used])[codes]
        return cost[rows]


def run_folds(
    found: list[Strategy],
    data: Data,
    folds: list[tuple[Any, Any]],
    n_jobs: int | None,
    race: bool,
    done: Callable[[str], None] = lambda name: None,
) -> list[Table]:
    """Every strategy in every fold; with `race`, slow ones go on only if their first fold is not hopeless.

    `done` is told of every strategy in every fold, also of those that are left out. Asked to stop
    (`solvers.stoppable`), it leaves the folds that every strategy has been through; or, in the first one, the
    strategies until then.
    """
    tables = [Table(strategy) for strategy in found]
    going = tables
    if race and len(folds) > 1 and any(strategy.race for strategy in found):
        if not _run(tables, data, folds[:1], n_jobs, done):
            return [table for table in tables if table.trials]
        errors = [min(row.loss for row in table.trials[0].values()) for table in tables]
        limit = _BEHIND * min(errors)
        going = [t for t, error in zip(tables, errors, strict=True) if not t.strategy.race or error <= limit]
        folds = folds[1:]
        for table in tables:
            if table not in going:
                for _ in folds:
                    done(f"{table.strategy.name} is too far behind")
    if not _run(going, data, folds, n_jobs, done):
        whole = max(1, min(len(table.trials) for table in going))
        for table in going:
            del table.trials[whole:]
    return [table for table in tables if table.trials]


def _run(
    tables: list[Table],
    data: Data,
    folds: list[tuple[Any, Any]],
    n_jobs: int | None,
    done: Callable[[str], None],
) -> bool:
    """Add to the tables; whether it got to the end. A trial during which somebody asked to stop is left out,
    since its models are unfinished, but for the very first.
    """
    jobs = [(table, fold) for fold in folds for table in tables]
    count = processes(n_jobs, len(jobs))
    strategies = {table.strategy.name: _sharing(table.strategy, effective_n_jobs(count)) for table in tables}
    parallel = Parallel(n_jobs=count, return_as="generator")  # so that progress can be told
    found = parallel(delayed(run_trial)(strategies[t.strategy.name], data, *fold) for t, fold in jobs)
    for (table, _), (trial, seconds) in zip(jobs, found, strict=False):  # may end early
        asked = not goes_on(0, 1)
        if not asked or not any(other.trials for other in tables):
            table.trials.append(trial)
            table.seconds += seconds
        done(table.strategy.name)
        if asked:
            found.close()
            return False
    return True


def _sharing(strategy: Strategy, jobs: int) -> Strategy:
    """The strategy with its share of the memory, where several run at a time."""
    if jobs == 1 or "memory_limit" not in strategy.template.get_params(deep=False):
        return strategy
    limit = max(parse_memory(strategy.template.memory_limit) // jobs, 1)
    return replace(strategy, template=clone(strategy.template).set_params(memory_limit=limit))


def run_trial(
    strategy: Strategy, data: Data, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[Trial, float]:
    """One strategy in one fold, and the seconds it took."""
    started = time.perf_counter()
    X, y, weight = data.part(train, train)
    new, answer, new_weight = data.part(test, train)
    cost = data.cost(test)
    exact = isinstance(strategy.template, BaseMKL) and strategy.template.approx is None
    if exact and strategy.keys == ("C", "norm"):
        models = _path(strategy, data, (X, y, weight), (new, answer, cost))
    else:
        models = _one_by_one(strategy, X, y, weight)
    options = {} if new_weight is None else {"sample_weight": new_weight}
    trial: Trial = {}
    for key, model, gap, active in models:
        if data.scorer is None:
            score = score_of(model.predict(new), answer, new_weight, data.classes)
        else:
            score = float(data.scorer(model, new, answer, **options))
        trial[key] = Row(score, smooth_error(model, new, answer, cost, data.classes), gap, active)
    return trial, time.perf_counter() - started


def _path(
    strategy: Strategy, data: Data, train: tuple[Any, Any, Any], test: tuple[Any, Any, Any]
) -> list[Any]:
    template, (X, y, weight), (new, answer, cost) = strategy.template, train, test
    assert isinstance(template, BaseMKL)
    loose = clone(template).set_params(tol=max(float(template.tol), _LOOSE), verbose=0)
    logistic = hasattr(template, "predict_proba")
    present = None if data.classes is None else np.unique(y if weight is None else y[weight > 0])

    def decided(f: Array) -> Decided:
        if data.classes is None or present is None:
            return DecidedRegressor(f)
        return DecidedClassifier(_all_classes(f, present, data.classes), data.classes, logistic)

    def error(f: Array) -> float:
        return smooth_error(decided(f), new, answer, cost, data.classes)

    steps = path_steps(loose, X, y, weight, new, strategy.norms, strategy.Cs, strategy.parts, error)
    return [
        ((step.norm, step.only, step.C), decided(step.decision), step.gap, step.n_active) for step in steps
    ]


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
            model = clone(strategy.template).set_params(**strategy.params(norm, None, C))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
            active = getattr(model, "active_", np.empty(0))
            rows.append(((norm, None, C), model, float(getattr(model, "dual_gap_", np.nan)), len(active)))
    return rows


def score_of(f: Any, y: Any, weight: Any, classes: NDArray[Any] | None) -> float:
    """The accuracy or R² (the mean over outputs), without the checks of scikit-learn's, which cost more."""
    w = np.ones(len(y)) if weight is None else weight
    if not w.sum():
        return 0.0
    if classes is not None:
        return float(np.average(np.asarray(f) == y, weights=w))
    residual, spread = (y - f) ** 2, (y - np.average(y, axis=0, weights=w)) ** 2
    lost, total = np.average(residual, axis=0, weights=w), np.average(spread, axis=0, weights=w)
    varies = total > 0.0
    explained = np.where(varies, 1.0 - lost / np.where(varies, total, 1.0), np.where(lost > 0.0, 0.0, 1.0))
    return float(np.mean(explained))


def smooth_error(model: Any, X: Any, y: Any, weight: Any, classes: NDArray[Any] | None) -> float:
    """The mean squared error of the predictions, or of decisions clipped to ±1 around the right label."""
    w = np.ones(len(y)) if weight is None else weight
    if classes is None:
        residual = np.asarray(model.predict(X)) - y
        squares = residual**2 if residual.ndim == 1 else np.mean(residual**2, axis=1)
        return float(np.average(squares, weights=w)) if w.sum() else 0.0
    f = np.clip(_decided(model, X, classes), -1.0, 1.0)
    if f.shape[1] == 1:
        squares = (f[:, 0] - np.where(y == classes[1], 1.0, -1.0)) ** 2
    else:
        squares = np.mean((f - np.where(np.asarray(y)[:, None] == classes, 1.0, -1.0)) ** 2, axis=1)
    return float(np.average(squares, weights=w)) if w.sum() else 0.0


def _decided(model: Any, X: Any, classes: NDArray[Any]) -> Array:
    """(n, classes), or (n, 1) for two: decisions, or probabilities or labels on the scale from −1 to 1."""
    present = np.asarray(model.classes_)
    f = np.empty((0, 0))
    if hasattr(model, "decision_function"):
        f = np.asarray(model.decision_function(X))
        f = f.reshape(len(f), -1)
    elif hasattr(model, "predict_proba"):
        f = 2.0 * np.asarray(model.predict_proba(X)) - 1.0
    expected = (1, 2) if present.size == 2 else (present.size,)
    if f.shape[1] not in expected:  # there is none, or one for each pair of classes
        f = np.where(np.asarray(model.predict(X))[:, None] == present, 1.0, -1.0)
    return _all_classes(f, present, classes)

"""Cross-validation of strategies: the same folds for all, whole paths at a time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from .._arguments import shown
from .._fast.stopping import goes_on
from .._fast.threads import processes
from ..families.remarks import quiet_about_tables
from ..fitting.layout import evenly, take
from ..fitting.samples import Given
from ..fitting.spec import short
from ..fitting.stacks import cut
from ..fitting.targets import class_costs
from ..grams import parse_memory
from .paths import Only, path_steps
from .scoring import Adjusted, Judge
from .strategies import Strategy
from .survival_judge import SurvivalJudge, Together

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Folds = list[tuple[Index, Index]]
_FOLDS = 5
_LOOSE = 1e-2  # the gap to which models are solved that are only scored
_THIN = 1000  # samples from which models of times to an event are learned to be compared
_KEPT = 4000  # decisions of a model in a fold that are kept, at most
_BEHIND = 1.5  # times the error of the best, in the first fold: what is raced and further behind is left


@dataclass(frozen=True)
class Row:
    """One model in one fold."""

    score: float
    loss: float  # a smooth error, which tells models apart that score the same
    gap: float
    n_active: int
    decision: Any = field(default=None, repr=False)  # (kept, outputs) of classifiers; risks (kept,)


Key = tuple[Any, Only, float]  # norm, kernels, C
Trial = dict[Key, Row]


@dataclass
class Table:
    """One strategy over the folds: the models that were there in all of them, in the order of the first."""

    strategy: Strategy
    trials: list[Trial] = field(default_factory=list)
    held: list[Index] = field(default_factory=list)  # the samples that decisions are kept of, by trial
    seconds: float = 0.0

    @property
    def keys(self) -> list[Key]:
        return [key for key in self.trials[0] if all(key in trial for trial in self.trials)]

    def column(self, name: str) -> Array:
        """(folds, models)."""
        keys = self.keys
        return np.array([[getattr(trial[key], name) for key in keys] for trial in self.trials])

    def best(self, by_score: bool) -> tuple[tuple[float, float], int]:
        """How good the best model is (smaller is better), and which it is."""
        loss, score = self.column("loss").mean(axis=0), np.round(self.column("score").mean(axis=0), 12)
        order = np.lexsort((loss, -score)) if by_score else np.lexsort((-score, loss))
        i = int(order[0])
        return ((-float(score[i]), float(loss[i])) if by_score else (float(loss[i]), -float(score[i]))), i


@dataclass(frozen=True)
class Data:
    """Samples, targets and weights, and how models are scored."""

    X: Any  # as given, for models of the user's own
    given: Given | None  # the same, read; None where samples are in a Dask collection
    y: NDArray[Any]
    weight: Array | None
    classes: NDArray[Any] | None  # None for regression
    class_weight: Any
    scorer: Any  # None: accuracy, or R²
    covariates: Any = None  # as given beside X
    target: Any = None  # what y holds, once learned

    @property
    def survival(self) -> bool:
        return getattr(self.target, "task", None) == "survival"

    def asked(self, train: Index, test: Index) -> Index:
        """The samples whose decisions are asked for: scorers of survival need the training samples too."""
        return np.concatenate([test, train]) if self.survival and self.scorer is not None else test

    def beside(self, rows: Index) -> dict[str, Any]:
        """Covariates of some samples, for models of the user's own: arguments of their methods."""
        return {} if self.covariates is None else {"covariates": take(self.covariates, rows)}

    def part(self, rows: Index, train: Index) -> tuple[Any, NDArray[Any], Array | None]:
        """Rows of the data as given; of a stack, against the training samples."""
        stack = self.given is not None and self.given.layout.kind == "stack"
        X = cut(self.X, rows, train) if stack else take(self.X, rows)
        return X, self.y[rows], None if self.weight is None else self.weight[rows]

    def cost(self, rows: Index) -> Array | None:
        """What errors on these samples count where models are chosen: weight times that of the class."""
        if self.classes is None or self.class_weight is None:
            return None if self.weight is None else self.weight[rows]
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        used = weight > 0  # others may be of no class
        codes = np.searchsorted(self.classes, self.y[used])
        cost = np.zeros(len(self.y))
        cost[used] = weight[used] * class_costs(self.class_weight, self.classes, codes, weight[used])[codes]
        return cost[rows]

    def kept(self, test: Index) -> Index:
        """Which of the held-out samples have decisions that are kept, to learn probabilities from."""
        if self.survival:
            return np.arange(test.size)
        most = 0 if self.classes is None else max(1, _KEPT // self.classes.size)
        return evenly(test.size, most) if most else np.empty(0, dtype=np.intp)

    def judge(
        self,
        train: Index,
        test: Index,
        present: NDArray[Any] | None,
        logistic: bool = False,
        joint: bool = False,
    ) -> Judge | SurvivalJudge:
        """Who judges models that were learned without these samples, from others of the classes `present`."""
        if self.survival:
            assert self.target is not None
            rows = self.asked(train, test)
            weight = None if self.weight is None else self.weight[rows]
            return SurvivalJudge(self.y[rows], weight, test.size, self.target.ties, self.scorer)
        weight = None if self.weight is None else self.weight[test]
        cost = self.cost(test)
        return Judge(self.y[test], weight, cost, self.classes, present, logistic, self.scorer, joint)


# -- which folds ----------------------------------------------------------------------------------
def make_folds(cv: Any, X: Any, data: Data, groups: Any, random_state: Any) -> Folds:
    """Splits into training and test samples; each has something to learn from, and something to score."""
    splitter, y, classes = cv, data.y, data.classes
    if data.survival:  # every fold has its share of events
        y, classes = data.y["event"], _both(data.y["event"])
    if splitter is None:
        rng = check_random_state(0 if random_state is None else random_state)
        counts = len(y) if classes is None else int(np.unique(y, return_counts=True)[1].max())
        splits = max(2, min(_FOLDS, counts))
        kind = KFold if classes is None else StratifiedKFold
        splitter = kind(splits, shuffle=True, random_state=rng.randint(2**31 - 1))
    if len(y) < 2:
        raise ValueError(
            f"X holds {len(y)} sample (n_samples = {len(y)}); a cross-validation needs at least 2."
        )
    if isinstance(splitter, bytes) or not (isinstance(splitter, Integral) or hasattr(splitter, "split")):
        splitter = _read_folds(splitter, len(y))
    splitter = check_cv(splitter, y, classifier=classes is not None)
    with _quiet_about_small_classes():
        folds = [(np.asarray(a), np.asarray(b)) for a, b in split(splitter, X, y, groups)]
    folds = [(_numbers(train), _numbers(test)) for train, test in folds]
    if cv is None and data.survival:
        folds = [(_thinned(train, data.y["event"], random_state), test) for train, test in folds]
    _check_folds(folds, data, "the folds taken without cv" if cv is None else f"cv={short(cv)}")
    return folds


def _thinned(train: Index, event: NDArray[np.bool_], random_state: Any) -> Index:
    """At most so many samples as a matrix is factored of in a fraction of a second, events in proportion."""
    if train.size <= _THIN:
        return train
    rng = check_random_state(0 if random_state is None else random_state)
    order = rng.permutation(train.size)
    order = order[np.argsort(event[train[order]], kind="stable")]  # those without an event first
    return np.sort(train[order[np.linspace(0, train.size - 1, _THIN).astype(np.intp)]])


def _both(event: NDArray[np.bool_]) -> NDArray[Any] | None:
    """What folds are stratified by: events, where there are samples without one."""
    return None if event.all() else np.array([False, True])


def split(splitter: Any, X: Any, y: Any, groups: Any) -> Iterator[Any]:
    """The folds of a splitter, or an error that says that it needs groups."""
    try:
        yield from splitter.split(X, y, groups)
    except ValueError as error:
        if groups is not None or "group" not in str(error):
            raise
        raise ValueError(
            f"cv={short(splitter)} cuts folds by groups of samples, and none were given. Give a label for "
            "each sample: groups=... to fit, compare and permutation_test, sample_groups=... to importance "
            "and weight_stability."
        ) from error


def _check_folds(folds: Folds, data: Data, given: str) -> None:
    for k, (train, test) in enumerate(folds):
        used = train if data.weight is None else train[data.weight[train] > 0]
        counts = test.size and (data.weight is None or bool(np.any(data.weight[test] > 0)))
        if not used.size or not counts:
            raise ValueError(f"Fold {k} of {given} has no sample to train on, or none to score.")
        if data.survival and not data.y["event"][used].any():
            raise ValueError(
                f"Fold {k} of {given} trains on samples without an event: all {int(data.y['event'].sum())} "
                "events are held out. Take fewer folds, or a stratified or shuffled cv."
            )
        if data.classes is not None and np.unique(data.y[used]).size < 2:
            _require_repeated(data)
            raise ValueError(
                f"Fold {k} of {given} trains on samples of one class only ({data.y[used].tolist()[0]!r}). "
                "Take fewer folds, a stratified or shuffled cv, or groups that do not leave a class out."
            )


def _require_repeated(data: Data) -> None:
    """An error about a class of one sample, which cannot be both learned from and held out."""
    y = data.y if data.weight is None else data.y[data.weight > 0]
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"Class {classes.tolist()[int(counts.argmin())]!r} has one sample only, so that nothing is left "
            "to learn it from while that is held out. Give at least 2 samples of each class, or leave "
            "this one out."
        )


@contextmanager
def _quiet_about_small_classes() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        yield


def _read_folds(cv: Any, n: int) -> Folds:
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


def _numbers(rows: NDArray[Any]) -> Index:
    """Rows by number, also where a mask was given."""
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _within(rows: NDArray[Any], n: int) -> bool:
    return bool(np.all((rows >= -n) & (rows < n)))


# -- running them ---------------------------------------------------------------------------------
def run_folds(
    found: list[Strategy],
    data: Data,
    folds: Folds,
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
            del table.trials[whole:], table.held[whole:]
    if data.survival:
        for table in tables:
            _judge_together(table, data)
    return [table for table in tables if table.trials]


def _judge_together(table: Table, data: Data) -> None:
    """Errors of risks among all samples that were held out, where each was so once."""
    if not table.trials:
        return
    judge = Together(data.y, data.weight, data.target.ties, table.held)
    if not judge.whole:
        return
    for key in table.keys:
        rows = [trial[key] for trial in table.trials]
        losses = judge.errors([np.asarray(row.decision) for row in rows])
        for trial, row, loss in zip(table.trials, rows, losses, strict=True):
            trial[key] = replace(row, loss=float(loss), decision=None)


def _run(
    tables: list[Table], data: Data, folds: Folds, n_jobs: int | None, done: Callable[[str], None]
) -> bool:
    """Add to the tables; whether it got to the end. A trial during which somebody asked to stop is left out,
    since its models are unfinished, but for the very first.
    """
    jobs = [(table, fold) for fold in folds for table in tables]
    count = processes(n_jobs, len(jobs))
    strategies = {table.strategy.name: _sharing(table.strategy, effective_n_jobs(count)) for table in tables}
    parallel = Parallel(n_jobs=count, return_as="generator")  # so that progress can be told
    found = parallel(delayed(run_trial)(strategies[t.strategy.name], data, *fold) for t, fold in jobs)
    for (table, (_, test)), (trial, seconds) in zip(jobs, found, strict=False):  # may end early
        asked = not goes_on(0, 1)
        if not asked or not any(other.trials for other in tables):
            table.trials.append(trial)
            table.held.append(test[data.kept(test)])
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
    template = clone(strategy.template).set_params(memory_limit=limit)
    options = None if strategy.options is None else strategy.options.replace(memory_limit=limit)
    return replace(strategy, template=template, options=options)


def run_trial(strategy: Strategy, data: Data, train: Index, test: Index) -> tuple[Trial, float]:
    """One strategy in one fold, and the seconds it took."""
    started = time.perf_counter()
    trial = (_path if strategy.has_path else _one_by_one)(strategy, data, train, test)
    return trial, time.perf_counter() - started


def _path(strategy: Strategy, data: Data, train: Index, test: Index) -> Trial:
    """The models of a path in C, which is learned as a whole."""
    options, given = strategy.options, strategy.given
    assert options is not None and given is not None
    asked = data.asked(train, test)
    samples, new = given.part(train).samples(), given.new(asked, train)
    present = getattr(samples.target, "classes", None)
    judge = data.judge(train, test, present, options.loss.probabilistic, options.joint)
    loose = options.replace(tol=max(float(options.tol), _LOOSE), verbose=0)
    beside = given.new_beside(asked)
    # a path ends where its error grows, but for events: of these a fold has few, and its error is rough
    error = None if data.survival else judge.error
    steps = path_steps(loose, samples, new, strategy.norms, strategy.Cs, strategy.parts, error, beside)
    scores = judge.scores([step.decision for step in steps])
    kept = data.kept(test)
    return {
        (step.norm, step.only, step.C): Row(
            *score, step.gap, step.n_active, judge.decisions(judge.stand_in(step.decision), kept)
        )
        for step, score in zip(steps, scores, strict=True)
    }


def _one_by_one(strategy: Strategy, data: Data, train: Index, test: Index) -> Trial:
    """Models that have no path of their own, fitted for each C anew."""
    X, y, weight = data.part(train, train)
    asked = data.asked(train, test)
    new, _, _ = data.part(asked, train)
    judge, kept, trial = data.judge(train, test, data.classes), data.kept(test), Trial()
    for norm in strategy.norms:
        for C in strategy.Cs:
            model = clone(strategy.template).set_params(**strategy.params(norm, None, C))
            with quiet_about_tables():
                warnings.simplefilter("ignore", ConvergenceWarning)
                weights = {} if weight is None else {"sample_weight": weight}
                model.fit(X, y, **weights, **data.beside(train))
                model = model if data.covariates is None else Adjusted(model, data.beside(asked))
                score = judge.score(model, new)
            active, gap = (
                len(getattr(model, "active_", ())),
                float(np.max(getattr(model, "dual_gap_", np.nan))),
            )
            trial[norm, None, C] = Row(*score, gap, active, judge.decisions(model, kept, new))
    return trial

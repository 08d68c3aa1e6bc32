"""Cross-validation of strategies: the same folds for all, whole paths at a time."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._fast.stopping import goes_on
from .._fast.threads import processes
from .._pieces import current, kept
from ..families.remarks import quiet_about_tables
from ..fitting.asked import NothingVariesError
from ..grams import parse_memory
from ..kernels import Kernel
from .chance import may_be_best
from .data import Data, Index
from .paths import Only, Parts, PathStep, path_steps
from .scoring import Adjusted, Judge
from .splits import Folds
from .strategies import Strategy
from .survival_judge import SurvivalJudge, Together

Array = NDArray[np.float64]
_LOOSE = 1e-2  # the gap to which models are solved that are only scored
_BEHIND = 1.5  # times the error of the best, in the first fold: what is raced and surely so far is left


@dataclass(frozen=True)
class Row:
    """One model in one fold."""

    score: float
    loss: float  # a smooth error, which tells models apart that score the same
    gap: float
    n_active: int
    decision: Any = field(default=None, repr=False)  # (kept, outputs) of classifiers; risks (kept,)
    plain: bool = False  # whether it is the plainest model that there is
    errors: Any = field(default=None, repr=False)  # (held out,) in the first fold of a race


Key = tuple[Any, Only, float]  # norm, kernels, C
Errors = Literal["none", "best", "all"]  # of which models the errors of single samples are kept
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
        """Return the error of the best model (smaller is better), and its position."""
        loss, score = self.column("loss").mean(axis=0), np.round(self.column("score").mean(axis=0), 12)
        order = np.lexsort((loss, -score)) if by_score else np.lexsort((-score, loss))
        i = int(order[0])
        return ((-float(score[i]), float(loss[i])) if by_score else (float(loss[i]), -float(score[i]))), i


def run_folds(
    found: list[Strategy],
    data: Data,
    folds: Folds,
    n_jobs: int | None,
    race: bool,
    done: Callable[[str], None] = lambda name: None,
    narrow: bool = False,
) -> list[Table]:
    """Run every strategy in every fold; with `race` slow ones stop if their first fold is far behind.

    With `narrow` this holds for all of them, and for their norms, kernels and values of C too. Far behind is
    what has 1.5 times the error of the best, by more than two standard errors of the difference over the
    samples held out in the first fold.

    `done` is told of every strategy in every fold, also of those that are left out. Asked to stop
    (`solvers.stoppable`), it leaves the folds that every strategy has been through; or, in the first one, the
    strategies until then.
    """
    tables = [Table(strategy) for strategy in found]
    going = tables
    if len(folds) > 1 and (narrow or (race and any(strategy.race for strategy in found))):
        if not _run(tables, data, folds[:1], n_jobs, done, "all" if narrow else "best"):
            return [table for table in tables if table.trials and table.keys]
        near = _near(tables)
        going = [
            table
            for table, keys in zip(tables, near, strict=True)
            if keys or not (narrow or table.strategy.race)
        ]
        for table, keys in zip(tables, near, strict=True) if narrow else ():
            if keys:
                table.strategy = _narrowed(table.strategy, table.trials[0], keys)
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
    return [table for table in tables if table.trials and (table.keys or not table.strategy.optional)]


def _near(tables: list[Table]) -> list[set[Key]]:
    """Of every strategy the models that are not far behind in the first fold, or not for sure."""
    best = min((row for table in tables for row in table.trials[0].values()), key=lambda row: row.loss)
    limit = _BEHIND * best.loss
    found = []
    for table in tables:
        trial = table.trials[0]
        found.append({k for k, r in trial.items() if r.loss <= limit or may_be_best(r.errors, best.errors)})
        for key, row in trial.items():
            trial[key] = replace(row, errors=None)  # nobody asks for them again
    return found


@dataclass(frozen=True)
class _Kept:
    """Some of the sets of kernels that a strategy learns from."""

    parts: Parts
    kept: frozenset[Any]

    def __call__(self, kernels: Mapping[str, Kernel]) -> list[tuple[Any, Only]]:
        return [one for one in self.parts(kernels) if one in self.kept]


def _narrowed(strategy: Strategy, trial: Trial, near: set[Key]) -> Strategy:
    """The strategy without norms, kernels and C that are far behind; of all kernels one norm stays."""
    if not strategy.has_path:
        return strategy
    sets = frozenset((norm, only) for norm, only, _ in near)
    best = {
        norm: min(row.loss for key, row in trial.items() if key[:2] == (norm, None))
        for norm in strategy.norms
    }
    norms = [norm for norm in strategy.norms if (norm, None) in sets] or [min(best, key=lambda n: best[n])]
    Cs = [C for C in strategy.Cs if any(C == cost for _, _, cost in near)]
    parts = None if strategy.parts is None else _Kept(strategy.parts, sets)
    return replace(strategy, norms=norms, Cs=Cs, parts=parts)


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
    tables: list[Table],
    data: Data,
    folds: Folds,
    n_jobs: int | None,
    done: Callable[[str], None],
    errors: Errors = "none",
) -> bool:
    """Add to the tables; whether it got to the end. A trial during which somebody asked to stop is left out,
    since its models are unfinished, but for the very first. `errors` says which models keep the errors of
    single samples: "best" keeps those of the best, and of strategies that race.
    """
    jobs = [(table, fold) for fold in folds for table in tables]
    count = processes(n_jobs, len(jobs))
    strategies = {table.strategy.name: _sharing(table.strategy, effective_n_jobs(count)) for table in tables}
    parallel = Parallel(n_jobs=count, return_as="generator")  # so that progress can be told
    store = current()
    found = parallel(
        delayed(kept)(store, _name(t, fold), run_trial, strategies[t.strategy.name], data, *fold, errors)
        for t, fold in jobs
    )
    for (table, (_, test)), (trial, seconds) in zip(jobs, found, strict=False):  # may end early
        asked = not goes_on(0, 1)
        if not asked or not any(other.trials for other in tables):
            table.trials.append(trial)
            table.held.append(test[data.kept(test)])
            table.seconds += seconds
        done(table.strategy.name)
        if asked:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of joblib: what nobody waits for any more
                found.close()
            return False
    return True


def _name(table: Table, fold: tuple[Index, Index]) -> tuple[Any, ...]:
    """Return the name by which a trial is kept: its strategy and its fold."""
    parts = (hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest() for rows in fold)
    return ("trial", table.strategy.name, *parts)


def _sharing(strategy: Strategy, jobs: int) -> Strategy:
    """The strategy with its share of the memory, where several run at a time."""
    if jobs == 1 or "memory_limit" not in strategy.template.get_params(deep=False):
        return strategy
    limit = max(parse_memory(strategy.template.memory_limit) // jobs, 1)
    template = clone(strategy.template).set_params(memory_limit=limit)
    options = None if strategy.options is None else strategy.options.replace(memory_limit=limit)
    return replace(strategy, template=template, options=options)


def run_trial(
    strategy: Strategy, data: Data, train: Index, test: Index, errors: Errors = "none"
) -> tuple[Trial, float]:
    """Run one strategy in one fold; return its models and the seconds.

    A strategy that nobody asked for has no model where columns do not vary that it makes its kernels of.
    """
    started = time.perf_counter()
    errors = "all" if errors == "best" and strategy.race else errors
    try:
        trial = (_path if strategy.has_path else _one_by_one)(strategy, data, train, test, errors)
    except NothingVariesError:
        if not strategy.optional:
            raise
        trial = Trial()
    return trial, time.perf_counter() - started


def _path(strategy: Strategy, data: Data, train: Index, test: Index, errors: Errors) -> Trial:
    """The models of a path in C, which is learned as a whole."""
    steps, judge = steps_of(strategy, data, train, test)
    scores = judge.scores([step.decision for step in steps])
    kept, trial = data.kept(test), Trial()
    best = min(range(len(steps)), key=lambda i: scores[i][1], default=0)
    for i, (step, score) in enumerate(zip(steps, scores, strict=True)):
        decided = judge.decisions(judge.stand_in(step.decision), kept)
        asked = errors == "all" or (errors == "best" and i == best)
        own = judge.row_errors(step.decision) if asked and isinstance(judge, Judge) else None
        row = Row(*score, step.gap, step.n_active, decided, step.plain, own)
        trial[step.norm, step.only, step.C] = row
    return trial


def steps_of(
    strategy: Strategy, data: Data, train: Index, test: Index, bounds: list[Any] | None = None
) -> tuple[list[PathStep], Judge | SurvivalJudge]:
    """The steps of a path that was learned from some samples, with decisions on others, and their judge."""
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
    given_path = strategy.norms, strategy.Cs, strategy.parts, error, beside, bounds, strategy.costs
    return path_steps(loose, samples, new, *given_path), judge


def _one_by_one(strategy: Strategy, data: Data, train: Index, test: Index, errors: Errors) -> Trial:
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
                own = judge.errors_of(model, new) if errors != "none" and isinstance(judge, Judge) else None
            active, gap = (
                len(getattr(model, "active_", ())),
                float(np.max(getattr(model, "dual_gap_", np.nan))),
            )
            decided = judge.decisions(model, kept, new)
            trial[norm, None, C] = Row(*score, gap, active, decided, errors=own)
    return trial

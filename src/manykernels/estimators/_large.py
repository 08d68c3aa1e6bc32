"""Searches over many rows: the stages of `selection/plan.py`, one after the other."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._arguments import number_of
from .._fast.stopping import within
from .._fast.threads import threads
from .._pieces import part
from ..approx import Nystroem
from ..families.remarks import quiet_about_tables
from ..fitting.layout import Layout, is_lazy, take
from ..fitting.lazy import in_memory, pose
from ..fitting.options import Options
from ..fitting.progress import Progress, progress
from ..fitting.samples import AnySamples
from ..fitting.spec import needs_stack
from ..fitting.targets import Target
from ..selection import plan as plans
from ..selection.calibration import Calibration
from ..selection.data import Data, Index
from ..selection.plan import Plan, make_plan
from ..selection.race import (
    Contender,
    held_rows,
    race_of_fold,
    scarce,
    second_round,
    some_rows,
    still_near,
    with_best,
    within_rows,
)
from ..selection.search import leading
from ..selection.splits import Folds, look_at_groups, make_folds
from ..selection.strategies import strategies
from ._last import last_stage

Array = NDArray[np.float64]
_FOLDS = 3  # of the race, where nobody gave any
_JUDGED = 2000  # rows held out on which finalists are compared
_RACE, _SECOND = 0.5, 0.7  # of the time budget until when these stages go on


@dataclass(frozen=True)
class Round:
    """The finalists that were learned from more rows, the best first, with the rows of each part."""

    contenders: list[Contender]
    data: Data  # of the rows that were learned from and judged on
    learned: Index  # places of the first among them
    train: Index  # all rows that may be learned from
    held: Index  # and all that are held out

    @property
    def judged(self) -> Index:
        """The positions of the rows on which finalists were compared."""
        return np.setdiff1d(np.arange(len(self.data.y)), self.learned)


@dataclass
class Stages:
    """The state of a search in stages: samples, clock, progress bar, and sentences for the user."""

    search: Any
    plan: Plan
    data: Data
    target: Target
    layout: Layout
    samples: AnySamples
    groups: Any
    shown: Progress
    said: list[str]
    started: float

    def __post_init__(self) -> None:
        given = self.search.random_state
        self.rng = check_random_state(0 if given is None else given)
        counted = np.arange(len(self.data.y))
        self.slow, self.raced = 1.0, 0.0  # times the seconds of the plan; share of the race that was run
        self.short = False  # whether the time budget left something out
        self.rows = counted if self.data.weight is None else np.flatnonzero(self.data.weight > 0)
        cv = self.search.cv
        self.folds: Folds | None = None
        if cv is not None and not isinstance(cv, int | np.integer):
            cut = np.zeros((len(self.data.y), 1))
            self.folds = make_folds(cv, cut, self.data, self.groups, self.search.random_state)
        else:
            look_at_groups(self.groups, cv, len(self.data.y))

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until this share of the time budget is used."""
        budget = self.search.time_budget
        return float("inf") if budget is None else share * budget - (time.monotonic() - self.started)

    def affords(self, seconds: float) -> bool:
        """Whether work of so many planned seconds ends within the budget, given how long the race took."""
        affords = self.search.time_budget is None or seconds * self.slow <= self.left()
        self.short = self.short or not affords
        return affords

    def pick(self, rows: Index) -> tuple[Any, NDArray[Any], Array | None, dict[str, Any]]:
        """Return X in the user's own form, y, weights and covariates of some rows."""
        data = self.data
        X = self.samples.take(rows) if data.given is None else take(data.X, rows)
        return X, data.y[rows], None if data.weight is None else data.weight[rows], data.beside(rows)

    # -- the race -------------------------------------------------------------------------------
    def race(self) -> Any:
        """Run the search itself on some of the rows."""
        search, data, plan = self.search, self.data, self.plan
        rows = some_rows(self.rows, data.y, data.classes, plan.race, self.rng)
        cv = search.cv
        if self.folds is not None:
            cv = within_rows(self.folds, rows)
            if scarce(cv):
                train, test = self.fold()
                rows, cv = race_of_fold(train, test, data.y, data.classes, plan.race, self.rng)
        X, y, weight, beside = self.pick(rows)
        plain: dict[str, Any] = dict.fromkeys(["approx", "time_budget", "checkpoint"])
        plain |= {"refit": False, "verbose": 0, "cv": cv}
        if hasattr(search, "intervals"):
            plain["intervals"] = False  # which are learned in the end
        twin = clone(search).set_params(**plain)
        twin._folds, twin._narrow, twin._step = _FOLDS, search.scoring is None, self._raced
        twin._joined = True
        began = time.monotonic()
        with part("race"), within(self.left(_RACE)), quiet_about_tables():
            twin.fit(X, y, weight, None, **beside)
        self.short = self.left(_RACE) <= 0.0
        self.slow = (time.monotonic() - began) / max(self.raced * plan.race_seconds, 1e-3)
        self.said.append(
            f"Race: {', '.join(twin.path_)} in folds of {rows.size} of {plan.n} rows; models far behind in "
            "the first fold were dropped. The best one went on, with those that the folds cannot tell from "
            "it: "
            f"{number_of(len(twin.finalists_['strategy']), 'model')}."
        )
        return twin

    def _raced(self, name: str, share: float) -> None:
        self.raced += share
        self.shown.step(f"race, {name}", share * self.plan.race_seconds)

    # -- more rows ------------------------------------------------------------------------------
    def split(self) -> tuple[Index, Index]:
        """Return the rows to learn from, and the rows that are never learned from."""
        if self.folds is None:
            held = held_rows(self.rows, self.data.y, self.data.classes, self.plan.held, self.rng)
            return np.setdiff1d(self.rows, held), held
        train, test = self.fold()
        return train, np.sort(test[self.rng.permutation(test.size)[: self.plan.held]])

    def fold(self) -> tuple[Index, Index]:
        """Return the rows of the fold with the most rows to learn from; of folds in time that is the last."""
        assert self.folds is not None
        train, test = max(self.folds, key=_rows_to_learn_from)
        return np.intersect1d(train, self.rows), np.intersect1d(test, self.rows)

    def second(self, twin: Any) -> Round:
        """Fit the finalists on more rows."""
        search, data = self.search, self.data
        train, held = self.split()
        size = self.plan.second
        while size > self.plan.race and not self.affords(self.plan.second_seconds(size)):
            size = max(size // 2, self.plan.race)
        learned = some_rows(train, data.y, data.classes, size, self.rng)
        judged = np.sort(self.rng.permutation(held)[:_JUDGED])
        rows = np.sort(np.concatenate([learned, judged]))
        X, y, weight, beside = self.pick(rows)
        covariates = beside.get("covariates")
        with quiet_about_tables(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            some, target, layout = search._read(X, y, weight, covariates)
            seen = some.X if some.given is None else some.given.X
            found = strategies(search._wish(target, layout), seen, target.outputs, layout.table)
            found = [search._with_samples(one, X, y, weight, some, covariates) for one in found]
        places = [np.searchsorted(rows, own) for own in (learned, judged)]
        learning = [one.name for one in found if one.options is not None and one.options.supervised]
        finalists = with_best(twin.finalists_, twin.comparison_, learning)
        if not self.affords(self.plan.second_seconds(size)):  # time is up: the best of the race alone
            finalists = {name: column[:1] for name, column in finalists.items()}
        half = some_rows(places[0], some.y, some.classes, max(size // 2, 1), self.rng)
        with threads(search.n_jobs), within(max(self.left(_SECOND), 0.0)):
            going = still_near(found, finalists, some, half, places[1])
            contenders = second_round(found, going, some, *places)
        left = len(finalists["C"]) - len(going["C"])
        self.said.append(
            f"Second round: these, and the best model of each strategy whose kernels depend on y"
            f"{f' (without {left} that were behind on {half.size} rows)' if left else ''}, on "
            f"{learned.size} rows, judged on {judged.size} rows that no model learns from; the best is "
            f"{contenders[0].strategy.name}."
        )
        return Round(contenders, some, places[0], train, held)

    def publish(self, one: Contender, score: float, C: float) -> None:
        """Set the choice of the search and its score."""
        named = {"strategy": one.strategy.name, "norm": one.step.norm, "kernels": one.step.only}
        self.search.best_params_ = named | {"C": float(C)}
        self.search.best_score_ = float(score)


def _rows_to_learn_from(fold: tuple[Index, Index]) -> float:
    """Their number, roughly: folds that are equal but for a remainder count as equal."""
    return float(np.round(np.log2(max(fold[0].size, 1)), 1))


def plan_of(search: Any, X: Any, n: int | None = None) -> Plan:
    """Make the plan of this search on these samples; `n` is their number if it is known."""
    rows, d = shape_of(X)
    n = rows if n is None else n
    asked = search.strategy if isinstance(search.strategy, list | tuple) else [search.strategy]
    ours = all(isinstance(name, str) and name != "aligned" for name in asked)
    shared = getattr(search, "multi_class", "shared") == "shared"
    loo = isinstance(search.cv, str) and search.cv == "loo"
    auto = isinstance(search.approx, str) and search.approx == "auto"
    if not (auto and ours and shared) or loo or needs_stack(search.kernels):
        return Plan(n, d, whole=True)
    return make_plan(n, d, search.memory_limit)


def shape_of(X: Any) -> tuple[int, int]:
    """Return the numbers of rows and columns as far as X says, without reading it."""
    if isinstance(X, dict):
        parts = [shape_of(part) for part in X.values()]
        return max((n for n, _ in parts), default=0), sum(d for _, d in parts)
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or not shape or not isinstance(shape[0], int | np.integer):
        try:
            return len(X), 1
        except (TypeError, ValueError):  # it does not say
            return 0, 1
    return int(shape[0]), int(shape[1]) if len(shape) > 1 else 1


def search_in_stages(
    search: Any, plan: Plan, data: Data, target: Target, layout: Layout, groups: Any
) -> None:
    """Run all stages of a search, and set its fitted attributes."""
    started, said = time.monotonic(), [plan.opening]
    title = type(search).__name__
    options = Options(title, kernels=search.kernels, approx=Nystroem(), fit_intercept=search.fit_intercept)
    with progress(title, search.verbose, total=plan.seconds) as shown, threads(search.n_jobs):
        shown.begin(plan.estimate)
        if data.given is None:
            samples = pose(options, data.X, data.y, data.weight, search._target(), in_place=True)
        else:
            samples = data.given.in_place()
        stages = Stages(search, plan, data, target, layout, samples, groups, shown, said, started)
        twin = stages.race()
        search.comparison_, search.path_ = twin.comparison_, twin.path_
        search.finalists_ = leading(twin.finalists_)
        found = stages.second(twin)
        best = found.contenders[0]
        stages.publish(best, best.score, best.step.C)
        if found.data.classes is not None:
            f = np.asarray(best.decision, dtype=float)
            known = found.data.y[found.judged], found.data.classes, found.data.cost(found.judged)
            search.calibration_ = Calibration.fit(f, *known)
        if search.refit:
            search.best_estimator_ = last_stage(stages, options, found)
        search.stages_ = said + ([ended_early(search.time_budget)] if stages.short else [])


def ended_early(budget: float) -> str:
    """Return a sentence about what a time budget left out."""
    return (
        f"time_budget={budget:g} ended this early. With more time, more models would be tried, on more rows."
    )


def gathered(X: Any) -> Any:
    """Load a small Dask collection into memory; return anything else as it is."""
    return in_memory(X)[0] if is_lazy(X) and 0 < shape_of(X)[0] <= plans.WHOLE else X

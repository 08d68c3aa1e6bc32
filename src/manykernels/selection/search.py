"""A whole search: strategies, folds and the best model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from .._arguments import number_of
from ..families import resolve_kernels
from ..fitting.progress import progress
from ..fitting.spec import short
from .calibration import Calibration, calibrated_loss
from .chance import NEAR
from .data import Data
from .folds import Key, Table, run_folds
from .leave_one_out import loo_table, only
from .promise import Promise
from .splits import Folds
from .strategies import Strategy
from .sums import FoldedSums
from .sums_table import from_sums, sums_table

COLUMNS = "strategy norm kernels C score std folds seconds".split()
_CLEARLY = 1.0  # standard errors by which a model must be better than a preferred one to take its place
_SHOWN = 6  # models that are shown of those


@dataclass(frozen=True)
class Outcome:
    """The result of a comparison, and the best model."""

    comparison: dict[str, list[Any]]  # a row for each strategy at its best
    path: dict[str, dict[str, Any]]  # by strategy: columns, a row for each model
    chosen: Strategy
    params: dict[str, Any]
    score: float
    finalists: dict[str, list[Any]]  # the best first, and what the folds cannot tell from it
    calibration: Calibration | None  # of the decisions of a classifier
    sums: FoldedSums | None  # from which the best model follows without another look at the samples
    promise: Promise | None = None  # which its fit to all samples should keep


def _unknown(folds: int) -> str:
    """No estimate."""
    return ""


@dataclass(frozen=True)
class Effort:
    """Options of how a search is run."""

    title: str
    verbose: int
    n_jobs: int | None
    race: bool  # whether what is far behind in the first fold is left
    narrow: bool = False  # whether that holds for norms, kernels and C too
    step: Callable[[str, float], None] | None = None  # told of each strategy in each fold, and its share
    estimate: Callable[[int], str] = _unknown  # time and memory in words, before the first fold


def compare(found: list[Strategy], data: Data, folds: Folds | None, effort: Effort) -> Outcome:
    """Compare all strategies in all folds; without folds, one strategy by leave-one-out."""
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
            "out once (not of times to an event, which MKLSurvival(approx=...) takes). Take these, or call "
            "X.compute() first."
        )
    else:
        count = len(found) * len(folds)
        with progress(effort.title, effort.verbose, total=count) as shown:
            shown.begin(_before(found, len(folds), effort))

            def done(name: str) -> None:
                shown.step(name)
                if effort.step is not None:
                    effort.step(name, 1.0 / count)

            tables = run_folds(found, data, folds, effort.n_jobs, effort.race, done, effort.narrow)
        for table in tables:
            _leave_absent(table)
    return _judge(tables, data, sums)


def _before(found: list[Strategy], folds: int, effort: Effort) -> str:
    """What will be done; and how long it takes, unless models of other packages are among it."""
    known = all(strategy.options is not None for strategy in found)
    words = [f"{number_of(folds, 'fold')} of {', '.join(strategy.name for strategy in found)}"]
    return "; ".join(words + ([effort.estimate(folds)] if known else []))


def _leave_absent(table: Table) -> None:
    """Remove the sets of kernels that all folds have, and all samples together do not.

    A column of words that hardly repeat may be text in the part of a fold, and categories in the whole.
    """
    given, options = table.strategy.given, table.strategy.options
    held = None if given is None else given.layout.table
    if given is None or options is None or held is None or not (held.text or held.levels):
        return
    if table.strategy.parts is None or options.supervised:
        return
    samples = given.samples()
    kernels = resolve_kernels(options.kernels, samples.data, samples.weight, samples.layout.names)
    names = set(kernels).union(*(kernel.member.also for kernel in kernels.values()))
    gone = [key for key in table.keys if key[1] is not None and not names.issuperset(key[1])]
    if len(gone) < len(table.keys):
        for trial in table.trials:
            for key in gone:
                del trial[key]


def _judge(tables: list[Table], data: Data, sums: FoldedSums | None) -> Outcome:
    by_score = data.scorer is not None
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
            best = (rank, table, key, float(score[i]))
    whole = [table for table in tables if len(table.trials) == n_folds]
    if data.classes is not None and not by_score and not any(one.strategy.reluctant for one in whole):
        best = _by_probabilities(whole, data)
    _, winner, key, score = best
    if data.survival and not by_score:
        winner, key, score = _unless_clear(whole, winner, key, score, _plain)
    if winner.strategy.reluctant and not by_score:
        winner, key, score = _unless_clear(whole, winner, key, score, _willing)
    params = {"strategy": winner.strategy.name, **dict(zip(("norm", "kernels", "C"), key, strict=True))}
    finalists, calibration = _finalists(whole, winner, key, by_score), _calibration(winner, key, data)
    losses = winner.column("loss")[:, winner.keys.index(key)]
    promise = None if len(losses) < 2 else Promise.of(data, losses, _error(losses))
    return Outcome(rows, path, winner.strategy, params, score, finalists, calibration, sums, promise)


def _by_probabilities(tables: list[Table], data: Data) -> tuple[float, Table, Key, float]:
    """The best model of the strategy whose best model says most about the classes of held-out samples."""
    assert data.classes is not None
    found = []
    for table in tables:
        _, i = table.best(False)
        key = table.keys[i]
        f, rows = _held_decisions(table, key)
        loss = calibrated_loss(f, data.y[rows], data.classes, data.cost(rows))
        found.append((loss, table, key, float(table.column("score")[:, i].mean())))
    return min(found, key=lambda one: one[0])


def _held_decisions(table: Table, key: Key) -> tuple[Any, Any]:
    """The decisions of a model on all samples that were held out, and the rows of these."""
    decisions = [np.asarray(trial[key].decision, dtype=float) for trial in table.trials]
    return np.concatenate(decisions), np.concatenate(table.held)


def _plain(table: Table) -> Any:
    """The linear models: of times to an event little can be known, and the best of many is often lucky."""
    return table.column("plain").all(axis=0)


def _willing(table: Table) -> Any:
    """All models of strategies that are not reluctant, such as those that keep views apart."""
    return np.full(len(table.keys), not table.strategy.reluctant)


def _unless_clear(
    tables: list[Table], winner: Table, key: Key, score: float, preferred: Callable[[Table], Any]
) -> tuple[Table, Key, float]:
    """The best preferred model, unless the best of all is better by more than its standard error."""
    best = winner.column("loss")[:, winner.keys.index(key)]
    found: list[tuple[float, Table, int]] = []
    for table in tables:
        among, loss = preferred(table), table.column("loss").mean(axis=0)
        if among.any():
            i = int(np.argmin(np.where(among, loss, np.inf)))
            found.append((float(loss[i]), table, i))
    if not found:
        return winner, key, score
    _, table, i = min(found, key=lambda one: one[0])
    behind = table.column("loss")[:, i] - best
    if behind.mean() > _CLEARLY * _error(behind):
        return winner, key, score
    return table, table.keys[i], float(table.column("score")[:, i].mean())


def _calibration(winner: Table, key: Key, data: Data) -> Calibration | None:
    """Learn the calibration from held-out decisions of the best model, without a further fit."""
    if data.classes is None:
        return None
    f, rows = _held_decisions(winner, key)
    return Calibration.fit(f, data.y[rows], data.classes, data.cost(rows))


def _finalists(tables: list[Table], winner: Table, key: Key, by_score: bool) -> dict[str, list[Any]]:
    """Strategies, norms and sets of kernels at their best C that the folds cannot tell from the best one.

    With d_k by how much a model is worse in fold k of K, it is one if d̄ is at most twice its standard error,
    whose square is (1/K + 1/(K − 1)) Σ_k (d_k − d̄)²/(K − 1), after Nadeau and Bengio (2003). The search
    chose the model whose d̄ is smallest.
    """

    def worse(table: Table) -> Any:
        return -table.column("score") if by_score else table.column("loss")

    taken = winner.keys.index(key)
    best = worse(winner)[:, taken]
    near: list[tuple[float, float, tuple[Any, ...]]] = []
    for table in tables:
        behind, keys = worse(table) - best[:, None], table.keys
        sets: dict[Any, int] = {}  # norm and kernels, and where their best C is
        for i in np.argsort(behind.mean(axis=0), kind="stable"):
            sets.setdefault(keys[i][:2], int(i))
        if table is winner:
            sets[keys[taken][:2]] = taken
        for i in sets.values():
            own = table is winner and i == taken
            d, error = (-np.inf, 0.0) if own else (behind[:, i].mean(), _error(behind[:, i]))
            if d <= NEAR * error:
                near.append((d, error, (table.strategy.name, *keys[i])))
    near.sort(key=lambda one: one[0])
    names = ("strategy", "norm", "kernels", "C", "behind", "error")
    rows = [(*model, max(float(d), 0.0), float(error)) for d, error, model in near]
    return {name: [row[c] for row in rows] for c, name in enumerate(names)}


def leading(finalists: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The first of the finalists: others choose among them anew, which takes a fit for each."""
    return {name: column[:_SHOWN] for name, column in finalists.items()}


def _error(differences: Any) -> float:
    """The corrected standard error of their mean over folds; 0 for one fold, which tells nothing."""
    K = len(differences)
    return 0.0 if K < 2 else float(np.sqrt((1.0 / K + 1.0 / (K - 1)) * differences.var(ddof=1)))


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
    """Raise an error if a score that takes no weights is to score weighted samples."""
    function = getattr(scorer, "_score_func", scorer)
    kinds = {name: given.kind for name, given in signature(function).parameters.items()}
    if "sample_weight" not in kinds and Parameter.VAR_KEYWORD not in kinds.values():
        raise ValueError(
            f"sample_weight was given with scoring={short(scoring)}, which takes no weights. Give a "
            "scoring that takes sample_weight, or repeat samples in place of weights."
        )

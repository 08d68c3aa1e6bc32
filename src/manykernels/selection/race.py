"""The race of a search: many models on few rows, then few models on many.

A race compares all models in folds of some of the rows. What is behind its best by at most two standard
errors of their difference may be the best on more rows, and is learned again from more of them: many models
of one strategy from half of the rows first, and from all of them those that still may be the best. There,
models are judged on the same rows, which nobody learns from, so that differences are paired row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._pieces import current, fingerprint, kept
from ..fitting.bound import weighed
from ..fitting.layout import Layout
from ..fitting.learning import learn
from ..fitting.listed import Listed
from ..fitting.model import Model
from ..fitting.targets import Target
from ..kernels import Kernel
from ..penalties import resolve_penalty
from .calibration import calibrated_loss
from .chance import may_be_best
from .data import Data, Index
from .folds import steps_of
from .paths import Only, PathStep
from .scoring import Judge
from .strategies import Strategy

Array = NDArray[np.float64]
_FEW = 2  # models of a strategy that go on without being learned from half of the rows
_LEAST = 5  # rows of every class, where there are so many
_JUDGES = 40  # rows that folds of a race hold out together, at least
_PARTS = 3  # of the rows that judge a race, where one fold alone has to do


@dataclass(frozen=True)
class Known:
    """Kernels with the constants of the rows that they were learned from."""

    layout: Layout
    target: Target
    names: list[str]
    kernels: list[Any]


@dataclass(frozen=True)
class Contender:
    """A model that was learned from more rows, and its errors on the rows held out."""

    strategy: Strategy
    step: PathStep
    score: float
    errors: Array  # (rows held out,)
    known: Known | None  # the kernels that its weights are of, where these were listed
    decision: Any  # on the rows held out, of all classes

    @property
    def rank(self) -> float:
        return float(self.errors.mean())


def second_round(
    found: Sequence[Strategy], finalists: Mapping[str, list[Any]], data: Data, train: Index, test: Index
) -> list[Contender]:
    """The finalists of a race, learned from `train` and judged on `test`; the best first."""
    contenders: list[Contender] = []
    for strategy in found:
        rows = [i for i, name in enumerate(finalists["strategy"]) if name == strategy.name]
        if not rows:
            continue
        sets = [tuple(finalists[c][i] for c in ("norm", "kernels", "C")) for i in rows]
        again = _restricted(strategy, sets)
        name = "second", strategy.name, fingerprint((sets, train, test))
        known, rows_of_steps = kept(current(), name, _run, again, data, train, test)
        contenders += [Contender(again, *row[:3], known, row[3]) for row in rows_of_steps]
    if data.scorer is not None:
        return sorted(contenders, key=lambda one: -one.score)
    contenders.sort(key=lambda one: one.rank)
    leading = {one.strategy.name: one for one in reversed(contenders)}  # the best of each strategy
    if data.classes is None or any(one.strategy.reluctant for one in contenders):
        return contenders
    y, cost = data.y[test], data.cost(test)
    losses = {
        name: calibrated_loss(np.asarray(one.decision, dtype=float), y, data.classes, cost)
        for name, one in leading.items()
    }
    first = leading[min(losses, key=lambda name: losses[name])]
    return [first, *(one for one in contenders if one is not first)]


def still_near(
    found: Sequence[Strategy], finalists: Mapping[str, list[Any]], data: Data, train: Index, test: Index
) -> dict[str, list[Any]]:
    """The finalists, learned from `train`, that `test` cannot tell from the best one of their strategy.

    Strategies with few finalists are left as they are, and so are those that learn their kernels from y,
    which takes longer than all models of a list, and all of them where a score was given to choose by.
    """
    going = np.ones(len(finalists["C"]), dtype=bool)
    for strategy in found if data.scorer is None else ():
        rows = [i for i, name in enumerate(finalists["strategy"]) if name == strategy.name]
        if len(rows) <= _FEW or strategy.options is None or strategy.options.supervised:
            continue
        sets = [tuple(finalists[c][i] for c in ("norm", "kernels", "C")) for i in rows]
        name = "half", strategy.name, fingerprint((sets, train, test))
        known, steps = kept(current(), name, _run, _restricted(strategy, sets, 0), data, train, test)
        if known is None:
            continue
        kernels = dict(zip(known.names, known.kernels, strict=True))
        errors = {(step.norm, step.only): own for step, _, own, _ in steps}
        best = min(errors.values(), key=lambda own: float(own.mean()))
        for i, (norm, only, _) in zip(rows, sets, strict=True):
            called = None if only is None else names_among(kernels, only)
            going[i] = may_be_best(errors.get((norm, called)), best)
    return {
        name: [one for one, on in zip(column, going, strict=True) if on] for name, column in finalists.items()
    }


def _run(
    strategy: Strategy, data: Data, train: Index, test: Index
) -> tuple[Known | None, list[tuple[PathStep, float, Array, Any]]]:
    """One strategy on more rows: its kernels, and step, score, errors and decisions of each model."""
    bounds, found = list[Any](), []
    steps, judge = steps_of(strategy, data, train, test, bounds)
    assert isinstance(judge, Judge)  # times to an event are searched on all rows
    for step in steps:
        if np.isnan(step.gap):  # it stands for larger C, where the path had ended
            continue
        ((score, _),) = judge.scores([step.decision])
        decided = judge.decisions(judge.stand_in(step.decision), np.arange(test.size))
        found.append((step, score, judge.row_errors(step.decision), decided))
    (bound,) = bounds
    if not isinstance(bound, Listed):
        return None, found
    own = bound.samples
    return Known(own.layout, own.target, bound.known.names, bound.known.kernels), found


def with_best(
    finalists: Mapping[str, list[Any]], comparison: Mapping[str, list[Any]], names: Sequence[str]
) -> dict[str, list[Any]]:
    """The finalists, and the best of these strategies where none of their models is among them.

    Kernels that are learned from y gain most from rows: far behind on few, they may be the best on many.
    """
    columns = ("strategy", "norm", "kernels", "C")
    found = {name: list(finalists[name]) for name in columns}
    for i, strategy in enumerate(comparison["strategy"]):
        if strategy in names and strategy not in finalists["strategy"]:
            for name in columns:
                found[name].append(comparison[name][i])
    return found


def _restricted(strategy: Strategy, sets: list[tuple[Any, Only, float]], beside: int = 1) -> Strategy:
    """The strategy with these norms and kernels only, each with its C and the values `beside` it."""
    norms = [norm for norm, only, _ in sets if only is None]
    some = [(norm, only) for norm, only, _ in sets if only is not None]
    own: dict[tuple[Any, Only], set[float]] = {}
    for norm, only, best in sets:
        own.setdefault((norm, only), set()).update(_neighbours(best, strategy.Cs, beside))
    Cs = sorted({C for values in own.values() for C in values})

    def parts(kernels: Mapping[str, Kernel]) -> list[tuple[Any, Only]]:
        known: dict[tuple[Any, Only], None] = {}
        for norm, only in some:
            called = norm, names_among(kernels, only)
            known[called] = None
            own[called] = own.get(called, set()) | own[norm, only]
        found: list[tuple[Any, Only]] = [(norm, only) for norm, only in known if only is not None]
        return found if found or norms else [(2.0, tuple(kernels))]

    def costs(norm: Any, only: Only) -> list[float]:
        return sorted(own.get((norm, only), Cs))

    return replace(strategy, norms=norms, Cs=Cs, parts=parts if some else None, costs=costs)


def names_among(kernels: Mapping[str, Kernel], only: Only) -> Only:
    """The names of kernels as they are here: other rows may have columns of other kinds. None if none is."""
    called = {other: name for name, kernel in kernels.items() for other in kernel.member.also}
    found = [name if name in kernels else called.get(name) for name in only or ()]
    return tuple(dict.fromkeys(name for name in found if name is not None)) or None


def _neighbours(best: float, Cs: Sequence[float], beside: int) -> list[float]:
    """The best C and as many on both sides of it."""
    place = int(np.argmin(np.abs(np.log(Cs) - np.log(best))))
    return list(Cs[max(place - beside, 0) : place + beside + 1])


def near(contenders: Sequence[Contender]) -> list[Contender]:
    """The best of every strategy that the rows held out cannot tell from the best of all, which is first."""
    kept: dict[str, Contender] = {}
    for one in contenders:
        if may_be_best(one.errors, contenders[0].errors):
            kept.setdefault(one.strategy.name, one)
    return list(kept.values())


def with_kernels(one: Contender, kernels: list[Any], weights: Array) -> Contender:
    """Replace kernels and weights of a strategy; the weights are scaled for C = 1."""
    assert one.known is not None
    C = float(np.linalg.norm(weights, resolve_penalty(one.step.norm).p))
    step = replace(one.step, C=C, weights=weights / C)
    return replace(one, known=replace(one.known, kernels=kernels), step=step)


def model_of(one: Contender, train: Index) -> Model:
    """Kernels and weights of a contender, as a model."""
    options, given = one.strategy.options, one.strategy.given
    assert options is not None and given is not None
    step = one.step
    options = options.replace(penalty=resolve_penalty(step.norm), C=step.C, verbose=0)
    known = one.known
    if step.weights is None or known is None or step.weights.ndim != 1:
        name = "contender", one.strategy.name, fingerprint((step.norm, step.only, step.C, train))
        return kept(current(), name, learn, options, given.part(train).samples())
    said = weighed(options, known.target, known.kernels, np.atleast_2d(step.weights))
    return Model(options.title, known.layout, known.names, known.kernels, **said)


# -- which rows -------------------------------------------------------------------------------------
def some_rows(rows: Index, y: NDArray[Any], classes: NDArray[Any] | None, size: int, rng: Any) -> Index:
    """As many of the rows at random, in rising order; of every class five at least, where it has so many.

    Where that would be more than twice as many rows, they are of some classes at random.
    """
    order = rows[rng.permutation(rows.size)]
    if classes is None or size >= rows.size:
        return np.sort(order[:size])
    own = y[order]
    if _LEAST * len(classes) > 2 * size:
        classes = rng.choice(classes, max(size // _LEAST, 2), replace=False)
    first = np.concatenate([np.flatnonzero(own == label)[:_LEAST] for label in classes])
    rest = np.setdiff1d(np.flatnonzero(np.isin(own, classes)), first)
    return np.sort(order[np.concatenate([first, np.sort(rest)])[: max(size, first.size)]])


def held_rows(rows: Index, y: NDArray[Any], classes: NDArray[Any] | None, size: int, rng: Any) -> Index:
    """As many of the rows at random to be held out, of every class its share, and of none the only row."""
    order = rows[rng.permutation(rows.size)]
    size = min(size, rows.size // 5)
    if classes is None:
        return np.sort(order[:size])
    own, kept = y[order], list[Index]()
    for label in classes:
        places = np.flatnonzero(own == label)
        kept.append(places[: max(round(size * places.size / order.size), 0)][: places.size // 5 + 1])
        if places.size < 2:
            kept[-1] = places[:0]
    return np.sort(order[np.concatenate(kept)])


def within_rows(folds: Iterable[tuple[Index, Index]], rows: Index) -> list[tuple[Index, Index]]:
    """Folds of all rows cut to some of them, as places among these; folds of which nothing is left go."""
    cut = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    return [(train, test) for train, test in cut if train.size and test.size]


def scarce(cut: list[tuple[Index, Index]]) -> bool:
    """Tell whether folds that were cut to some rows judge by too few of them, or tell no standard error."""
    return len(cut) < 2 or np.unique(np.concatenate([test for _, test in cut])).size < _JUDGES


def race_of_fold(
    train: Index, test: Index, y: NDArray[Any], classes: NDArray[Any] | None, size: int, rng: Any
) -> tuple[Index, list[tuple[Index, Index]]]:
    """Draw rows for a race from one fold: a quarter of them judge, in parts, so that errors can be paired.

    For folds that hold out few of many rows. Returns the rows, and the parts as places among these.
    """
    judging = test[rng.permutation(test.size)[: max(size // 4, 1)]]
    learned = some_rows(train, y, classes, size - size // 4, rng)
    rows = np.union1d(learned, judging)
    parts = [np.sort(part) for part in np.array_split(judging, min(_PARTS, judging.size))]
    return rows, [(np.searchsorted(rows, learned), np.searchsorted(rows, part)) for part in parts]

"""Model selection with explicit features and the squared loss: one pass for all folds, costs and norms.

Sums over rows (`grams/statistics.py`) are kept for each fold. Those of its training set are the sums of all
rows less its own, and its squared error is a quadratic form of its own sums, so that after the one pass no
sample is looked at again. Scores that need decisions (accuracy, say) take one more pass, for all candidates
at once. Landmarks are chosen once, without labels.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce as fold_left
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._fast.threads import blas_threads, split, threads
from ..approx import Features
from ..fitting.bound import gap_of, solve
from ..fitting.dictionary import choose_solver
from ..fitting.featured import Featured, Mapped, feature_problem, map_kernels, reduced_sums
from ..fitting.layout import take
from ..fitting.lazy import ReadBlock, engine, pose
from ..fitting.model import Model
from ..fitting.options import Options
from ..fitting.samples import AnySamples
from ..grams.lowrank import Reduced, squared_error
from ..grams.statistics import Statistics, spans
from ..penalties import resolve_penalty
from ..solvers import Result
from .folds import Data, Folds, Row, Table, Trial
from .strategies import Strategy

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_LARGE = 1e12  # operations: tasks are always worth a thread


@dataclass(frozen=True)
class FoldedSums:
    """The sums of each fold, with the kernels and features they are of: all that learning needs."""

    options: Options
    samples: AnySamples
    mapped: Mapped
    folds: list[Statistics]

    @property
    def total(self) -> Statistics:
        """Of all samples."""
        return fold_left(add, self.folds)

    def training(self, f: int) -> Statistics:
        """Of the samples outside of fold f."""
        rest = self.total - self.folds[f]
        others = [fold.largest for i, fold in enumerate(self.folds) if i != f]
        return replace(rest, largest=np.max(others, axis=0))

    def reduced(self, S: Statistics) -> Reduced:
        return reduced_sums(self.options, self.mapped, S, bool(self.options.fit_intercept))

    def problem(self, options: Options, reduced: Reduced) -> Featured:
        solver = choose_solver(options, "featured")
        return feature_problem(options, self.samples, solver, self.mapped, reduced)

    def refit(self, norm: Any, C: float) -> Model:
        """The model of this norm and C on all samples, without another look at them."""
        options = self.options.replace(penalty=resolve_penalty(norm), C=C)
        bound = self.problem(options, self.reduced(self.total))
        return bound.model(options, [solve(options, bound, g) for g in options.groups(bound.Y.shape[1])])


@dataclass(frozen=True)
class FoldFit:
    """What was learned for one norm and C outside of one fold."""

    weights: Array  # (problems, M)
    coef: Array  # (p, outputs)
    intercept: Array
    mean: Array | None  # by which features were centred
    gap: float


@dataclass(frozen=True)
class SumsPath:
    """What came of every norm, cost and fold; axes (norms, Cs, folds, …)."""

    squared_error: Array  # (norms, Cs, folds, outputs): the mean of (y − f)² over the fold, weighted by cost
    weights: Array  # (norms, Cs, folds, problems, M)
    gap: Array  # (norms, Cs, folds): the relative duality gap reached
    coef: Array  # (norms, Cs, folds, p, outputs): of features that are not centred
    intercept: Array  # (norms, Cs, folds, outputs): with what centring adds

    @property
    def mean_squared_error(self) -> Array:
        """(norms, Cs): over outputs and folds, a fold counting as any other."""
        return np.asarray(self.squared_error.mean(axis=(2, 3)))


def fold_sums(options: Options, samples: AnySamples, test_sets: Sequence[Index]) -> FoldedSums:
    """One pass over samples where they are, of which every one must be in one of the test sets."""
    mapped = map_kernels(options, samples)
    fold = np.full(samples.n, -1)
    for f, rows in enumerate(test_sets):
        fold[rows] = f
    if np.any(fold < 0) or sum(map(len, test_sets)) != samples.n:
        raise ValueError(
            "the folds do not hold every sample exactly once, and sums over rows come off one fold at a "
            "time: give a splitter such as KFold or StratifiedKFold."
        )
    return sums_of_folds(options, samples, mapped, fold, len(test_sets))


def sums_of_folds(
    options: Options, samples: AnySamples, mapped: Mapped, fold: NDArray[Any], n_folds: int
) -> FoldedSums:
    """One pass over samples whose fold (0 … n_folds − 1) is given for each."""
    if n_folds < 2 or fold.shape != (samples.n,):
        raise ValueError(
            f"{n_folds} folds and a fold for {fold.size} samples were given; expected at least 2 folds, and "
            f"one for each of the {samples.n} samples."
        )
    sizes = options.normalize == "max"
    folds = samples.fold_statistics(mapped.features, sizes, mapped.names, options.verbose, fold, int(n_folds))
    empty = [f for f, S in enumerate(folds) if S.n == 0]
    if empty:
        raise ValueError(f"fold {empty[0]} of {n_folds} holds no sample; take fewer folds.")
    return FoldedSums(options, samples, mapped, folds)


def cross_validate(data: FoldedSums, Cs: Sequence[float], norms: Sequence[Any]) -> SumsPath:
    """Learn outside of every fold for all costs and norms, each from the weights of the cost before it.

    Weights are found in the order of rising C. Nothing warns: look at `gap`.
    """
    order = np.argsort(Cs, kind="stable")
    reduced = [data.reduced(data.training(f)) for f in range(len(data.folds))]
    tasks = [(i, f) for i in range(len(norms)) for f in range(len(data.folds))]
    found: dict[tuple[int, int], list[FoldFit]] = {}

    def run(lo: int, hi: int) -> None:
        for i, f in tasks[lo:hi]:
            options = data.options.replace(penalty=resolve_penalty(norms[i]), verbose=0)
            found[i, f] = list(_along(data, options, reduced[f], [float(Cs[c]) for c in order]))

    with warnings.catch_warnings(), blas_threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # of useless kernels: the final fit says so
        split(len(tasks), _LARGE, run)
    back = np.argsort(order, kind="stable")
    fits = [[[found[i, f][c] for f in range(len(data.folds))] for c in back] for i in range(len(norms))]
    return _collect(fits, data.folds)


def _along(data: FoldedSums, options: Options, reduced: Reduced, Cs: Sequence[float]) -> Iterator[FoldFit]:
    """Fits for rising C, each from the weights of the last."""
    bound = data.problem(options, reduced)
    groups = options.groups(bound.Y.shape[1])
    last: list[Result] = []
    for C in Cs:
        one = options.replace(C=C)
        last = [solve(one, bound, group, last[g].weights if last else None) for g, group in enumerate(groups)]
        coef, intercept = bound.coefficients(one, last)
        weights = np.stack([result.weights for result in last])
        yield FoldFit(weights, coef, intercept, reduced.constants.mean, gap_of(last))


def _collect(fits: list[list[list[FoldFit]]], folds: list[Statistics]) -> SumsPath:
    def each(read: Callable[[FoldFit, Statistics], Any]) -> Array:
        return np.array(
            [[[read(fit, S) for fit, S in zip(row, folds, strict=True)] for row in of] for of in fits]
        )

    def error(fit: FoldFit, S: Statistics) -> Array:
        return np.asarray(squared_error(S, fit.coef, fit.intercept, fit.mean) / S.T[-1, -1])

    def plain(fit: FoldFit, _: Statistics) -> Array:
        return fit.intercept if fit.mean is None else fit.intercept - fit.mean @ fit.coef

    return SumsPath(
        each(error),
        each(lambda fit, _: fit.weights),
        each(lambda fit, _: fit.gap),
        each(lambda fit, _: fit.coef),
        each(plain),
    )


# -- as a table of a search -------------------------------------------------------------------------
def from_sums(strategy: Strategy, data: Data, folds: Folds) -> bool:
    """Whether sums over rows are all that this strategy needs: those of the folds, and of all but a fold."""
    options = strategy.options
    if options is None or options.approx is None or data.scorer is not None:
        return False
    if options.supervised:
        return False  # what is learned from y must not know the fold
    return options.loss.quadratic and _is_partition(folds, len(data.y))


def _is_partition(folds: Folds, n: int) -> bool:
    """Whether every sample is held out once, and all others are trained on meanwhile."""
    held = np.concatenate([test for _, test in folds])
    if len(folds) < 2 or not np.array_equal(np.sort(held), np.arange(n)):
        return False
    return all(np.array_equal(np.sort(np.r_[train, test]), np.arange(n)) for train, test in folds)


def sums_table(strategy: Strategy, data: Data, folds: Folds) -> tuple[Table, FoldedSums]:
    """The strategy over all folds; and the sums, from which the model of any norm and C follows.

    Errors are those of decisions that are not clipped, which the sums know. The accuracy takes another pass.
    Widths, scales and landmarks are those of all samples, since one pass needs one set of features: they know
    the X of a fold, though not its y.
    """
    started = time.perf_counter()
    options = strategy.options
    assert options is not None
    norms, Cs = list(strategy.norms), [float(C) for C in strategy.Cs]
    options = options.replace(verbose=0, penalty=resolve_penalty(norms[0]))
    tests = [test for _, test in folds]
    assert strategy.target is not None
    if strategy.given is None:
        samples = pose(options, data.X, data.y, data.weight, strategy.target, in_place=True)
    else:
        samples = strategy.given.in_place()
    sums = fold_sums(options, samples, tests)
    path = cross_validate(sums, Cs, norms)
    X = data.X if strategy.given is None else strategy.given.X
    table, scores = Table(strategy), _scores(data, X, sums, path, tests)
    for f in range(len(tests)):
        trial: Trial = {}
        for i, norm in enumerate(norms):
            for j, C in enumerate(Cs):
                loss = float(path.squared_error[i, j, f].mean())
                active = int(path.weights[i, j, f].any(axis=0).sum())
                trial[norm, None, C] = Row(float(scores[i, j, f]), loss, float(path.gap[i, j, f]), active)
        table.trials.append(trial)
    table.seconds = time.perf_counter() - started
    return table, sums


def _scores(data: Data, X: Any, sums: FoldedSums, path: SumsPath, tests: list[Index]) -> Array:
    """(norms, Cs, folds): R², or the accuracy."""
    if data.classes is None:
        spread = [
            _variance(data.y[test], None if data.weight is None else data.weight[test]) for test in tests
        ]
        spread = [np.where(s > 0.0, s, 1.0) for s in spread]
        return np.asarray(1.0 - np.mean(path.squared_error / np.reshape(spread, (len(tests), -1)), axis=3))
    fold = np.empty(len(data.y), dtype=np.intp)
    for f, test in enumerate(tests):
        fold[test] = f
    hits = _Hits(sums.mapped.features, path, data.classes, ReadBlock(sums.samples.layout.kind))
    known = (data.y, data.weight, fold)
    counts = engine().sum_rows(X, hits.of_block, *known) if data.given is None else hits(X, *known)
    return np.asarray(counts[0] / counts[1])


@dataclass(frozen=True)
class _Hits:
    """How many samples the models that were learned without them get right, and how many there are."""

    features: Features
    path: SumsPath
    classes: NDArray[Any]
    read: ReadBlock

    def __call__(self, X: Any, y: NDArray[Any], weight: Array | None, fold: Index) -> Array:
        """(2, norms, Cs, folds)."""
        counts = np.zeros((2, *self.path.squared_error.shape[:3]))
        for rows, f, values in decisions(self.features, self.path, X, fold):
            w = np.ones(rows.size) if weight is None else weight[rows]
            best = values.argmax(axis=3) if values.shape[3] > 1 else (values[..., 0] > 0).astype(int)
            right = self.classes[best] == y[rows][:, None, None]
            counts[0, :, :, f] += np.tensordot(w, right, axes=1)
            counts[1, :, :, f] += w.sum()
        return counts

    def of_block(self, block: Any, *given: Any) -> Array:
        """Of a block of rows on a worker, where several are looked at side by side."""
        with threads(1):
            return self(self.read(block), *given)


def decisions(
    features: Features, path: SumsPath, X: Any, fold: NDArray[Any]
) -> Iterator[tuple[Index, int, Array]]:
    """(rows, fold, f of shape (rows, norms, Cs, outputs)) of held-out samples, block by block: a second pass.

    Every sample is decided by the models that were learned without it.
    """
    shape = path.coef.shape
    for f in range(shape[2]):
        W = path.coef[:, :, f].transpose(2, 0, 1, 3).reshape(shape[3], -1)
        rows = np.flatnonzero(fold == f)
        for lo, hi in spans(rows.size, shape[3]):
            some = rows[lo:hi]
            values = (features.transform(take(X, some)) @ W).reshape(some.size, *shape[:2], shape[4])
            yield some, f, values + path.intercept[:, :, f]


def _variance(y: Array, weight: Array | None) -> Array:
    return np.asarray(np.average((y - np.average(y, axis=0, weights=weight)) ** 2, axis=0, weights=weight))

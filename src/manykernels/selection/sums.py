"""Model selection with explicit features and the squared loss: one pass for all folds, costs and norms.

Sums over rows (`grams/statistics.py`) are kept for each fold. Those of its training set are the sums of all
rows less its own, and its squared error is a quadratic form of its own sums, so that after the one pass no
sample is looked at again. Scores that need decisions (accuracy, say) take one more pass, for all candidates
at once. Landmarks are chosen once, without labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce as fold_left
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._fast.threads import blas_threads, split
from ..approx import Features
from ..fitting.bound import gap_of, solve
from ..fitting.dictionary import choose_solver
from ..fitting.featured import Featured, Mapped, feature_problem, map_kernels, reduced_sums
from ..fitting.layout import take
from ..fitting.model import Model
from ..fitting.options import Options
from ..fitting.samples import AnySamples
from ..grams.lowrank import Reduced, squared_error
from ..grams.statistics import Statistics, spans
from ..penalties import resolve_penalty
from ..solvers import Result

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
        """The sums over all samples."""
        return fold_left(add, self.folds)

    def training(self, f: int) -> Statistics:
        """Return the sums over the samples outside of fold f."""
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
    """The result for one norm and C outside of one fold."""

    weights: Array  # (problems, M)
    coef: Array  # (p, outputs)
    intercept: Array
    mean: Array | None  # by which features were centred
    gap: float


@dataclass(frozen=True)
class SumsPath:
    """The results of every norm, cost and fold, on the axes (norms, Cs, folds, …)."""

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
            "cv does not leave out every sample exactly once, as model selection from sums over rows needs. "
            "Give a splitter such as KFold or StratifiedKFold."
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
        coef, intercept, _ = bound.coefficients(one, last)
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

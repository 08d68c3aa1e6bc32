"""Cross-validation with explicit features and the squared loss: one pass for all folds, costs and norms.

Sums over rows (`grams/statistics.py`) are kept for each fold. Those of its training set are the sums of all
rows less its own, and its squared error is a quadratic form of its own sums, so that after the one pass no
sample is looked at again. Scores that need decisions (accuracy, say) take one more pass, for all candidates
at once. Landmarks are chosen once, without labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce as fold_left
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._fast.threads import blas_threads, split
from ..approx import Features
from ..grams.lowrank import Reduced, constants, reduce, squared_error
from ..grams.statistics import Statistics, spans
from ..losses import Squared
from ._approx_data import Samples
from ._approx_fit import Chosen, FeatureFit, fit_reduced, prepare

Array = NDArray[np.float64]
_LARGE = 1e12  # operations: tasks are always worth a thread


@dataclass(frozen=True)
class Path:
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


@dataclass(frozen=True)
class FoldedSamples:
    """The sums of each fold, with the kernels and features they are of: all that learning needs."""

    chosen: Chosen
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


def search(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    test_sets: Sequence[NDArray[np.intp]],
    Cs: Sequence[float],
    norms: Sequence[Any],
) -> tuple[FoldedSamples, Path]:
    """Cross-validate a `MKLRegressor` or `MKLClassifier` with approx and the squared loss, after one pass.

    `test_sets` are the rows held out of each fold, as a splitter gives them; every row must be in one. X may
    be a Dask collection. `refit(model, data)` with the best C and norm set gives what
    ``model._store_features`` stores.
    """
    samples, chosen = prepare(model, X, y, sample_weight, merged=False)
    fold = np.full(samples.n, -1)
    for f, rows in enumerate(test_sets):
        fold[rows] = f
    if np.any(fold < 0) or sum(map(len, test_sets)) != samples.n:
        raise ValueError(
            "the folds do not hold every sample exactly once, and sums over rows come off one fold at a "
            "time: give a splitter such as KFold or StratifiedKFold."
        )
    data = fold_samples(model, samples, chosen, fold, len(test_sets))
    return data, cross_validate(model, data, Cs, norms)


def fold_samples(
    model: Any, samples: Samples, chosen: Chosen, fold: NDArray[np.integer], n_folds: int
) -> FoldedSamples:
    """One pass over samples whose fold (0 … n_folds − 1) is given for each."""
    if n_folds < 2 or fold.shape != (samples.n,):
        raise ValueError(
            f"{n_folds} folds and a fold for {fold.size} samples were given; expected at least 2 folds, and "
            f"one for each of the {samples.n} samples."
        )
    sizes = model.normalize == "max"
    folds = samples.fold_statistics(
        chosen.features, sizes, chosen.names, bool(model.verbose), fold, int(n_folds)
    )
    empty = [f for f, S in enumerate(folds) if S.n == 0]
    if empty:
        raise ValueError(f"fold {empty[0]} of {n_folds} holds no sample; take fewer folds.")
    return FoldedSamples(chosen, folds)


def cross_validate(model: Any, data: FoldedSamples, Cs: Sequence[float], norms: Sequence[Any]) -> Path:
    """Learn outside of every fold for all costs and norms, each from the weights of the cost before it.

    `model` gives all other parameters (center, normalize, fit_intercept, solver, tol, max_iter, multi_class).
    Weights are found in the order of rising C. Nothing warns: look at `gap`.
    """
    order = np.argsort(Cs, kind="stable")
    reduced = [_reduced(model, data, f) for f in range(len(data.folds))]
    tasks = [(i, f) for i in range(len(norms)) for f in range(len(data.folds))]
    found: dict[tuple[int, int], list[FeatureFit]] = {}

    def run(lo: int, hi: int) -> None:
        for i, f in tasks[lo:hi]:
            one = _with(model, norm=norms[i], verbose=0)
            found[i, f] = list(_along(one, data.chosen, reduced[f], [float(Cs[c]) for c in order]))

    with warnings.catch_warnings(), blas_threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # of useless kernels: the final fit says so
        split(len(tasks), _LARGE, run)
    back = np.argsort(order, kind="stable")
    fits = [[[found[i, f][c] for f in range(len(data.folds))] for c in back] for i in range(len(norms))]
    return _collect(fits, data.folds)


def refit(model: Any, data: FoldedSamples) -> FeatureFit:
    """The model with its own C and norm on all samples, without another look at them."""
    S, ptr = data.total, data.chosen.ptr
    known = constants(S, ptr, bool(model.center), model.normalize)
    return fit_reduced(model, data.chosen, reduce(S, ptr, known, bool(model.fit_intercept)), Squared(), None)


def decisions(
    features: Features, path: Path, X: Any, fold: NDArray[np.integer], take: Callable[[Any, Any], Any]
) -> Iterator[tuple[NDArray[np.intp], int, Array]]:
    """(rows, fold, f of shape (rows, norms, Cs, outputs)) of held-out samples, block by block: a second pass.

    ``take(X, rows)`` gives rows of X. Every sample is decided by the models that were learned without it.
    """
    shape = path.coef.shape
    for f in range(shape[2]):
        W = path.coef[:, :, f].transpose(2, 0, 1, 3).reshape(shape[3], -1)
        rows = np.flatnonzero(fold == f)
        for lo, hi in spans(rows.size, shape[3]):
            some = rows[lo:hi]
            values = (features.transform(take(X, some)) @ W).reshape(some.size, *shape[:2], shape[4])
            yield some, f, values + path.intercept[:, :, f]


def _reduced(model: Any, data: FoldedSamples, f: int) -> Reduced:
    S, ptr = data.training(f), data.chosen.ptr
    known = constants(S, ptr, bool(model.center), model.normalize)
    return reduce(S, ptr, known, bool(model.fit_intercept))


def _along(model: Any, chosen: Chosen, reduced: Reduced, Cs: Sequence[float]) -> Iterator[FeatureFit]:
    """Fits for rising C, each from the weights of the last."""
    start: Array | None = None
    for C in Cs:
        fit = fit_reduced(_with(model, C=C), chosen, reduced, Squared(), start)
        start = fit.theta
        yield fit


def _with(model: Any, **options: Any) -> Any:
    one = copy(model)
    for name, value in options.items():
        setattr(one, name, value)
    return one


def _collect(fits: list[list[list[FeatureFit]]], folds: list[Statistics]) -> Path:
    def each(read: Callable[[FeatureFit, Statistics], Any]) -> Array:
        return np.array(
            [[[read(fit, S) for fit, S in zip(row, folds, strict=True)] for row in of] for of in fits]
        )

    def error(fit: FeatureFit, S: Statistics) -> Array:
        total = squared_error(S, fit.coef, fit.intercept, fit.constants.mean)
        return np.asarray(total / S.T[-1, -1])

    def plain(fit: FeatureFit, _: Statistics) -> Array:
        mean = fit.constants.mean
        return fit.intercept if mean is None else fit.intercept - mean @ fit.coef

    def gap(fit: FeatureFit, _: Statistics) -> float:
        primal, dual = (sum(getattr(r, side) for r in fit.results) for side in ("primal", "dual"))
        return max(primal - dual, 0.0) / abs(primal) if primal else 0.0

    return Path(
        each(error), each(lambda fit, _: fit.theta), each(gap), each(lambda fit, _: fit.coef), each(plain)
    )

"""Model selection with explicit features and the squared loss: all folds from sums over rows, in one pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._fast.threads import threads
from ..approx import Features
from ..families import Family
from ..losses import Squared
from ._approx_cv import FoldedSamples, Path, decisions, refit, search
from ._approx_lazy import ReadBlock, engine
from ._base import BaseMKL
from ._cv import Data, Row, Table, Trial
from ._data import Kind, is_lazy, take
from ._spec import leaves
from ._strategies import Strategy

Array = NDArray[np.float64]
Refit = Callable[[Any, float], BaseMKL]
Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def from_sums(strategy: Strategy, data: Data, folds: Folds) -> bool:
    """Whether sums over rows are all that this strategy needs: those of the folds, and of all but a fold."""
    model = strategy.template
    if not isinstance(model, BaseMKL) or model.approx is None or data.scorer is not None:
        return False
    if any(isinstance(part, Family) and part.supervised for part in leaves(model.kernels)):
        return False  # what is learned from y must not know the fold
    return isinstance(model._loss(), Squared) and _parts(folds, len(data.y))


def _parts(folds: Folds, n: int) -> bool:
    """Whether every sample is held out once, and all others are trained on meanwhile."""
    held = np.concatenate([test for _, test in folds])
    if len(folds) < 2 or not np.array_equal(np.sort(held), np.arange(n)):
        return False
    return all(np.array_equal(np.sort(np.r_[train, test]), np.arange(n)) for train, test in folds)


def feature_table(strategy: Strategy, data: Data, folds: Folds) -> tuple[Table, Refit]:
    """The strategy over all folds; and a function that gives the model of a norm and C on all samples.

    Errors are those of decisions that are not clipped, which the sums know. The accuracy takes another pass.
    Widths, scales and landmarks are those of all samples, since one pass needs one set of features: they know
    the X of a fold, though not its y.
    """
    started = time.perf_counter()
    model: BaseMKL = clone(strategy.template).set_params(verbose=0)
    norms, Cs = list(strategy.norms), [float(C) for C in strategy.Cs]
    tests = [test for _, test in folds]
    samples, path = search(model, data.X, data.y, data.weight, tests, Cs, norms)
    table, scores = Table(strategy), _scores(data, samples, path, tests, model._kind)
    for f in range(len(tests)):
        trial: Trial = {}
        for i, norm in enumerate(norms):
            for j, C in enumerate(Cs):
                loss = float(path.squared_error[i, j, f].mean())
                active = int(path.weights[i, j, f].any(axis=0).sum())
                trial[norm, None, C] = Row(float(scores[i, j, f]), loss, float(path.gap[i, j, f]), active)
        table.trials.append(trial)
    table.seconds = time.perf_counter() - started

    def on_all(norm: Any, C: float) -> BaseMKL:
        model.set_params(norm=norm, C=C)
        model._store_features(refit(model, samples))
        return model

    return table, on_all


def _scores(
    data: Data, samples: FoldedSamples, path: Path, tests: list[NDArray[np.intp]], kind: Kind
) -> Array:
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
    hits = _Hits(samples.chosen.features, path, data.classes, ReadBlock(kind))
    given = (data.y, data.weight, fold)
    counts = engine().sum_rows(data.X, hits.of_block, *given) if is_lazy(data.X) else hits(data.X, *given)
    return np.asarray(counts[0] / counts[1])


@dataclass(frozen=True)
class _Hits:
    """How many samples the models that were learned without them get right, and how many there are."""

    features: Features
    path: Path
    classes: NDArray[Any]
    read: ReadBlock

    def __call__(self, X: Any, y: NDArray[Any], weight: Array | None, fold: NDArray[np.intp]) -> Array:
        """(2, norms, Cs, folds)."""
        counts = np.zeros((2, *self.path.squared_error.shape[:3]))
        for rows, f, values in decisions(self.features, self.path, X, fold, take):
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


def _variance(y: Array, weight: Array | None) -> Array:
    return np.asarray(np.average((y - np.average(y, axis=0, weights=weight)) ** 2, axis=0, weights=weight))

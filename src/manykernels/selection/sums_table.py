"""A strategy over all folds from sums over rows, scored, as a table of a search."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._fast.threads import threads
from .._pieces import Thrift, current, fingerprint, kept
from ..approx import Features
from ..fitting.lazy import ReadBlock, engine, pose
from ..penalties import resolve_penalty
from .data import Data
from .folds import Row, Table, Trial
from .splits import Folds
from .strategies import Strategy
from .sums import FoldedSums, SumsPath, cross_validate, decisions, fold_sums

Array = NDArray[np.float64]
Index = NDArray[np.intp]


def from_sums(strategy: Strategy, data: Data, folds: Folds) -> bool:
    """Whether sums over rows are all that this strategy needs: those of the folds, and of all but a fold."""
    options = strategy.options
    if options is None or options.approx is None or not options.listed or data.scorer is not None:
        return False
    if options.supervised or options.covariates is not None or data.covariates is not None:
        return False  # what is learned from y must not know the fold, nor what levels covariates have
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
    for f, test in enumerate(tests):
        trial: Trial = {}
        table.held.append(test[data.kept(test)])
        decided = _decided(sums, path, table.held[-1], f) if table.held[-1].size else None
        for i, norm in enumerate(norms):
            for j, C in enumerate(Cs):
                loss = float(path.squared_error[i, j, f].mean())
                active = int(path.weights[i, j, f].any(axis=0).sum())
                f_ij = None if decided is None else decided[:, i, j]
                trial[norm, None, C] = Row(
                    float(scores[i, j, f]), loss, float(path.gap[i, j, f]), active, f_ij
                )
        table.trials.append(trial)
    table.seconds = time.perf_counter() - started
    return table, sums


def _decided(sums: FoldedSums, path: SumsPath, rows: Index, f: int) -> NDArray[np.float32]:
    """(rows, norms, Cs, outputs): what the models without fold f decide on some of its samples."""
    order = np.sort(rows)
    found = decisions(sums.mapped.features, path, sums.samples.take(order), np.full(rows.size, f))
    values = np.concatenate([block for _, _, block in found])
    return np.asarray(values[np.searchsorted(order, rows)], dtype=np.float32)


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
    store = current()
    name = ("hits",) if store is None else ("hits", fingerprint((hits, known)))
    count = (engine().sum_rows, X, hits.of_block) if data.given is None else (hits, X)
    counts = kept(store, name, *count, *known, thrift=Thrift())
    return np.asarray(counts[0] / counts[1])


@dataclass(frozen=True)
class _Hits:
    """Count how many samples the models that were learned without them get right, and how many there are."""

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
        """Count hits in a block of rows on a worker."""
        with threads(1):
            return self(self.read(block), *given)


def _variance(y: Array, weight: Array | None) -> Array:
    return np.asarray(np.average((y - np.average(y, axis=0, weights=weight)) ** 2, axis=0, weights=weight))

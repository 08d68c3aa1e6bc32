"""Errors of many targets in folds: an eigendecomposition of each training part, whose kernels are its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...fitting.options import Options
from ...fitting.samples import Given
from ..splits import Folds
from .criteria import Criterion, Index, Inside, batches, precision, seen_inside, smallest, total_squares
from .ridge import Array, Real, Ridge, Unseen, ridge_of

_WINDOW = 2  # values of C on either side of the best so far that are tried


@dataclass(frozen=True)
class Fold:
    """One part of the samples to learn from, and the others to predict."""

    ridge: Ridge
    inside: Inside
    unseen: Unseen
    truth: Real  # (new, outputs): targets less their training means, weighted and scaled as those inside
    root: Array  # (new,)


class CrossValidation(Criterion):
    """Errors summed over folds."""

    def __init__(self, folds: list[Fold], outputs: int, Cs: Array) -> None:
        self.folds, self.lam, self.outputs = folds, 1.0 / Cs, outputs
        self.best: Index | None = None
        self.least: Real | None = None

    def screen(self, theta: Array, some: Index | None = None) -> tuple[Real, Index]:
        views = [Glance.of(fold, theta) for fold in self.folds]
        least, place = np.full(self.outputs, np.inf), np.zeros(self.outputs, dtype=np.intp)
        for part in self._alike(np.arange(self.outputs) if some is None else some):
            tried = self._tried(part)
            error = np.zeros((tried.size, part.size))
            for view in views:
                error += view.errors(part, self.lam[tried])
            first, least[part] = smallest(error)
            place[part] = tried[first]
        return (least, place) if some is None else (least[some], place[some])

    def _alike(self, some: Index) -> Iterator[Index]:
        """Those of some targets that try the same values of C, a batch at a time."""
        groups = [some]
        if self.best is not None:
            best = self.best[some]
            groups = [some[best == place] for place in np.unique(best)]
        for group in groups:
            for part in batches(group.size):
                yield group[part]

    def _tried(self, part: Index) -> Index:
        if self.best is None:
            return np.arange(self.lam.size)
        middle = int(self.best[part[0]])
        return np.arange(max(middle - _WINDOW, 0), min(middle + _WINDOW + 1, self.lam.size))

    def remember(self, least: Real, place: Index, some: Index | None = None) -> None:
        if self.best is None or self.least is None:
            self.best, self.least = np.zeros(self.outputs, dtype=np.intp), np.full(self.outputs, np.inf)
        which = np.arange(self.outputs) if some is None else some
        better = least < self.least[which]
        self.best[which[better]], self.least[which[better]] = place[better], least[better]


@dataclass(frozen=True)
class Glance:
    """A fold at weights θ: f − mean = reach · UᵀQᵀDy/(d + λ) on the samples that it leaves out."""

    fold: Fold
    d: Array
    U: Real
    reach: Real  # (new, r), times the roots of the weights

    @classmethod
    def of(cls, fold: Fold, theta: Array) -> Self:
        """The fold, factorised."""
        spectrum, dtype = fold.ridge.spectrum(theta), fold.inside.Y.dtype
        reach = fold.root[:, None] * fold.unseen.reach(theta, spectrum.U)
        return cls(fold, spectrum.d, spectrum.U.astype(dtype), reach.astype(dtype))

    def errors(self, some: Index, lam: Array) -> Array:
        """(values of λ, some): the squared errors of some targets."""
        R, truth = self.U.T @ self.fold.inside.Y[:, some], self.fold.truth[:, some]
        found = np.empty((lam.size, some.size))
        for k, one in enumerate(lam):
            miss = (self.reach / (self.d + one).astype(R.dtype)) @ R
            miss -= truth
            found[k] = np.einsum("ij,ij->j", miss, miss)
        return found


def folded(options: Options, given: Given, folds: Folds, Cs: Array) -> CrossValidation:
    """Every fold with kernels of its training part alone."""
    Y, dtype = _numbers(given.y), precision(given.y.size)
    weight = np.ones(len(Y)) if given.weight is None else given.weight
    scored = np.concatenate([test for _, test in folds])
    counts = weight * np.bincount(scored, minlength=len(Y))
    total = total_squares(Y, counts)
    found = []
    for train, test in folds:
        samples = given.part(train).samples(in_order=True)
        ridge = ridge_of(options.replace(verbose=0), samples)
        root, means = np.sqrt(weight[test]), ridge.means(samples.Y)
        truth = (root[:, None] * (Y[test] - means) / np.sqrt(total)).astype(dtype)
        inside = seen_inside(ridge, samples.Y, total, dtype)
        ridge.samples = replace(samples, Y=samples.Y[:, :0].copy())  # targets are large, and inside now
        found.append(Fold(ridge, inside, ridge.seen_by(given.new(test, train)), truth, root))
    return CrossValidation(found, total.size, Cs)


def _numbers(y: NDArray[Any]) -> Array:
    return np.asarray(y).reshape(len(y), -1)

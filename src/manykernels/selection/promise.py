"""What the folds promise of the chosen model, and whether its fit to all samples keeps it.

Kernels are learned anew from all samples, and their widths may come out otherwise than in the folds: where
the evidence has several optima, narrow widths can take the place of wide ones, for which C was chosen.
Leave-one-out shows that. It is optimistic, since kernels and weights have seen the sample that is left out,
so a fit whose error is still larger than the folds allow for has gone wrong. C is then chosen by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fitting.listed import Listed
from ..fitting.options import Options
from ..grams.memory import LEFT_OUT
from ..solvers import Result
from .calibration import Calibration
from .data import Data
from .left_out import left_out

Array = NDArray[np.float64]
_SURPRISING = 2.0  # standard errors above the mean error of the folds


@dataclass(frozen=True)
class Promise:
    """The largest error that folds allow for, and the samples that it is of."""

    data: Data
    most: float

    @classmethod
    def of(cls, data: Data, losses: Array, error: float) -> Promise:
        """Make it from the losses of the folds and the standard error of their mean."""
        return cls(data, float(losses.mean()) + _SURPRISING * error)

    def chosen(self, options: Options, bound: Listed, path: Sequence[tuple[float, list[Result]]]) -> Chosen:
        """The C of the options, or of the path the best by leave-one-out if that one breaks the promise."""
        given = float(options.C)
        if not self._can_tell(options, bound):
            return Chosen(given)
        steps = dict(path)
        tried = {given: self._left_out(bound, given, steps[given])}
        error = tried[given][0]
        if error <= self.most:
            return Chosen(given)
        tried |= {C: self._left_out(bound, C, steps[C]) for C in steps if C != given}
        best = min(tried, key=lambda C: tried[C][0])
        said = (
            f"Fitted to all samples, the error of C={given:g} by leave-one-out is {error:.3g}, and the folds "
            f"allow for {self.most:.3g}: kernels came out otherwise than in the folds. "
        )
        if best == given:
            return Chosen(given, None, f"{said}No other C is better.")
        said += f"C={best:g} with {tried[best][0]:.3g} was taken in its place."
        return Chosen(best, self._calibration(bound, tried[best][1]), said)

    def _can_tell(self, options: Options, bound: Listed) -> bool:
        plain = options.loss.quadratic and not options.own_weights and options.gating is None
        gram, by_error = bound.space, self.data.scorer is None and not self.data.survival
        return plain and by_error and not gram.explicit and (LEFT_OUT + 1) * 8 * gram.n**2 <= gram.room

    def _left_out(self, bound: Listed, C: float, results: list[Result]) -> tuple[float, Array]:
        """The error by leave-one-out, and the decisions that it is of."""
        rows = bound.samples.rows
        kept = np.flatnonzero(rows.owner >= 0)  # nothing was learned of classes that cost nothing
        copies = rows.owner[kept], rows.share[kept]
        f = bound.Y[copies[0]]
        Z = None if bound.samples.free is None else bound.samples.free.basis
        for group, result in zip(_groups(bound, results), results, strict=True):
            K = bound.space.combine(result.weights)
            f[:, group] += left_out(K, bound.Y[:, group], C * bound.costs, bound.intercept, Z, copies)
        judge: Any = self.data.judge(kept, kept, self.data.classes)
        return float(judge.error(f)), f

    def _calibration(self, bound: Listed, f: Array) -> Calibration | None:
        """Learn the calibration of a classifier from its decisions by leave-one-out."""
        data = self.data
        if data.classes is None:
            return None
        kept = np.flatnonzero(bound.samples.rows.owner >= 0)
        return Calibration.fit(f, data.y[kept], data.classes, data.cost(kept))


@dataclass(frozen=True)
class Chosen:
    """The C of the fit to all samples; if it is not that of the folds, why, and the calibration with it."""

    C: float
    calibration: Calibration | None = None
    said: str = ""


def _groups(bound: Listed, results: list[Result]) -> list[slice]:
    """The outputs of each result: all of one, or one of each."""
    return [slice(None)] if len(results) == 1 else [slice(g, g + 1) for g in range(len(results))]

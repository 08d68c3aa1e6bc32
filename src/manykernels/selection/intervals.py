"""Intervals around predictions, from errors on samples that were held out: CV+ of Barber et al. (2021).

Let model f_k have learned without the samples of fold S_k, and let r_i = |y_i − f_k(x_i)| for i in S_k. With
n samples that were held out in all and m = ⌈c(n + 1)⌉, the interval of coverage c at x reaches

    from  the m-th largest of  f_k(i)(x) − r_i     to  the m-th smallest of  f_k(i)(x) + r_i.

Of several folds, a new sample lies inside with a probability of at least 2c − 1 − √(2/n), and of about c in
practice (Barber et al. 2021). One fold alone is split conformal prediction, whose probability is at least c.
Both hold for every distribution, as long as samples are exchangeable and f_k is learned from nothing but the
other folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fitting.stacks import cut, in_matrices

Array = NDArray[np.float64]
_CELLS = 1 << 22  # numbers that are held at once


@dataclass(frozen=True)
class HeldOut:
    """A model, and its errors on the samples that it had not seen."""

    model: Any
    errors: Array  # |y − f(x)|, (n_held,) or (n_held, n_outputs)
    weight: Array | None  # a sample of weight w counts as w samples
    train: NDArray[np.intp] | None = None  # what it learned from, where new samples come against all of them

    def predict(self, X: Any, **beside: Any) -> Array:
        """Predict new samples; of a stack the model sees its own training samples only."""
        if self.train is not None:
            part = next(iter(X.values())) if isinstance(X, Mapping) else X[0] if in_matrices(X) else X
            X = cut(X, np.arange(len(part)), self.train)
        return np.asarray(self.model.predict(X, **beside), dtype=float)


def rank_of(coverage: float, n: float) -> int:
    """⌈c(n + 1)⌉, with room for rounding."""
    return int(np.ceil(round(coverage * (n + 1.0), 9)))


def count_of(parts: Sequence[HeldOut]) -> float:
    """Count how many samples were held out."""
    return float(sum(len(part.errors) if part.weight is None else part.weight.sum() for part in parts))


def intervals(parts: Sequence[HeldOut], predictions: Sequence[Array], coverage: float) -> Array:
    """(n_new, 2) or (n_new, 2, n_outputs): where the intervals begin and end.

    Infinite where fewer samples were held out than the coverage asks for, which is c/(1 − c).
    """
    if predictions[0].ndim == 2:
        found = [
            intervals([_of_output(part, j) for part in parts], [f[:, j] for f in predictions], coverage)
            for j in range(predictions[0].shape[1])
        ]
        return np.stack(found, axis=2)
    rank, n_new = rank_of(coverage, count_of(parts)), len(predictions[0])
    if rank > count_of(parts):
        return np.tile([-np.inf, np.inf], (n_new, 1))
    r = np.concatenate([part.errors for part in parts])
    k = np.repeat(np.arange(len(parts)), [len(part.errors) for part in parts])
    F, w, out = np.array(predictions), _weights(parts), np.empty((n_new, 2))
    step = max(1, _CELLS // r.size)
    for start in range(0, n_new, step):
        f = F[k, start : start + step]  # (n_held, some of the new ones)
        out[start : start + step, 0] = -_smallest(r[:, None] - f, w, rank)
        out[start : start + step, 1] = _smallest(r[:, None] + f, w, rank)
    return np.sort(out, axis=1)  # at small coverages the ends may cross where models differ much


def _smallest(values: Array, w: Array | None, rank: int) -> Array:
    """The value of this rank in every column, where row i counts w_i times."""
    if w is None:
        return np.asarray(np.partition(values, rank - 1, axis=0)[rank - 1])
    order = np.argsort(values, axis=0, kind="stable")
    reached = np.cumsum(w[order], axis=0) >= rank * (1.0 - 1e-12)
    place = np.where(reached.any(axis=0), reached.argmax(axis=0), len(values) - 1)
    return np.asarray(np.take_along_axis(values, order, axis=0)[place, np.arange(values.shape[1])])


def _weights(parts: Sequence[HeldOut]) -> Array | None:
    if all(part.weight is None for part in parts):
        return None
    return np.concatenate([np.ones(len(p.errors)) if p.weight is None else p.weight for p in parts])


def _of_output(part: HeldOut, j: int) -> HeldOut:
    return replace(part, errors=part.errors[:, j])

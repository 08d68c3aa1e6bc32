"""Intervals around predictions, from errors on samples that were held out: CV+ of Barber et al. (2021).

Let model f_k have learned without the samples of fold S_k, and let r_i = |y_i − f_k(x_i)| for i in S_k. With
n samples that were held out in all and m = ⌈c(n + 1)⌉, the interval of coverage c at x reaches

    from  the m-th largest of  f_k(i)(x) − r_i     to  the m-th smallest of  f_k(i)(x) + r_i.

Of several folds, a new sample lies inside with a probability of at least 2c − 1 − √(2/n), and of about c in
practice (Barber et al. 2021). One fold alone is split conformal prediction, whose probability is at least c.
Both hold for every distribution, as long as samples are exchangeable and f_k is learned from nothing but the
other folds.

Folds of one sample are the jackknife+ (`Jackknife`). At weights and C that were fixed beforehand, the squared
loss has all n models from one factorisation: with A = K_θ + diag(1/C), let P and q be the parts of

    [A 1; 1ᵀ 0]⁻¹ = [P q; qᵀ s],      e_i = α_i/P_ii,      f_i(x) = f(x) − (k(x)ᵀP_·i + q_i) e_i

where e_i is y_i − f_i(x_i), and f_i is the machine without sample i. Weights that were learned have seen the
sample, and the intervals are then an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._fast.linalg import factor
from ..fitting.functions import KernelFunction
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


@dataclass(frozen=True)
class Jackknife:
    """The machine of all samples, and what leaving out each of them changes."""

    change: KernelFunction  # x → k(x)ᵀP + qᵀ, a value for each training sample
    errors: Array  # y_i − f_i(x_i), (n, outputs)
    weight: Array | None
    fixed: bool  # whether weights and C had not seen the samples

    def intervals(self, f: Array, change: Array, coverage: float) -> Array:
        """(n_new, 2) or (n_new, 2, n_outputs), of predictions and changes of new samples."""
        if f.ndim == 2:
            found = [
                replace(self, errors=self.errors[:, [j]]).intervals(f[:, j], change, coverage)
                for j in range(f.shape[1])
            ]
            return np.stack(found, axis=2)
        e = self.errors[:, 0]

        def without(rows: slice) -> Array:
            return np.asarray(f[rows] - e[:, None] * change[rows].T)

        return _ends(without, np.abs(e), self.weight, len(f), coverage)

    @property
    def count(self) -> float:
        """How many samples were left out."""
        return float(len(self.errors) if self.weight is None else self.weight.sum())


def jackknife(
    function: KernelFunction,
    X: Any,
    y: Array,
    cost: Array,
    weight: Array | None,
    intercept: bool,
    fixed: bool,
) -> Jackknife:
    """Leave out each of the samples X, at the weights of `function`; `cost` is C_i.

    The coefficients of `function` say which of its support each of X is, (support, X): a column for each of X
    with a 1 in its place.
    """
    n, places = len(y), function.coefficients
    A = replace(function, intercept=np.zeros(n)).decide(X)
    A.flat[:: n + 1] += 1.0 / cost
    R = solve_triangular(factor(A), np.eye(n), lower=True, check_finite=False)  # A⁻¹ = RᵀR
    P, q = R.T @ R, np.zeros(n)
    if intercept:
        q = P.sum(axis=1) / P.sum()
        P -= np.outer(q, P.sum(axis=1))
    errors = (P @ y) / np.diag(P)[:, None]
    return Jackknife(replace(function, coefficients=places @ P, intercept=q), errors, weight, fixed)


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
    r = np.concatenate([part.errors for part in parts])
    k = np.repeat(np.arange(len(parts)), [len(part.errors) for part in parts])
    F = np.array(predictions)
    return _ends(lambda rows: F[k, rows], r, _weights(parts), len(predictions[0]), coverage)


def _ends(without: Callable[[slice], Array], r: Array, w: Array | None, n_new: int, coverage: float) -> Array:
    """(n_new, 2), where `without` says of some new samples what the model without each held-out one does."""
    count = float(len(r) if w is None else w.sum())
    rank, out = rank_of(coverage, count), np.empty((n_new, 2))
    if rank > count:
        return np.tile([-np.inf, np.inf], (n_new, 1))
    step = max(1, _CELLS // r.size)
    for start in range(0, n_new, step):
        rows = slice(start, start + step)
        f = without(rows)  # (n_held, some of the new ones)
        out[rows, 0] = -_smallest(r[:, None] - f, w, rank)
        out[rows, 1] = _smallest(r[:, None] + f, w, rank)
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

"""How wrong machines are on samples that were left out, for many targets: as a share of their variance.

Leave-one-out needs one eigendecomposition. With S = λ/(d + λ), R = UᵀQᵀDy and P = (B_θ + λI)⁻¹ seen from the
samples, the machine without sample i misses it by α_i/P_ii. On the way P_ii is replaced by its mean, which
makes all values of C one small product (generalised cross-validation): n² ‖SR‖²/(tr S)². Folds have an
eigendecomposition each, of their training part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .ridge import Array, Real, Ridge, Spectrum, Unseen

Index = NDArray[np.intp]
_SAME = 1e-4  # relative: errors that do not tell two values of C apart
_BATCH = 4096  # targets at a time
_SINGLE = 1 << 22  # numbers in the targets from which products with them are in single precision


def batches(outputs: int) -> Iterator[slice]:
    """All targets, some at a time."""
    for lo in range(0, outputs, _BATCH):
        yield slice(lo, min(lo + _BATCH, outputs))


def precision(size: int) -> Any:
    """The type of the products of a search: eigenvectors are always found in double precision.

    Single precision changes an error by about 1e-6 of the variance, far less than candidates differ by.
    """
    return np.float32 if size >= _SINGLE else np.float64


def smallest(error: Real) -> tuple[Index, Real]:
    """For every target the first of errors over rising C (C, targets) that is as good as the least."""
    first = np.asarray((error <= error.min(axis=0) * (1.0 + _SAME)).argmax(axis=0))
    return first, error[first, np.arange(error.shape[1])]


class Criterion(ABC):
    """Errors of all targets at weights θ."""

    outputs: int

    @abstractmethod
    def screen(self, theta: Array) -> tuple[Real, Index]:
        """The least error over C of every target (outputs,), and at which C (by its place)."""


@dataclass(frozen=True)
class Inside:
    """Targets as seen from Q: QᵀDy, and what is left of ‖Dy‖² outside of it."""

    Y: Real  # (columns of Q, outputs)
    rest: Array  # (outputs,)


def seen_inside(ridge: Ridge, Y: Array, dtype: Any) -> Inside:
    """The targets (n, outputs) in the coordinates of the machine, batch by batch."""
    inside = np.empty((ridge.basis.size, Y.shape[1]), dtype=dtype)
    rest = np.zeros(Y.shape[1])
    for part in batches(Y.shape[1]):
        white = ridge.whitened(Y[:, part])
        within = ridge.basis.inward(white)
        inside[:, part] = within
        if ridge.basis.size < ridge.free:
            rest[part] = np.maximum((white**2).sum(axis=0) - (within**2).sum(axis=0), 0.0)
    return Inside(inside, rest)


def total_squares(ridge: Ridge, Y: Array) -> Array:
    """‖D(y − mean)‖² of every target: the error of no machine at all."""
    total = np.empty(Y.shape[1])
    for part in batches(Y.shape[1]):
        total[part] = (ridge.whitened(Y[:, part]) ** 2).sum(axis=0)
    return total


# -- leave one out ------------------------------------------------------------------------------
class LeaveOneOut(Criterion):
    """Generalised cross-validation on the way; `exact` is what it stands for."""

    def __init__(self, ridge: Ridge, Y: Array, Cs: Array) -> None:
        self.ridge, self.Y, self.lam = ridge, Y, 1.0 / Cs
        self.outputs = Y.shape[1]
        self.inside = seen_inside(ridge, Y, precision(Y.size))
        self.total = total_squares(ridge, Y)
        self.scale = np.where(self.total > 0.0, self.total, 1.0)

    def screen(self, theta: Array) -> tuple[Real, Index]:
        spectrum, ridge, dtype = self.ridge.spectrum(theta), self.ridge, self.inside.Y.dtype
        S = self.lam[:, None] / (spectrum.d + self.lam[:, None])  # (C, r)
        outside = ridge.free - ridge.basis.size
        factor = ridge.n**2 / (S.sum(axis=1) + outside) ** 2
        squares, U = (S**2).astype(dtype), spectrum.U.astype(dtype)
        least, place = np.empty(self.outputs, dtype=dtype), np.empty(self.outputs, dtype=np.intp)
        for part in batches(self.outputs):
            R = U.T @ self.inside.Y[:, part]
            np.square(R, out=R)
            error = squares @ R
            error += self.inside.rest[part].astype(dtype)
            error *= factor.astype(dtype)[:, None]
            place[part], lowest = smallest(error)
            least[part] = lowest / self.scale[part]
        return least, place

    def exact(self, spectrum: Spectrum, some: Index, places: Index) -> tuple[Array, Array]:
        """Errors and coefficients of `some` targets, each at a C of its own (by its `places`).

        Returns (some,) and α (n, some).
        """
        ridge = self.ridge
        white = ridge.whitened(self.Y[:, some])
        alpha = coefficients(ridge, spectrum, white, self.lam[places])
        used, which = np.unique(places, return_inverse=True)
        diagonal = inverse_diagonal(ridge, spectrum, self.lam[used])[:, which]
        error = np.square(alpha / diagonal).sum(axis=0) / self.scale[some]
        return error, alpha * ridge.root[:, None]


def coefficients(ridge: Ridge, spectrum: Spectrum, white: Array, lam: Array) -> Array:
    """D⁻¹α (n, outputs) of targets D(y − mean) with a λ each."""
    within = ridge.basis.inward(white)
    beta = (spectrum.U.T @ within) / (spectrum.d[:, None] + lam)
    alpha = ridge.basis.outward(spectrum.U @ beta)
    if ridge.basis.size < ridge.free:
        alpha += (white - ridge.basis.outward(within)) / lam
    return alpha


def inverse_diagonal(ridge: Ridge, spectrum: Spectrum, lam: Array) -> Array:
    """P_ii (n, values of λ), in the coordinates D y."""
    V = np.square(ridge.basis.outward(spectrum.U))
    found = V @ (1.0 / (spectrum.d[:, None] + lam))
    if ridge.basis.size < ridge.free:
        constant = ridge.root**2 / (ridge.root @ ridge.root) if ridge.fit_intercept else 0.0
        found += np.maximum(1.0 - V.sum(axis=1) - constant, 0.0)[:, None] / lam
    return np.asarray(found)


# -- folds --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Fold:
    """One part of the samples to learn from, and the others to predict."""

    ridge: Ridge
    inside: Inside
    means: Array  # (outputs,)
    unseen: Unseen
    truth: Real  # (new, outputs): targets less their training means, times the roots of the weights
    root: Array  # (new,)


class CrossValidation(Criterion):
    """Errors summed over folds."""

    def __init__(self, folds: list[Fold], total: Array, Cs: Array, window: int) -> None:
        self.folds, self.lam = folds, 1.0 / Cs
        self.outputs = total.size
        self.total, self.scale = total, np.where(total > 0.0, total, 1.0)
        self.window = window  # places of C on either side of the best so far that are tried
        self.best: Index | None = None
        self.least: Real | None = None

    def screen(self, theta: Array) -> tuple[Real, Index]:
        views = [Glance.of(fold, theta) for fold in self.folds]
        least, place = np.empty(self.outputs), np.empty(self.outputs, dtype=np.intp)
        for part in self._alike():
            tried = self._tried(part)
            error = np.zeros((tried.size, part.size))
            for view in views:
                error += view.errors(part, self.lam[tried])
            error /= self.scale[part]
            first, least[part] = smallest(error)
            place[part] = tried[first]
        self._remember(least, place)
        return least, place

    def _alike(self) -> Iterator[Index]:
        """Targets that try the same values of C, some at a time."""
        groups = [np.arange(self.outputs)]
        if self.best is not None:
            groups = [np.flatnonzero(self.best == place) for place in np.unique(self.best)]
        for group in groups:
            for part in batches(group.size):
                yield group[part]

    def _tried(self, part: Index) -> Index:
        if self.best is None:
            return np.arange(self.lam.size)
        middle = int(self.best[part[0]])
        return np.arange(max(middle - self.window, 0), min(middle + self.window + 1, self.lam.size))

    def _remember(self, least: Real, place: Index) -> None:
        if self.best is None or self.least is None:
            self.best, self.least = place.copy(), least.copy()
            return
        better = least < self.least
        self.best[better], self.least[better] = place[better], least[better]


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

"""Errors of machines on left-out samples, for many targets, as shares of their variance.

Leave-one-out needs one eigendecomposition. With S = λ/(d + λ), R = UᵀQᵀDy and P = (B_θ + λI)⁻¹ seen from the
samples, the machine without sample i misses it by α_i/P_ii. On the way P_ii is replaced by its mean, which
makes all values of C one small product (generalised cross-validation): n² ‖SR‖²/(tr S)². Folds are in
`folded.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .ridge import Array, Real, Ridge, Spectrum

Index = NDArray[np.intp]
_SAME = 1e-4  # relative: errors that do not tell two values of C apart
_BATCH = 4096  # targets at a time
_SINGLE = 1 << 22  # numbers in the targets from which products with them are in single precision


def batches(outputs: int, size: int | None = None) -> Iterator[slice]:
    """All targets, some at a time."""
    step = _BATCH if size is None else size
    for lo in range(0, outputs, step):
        yield slice(lo, min(lo + step, outputs))


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
    """Errors of all targets: 1 − R², measured against the mean of all samples that are left out."""

    outputs: int
    finalists: ClassVar[int] = 1  # candidates whose exact errors a target compares

    @abstractmethod
    def screen(self, theta: Array, some: Index | None = None) -> tuple[Real, Index]:
        """The least error over C of all targets, or some, and at which C (by its place)."""

    @abstractmethod
    def remember(self, least: Real, place: Index, some: Index | None = None) -> None:
        """Be told what `screen` found, now or before a crash: the next one may try fewer values of C."""

    def exact(self, spectrum: Spectrum, some: Index, lam: Array, alpha: Array, screened: Real) -> Array:
        """The errors of `some` targets, whose machines on all samples (see `coefficients`) have a λ each."""
        return np.asarray(screened, dtype=np.float64)


@dataclass(frozen=True)
class Inside:
    """Targets of size 1 as seen from Q: QᵀDy, and what is left of ‖Dy‖² outside of it."""

    Y: Real  # (columns of Q, outputs)
    rest: Array  # (outputs,)


def seen_inside(ridge: Ridge, Y: Array, total: Array, dtype: Any) -> Inside:
    """The targets (n, outputs) in the coordinates of the machine, batch by batch, divided by √total."""
    inside = np.empty((ridge.basis.size, Y.shape[1]), dtype=dtype)
    rest = np.zeros(Y.shape[1])
    for part in batches(Y.shape[1]):
        white = ridge.whitened(Y[:, part]) / np.sqrt(total[part])
        within = ridge.basis.inward(white)
        inside[:, part] = within
        if ridge.basis.size < ridge.free:
            rest[part] = np.maximum((white**2).sum(axis=0) - (within**2).sum(axis=0), 0.0)
    return Inside(inside, rest)


def total_squares(Y: Array, weight: Array) -> Array:
    """Σ w(y − mean)² of every target, by which errors are divided; 1 where a target does not vary."""
    total = np.empty(Y.shape[1])
    for part in batches(Y.shape[1]):
        mean = weight @ Y[:, part] / weight.sum()
        total[part] = weight @ (Y[:, part] - mean) ** 2
    return np.where(total > 0.0, total, 1.0)


# -- leave one out ------------------------------------------------------------------------------
class LeaveOneOut(Criterion):
    """Generalised cross-validation on the way; `exact` is what it stands for."""

    finalists: ClassVar[int] = 2

    def __init__(self, ridge: Ridge, Y: Array, Cs: Array) -> None:
        self.ridge, self.lam = ridge, 1.0 / Cs
        self.outputs = Y.shape[1]
        self.total = total_squares(Y, ridge.samples.costs)
        self.inside = seen_inside(ridge, Y, self.total, precision(Y.size))

    def screen(self, theta: Array, some: Index | None = None) -> tuple[Real, Index]:
        spectrum, ridge, dtype = self.ridge.spectrum(theta), self.ridge, self.inside.Y.dtype
        S = self.lam[:, None] / (spectrum.d + self.lam[:, None])  # (C, r)
        outside = ridge.free - ridge.basis.size
        factor = ridge.n**2 / (S.sum(axis=1) + outside) ** 2
        squares, U = (S**2).astype(dtype), spectrum.U.astype(dtype)
        count = self.outputs if some is None else some.size
        least, place = np.empty(count, dtype=dtype), np.empty(count, dtype=np.intp)
        for part in batches(count):
            which: Any = part if some is None else some[part]
            R = U.T @ self.inside.Y[:, which]
            np.square(R, out=R)
            error = squares @ R
            error += self.inside.rest[which].astype(dtype)
            error *= factor.astype(dtype)[:, None]
            place[part], least[part] = smallest(error)
        return least, place

    def remember(self, least: Real, place: Index, some: Index | None = None) -> None:
        """All values of C are one small product: none is left out."""

    def exact(self, spectrum: Spectrum, some: Index, lam: Array, alpha: Array, screened: Real) -> Array:
        used, which = np.unique(lam, return_inverse=True)
        missed = alpha / inverse_diagonal(self.ridge, spectrum, used)[:, which]
        return np.asarray(np.einsum("ij,ij->j", missed, missed) / self.total[some])


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

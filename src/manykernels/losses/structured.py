"""Losses of a vector of scores: several classes at once, ordered labels, and a user's own structures.

A sample's scores are f ∈ R^k, and the score of a label y is ⟨f, ψ(y)⟩ for some code ψ(y) ∈ R^k; here
ψ(y) = e_y, one score a class. Anything that is convex in f can be minimised online (UFO-MKL), because the
gradient in the weights of every kernel is then g ⊗ φ(x) with one vector g ∈ R^k for all kernels (002 §2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax, xlogy
from sklearn.base import BaseEstimator

from .._fast import codes
from .base import ROUNDING, Loss
from .scalar import FloatArray

Codes = NDArray[np.intp]


class StructuredLoss(BaseEstimator, ABC):
    """A convex loss ℓ(y, f) of k scores f and a label y = 0, 1, …, its place among the sorted classes.

    A loss of your own defines `value`, `subgradient` and, unless there is one score a class and the largest
    wins, `outputs` and `decode`. Two things more are optional: `conjugate` (then fits know their duality gap)
    and `lipschitz`, a bound on ‖∂ℓ‖₂ (then the bound of 002 Theorem 2 is known, and steps need no damping).
    `OrdinalHinge` is an example.
    """

    lipschitz: float = np.inf
    curvature: float = 1.0
    """The largest second derivative, as far as it is known; asked where the slope has no bound."""
    probabilistic: ClassVar[bool] = False
    """Whether the scores are logarithms of the classes' probabilities, up to a constant."""
    never_rests: ClassVar[bool] = False
    """Whether the subgradient hardly ever vanishes, so that every sample moves an online learner."""
    code: ClassVar[int] = codes.NONE
    """The compiled step of this loss (`_fast/codes.py`); a class that names none takes them in Python."""
    parameter: float = 0.0
    """The number that the compiled step needs beside y and f."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "code" not in vars(cls):  # a derived class may change the loss, and the compiled step would not
            cls.code = codes.NONE

    def targets(self, Y: FloatArray) -> Any:
        """What the loss reads of targets (n, k): labels (n,)."""
        return Y[:, 0].astype(np.intp)

    def outputs(self, n_classes: int) -> int:
        """k, the number of scores."""
        return n_classes

    @abstractmethod
    def value(self, y: Codes, f: FloatArray) -> FloatArray:
        """ℓ(y_i, f_i) for labels (n,) and scores (n, k)."""

    @abstractmethod
    def subgradient(self, y: int, f: FloatArray) -> FloatArray:
        """An element of ∂ℓ(y, f) for one sample, of shape (k,)."""

    def conjugate(self, y: Codes, u: FloatArray) -> FloatArray | None:
        """ℓ*(y_i, u_i) = sup_f ⟨u_i, f⟩ − ℓ(y_i, f), u (n, k), +inf outside its domain; None if unknown."""
        return None

    def decode(self, f: FloatArray) -> Codes:
        """The label of each row of scores."""
        return np.asarray(f.argmax(axis=1))


def _own(y: Codes, f: FloatArray) -> FloatArray:
    return np.take_along_axis(f, y[:, None], axis=1)


def _mixture(y: Codes, u: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """p = u + e_y, cut to p ≥ 0, and where it is in the simplex up to rounding."""
    p = u.copy()
    np.put_along_axis(p, y[:, None], _own(y, u) + 1.0, axis=1)
    slack = ROUNDING * u.shape[1]
    inside = (np.abs(p.sum(axis=1) - 1.0) <= slack) & (p.min(axis=1) >= -slack)
    return np.maximum(p, 0.0), inside


class MulticlassHinge(StructuredLoss):
    """ℓ(y, f) = max_{c ≠ y} (1 − f_y + f_c)₊ (Crammer & Singer), with ℓ*(y, u) = u_y.

    Its domain: Σu = 0, −1 ≤ u_y ≤ 0, u_c ≥ 0 for the other classes.
    """

    lipschitz: float = float(np.sqrt(2.0))
    code: ClassVar[int] = codes.MULTICLASS

    def value(self, y: Codes, f: FloatArray) -> FloatArray:
        rivals = f.copy()
        np.put_along_axis(rivals, y[:, None], -np.inf, axis=1)
        return np.asarray(np.maximum(1.0 - _own(y, f)[:, 0] + rivals.max(axis=1), 0.0))

    def subgradient(self, y: int, f: FloatArray) -> FloatArray:
        rivals = f.copy()
        rivals[y] = -np.inf
        rival, g = int(rivals.argmax()), np.zeros_like(f)
        if f[y] - f[rival] < 1.0:
            g[y], g[rival] = -1.0, 1.0
        return g

    def conjugate(self, y: Codes, u: FloatArray) -> FloatArray:
        own = _own(y, u)[:, 0]
        others = u.copy()
        np.put_along_axis(others, y[:, None], 0.0, axis=1)
        slack = ROUNDING * u.shape[1]
        inside = (np.abs(u.sum(axis=1)) <= slack) & (others.min(axis=1) >= -slack) & (own >= -1.0 - slack)
        return np.where(inside, own, np.inf)


class MulticlassLogistic(StructuredLoss):
    """ℓ(y, f) = log Σ_c e^{f_c} − f_y, with ℓ*(y, u) = Σ_c p_c log p_c for p = u + e_y in the simplex."""

    lipschitz: float = float(np.sqrt(2.0))
    probabilistic: ClassVar[bool] = True
    never_rests: ClassVar[bool] = True
    code: ClassVar[int] = codes.MULTINOMIAL

    def value(self, y: Codes, f: FloatArray) -> FloatArray:
        return np.asarray(logsumexp(f, axis=1) - _own(y, f)[:, 0])

    def subgradient(self, y: int, f: FloatArray) -> FloatArray:
        g = np.asarray(softmax(f))
        g[y] -= 1.0
        return g

    def conjugate(self, y: Codes, u: FloatArray) -> FloatArray:
        p, inside = _mixture(y, u)
        return np.where(inside, xlogy(p, p).sum(axis=1), np.inf)


class OrdinalHinge(StructuredLoss):
    """ℓ(y, f) = max_c (|y − c| + f_c − f_y): labels with an order, and mistakes as bad as they are far.

    The hinge with rescaled margins of structured prediction (Tsochantaridis et al. 2004, the case 002 §2
    names): a label c must score below the right one by the number of steps between them.
    ℓ*(y, u) = −Σ_c |y − c| p_c for p = u + e_y in the simplex.
    """

    lipschitz: float = float(np.sqrt(2.0))

    def value(self, y: Codes, f: FloatArray) -> FloatArray:
        steps = np.abs(y[:, None] - np.arange(f.shape[1]))
        return np.asarray((steps + f).max(axis=1) - _own(y, f)[:, 0])

    def subgradient(self, y: int, f: FloatArray) -> FloatArray:
        g = np.zeros_like(f)
        g[int((np.abs(y - np.arange(f.size)) + f).argmax())] += 1.0
        g[y] -= 1.0
        return g

    def conjugate(self, y: Codes, u: FloatArray) -> FloatArray:
        p, inside = _mixture(y, u)
        steps = np.abs(y[:, None] - np.arange(u.shape[1]))
        return np.where(inside, -(steps * p).sum(axis=1), np.inf)


class PerScore(StructuredLoss):
    """A scalar loss of every score, added up: ℓ(y, f) = Σ_c ℓ(y_c, f_c), with targets y of shape (n, k)."""

    def __init__(self, loss: Loss, n_outputs: int = 1) -> None:
        self.loss = loss
        self.n_outputs = n_outputs

    @property
    def lipschitz(self) -> float:  # type: ignore[override]
        """L √k for losses of slope at most L, the end of what a dual variable may be."""
        slopes = np.abs(self.loss.bounds(np.array([-1.0, 1.0])))
        return float(slopes.max() * np.sqrt(self.n_outputs))

    @property
    def curvature(self) -> float:  # type: ignore[override]
        """1/strong, 1 where that promises nothing."""
        return 1.0 / (self.loss.strong or 1.0)

    @property
    def never_rests(self) -> bool:  # type: ignore[override]
        return self.loss.never_rests

    @property
    def code(self) -> int:  # type: ignore[override]
        return self.loss.code

    @property
    def parameter(self) -> float:  # type: ignore[override]
        return self.loss.parameter

    def targets(self, Y: FloatArray) -> FloatArray:
        return Y

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:  # type: ignore[override]
        return np.asarray(self.loss.value(y, f).sum(axis=1))

    def subgradient(self, y: FloatArray, f: FloatArray) -> FloatArray:  # type: ignore[override]
        return self.loss.gradient(y, f)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:  # type: ignore[override]
        return np.asarray(self.loss.conjugate(y, u).sum(axis=1))

    def decode(self, f: FloatArray) -> Codes:
        return np.asarray((f[:, 0] > 0).astype(np.intp)) if f.shape[1] == 1 else super().decode(f)

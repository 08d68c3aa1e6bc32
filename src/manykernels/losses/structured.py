"""Losses of a vector of scores: several classes at once, ordered labels, and a user's own structures.

A sample's scores are f ∈ R^k, and the score of a label y is ⟨f, ψ(y)⟩ for some code ψ(y) ∈ R^k; here
ψ(y) = e_y, one score a class. Anything that is convex in f can be minimised online (UFO-MKL), because the
gradient in the weights of every kernel is then g ⊗ φ(x) with one vector g ∈ R^k for all kernels (Orabona &
Jie 2011, §2).
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
    """Base class of convex losses ℓ(y, f) of k scores f and a label y = 0, 1, …, its place among the classes.

    A loss of your own defines `value`, `subgradient` and, unless there is one score for each class and the
    largest wins, `outputs` and `decode`. Two things more are optional: `conjugate` (then fits know their
    duality gap) and `lipschitz`, a bound on ‖∂ℓ‖₂ (then the bound of Orabona & Jie 2011, Theorem 2 is known,
    and steps need no damping). `OrdinalHinge` is an example.

    Attributes
    ----------
    lipschitz : float
        A bound on ‖∂ℓ‖₂; infinite if none is known.
    curvature : float
        The largest second derivative, as far as it is known. It is used if the slope has no bound.
    probabilistic : bool
        Whether the scores are logarithms of the probabilities of the classes, up to a constant.
    never_rests : bool
        Whether the subgradient hardly ever vanishes, so that every sample moves an online learner.
    code : int
        The number of the compiled online step of this loss (``_fast/codes.py``). A class without a number of
        its own takes its steps in Python.
    parameter : float
        The number that the compiled step needs beside y and f.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import StructuredLoss
    >>> class Missed(StructuredLoss):
    ...     def value(self, y, f):
    ...         return f.max(axis=1) - f[np.arange(len(y)), y]
    ...
    ...     def subgradient(self, y, f):
    ...         return np.eye(len(f))[f.argmax()] - np.eye(len(f))[y]
    >>> loss, scores = Missed(), np.array([[1.0, 3.0]])
    >>> y = loss.targets(np.array([[0.0]]))
    >>> loss.value(y, scores).tolist(), loss.subgradient(int(y[0]), scores[0]).tolist()
    ([2.0], [-1.0, 1.0])

    By default there is one score for each class, the largest wins, and no conjugate is known:

    >>> loss.outputs(2), loss.decode(scores).tolist(), loss.conjugate(y, scores) is None
    (2, [1], True)
    """

    lipschitz: float = np.inf
    curvature: float = 1.0
    probabilistic: ClassVar[bool] = False
    never_rests: ClassVar[bool] = False
    code: ClassVar[int] = codes.NONE
    parameter: float = 0.0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "code" not in vars(cls):  # a derived class may change the loss, and the compiled step would not
            cls.code = codes.NONE

    def targets(self, Y: FloatArray) -> Any:
        """Read the labels from targets.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, k)
            Targets.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Labels.
        """
        return Y[:, 0].astype(np.intp)

    def outputs(self, n_classes: int) -> int:
        """Return the number k of scores.

        Parameters
        ----------
        n_classes : int
            Number of classes.

        Returns
        -------
        int
            Number of scores.
        """
        return n_classes

    @abstractmethod
    def value(self, y: Codes, f: FloatArray) -> FloatArray:
        """Compute ℓ(y_i, f_i) for each sample.

        Parameters
        ----------
        y : ndarray of int of shape (n_samples,)
            Labels.
        f : ndarray of shape (n_samples, k)
            Scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values.
        """

    @abstractmethod
    def subgradient(self, y: int, f: FloatArray) -> FloatArray:
        """Compute an element of ∂ℓ(y, f) for one sample.

        Parameters
        ----------
        y : int
            Label.
        f : ndarray of shape (k,)
            Scores.

        Returns
        -------
        ndarray of shape (k,)
            A subgradient.
        """

    def conjugate(self, y: Codes, u: FloatArray) -> FloatArray | None:
        """Compute ℓ*(y_i, u_i) = sup_f ⟨u_i, f⟩ − ℓ(y_i, f), if it is known.

        Parameters
        ----------
        y : ndarray of int of shape (n_samples,)
            Labels.
        u : ndarray of shape (n_samples, k)
            Arguments of the conjugate.

        Returns
        -------
        ndarray of shape (n_samples,) or None
            Values, +inf outside of the domain; None if the conjugate is not known.
        """
        return None

    def decode(self, f: FloatArray) -> Codes:
        """Return the label of each row of scores.

        Parameters
        ----------
        f : ndarray of shape (n_samples, k)
            Scores.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Labels.
        """
        return np.asarray(f.argmax(axis=1))


def decoded(loss: StructuredLoss, f: FloatArray, n_classes: int) -> Codes:
    """Labels by `decode`, which a user may have written: each must be the place of a known class."""
    labels = np.asarray(loss.decode(f))
    known = labels.dtype.kind in "iub" and labels.shape == (len(f),)
    if known and (not labels.size or (labels.min() >= 0 and labels.max() < n_classes)):
        return labels.astype(np.intp)
    strange = [y for y in labels.ravel().tolist() if not (isinstance(y, int) and 0 <= y < n_classes)]
    given = f"the unknown label {strange[0]!r}" if strange else f"labels of shape {labels.shape}"
    raise ValueError(
        f"{type(loss).__name__}.decode returned {given}; expected an array of shape ({len(f)},) with a whole "
        f"number from 0 to {n_classes - 1} for each row of scores, the place of its class in classes_."
    )


def slope(loss: StructuredLoss, y: Any, f: FloatArray) -> FloatArray:
    """The subgradient at one sample, which a user may have written: finite, and as long as the scores."""
    g = np.asarray(loss.subgradient(y, f), dtype=float)
    if g.shape == f.shape and np.isfinite(g).all():
        return g
    given = f"an array of shape {g.shape}" if g.shape != f.shape else f"{g.tolist()}"
    raise ValueError(
        f"{type(loss).__name__}.subgradient returned {given} for the label {y!r}; expected {f.size} finite "
        f"numbers in an array of shape {f.shape}, one for each score."
    )


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
    """The multiclass hinge loss of Crammer & Singer, ℓ(y, f) = max_{c ≠ y} (1 − f_y + f_c)₊.

    ℓ*(y, u) = u_y on Σu = 0, −1 ≤ u_y ≤ 0, u_c ≥ 0 for the other classes.

    References
    ----------
    Crammer & Singer (2001), "On the algorithmic implementation of multiclass kernel-based vector machines",
    Journal of Machine Learning Research 2.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import MulticlassHinge
    >>> MulticlassHinge().value(np.array([0, 1]), np.array([[2.0, 0.0, 0.0], [1.0, 1.5, 0.0]])).tolist()
    [0.0, 0.5]
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
        np.put_along_axis(others, y[:, None], np.inf, axis=1)
        slack = ROUNDING * u.shape[1]
        inside = (np.abs(u.sum(axis=1)) <= slack) & (others.min(axis=1) >= -slack) & (own >= -1.0 - slack)
        return np.where(inside, own, np.inf)


class MulticlassLogistic(StructuredLoss):
    """The multinomial logistic loss, ℓ(y, f) = log Σ_c e^{f_c} − f_y.

    ℓ*(y, u) = Σ_c p_c log p_c for p = u + e_y in the simplex.

    References
    ----------
    McFadden (1974), "Conditional logit analysis of qualitative choice behavior", in Frontiers in
    Econometrics.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import MulticlassLogistic
    >>> MulticlassLogistic().value(np.array([0]), np.array([[0.0, 0.0, 0.0]])).round(3).tolist()
    [1.099]
    """

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
    """The hinge loss for labels with an order, ℓ(y, f) = max_c (|y − c| + f_c − f_y).

    Mistakes are as bad as they are far: a label c must score below the right one by the number of steps
    between them. This is the hinge with rescaled margins of structured prediction. ℓ*(y, u) = −Σ_c |y − c|
    p_c for p = u + e_y in the simplex.

    References
    ----------
    Tsochantaridis, Hofmann, Joachims & Altun (2004), "Support vector machine learning for interdependent and
    structured output spaces", ICML.

    Orabona & Jie (2011), "Ultra-Fast Optimization Algorithm for Sparse Multi Kernel Learning", ICML, §2.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import OrdinalHinge
    >>> OrdinalHinge().value(np.array([0]), np.array([[0.0, 0.0, 0.0]])).tolist()
    [2.0]
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

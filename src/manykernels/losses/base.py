"""The base classes of losses: a loss defines a few functions, and the others follow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._fast import codes
from .scalar import EPS, FloatArray, bracket_root, increasing_root

Task = Literal["classification", "regression", "survival"]

ROUNDING = 1e-12
"""How far outside the conjugate's domain α/C may fall by rounding and still count as on its boundary."""


class Criterion(BaseEstimator):
    """Base class of data fits: facts that solvers read before they choose a method.

    Attributes of the class say what may be made of a data fit, whether it is a sum over samples (`Loss`) or
    not (`PartialLikelihood`).

    Attributes
    ----------
    task : {"classification", "regression", "survival"}
        The kind of target that the data fit is for.
    smooth : bool
        Whether there is a (generalised) Hessian, so that Newton's method applies.
    translates : bool
        Whether ℓ(y + c, f + c) = ℓ(y, f), so that an intercept makes the fit independent of the mean of y.
    strong : float
        Modulus of strong convexity of ℓ*(y, ·), that is 1 / (largest Hessian); 0 promises nothing.
    piecewise_linear : bool
        Whether −ℓ*(y, −a) = y a − tube·|a| on the box `bounds(y)`, which holds 0 (``losses/piecewise.py``).
        SMO and the joint interior-point method need to know only box and tube.
    tube : float
        The half-width ε ≥ 0 of the tube around y in which a piecewise linear loss is zero.
    quadratic : bool
        Whether ℓ(y, f) = ½ (y − f)². Fits are then linear in y, outputs share factors, and sums over rows
        suffice.
    probabilistic : bool
        Whether 1 / (1 + e^{−f}) is the probability of the class +1.
    never_rests : bool
        Whether the gradient hardly ever vanishes, so that every sample moves an online learner.
    separable : bool
        Whether the risk is a sum of losses, one for each sample.

    Examples
    --------
    >>> from manykernels.losses import Hinge, PartialLikelihood, Squared
    >>> Hinge().piecewise_linear, Squared().quadratic, PartialLikelihood().separable
    (True, True, False)
    """

    task: ClassVar[Task]
    smooth: ClassVar[bool] = True
    translates: ClassVar[bool] = False
    strong: float = 0.0
    piecewise_linear: ClassVar[bool] = False
    tube: float = 0.0
    quadratic: ClassVar[bool] = False
    probabilistic: ClassVar[bool] = False
    never_rests: ClassVar[bool] = False
    separable: ClassVar[bool] = True


class Loss(Criterion, ABC):
    """Base class of convex losses ℓ(y, f), elementwise on arrays of any shape; y is ±1 for classification.

    The dual variable of a sample is α_i = C_i a_i with −a_i ∈ ∂ℓ(y_i, f_i), and the dual objective has the
    terms −C_i ℓ*(y_i, −a_i), ℓ*(y, u) = sup_f (u f − ℓ(y, f)).

    A loss of your own sets `task` and defines `value`, `gradient`, `conjugate`, `bounds` and, if it is
    smooth, `hessian`. The rest is derived numerically, and can be overridden by something exact. The
    attributes of the class say what else may be made of the loss. A piecewise linear loss is easiest to
    derive from `PiecewiseLinear`.

    Attributes
    ----------
    code : int
        The number of the compiled online step of this loss (``_fast/codes.py``). Classes without a number of
        their own take their steps in Python.
    parameter : float
        The number that the compiled step needs beside y and f: ε, τ or δ.

    Examples
    --------
    A loss, its derivatives, and Fenchel's inequality ℓ(y, f) + ℓ*(y, u) ≥ uf, which is an equality at
    u = ℓ'(y, f):

    >>> import numpy as np
    >>> from manykernels.losses import Hinge, Squared
    >>> loss, y, f = Squared(), np.array([2.0]), np.array([0.5])
    >>> loss.value(y, f), loss.gradient(y, f), loss.hessian(y, f)
    (array([1.125]), array([-1.5]), array([1.]))
    >>> u = loss.gradient(y, f)
    >>> bool(np.isclose(loss.value(y, f) + loss.conjugate(y, u), u * f)[0])
    True

    At this f the optimal dual variable is a = −u = 1.5. A step from a = 0 with k = C K_ii = 1 also moves f,
    and ends at a' = (y − f)/(1 + k):

    >>> a, k = np.zeros(1), np.ones(1)
    >>> loss.distance(y, f, a), loss.dual_step(y, f, a, k)
    (array([1.5]), array([0.75]))

    Along s·a the conjugate is the parabola −ℓ*(y, −sa) = s·ya − ½s²a². The dual variables of the hinge loss
    are bounded. The best constant for squared errors is the mean:

    >>> loss.ray(y, np.array([1.5]))
    (array([3.]), array([2.25]))
    >>> low, high = Hinge().bounds(np.array([1.0, -1.0]))
    >>> low.tolist(), high.tolist()
    ([0.0, -1.0], [1.0, 0.0])
    >>> round(loss.intercept(np.array([1.0, 2.0, 6.0]), np.zeros(3), np.ones(3)), 6)
    3.0
    """

    code: ClassVar[int] = codes.NONE
    parameter: float = 0.0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "code" not in vars(cls):  # a derived class may change the loss, and the compiled step would not
            cls.code = codes.NONE

    @abstractmethod
    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """Compute the loss ℓ(y, f).

        Parameters
        ----------
        y : ndarray
            Targets.
        f : ndarray
            Decisions.

        Returns
        -------
        ndarray
            Values.
        """

    @abstractmethod
    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """Compute an element of ∂ℓ(y, f), the derivative in f where there is one.

        Parameters
        ----------
        y : ndarray
            Targets.
        f : ndarray
            Decisions.

        Returns
        -------
        ndarray
            Subgradients.
        """

    @abstractmethod
    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Compute ℓ*(y, u), +inf outside of its domain.

        Parameters
        ----------
        y : ndarray
            Targets.
        u : ndarray
            Arguments of the conjugate.

        Returns
        -------
        ndarray
            Values.
        """

    @abstractmethod
    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the interval of a = α/C on which ℓ*(y, −a) is finite.

        Parameters
        ----------
        y : ndarray
            Targets.

        Returns
        -------
        low : ndarray
            Lower ends, which may be infinite.
        high : ndarray
            Upper ends, which may be infinite.
        """

    def hessian(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """Compute the second derivative ℓ''(y, f), which only smooth losses have.

        Parameters
        ----------
        y : ndarray
            Targets.
        f : ndarray
            Decisions.

        Returns
        -------
        ndarray
            Second derivatives.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no Hessian: expected a smooth loss; use one whose `smooth` is True, "
            "or a solver that needs none (SMO)."
        )

    def distance(self, y: FloatArray, f: FloatArray, a: FloatArray) -> FloatArray:
        """Compute dist(−a, ∂ℓ(y, f)), how far each coordinate is from optimality.

        Losses with a kink override this.

        Parameters
        ----------
        y : ndarray
            Targets.
        f : ndarray
            Decisions.
        a : ndarray
            Dual variables α/C.

        Returns
        -------
        ndarray
            Distances, 0 where the coordinate is optimal.
        """
        return np.abs(a + self.gradient(y, f))

    def dual_step(self, y: FloatArray, f: FloatArray, a: FloatArray, k: FloatArray) -> FloatArray:
        """Return the a' that maximises −ℓ*(y, −a') − (a' − a) f − ½ k (a' − a)².

        With α = C a, f = (Kα)_i + b and k = C K_ii ≥ 0 this is the dual objective along coordinate i, divided
        by C. It is maximal where r(a') = a' + ℓ'(y, f + k (a' − a)) = 0; r has slope ≥ 1, so that its root
        lies between a and a − r(a).

        Parameters
        ----------
        y : ndarray
            Targets.
        f : ndarray
            Decisions.
        a : ndarray
            Dual variables α/C.
        k : ndarray
            Curvatures C K_ii.

        Returns
        -------
        ndarray
            The new dual variables.
        """
        y, f, a, k = np.broadcast_arrays(y, f, a, k)

        def r(a_new: FloatArray) -> tuple[FloatArray, FloatArray]:
            f_new = f + k * (a_new - a)
            slope = 1.0 + k * self.hessian(y, f_new) if self.smooth else np.full_like(a_new, np.nan)
            return a_new + self.gradient(y, f_new), slope

        other = -self.gradient(y, f)  # a − r(a)
        a_new = increasing_root(r, np.minimum(a, other), np.maximum(a, other))
        return np.clip(a_new, *self.bounds(y))

    def ray(self, y: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the conjugate along a ray as a quadratic function, where it is one.

        The best scaling of a dual vector is then a quadratic problem in one variable.

        Parameters
        ----------
        y : ndarray
            Targets.
        a : ndarray
            Dual variables α/C.

        Returns
        -------
        tuple of (ndarray, ndarray) or None
            The pair (lin, quad) with −ℓ*(y, −s a) = s·lin − ½ s²·quad for every s ≥ 0 with s·a in bounds;
            None where there is none.
        """
        return None

    def intercept(self, y: FloatArray, f: FloatArray, C: FloatArray) -> float:
        """Return a finite b that minimises Σ_i C_i ℓ(y_i, f_i + b).

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Targets.
        f : ndarray of shape (n_samples,)
            Decisions without intercept.
        C : ndarray of shape (n_samples,)
            Costs of the samples.

        Returns
        -------
        float
            The intercept b.
        """
        y, f, C = weighted(y, f, C)
        if C.size == 0:
            return 0.0

        def g(b: float) -> float:
            forces = C * self.gradient(y, f + b)
            total, rounding = float(np.sum(forces)), EPS * float(np.sum(np.abs(forces)))
            return total if abs(total) > rounding else 0.0

        def g_and_slope(b: FloatArray) -> tuple[FloatArray, FloatArray]:
            slope = np.sum(C * self.hessian(y, f + b)) if self.smooth else np.nan
            return np.asarray(g(float(b))), np.asarray(slope)

        return float(increasing_root(g_and_slope, *bracket_root(g)))


def weighted(y: FloatArray, f: FloatArray, C: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The samples that have weight, with weights scaled to at most 1 (so that their sums cannot overflow)."""
    y, f, C = np.broadcast_arrays(y, f, C)
    keep = C > 0
    y, f, C = y[keep], f[keep], C[keep]
    return y, f, C / np.max(C, initial=1e-300)


def inside(a: FloatArray, lo: FloatArray | float, hi: FloatArray | float) -> NDArray[np.bool_]:
    """Tell whether a is in [lo, hi] up to rounding."""
    return (a >= lo - ROUNDING) & (a <= hi + ROUNDING)

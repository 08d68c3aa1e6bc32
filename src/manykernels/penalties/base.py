"""The base class of penalties."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

FloatArray = NDArray[np.float64]

ROUNDING = 1e-9
"""How far outside its set θ may fall, relative to the set's size, and still count as inside."""


class Penalty(BaseEstimator, ABC):
    """Base class of penalties: a convex function h(θ) of the weights θ ≥ 0 of kernels.

    For a set Θ of weights h is 0 inside and +inf outside. It enters the primal as ½ h(θ) and the dual as ½
    h*(q), h*(q) = max_θ θᵀq − h(θ), q_m = αᵀK_mα ≥ 0. Entries of q below zero are rounding errors and are
    read as zero.

    See Also
    --------
    LpBall : The set of ‖θ‖_p ≤ 1.
    L2Ball : The ball around a prior weighting.
    ElasticNet : Between the sparse and the plain sum.

    Examples
    --------
    For a set h is 0 inside and inf outside, and h* is attained at a θ of the set:

    >>> import numpy as np
    >>> from manykernels.penalties import ElasticNet, LpBall, Simplex
    >>> ball = LpBall(2.0)
    >>> value, theta = ball.conjugate(np.array([3.0, 4.0]))
    >>> round(value, 6), theta.round(6).tolist(), ball.value(theta), ball.value(2.0 * theta)
    (5.0, [0.6, 0.8], 0.0, inf)

    The nearest point of the set, the boundary above a point, the start, and a point strictly inside:

    >>> ball.project(np.array([3.0, 4.0])).round(6).tolist()
    [0.6, 0.8]
    >>> ball.stretch(np.array([0.3, 0.4])).round(6).tolist()
    [0.6, 0.8]
    >>> bool(np.isclose(np.sum(ball.start(2) ** 2), 1.0)), bool(np.sum(ball.interior(theta) ** 2) < 1.0)
    (True, True)

    At norm 1 Σ a²/θ has the minimum (Σa)², the square of the group lasso, at θ ∝ a. A kernel joins if its q
    exceeds the largest q inside. ψ(θ) is Σθ − 1. A step goes against the gradient and back into the set:

    >>> simplex, a = Simplex(), np.array([1.0, 3.0])
    >>> simplex.closed_form(a).round(6).tolist(), round(simplex.group_norm(a), 6)
    ([0.25, 0.75], 16.0)
    >>> simplex.entry(np.array([2.0, 5.0]))
    5.0
    >>> simplex.constraint(np.array([0.5, 0.25]))[0].tolist()
    [-0.25]
    >>> simplex.mirror_step(np.array([0.5, 0.5]), np.array([1.0, -1.0]), 0.25).round(6).tolist()
    [0.25, 0.75]

    A penalty that is not a set has a value, a gradient and a curvature instead:

    >>> value, gradient, curvature = ElasticNet(0.5).smooth(np.array([1.0]))
    >>> value, gradient.tolist(), curvature.tolist()
    (0.25, [0.5], [1.0])
    """

    @abstractmethod
    def value(self, theta: FloatArray) -> float:
        """Compute h(θ).

        Parameters
        ----------
        theta : ndarray of shape (n_kernels,)
            Weights.

        Returns
        -------
        float
            The value; for sets 0 inside and +inf outside.
        """

    @abstractmethod
    def conjugate(self, q: FloatArray) -> tuple[float, FloatArray]:
        """Compute h*(q) = max_θ θᵀq − h(θ), and a θ that attains it.

        Parameters
        ----------
        q : ndarray of shape (n_kernels,)
            Values q_m = αᵀK_mα ≥ 0.

        Returns
        -------
        value : float
            The maximum.
        theta : ndarray of shape (n_kernels,)
            Weights that attain it.
        """

    @abstractmethod
    def project(self, v: FloatArray) -> FloatArray:
        """Return the θ nearest to v in Θ; in general the θ that minimises ½‖θ − v‖² + ½ h(θ).

        Parameters
        ----------
        v : ndarray of shape (n_kernels,)
            Any point.

        Returns
        -------
        ndarray of shape (n_kernels,)
            The projection.
        """

    @abstractmethod
    def closed_form(self, a: FloatArray) -> FloatArray:
        """Return the θ that minimises Σ a_m²/θ_m + h(θ), with 0/0 = 0.

        Parameters
        ----------
        a : ndarray of shape (n_kernels,)
            Norms a_m = ‖w_m‖ ≥ 0.

        Returns
        -------
        ndarray of shape (n_kernels,)
            The weights θ.
        """

    @abstractmethod
    def group_norm(self, a: FloatArray) -> float:
        """Compute min_θ Σ a_m²/θ_m + h(θ), the penalty on the norms a_m = ‖w_m‖ that h stands for.

        Parameters
        ----------
        a : ndarray of shape (n_kernels,)
            Norms a_m ≥ 0.

        Returns
        -------
        float
            The minimum.
        """

    @abstractmethod
    def start(self, M: int) -> FloatArray:
        """Return weights to start from: all kernels alike, none at zero.

        Parameters
        ----------
        M : int
            Number of kernels.

        Returns
        -------
        ndarray of shape (M,)
            Weights.
        """

    def constraint(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return smooth convex functions ψ_j with Θ = {θ ≥ 0, ψ(θ) ≤ 0}, where there are some.

        Parameters
        ----------
        theta : ndarray of shape (n_kernels,)
            Weights θ.

        Returns
        -------
        tuple of ndarray or None
            The values ψ of shape (J,), gradients ∇ψ of shape (J, n_kernels) and diagonals of ∇²ψ of the same
            shape; None where there are none.
        """
        return None

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """Compute ½h, its gradient and the diagonal of its Hessian, if h is not the indicator of a set.

        Parameters
        ----------
        theta : ndarray of shape (n_kernels,)
            Weights.

        Returns
        -------
        tuple of (float, ndarray, ndarray) or None
            Value, gradient and diagonal; None for sets.
        """
        return None

    @property
    def upper(self) -> float:
        """A bound on each weight by itself; infinite where `constraint` is enough, or nothing bounds it."""
        return np.inf

    @property
    @abstractmethod
    def sparse(self) -> bool:
        """True if weights can be exactly zero at the optimum although q_m > 0."""

    @property
    def fixed(self) -> bool:
        """True if only one choice of weights, `start`, is worth anything: there is nothing to learn."""
        return False

    @property
    def homogeneous(self) -> bool:
        """True if h*(sq) = s h*(q): true of the indicator of a set."""
        return True

    def entry(self, q: FloatArray) -> float:
        """Return the q_m above which a kernel outside of a sparse combination must join it.

        Parameters
        ----------
        q : ndarray
            The q of the kernels inside.

        Returns
        -------
        float
            The threshold; 0 lets every kernel join.
        """
        return 0.0

    @abstractmethod
    def interior(self, theta: FloatArray) -> FloatArray:
        """Return a point strictly inside of Θ, θ > 0, near the given one: interior-point methods start there.

        Parameters
        ----------
        theta : ndarray of shape (n_kernels,)
            Weights.

        Returns
        -------
        ndarray of shape (n_kernels,)
            Weights strictly inside.
        """

    @property
    def potential(self) -> float:
        """The p of the potential Ψ = ½‖·‖_p² that `mirror_step` uses."""
        return 2.0

    def mirror_step(self, theta: FloatArray, g: FloatArray, eta: float) -> FloatArray:
        """Take a step of mirror descent: the θ' in Θ that minimises η⟨g, θ'⟩ + D_Ψ(θ', θ).

        With Ψ = ½‖·‖₂² this is a projection; a penalty may have a potential that suits its set better
        (Afkanpour 2013, Alg. 1).

        Parameters
        ----------
        theta : ndarray of shape (n_kernels,)
            Weights.
        g : ndarray of shape (n_kernels,)
            Gradient.
        eta : float
            Length η of the step.

        Returns
        -------
        ndarray of shape (n_kernels,)
            The new weights.
        """
        if not self.homogeneous:
            raise ValueError(
                f"{self!r} is not the indicator of a set, and mirror descent steps inside one; expected "
                "LpBall(p), Simplex() or L2Ball(mu0, radius), or use solver='active-set'."
            )
        return self.project(theta - eta * g)

    def stretch(self, theta: FloatArray) -> FloatArray:
        """Move θ out to the boundary of Θ: more weight never raises the objective of a set.

        Parameters
        ----------
        theta : ndarray of shape (n_kernels,)
            Weights.

        Returns
        -------
        ndarray of shape (n_kernels,)
            Weights on the boundary.
        """
        return theta


def scaled(x: FloatArray) -> tuple[float, FloatArray]:
    """(s, x₊/s), s the largest entry of x₊ = max(x, 0), so that powers do not overflow; (0, 0) if x ≤ 0."""
    x = np.maximum(x, 0.0)
    s = float(np.max(x, initial=0.0))
    return s, x / s if s > 0 else x


def norm2(x: FloatArray) -> float:
    """‖x‖₂ without overflow or underflow."""
    s, x = scaled(np.abs(x))
    return s * float(np.linalg.norm(x))

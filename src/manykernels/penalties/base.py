"""What a penalty must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

FloatArray = NDArray[np.float64]

ROUNDING = 1e-9
"""How far outside its set θ may fall, relative to the set's size, and still count as inside."""


class Penalty(BaseEstimator, ABC):
    """A convex function h(θ) of the kernels' weights θ ≥ 0; for a set Θ it is 0 inside and +inf outside.

    It enters the primal as ½ h(θ) and the dual as ½ h*(q), h*(q) = max_θ θᵀq − h(θ), q_m = αᵀK_mα ≥ 0.
    Entries of q below zero are rounding errors and are read as zero.
    """

    @abstractmethod
    def value(self, theta: FloatArray) -> float:
        """h(θ)."""

    @abstractmethod
    def conjugate(self, q: FloatArray) -> tuple[float, FloatArray]:
        """max_θ θᵀq − h(θ) for q ≥ 0, and a θ that attains it."""

    @abstractmethod
    def project(self, v: FloatArray) -> FloatArray:
        """The θ nearest to v in Θ; in general the θ that minimises ½‖θ − v‖² + ½ h(θ)."""

    @abstractmethod
    def closed_form(self, a: FloatArray) -> FloatArray:
        """The θ that minimises Σ a_m²/θ_m + h(θ), for norms a_m = ‖w_m‖ ≥ 0 and with 0/0 = 0."""

    @abstractmethod
    def group_norm(self, a: FloatArray) -> float:
        """min_θ Σ a_m²/θ_m + h(θ): what the penalty on θ means as a penalty on the norms a_m = ‖w_m‖."""

    @abstractmethod
    def start(self, M: int) -> FloatArray:
        """Weights to start from: all kernels alike, none at zero."""

    def constraint(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """ψ (J,), ∇ψ (J, M) and diag ∇²ψ (J, M) of smooth convex ψ_j with Θ = {θ ≥ 0, ψ(θ) ≤ 0}, or None."""
        return None

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """½h, its gradient and the diagonal of its Hessian, if h is not the indicator of a set."""
        return None

    @property
    def upper(self) -> float:
        """A bound on each weight by itself; infinite where `constraint` is enough, or nothing bounds it."""
        return np.inf

    @property
    @abstractmethod
    def sparse(self) -> bool:
        """Whether weights can be exactly zero at the optimum although q_m > 0."""

    @property
    def fixed(self) -> bool:
        """Whether only one choice of weights, `start`, is worth anything: there is nothing to learn."""
        return False

    @property
    def homogeneous(self) -> bool:
        """Whether h*(sq) = s h*(q): true of the indicator of a set."""
        return True

    def entry(self, q: FloatArray) -> float:
        """The q_m above which a kernel outside a sparse combination must join it, q being those inside."""
        return 0.0

    @abstractmethod
    def interior(self, theta: FloatArray) -> FloatArray:
        """A point strictly inside Θ, with θ > 0, near the given one: where interior-point methods start."""

    @property
    def potential(self) -> float:
        """p of the potential Ψ = ½‖·‖_p² that `mirror_step` uses."""
        return 2.0

    def mirror_step(self, theta: FloatArray, g: FloatArray, eta: float) -> FloatArray:
        """The θ' in Θ that minimises η⟨g, θ'⟩ + D_Ψ(θ', θ), a step of mirror descent (000 Alg. 1).

        With Ψ = ½‖·‖₂² this is a projection; a penalty may have a potential that suits its set better.
        """
        if not self.homogeneous:
            raise ValueError(
                f"{self!r} is not the indicator of a set, and mirror descent steps inside one; expected "
                "LpBall(p), Simplex() or L2Ball(mu0, radius), or use solver='active-set'."
            )
        return self.project(theta - eta * g)

    def stretch(self, theta: FloatArray) -> FloatArray:
        """θ moved out to the boundary of Θ: more weight never raises the objective of a set."""
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

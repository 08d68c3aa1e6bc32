"""One ball for each of several groups of kernels: every cluster weighs the kernels for itself.

See Lei et al. (2016).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import FloatArray, Penalty
from .lp_ball import LpBall


class BallProduct(Penalty):
    """One ball for each of several groups of kernels, Θ = {θ ≥ 0, ‖θ_j‖_p ≤ 1 for all j}.

    θ = (θ_1, …, θ_l) has l groups of the same size. h* and the penalty on the norms of w are sums over the
    groups. Localised models have a group for each cluster.

    Parameters
    ----------
    p : float, default=2.0
        The norm of each group, 1 ≤ p ≤ ∞.
    groups : int, default=1
        The number l of groups. 1 is `LpBall`.

    References
    ----------
    Lei, Binder, Dogan & Kloft (2016), "Localized multiple kernel learning – a convex approach", ACML.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.penalties import BallProduct
    >>> BallProduct(2.0, groups=2).conjugate(np.array([3.0, 4.0, 0.0, 1.0]))[0]
    6.0
    """

    def __init__(self, p: float = 2.0, groups: int = 1) -> None:
        self.p = p
        self.groups = groups

    @property
    def _ball(self) -> LpBall:
        return LpBall(self.p)

    def _split(self, x: FloatArray) -> FloatArray:
        if self.groups < 1:
            raise ValueError(f"groups={self.groups!r} was given to BallProduct; expected at least 1.")
        if x.size % self.groups:
            raise ValueError(
                f"{x.size} weights were given to {self!r}: expected a multiple of {self.groups}, the groups."
            )
        return x.reshape(self.groups, -1)

    def _each(self, function: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
        return np.concatenate([function(part) for part in self._split(x)])

    def value(self, theta: FloatArray) -> float:
        return float(sum(self._ball.value(part) for part in self._split(theta)))

    def conjugate(self, q: FloatArray) -> tuple[float, FloatArray]:
        """Σ_j ‖q_j‖_{p/(p−1)}: Lei et al. 2016, (D)."""
        pairs = [self._ball.conjugate(part) for part in self._split(q)]
        return float(sum(value for value, _ in pairs)), np.concatenate([theta for _, theta in pairs])

    def project(self, v: FloatArray) -> FloatArray:
        return self._each(self._ball.project, v)

    def closed_form(self, a: FloatArray) -> FloatArray:
        """Lei et al. 2016, Prop. 5, Kloft's update in every group."""
        return self._each(self._ball.closed_form, a)

    def group_norm(self, a: FloatArray) -> float:
        return float(sum(self._ball.group_norm(part) for part in self._split(a)))

    def start(self, M: int) -> FloatArray:
        each = self._split(np.zeros(M)).shape[1]
        return np.tile(self._ball.start(each), self.groups)

    def constraint(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """A row for each group."""
        parts = [self._ball.constraint(part) for part in self._split(theta)]
        size = theta.size // self.groups
        psi, slope = np.empty(self.groups), np.zeros((self.groups, theta.size))
        curvature = np.zeros_like(slope)
        for j, part in enumerate(parts):
            if part is None:
                return None
            here = slice(j * size, (j + 1) * size)
            psi[j], slope[j, here], curvature[j, here] = part[0][0], part[1][0], part[2][0]
        return psi, slope, curvature

    @property
    def upper(self) -> float:
        return self._ball.upper

    @property
    def sparse(self) -> bool:
        """At p = 1 weights vanish, but by group: no kernel is left out on the way."""
        return False

    @property
    def fixed(self) -> bool:
        return self._ball.fixed

    def interior(self, theta: FloatArray) -> FloatArray:
        return self._each(self._ball.interior, theta)

    def stretch(self, theta: FloatArray) -> FloatArray:
        """A group without any weight gets equal weights."""
        ball, size = self._ball, theta.size // self.groups
        return self._each(lambda part: ball.stretch(part) if part.any() else ball.start(size), theta)

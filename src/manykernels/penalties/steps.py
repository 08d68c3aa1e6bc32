"""Step sizes of mirror descent, from the gradients that it has seen."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .base import Penalty
from .l2_ball import L2Ball
from .lp_ball import LpBall

Array = NDArray[np.float64]
_STEP = 0.5  # of the radius of the ball that the first automatic step goes


class Steps:
    """Step sizes η_k for J over a ball of radius R. Here ‖·‖_* is the dual norm of the potential's.

    "theorem": η = √(2αδ/(BT)) (Afkanpour 2013, Theorem 4.1) with α = p − 1 of Ψ = ½‖·‖_p², δ = max_Θ Ψ and
    E‖ĝ‖_*² ≤ B = max (g_z/s_z)². (Corollary 4.3's ½ in B is an error.) For the entropy, p = 1 here, α = 1 in
    ‖·‖₁, whose dual norm is the largest entry, and δ = log M for M kernels. For draws exactly
    proportional to q all ratios are ‖∇J(θ)‖₁. The largest over Θ is not known beforehand (it is near θ = 0,
    but not always there), so that B is the largest met so far, and the step may fall a little.

    "auto": η_k = R/(2√k a_k H_k) with a_k the mean of |g_z|/s_z over the draws, which estimates ‖∇J(θ_k)‖₁,
    and H_k² the mean of h_i² = ‖ĝ_i‖_*²/a_i² over all i ≤ k. At large C the gradient falls by many orders of
    magnitude (by C² and more) in the first steps. a_k forgets that at once, since it sees one iteration only;
    H_k, which says how far the draws of a batch coincide, hardly changes and is remembered. Draws in
    proportion to the gradient have a_k = ‖∇J(θ_k)‖₁ whatever is drawn. η_k then depends on the draws through
    H_k alone, and but for that the usual sum holds, in expectation:

        Σ_k η_k (J(θ_k) − J*) ≤ δ + (1/2α) Σ_k η_k² ‖ĝ_k‖_*² = δ + (R²/8α) Σ_k h_k²/(k H_k²)

    with a right side of about δ + (R²/8α)(1 + log T), so that a step from a point where the gradient is huge
    has a tiny share of the left side. (AdaGrad's sum of all squares would stay with the first gradient.)
    """

    def __init__(self, step: str | float, penalty: Penalty, p: float, size: float, T: int) -> None:
        self.step, self.T = step, T
        self.r = p / (p - 1.0) if p > 1.0 else np.inf
        self.strong = p - 1.0 if p > 1.0 else 1.0
        self.radius = float(penalty.radius) if isinstance(penalty, L2Ball) else 1.0
        ball = penalty.p if isinstance(penalty, LpBall) else 2.0
        self.delta = 0.5 * self.radius**2 * float(size) ** max(1.0 - 2.0 / ball, 0.0)
        if p == 1.0:
            self.delta = math.log(size)
            self.radius = math.sqrt(2.0 * self.delta)
        self.k, self.B, self.H2 = 0, 0.0, 0.0

    def next(self, g: Array, ratios: Array) -> float:
        """η for the step along g; `ratios` are |g_z|/s_z of its draws."""
        if self.step == "theorem":
            self.B = max(self.B, float(ratios.max()) ** 2)
            return math.sqrt(2.0 * self.strong * self.delta / (self.B * self.T)) if self.B > 0.0 else 0.0
        if self.step != "auto":
            return float(self.step)
        self.k += 1
        a = float(ratios.mean())
        if not a > 0.0:
            return 0.0
        self.H2 += (float(np.linalg.norm(g, self.r)) / a) ** 2
        return _STEP * self.radius / (a * math.sqrt(self.H2)) if self.H2 > 0.0 else 0.0

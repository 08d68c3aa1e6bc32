"""Weightings that look at one kernel at a time."""

from __future__ import annotations

from numbers import Real

import numpy as np

from ..objectives import Alignment
from .base import Weighted, Weighting, shares


class Uniform(Weighting):
    """The same weight for every kernel (004 Eq. 3.4): the baseline that is hard to beat."""

    def weigh(self, alignment: Alignment) -> Weighted:
        return Weighted(np.full(alignment.norms.size, 1.0 / alignment.norms.size))


class Align(Weighting):
    """Every kernel in proportion to its own alignment with the target, μ_k ∝ ρ̂(K_k, K_Y) (004 Eq. 3.5).

    With ``q`` the weights maximise the unnormalised alignment under ‖μ‖_q ≤ 1 instead (004 Prop. 3.1):
    μ_k ∝ ⟨K_kc, K_Y⟩^{1/(q−1)}, and all the weight on the largest for q = 1. For kernels of Frobenius norm
    one q = 2 is the same as no q; for others it favours kernels of a large norm.
    """

    def __init__(self, q: float | None = None) -> None:
        self.q = q

    def weigh(self, alignment: Alignment) -> Weighted:
        if self.q is None:
            return Weighted(shares(alignment.each))
        if not isinstance(self.q, Real) or isinstance(self.q, bool) or not 1.0 <= self.q < np.inf:
            raise ValueError(
                f"Align(q={self.q!r}) was given; expected a number q ≥ 1 (the norm of the weights), or None "
                "for weights in proportion to the alignments."
            )
        relative = shares(np.where(alignment.norms > 0, alignment.a, 0.0))
        relative = relative / relative.max()
        if self.q == 1.0:
            return Weighted(shares((relative == 1.0).astype(float)))
        return Weighted(shares(relative ** (1.0 / (self.q - 1.0))))

"""Safe screening: kernels that are provably zero in every optimal sparse combination.

Where ∇R is Lipschitz with constant L (max C/s for losses with ℓ'' ≤ 1/s), the dual is strongly concave with
modulus 1/L, so that every optimal α* lies within r = √(2·gap·L) of any dual point α. At norm 1, kernel
m has weight only if q_m(α*) = max_l q_l(α*). With |√q_m(α*) − √q_m(α)| ≤ r√λ_m and λ_m ≤ tr K_m the largest
eigenvalue,

    √q_m(α) + r√λ_m < max_l (√q_l(α) − r√λ_l)    proves θ*_m = 0,

and for the elastic net √q_m(α) + r√λ_m < 1 − λ does. A screened kernel is never read again: at the
optimum it cannot be the largest, so leaving it out changes neither the optimum nor its certificate. The
piecewise linear losses have no strongly concave dual, and nothing is screened for them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram
from ..objectives import Risk
from ..penalties import Penalty

Array = NDArray[np.float64]


class Screen:
    """The kernels that are still in play, and quadratic forms of those only."""

    def __init__(self, gram: Gram, risk: Risk, penalty: Penalty) -> None:
        self.gram, self.risk, self.penalty = gram, risk, penalty
        self.radius_factor = 2.0 * risk.smoothness if penalty.sparse else np.inf
        self.alive = np.ones(gram.n_kernels, dtype=bool)

    @property
    def count(self) -> int:
        """Return how many kernels are proven to be zero."""
        return int(np.count_nonzero(~self.alive))

    def quad(self, A: Array) -> Array:
        """Quadratic forms of all kernels; screened ones, whose forms no longer matter, are given as zero."""
        q = np.zeros((self.gram.n_kernels, A.shape[1]))
        kept = np.flatnonzero(self.alive)
        q[kept] = self.gram.quad(A, kept)
        return q

    def update(self, alpha: Array, q: Array, primal: float) -> None:
        """Screen with the dual point α, given its quadratic forms and a value of the primal."""
        if not np.isfinite(self.radius_factor):
            return
        gap = primal - self.risk.dual_fit(alpha) + 0.5 * self.penalty.conjugate(q)[0]
        if not np.isfinite(gap):
            return
        reach = np.sqrt(max(gap, 0.0) * self.radius_factor) * np.sqrt(self.gram.traces())
        upper, lower = np.sqrt(q) + reach, np.sqrt(q) - reach
        self.alive &= upper >= np.sqrt(self.penalty.entry(np.maximum(lower, 0.0) ** 2))

"""The machine of the multiclass hinge behind a barrier: what row descent leaves of hard problems.

    min ½ Σ_c α_cᵀKα_c − Σ_i α_iy_i      over the set of `rows.py`

With every complementary pair x·z = 0 of its bounds replaced by x·z = τ → 0, a step of Newton's method solves
the equations of `coupled.py`, in which all of α is free. Twenty to thirty of them do, whatever the costs are
and however few dimensions K has.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .barrier import Side
from .coupled import Coupled
from .rows import Plans

Array = NDArray[np.float64]
_INSIDE = 0.05  # of the way to a point inside all bounds
_ITERATIONS = 60
_JAMMED = 1e-5  # of a step: no iteration finds back from a point that close to the boundary
_LOST = 1e3  # times the smallest gap: nor from there
_END = 1e-16  # of the complementarity at the start: what is left is rounding


class RowBarrier:
    """α = a⁺ − a⁻ within its bounds, their multipliers, and b − ν, those of the sums of columns and rows."""

    def __init__(self, K: Array, plans: Plans, alpha: Array) -> None:
        self.K, self.plans, self.own = K, plans, np.eye(plans.k)[plans.y]
        alpha = plans.feasible(alpha)
        alpha = alpha + _INSIDE * (plans.center - alpha)
        caps = plans.caps
        self.plus, self.minus = Side.pair(caps, np.where(caps > 0.0, 0.0, plans.C[:, None]), alpha)
        self.offset = np.zeros_like(alpha)

    @property
    def alpha(self) -> Array:
        """The point, inside its bounds."""
        return np.where(self.plus.on, self.plus.x, 0.0) - np.where(self.minus.on, self.minus.x, 0.0)

    @property
    def settled(self) -> Array:
        """The same at the bounds where it belongs."""
        return self.plus.settled(1.0) - self.minus.settled(1.0)

    @property
    def intercepts(self) -> Array:
        """b, with Σb = 0, without ν."""
        if not self.plans.balanced:
            return np.zeros(self.plans.k)
        return np.asarray((self.offset - self.offset.mean(axis=1, keepdims=True)).mean(axis=0))

    def run(self, judge: Callable[[], float], tol: float) -> None:
        """Until `judge`, asked at every point, knows a gap of at most `tol`, or none falls any more."""
        pairs = self._pairs()[1]
        score = np.abs(self.K @ self.alpha - self.own)
        total = float(np.sum(np.abs(self.alpha) * score)) + 1e-300
        self.plus.center(total / pairs)
        self.minus.center(total / pairs)
        first, shorten, best = total, 0.5, np.inf
        for _ in range(_ITERATIONS):
            try:
                with np.errstate(all="ignore"):
                    t = self._step(shorten * total / pairs)
            except np.linalg.LinAlgError:
                return
            gap = judge() if t > _JAMMED else np.inf
            total = self._pairs()[0]
            best = min(best, gap)
            if best <= tol or not gap <= _LOST * best or total <= _END * first:
                return
            shorten = 0.05 if t > 0.9 else (0.2 if t > 0.5 else 0.7)

    def _pairs(self) -> tuple[float, int]:
        up, down = self.plus.complementarity(), self.minus.complementarity()
        return up[0] + down[0], up[1] + down[1]

    def _step(self, tau: float) -> float:
        plus, minus = self.plus, self.minus
        slope = self.K @ self.alpha - self.own + self.offset
        invp, rp = plus.barrier(slope, tau)
        invm, rm = minus.barrier(-slope, tau)
        inverse = invp + invm
        residual = (rp - rm) / inverse
        every = np.ones(residual.shape, dtype=bool)
        dalpha = -Coupled(self.K, every, self.plans.balanced, 1.0 / inverse).solve(residual)
        if not np.isfinite(dalpha).all():
            raise np.linalg.LinAlgError("numbers have become too large or too small for another step")
        g = -residual - dalpha / inverse  # KΔα + Δ(b − ν)
        up, down = plus.directions(-rp - invp * g, tau), minus.directions(-rm + invm * g, tau)
        t = min(1.0, 0.99 * min(plus.reach(up), minus.reach(down)))
        plus.move(t, up)
        minus.move(t, down)
        self.offset = self.offset + t * (g - self.K @ dalpha)
        return t

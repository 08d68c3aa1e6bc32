"""The kernels that take part in the second-order method, and where it stands on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram
from ..objectives import Fit, Risk
from ..penalties import Penalty
from ._bundle import Bundle
from ._local_model import LocalModel, ModelStep
from .base import Array

Atoms = NDArray[np.intp]


@dataclass
class Center:
    """The present point: weights on the working set, their machine, and K_mα for each kernel of it."""

    theta: Array
    K: Any  # K_θ
    fit: Fit
    R: Array
    q: Array
    upper: float  # ½θᵀq + ½h(θ) + Σ Cℓ: J(θ) from above
    tight: float  # the same function at the weights that suit it best
    B: Array | None = None  # BᵀB is the second derivative of J here


class WorkingSet:
    """Some kernels of a Gram, the centre on them, and a bundle of cuts below J; counts its machines."""

    def __init__(
        self,
        gram: Gram,
        risk: Risk,
        penalty: Penalty,
        bundle: Bundle,
        buffers: list[Any],
        start: tuple[Array, Array],
        accuracy: float,
    ) -> None:
        """At the start (θ, α), whose machine is solved to `accuracy`; `buffers` are room for two K_θ."""
        theta, alpha = start
        self.gram, self.risk, self.penalty, self.largest = gram, risk, penalty, gram.largest()
        self.bundle, self.buffers, self.machines = bundle, buffers, 1
        self.atoms: Atoms = np.flatnonzero(theta) if penalty.sparse else np.arange(gram.n_kernels)
        self.candidate: Array | None = None  # a dual point better than the centre's, if there is one
        K = gram.combine(theta[self.atoms], self.atoms, out=buffers.pop())
        fit = risk.solve(K, alpha, accuracy * risk.zero_value())
        # the objective can be far below that of the zero function
        fit = risk.solve(K, fit.alpha, accuracy * risk.machine_value(fit))
        self.center = self._judge(theta[self.atoms], K, fit)
        self._cut(self.center)

    # -- one machine ----------------------------------------------------------------------------
    def evaluate(self, theta: Array, alpha: Array, accuracy: float, K: Any = None) -> Center:
        """Solve the machine at θ; `accuracy` is the gap it may leave, relative to the objective."""
        self.machines += 1
        if K is None:
            K = self.gram.combine(theta, self.atoms, out=self.buffers.pop())
        return self._judge(theta, K, self.risk.solve(K, alpha, accuracy * abs(self.center.upper)))

    def _judge(self, theta: Array, K: Any, fit: Fit) -> Center:
        """The value of a machine, from above."""
        R = self.gram.products(fit.alpha, self.atoms)
        q = np.maximum(np.einsum("mnk,nk->m", R, fit.alpha), 0.0)
        upper = 0.5 * float(theta @ q) + 0.5 * self.penalty.value(theta) + self.risk.value(fit.f)
        tight = self.risk.primal(self.penalty, theta, q, fit.f, fit.alpha, self.largest[self.atoms])
        return Center(theta, K, fit, R, q, upper, tight)

    def _cut(self, point: Center) -> None:
        alpha = point.fit.alpha
        height = self.risk.dual_fit(alpha)
        if not np.isfinite(height):  # a point that rounding has taken out of the dual box
            height = self.risk.dual_fit(self.risk.feasible(alpha))
        if np.isfinite(height):
            self.bundle.add(height, point.q, alpha)

    def consider(self, point: Center, decrease: float) -> bool:
        """Add the point's cut, and make it the centre if the objective falls there by `decrease`."""
        self._cut(point)
        serious = point.upper <= self.center.upper - decrease
        if serious:
            point, self.center, self.candidate = self.center, point, None
        self.buffers.append(point.K)
        return serious

    def refine(self, gap: float) -> None:
        """Solve the machine of the centre again, to this gap."""
        c = self.center
        point = self.evaluate(c.theta, c.fit.alpha, gap / max(abs(c.upper), 1e-300), c.K)
        self._cut(point)
        if point.tight <= c.tight:  # where rounding has the last word, the better of the two
            self.center = point
        else:
            self.candidate = point.fit.alpha

    # -- what is known of J ---------------------------------------------------------------------
    def bound(self, alpha: Array, q: Array) -> float:
        """D of the working set, from its quadratic forms at α."""
        return self.risk.dual(alpha, q, self.penalty, self.largest[self.atoms])

    def step(self, mu: float, precision: float) -> tuple[ModelStep, float]:
        """The minimiser of the model, and the decrease it predicts."""
        c = self.center
        if c.B is None:
            c.B = self.risk.curvature(c.K, c.fit, c.R)
        scale = max(abs(c.upper), 1e-300)
        model = LocalModel(*self.bundle.arrays(), c.theta, c.B, mu, self.penalty, scale)
        step = model.minimise(precision)
        self.bundle.weights = step.cut_weights
        return step, c.upper - step.value

    def guess(self, step: ModelStep) -> Array:
        """The dual point that the model expects at its minimiser.

        It is the mixture of the cuts' points moved by −P(ΣK_mα d_m): to first order that makes the quadratic
        forms of all kernels with weight equal, which no single α_t does where J has a corner.
        """
        c = self.center
        assert c.B is not None
        mixed = self.bundle.mix(step.cut_weights)
        return self.risk.feasible(self.risk.move(c.fit, mixed, c.B @ (step.theta - c.theta)))

    def best_point(self) -> Array:
        """The dual point where the working set is solved best: the centre's, or the candidate."""
        alpha = self.center.fit.alpha
        if self.candidate is None:
            return alpha
        q = self.gram.quad(self.candidate, self.atoms).sum(axis=1)
        better = self.bound(self.candidate, q) > self.bound(alpha, self.center.q)
        return self.candidate if better else alpha

    # -- who takes part -------------------------------------------------------------------------
    def admit(self, new: Atoms, needed: Atoms) -> None:
        """Drop kernels that left (no weight, no pull, not `needed`), and let `new` join with weight zero."""
        c = self.center
        keep = (c.theta > 0.0) | (c.q >= 0.9 * self.penalty.entry(c.q)) | np.isin(self.atoms, needed)
        self.bundle.keep(keep)
        self.bundle.extend(self.gram, new)
        self.atoms = np.concatenate([self.atoms[keep], new])
        R = self.gram.products(c.fit.alpha, new)
        c.R, c.B = np.concatenate([c.R[keep], R]), None
        c.q = np.concatenate([c.q[keep], np.maximum(np.einsum("mnk,nk->m", R, c.fit.alpha), 0.0)])
        c.theta = np.concatenate([c.theta[keep], np.zeros(new.size)])

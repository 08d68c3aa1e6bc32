"""The regularised risk: what one-stage methods minimise, its dual, and the gap between the two.

For outputs k (classes or targets) that share the weights θ,

    P = ½ Σ_m ‖w_m‖²/θ_m + ½h(θ) + Σ_ik C_ik ℓ(y_ik, f_ik),   D = −Σ_ik C_ik ℓ*(y_ik, −α_ik/C_ik) − ½h*(q),
    q_m = Σ_k α_kᵀ K_m α_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ..losses import Loss
from ..losses.base import ROUNDING
from ..losses.scalar import EPS
from ..machines import Newton, Sensitivity, Solution, feasible, machine_for
from ..penalties import Penalty
from .rounding import slack, unit, zero_sum

Array = NDArray[np.float64]


@dataclass
class Fit:
    """The machines of all outputs at one kernel: α (n, k), b (k,), f (n, k)."""

    alpha: Array
    intercept: Array
    f: Array
    gap: float
    solutions: list[Solution]


class Risk:
    """Loss, targets Y (n, k) and costs C (n, k) > 0, with the machine that fits them.

    `shift` was taken from the targets, and predictions add it again: they round as numbers of its size do.
    """

    def __init__(
        self, loss: Loss, Y: Array, C: Array, fit_intercept: bool, shift: Array | float = 0.0
    ) -> None:
        self.loss = loss
        self.shift = shift
        self.Y = Y
        self.C = C
        self.fit_intercept = fit_intercept
        self.machine = machine_for(loss, fit_intercept)

    @property
    def piecewise_linear(self) -> bool:
        """Whether the loss has corners, so that α(θ) moves from one set of bounds to another."""
        return self.loss.piecewise_linear

    @property
    def has_interior(self) -> bool:
        """Whether some α with Σα = 0 is strictly inside the dual box: not if a target has one sign only."""
        lo, hi = self.loss.bounds(self.Y)
        return not self.fit_intercept or bool(np.all((lo < 0).any(axis=0) & (hi > 0).any(axis=0)))

    def subset(self, rows: NDArray[np.intp]) -> Risk:
        """The risk of some samples, their costs raised so that the fit weighs as much as it did."""
        share = self.C[rows].sum() / self.C.sum()
        return Risk(self.loss, self.Y[rows], self.C[rows] / share, self.fit_intercept, self.shift)

    def scaled(self, factor: float) -> Risk:
        """The risk at other costs."""
        return Risk(self.loss, self.Y, factor * self.C, self.fit_intercept, self.shift)

    def solve(self, K: Array, alpha: Array, tol: float) -> Fit:
        """The machines of all outputs for one kernel, to a total gap of at most `tol`."""
        solutions = self._solve_together(K, tol) or self._solve_each(K, alpha, tol)
        return Fit(
            np.stack([s.alpha for s in solutions], axis=1),
            np.array([s.intercept for s in solutions]),
            np.stack([s.f for s in solutions], axis=1),
            sum(s.gap for s in solutions),
            solutions,
        )

    def _solve_each(self, K: Array, alpha: Array, tol: float) -> list[Solution]:
        solutions: list[Solution] = []
        outputs = self.Y.shape[1]
        for k in range(outputs):
            previous = solutions[-1].sensitivity if solutions else None
            solutions.append(
                self.machine.solve(K, self.Y[:, k], self.C[:, k], alpha[:, k], tol / outputs, previous)
            )
        return solutions

    def _solve_together(self, K: Array, tol: float) -> list[Solution] | None:
        """All outputs at once, where the squared loss and equal costs make their equations the same.

        None where rounding errors leave a larger gap than is asked for: single ones can be refined.
        """
        if not self.loss.quadratic or not isinstance(self.machine, Newton):
            return None
        if not np.all(self.C == self.C[:, :1]):
            return None
        solutions = self.machine.solve_together(K, self.Y, self.C[:, 0])
        return solutions if sum(s.gap for s in solutions) <= tol else None

    def machine_value(self, fit: Fit) -> float:
        """½ αᵀKα + Σ Cℓ: the primal value of the machines of a fit."""
        return 0.5 * float(np.sum(fit.alpha * (fit.f - fit.intercept))) + self.loss_value(fit.f)

    def curvature(self, K: Array, fit: Fit, R: Array) -> Array:
        """B with BᵀB the second derivative of J, from R = (K_mα), (m, n, k); keeps what `move` needs."""
        for k, s in enumerate(fit.solutions):
            if s.sensitivity is None:
                s.sensitivity = self.machine.sensitivity(K, self.Y[:, k], self.C[:, k], s)
        shared = _shared(fit)
        if shared is not None:
            m, n, outputs = R.shape
            B = shared.half(R.transpose(1, 2, 0).reshape(n, outputs * m))
            return np.ascontiguousarray(B.reshape(-1, outputs, m).transpose(1, 0, 2)).reshape(-1, m)
        parts = [s.sensitivity.half(R[:, :, k].T) for k, s in enumerate(fit.solutions) if s.sensitivity]
        return np.concatenate(parts)

    def move(self, fit: Fit, alpha: Array, Bd: Array) -> Array:
        """α moved as the machines of `fit` move after a step d of θ, given B d."""
        shared = _shared(fit)
        if shared is not None:
            return alpha + shared.move(Bd.reshape(alpha.shape[1], -1).T, alpha.shape[0])
        alpha, row = alpha.copy(), 0
        for k, s in enumerate(fit.solutions):
            assert s.sensitivity is not None
            size = s.sensitivity.support.size
            alpha[:, k] += s.sensitivity.move(Bd[row : row + size], alpha.shape[0])
            row += size
        return alpha

    def feasible(self, alpha: Array) -> Array:
        """A point of the dual box (with Σα = 0 for each output where an intercept is fitted) near α."""
        lo, hi = self.loss.bounds(self.Y)
        lo, hi = lo * self.C, hi * self.C
        if not self.fit_intercept:
            return np.clip(alpha, lo, hi)
        if np.all(np.isinf(lo)) and np.all(np.isinf(hi)):
            return np.asarray(alpha - self.C / self.C.sum(axis=0) * alpha.sum(axis=0))
        return np.stack([feasible(alpha[:, k], lo[:, k], hi[:, k]) for k in range(alpha.shape[1])], axis=1)

    def loss_value(self, f: Array) -> float:
        """Σ C ℓ(y, f)."""
        return float(np.sum(self.C * self.loss.value(self.Y, f)))

    def constant(self) -> Array:
        """(k,): the best constant function, 0 without an intercept."""
        b = np.zeros(self.Y.shape[1])
        if self.fit_intercept:
            zero = np.zeros(self.Y.shape[0])
            b[:] = [self.loss.intercept(y, zero, C) for y, C in zip(self.Y.T, self.C.T, strict=True)]
        return b

    def constant_value(self) -> float:
        """P of the best constant function: an upper bound on the optimum."""
        return self.loss_value(np.zeros_like(self.Y) + self.constant())

    def constant_alpha(self) -> Array:
        """α = −Cℓ' at the best constant function, made feasible: the solution without any kernel."""
        f = np.zeros_like(self.Y) + self.constant()
        return self.feasible(-self.C * self.loss.gradient(self.Y, f))

    def dual_fit(self, alpha: Array) -> float:
        """−Σ C ℓ*(y, −α/C)."""
        return -float(np.sum(self.C * self.loss.conjugate(self.Y, -alpha / self.C)))

    def primal(
        self, penalty: Penalty, theta: Array, q: Array, f: Array, alpha: Array, largest: Array | float
    ) -> float:
        """P of w_m = θ_m Φ_mα at the weights that suit it best: ½ min_θ' Σ‖w_m‖²/θ'_m + h(θ') + Σ Cℓ.

        From above: at the worst that rounding may have done to f and q (see `rounding`); `largest` holds the
        largest value of each kernel. Where a constant function leaves nothing but rounding errors (a constant
        target, say), they are zero.
        """
        noise = 1e-25 * self.loss_value(np.zeros_like(f))
        plain = 0.5 * penalty.group_norm(theta * np.sqrt(q)) + self.loss_value(f)
        if plain <= noise and self.constant_value() <= noise:
            return 0.0
        norm = penalty.group_norm(theta * np.sqrt(q + largest * slack(alpha)))
        upper = 0.5 * norm + self.worst_loss(f, alpha, float(np.sum(theta * largest)))
        return (1.0 + unit(f.shape[0])) * upper

    def worst_loss(self, f: Array, alpha: Array, largest: float) -> float:
        """Σ C ℓ(y, f) at the worst that rounding may do to f = K_θα + b, K_θ at most `largest`."""
        off = unit(f.shape[0]) * largest * np.abs(alpha).sum(axis=0) + EPS * (np.abs(f) + np.abs(self.shift))
        worst = np.maximum(self.loss.value(self.Y, f - off), self.loss.value(self.Y, f + off))
        return float(np.sum(self.C * worst))

    def dual(self, alpha: Array, q: Array, penalty: Penalty, largest: Array | float) -> float:
        """The best dual value along the ray sα, s ≥ 0 inside the dual box. q = q(α) over the whole family.

        From below: at a point next to sα that is feasible to the last digit, and the largest q that rounding
        allows for.
        """
        s = self._best_scale(alpha, q, penalty)
        point = self.exact(s * alpha)
        sizes, moved = np.abs(point).sum(axis=0), np.abs(point - s * alpha).sum(axis=0)
        allowed = slack(point) + float((2.0 * sizes + moved) @ moved)
        conjugate = penalty.conjugate(s * s * q + largest * allowed)[0]
        terms = self.C * self.loss.conjugate(self.Y, -point / self.C)
        value = -float(np.sum(terms)) - 0.5 * conjugate
        value -= unit(alpha.shape[0]) * (float(np.sum(np.abs(terms))) + 0.5 * abs(conjugate))
        return max(value, self.dual_fit(np.zeros_like(alpha)))  # α = 0 is feasible, and needs no kernel

    def exact(self, alpha: Array) -> Array:
        """A point of the dual box next to α, with Σα = 0 exactly for each output where b is fitted."""
        alpha = self.feasible(alpha)
        if not self.fit_intercept:
            return alpha
        lo, hi = self.loss.bounds(self.Y)
        lo, hi = lo * self.C, hi * self.C
        columns = zip(alpha.T, lo.T, hi.T, self.C.T, strict=True)
        return np.stack([zero_sum(*column) for column in columns], axis=1)

    def _best_scale(self, alpha: Array, q: Array, penalty: Penalty) -> float:
        """s ≥ 0 with the largest D(sα), inside the dual box."""
        a = alpha / self.C
        lo, hi = self.loss.bounds(self.Y)
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.where(a > 0, hi / a, np.where(a < 0, lo / a, np.inf))
        limits[(limits <= 0.0) & (np.abs(a) <= ROUNDING)] = np.inf  # rounding must not end the ray at s = 0
        longest = float(limits.min())
        ray = self.loss.ray(self.Y, a)
        if ray is not None and penalty.homogeneous:
            linear, quadratic = float(np.sum(self.C * ray[0])), float(np.sum(self.C * ray[1]))
            curvature = quadratic + penalty.conjugate(q)[0]
            s = min(linear / curvature if curvature > 0 else longest, longest)
            return max(s, 0.0) if np.isfinite(s) else 1.0

        def negative(s: float) -> float:
            return 0.5 * penalty.conjugate(s * s * q)[0] - self.dual_fit(s * alpha)

        top = min(longest, 4.0)
        best = minimize_scalar(negative, bounds=(0.0, top), method="bounded", options={"xatol": 1e-10})
        values = {s: negative(s) for s in (min(1.0, top), float(best.x))}
        return min((s for s in values if np.isfinite(values[s])), key=lambda s: values[s], default=0.0)


def _shared(fit: Fit) -> Sensitivity | None:
    """The sensitivity of all outputs, where they have one in common and there are several."""
    first = fit.solutions[0].sensitivity
    several = len(fit.solutions) > 1
    return first if several and all(s.sensitivity is first for s in fit.solutions) else None

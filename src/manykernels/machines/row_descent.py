"""The machine of the multiclass hinge: all classes of a sample at once.

    min_α  ½ Σ_c α_cᵀKα_c − Σ_i α_iy_i      over the set of `rows.py`

Coordinate descent moves one row of α at a time (`_fast/rows.py`). Intercepts are the multipliers of
Σ_i α_ic = 0: rows descend on the objective with ρ/2 ‖αᵀ1‖² + ⟨b, αᵀ1⟩ added, and b ← b + ρ αᵀ1 takes the
solution to the one with αᵀ1 = 0 (Hestenes 1969). Every round ends with a step of Newton's method: at the
optimum f_i − e_y_i is the same for all classes that sample i spends on. These are linear equations in what is
free (`coupled.py`), and hold after one step once the right classes are free. Hard problems, of large costs or
kernels of few dimensions, go on behind a barrier (`row_barrier.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._fast import rows as fast
from ..losses.structured import MulticlassHinge
from .coupled import Coupled
from .free import solved
from .row_barrier import RowBarrier
from .rows import Plans

Array = NDArray[np.float64]
_ROUNDS = 15  # of the augmented Lagrangian, or of descent, at most
_SWEEPS = 40  # in a round
_FIRST = 0.03  # the first violation, of the margin 1, that rows are improved for
_PRICE = 0.35  # ρ = κ times that over √(κC), κ the mean diagonal of K
_WAITS = 4  # rounds without a smaller gap, after which rounding errors are all that moves
_GAINS = 0.7  # times the gap: a correction that leaves more is not tried again for as long as it took
_EDGE = 1e-9  # of C: a sample that spends less on a class spends nothing on it
_JITTER = 1e-8  # of the mean diagonal, for the metric
_EXACT = 1e-12  # for corrections, which are repeated
_LEVELS = 10.0 ** -np.arange(0.0, 9.0)  # by which corners are smoothed, of the margin 1
_NEWTON = 30  # steps at each
_FLOORS = (1e-12, 1e-6, 1e-3, 1e-1, 10.0, 1e3)  # of the sum of costs: what curvatures are at least
_LOSS = MulticlassHinge()


@dataclass
class RowSolution:
    """α (n, k), b (k,), f = Kα + b, the gap at this kernel, and how α moves once somebody asked."""

    alpha: Array
    intercept: Array
    f: Array
    gap: float
    moves: Array | None = None  # PR (n, k, m), once somebody asked
    root: Array | None = None  # B⁻¹ (m, m)


class RowDescent:
    """Solves the machine, warm-started."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans
        self.own = np.eye(plans.k)[plans.y]  # e_y

    # -- the best intercepts ----------------------------------------------------------------------
    def offsets(self, score: Array, begin: Array | None = None) -> Array:
        """(k,): the b with Σb = 0 that minimises Σ C ℓ(y, score + b), by Newton's method on smoothed losses.

        μ log Σ_c exp((1 − [c = y] + f_c − f_y)/μ) has the corners of the loss as μ → 0.
        """
        b = np.zeros(self.plans.k) if begin is None else begin
        best, least = b, self._loss(score + b)
        for mu in _LEVELS if begin is None else _LEVELS[2:]:
            b = self._smoothed(score, b, mu)
            value = self._loss(score + b)
            if value < least:
                best, least = b, value
        return np.asarray(best - best.mean())

    def _loss(self, f: Array) -> float:
        return float(self.plans.C @ _LOSS.value(self.plans.y, f))

    def _smoothed(self, score: Array, b: Array, mu: float) -> Array:
        C, margins = self.plans.C, 1.0 - self.own + score

        def soft(b: Array) -> tuple[float, Array]:
            f = (margins + b) / mu
            top = f.max(axis=1, keepdims=True)
            E = np.exp(f - top)
            total = E.sum(axis=1)
            level = mu * (top[:, 0] + np.log(total)) - np.sum(self.own * (score + b), axis=1)
            return float(C @ level), E / total[:, None]

        value, p = soft(b)
        for _ in range(_NEWTON):
            g, W = C @ (p - self.own), p * C[:, None]
            J = (np.diag(W.sum(axis=0)) - W.T @ p) / mu
            for floor in _FLOORS:  # directions that no sample feels move far, but not without end
                step = -solved(J, g, floor * float(C.sum()))
                slope, t = float(g @ step), 1.0
                if not -slope > 1e-13 * abs(value):
                    return b
                while not (trial := soft(b + t * step))[0] < value + 1e-4 * t * slope and t > 1e-2:
                    t *= 0.25
                if trial[0] < value + 1e-4 * t * slope:
                    break
            else:
                return b
            b, (value, p) = b + t * step, trial
        return b

    # -- the machine ------------------------------------------------------------------------------
    def judged(self, alpha: Array, score: Array, b: Array) -> RowSolution:
        """The gap ½αᵀKα + R(f) − D of a feasible α with score = Kα."""
        f = score + b
        gap = float(np.sum(alpha * score)) + self._loss(f) - float(np.sum(alpha * self.own))
        return RowSolution(alpha, b, f, max(gap, 0.0))

    def solve(self, K: Array, alpha: Array, tol: float) -> RowSolution:
        """α and b with a gap of at most `tol`, or the smallest that was met."""
        alpha = self.plans.feasible(alpha)
        score = K @ alpha
        best = self.judged(alpha, score, self._first(alpha, score))
        for method in (self._descent, self._inside, self._descent):
            if best.gap <= tol:
                break
            best = method(K, best, tol)
        return best

    def _inside(self, K: Array, best: RowSolution, tol: float) -> RowSolution:
        """The interior-point method, and Newton's step from what it says is at its bounds."""
        path, met = RowBarrier(K, self.plans, best.alpha), [best]

        def judge() -> float:
            point = self.plans.feasible(path.alpha)
            met.append(self.judged(point, K @ point, path.intercepts))
            return met[-1].gap

        path.run(judge, tol)
        point = self.plans.feasible(path.settled)
        near = self.judged(point, K @ point, path.intercepts)
        return min(*met, near, self._corrected(K, near), key=lambda s: s.gap)

    def _descent(self, K: Array, best: RowSolution, tol: float) -> RowSolution:
        """Rounds of row descent and Newton's steps."""
        plans, alpha = self.plans, best.alpha
        mean = float(np.mean(K.diagonal()))
        rho = _PRICE * np.sqrt(mean / float(plans.C.mean())) if plans.balanced else 0.0
        least = 1e-10 * max(mean, 1.0 / float(plans.C.mean()))
        x, b, order = alpha.copy(), best.intercept, np.arange(len(alpha))
        level, waits, pause = min(_FIRST, best.gap / float(plans.C.sum())), 0, 0
        for r in range(_ROUNDS):
            F = np.ascontiguousarray((K @ x + b + rho * x.sum(axis=0)).T)
            for _ in range(_SWEEPS):
                moved = fast.sweep(K, plans.y, plans.C, rho, least, x, F, order, level)[1]
                if moved == 0:
                    break
            if plans.balanced:
                b = b + rho * x.sum(axis=0)
            point = plans.feasible(x)
            solution = self.judged(point, K @ point, b)
            if solution.gap > tol and r >= pause:
                better = self._corrected(K, solution)
                if better.gap < _GAINS * solution.gap:
                    solution, x, b = better, better.alpha.copy(), better.intercept
                else:
                    pause = 2 * r + 1
            waits = waits + 1 if moved == 0 and not solution.gap < 0.9 * best.gap else 0
            best = min(best, solution, key=lambda s: s.gap)
            if best.gap <= tol or waits >= _WAITS:
                break
            level = max(level * min(0.5, max(0.02, 0.5 * tol / best.gap)), 1e-14)
        return best

    def _first(self, alpha: Array, score: Array) -> Array:
        """b to begin with: f_i − e_y is the same for all classes that a sample spends on."""
        if not self.plans.balanced:
            return np.zeros(self.plans.k)
        i, V = self.plans.pairs(alpha, 1e-6)
        if i.size < 2 * self.plans.k:
            return self.offsets(score)
        right = -np.sum(V * (score - self.own)[i], axis=1)
        b = np.linalg.lstsq(V, right, rcond=1e-8)[0]
        return np.asarray(b - b.mean())

    def _free(self, alpha: Array) -> NDArray[np.bool_]:
        """Tell where α may move both ways: the classes a sample spends on, if they are several."""
        spends = self.plans.caps - alpha > _EDGE * self.plans.C[:, None]
        return np.asarray(spends & (spends.sum(axis=1) > 1)[:, None])

    def _corrected(self, K: Array, near: RowSolution) -> RowSolution:
        """Newton's step: what is free moves to where its equations hold, and is cut to the set."""
        plans = self.plans
        free = self._free(near.alpha)
        if not free.any():
            return near
        try:
            z = Coupled(K, free, plans.balanced, jitter=_EXACT).solve(np.where(free, near.f - self.own, 0.0))
        except np.linalg.LinAlgError:
            return near
        point = plans.feasible(near.alpha - z)
        score = K @ point
        found = [near, self.judged(point, score, near.intercept)]
        if plans.balanced:
            found.append(self.judged(point, score, self._first(point, score)))
        return min(found, key=lambda s: s.gap)

    # -- how α moves ------------------------------------------------------------------------------
    def curvature(self, K: Array, solution: RowSolution, R: Array) -> Array:
        """B (m, m) with BᵀB = RᵀPR the second derivative of J, from R = (K_mα), (m, n, k)."""
        free = self._free(solution.alpha)
        right = np.where(free[:, :, None], R.transpose(1, 2, 0), 0.0)
        solution.moves = Coupled(K, free, self.plans.balanced, jitter=_JITTER).solve(right)
        H = np.einsum("ncm,ncl->ml", right, solution.moves)
        if not np.isfinite(H).all():  # rounding has the last word: nothing is known of how α moves
            solution.moves, H = np.zeros_like(right), np.zeros_like(H)
        values, E = np.linalg.eigh(0.5 * (H + H.T))
        sizes = np.sqrt(np.maximum(values, _JITTER * max(float(values[-1]), 1e-300)))
        solution.root = E / sizes
        return np.asarray(sizes[:, None] * E.T)

    def move(self, solution: RowSolution, alpha: Array, Bd: Array) -> Array:
        """α − PRd, given B d."""
        assert solution.root is not None and solution.moves is not None
        return np.asarray(alpha - solution.moves @ (solution.root @ Bd))

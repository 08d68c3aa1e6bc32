"""Piecewise linear losses with covariates: SMO within an augmented Lagrangian, corrected exactly.

SMO moves pairs of samples and keeps one equality, Σα = 0; covariates have more of them, Zᵀα = 0. Let Z̃ span
what Z has beside the constant. The machine of K + ρZ̃Z̃ᵀ and the targets y − Z̃γ is one for SMO, and the update
γ ← γ + ρZ̃ᵀα takes its solution to the one with Z̃ᵀα = 0 (Hestenes 1969), the faster the larger ρ is. Once the
free support vectors S no longer change, they solve the linear equations

    K_SS α_S + Z_S γ = y_S − ε sign α_S − K_SB α_B,      Z_Sᵀ α_S = −Z_Bᵀ α_B      (B: all others)

exactly. Where single samples have much leverage in Z, or K is of low rank, the interior-point method of
`barrier.py` ends what that began. A gap is only believed at a point with Zᵀα = 0 (`balanced`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._fast import smo as fast
from .._fast.linalg import factor, solve
from ..losses import Loss
from .barrier import interior_path
from .base import Array, Machine, Sensitivity, Solution
from .free import absorbed, balanced, basis, offset
from .newton import Newton
from .smo import free_sensitivity

_ROUNDS = 40  # of SMO, at most
_PRICE = 0.35  # ρ = tr K times that over √(C tr K/n): by trial, for C tr K/n from 0.01 to 100
_FALLS = 0.3  # times the gap before: a round that leaves more of it raises ρ
_RISE = 3.0  # how
_DEAREST = 1e4  # times its first value: ρ at most
_WAITS = 2  # rounds in a row without a smaller gap, after which rounding has the last word
_STEPS = 20_000  # of SMO, or fifty a sample, in a round
_ROUGH = 1e-2  # of the largest target: the smoothing with which the first γ is found
_EDGE = 1e-9  # of C: nearer to a bound, a sample is there
_JITTER = 1e-13  # of the mean diagonal, for the factor of free support vectors


class Corners(Machine):
    """The machine of a piecewise linear loss with an unpenalised part Z."""

    def __init__(self, loss: Loss, Z: Array) -> None:
        self.loss, self.Z, self.tube = loss, Z, float(loss.tube)
        mean = Z.mean(axis=0)
        self.constant = bool(np.abs(Z @ mean * len(Z) - 1.0).max() < 1e-9)
        self.beside = basis(Z - mean) if self.constant else Z  # Z̃
        self.judge = Newton(loss, True, Z=Z)

    def solve(
        self, K: Array, y: Array, C: Array, alpha: Array, tol: float, previous: Sensitivity | None = None
    ) -> Solution:
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        alpha = balanced(alpha, lo, hi, C, self.Z)
        score = K @ alpha
        best = self.judge.judged(y, C, alpha, self._multipliers(y, C, alpha, score), score)
        best = best if best.gap <= tol else self._rounds(K, y, C, best, tol)
        return best if best.gap <= tol else self._inside(K, y, C, best)

    def _free(self, y: Array, C: Array, alpha: Array) -> NDArray[np.bool_]:
        """The samples between two corners."""
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        free = (alpha > lo + _EDGE * C) & (alpha < hi - _EDGE * C)
        return free & (np.abs(alpha) > _EDGE * C) if self.tube > 0.0 else free

    def _multipliers(self, y: Array, C: Array, alpha: Array, score: Array) -> Array:
        """Zγ from free support vectors, where f = y − ε sign α; the best for these scores if they are few."""
        free = self._free(y, C, alpha)
        if np.count_nonzero(free) < 2 * self.Z.shape[1]:
            return offset(self.loss, y, score, C, self.Z, _ROUGH)
        right = (y - self.tube * np.sign(alpha) - score)[free]
        return np.asarray(self.Z @ np.linalg.lstsq(self.Z[free], right, rcond=1e-8)[0])

    def _rounds(self, K: Array, y: Array, C: Array, best: Solution, tol: float) -> Solution:
        """The augmented Lagrangian, and the correction wherever the same samples are free twice."""
        Z, size, trace = self.beside, max(float(np.abs(y).max()), 1e-300), max(float(np.trace(K)), 1e-300)
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        first = rho = _PRICE * trace / np.sqrt(float(C.mean()) * trace / y.size)
        raised, gamma = K + rho * (Z @ Z.T), Z.T @ np.asarray(best.intercept)
        violation = min(1e-2 * size, best.gap / float(np.abs(best.alpha).sum() or 1e-300))
        run = fast.solve_pairs if self.constant else fast.solve_single
        alpha, G, last, waits = best.alpha.copy(), np.empty_like(best.alpha), np.inf, 0
        before = np.zeros(y.size, dtype=bool)
        for _ in range(_ROUNDS):
            target = y - Z @ gamma
            run(raised, target, lo, hi, self.tube, alpha, G, violation, max(_STEPS, 50 * y.size))
            gamma = gamma + rho * (Z.T @ alpha)
            b = Z @ gamma
            solution = self._judged(K, y, C, alpha, b)
            free = self._free(y, C, alpha)
            if solution.gap > tol and np.array_equal(free, before):
                solution = min(solution, self._corrected(K, y, C, alpha, solution, free), key=lambda s: s.gap)
            before, waits = free, waits + 1 if not solution.gap < 0.9 * best.gap else 0
            best = solution if solution.gap < best.gap else best
            if best.gap <= tol or waits >= _WAITS:
                break
            if solution.gap > _FALLS * last and rho < _DEAREST * first:
                rho *= _RISE
                raised = K + rho * (Z @ Z.T)
            last = solution.gap
            violation = max(violation * min(0.3, max(0.01, 0.5 * tol / last)), 1e-14 * size)
        return best

    def _inside(self, K: Array, y: Array, C: Array, best: Solution) -> Solution:
        """The interior-point method, then the correction of what it says is free."""
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        gamma = self.Z.T @ np.asarray(best.intercept)
        *points, gamma = interior_path(K, y, self.tube, (hi, -lo), self.Z, gamma)
        for alpha in points:
            point = self._balanced(y, C, np.clip(alpha, lo, hi))
            score = K @ point
            b = offset(self.loss, y, score, C, self.Z, begin=self.Z @ gamma)
            near = min(
                (self.judge.judged(y, C, point, v, score) for v in (self.Z @ gamma, b)), key=lambda s: s.gap
            )
            exact = self._corrected(K, y, C, alpha, near, self._free(y, C, alpha))
            best = min(best, near, exact, key=lambda s: s.gap)
        return best

    def _judged(self, K: Array, y: Array, C: Array, alpha: Array, b: Array) -> Solution:
        """The balanced point next to α, with the best constant beside the covariates' part b."""
        point = self._balanced(y, C, alpha)
        score = K @ point
        if self.constant:
            b = b + self.loss.intercept(y, score + b, C)
        return self.judge.judged(y, C, point, b, score)

    def _balanced(self, y: Array, C: Array, alpha: Array) -> Array:
        """Zᵀα = 0 by moving free support vectors only, where they can: the others stay at their bounds."""
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        still = ~self._free(y, C, alpha)
        point = balanced(alpha, np.where(still, alpha, lo), np.where(still, alpha, hi), C, self.Z)
        return point if point.any() else balanced(alpha, lo, hi, C, self.Z)

    def _corrected(
        self, K: Array, y: Array, C: Array, alpha: Array, near: Solution, free: NDArray[np.bool_]
    ) -> Solution:
        """α and γ of the linear equations of the free support vectors, cut to their box."""
        S, Z = np.flatnonzero(free), self.Z
        if not S.size:
            return near
        rest = np.where(free, 0.0, alpha)
        L = factor(K[np.ix_(S, S)], _JITTER)
        V = solve(L, Z[S])
        gamma = Z.T @ np.asarray(near.intercept)
        u = solve(L, (y - self.tube * np.sign(alpha) - K @ rest)[S]) - V @ gamma
        step = absorbed(V, np.ones(S.size), Z[S], Z[S].T @ u + Z.T @ rest)
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        rest[S] = u - V @ step
        point = self._balanced(y, C, np.clip(rest, lo, hi))
        return self.judge.judged(y, C, point, Z @ (gamma + step), K @ point)

    def sensitivity(self, K: Array, y: Array, C: Array, solution: Solution) -> Sensitivity:
        return free_sensitivity(self.loss, K, y, C, solution.alpha, True, self.Z)

"""Losses that need every sample, learned in the space of features: nothing of n × n is ever made.

With Ψ = Φ diag(√θ) the machine at θ is linear in Ψ. Newton's method is that of `machines/newton.py`; only the
system that it solves is written in features (Woodbury): with W = Cℓ'' and g = Cℓ' at f,

    H (v, b) = Ψ̃ᵀ(Wf − g),      H = diag(1, …, 1, 0) + Ψ̃ᵀWΨ̃,      Ψ̃ = [Ψ 1],      α = −g − W(Ψv + b − f),

at a cost of n p² for a step and p³ for its factor. Losses with a corner are smoothed, ℓ_μ* = ℓ* + ½μu², with
μ falling until the gap of the loss itself is small enough. θ moves as in `ActiveSet`, with the same gap.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._fast.linalg import factor, solve
from ..grams import FactorGram
from ..grams.base import Atoms
from ..losses import Loss
from ..losses.scalar import FloatArray
from ..machines import Newton, Solution, feasible
from ..objectives import Fit, Risk
from ..penalties import Penalty
from ..solvers import ActiveSet, Result, Run

Array = NDArray[np.float64]
_STEEP = 0.2  # how μ falls
_NEAR = 20.0  # times the gap a sample: where μ starts, at most at the largest target
_SHARPEST = 1e-9  # of the largest target: μ below which nothing is gained
_WAITS = 3  # sharper losses in a row that leave the gap as it was, after which rounding has the last word
_CORNER = 1e-12  # of the largest cost: an intercept that no sample feels more strongly is left where it is
_ROWS = 16384  # of Ψ at a time


class Combination:
    """K = ΨΨᵀ, never formed: Ψ = Φ diag(root) over the features of kernels with weight."""

    def __init__(self, Phi: Array, root: Array) -> None:
        self.Phi, self.root = Phi, root

    def __matmul__(self, alpha: Array) -> Array:
        return self.scores(self.features(alpha))

    def features(self, alpha: Array) -> Array:
        """Ψᵀα."""
        return np.asarray((self.Phi.T @ alpha).T * self.root).T

    def scores(self, v: Array) -> Array:
        """Ψv."""
        return np.asarray(self.Phi @ (v.T * self.root).T)

    def system(self, W: Array) -> Array:
        """H of Ψ̃, from the samples with W > 0."""
        p = self.root.size
        H = np.zeros((p + 1, p + 1))
        used = np.flatnonzero(W > 0.0)
        for lo in range(0, used.size, _ROWS):
            rows = used[lo : lo + _ROWS]
            half = np.sqrt(W[rows])[:, None] * self.Phi[rows]
            H[:p, :p] += half.T @ half
            H[:p, p] += half.T @ np.sqrt(W[rows])
        H[:p, :p] *= self.root
        H[:p] *= self.root[:, None]
        H.flat[: p * (p + 2) : p + 2] += 1.0
        H[p, :p], H[p, p] = H[:p, p], float(W.sum())
        return H


class FeatureGram(FactorGram):
    """Explicit features of all samples, whose combinations stay in that form."""

    explicit: ClassVar[bool] = True

    def combine(self, theta: Array, atoms: Atoms | None = None, out: Any = None) -> Any:
        atoms, theta = self._atoms(atoms), np.asarray(theta, dtype=float)
        used = np.flatnonzero(theta)
        weights = np.sqrt(theta[used] * self.scale[atoms[used]])
        if used.size == self.n_kernels and np.array_equal(atoms, np.arange(self.n_kernels)):
            return Combination(self.features, np.repeat(weights, np.diff(self.ptr)))
        Phi, owner = self._columns(atoms[used])
        return Combination(Phi, weights[owner])

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        inner = np.square(self.features.T @ A)
        return np.asarray(np.add.reduceat(inner, self.ptr[:-1], axis=0)[atoms])

    def traces(self) -> Array:
        squares = np.einsum("ij,ij->j", self.features, self.features)
        return np.asarray(np.add.reduceat(squares, self.ptr[:-1]) * self.scale)


class Smoothed(Loss):
    """ℓ_μ(y, f) = max_a −af − ℓ*(y, −a) − ½μa², a loss with a Hessian that is within ½μ below ℓ (|a| ≤ 1)."""

    def __init__(self, loss: Loss, mu: float) -> None:
        self.loss = loss
        self.mu = mu

    def _slope(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """a = −ℓ_μ'."""
        return self.loss.dual_step(y, f, np.zeros_like(f), np.full_like(f, self.mu))

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        a = self._slope(y, f)
        return -a * f - self.loss.conjugate(y, -a) - 0.5 * self.mu * a * a

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return -self._slope(y, f)

    def hessian(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """1/μ where a is neither at a bound nor at rest."""
        a = self._slope(y, f)
        lo, hi = self.loss.bounds(y)
        return np.asarray((a > lo) & (a < hi) & (a != 0.0), dtype=np.float64) / self.mu

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return self.loss.conjugate(y, u) + 0.5 * self.mu * u * u

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.loss.bounds(y)


class FeatureSensitivity:
    """P = W − WΨ̃ H⁻¹ Ψ̃ᵀW, by which α moves with the kernel (`machines/base.py`)."""

    def __init__(self, K: Combination, W: Array, fit_intercept: bool) -> None:
        H = K.system(W)
        # without an intercept, or where no sample feels it, its row and column are those of the identity
        self.free = fit_intercept and H[-1, -1] > _CORNER * max(float(W.max(initial=0.0)), 1e-300)
        if not self.free:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
        self.K, self.W, self.L = K, W, factor(H)
        self.support = np.empty(0, dtype=np.intp)  # as many as `half` has rows
        self._PR: Array = np.empty((0, 0))

    def solve(self, r: Array) -> tuple[Array, Array]:
        """(v, b) of H (v, b) = Ψ̃ᵀr, for r of shape (n, …)."""
        right = np.concatenate([self.K.features(r), np.sum(r, axis=0, keepdims=True) * self.free])
        x = solve(self.L, right)
        return x[:-1], x[-1]

    def half(self, R: Array) -> Array:
        """B with BᵀB = RᵀPR, for R of shape (n, m); keeps PR, for `move`."""
        WR = self.W[:, None] * R
        v, b = self.solve(WR)
        PR = WR - self.W[:, None] * (self.K.scores(v) + b)
        S = R.T @ PR
        values, Q = np.linalg.eigh(0.5 * (S + S.T))
        kept = values > 1e-14 * max(float(values[-1]), 1e-300) if values.size else values > 0
        root = np.sqrt(values[kept])
        self._PR = PR @ (Q[:, kept] / root)
        self.support = np.arange(root.size)
        return np.asarray(root[:, None] * Q[:, kept].T)

    def move(self, Bd: Array, n: int) -> Array:
        """−PRd, given Bd."""
        return np.asarray(-self._PR @ Bd)


class FeatureNewton(Newton):
    """Newton's method with the system in features."""

    def _factor(self, K: Any, y: Array, C: Array, f: Array, previous: Any) -> Any:
        W = C * self.loss.hessian(y, f)
        same = isinstance(previous, FeatureSensitivity) and previous.K is K and np.array_equal(previous.W, W)
        return previous if same else FeatureSensitivity(K, W, self.fit_intercept)

    def _target(self, K: Any, y: Array, C: Array, f: Array, P: Any) -> tuple[Array, float]:
        g = C * self.loss.gradient(y, f)
        v, b = P.solve(P.W * f - g)
        return -g - P.W * (K.scores(v) + b - f), float(b)


class SmoothingNewton(FeatureNewton):
    """The same for a loss with corners: smoothed, and less so until the gap of the loss itself is small."""

    def solve(self, K: Any, y: Array, C: Array, alpha: Array, tol: float, previous: Any = None) -> Solution:
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        alpha = feasible(alpha, lo, hi) if self.fit_intercept else np.clip(alpha, lo, hi)
        best, waits = self._judge(K, y, C, alpha, None), 0
        size = float(np.abs(y).max()) or 1.0
        # a good start deserves a sharp loss
        mu = min(size, max(_NEAR * best.gap / float(C.sum()), _SHARPEST * size))
        while best.sensitivity is None or (best.gap > tol and mu > _SHARPEST * size and waits < _WAITS):
            found = FeatureNewton(Smoothed(self.loss, mu), self.fit_intercept).solve(
                K, y, C, alpha, 0.3 * tol
            )
            alpha = found.alpha
            solution = self._judge(K, y, C, alpha, found.sensitivity)
            waits = waits + 1 if best.sensitivity is not None and not solution.gap < 0.9 * best.gap else 0
            if best.sensitivity is None or solution.gap < best.gap:
                best = solution
            mu *= _STEEP
        return best

    def _judge(self, K: Any, y: Array, C: Array, alpha: Array, sensitivity: Any) -> Solution:
        """α with the gap of the loss itself."""
        score = K @ alpha
        b = self.loss.intercept(y, score, C) if self.fit_intercept else 0.0
        return self._solution(y, C, alpha, b, score, sensitivity)


class FeatureRisk(Risk):
    """The risk, with machines in the space of features."""

    def __init__(self, risk: Risk) -> None:
        loss, fit_intercept = risk.loss, risk.fit_intercept
        self.loss, self.Y, self.C, self.fit_intercept = loss, risk.Y, risk.C, fit_intercept
        self.shift = risk.shift
        self.machine: Any = (FeatureNewton if loss.smooth else SmoothingNewton)(loss, fit_intercept)

    @property
    def piecewise_linear(self) -> bool:
        """Never, to the search: the joint method for corners needs matrices."""
        return False

    def solve(self, K: Any, alpha: Array, tol: float) -> Fit:
        fit = super().solve(K, alpha, tol)
        fit.alpha = self.feasible(fit.alpha)
        return fit

    def _solve_together(self, K: Any, tol: float) -> None:
        """One output after the other, the next with the factor of the last."""
        return None

    def curvature(self, K: Any, fit: Fit, R: Array) -> Array:
        parts = []
        for k, s in enumerate(fit.solutions):
            own: Any = copy(s.sensitivity)  # outputs may share a factor, and each keeps its own PR
            s.sensitivity = own
            parts.append(own.half(R[:, :, k].T))
        return np.concatenate(parts)

    def move(self, fit: Fit, alpha: Array, Bd: Array) -> Array:
        steps, row = [], 0
        for s in fit.solutions:
            assert s.sensitivity is not None
            size = s.sensitivity.support.size
            steps.append(s.sensitivity.move(Bd[row : row + size], alpha.shape[0]))
            row += size
        return alpha + np.stack(steps, axis=1)


class FeatureActiveSet(ActiveSet):
    """`ActiveSet` on a `FeatureGram`."""

    def run(self, kernels: Any, risk: Risk, penalty: Penalty, run: Run) -> Result:
        start = run.start or (penalty.start(kernels.n_kernels), np.zeros_like(risk.Y))
        return super().run(kernels, FeatureRisk(risk), penalty, replace(run, start=start))

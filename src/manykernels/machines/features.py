"""Machines for losses that need every sample, in the space of features: nothing of n × n is ever made.

With Ψ = Φ diag(√θ) the machine at θ is linear in Ψ. Newton's method is that of `newton.py`; only the system
that it solves is written in features (Woodbury): with W = Cℓ'' and g = Cℓ' at f,

    H (v, b) = Ψ̃ᵀ(Wf − g),      H = diag(1, …, 1, 0) + Ψ̃ᵀWΨ̃,      Ψ̃ = [Ψ 1],      α = −g − W(Ψv + b − f),

at a cost of n p² for a step and p³ for its factor. Losses with a corner are smoothed, ℓ_μ* = ℓ* + ½μu², with
μ falling until the gap of the loss itself is small enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._fast.linalg import factor, solve
from ..grams.features import Combination
from ..losses import Loss
from ..losses.smoothed import Smoothed
from .base import Array, Machine, Solution
from .newton import Newton

_STEEP = 0.2  # how μ falls
_NEAR = 20.0  # times the gap a sample: where μ starts, at most at the largest target
_SHARPEST = 1e-9  # of the largest target: μ below which nothing is gained
_WAITS = 3  # sharper losses in a row that leave the gap as it was, after which rounding has the last word
_PRICE = 1e-11  # of the largest cost
_CORNER = 1e-12  # of the largest cost: an intercept that no sample feels more strongly is left where it is


class FeatureSensitivity:
    """P = W − WΨ̃ H⁻¹ Ψ̃ᵀW, by which α moves with the kernel (`machines/base.py`)."""

    def __init__(self, K: Combination, W: Array, fit_intercept: bool, Z: Array | None = None) -> None:
        H = K.system(W, Z)
        self.Z, self.r = Z, 1 if Z is None else Z.shape[1]
        if Z is not None:  # a γ other than the last one has a price: samples that feel nothing of it leave it
            self.price = _PRICE * max(float(W.max(initial=0.0)), 1e-300)
            H.flat[:: len(H) + 1][-self.r :] += self.price
        # without an intercept, or where no sample feels it, its row and column are those of the identity
        self.free = Z is not None or (
            fit_intercept and H[-1, -1] > _CORNER * max(float(W.max(initial=0.0)), 1e-300)
        )
        if not self.free:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
        self.K, self.W, self.L = K, W, factor(H)
        self.support = np.empty(0, dtype=np.intp)  # as many as `half` has rows

    def solve(self, r: Array, now: Array | float = 0.0) -> tuple[Array, Array]:
        """(v, b) of H (v, b) = Ψ̃ᵀr, for r of shape (n, …); b is Zγ (n, …) with covariates, `now` γ before."""
        if self.Z is None:
            beside = np.sum(r, axis=0, keepdims=True) * self.free
        else:
            beside = self.Z.T @ r + self.price * now
        x = solve(self.L, np.concatenate([self.K.features(r), beside]))
        return x[: -self.r], x[-1] if self.Z is None else self.Z @ x[-self.r :]

    def half(self, R: Array) -> Array:
        """B with BᵀB = RᵀPR, for R of shape (n, m); keeps PR, for `move`."""
        WR = self.W[:, None] * R
        v, b = self.solve(WR)
        PR = WR - self.W[:, None] * (self.K.scores(v) + b)
        S = R.T @ PR
        values, Q = np.linalg.eigh(0.5 * (S + S.T))
        kept = values > 1e-14 * max(float(values.max(initial=0.0)), 1e-300)
        root = np.sqrt(values[kept])
        self._PR: Array = PR @ (Q[:, kept] / root)
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
        return previous if same else FeatureSensitivity(K, W, self.fit_intercept, self.Z)

    def _target(
        self, K: Any, y: Array, C: Array, f: Array, P: Any, b: float | Array
    ) -> tuple[Array, float | Array]:
        g = C * self.loss.gradient(y, f)
        v, b = P.solve(P.W * f - g, 0.0 if self.Z is None else self.Z.T @ b)
        return -g - P.W * (K.scores(v) + b - f), float(b) if self.Z is None else b


class SmoothingNewton(FeatureNewton):
    """The same for a loss with corners: smoothed, and less so until the gap of the loss itself is small."""

    def solve(self, K: Any, y: Array, C: Array, alpha: Array, tol: float, previous: Any = None) -> Solution:
        alpha = self._feasible(y, C, alpha)
        best, waits, b = self._judge(K, y, C, alpha, None), 0, None
        size = float(np.abs(y).max()) or 1.0
        # a good start deserves a sharp loss
        mu = min(size, max(_NEAR * best.gap / float(C.sum()), _SHARPEST * size))
        while best.sensitivity is None or (best.gap > tol and mu > _SHARPEST * size and waits < _WAITS):
            inner = FeatureNewton(Smoothed(self.loss, mu), self.fit_intercept, Z=self.Z, begin=b)
            found = inner.solve(K, y, C, alpha, 0.3 * tol)
            alpha = found.alpha
            b = None if self.Z is None else found.intercept
            solution = self._judge(K, y, C, alpha, found.sensitivity, b)
            waits = waits + 1 if best.sensitivity is not None and not solution.gap < 0.9 * best.gap else 0
            if best.sensitivity is None or solution.gap < best.gap:
                best = solution
            mu *= _STEEP
        return best

    def _judge(
        self, K: Any, y: Array, C: Array, alpha: Array, sensitivity: Any, b: float | Array | None = None
    ) -> Solution:
        """α with the gap of the loss itself, at b or the best b for it."""
        score = K @ alpha
        b = self._best(y, score, C) if b is None else b
        return self.judged(y, C, alpha, b, score, sensitivity)


def feature_machine_for(loss: Loss, fit_intercept: bool, Z: Array | None = None) -> Machine:
    """The machine in features that solves this loss."""
    return (FeatureNewton if loss.smooth else SmoothingNewton)(loss, fit_intercept, Z=Z)

"""Newton's method for a risk whose curvature is no diagonal: f = Kα + Zγ, α = −∇R(f), Zᵀα = 0.

With W = ∇²R(f) = LLᵀ and g = ∇R(f), a step solves α = −g − W(Kα + Zγ − f). With P = (K + W⁻¹)⁻¹, which is
W − WK(I + WK)⁻¹W and needs no inverse of W, and r = Wf − g,

    α = (I − PK)r − PZγ,      ZᵀPZ γ = Zᵀ(I − PK)r,

so that everything is made of products with P: L(I + LᵀKL)⁻¹Lᵀ of a matrix K, and W − WΨ(I + ΨᵀWΨ)⁻¹ΨᵀW of
features, K = ΨΨᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._fast.linalg import factor, solve
from ..grams.features import Combination

Array = NDArray[np.float64]
_UNFELT = 1e-11  # of the largest eigenvalue of ZᵀPZ: directions that no sample feels (a constant, say)
_IDLE = 3  # steps in a row that gain nothing: rounding has the last word
_ROUNDING = 1e-15  # of P
_STEPS = 100


class Root(Protocol):
    """L, with LLᵀ the curvature of a risk."""

    def left(self, X: Array) -> Array: ...
    def times(self, X: Array) -> Array: ...
    def inside(self, K: Array) -> Array: ...
    def squares(self, Phi: Array) -> Array: ...


class Joint(Protocol):
    """The functions that the method needs of a risk; decisions and dual points are (n,)."""

    Z: Array | None

    def joint_value(self, f: Array) -> float: ...
    def joint_gradient(self, f: Array) -> Array: ...
    def joint_root(self, f: Array) -> Root: ...
    def joint_gap(self, alpha: Array, score: Array, f: Array) -> float:
        """αᵀKα + R(f) + R*(−α), with what Zᵀα ≠ 0 may hide."""

    def joint_points(self, alpha: Array, f: Array) -> list[Array]:
        """Dual points in the domain that may be better than α, which need not be in it."""

    def beside(self, score: Array, begin: Array | float) -> Array:
        """(n,): what is added to the scores, Zγ or a constant."""


class Inverse:
    """P = (K + W⁻¹)⁻¹, less what γ absorbs: P − PZ(ZᵀPZ)⁺ZᵀP."""

    def __init__(self, K: Any, root: Root, Z: Array | None) -> None:
        self.K, self.root, self.Z = K, root, Z
        if isinstance(K, Combination):
            H = root.squares(K.Phi)
            H *= K.root
            H *= K.root[:, None]
        else:
            H = root.inside(K)
        H.flat[:: len(H) + 1] += 1.0
        self.factor = factor(H)
        if Z is not None:
            self.PZ = self.whole(Z)
            values, E = np.linalg.eigh(Z.T @ self.PZ)
            felt = values > _UNFELT * max(float(values[-1]), 1e-300)
            self.absorbed = (E[:, felt] / values[felt]) @ E[:, felt].T

    def whole(self, X: Array) -> Array:
        """PX without the part of γ."""
        half = self.root.left(X)
        if not isinstance(self.K, Combination):
            return self.root.times(solve(self.factor, half))
        WX = self.root.times(half)
        v = solve(self.factor, self.K.features(WX))
        return np.asarray(WX - self.root.times(self.root.left(self.K.scores(v))))

    def gamma(self, alpha: Array) -> Array:
        """γ by which Zᵀα is taken away."""
        assert self.Z is not None
        return np.asarray(self.absorbed @ (self.Z.T @ alpha))

    def half(self, R: Array) -> Array:
        """B with BᵀB = RᵀPR for R (n, m); keeps what `move` needs."""
        PR = self.whole(R)
        if self.Z is not None:
            PR -= self.PZ @ self.gamma(PR)
        S = R.T @ PR
        values, Q = np.linalg.eigh(0.5 * (S + S.T))
        kept = values > 1e-14 * max(float(values.max(initial=0.0)), 1e-300)
        roots = np.sqrt(values[kept])
        self.PR: Array = PR @ (Q[:, kept] / roots)
        return np.asarray(roots[:, None] * Q[:, kept].T)

    def move(self, Bd: Array) -> Array:
        """−PRd, given Bd."""
        return np.asarray(-self.PR @ Bd)


@dataclass
class JointSolution:
    """α, what is added to Kα, f, the gap at this kernel, and P at the last point but one."""

    alpha: Array
    offset: Array
    f: Array
    gap: float
    inverse: Inverse = field(repr=False)


def solve_joint(risk: Joint, K: Any, alpha: Array, tol: float) -> JointSolution:
    """min_{α, γ} ½αᵀKα + R(Kα + Zγ) to a gap of at most `tol`, starting from α (n,)."""
    score = K @ alpha
    b = risk.beside(score, 0.0)
    best: JointSolution | None = None
    idle = 0
    for _ in range(_STEPS):
        f = score + b
        inverse = Inverse(K, risk.joint_root(f), risk.Z)
        target, b_target = _target(risk, inverse, f, b)
        alpha, b, score, gain = _line_search(risk, K, (alpha, b, score), (target, b_target))
        found = _judged(risk, K, alpha, score, b, inverse)
        idle = 0 if best is None or gain > 0.0 or found.gap < 0.5 * best.gap else idle + 1
        if best is None or found.gap <= best.gap:
            best = found
        if best.gap <= tol or gain < 0.0 or idle >= _IDLE:
            break
    assert best is not None
    return best


def _target(risk: Joint, P: Inverse, f: Array, b: Array) -> tuple[Array, Array]:
    """The full step's α and Zγ."""
    r = P.root.times(P.root.left(f)) - risk.joint_gradient(f)
    alpha = r - P.whole(P.K @ r)
    if P.Z is None:
        return alpha, b
    # γ of directions that no sample feels stays what it was
    now = P.Z.T @ b
    alpha = alpha - P.PZ @ now
    step = P.gamma(alpha)
    return alpha - P.PZ @ step, P.Z @ (now + step)


def _line_search(
    risk: Joint, K: Any, now: tuple[Array, Array, Array], target: tuple[Array, Array]
) -> tuple[Array, Array, Array, float]:
    """The point after the step, and by how much P fell: 0 up to rounding, −∞ where no step was taken."""
    alpha, b, score = now
    da, db = target[0] - alpha, target[1] - b
    ds = K @ da

    def primal(t: float) -> float:
        return float(0.5 * (alpha + t * da) @ (score + t * ds)) + risk.joint_value(
            score + t * ds + b + t * db
        )

    start, t = primal(0.0), 1.0
    while not (after := primal(t)) <= start + 1e-12 * abs(start) and t > 1e-10:
        t *= 0.5
    if t <= 1e-10:
        return alpha, b, score, -np.inf
    gain = start - after if start - after > _ROUNDING * abs(start) else 0.0
    return alpha + t * da, b + t * db, score + t * ds, gain


def _judged(risk: Joint, K: Any, alpha: Array, score: Array, b: Array, P: Inverse) -> JointSolution:
    """The best of the dual points next to α."""
    best: JointSolution | None = None
    for point in risk.joint_points(alpha, score + b):
        at = score if point is alpha else K @ point
        gap = risk.joint_gap(point, at, at + b)
        if best is None or gap < best.gap:
            best = JointSolution(point, b, at + b, max(gap, 0.0), P)
    assert best is not None
    return best

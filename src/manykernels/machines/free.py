"""The unpenalised part of a function: f = Kα + Zγ on the training samples, of which an intercept is Z = 1.

Z (n, r) holds a constant and covariates, as an orthonormal basis of what they span. The conditions of

    min_{α, γ}  ½αᵀKα + R(Kα + Zγ)      are      α = −∇R(f),      Zᵀα = 0,

so that the dual is the same as without γ, over the null space of Zᵀ: a point with Zᵀα ≠ 0 bounds nothing,
since −αᵀZγ has no lower bound in γ. `balanced` takes points there within their box, `offset` has the best γ
at given scores. An intercept alone has formulas of its own (Σα = 0) in machines and bounds, which cost less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from ..losses import Loss
from ..losses.scalar import EPS
from ..losses.smoothed import Smoothed

Array = NDArray[np.float64]
_DEPENDENT = 1e-10  # of a column's size: what is left of it beside the others is rounding
_STEPS = 60  # of Newton's method in γ, or in the multipliers of Zᵀα = 0
_HALVINGS = 60
_FLOOR = 1e-12  # of the mean curvature: directions that no sample feels move far, but not without end
_FLOORS = (1e-12, 1e-8, 1e-5, 1e-3, 1e-1, 10.0, 1e3)
_SHARPEST = 1e-10  # of the largest target: the smoothing of corners below which nothing is gained
_STEEP = 0.1  # how it falls
_NEAR = 1e3  # times the rounding of Zᵀα: what `balanced` may leave of it; bounds are charged with it
FAR = 1e6  # times that: Zᵀα ≠ 0 for another reason than rounding
_ROUNDING = 64.0 * EPS  # of Σ|α||z|: what Zᵀα = 0 means


def basis(Z: Array) -> Array:
    """(n, r): an orthonormal basis of the columns of Z, r their rank."""
    Q, R, _ = qr(Z, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(R))
    return np.ascontiguousarray(Q[:, sizes > _DEPENDENT * max(float(sizes.max(initial=0.0)), 1e-300)])


def residual(alpha: Array, Z: Array) -> float:
    """Return how far α (n,) is from Zᵀα = 0, in units of rounding: at most 1 where it holds."""
    size = _ROUNDING * (np.abs(Z).T @ np.abs(alpha))
    return float(np.max(np.abs(Z.T @ alpha) / np.maximum(size, 1e-300), initial=0.0))


def leak(alpha: Array, b: Array, Z: Array) -> float:
    """Return |αᵀZγ|, which a gap at α lacks: 0 where Zᵀα = 0; ∞ where rounding cannot be the reason."""
    return abs(float(alpha @ b)) if residual(alpha, Z) <= FAR else np.inf


def balanced(alpha: Array, lo: Array, hi: Array, cost: Array, Z: Array) -> Array:
    """The point nearest to α with Zᵀα = 0 and lo ≤ α ≤ hi, by Σ (·)²/cost; 0 where rounding finds none.

    It is clip(α − cost ∘ Zλ) where Zᵀ of it vanishes: an equation in the r multipliers λ, piecewise linear
    and the gradient of a concave function. Newton's method is exact once it is on the right piece.
    """
    multiplier, scale = np.zeros(Z.shape[1]), float(cost @ (Z * Z).sum(axis=1)) / Z.shape[1]
    raw = alpha
    a = np.clip(raw, lo, hi)
    off = residual(a, Z)
    for _ in range(_STEPS):
        if off <= 1.0:
            break
        pull = Z.T @ a
        value = _distance(alpha, a, cost) + float(multiplier @ pull)
        free = (raw > lo) & (raw < hi)
        step = solved((Z[free] * cost[free, None]).T @ Z[free], pull, _FLOOR * scale)
        for halving in range(_HALVINGS):
            trial = multiplier + 0.5**halving * step
            moved = alpha - cost * (Z @ trial)
            b = np.clip(moved, lo, hi)
            left = residual(b, Z)
            # concave in λ: upwards, or nearer to Zᵀα = 0 where rounding hides that
            if left < 0.5 * off or _distance(alpha, b, cost) + float(trial @ (Z.T @ b)) > value:
                break
        else:
            break
        multiplier, raw, a, off = trial, moved, b, left
    return a if off <= _NEAR else np.zeros_like(alpha)


def _distance(alpha: Array, a: Array, cost: Array) -> float:
    return 0.5 * float(np.sum((a - alpha) ** 2 / cost))


def solved(J: Array, right: Array, floor: float) -> Array:
    """J⁻¹ right for a small J ≥ 0, whose eigenvalues are taken for at least `floor`."""
    values, E = np.linalg.eigh(0.5 * (J + J.T))
    return np.asarray(E @ ((E.T @ right).T / np.maximum(values, max(floor, 1e-300))).T)


def offset(
    loss: Loss,
    y: Array,
    score: Array,
    C: Array,
    Z: Array,
    sharpest: float = _SHARPEST,
    begin: Array | float = 0.0,
) -> Array:
    """(n,): Zγ with the γ that minimises Σ C ℓ(y, score + Zγ), by Newton's method from Zγ = `begin`.

    Losses with corners are smoothed (`losses/smoothed.py`), and less so down to `sharpest` times the targets.
    """
    b = np.zeros(y.size) + begin
    if loss.smooth:
        return _newton(loss, y, score, C, Z, b)
    size = float(np.abs(y).max(initial=0.0)) or 1.0
    mu = size
    while mu > sharpest * size:
        b = _newton(Smoothed(loss, mu), y, score, C, Z, b)
        mu *= _STEEP
    return b


def _newton(loss: Loss, y: Array, score: Array, C: Array, Z: Array, b: Array) -> Array:
    """Steps are shortened, and curvatures raised where no sample has any, until the loss falls."""
    value, mean = float(C @ loss.value(y, score + b)), float(C.mean())
    for _ in range(_STEPS):
        g, W = Z.T @ (C * loss.gradient(y, score + b)), C * loss.hessian(y, score + b)
        J = (Z * W[:, None]).T @ Z
        for floor in _FLOORS:
            along = -(Z @ solved(J, g, floor * mean))
            slope, t = float(along @ (C * loss.gradient(y, score + b))), 1.0
            if not -slope > 1e-14 * value:
                return b
            while not (after := float(C @ loss.value(y, score + b + t * along))) < value + 1e-4 * t * slope:
                t *= 0.25
                if t < 1e-2:
                    break
            else:
                break
        else:
            return b
        b, value = b + t * along, after
    return b


def projected_on(factor: NDArray[np.float64], root: Array, Z: Array) -> Array:
    """(s, r): an orthonormal basis of L⁻¹DZ, the directions that γ absorbs (`Sensitivity`)."""
    right = (root[:, None] * Z).astype(factor.dtype, copy=False)
    return basis(np.asarray(solve_triangular(factor, right, lower=True, check_finite=False), dtype=float))


def absorbed(V: Array, root: Array, Z: Array, off: Array) -> Array:
    """Δγ with M Δγ = off, M = (DZ)ᵀA⁻¹DZ, given V = A⁻¹DZ: by how much γ moves where Zᵀα is `off`.

    Directions that no sample on the support feels have M = 0; there γ stays (`offset` moves it).
    """
    M = (root[:, None] * Z).T @ V
    values, E = np.linalg.eigh(0.5 * (M + M.T))
    felt = values > _FLOOR * max(float(values[-1]), 1e-300)
    E = E[:, felt]
    return np.asarray(E @ ((E.T @ off).T / values[felt]).T)

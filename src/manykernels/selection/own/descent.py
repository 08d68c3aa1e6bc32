"""Weights and C of one target, moved downhill on its exact leave-one-out error.

The machine without sample i misses it by e_i = α_i/P_ii, with P = (B_θ + λI)⁻¹ seen from the samples and
α = PDy. Errors depend on ψ = θ/λ alone. With λ = 1, d = diag P, u = e/d and w = e α/d²,

    L(ψ) = Σ_i e_i²,      ∂L/∂ψ_m = ⟨T, B_m⟩,      T = 2 P diag(w) P − Pu αᵀ − α (Pu)ᵀ,

since ∂P/∂ψ_m = −P B_m P. Candidates that all targets share come near to the minimum; where targets are few,
this goes on from there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .criteria import coefficients, inverse_diagonal
from .ridge import Array, Ridge

_FLOOR = 1e-3  # of the largest: where weights of zero begin
_LEAST = 1e-3  # of the largest: weights below it are tried without
_SAME = 1e-4  # relative: errors that do not tell weights from none
_RANGE = 14.0  # how far log ψ may fall


def slope(ridge: Ridge, white: Array, psi: Array) -> tuple[float, Array]:
    """L and its derivatives (M,) for one target D(y − mean), given as a column."""
    spectrum, lam = ridge.spectrum(psi), np.ones(1)
    alpha = coefficients(ridge, spectrum, white, lam)[:, 0]
    d = inverse_diagonal(ridge, spectrum, lam)[:, 0]
    e = alpha / d
    V, S = ridge.basis.outward(spectrum.U), 1.0 / (spectrum.d + 1.0)
    T = 2.0 * (S[:, None] * ((V.T * (e * alpha / d**2)) @ V) * S)
    outer = np.outer(S * (V.T @ (e / d)), S * (spectrum.U.T @ ridge.basis.inward(white))[:, 0])
    T -= outer + outer.T
    return float(e @ e), ridge.against(spectrum, T)


def descend(
    ridge: Ridge, y: Array, theta: Array, C: float, most: float, evaluations: int
) -> tuple[Array, float]:
    """Weights on the simplex and C ≤ `most` of a target (n, 1), with an error no larger than at the start."""
    white, useful = ridge.whitened(y), np.flatnonzero(~ridge.useless)
    white /= np.linalg.norm(white)
    high = np.log(most / useful.size)
    begin = np.minimum(np.log(C * np.maximum(theta[useful], _FLOOR * theta.max())), high)

    def spread(x: Array) -> Array:
        psi = np.zeros(theta.size)
        psi[useful] = np.exp(x)
        return psi

    def loss(x: Array) -> tuple[float, Array]:
        psi = spread(x)
        value, slopes = slope(ridge, white, psi)
        return value, (slopes * psi)[useful]

    found = minimize(
        loss,
        begin,
        jac=True,
        method="L-BFGS-B",
        bounds=[(x - _RANGE, high) for x in begin],
        options={"maxfun": evaluations, "maxiter": evaluations},
    )
    trials = [(spread(found.x), float(found.fun))]
    pruned = np.where(trials[0][0] < _LEAST * trials[0][0].max(), 0.0, trials[0][0])
    for psi in (pruned, C * theta):
        trials.append((psi, error(ridge, white, psi)))
    best, least = trials[0]
    if trials[1][1] <= least * (1.0 + _SAME):
        best, least = trials[1]
    if trials[2][1] <= least:
        best = trials[2][0]
    return best / best.sum(), float(best.sum())


def error(ridge: Ridge, white: Array, psi: Array) -> float:
    """L."""
    spectrum, lam = ridge.spectrum(psi), np.ones(1)
    missed: NDArray[np.float64] = coefficients(ridge, spectrum, white, lam)
    return float(np.sum((missed / inverse_diagonal(ridge, spectrum, lam)) ** 2))

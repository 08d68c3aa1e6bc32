"""The ball around a prior weighting (Rostamizadeh 2010, Eq. 2.11)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from .._arguments import as_numbers, shown
from ._newton import shifted_cubic
from .base import ROUNDING, FloatArray, Penalty, norm2, scaled

_SMALLEST = 1e-100  # whose square is a number too
_LARGEST = 1e15  # weights beyond it leave no digit for the others


class L2Ball(Penalty):
    """The ball around a prior weighting, Θ = {θ ≥ 0, ‖θ − μ₀‖₂ ≤ Λ}.

    The learned weights stay near μ₀, for example near the uniform weights, unless the data speak against it.
    The dual has h*(q) = μ₀ᵀq + Λ‖q‖₂, attained at θ = μ₀ + Λ q/‖q‖₂.

    Parameters
    ----------
    mu0 : float or array-like of shape (n_kernels,), default=0.0
        The prior weights μ₀ ≥ 0, one number for all kernels or one for each. With 0 the set is that of
        ``norm=2.0`` times the radius.
    radius : float, default=1.0
        The radius Λ ≥ 0, how far the weights may move. 0 keeps the prior weights; a larger radius follows the
        data more, and also allows larger weights, which regularise less.

    See Also
    --------
    LpBall : The set of ‖θ‖_p ≤ 1.
    manykernels.NonlinearMKLRegressor : Polynomial combinations with weights in this set.

    References
    ----------
    Cortes, Mohri & Rostamizadeh (2009), "L2 regularization for learning kernels", UAI.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Eq. 2.11 and Theorem 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import rank_one
    >>> from manykernels.penalties import L2Ball
    >>> X = np.random.RandomState(0).randn(50, 4)
    >>> model = MKLRegressor(rank_one(), norm=L2Ball(mu0=0.5, radius=0.1), tol=1e-8).fit(X, X[:, 2])
    >>> model.weights_.round(1).tolist()
    [0.5, 0.5, 0.6, 0.5]
    """

    def __init__(self, mu0: ArrayLike = 0.0, radius: float = 1.0) -> None:
        self.mu0 = mu0
        self.radius = radius

    def centre_and_radius(self, M: int) -> tuple[FloatArray, float]:
        """Return the prior weights μ₀ of all kernels, and the radius Λ, checked.

        Parameters
        ----------
        M : int
            Number of kernels.

        Returns
        -------
        mu0 : ndarray of shape (M,)
            The prior weights.
        radius : float
            The radius.

        Examples
        --------
        >>> from manykernels.penalties import L2Ball
        >>> mu0, radius = L2Ball(mu0=0.5, radius=0.1).centre_and_radius(3)
        >>> mu0.tolist(), radius
        ([0.5, 0.5, 0.5], 0.1)
        """
        mu0 = as_numbers(self.mu0, "mu0 of L2Ball", "one number ≥ 0, or one per kernel")
        if mu0.dtype.kind == "c":
            raise ValueError("mu0 of L2Ball holds complex numbers; expected weights ≥ 0.")
        mu0 = mu0.astype(np.float64)
        if mu0.ndim > 1 or mu0.size not in (1, M):
            raise ValueError(
                f"mu0 of shape {mu0.shape} was given to L2Ball: expected one number, or {M}, one per kernel."
            )
        if not np.all((mu0 >= 0) & (mu0 <= _LARGEST)):
            raise ValueError(
                f"mu0={shown(self.mu0)} was given to L2Ball: expected finite weights ≥ 0, up to {_LARGEST:g}."
            )
        if self.radius != 0 and not _SMALLEST <= self.radius <= _LARGEST:
            raise ValueError(
                f"radius={self.radius!r} was given to L2Ball: expected a finite number ≥ 0, either 0 or from "
                f"{_SMALLEST:g} to {_LARGEST:g}."
            )
        return np.broadcast_to(mu0, (M,)).copy(), float(self.radius)

    def value(self, theta: FloatArray) -> float:
        mu0, radius = self.centre_and_radius(theta.size)
        slack = ROUNDING * max(radius, float(np.max(mu0)))
        return 0.0 if np.all(theta >= -slack) and norm2(theta - mu0) <= radius + slack else np.inf

    def conjugate(self, q: FloatArray) -> tuple[float, FloatArray]:
        """μ₀ᵀq + Λ‖q‖, attained at θ = μ₀ + Λ q/‖q‖ (Rostamizadeh 2010, Theorem 2.1)."""
        mu0, radius = self.centre_and_radius(q.size)
        s, x = scaled(q)
        if s == 0:
            return 0.0, self.start(q.size)
        norm = float(np.linalg.norm(x))
        return s * (float(mu0 @ x) + radius * norm), mu0 + (radius / norm) * x

    def project(self, v: FloatArray) -> FloatArray:
        """θ = (μ₀ + τ (v − μ₀))₊ with the largest τ ≤ 1 that stays in the ball."""
        mu0, radius = self.centre_and_radius(v.size)
        inside = np.maximum(v, 0.0)
        if radius == 0 or norm2(inside - mu0) <= radius:
            return mu0 if radius == 0 else inside
        return np.maximum(mu0 + radius * _step_to_sphere((v - mu0) / radius, mu0 / radius), 0.0)

    def closed_form(self, a: FloatArray) -> FloatArray:
        """θ = μ₀ + δ with (μ₀ + δ)² δ = s a² and ‖δ‖ = Λ: one search in log s, a cubic per kernel inside it.

        δ grows with s, and the largest δ is between Λ/√M and Λ, which brackets s.
        """
        mu0, radius = self.centre_and_radius(a.size)
        positive = a > 0
        if radius == 0 or not np.any(positive):
            return mu0 if radius == 0 else self.start(a.size)
        log_a2, mu = 2.0 * np.log(a[positive]), mu0[positive]

        def excess(log_s: float) -> float:
            return float(np.log(norm2(shifted_cubic(log_s + log_a2, mu, 1, 2)) / radius))

        ends = [
            np.min(2.0 * np.log(mu + d) + np.log(d) - log_a2) for d in (radius / math.sqrt(mu.size), radius)
        ]
        log_s = brentq(excess, ends[0] - 1.0, ends[1] + 1.0, xtol=1e-13, rtol=1e-15)
        delta = shifted_cubic(log_s + log_a2, mu, 1, 2)
        theta = mu0.copy()
        theta[positive] += delta * (radius / norm2(delta))
        return theta

    def group_norm(self, a: FloatArray) -> float:
        """Σ a²/θ at the closed form."""
        theta, positive = self.closed_form(a), a > 0
        with np.errstate(divide="ignore"):
            return float(np.sum(a[positive] * (a[positive] / theta[positive])))

    def start(self, M: int) -> FloatArray:
        mu0, radius = self.centre_and_radius(M)
        return mu0 + radius / math.sqrt(M)

    def constraint(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ψ(θ) = ½ (‖θ − μ₀‖² − Λ²)."""
        mu0, radius = self.centre_and_radius(theta.size)
        delta = theta - mu0
        psi = 0.5 * (float(delta @ delta) - radius * radius)
        return np.array([psi]), delta[None], np.ones((1, theta.size))

    @property
    def sparse(self) -> bool:
        return False

    @property
    def fixed(self) -> bool:
        return self.radius == 0

    def interior(self, theta: FloatArray) -> FloatArray:
        """Move towards μ₀ and a little of everything, which is inside for μ₀ ≥ 0."""
        mu0, _ = self.centre_and_radius(theta.size)
        return mu0 + 0.95 * (0.9 * (theta - mu0) + 0.1 * (self.start(theta.size) - mu0))

    def stretch(self, theta: FloatArray) -> FloatArray:
        """Grow the part of θ above μ₀ to norm Λ, and fill up the part below: no weight shrinks."""
        mu0, radius = self.centre_and_radius(theta.size)
        delta = np.maximum(theta - mu0, 0.0)
        norm = norm2(delta)
        return mu0 + (radius * (delta / norm) if norm > 0 else delta)


def _step_to_sphere(d: FloatArray, m: FloatArray) -> FloatArray:
    """δ = max(τ d, −m) with ‖δ‖ = 1, for m ≥ 0: exact, by sorting the τ at which entries reach −m.

    Up to τ_k = the k-th of those, ‖δ‖² = Σ_{j<k} m_j² + τ² Σ_{j≥k} d_j².
    """
    m = np.minimum(m, 2.0)  # no entry of δ goes below −1
    d = d / np.max(np.abs(d))
    tau = np.full_like(d, np.inf)
    np.divide(-m, d, out=tau, where=d < 0)
    order = np.argsort(tau)
    reached = np.concatenate([[0.0], np.cumsum(m[order] ** 2)])
    moving = np.concatenate([np.cumsum((d[order] ** 2)[::-1])[::-1], [0.0]])
    finite = np.isfinite(tau[order])
    norms = reached[:-1][finite] + (tau[order][finite] * np.sqrt(moving[:-1][finite])) ** 2
    k = int(np.searchsorted(norms, 1.0))
    return np.maximum(math.sqrt((1.0 - reached[k]) / moving[k]) * d, -m)

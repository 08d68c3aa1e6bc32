"""‖θ‖_p ≤ 1: the norms of MKL, from sparse (p = 1) to the plain sum of kernels (p = ∞)."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from ._newton import convex_root
from .base import ROUNDING, FloatArray, Penalty, scaled

_INFINITE = 1e12  # p from which ‖θ‖_p is the largest weight to the last digits that matter
_POTENTIAL = 1.05  # p below which the potential ½‖θ‖_p² maps weights of use to less than the smallest number


class LpBall(Penalty):
    """The weights of ‖θ‖_p ≤ 1, Θ = {θ ≥ 0, ‖θ‖_p ≤ 1}; the shorthand is ``norm=p``.

    Parameters
    ----------
    p : float, default=2.0
        The norm, 1 ≤ p ≤ ∞. p = 1 selects few kernels; a larger p spreads the weights; p = ∞ is the plain sum
        of kernels, all of weight 1.

    See Also
    --------
    Simplex : The ball of p = 1.
    L2Ball : The ball around a prior weighting.

    Notes
    -----
    This is the p of Kloft et al. (2011). Afkanpour (2013) writes ν for it: the group norm p̃ of w there is
    p̃ = 2ν/(1 + ν), so that p̃ = 4/3 is ``norm=2``.

    References
    ----------
    Kloft, Brefeld, Sonnenburg & Zien (2011), "lp-norm multiple kernel learning", Journal of Machine Learning
    Research 12.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.penalties import LpBall
    >>> LpBall(2.0).closed_form(np.array([1.0, 8.0])).round(3).tolist()
    [0.243, 0.97]
    """

    p: float

    def __init__(self, p: float = 2.0) -> None:
        self.p = p

    def _p(self) -> float:
        if not (isinstance(self.p, Real) and self.p >= 1.0):
            raise ValueError(
                f"p={self.p!r} was given to LpBall: expected a number from 1 (sparse) to np.inf (sum)."
            )
        return float(self.p) if self.p < _INFINITE else np.inf

    def _norm(self, theta: FloatArray) -> float:
        """‖θ₊‖_p."""
        p = self._p()
        return float(np.max(theta, initial=0.0)) if p == np.inf else _norm(theta, p)

    def value(self, theta: FloatArray) -> float:
        return 0.0 if np.all(theta >= -ROUNDING) and self._norm(theta) <= 1.0 + ROUNDING else np.inf

    def conjugate(self, q: FloatArray) -> tuple[float, FloatArray]:
        """‖q‖_r with r = p/(p − 1), attained at θ = q^{r−1}/‖q‖_r^{r−1}."""
        p, (s, x) = self._p(), scaled(q)
        if s == 0 or p == np.inf:
            return s * float(np.sum(x)), self.start(x.size)
        if p == 1:
            theta = np.zeros_like(x)
            theta[np.argmax(x)] = 1.0
            return s, theta
        r = p / (p - 1.0)
        total = np.sum(x**r)
        return s * math.pow(total, 1.0 / r), x ** (1.0 / (p - 1.0)) / math.pow(total, 1.0 / p)

    def project(self, v: FloatArray) -> FloatArray:
        p, v = self._p(), np.maximum(v, 0.0)
        if p == np.inf:
            return np.minimum(v, 1.0)
        norm = self._norm(v)
        if norm <= 1.0:
            return v
        if p == 1:
            return _project_simplex(v)
        return v / norm if p == 2 else _project_lp(v, p)

    def closed_form(self, a: FloatArray) -> FloatArray:
        """Take Kloft's update θ = a^{2/(p+1)} / (Σ a^{2p/(p+1)})^{1/p}; the plain sum at p = ∞."""
        p, (s, x) = self._p(), scaled(a)
        if s == 0 or p == np.inf:
            return self.start(x.size)
        x = x ** (2.0 / (p + 1.0))
        return x / self._norm(x)

    def group_norm(self, a: FloatArray) -> float:
        """‖a‖_e² with e = 2p/(p + 1)."""
        norm = _norm(a, 2.0 / (1.0 + 1.0 / self._p()))
        return norm * norm

    def start(self, M: int) -> FloatArray:
        """The point of equal weights with norm 1."""
        return np.full(M, float(M) ** (-1.0 / self._p()))

    def constraint(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """ψ(θ) = Σ θ^p − 1 (for 1 < p < 2 its curvature is infinite at θ = 0); None at p = ∞: see `upper`."""
        p = self._p()
        if p == np.inf:
            return None
        if p == 1:
            return np.array([np.sum(theta) - 1.0]), np.ones((1, theta.size)), np.zeros((1, theta.size))
        with np.errstate(divide="ignore", over="ignore"):
            curvature = p * (p - 1.0) * theta ** (p - 2.0)
            return np.array([np.sum(theta**p) - 1.0]), p * theta[None] ** (p - 1.0), curvature[None]

    @property
    def upper(self) -> float:
        """1 at p = ∞. For large p just outside the ball, so that θ^p stays of order one on the way to it."""
        p = self._p()
        return 1.0 + 1.0 / p if p > 2.0 else np.inf

    @property
    def sparse(self) -> bool:
        return self._p() == 1.0

    @property
    def fixed(self) -> bool:
        return self._p() == np.inf

    def entry(self, q: FloatArray) -> float:
        """At p = 1 only the kernels of the largest q have weight."""
        return float(np.max(q, initial=0.0)) if self.sparse else 0.0

    def interior(self, theta: FloatArray) -> FloatArray:
        """The ball is convex and contains 0; for large p the factor shrinks Σθ^p, not θ, to 0.95."""
        p = self._p()
        shrink = 0.95 ** (1.0 / p) if p > 2.0 else 0.95
        return shrink * (0.9 * theta + 0.1 * self.start(theta.size))

    @property
    def potential(self) -> float:
        p = self._p()
        return p if _POTENTIAL <= p <= 2.0 else 2.0

    def mirror_step(self, theta: FloatArray, g: FloatArray, eta: float) -> FloatArray:
        """Step by Ψ = ½‖·‖_p² for 1 < p < 2, (p−1)-strongly convex in ‖·‖_p whatever the dimension.

        ∇Ψ(θ) = ‖θ‖_p^{2−p} θ^{p−1} has the inverse ∇Ψ*(u) = ‖u‖_r^{2−r} u^{r−1}, r = p/(p−1), and ‖∇Ψ(θ)‖_r =
        ‖θ‖_p. The minimiser over θ ≥ 0 is θ̃ = ∇Ψ*((∇Ψ(θ) − ηg)₊), because ∇Ψ vanishes where θ does. ∇Ψ is
        homogeneous of degree one, so that (1 + λ)∇Ψ(θ') = ∇Ψ(θ̃), the condition of the nearest point of the
        ball, has the solution θ' = θ̃/‖θ̃‖_p. Other norms, and p next to 1, step by Euclidean projection.
        """
        p = self.potential
        if p == 2.0:
            return super().mirror_step(theta, g, eta)
        s, x = scaled(theta)
        u = s * math.pow(_norm(x, p), 2.0 - p) * x ** (p - 1.0) if s > 0 else x
        s, x = scaled(u - eta * g)
        if s == 0:
            return x
        r = p / (p - 1.0)
        norm = _norm(x, r)
        return min(s * norm, 1.0) * x ** (r - 1.0) / math.pow(norm, r - 1.0)

    def stretch(self, theta: FloatArray) -> FloatArray:
        s, x = scaled(theta)
        return theta if s == 0 else x / self._norm(x)


class Simplex(LpBall):
    """The weights of Σθ ≤ 1, Θ = {θ ≥ 0, Σθ ≤ 1}: the ball of p = 1, whose solutions are sparse.

    The shorthand is ``norm=1``.

    See Also
    --------
    LpBall : Other norms.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan (2004), "Learning the kernel matrix with semidefinite
    programming", Journal of Machine Learning Research 5.

    Bach, Lanckriet & Jordan (2004), "Multiple kernel learning, conic duality, and the SMO algorithm", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.penalties import Simplex
    >>> Simplex().conjugate(np.array([1.0, 3.0]))[0]
    3.0
    """

    p = 1.0

    def __init__(self) -> None:
        pass


def _project_simplex(v: FloatArray) -> FloatArray:
    """max(v − τ, 0) with sum 1, by sorting; v is shifted by its maximum, which large entries need."""
    v = v - np.max(v)
    u = np.sort(v)[::-1]
    tau = (np.cumsum(u) - 1.0) / np.arange(1, u.size + 1)
    return np.maximum(v - float(tau[np.count_nonzero(u > tau) - 1]), 0.0)


def _project_lp(v: FloatArray, p: float) -> FloatArray:
    """The θ with θ + c θ^{p−1} = v and Σθ^p = 1, for v ≥ 0 outside the ball, 1 < p < ∞.

    The search is over t = the largest weight, M^{−1/p} ≤ t ≤ 1; c follows from it, and ‖θ‖ increases with it.
    For given c and x = log θ, log(e^x + c e^{(p−1)x}) = log v is convex and increasing in x, and at
    x = min(log v, log(v/c)/(p − 1)) its left-hand side is above log v by at most log 2.
    """
    theta, positive = np.zeros_like(v), v > 0
    v = v[positive]
    log_v, v_max = np.log(v), float(np.max(v))

    def weights(t: float) -> FloatArray:
        log_c = np.log((v_max - t) / t ** (p - 1.0)) if t < v_max else -np.inf

        def function(x: FloatArray) -> tuple[FloatArray, FloatArray]:
            share = expit(log_c + (p - 2.0) * x)
            return np.logaddexp(x, log_c + (p - 1.0) * x) - log_v, 1.0 + (p - 2.0) * share

        return np.exp(convex_root(function, np.minimum(log_v, (log_v - log_c) / (p - 1.0))))

    def excess(t: float) -> float:
        return math.log(_norm(weights(t), p))

    lo, hi = (1.0 - 1e-9) * v.size ** (-1.0 / p), min(1.0, v_max)
    t = brentq(excess, lo, hi, xtol=1e-300, rtol=1e-15) if excess(hi) > 0 else hi
    theta[positive] = weights(t)
    return theta / _norm(theta, p)


def _norm(x: FloatArray, p: float) -> float:
    """‖x₊‖_p without overflow or underflow, p < ∞."""
    s, x = scaled(x)
    return s * math.pow(np.sum(x**p), 1.0 / p)

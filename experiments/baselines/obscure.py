"""OBSCURE: p-norm learning of kernels in two stages, the rival of UFO-MKL in Orabona & Jie 2011, §5.3.

Orabona, Jie and Caputo, Online-Batch Strongly Convex Multi Kernel Learning, CVPR 2010 (and JMLR 13, 2012).
Minimises, like UFO-MKL at α = 0,

    f(w) = ½ λ ‖w‖²_{2,p} + (1/N) Σ_i max_{c ≠ y_i} (1 − ⟨w, φ(x_i, y_i) − φ(x_i, c)⟩)₊,    1/p + 1/q = 1,

by mirror descent with h(w) = ½ q ‖w‖²_{2,p}, which is strongly convex for ‖·‖_{2,p} with modulus
q(p − 1) ≥ 1. Then w = ∇h*(θ), that is w^j = s_j θ^j with s_j = (‖θ^j‖/‖θ‖_{2,q})^{q−2}/q, and
‖w‖_{2,p} = ‖θ‖_{2,q}/q. With z = φ(x_i, y_i) − φ(x_i, ĉ) for the worst rival ĉ, or 0 where no margin is
violated:

1. online, at most 5 passes or until one changes nothing: θ ← θ + η z with η = F^{−2/q}. Its end w₁ bounds
   the solution: ½ λ ‖w*‖² ≤ f(w*) ≤ f(w₁), so ‖w*‖_{2,p} ≤ R with R² = 2 min(f(w₁), f(0))/λ.
2. batch, step t = 1, 2, …: the gradient of ½ λ ‖w‖² is λ θ/q, so that θ ← (1 − η_t λ/q) θ + η_t z, and then
   θ ← θ min(1, qR/‖θ‖_{2,q}), the Bregman projection on the ball of radius R. f is strongly convex relative
   to h with modulus λ/q, so steps of η_t = q/(λt) would do in the end, but the first ones would throw w₁
   away. A proximal term (Do, Le and Foo 2009; Bartlett, Hazan and Rakhlin 2007) damps them:
   η_t = q/(λt + τ_1 + … + τ_t), where τ_t evens out what it costs, τ (2R)², and what is left, qG²/(d + τ):
   τ_t (d + τ_t) = qG²/(4R²) with d = λt + τ_1 + … + τ_{t−1} and G = λ ‖θ‖_{2,q}/q + ‖z‖_{2,q} ≥ ‖∂f‖_{2,q}.

Samples go by in a new random order in every pass. All Gram matrices are stored, and the scores of all samples
under every θ^j are kept up to date, so that a step without violation reads no kernel; factors of θ are kept
apart as a number u. The loops are compiled, as those of the package are: times are to be compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from manykernels.losses import MulticlassHinge

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
ONLINE = 5  # passes, at most


class Obscure:
    """θ = u θ̃ with θ̃^j = Σ_i φ^j(x_i) ⊗ coef[:, i], its scores Z (F, k, N), squares ‖θ̃^j‖², and s."""

    def __init__(self, stack: Array, y: Codes, lam: float, q: float, online: int = ONLINE) -> None:
        F, n, _ = stack.shape
        k = int(y.max()) + 1
        self.stack, self.y, self.lam, self.q = stack, y, lam, q
        self.Z, self.coef = np.zeros((F, k, n)), np.zeros((k, n))
        self.squares, self.s = np.zeros(F), np.zeros(F)
        self.left = online  # passes of the first stage
        self.state = np.array([1.0, 0.0, 0.0])  # u, t, Σ τ
        self.radius = np.inf
        roots = np.sqrt(np.diagonal(stack, axis1=1, axis2=2))  # ‖φ^j(x_i)‖
        self.slope = float(np.sqrt(2.0) * np.max(norm(roots, q)))  # the largest ‖z‖_{2,q}

    def advance(self, order: Codes) -> None:
        """One pass over the samples in this order, of the stage that it is in."""
        given: Any = (self.stack, self.y, order, self.Z, self.coef, self.squares, self.s, self.q)
        if self.left:
            moved = _online(*given, len(self.squares) ** (-2.0 / self.q))
            self.left = self.left - 1 if moved else 0
            if not self.left:
                self.radius = float(np.sqrt(2.0 * min(self.objective, 1.0) / self.lam))
            return
        if not np.isfinite(self.radius):  # there was no first stage
            self.radius = float(np.sqrt(2.0 / self.lam))
        _batch(*given, self.state, self.lam, self.radius, self.slope)

    @property
    def norms(self) -> Array:
        """(F,): ‖w^j‖."""
        return np.asarray(self.state[0] * self.s * np.sqrt(np.maximum(self.squares, 0.0)))

    @property
    def objective(self) -> float:
        """f(w)."""
        scores = self.state[0] * np.einsum("j,jkn->nk", self.s, self.Z)
        size = norm(self.norms, self.q / (self.q - 1.0))
        return float(0.5 * self.lam * size**2 + MulticlassHinge().value(self.y, scores).mean())

    def decide(self, stack: Array) -> Array:
        """(m, k): scores of samples given by their kernels (F, m, N) with the N samples of before."""
        K = np.einsum("j,jmn->mn", self.s, stack)
        return np.asarray(self.state[0] * (K @ self.coef.T))


def norm(x: Array, p: float) -> Any:
    """‖x‖_p of x ≥ 0 along the first axis, without overflow."""
    top = np.maximum(x.max(axis=0), 1e-300)
    return top * ((x / top) ** p).sum(axis=0) ** (1.0 / p)


@njit(cache=True, nogil=True)
def _weigh(squares: Array, q: float, s: Array) -> float:
    """s_j = (‖θ^j‖/‖θ‖_{2,q})^{q−2}/q, which no factor of θ changes; returns ‖θ‖_{2,q}."""
    top = np.sqrt(max(squares.max(), 0.0))
    if top == 0.0:
        s[:] = 0.0
        return 0.0
    total = 0.0
    for j in range(s.size):
        total += (np.sqrt(max(squares[j], 0.0)) / top) ** q
    length = top * total ** (1.0 / q)
    for j in range(s.size):
        s[j] = (np.sqrt(max(squares[j], 0.0)) / length) ** (q - 2.0) / q
    return length


@njit(cache=True, nogil=True)
def _rival(Z: Array, s: Array, u: float, i: int, own: int, f: Array) -> int:
    """The worst of the other classes where it comes within a margin of 1, else −1."""
    f[:] = 0.0
    for j in range(s.size):
        if s[j] != 0.0:
            for c in range(f.size):
                f[c] += s[j] * Z[j, c, i]
    worst = -1
    for c in range(f.size):
        if c != own and (worst < 0 or f[c] > f[worst]):
            worst = c
    return worst if u * (f[own] - f[worst]) < 1.0 else -1


@njit(cache=True, nogil=True)
def _add(
    stack: Any, Z: Array, coef: Array, squares: Array, i: int, own: int, rival: int, step: float
) -> None:
    """θ̃ += step · z: the coefficients, the norms and the scores of all samples."""
    coef[own, i] += step
    coef[rival, i] -= step
    for j in range(squares.size):
        row = stack[j, i]
        squares[j] += 2.0 * step * (Z[j, own, i] - Z[j, rival, i]) + 2.0 * step * step * row[i]
        up, down = Z[j, own], Z[j, rival]
        for a in range(row.size):
            up[a] += step * row[a]
            down[a] -= step * row[a]


@njit(cache=True, nogil=True)
def _online(
    stack: Any,
    y: Codes,
    order: Codes,
    Z: Array,
    coef: Array,
    squares: Array,
    s: Array,
    q: float,
    step: float,
) -> int:
    """A pass of the first stage; how many samples changed θ."""
    f, moved = np.empty(Z.shape[1]), 0
    for i in order:
        rival = _rival(Z, s, 1.0, i, y[i], f)
        if rival >= 0:
            _add(stack, Z, coef, squares, i, y[i], rival, step)
            _weigh(squares, q, s)
            moved += 1
    return moved


@njit(cache=True, nogil=True)
def _batch(
    stack: Any,
    y: Codes,
    order: Codes,
    Z: Array,
    coef: Array,
    squares: Array,
    s: Array,
    q: float,
    state: Array,
    lam: float,
    radius: float,
    slope: float,
) -> None:
    """A pass of the second stage; u, t and Σ τ are in `state`."""
    f = np.empty(Z.shape[1])
    u, t, damping = state
    length = u * _weigh(squares, q, s)
    for i in order:
        t += 1.0
        rival = _rival(Z, s, u, i, y[i], f)
        G = lam * length / q + (slope if rival >= 0 else 0.0)
        d = lam * t + damping
        damping += 0.5 * (np.sqrt(d * d + q * (G / radius) ** 2) - d)
        rate = 1.0 / (lam * t + damping)
        u *= 1.0 - rate * lam
        length *= 1.0 - rate * lam
        if u < 1e-100:
            Z *= u
            coef *= u
            squares *= u * u
            u = 1.0
        if rival >= 0:
            _add(stack, Z, coef, squares, i, y[i], rival, q * rate / u)
            length = u * _weigh(squares, q, s)
        if length > q * radius:
            u *= q * radius / length
            length = q * radius
    state[0], state[1], state[2] = u, t, damping

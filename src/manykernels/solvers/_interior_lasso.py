"""Rank-one kernels and a piecewise linear loss at norm 1: an interior-point method in (w, α).

With features Φ (n, m), f = Φw + Zγ (Z the constant, or covariates beside it) and the box of the loss,

    P = ½ (Σ_j |w_j|)² + R(f)
    D = tᵀα − ε‖α‖₁ − ½s²      where |φ_jᵀα| ≤ s,  α = Σ ±x with 0 ≤ x ≤ cap,  Zᵀα = 0

the multipliers of p_j = s − φ_jᵀα ≥ 0 and r_j = s + φ_jᵀα ≥ 0 are u, v ≥ 0 with w = u − v and s = Σ (u + v).
Mehrotra's predictor and corrector steps drive all pairs to zero together. One iteration
factors

    1 + √E ΦᵀHΦ √E,      E = u/p + v/r,      1/H = low/x + high/(cap − x), the curvature of the barrier,

an (m, m) matrix, for n m² operations; the joint method in (α, θ) of `_interior.py` takes several n² m. The
point is kept when kernels join or C changes, so that the next problem begins close to its solution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..machines.barrier import reach
from ..objectives import Box
from ._stopping import goes_on
from .base import Array

_MIXED = 0.1  # of a new start is the middle of the box, so that no bound is near
_ABOVE = 1.02  # times the largest |φᵀα|: where s starts
_SHORT = 0.99  # of the way to the boundary
_ITERATIONS = 60
_LOST = 100.0  # times the smallest gap: from there no iteration finds back
_JAMMED = 1e-6  # of a step: nor from a point that close to the boundary


@dataclass
class Point:
    """x with the multipliers of its bounds, u and v, the level s, and γ."""

    x: Array
    low: Array
    high: Array
    u: Array
    v: Array
    s: float
    gamma: Array

    def moved(self, t: float, d: Point) -> Point:
        """The point at a share t of the way along d."""
        return Point(
            self.x + t * d.x,
            self.low + t * d.low,
            self.high + t * d.high,
            self.u + t * d.u,
            self.v + t * d.v,
            self.s + t * d.s,
            self.gamma + t * d.gamma,
        )


class InteriorLasso:
    """The problem of the columns of Φ, which are handed over at every call."""

    point: Point

    def __init__(self, box: Box, Z: Array) -> None:
        self.target, self.tube, self.Z, self.n = box.target[:, 0], box.tube, Z, len(Z)
        sides = [(sign, np.maximum(cap[:, 0], 0.0)) for sign, cap in ((1.0, box.hi), (-1.0, -box.lo))]
        self.who: NDArray[np.intp] = np.concatenate([np.flatnonzero(cap) for _, cap in sides])
        self.sign = np.concatenate([np.full(np.count_nonzero(cap), sign) for sign, cap in sides])
        self.cap = np.concatenate([cap[cap > 0.0] for _, cap in sides])
        self.up, self.down = (cap for _, cap in sides)
        self.middle, self.slack = 0.5 * self.cap, np.empty(0)
        self.primal = np.inf

    def begin(self, inside: Array | None) -> None:
        """Draw starts towards this α (n,), strictly inside the box with Zᵀα = 0, or to a middle."""
        if inside is None:
            x, up = 0.5 * self.cap, self.sign > 0.0
            sums = x[up].sum(), x[~up].sum()
            if self.Z.size and min(sums) > 0.0:
                x = x * np.where(up, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1]))
            self.middle = x
            return
        own = np.maximum(self.sign * inside[self.who], 0.0)
        room = np.full((2, self.n), np.inf)
        room[(self.sign < 0.0).astype(np.intp), self.who] = self.cap - own
        both = np.isfinite(room).all(axis=0)
        self.middle = own + np.where(both, 0.25 * room.min(axis=0), 0.0)[self.who]

    def sums(self, values: Array) -> Array:
        """Add up values of the variables x by sample."""
        return np.asarray(np.bincount(self.who, values, self.n), dtype=np.float64)

    def alpha_of(self, x: Array) -> Array:
        return self.sums(self.sign * x)

    @property
    def alpha(self) -> Array:
        """(n,): α of the best point."""
        return self.alpha_of(self.point.x)

    @property
    def sharp(self) -> Array:
        """(n,): the same, at a bound where its multiplier outweighs what is left to it."""
        q, size = self.point, max(float(np.abs(self.target).max()), 1e-300)
        x = np.where(q.x * size < q.low * self.cap, 0.0, q.x)
        return self.alpha_of(np.where((self.cap - q.x) * size < q.high * self.cap, self.cap, x))

    @property
    def w(self) -> Array:
        return self.point.u - self.point.v

    def weights(self) -> Array:
        """θ, zero where the multiplier of θ ≥ 0 outweighs it: s − |φᵀα| beside s."""
        theta = np.abs(self.w) / max(float(np.abs(self.w).sum()), 1e-300)
        theta[theta < self.slack / max(self.point.s, 1e-300) / theta.size] = 0.0
        return theta / max(float(theta.sum()), 1e-300)

    # -- starts -----------------------------------------------------------------------------------
    def start(self, Phi: Array) -> None:
        """From the middle of the box, with the same weight for all."""
        x, m = self.middle, Phi.shape[1]
        a = Phi.T @ self.alpha_of(x)
        s = max(_ABOVE * float(np.abs(a).max()), np.sqrt(2.0 * self.loss(self.target)), 1e-100)
        u = np.full(m, 0.5 * s / m)
        tau = 0.5 * s * s / m
        self.point = Point(x, tau / x, tau / (self.cap - x), u, u, s, np.zeros(self.Z.shape[1]))

    def scale(self, factor: float) -> None:
        """Costs are `factor` times as large."""
        self.cap, self.middle = factor * self.cap, factor * self.middle
        self.up, self.down = factor * self.up, factor * self.down
        self.point = replace(self.point, x=factor * self.point.x, s=factor * self.point.s)

    def join(self, Phi: Array, kept: NDArray[np.intp]) -> None:
        """The columns of Φ are those that were kept, and new ones."""
        old, new = self.point, Phi.shape[1] - kept.size
        x = (1.0 - _MIXED) * old.x + _MIXED * self.middle
        u, v = (np.concatenate([values[kept], np.zeros(new)]) for values in (old.u, old.v))
        alpha = self.alpha_of(x)
        a = Phi.T @ alpha
        s = max(old.s, _ABOVE * float(np.abs(a).max()))
        tau = self._distance(Phi, u - v, alpha, a) / (2 * self.cap.size + 2 * Phi.shape[1])
        self.point = Point(
            x,
            np.maximum(old.low, tau / x),
            np.maximum(old.high, tau / (self.cap - x)),
            np.maximum(u, tau / (s - a)),
            np.maximum(v, tau / (s + a)),
            s,
            old.gamma,
        )

    def _distance(self, Phi: Array, w: Array, alpha: Array, a: Array) -> float:
        """P − D at w and the best multiple of α."""
        left = self.target - Phi @ w - self.Z @ self.point.gamma
        fit, top = self.fit(alpha), float(np.abs(a).max(initial=0.0))
        scale = min(1.0, max(fit, 0.0) / max(top * top, 1e-300))
        return 0.5 * float(np.abs(w).sum()) ** 2 + self.loss(left) - scale * (fit - 0.5 * scale * top * top)

    def loss(self, left: Array) -> float:
        """R at the residuals t − f."""
        above, below = np.maximum(left - self.tube, 0.0), np.maximum(-left - self.tube, 0.0)
        return float(self.up @ above + self.down @ below)

    def fit(self, alpha: Array) -> float:
        """−R*(−α)."""
        return float(self.target @ alpha) - self.tube * float(np.abs(alpha).sum())

    # -- iterations -------------------------------------------------------------------------------
    def run(self, Phi: Array, tol: float) -> float:
        """The relative gap of the best point, at most `tol` where rounding allows it."""
        with np.errstate(all="ignore"):  # what is no number ends the iterations
            return self._run(Phi, tol)

    def _run(self, Phi: Array, tol: float) -> float:
        least, best, self.primal, iteration = np.inf, self.point, np.inf, 0
        self.slack = np.zeros(Phi.shape[1])
        while True:
            system = System(self, self.point, Phi)
            gap = system.gap
            if gap < least:
                least, best, self.primal = gap, system.point, system.primal
                self.slack = np.minimum(system.p, system.r)
            if gap <= tol or not gap <= _LOST * least or not goes_on(iteration, _ITERATIONS):
                break
            t = self._advance(system)
            if not t > _JAMMED:
                break
            iteration += 1
        self.point = best
        return least

    def _advance(self, system: System) -> float:
        """One step; how far it went."""
        if not system.factor():
            return 0.0
        straight = system.direction(0.0)
        t = min(1.0, system.reach(straight))
        total, after = system.complementarity(), system.complementarity(t, straight)
        tau = (after / total) ** 3 * total / system.pairs
        d = system.direction(tau, straight)
        t = min(1.0, _SHORT * system.reach(d))
        self.point = system.point.moved(t, d)
        return t if np.all(np.isfinite(self.point.x)) else 0.0


class System:
    """The equations of a step at one point."""

    def __init__(self, problem: InteriorLasso, point: Point, Phi: Array) -> None:
        self.problem, self.Phi = problem, Phi
        self.alpha = problem.alpha_of(point.x)
        self.a = Phi.T @ self.alpha
        top = float(np.abs(self.a).max(initial=0.0))
        self.point = point = replace(point, s=max(point.s, top * (1.0 + 1e-12)))
        self.room, self.p, self.r = problem.cap - point.x, point.s - self.a, point.s + self.a
        self.w = point.u - point.v
        f = Phi @ self.w + problem.Z @ point.gamma
        left = problem.target - f
        self.slope = problem.tube - problem.sign * left[problem.who]
        self.primal = 0.5 * float(np.abs(self.w).sum()) ** 2 + problem.loss(left)
        gap = (self.primal - problem.fit(self.alpha) + 0.5 * top * top) / max(abs(self.primal), 1e-300)
        self.gap = gap if np.isfinite(gap) else np.inf
        self.pairs = 2 * (point.x.size + point.u.size)
        self.change = np.zeros_like(self.a)  # of φᵀα, along the last direction

    def complementarity(self, t: float = 0.0, d: Point | None = None) -> float:
        """The sum of all pairs, at a share t of the way along d."""
        total = 0.0
        for value, other, dvalue, dother in self._complements(d):
            total += float((value + t * dvalue) @ (other + t * dother))
        return total

    def _complements(self, d: Point | None) -> list[tuple[Array, Array, Array, Array]]:
        """The pairs with their changes along the last direction, or along none."""
        q, g = self.point, self.change
        pairs = ((q.x, q.low), (self.room, q.high), (self.p, q.u), (self.r, q.v))
        if d is None:
            return [(x, z, np.zeros_like(x), np.zeros_like(z)) for x, z in pairs]
        changes = ((d.x, d.low), (-d.x, d.high), (d.s - g, d.u), (d.s + g, d.v))
        return [(*pair, *change) for pair, change in zip(pairs, changes, strict=True)]

    def reach(self, d: Point) -> float:
        parts = self._complements(d)
        return min(min(reach(x, dx), reach(z, dz)) for x, z, dx, dz in parts)

    def factor(self) -> bool:
        """Factor the equations; False where they cannot be."""
        q, problem = self.point, self.problem
        self.bend = q.low / q.x + q.high / self.room
        self.root = np.sqrt(problem.sums(1.0 / self.bend))
        self.Du, self.Dv = q.u / self.p, q.v / self.r
        self.E = self.Du + self.Dv
        self.half = np.sqrt(self.E)
        self.tilt = (self.Du - self.Dv) / self.half
        self.kappa = 1.0 + 4.0 * float(np.sum(self.Du * self.Dv / self.E))
        self.B = (self.root[:, None] * self.Phi) * self.half
        self.Q, self.R = np.linalg.qr(self.root[:, None] * problem.Z)
        rest = self.B - self.Q @ (self.Q.T @ self.B)
        A = rest.T @ rest + np.outer(self.tilt, self.tilt / self.kappa)
        A.flat[:: A.shape[0] + 1] += 1.0
        self.L, failed = lapack.dpotrf(A, lower=1, overwrite_a=1)
        self.lean = _triangular(self.R, problem.Z.T @ self.alpha, 1)
        return not failed

    def direction(self, tau: float, second: Point | None = None) -> Point:
        """Return the step after which every pair is τ, to first or, given a first direction, second order."""
        q, problem, Q = self.point, self.problem, self.Q
        low, high, up, down = (tau - dx * dz for _, _, dx, dz in self._complements(second))
        rx = self.slope - low / q.x + high / self.room
        rho = problem.sums(problem.sign * rx / self.bend) / self.root
        c = up / self.p - down / self.r - self.w
        h = float(np.sum(up / self.p + down / self.r)) - q.s - float((self.tilt / self.half) @ c)
        right = c / self.half - self.B.T @ (rho + Q @ (self.lean - Q.T @ rho)) - self.tilt * (h / self.kappa)
        z = lapack.dpotrs(self.L, right, lower=1)[0]
        dw, ds = self.half * z, (h + float(self.tilt @ z)) / self.kappa
        gamma = _triangular(self.R, self.lean - Q.T @ (rho + self.B @ z), 0)
        df = self.Phi @ dw + problem.Z @ gamma
        dx = -(rx + problem.sign * df[problem.who]) / self.bend
        # of kernels with weight from their own equation: α is known less well than s − φᵀα there
        own = (dw - c + (self.Du - self.Dv) * ds) / self.E
        self.change = g = np.where(self.E > 1.0, own, self.Phi.T @ problem.alpha_of(dx))
        return Point(
            dx,
            low / q.x - q.low - q.low / q.x * dx,
            high / self.room - q.high + q.high / self.room * dx,
            up / self.p - q.u - self.Du * (ds - g),
            down / self.r - q.v - self.Dv * (ds + g),
            ds,
            gamma,
        )


def _triangular(R: Array, b: Array, transposed: int) -> Array:
    """R⁻¹b or R⁻ᵀb, of which no number is one where R is singular."""
    return np.asarray(lapack.dtrtrs(R, b, trans=transposed)[0]) if b.size else b

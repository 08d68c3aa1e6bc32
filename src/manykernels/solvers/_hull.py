"""The problem restricted to a hull of a graph of kernels, solved by an interior-point method in the weights.

With u_v = d_v² η_v on the simplex, ζ_w = (Σ_{v∈A(w)} 1/η_v)⁻¹ and K = Σ_w ζ_w K_w, the optimal value J(u) of
the machine is convex, and with κ_vw = ζ_w/η_v (which sums to 1 over A(w)),

    ∂J/∂u_v = −½ G_v,    G_v = d_v⁻² Σ_{w∈D(v)} κ_vw² q_w,    Σ_v u_v G_v = Σ_w ζ_w q_w,
    U ∇²J U = (Bζκ)ᵀ(Bζκ) + Σ_w ζ_w q_w (diag(κ_w) − κ_w κ_wᵀ),    U = diag(u),

BᵀB being the machine's second derivative with respect to ζ, and u_v ∂ζ_w/∂u_v = ζ_w κ_vw. The dual needs
σ(q) = max_u Σ_w ζ_w(u) q_w. Since ζ_w = min_κ Σ_v κ_vw² η_v over κ ≥ 0 that sum to 1 over A(w), every such κ
bounds it: σ(q) ≤ max_v G_v.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve

from ..grams import Gram
from ..objectives import Fit, Risk
from ..objectives.rounding import slack
from ..penalties import Simplex
from ._interior import InteriorPoint
from ._stopping import goes_on
from .base import Array, relative

_SIMPLEX = Simplex()
_CENTRING = 0.15  # by how much the barrier falls at a step
_EDGE = 0.95  # of the way to the boundary that a step may go
_ROUNDS = 200  # for σ of nodes outside the hull
_SETTLED = 40  # of them, after which it is clear which nodes it is that are missing
_CUTS = 8  # of a step that does not help
_SHARE = 0.02  # of the gap asked for, to which machines are solved
_SPARSE = 0.125  # of all pairs of nodes: with fewer related ones, κ is a sparse matrix
_PATIENCE = 30  # machines, after which a gap that has not fallen by _GAIN will not fall
_GAIN = 1e-3
Matrix = Any  # an array, or a sparse one


@dataclass(frozen=True)
class Shape:
    """A hull: above[w, v] = 1 where v ∈ A(w), and the prices d."""

    above: Array
    d: Array

    @cached_property
    def links(self) -> sparse.csr_array | None:
        """The same as a sparse matrix, where few nodes are related: products have few ancestors."""
        few = np.count_nonzero(self.above) <= _SPARSE * self.above.size
        return sparse.csr_array(self.above) if few else None

    def zeta(self, u: Array) -> Array:
        """ζ_w; 0 where an ancestor of w, or w itself, has no weight."""
        above = self.above if self.links is None else self.links
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (above @ (self.d**2 / u)))

    def kappa(self, u: Array, zeta: Array) -> Matrix:
        """κ_vw as [w, v], for u > 0."""
        if self.links is None:
            return np.asarray(self.above * zeta[:, None] * (self.d**2 / u))
        weighted = self.links.copy()
        weighted.data *= (self.d**2 / u)[weighted.indices]
        return scaled_rows(weighted, zeta)

    def norm(self, squares: Array) -> float:
        """Ω = Σ_v d_v ‖w_{D(v)}‖ (Afkanpour 2013, Eq. 2.13), from the squared norms of all w."""
        return float(self.d @ np.sqrt(squares @ self.above))

    def closed_form(self, squares: Array) -> Array:
        """The u that suits w best: u_v = d_v ‖w_{D(v)}‖/Ω, where Σ_w ‖w_w‖²/ζ_w(u) = Ω²."""
        parts = self.d * np.sqrt(squares @ self.above)
        total = parts.sum()
        return parts / total if total > 0.0 else np.full(parts.size, 1.0 / parts.size)


@dataclass(frozen=True)
class HullPoint:
    """The machine at u, and its bounds on the optimum over the hull."""

    u: Array
    zeta: Array
    K: Array
    fit: Fit
    q: Array
    G: Array
    value: float  # J(u)
    primal: float


@dataclass(frozen=True)
class Proof:
    """A dual point α whose value is the best so far: σ(q(α)) ≤ level = max G, with κ of u."""

    alpha: Array
    u: Array
    G: Array
    level: float
    dual: float

    @property
    def barrier(self) -> float:
        """μ: the mean of u_v s_v over the nodes, s_v = ½(level − G_v) being the slacks."""
        return max(self.level - float(self.u @ self.G), 0.0) / (2.0 * self.u.size)


class HullProblem:
    """The kernels of one hull with one risk."""

    def __init__(self, gram: Gram, shape: Shape, risk: Risk) -> None:
        self.gram, self.shape, self.risk = gram, shape, risk
        self._proof: Proof | None = None
        self.machines, self.largest = 0, gram.largest()
        rounding = 1e-25 * risk.value(risk.zeros())
        self._rounding = rounding if risk.constant_value() <= rounding else -np.inf

    @property
    def proof(self) -> Proof:
        """The best of those met, once a machine was solved."""
        assert self._proof is not None
        return self._proof

    def at(self, u: Array, alpha: Array, accuracy: float) -> HullPoint:
        """Solve the machine at u > 0 to an absolute gap."""
        self.machines += 1
        zeta = self.shape.zeta(u)
        K = self.gram.combine(zeta)
        fit = self.risk.solve(K, alpha, accuracy)
        q, G = self.prove(fit.alpha, u)
        primal = 0.5 * self.shape.norm(zeta**2 * q) ** 2 + self.risk.value(fit.f)
        primal = 0.0 if primal <= self._rounding else self._upper(zeta, q, fit)
        return HullPoint(u, zeta, K, fit, q, G, self.risk.machine_value(fit), primal)

    def _upper(self, zeta: Array, q: Array, fit: Fit) -> float:
        """P at the worst that rounding may have done."""
        size = float(zeta @ self.largest)
        norm = self.shape.norm(zeta**2 * (q + self.largest * slack(fit.alpha)))
        return 0.5 * norm**2 + self.risk.worst_value(fit.f, fit.alpha, size)

    def prove(self, alpha: Array, u: Array) -> tuple[Array, Array]:
        """q and G of α with κ of u; kept as the proof where no other was better."""
        q = self.gram.quad(alpha).sum(axis=1)
        G = np.asarray((q @ self.shape.kappa(u, self.shape.zeta(u)) ** 2) / self.shape.d**2)
        level = float(G.max())
        dual = self.bound(alpha, level)
        if self._proof is None or dual > self._proof.dual:
            self._proof = Proof(alpha, u, G, level, dual)
        return q, G

    def bound(self, alpha: Array, sigma: float) -> float:
        """The best dual value along the ray of α, where σ(q(α)) ≤ sigma; at α = 0 nothing need be known."""
        if not np.isfinite(sigma):
            return self.risk.dual_fit(np.zeros_like(alpha))
        return self.risk.dual(alpha, np.array([sigma]), _SIMPLEX, float(self.largest.max()))

    def gap(self, point: HullPoint) -> float:
        return relative(point.primal, self.proof.dual)

    # -- solving --------------------------------------------------------------------------------
    def solve(self, u: Array, alpha: Array, goal: float, limit: int) -> HullPoint:
        """From u > 0 to a relative gap of `goal` over the hull, or until `limit` machines are solved."""
        exact = _SHARE * goal
        point = best = self.at(u, alpha, exact * max(self.risk.constant_value(), np.finfo(float).tiny))
        mu = np.inf
        jumps = self.risk.piecewise_linear and self.risk.has_interior
        if jumps and self.gap(point) > goal and goes_on(1, limit):
            point = best = self._joint(point, goal, limit)
        last, since = self.gap(best), self.machines
        while self.gap(best) > goal and goes_on(self.machines, limit):
            now = max(float(point.G.max() - point.u @ point.G), 0.0) / (2.0 * point.u.size)
            mu = max(min(_CENTRING * now, mu), 0.01 * goal * point.primal / point.u.size)
            following = self._newton(point, mu, exact * point.primal)
            following = following or self._alternate(point, exact * point.primal)
            if following is None:
                break
            point = following
            best = point if point.primal <= best.primal else best
            if self.gap(best) < (1.0 - _GAIN) * last:
                last, since = self.gap(best), self.machines
            elif self.machines - since >= _PATIENCE:  # what is left of the gap is rounding
                break
        return best

    def _joint(self, point: HullPoint, goal: float, limit: int) -> HullPoint:
        """Solve for weights and machine together where α jumps, then for the machine at those weights."""
        size = max(point.primal, np.finfo(float).tiny)
        inner = HullInterior(self.gram, self.shape, self.risk, point.u, point.fit.alpha)
        gap = max(point.primal - self.proof.dual, goal * size)
        self.machines += inner.run(gap, 0.3 * goal * size, max(min(60, limit - self.machines), 1))
        u = inner.theta / inner.theta.sum()
        self.prove(self.risk.feasible(inner.alpha), u)
        found = self.at(u, inner.alpha, _SHARE * goal * size)
        return found if found.primal < point.primal else point

    def _newton(self, point: HullPoint, mu: float, exact: float) -> HullPoint | None:
        """A primal-dual step towards the centre of parameter μ: u_v s_v = μ, with slacks s_v = ν − ½G_v."""
        u, G = point.u, point.G
        s = np.clip(0.5 * (G.max() - G), 0.1 * mu / u, 10.0 * mu / u)
        kappa = self.shape.kappa(u, point.zeta)
        B = self.risk.curvature(point.K, point.fit, self.gram.products(point.fit.alpha))
        B = B @ scaled_rows(kappa, point.zeta)
        H = B.T @ B + bending(kappa, point.zeta * point.q)
        H[np.diag_indices_from(H)] += u * s
        try:
            x = solve(H, np.stack([0.5 * u * G + mu, u], axis=1), assume_a="pos", check_finite=False)
        except np.linalg.LinAlgError:
            return None
        step = x[:, 0] - x[:, 1] * (u @ x[:, 0]) / (u @ x[:, 1])  # in units of u, with Σ du = 0
        slope = float(-0.5 * (G * u) @ step - mu * step.sum())
        if not np.isfinite(step).all() or slope >= 0.0:
            return None
        return self._search(point, step, slope, mu, exact)

    def _search(
        self, point: HullPoint, step: Array, slope: float, mu: float, exact: float
    ) -> HullPoint | None:
        """Along u(1 + t·step), J − μ Σ log u must fall."""
        u = point.u
        t = min(1.0, _EDGE / max(float(-step.min()), 1e-300))
        start = point.value - mu * float(np.log(u).sum())
        for _ in range(_CUTS):
            v = u * (1.0 + t * step)
            v /= v.sum()
            trial = self.at(v, point.fit.alpha, exact)
            if trial.value - mu * float(np.log(v).sum()) <= start + 1e-4 * t * slope + exact:
                return trial
            t *= 0.3
        return None

    def _alternate(self, point: HullPoint, exact: float) -> HullPoint | None:
        """The closed form at the machine's own w: never worse, and slow where weights vanish."""
        u = self.shape.closed_form(point.zeta**2 * point.q)
        u = np.maximum(u, 1e-3 * point.u)
        trial = self.at(u / u.sum(), point.fit.alpha, exact)
        return trial if trial.value < point.value - 1e-14 * abs(point.value) else None


def scaled_rows(kappa: Matrix, by: Array) -> Matrix:
    """Row w times by_w."""
    if not sparse.issparse(kappa):
        return by[:, None] * kappa
    data = kappa.data * np.repeat(by, np.diff(kappa.indptr))
    return sparse.csr_array((data, kappa.indices, kappa.indptr), shape=kappa.shape)


def bending(kappa: Matrix, mass: Array) -> Array:
    """Σ_w mass_w (diag(κ_w) − κ_w κ_wᵀ): what the concavity of ζ adds, mass = ζq."""
    outer = scaled_rows(kappa, mass).T @ kappa
    outer = outer.toarray() if sparse.issparse(outer) else outer
    return np.asarray(np.diag(mass @ kappa) - outer)


class HullInterior(InteriorPoint):
    """The joint method in (α, u): to first order u has kernels Σ_w (∂ζ_w/∂u_v) K_w, and ζ bends."""

    def __init__(self, gram: Gram, shape: Shape, risk: Risk, u: Array, alpha: Array) -> None:
        self.gram, self.shape = gram, shape
        self._kappa: Matrix = np.empty((0, 0))  # of the last slopes
        self._mass = np.empty(0)
        size = float(gram.largest().max())
        super().__init__(risk, _SIMPLEX, gram.combine, gram.products, u, alpha, size)

    def _kernel(self, u: Array) -> Array:
        return self.gram.combine(self.shape.zeta(u))

    def _slopes(self, alpha: Array) -> Array:
        """Return the derivatives of Kα with respect to u, at the present u."""
        R, zeta = self.gram.products(alpha), self.shape.zeta(self.theta)
        self._kappa = self.shape.kappa(self.theta, zeta)
        self._mass = zeta * np.maximum(np.einsum("mnk,nk->m", R, alpha), 0.0)
        slopes = scaled_rows(self._kappa, zeta)
        slopes = slopes.toarray() if sparse.issparse(slopes) else slopes
        return np.asarray(np.tensordot((slopes / self.theta).T, R, axes=1))

    def _theta_direction(
        self, q: Array, halves: list[tuple[Array, Array]], tau: float
    ) -> tuple[Array, Array, Array]:
        values, V = np.linalg.eigh(bending(self._kappa, self._mass))
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * V.T / self.theta
        return super()._theta_direction(q, [*halves, (root, np.zeros(len(root)))], tau)


def largest(above: sparse.csr_array, d: Array, q: Array, allowed: float) -> tuple[float, Array]:
    """A bound on σ = max_u Σ_w ζ_w(u) q_w over the simplex, at most `allowed` if it can be; and ζq there.

    Multiplicative steps u_v ← u_v G_v: σ ≤ max_v G_v at every u, and σ ≥ Σ_w ζ_w q_w. The first u shares in
    proportion to d, as Bach's condition does.
    """
    u = d / d.sum()
    best, parts = np.inf, q
    for done in range(_ROUNDS):
        zeta = 1.0 / (above @ (d**2 / u))
        G = (above.T @ (zeta**2 * q)) * (d / u) ** 2
        parts = zeta * q
        best = min(best, float(G.max()))
        if best <= allowed or (done >= _SETTLED and parts.sum() > allowed):
            break
        u = np.maximum(u * G, 1e-12 * u.max() * G.max())
        u /= u.sum()
    return best, parts

"""A joint interior-point method in (α, θ), for piecewise linear losses where steps in θ alone stall.

With few free support vectors α(θ) jumps from one set of bounds to another within short steps of θ, and no
local model of J sees far. Here both move together, the bounds of the box smoothed by a barrier that
vanishes. The optimality conditions of

    min_θ max_α  tᵀα − ε‖α‖₁ − ½αᵀK_θα + ½h(θ),     α = a⁺ − a⁻ with 0 ≤ a± ≤ C±, Σα = 0, θ ≥ 0, ψ(θ) ≤ 0

are solved by Newton's method with every complementary pair x·z = 0 replaced by x·z = τ → 0. One iteration
factors K_θ + D for each output (D the barrier's curvature) and takes one pass over the working set; about
twenty reach any accuracy. For the hinge loss each sample has one of a⁺, a⁻ only (the other's cap is 0).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._fast.linalg import factor, solve, solve_sum
from ..machines.barrier import Side, reach
from ..machines.coupled import Coupled
from ..machines.free import absorbed, projected_on
from ..objectives import Risk
from ..penalties import Penalty
from ._stopping import goes_on

Array = NDArray[np.float64]
_LOST = 100.0  # times the smallest gap: from there no iteration finds back
_NEAR = 1e-2  # of P: if that gap was no larger. Before, a large C makes much of little slack for a while
_JITTER = 1e-14  # of the mean diagonal: what keeps the second derivative in θ definite
_JAMMED = 1e-4  # of a step: nor from a point that close to the boundary


class InteriorPoint:
    """Solves the problem of a working set: `combine(θ)` gives K_θ and `products(α)` the stack (K_mα)."""

    def __init__(
        self,
        risk: Risk,
        penalty: Penalty,
        combine: Callable[[Array], Array],
        products: Callable[[Array], Array],
        theta: Array,
        alpha: Array,
        largest: Array | float,
    ) -> None:
        self.largest = largest
        self.risk, self.penalty, self.combine, self.products = risk, penalty, combine, products
        box = risk.box()
        assert box is not None  # piecewise linear risks have one
        self.target, self.epsilon, self.tied = box.target, box.tube, box.rows
        plain = risk.Z is None and not box.rows
        self.plus, self.minus = (
            (Side.start(1.0, box.hi, alpha), Side.start(-1.0, -box.lo, alpha))
            if plain
            else Side.pair(box.hi, -box.lo, risk.interior(alpha))
        )
        self.theta = penalty.interior(theta)
        # Zγ with covariates, b − ν where rows of α add up to 0, whose multipliers are ν
        self.b = np.zeros(alpha.shape[1]) if plain else np.zeros_like(alpha)
        self.zero, self.pull = np.zeros_like(self.theta), 0.0  # multipliers of θ ≥ 0, and their scale
        # ψ(θ) + room = 0, linearised, since steps may leave a curved Θ; and its multipliers
        self.room, self.ball = np.empty(0), np.empty(0)
        self.distance = self.primal = np.inf  # the gap and P: of the last point but one, or of a run's end
        self._balance()
        self.alpha = self._dual_point()

    def _kernel(self, theta: Array) -> Array:
        """K at these weights."""
        return self.combine(theta)

    def _slopes(self, alpha: Array) -> Array:
        """Return the derivatives of Kα with respect to each weight, at the present weights."""
        return self.products(alpha)

    def _balance(self) -> None:
        """Σα = 0 for every output, by shrinking the heavier side; with covariates Zᵀα = 0 from the start."""
        if not self.risk.fit_intercept or self.risk.Z is not None or self.tied:
            return
        p = np.where(self.plus.on, self.plus.x, 0.0)
        m = np.where(self.minus.on, self.minus.x, 0.0)
        up, down = p.sum(axis=0), m.sum(axis=0)
        self.plus.x = np.where(self.plus.on, self.plus.x * np.minimum(1.0, down / up), self.plus.x)
        self.minus.x = np.where(self.minus.on, self.minus.x * np.minimum(1.0, up / down), self.minus.x)

    def _dual_point(self) -> Array:
        return np.where(self.plus.on, self.plus.x, 0.0) - np.where(self.minus.on, self.minus.x, 0.0)

    def run(self, gap: float, accuracy: float, max_iter: int = 60, share: float | None = None) -> int:
        """From an expected gap to a true one of `accuracy`, or the smallest met; the number of iterations.

        With a `share` the gap is also at most this share of P. Where the start is far above the optimum, an
        accuracy that suits the P of the start says nothing about the solution.

        Where kernels nearly depend on each other, rounding errors of the directions grow without bound close
        to the optimum: the method ends there with the best point that it met.
        """
        psi = self.penalty.constraint(self.theta)
        counts = self.plus.complementarity()[1] + self.minus.complementarity()[1] + self.theta.size
        counts += 0 if psi is None else psi[0].size
        tau = max(gap, self._regulariser()) / counts
        self.plus.center(tau)
        self.minus.center(tau)
        self.zero = tau / self.theta
        self.room = -psi[0] if psi is not None else np.empty(0)
        self.ball = tau / self.room
        shorten, kept, iteration = 0.5, (self.theta, self.zero, self.alpha), 0
        best = value = np.inf  # the smallest gap, and P there
        rounding = 1e-13 * self._complementarity()  # below it no figure is left
        while goes_on(iteration, max_iter) or iteration == 0:  # at least one
            before, total = (self.theta, self.zero, self.alpha), self._complementarity()
            taken = self._step(shorten * total / counts)
            if self.distance < best:
                best, value, kept = self.distance, self.primal, before
            enough = accuracy if share is None else min(accuracy, share * value)
            lost = best <= _NEAR * value and self.distance > _LOST * best
            if lost or taken < _JAMMED or best <= enough or total <= max(0.01 * enough, rounding):
                break
            iteration += 1
            shorten = 0.05 if taken > 0.9 else (0.2 if taken > 0.5 else 0.7)
        self.theta, self.zero, self.alpha = kept
        self.distance, self.primal = best, value
        return iteration

    def _regulariser(self) -> float:
        """½θᵀq at the start: what the multipliers of θ and of α have to make up for."""
        R = self._slopes(self.alpha)
        return 0.5 * float(np.einsum("m,mnk,nk->", self.theta, R, self.alpha))

    def _complementarity(self) -> float:
        pairs = (
            self.plus.complementarity()[0] + self.minus.complementarity()[0] + float(self.zero @ self.theta)
        )
        return pairs + float(self.ball @ self.room)

    def _step(self, tau: float) -> float:
        theta, alpha = self.theta, self.alpha
        K, R = self._kernel(theta), self._slopes(alpha)
        q = np.einsum("mnk,nk->m", R, alpha)
        self.pull = 0.5 * float(q.max()) + 1e-300  # the scale of the multipliers of θ ≥ 0
        score = np.einsum("m,mnk->nk", theta, R) - self.target + self.b
        self.distance = self._gap(q, score + self.target)
        invp, rp = self.plus.barrier(score + self.epsilon, tau)
        invm, rm = self.minus.barrier(-score + self.epsilon, tau)
        inverse = invp + invm
        residual = (rp - rm) / inverse
        directions = self._tied if self.tied else self._apart
        (dtheta, dball, droom), g, db = directions(K, R, q, residual, inverse, tau)
        dplus = self.plus.directions(-rp - invp * g, tau)
        dminus = self.minus.directions(-rm + invm * g, tau)
        dzero = tau / theta - self.zero - self.zero / theta * dtheta
        inside = np.concatenate([theta, self.penalty.upper - theta, self.zero, self.room, self.ball])
        change = np.concatenate([dtheta, -dtheta, dzero, droom, dball])
        t = min(1.0, 0.99 * min(self.plus.reach(dplus), self.minus.reach(dminus), reach(inside, change)))
        self.plus.move(t, dplus)
        self.minus.move(t, dminus)
        self.alpha = self._dual_point()
        self.theta, self.zero = theta + t * dtheta, self.zero + t * dzero
        self.b, self.ball, self.room = self.b + t * db, self.ball + t * dball, self.room + t * droom
        return t

    def _apart(
        self, K: Array, R: Array, q: Array, residual: Array, inverse: Array, tau: float
    ) -> tuple[tuple[Array, Array, Array], Array, Array]:
        """(Δθ, Δν, Δp), KΔα + RΔθ + Δb and Δb, one output after the other."""
        halves, solves = self._factor(K, R, residual, inverse)
        direction = self._theta_direction(q, halves, tau)
        g, db = np.empty_like(self.alpha), np.zeros_like(self.b)
        for k, (inverse_of_S, one) in enumerate(solves):
            push = residual[:, k] + direction[0] @ R[:, :, k]
            db[..., k] = self._absorbed(one, push, self.alpha[:, k])
            dalpha = -inverse_of_S(push + db[..., k])
            g[:, k] = -residual[:, k] - dalpha / inverse[:, k]
        return direction, g, db

    def _tied(
        self, K: Array, R: Array, q: Array, residual: Array, inverse: Array, tau: float
    ) -> tuple[tuple[Array, Array, Array], Array, Array]:
        """The same where rows of α add up to 0: all outputs at once, RᵀPR = BᵀB and RᵀPr = Bᵀ(B⁻ᵀRᵀPr)."""
        every = np.ones(residual.shape, dtype=bool)
        P = Coupled(K, every, self.risk.fit_intercept, 1.0 / inverse)
        right = R.transpose(1, 2, 0)
        moves, still = P.solve(right), P.solve(residual)
        L = np.tril(factor(np.einsum("ncm,ncl->ml", right, moves), _JITTER))
        r = solve_triangular(L, np.einsum("ncm,nc->m", right, still), lower=True, check_finite=False)
        direction = self._theta_direction(q, [(L.T, r)], tau)
        dalpha = -(still + moves @ direction[0])
        g = -residual - dalpha / inverse
        return direction, g, g - K @ dalpha - right @ direction[0]

    def _absorbed(self, one: Array | None, push: Array, alpha: Array) -> Array | float:
        """Δb, or ZΔγ, that keeps Σα, or Zᵀα, at 0; `one` is S⁻¹1 or S⁻¹Z."""
        Z = self.risk.Z
        if one is None:
            return 0.0
        if Z is None:
            return float(-(one @ push) / one.sum())
        return Z @ absorbed(one, np.ones(alpha.size), Z, Z.T @ alpha - one.T @ push)

    def _gap(self, q: Array, f: Array) -> float:
        """P − D at θ and α as they are: all of it is known."""
        q = np.maximum(q, 0.0)
        self.primal = self.risk.primal(self.penalty, self.theta, q, f, self.alpha, self.largest)
        gap = self.primal - self.risk.dual(self.alpha, q, self.penalty, self.largest)
        return gap if np.isfinite(gap) else np.inf

    def _factor(
        self, K: Array, R: Array, residual: Array, inverse: Array
    ) -> tuple[list[tuple[Array, Array]], list[tuple[Callable[[Array], Array], Array | None]]]:
        """Return (B, L⁻¹r) of each output, BᵀB = RᵀPR, and the solver of S = K + D with its S⁻¹1, or S⁻¹Z."""
        halves: list[tuple[Array, Array]] = []
        solves: list[tuple[Callable[[Array], Array], Array | None]] = []
        for k in range(R.shape[2]):
            S = K.copy()
            S.flat[:: S.shape[0] + 1] += 1.0 / inverse[:, k]
            L = factor(S)
            B = solve_triangular(L, R[:, :, k].T, lower=True, check_finite=False)
            r = solve_triangular(L, residual[:, k], lower=True, check_finite=False)
            one, Z = None, self.risk.Z
            if Z is not None:
                one, v = solve(L, Z), projected_on(L, np.ones(S.shape[0]), Z)
                B -= v @ (v.T @ B)
            elif self.risk.fit_intercept:
                v = solve_triangular(L, np.ones(S.shape[0]), lower=True, check_finite=False)
                one = solve(L, np.ones(S.shape[0]))
                v /= np.linalg.norm(v)
                B -= np.outer(v, v @ B)
            halves.append((B, r))
            solves.append((partial(solve, L), one))
        return halves, solves

    def _theta_direction(
        self, q: Array, halves: list[tuple[Array, Array]], tau: float
    ) -> tuple[Array, Array, Array]:
        """(Δθ, Δν, Δp) with (RᵀPR + E) Δθ + (ν + Δν)∇ψ = ½q − ½h' + τ/θ − RᵀPr, p the room.

        ψ + p + ∇ψΔθ + Δp = 0 and p(ν + Δν) + νΔp = τ, so that (p/ν)(ν + Δν) = τ/ν + ψ + p + ∇ψΔθ.
        """
        E = self.zero / self.theta
        smooth, psi = self.penalty.smooth(self.theta), self.penalty.constraint(self.theta)
        slope = 0.5 * q
        if smooth is not None:
            slope, E = slope - smooth[1], E + smooth[2]
        rhs = slope + tau / self.theta
        rows = [B for B, _ in halves]
        for B, r in halves:
            rhs = rhs - B.T @ r
        p = self.room
        if psi is None:
            return solve_sum(E, rows, rhs[:, None])[:, 0], p, p
        # the multipliers u = ν + Δν first: ν/p grows without bound, and as a part of the matrix it would
        # leave no digits to the rest
        value, G, curvature = psi
        off = value + p
        X = solve_sum(E + self.ball @ curvature, rows, np.column_stack([rhs, G.T]))
        small = G @ X[:, 1:]
        small.flat[:: p.size + 1] += p / self.ball
        u = np.linalg.solve(small, G @ X[:, 0] + tau / self.ball + off)
        dtheta = X[:, 0] - X[:, 1:] @ u
        return dtheta, u - self.ball, -off - G @ dtheta

    def weights(self) -> Array:
        """θ with exact zeros where its multiplier outweighs it (sparse penalties), on the boundary of Θ."""
        theta = self.theta.copy()
        if self.penalty.sparse:
            outweighed = theta * self.pull < self.zero * theta.max()
            theta[outweighed & ~outweighed.all()] = 0.0
        return self.penalty.stretch(theta)

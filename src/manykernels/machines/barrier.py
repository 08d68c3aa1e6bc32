"""Boxes of piecewise linear losses behind a barrier, for interior-point methods; and one such machine.

    min ½αᵀKα − yᵀα + ε‖α‖₁,      α = a⁺ − a⁻ with 0 ≤ a± ≤ C±, Zᵀα = 0

With every complementary pair x·z = 0 replaced by x·z = τ → 0, Newton's method factors K + D, D the
barrier's curvature, and needs about twenty steps, whatever the condition of K or the leverage of single
samples in Z. For the hinge loss each sample has one of a⁺, a⁻ only (the other's cap is 0).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._fast.linalg import factor, solve
from .free import absorbed

Array = NDArray[np.float64]
_JAMMED = 1e-6  # of a step: no iteration finds back from a point that close to the boundary
_END = 1e-16  # of the complementarity at the start: what is left is rounding
_ITERATIONS = 80


def reach(value: Array, change: Array) -> float:
    """The largest t with value + t·change ≥ 0, for value ≥ 0."""
    falling = change < 0.0
    return float(np.min(value[falling] / -change[falling], initial=np.inf))


@dataclass
class Side:
    """One side, a⁺ or a⁻, of α = a⁺ − a⁻: 0 < x < cap where `on`, with multipliers of both bounds."""

    sign: float
    cap: Array
    on: NDArray[np.bool_]
    x: Array
    low: Array
    high: Array

    @classmethod
    def start(cls, sign: float, cap: Array, alpha: Array) -> Side:
        on = cap > 0.0
        largest = float(np.abs(alpha).max())
        margin = 0.05 * (np.minimum(cap, largest + 1e-3 * cap) if largest > 0.0 else cap)
        x = np.where(on, np.clip(sign * alpha, margin, cap - margin), 0.5)
        return cls(sign, np.where(on, cap, 1.0), on, x, np.ones_like(x), np.ones_like(x))

    @classmethod
    def pair(cls, up: Array, down: Array, alpha: Array) -> tuple[Side, Side]:
        """Both sides with these caps at α, which is inside and stays what it is."""
        # nothing is left of a side that does not exist: α is inside, on the other one
        room = np.minimum(up - np.maximum(alpha, 0.0), down - np.maximum(-alpha, 0.0))
        sides = []
        for sign, cap in ((1.0, up), (-1.0, down)):
            on = cap > 0.0
            x = np.where(on, np.maximum(sign * alpha, 0.0) + 0.25 * room, 0.5)
            sides.append(cls(sign, np.where(on, cap, 1.0), on, x, np.ones_like(x), np.ones_like(x)))
        return sides[0], sides[1]

    def center(self, tau: float) -> None:
        self.low, self.high = tau / self.x, tau / (self.cap - self.x)

    def complementarity(self) -> tuple[float, int]:
        pairs = self.low * self.x + self.high * (self.cap - self.x)
        return float(pairs[self.on].sum()), 2 * int(self.on.sum())

    def barrier(self, slope: Array, tau: float) -> tuple[Array, Array]:
        """(1/D, r/D) of this side, zero where it does not exist; `slope` is the gradient without barrier."""
        room = self.cap - self.x
        D = self.low / self.x + self.high / room
        r = slope - tau / self.x + tau / room
        return np.where(self.on, 1.0 / D, 0.0), np.where(self.on, r / D, 0.0)

    def directions(self, dx: Array, tau: float) -> tuple[Array, Array, Array]:
        dx, room = np.where(self.on, dx, 0.0), self.cap - self.x
        return (
            dx,
            tau / self.x - self.low - self.low / self.x * dx,
            tau / room - self.high + self.high / room * dx,
        )

    def reach(self, d: tuple[Array, Array, Array]) -> float:
        inside = np.stack([self.x, self.cap - self.x, self.low, self.high])[:, self.on]
        return reach(inside, np.stack([d[0], -d[0], d[1], d[2]])[:, self.on])

    @property
    def least(self) -> float:
        """Return how near x is to a bound."""
        return float(np.min(np.minimum(self.x, self.cap - self.x)[self.on], initial=np.inf))

    def settled(self, size: float) -> Array:
        """x, at a bound where its multiplier, beside `size`, is larger than what is left to that bound."""
        room = self.cap - self.x
        x = np.where(self.x * size < self.low * self.cap, 0.0, self.x)
        return np.where(self.on, np.where(room * size < self.high * self.cap, self.cap, x), 0.0)

    def move(self, t: float, d: tuple[Array, Array, Array]) -> None:
        self.x, self.low, self.high = self.x + t * d[0], self.low + t * d[1], self.high + t * d[2]


def interior_path(
    K: Array, y: Array, tube: float, caps: tuple[Array, Array], Z: Array, gamma: Array
) -> tuple[Array, Array, Array]:
    """α, the same at its bounds where it belongs, and γ of the machine with an unpenalised part Z, from γ."""
    plus, minus = (
        Side.start(sign, cap, np.zeros_like(y)) for sign, cap in zip((1.0, -1.0), caps, strict=True)
    )
    alpha = _point(plus, minus)
    pairs = plus.complementarity()[1] + minus.complementarity()[1]
    inside = np.where(plus.on, plus.x, 0.0) + np.where(minus.on, minus.x, 0.0)
    total = float(inside @ (np.abs(K @ alpha - y + Z @ gamma) + tube)) + 1e-300
    plus.center(total / pairs)
    minus.center(total / pairs)
    first, shorten = total, 0.5
    for _ in range(_ITERATIONS):
        tau = shorten * total / pairs
        slope = K @ alpha - y + Z @ gamma
        invp, rp = plus.barrier(slope + tube, tau)
        invm, rm = minus.barrier(-slope + tube, tau)
        inverse = invp + invm
        residual = (rp - rm) / inverse
        S = K.copy()
        S.flat[:: y.size + 1] += 1.0 / inverse
        L = factor(S)
        V, u = solve(L, Z), solve(L, residual)
        dgamma = absorbed(V, np.ones(y.size), Z, Z.T @ (alpha - u))
        g = (u + V @ dgamma) / inverse - residual  # KΔα + ZΔγ
        dplus, dminus = plus.directions(-rp - invp * g, tau), minus.directions(-rm + invm * g, tau)
        t = min(1.0, 0.99 * min(plus.reach(dplus), minus.reach(dminus)))
        if not t > _JAMMED:
            break
        plus.move(t, dplus)
        minus.move(t, dminus)
        alpha, gamma = _point(plus, minus), gamma + t * dgamma
        total = plus.complementarity()[0] + minus.complementarity()[0]
        if total <= _END * first or min(plus.least, minus.least) <= 0.0:
            break
        shorten = 0.05 if t > 0.9 else (0.2 if t > 0.5 else 0.7)
    size = max(float(np.abs(y).max()), 1e-300)
    return alpha, plus.settled(size) - minus.settled(size), gamma


def _point(plus: Side, minus: Side) -> Array:
    return np.where(plus.on, plus.x, 0.0) - np.where(minus.on, minus.x, 0.0)

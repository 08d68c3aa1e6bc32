"""Certified search for the best frequency of a Dirichlet kernel: max over σ of Σ_ij S_ij κ_σ(x_i, x_j).

The product over features of 1 + 2 Σ_{k≤K} cos(kσΔ) is a sum of cosines of all the projections k·x, k ∈ {−K,
…, K}ᵈ:

    h(σ) = Σ_k Q(σ X k)        Q(v) = Σ_ij S_ij cos(v_i − v_j) = |Σ_t a_t exp(i v_t)|² where S = aaᵀ

the power spectra of a at points X k. No frequency in it is larger than K Σ_f (largest − smallest x_f): h is
an entire function that is well interpolated on pieces of a few periods, with a bound on what is missed.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from .._fast import elementwise
from ._chebyshev import UNIT, Found, Pieces, choose
from .base import Array

_PHASE = 6.0  # of the fastest wave, on half of a piece
_DEGREE = 32
_TOLERANCE = (1e-7, 1e-14)
_AFFORDABLE = 2e10  # operations; about a second
_PIECES = 1 << 16
_LOOKS = 400  # where that is not enough
_BLOCK = 1 << 19  # complex numbers at a time


class FrequencySearch:
    """h(σ) = Σ_ij S_ij Π_f (1 + 2 Σ_{k≤degree} cos(k σ (x_if − x_jf))), low ≤ σ ≤ high.

    X is (n,) or (n, d). A search looks at about 3 (high − low) degree Σ_f range(x_f) frequencies, each at the
    cost of ((2 degree + 1)ᵈ − 1)/2 sums over the samples for a factor of S, or products by S. Where that is
    too much it looks at a few hundred, climbs from the best, and does not bound what it has not seen.
    """

    def __init__(self, X: Array, low: float, high: float, degree: int = 1) -> None:
        X = np.asarray(X, dtype=float)
        X = X.reshape(X.shape[0], -1)
        self.low, self.high, self.K = float(low), float(high), int(degree)
        if not (0.0 < self.low <= self.high < math.inf and self.K >= 1):
            raise ValueError(
                f"A search over frequencies was asked from low={low!r} to high={high!r}, degree={degree!r}. "
                "Give finite 0 < low ≤ high and a degree of at least 1."
            )
        if not (X.size and np.all(np.isfinite(X))):
            raise ValueError(
                f"X has shape {X.shape}; expected finite values for one sample and feature or more."
            )
        top, bottom = X.max(axis=0), X.min(axis=0)
        self.X, self.ranges = X - (0.5 * bottom + 0.5 * top), top - bottom
        self.n, self.d = X.shape
        self.fastest = self.K * float(self.ranges.sum())
        waves = 0.5 * (self.high - self.low) * self.fastest / _PHASE
        self.count = max(1, math.ceil(min(waves, 1e15)))
        half = 0.5 * (self.high - self.low) / self.count + 8.0 * UNIT * self.high
        self.pieces = Pieces(self.count, half, _DEGREE)
        self._shift = self.K * float(np.abs(0.5 * bottom + 0.5 * top).sum())

    def best(self, S: Array, k: int = 1, *, factor: bool | None = None) -> Found:
        """The frequency of the largest h, up to k − 1 of the next largest local maxima, and a bound on h.

        S is symmetric (n, n), or a factor A (n, c) of S = AAᵀ; a square one is only taken for a factor where
        `factor` says so. The bound is inf where it is too dear.
        """
        S = np.ascontiguousarray(S, dtype=float)
        if factor is None:
            factor = S.shape[1:] != (self.n,)
        if S.ndim != 2 or S.shape[0] != self.n or not (factor or S.shape[1] == self.n):
            raise ValueError(
                f"S has shape {S.shape}; expected ({self.n}, {self.n}), or ({self.n}, c) for S = AAᵀ."
            )
        size = float((np.abs(S).sum(axis=0) ** 2).sum() if factor else np.abs(S).sum())
        if not math.isfinite(size):
            raise ValueError("S has values that are not finite, or too large for their sum; scale it first.")
        work = 4.0 * S.size * self.count * (_DEGREE + 1) * (2.0 * self.K + 1.0) ** min(self.d, 100)
        if work > _AFFORDABLE or self.count > _PIECES:
            return self._climb(S, k, factor)
        return self._certified(S, k, factor, size)

    def _certified(self, S: Array, k: int, factor: bool, size: float) -> Found:
        pieces, step = self.pieces, (self.high - self.low) / self.count
        middles = self.low + step * (np.arange(self.count, dtype=np.float64) + 0.5)
        h = self._waves(S, factor, middles, pieces.half * pieces.s)
        error = size * (pieces.lebesgue * self._rounding() + self._truncation())
        piece, s, upper = pieces.peaks(h, error, k + 2, (_TOLERANCE[0], _TOLERANCE[1] * size))
        sigma = np.asarray(np.clip(middles[piece] + pieces.half * s, self.low, self.high), dtype=np.float64)
        values = self._waves(S, factor, sigma, np.zeros(1))[:, 0]
        top = choose(sigma, values, k, 1.5 / max(self.fastest, 1e-300))
        return Found(sigma[top], values[top], max(upper, float(values[top[0]])))

    def _truncation(self) -> float:
        """|h(σ + ib)| ≤ Σ|S| Π_f (1 + 2 Σ_k cosh(k b range_f)) on an ellipse, at the best b."""
        bounds = []
        for b in self.pieces.half * np.linspace(0.5, 10.0, 39):
            waves = [sum(math.cosh(k * b * r) for k in range(1, self.K + 1)) for r in self.ranges]
            bounds.append(math.prod(1.0 + 2.0 * w for w in waves) * self.pieces.truncation(b))
        return min(bounds)

    def _rounding(self) -> float:
        """Return how wrong a value of h is, relative to Σ|S|: centred points, phases, and sums of n terms."""
        phase = UNIT * (self.high * (2.0 * self.fastest + self._shift) + 2.0 * _PHASE + 8.0)
        return (2.0 * self.K + 1.0) ** self.d * (2.0 * phase + 4.0 * (self.n + 8.0) * UNIT)

    def _waves(self, S: Array, factor: bool, sigma: Array, offsets: Array) -> Array:
        """h at sigma_p + offsets_j: as exp(i(σ + δ)v) = exp(iσv) exp(iδv), a product of matrices per wave."""
        h = np.full((sigma.size, offsets.size), float((S.sum(axis=0) ** 2).sum() if factor else S.sum()))
        block = max(1, _BLOCK // (self.n * (1 if factor else offsets.size)))
        for wave in itertools.product(range(-self.K, self.K + 1), repeat=self.d):
            if wave <= (0,) * self.d:  # k and −k are the same, and k = 0 is done
                continue
            v = self.X @ np.array(wave, dtype=float)
            E = np.exp(1j * np.outer(v, offsets))
            for lo in range(0, sigma.size, block):
                Z = np.exp(1j * np.outer(sigma[lo : lo + block], v))
                h[lo : lo + block] += 2.0 * (_spectra(S, Z, E) if factor else _forms(S, Z, E))
        return h

    # -- without a certificate ------------------------------------------------------------------
    def _climb(self, S: Array, k: int, factor: bool) -> Found:
        """The best of evenly spaced frequencies, each then improved between its neighbours; upper = inf."""
        sigma = np.linspace(self.low, self.high, _LOOKS)
        h = np.array([self._value(S, factor, x) for x in sigma])
        padded = np.concatenate(([-np.inf], h, [-np.inf]))
        local = np.flatnonzero((h > padded[:-2]) & (h >= padded[2:]))
        local = local[np.argsort(-h[local], kind="stable")][:k]
        tops = [
            self._golden(S, factor, *sigma[[max(i - 1, 0), min(i + 1, _LOOKS - 1)]].tolist())
            for i in local.tolist()
        ]
        places = np.append([s for s, _ in tops], sigma[local])
        values = np.append([v for _, v in tops], h[local])
        top = choose(places, values, k, 1.5 / max(self.fastest, 1e-300))
        return Found(places[top], values[top], math.inf)

    def _golden(self, S: Array, factor: bool, lo: float, hi: float) -> tuple[float, float]:
        """(σ, h) at a local maximum in [lo, hi], by golden sections."""
        ratio = 0.5 * (math.sqrt(5.0) - 1.0)
        a, b = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        ha, hb = self._value(S, factor, a), self._value(S, factor, b)
        for _ in range(30):
            if ha >= hb:
                hi, b, hb = b, a, ha
                a = hi - ratio * (hi - lo)
                ha = self._value(S, factor, a)
            else:
                lo, a, ha = a, b, hb
                b = lo + ratio * (hi - lo)
                hb = self._value(S, factor, b)
        return (a, ha) if ha >= hb else (b, hb)

    def _value(self, S: Array, factor: bool, sigma: float) -> float:
        """h(σ) from the kernel matrix."""
        cos, sin = np.cos(sigma * self.X), np.sin(sigma * self.X)
        K = np.empty((self.n, self.n))
        elementwise.dirichlet(cos, sin, np.ascontiguousarray(cos.T), np.ascontiguousarray(sin.T), self.K, K)
        return float(np.einsum("ic,ic->", S, K @ S) if factor else np.einsum("ij,ij->", S, K))


def _spectra(A: Array, Z: Array, E: Array) -> Array:
    """Σ_c |Σ_t A_tc Z_pt E_tj|²."""
    total = np.zeros((Z.shape[0], E.shape[1]))
    for a in A.T:
        F = (Z * a) @ E
        total += F.real**2 + F.imag**2
    return total


def _forms(S: Array, Z: Array, E: Array) -> Array:
    """zᴴ S z, z_t = Z_pt E_tj, from two real products of matrices."""
    z = (Z.T[:, :, None] * E[:, None, :]).reshape(S.shape[0], -1)
    c, s = np.ascontiguousarray(z.real), np.ascontiguousarray(z.imag)
    total = np.einsum("tp,tp->p", c, S @ c) + np.einsum("tp,tp->p", s, S @ s)
    return np.asarray(total).reshape(Z.shape[0], E.shape[1])

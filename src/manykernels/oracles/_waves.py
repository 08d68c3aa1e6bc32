"""The largest sum of power spectra over a range of scales, from one pass over samples that are never held.

A kernel of differences has features cos sp_j(x), sin sp_j(x), p_j(x) = ω_jᵀx: the same frequencies ω serve
all widths, and only their scale s differs. Its quadratic form at α is a sum of power spectra,

    q(s) = Σ_j g_j Σ_c |F_jc(s)|²        F_jc(s) = Σ_t α_tc exp(is p_j(x_t))

A pass puts the samples into bins of half-width h on each of the lines p_j, and keeps Σ α δ^k of the places δ
in [−1, 1] of the samples in their bin. With e_b the centre of bin b, F_jc(s) = Σ_b exp(ise_b) Σ_k (ish)^k/k!
Σ α δ^k at *all* s, but for the end of a series in sh ≤ ½. No frequency of q is larger than the widest range
of a p_j: q is interpolated on pieces of a few periods (`_chebyshev.py`), with a bound on what is missed.
Lines of smaller range have longer pieces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._fast.waves import binned
from ._chebyshev import UNIT, Found, Pieces, choose
from .base import Array

_REACH = 0.5  # of a bin, in radians, at the largest s
_TERMS = 11  # of the series in a bin: _REACH^11/11! = 1.2e-11 is left
_PHASE = 6.0  # of the fastest wave, on half of a piece
_DEGREE = 32
_TOLERANCE = (1e-7, 1e-14)
_AFFORDABLE = 4e10  # operations of a search beside the pass; a few seconds
_BINS = 1 << 20
_BLOCK = 1 << 20  # complex numbers at a time


@dataclass(frozen=True)
class Binned:
    """Σ α δ^k of a block of rows (bins, outputs, terms)."""

    omega: Array  # (d, D)
    low: Array  # (D,)
    half: float
    first: NDArray[np.intp]  # (D + 1,)

    def __call__(self, X: Array, A: Array) -> list[Array]:
        out = np.zeros((int(self.first[-1]), A.shape[1], _TERMS))
        P = np.ascontiguousarray((X @ self.omega).T)
        binned(P, np.ascontiguousarray(A), self.low, self.half, self.first, out)
        return [out]


class WaveSearch:
    """q(s) for low ≤ s ≤ high; `least` and `most` (D,) are the ends of p_j over all samples, `power` is g.

    `digits` bounds the error of a p_j(x), n is the number of samples.
    """

    def __init__(
        self,
        omega: Array,
        power: Array,
        ends: tuple[Array, Array],
        low: float,
        high: float,
        n: int,
        digits: float,
    ) -> None:
        least, most = ends
        self.power, self.low, self.high, self.n = power, low, high, n
        self.ranges = np.maximum(most - least, 0.0)
        self.fastest = float(self.ranges.max(initial=0.0))
        half = _REACH / high
        counts = np.ceil(0.5 * self.ranges / half * (1.0 + 1e-9) + 1e-9)
        self.bins = float(counts.sum())
        waves = 0.5 * (high - low) * self.fastest / _PHASE
        self.levels = max(0, math.ceil(math.log2(max(min(waves, 1e15), 1.0))))  # 2^levels pieces
        sums = (n + self.bins + 64.0) * UNIT
        self.rounding = 2.0 * high * digits + 32.0 * UNIT * high * self.fastest + sums
        self.series = 1.1 * _REACH**_TERMS / math.factorial(_TERMS)
        self.bounded = self.bins <= _BINS and self._work() <= _AFFORDABLE
        if self.bounded:
            first = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
            start = 0.5 * (least + most) - counts * half
            self.gather = Binned(omega, start, half, first)
            place = np.arange(first[-1]) - np.repeat(first[:-1], counts.astype(np.intp))
            self.centres = (2.0 * place + 1.0 - np.repeat(counts, counts.astype(np.intp))) * half

    def _groups(self) -> list[tuple[int, NDArray[np.intp]]]:
        """(o, lines): those of a range of at most 2^−o of the widest have pieces 2^o times as long."""
        with np.errstate(divide="ignore"):
            octave = np.floor(np.log2(self.fastest / np.maximum(self.ranges, 1e-300)))
        octave = np.clip(octave, 0, self.levels).astype(int)
        return [(int(o), np.flatnonzero(octave == o)) for o in np.unique(octave)]

    def _work(self) -> float:
        """Operations of a search, of one output."""
        bins = self.ranges * self.high / (2.0 * _REACH) + 1.0
        pieces = [2.0 ** (self.levels - o) * float(bins[lines].sum()) for o, lines in self._groups()]
        return 8.0 * _TERMS * (_DEGREE + 1) * sum(pieces)

    def best(self, M: Array, size: float, k: int) -> Found:
        """The largest local maxima of q, and a bound on all of it; M as `gather` sums it up over all rows.

        `size` is √Σ_c (Σ_t |α_tc|)².
        """
        count = 2**self.levels
        step = (self.high - self.low) / count
        pieces = Pieces(count, 0.5 * step + 8.0 * UNIT * self.high, _DEGREE)
        V = np.sum([self._on_finest(M, o, lines) for o, lines in self._groups()], axis=0)
        total = float(self.power.sum())
        off = math.sqrt(total) * size * (self.rounding + self.series)  # of √q
        error = 2.0 * math.sqrt(max(float(V.max()), 0.0)) * off + off**2
        error = pieces.lebesgue**2 * error + total * size**2 * _truncation()
        tolerance = (_TOLERANCE[0], _TOLERANCE[1] * total * size**2)
        piece, s, upper = pieces.peaks(V, error, k + 2, tolerance)
        middles = self.low + step * (piece + 0.5)
        places = np.asarray(np.clip(middles + pieces.half * s, self.low, self.high), dtype=np.float64)
        values = self.values(M, places)
        top = choose(places, values, k, 1.5 / max(self.fastest, 1e-300))
        return Found(places[top], values[top], max(upper, float(values[top[0]])))

    def _on_finest(self, M: Array, o: int, lines: NDArray[np.intp]) -> Array:
        """(2^levels, N + 1): the part of q of these lines at the points of all pieces."""
        count, parts = 2 ** (self.levels - o), 2**o
        step = (self.high - self.low) / count
        pieces = Pieces(count, 0.5 * step + 8.0 * UNIT * self.high, _DEGREE)
        middles = self.low + step * (np.arange(count) + 0.5)
        s = (middles[:, None] + pieces.half * pieces.s).ravel()
        V = self.values(M, s, lines).reshape(count, -1)
        if o == 0:
            return V
        inner = (2.0 * np.arange(parts) + 1.0) / parts - 1.0
        at = np.clip((inner[:, None] + pieces.s / parts).ravel(), -1.0, 1.0)
        known = np.cos(np.outer(np.arccos(at), np.arange(_DEGREE + 1)))
        return np.asarray(V @ pieces.to_coefficients @ known.T).reshape(count * parts, -1)

    def values(self, M: Array, s: Array, lines: NDArray[np.intp] | None = None) -> Array:
        """q at these s, or the part of it of some lines."""
        lines = np.arange(self.power.size) if lines is None else lines
        first, order = self.gather.first, np.arange(_TERMS)
        own = np.concatenate([np.arange(first[j], first[j + 1]) for j in lines])
        starts = np.concatenate([[0], np.cumsum(np.diff(first)[lines])])[:-1]
        M, centres = M[own].reshape(-1, _TERMS), self.centres[own]
        outputs, found = len(M) // own.size, np.empty(s.size)
        factorials = np.array([math.factorial(k) for k in order], dtype=np.float64)
        block = max(1, _BLOCK // len(M))
        for lo in range(0, s.size, block):
            part = s[lo : lo + block]
            T = (1j * self.gather.half * part[:, None]) ** order / factorials
            F = (T @ M.T).reshape(part.size, own.size, outputs)
            F *= np.exp(1j * np.outer(part, centres))[:, :, None]
            sums = np.add.reduceat(F, starts, axis=1)
            found[lo : lo + block] = ((sums.real**2 + sums.imag**2).sum(axis=2)) @ self.power[lines]
        return found


def _truncation() -> float:
    """|q(s + ib)| ≤ g Σ (Σ|α|)² cosh(b range) on an ellipse, at the best b: what interpolants miss of it."""
    pieces = Pieces(1, 1.0, _DEGREE)
    return min(math.cosh(b * _PHASE) * pieces.truncation(b) for b in np.linspace(0.5, 10.0, 39))

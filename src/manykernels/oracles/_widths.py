"""Certified search for the best width of a kernel exp(−γ D_ij): max over σ of Σ_ij S_ij exp(−γ(σ) D_ij).

The sum has up to n² terms and, for a general S, as many local maxima as there are signs to alternate
(Afkanpour 2013, §4.2.2 hopes for few). Binned by distance it is a sum over a few hundred bins, exact to
rounding, so that the whole interval can be bounded for about the price of one pass over the pairs.
"""

from __future__ import annotations

import math

import numpy as np

from .._fast import bins
from ._chebyshev import UNIT, Found, Pieces, choose
from .base import Array

_RHO = 2.0**-5  # |y| in a bin
_FAR = 46.0  # exp(−46) = 1e-20 counts as zero
_PIECE = 1.0  # of log γ
_DEGREE = 20
_APART = 0.3  # of log γ between local maxima that are told apart
_SMALLEST, _LARGEST = 1e-300, 1e300  # γ
_KEEP = 1 << 30  # bytes of sorted pairs that are kept between searches
# In units: 128 for a chunk of pairs, 8 for their higher moments, 4 for S and y, 32 for a chunk of bins, 3 for
# powers of u, 4 for exp, 2 for γ at a point, and a few for the sums of sums.
_ROUNDING = 196.0 * UNIT
_TOLERANCE = (1e-7, 1e-14)


class WidthSearch:
    """h(σ) = Σ_ij S_ij exp(−γ D_ij), low ≤ σ ≤ high; γ = 1/σ² (``rate="inverse-square"``) or 1/σ ("inverse").

    D (n, n) is symmetric and not negative, with a zero diagonal: squared distances for Gaussian kernels,
    distances for Laplacian ones. Only its lower triangle, and that of S, is read. Sorting it takes 10 bytes a
    pair, which are kept up to `keep` bytes.

    In a bin of centre c, with D = c (1 + y) and |y| ≤ ρ = 1/32,

        exp(−γD) = exp(−u) Σ_m (−u y)ᵐ/m!,   u = γc

    whose tail from m = 10 is at most (ρ/(1−ρ))¹⁰ (10/e)¹⁰/10! = 2e-16: h from Σ S yᵐ, m < 10, is as exact as
    from the pairs. In t = log γ, |exp(−eᵗD)| ≤ 1 where |Im t| ≤ π/2, so that |h| ≤ Σ|S| there, which bounds
    how far its interpolants are from it; they are then searched by branch and bound.
    """

    def __init__(
        self, D: Array, low: float, high: float, rate: str = "inverse-square", *, keep: int = _KEEP
    ) -> None:
        self.D = np.ascontiguousarray(D, dtype=float)
        self.n, self.low, self.high = self.D.shape[0], float(low), float(high)
        self.power = _power(rate)
        smallest, largest = _distances(self.D)
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            g_lo, g_hi = self._rates(np.array([self.high, self.low])).tolist()
        if not (0.0 < self.low <= self.high and g_lo >= _SMALLEST and g_hi <= _LARGEST):
            raise ValueError(
                f"A search over widths was asked from low={low!r} to high={high!r} (rate={rate!r}). Give "
                f"0 < low ≤ high, with rates 1/width or 1/width² between {_SMALLEST:g} and {_LARGEST:g}."
            )
        first = max(_index(_RHO / g_hi), _index(smallest))
        last = min(_index(largest), _index(min(_FAR / g_lo, 1e308)) + 1)
        edges = (np.arange(first, max(last, first - 1) + 2, dtype=np.int64) << bins.MANTISSA).view(np.float64)
        middles = 0.5 * edges[:-1] + 0.5 * edges[1:]
        self.c = np.concatenate(([0.0], middles))
        self.w = np.concatenate(([1.0 / g_hi], middles))
        memory = 5 * self.n * self.n
        self.pairs = bins.Pairs(self.D, first - 1, self.c, 1.0 / self.w, keep=memory <= keep)
        self.pieces, self.middles = _lay_pieces(g_lo, g_hi)
        self._nodes = self.middles[:, None] * np.exp(self.pieces.half * self.pieces.s)

    def best(self, S: Array, k: int = 1, *, factor: bool | None = None) -> Found:
        """The width of the largest h, up to k − 1 of the next largest local maxima, and a bound on h.

        S is symmetric (n, n), or a factor A (n, c) of S = AAᵀ; a square one is only taken for a factor where
        `factor` says so. The bound holds against truncation and rounding. It is within 1e-6 max(h*, 1e-7
        Σ|S|) of h* unless columns of A cancel.
        """
        S = np.ascontiguousarray(S, dtype=float)
        M, constant, size, rounding = self._bin(S, S.shape[1:] != (self.n,) if factor is None else factor)
        used = np.abs(M).max(axis=0) > 0.0
        used[0] = True
        table = (self.c[used], self.w[used], np.ascontiguousarray(M[:, used]), constant)
        pieces = self.pieces
        noise = size * (_ROUNDING + _tail() + 2.0 * math.exp(-_FAR)) + rounding
        error = pieces.lebesgue * noise + size * pieces.truncation(0.5 * math.pi)
        relative, absolute = _TOLERANCE
        h = _evaluate(self._nodes.ravel(), *table).reshape(self._nodes.shape)
        piece, s, upper = pieces.peaks(h, error, k + 2, (relative, absolute * size))
        rates = self.middles[piece] * np.exp(pieces.half * s)
        sigma = np.clip(rates ** (-1.0 / self.power), self.low, self.high)
        values = _evaluate(self._rates(sigma), *table)
        top = choose(np.log(sigma), values, k, _APART / self.power)
        return Found(sigma[top], values[top], max(upper, float(values[top[0]])))

    def _bin(self, S: Array, factor: bool) -> tuple[Array, float, float, float]:
        """Moments (with 2/m! in them), Σ_i S_ii, Σ_ij |S_ij|, and what rounding Σ_c A_ic A_jc may add."""
        if S.ndim != 2 or S.shape[0] != self.n or not (factor or S.shape[1] == self.n):
            raise ValueError(
                f"S has shape {S.shape}; expected ({self.n}, {self.n}), or ({self.n}, c) for S = AAᵀ."
            )
        A = np.ascontiguousarray(S.T) if factor else np.zeros((0, self.n))
        M, size = self.pairs.moments(S, A)
        diagonal = S.ravel() ** 2 if factor else np.diagonal(S)
        total = 2.0 * size + float(np.abs(diagonal).sum())
        rounding = S.shape[1] * UNIT * float((np.abs(S).sum(axis=0) ** 2).sum()) if factor else 0.0
        if not math.isfinite(total):
            raise ValueError("S has values that are not finite, or too large for their sum; scale it first.")
        factorials = np.array([math.factorial(m) for m in range(bins.MOMENTS)], dtype=float)
        M = np.ascontiguousarray((2.0 * M / factorials).T)
        return M, float(diagonal.sum()), total * (1.0 + 1e-9), rounding

    def _rates(self, sigma: Array) -> Array:
        return 1.0 / sigma / sigma if self.power == 2.0 else 1.0 / sigma


def _evaluate(rates: Array, c: Array, w: Array, M: Array, constant: float) -> Array:
    """h at these γ, leaving out bins that are zero."""
    out = np.empty(rates.size)
    counts = np.searchsorted(c, _FAR / rates)
    bins.evaluate(rates, c, w, M, counts, constant, out)
    return out


def _tail() -> float:
    m, ratio = bins.MOMENTS, _RHO / (1.0 - _RHO)
    return float((ratio * m / math.e) ** m / math.factorial(m))


def _lay_pieces(g_lo: float, g_hi: float) -> tuple[Pieces, Array]:
    """Pieces of log γ and the γ in their middles; they overlap a little, so that rounding leaves no gap."""
    length = math.log(g_hi) - math.log(g_lo)
    count = max(1, math.ceil(length / _PIECE))
    t = (np.arange(count) + 0.5) * (length / count)
    slack = 8.0 * UNIT * (1.0 + abs(math.log(g_lo)) + abs(math.log(g_hi)))
    return Pieces(count, 0.5 * length / count + slack, _DEGREE), g_lo * np.exp(t)


def _power(rate: str) -> float:
    powers = {"inverse-square": 2.0, "inverse": 1.0}
    if rate not in powers:
        raise ValueError(f"rate={rate!r} was given; expected one of {sorted(powers)}.")
    return powers[rate]


def _distances(D: Array) -> tuple[float, float]:
    """The smallest positive and the largest entry."""
    if D.ndim != 2 or D.shape[0] != D.shape[1] or D.shape[0] == 0:
        raise ValueError(f"D has shape {D.shape}; expected a square matrix of distances between samples.")
    smallest, largest = bins.extent(D)
    if math.isnan(largest):
        raise ValueError("D must hold finite distances that are not negative.")
    return (smallest, largest) if largest > 0.0 else (1.0, 0.0)


def _index(d: float) -> int:
    """The leading bits of a double: its exponent and four bits of its mantissa."""
    return int(np.float64(d).view(np.int64) >> bins.MANTISSA)

"""Sums over the pairs of a symmetric matrix, binned by distance: Σ S_ij yᵐ, y = (D_ij − c) / w in a bin.

A bin holds a sixteenth of an octave, the exponent and four bits of the mantissa of D_ij, so that no logarithm
is taken. Pairs are sorted by bin once, in tiles whose part of S stays in cache: each bin of a tile is then a
run that is summed in registers. That is three times as fast as adding to the bins in the order of the pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compensated import two_sum
from .compiled import inner
from .elementwise import _exp
from .threads import split

Array = NDArray[np.float64]

MOMENTS = 10
MANTISSA = 48  # how many low bits of a double are not looked at
CHUNK, FEW = 128, 32  # pairs, and bins, that are added in any order; beyond that sums are compensated
AREA = 1 << 14  # pairs in a tile: 16 bits tell where one is, and the second-level cache holds them
_WIDTH = 1 << 14  # columns of a tile


def tiles(n: int) -> NDArray[np.int64]:
    """Tiles of the pairs i > j: rows lo … hi − 1, columns left … right − 1, and how many pairs are before."""
    found, before = [], 0
    for left in range(0, n - 1, _WIDTH):
        right, lo = min(left + _WIDTH, n), left + 1
        while lo < n:
            hi, size = lo, 0
            while hi < n and size + min(hi, right) - left <= AREA:
                size += min(hi, right) - left
                hi += 1
            found.append((lo, hi, left, right, before))
            lo, before = hi, before + size
    return np.array(found, dtype=np.int64).reshape(-1, 5)


@inner(nogil=True)
def _bin(d: float, base: int, last: int) -> Any:
    b: Any = (np.float64(d).view(np.int64) >> MANTISSA) - base
    return max(0, min(b, last))


@njit(cache=True, nogil=True)
def extent(D: Array) -> tuple[float, float]:
    """The smallest positive and the largest of the pairs (inf, 0 if none); nan if one is no distance."""
    smallest, largest, wrong = np.inf, 0.0, False
    for i in range(D.shape[0]):
        row = D[i, :i]
        for j in range(i):
            d = row[j]
            wrong |= not (0.0 <= d < np.inf)
            largest = max(largest, d)
            smallest = min(smallest, d if d > 0.0 else np.inf)
    return (np.nan, np.nan) if wrong else (smallest, largest)


@njit(cache=True, nogil=True)
def _sort(D: Array, tile: Any, base: int, c: Array, per: Array, order: Any, y: Array, starts: Any) -> None:
    """The pairs of a tile by bin (a counting sort), with y = (D − c) per, and where each bin starts."""
    lo, hi, left, right = tile[0], tile[1], tile[2], tile[3]
    last = c.size  # farther pairs, which count as zero
    place = np.zeros(last + 2, np.int64)
    for i in range(lo, hi):
        for j in range(left, min(right, i)):
            place[_bin(D[i, j], base, last) + 1] += 1
    for b in range(last + 1):
        place[b + 1] += place[b]
        starts[b] = place[b]
    p = 0
    for i in range(lo, hi):
        for j in range(left, min(right, i)):
            b = _bin(D[i, j], base, last)
            order[place[b]] = p
            if b < last:
                y[place[b]] = (D[i, j] - c[b]) * per[b]
            place[b] += 1
            p += 1


@inner(nogil=True, fastmath={"contract"})
def _fill(S: Array, A: Array, tile: Any, out: Array) -> int:
    """The pairs of S, or of AᵀA where A (k, n) has rows, in a tile, row by row; how many there are."""
    lo, hi, left, right = tile[0], tile[1], tile[2], tile[3]
    p = 0
    for i in range(lo, hi):
        width = min(right, i) - left
        to = out[p : p + width]
        if A.shape[0] == 0:
            to[:] = S[i, left : left + width]
        else:
            for c in range(A.shape[0]):
                scale, row = A[c, i], A[c, left : left + width]
                for j in range(width):
                    to[j] = scale * row[j] + (to[j] if c else 0.0)
        p += width
    return p


@inner(nogil=True, fastmath=True)
def _size(s: Array) -> float:
    total = 0.0
    for p in range(s.size):
        total += abs(s[p])
    return total


@inner(nogil=True, fastmath=True)
def _powers(s: Array, order: Any, y: Array, out: Array) -> float:
    """Σ_p s_{order_p}, and out_m += Σ_p s_{order_p} y_pᵐ for m ≥ 1."""
    a, b, c, d, e, f, g, h, i, j = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(y.size):
        t, x = s[order[p]], y[p]
        a += t
        t *= x
        b += t
        t *= x
        c += t
        t *= x
        d += t
        t *= x
        e += t
        t *= x
        f += t
        t *= x
        g += t
        t *= x
        h += t
        t *= x
        i += t
        t *= x
        j += t
    out[1] += b
    out[2] += c
    out[3] += d
    out[4] += e
    out[5] += f
    out[6] += g
    out[7] += h
    out[8] += i
    out[9] += j
    return a


@inner(nogil=True)
def _moments(s: Array, order: Any, y: Array, starts: Any, total: Array, lost: Array) -> None:
    """Add the entries of a tile to the moments of each bin.

    The sums of yᵐ are small for m ≥ 1, and count by (ρu)ᵐ exp(−u)/m! < 0.012: what is lost in a tile does not
    matter.
    """
    sums = np.empty(MOMENTS)
    for b in range(total.shape[0]):
        if starts[b] == starts[b + 1]:
            continue
        sums[:] = 0.0
        for lo in range(starts[b], starts[b + 1], CHUNK):
            hi = min(lo + CHUNK, starts[b + 1])
            sums[0], rest = two_sum(sums[0], _powers(s, order[lo:hi], y[lo:hi], sums))
            lost[b, 0] += rest
        for m in range(MOMENTS):
            total[b, m], rest = two_sum(total[b, m], sums[m])
            lost[b, m] += rest


@njit(cache=True, nogil=True)
def _accumulate(
    S: Any, A: Array, tile: Any, order: Any, y: Array, starts: Any, total: Any, lost: Any
) -> float:
    """The moments of some tiles, and Σ |S_ij| over their pairs, left to the caller where S = aaᵀ."""
    s, size, before = np.empty(AREA), 0.0, tile[0, 4]
    for k in range(tile.shape[0]):
        count = _fill(S, A, tile[k], s)
        size += _size(s[:count]) if A.shape[0] != 1 else 0.0
        at = tile[k, 4] - before
        _moments(s, order[at : at + count], y[at : at + count], starts[k], total, lost)
    return size


@inner(nogil=True, fastmath={"contract"})
def _terms(u: float, c: Array, w: Array, M: Array, out: Array) -> None:
    """out_b = exp(−u c_b) Σ_m M_mb (−u w_b)ᵐ."""
    n = out.size
    m0, m1, m2, m3, m4 = M[0, :n], M[1, :n], M[2, :n], M[3, :n], M[4, :n]
    m5, m6, m7, m8, m9 = M[5, :n], M[6, :n], M[7, :n], M[8, :n], M[9, :n]
    for b in range(n):
        out[b] = _exp(-u * c[b])
    for b in range(n):
        x = -u * w[b]
        p = ((m9[b] * x + m8[b]) * x + m7[b]) * x + m6[b]
        p = ((p * x + m5[b]) * x + m4[b]) * x + m3[b]
        out[b] *= ((p * x + m2[b]) * x + m1[b]) * x + m0[b]


@inner(nogil=True, fastmath=True)
def _sum(x: Array) -> float:
    total = 0.0
    for p in range(x.size):
        total += x[p]
    return total


@njit(cache=True, nogil=True)
def evaluate(rates: Array, c: Array, w: Array, M: Array, counts: Any, constant: float, out: Array) -> None:
    """out_g = constant + Σ_{b < counts_g} exp(−rates_g c_b) Σ_m M_mb (−rates_g w_b)ᵐ; M_mb has its 1/m!."""
    buffer = np.empty(c.size)
    for g in range(rates.size):
        count, total, lost = counts[g], constant, 0.0
        _terms(rates[g], c, w, M, buffer[:count])
        for lo in range(0, count, FEW):
            term = _sum(buffer[lo : min(lo + FEW, count)])
            total, rest = two_sum(total, term)
            lost += rest
        out[g] = total + lost


class Pairs:
    """The pairs i > j of D sorted by bin; the order is kept, or found anew in each pass without `keep`.

    Bin 0 holds what is smaller than bin 1, of centre 0 and width 1/per₀; bins b ≥ 1 have the doubles of
    leading bits base + b, and c_b = w_b = their middle.
    """

    def __init__(self, D: Array, base: int, c: Array, per: Array, keep: bool) -> None:
        self.D, self.base, self.c, self.per = D, base, c, per
        self.tiles = tiles(D.shape[0])
        self.pairs = D.shape[0] * (D.shape[0] - 1) // 2
        self.kept = self._scratch(self.pairs, len(self.tiles)) if keep else None
        if self.kept is not None:
            split(len(self.tiles), 4.0 * self.pairs, self._prepare)

    def _scratch(self, pairs: int, count: int) -> tuple[Any, Array, Any]:
        starts = np.empty((count, self.c.size + 1), np.int32)
        return np.empty(pairs, np.uint16), np.empty(pairs), starts

    def _prepare(self, lo: int, hi: int) -> None:
        assert self.kept is not None
        for k in range(lo, hi):
            order, y, starts = self.kept
            at = self.tiles[k, 4]
            _sort(self.D, self.tiles[k], self.base, self.c, self.per, order[at:], y[at:], starts[k])

    def moments(self, S: Array, A: Array) -> tuple[Array, float]:
        """(bins, MOMENTS) sums over the pairs of S (n, n), or of AᵀA if A (k, n) has rows; and Σ |S_ij|."""
        parts: list[tuple[Array, Array, float]] = []

        def run(lo: int, hi: int) -> None:
            total = np.zeros((self.c.size, MOMENTS))
            lost, size = np.zeros_like(total), 0.0
            if self.kept is not None:
                order, y, starts = self.kept
                at = self.tiles[lo, 4]
                size = _accumulate(S, A, self.tiles[lo:hi], order[at:], y[at:], starts[lo:hi], total, lost)
            else:
                order, y, starts = self._scratch(AREA, 1)
                for k in range(lo, hi):
                    _sort(self.D, self.tiles[k], self.base, self.c, self.per, order, y, starts[0])
                    size += _accumulate(S, A, self.tiles[k : k + 1], order, y, starts, total, lost)
            parts.append((total, lost, size))

        if self.pairs:
            split(len(self.tiles), 4.0 * self.pairs, run)
        total, size = np.zeros((self.c.size, MOMENTS)), 0.0
        for one, lost, part in parts:
            total, size = total + (one + lost), size + part
        if A.shape[0] == 1:
            size = 0.5 * float(np.abs(A).sum() ** 2 - (A**2).sum())
        return total, max(size, 0.0)

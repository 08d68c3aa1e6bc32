"""Certified global maximum of an analytic function on an interval, from its values at Chebyshev points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._fast import chebyshev
from .base import Array

Index = NDArray[np.intp]

UNIT = 2.0**-53  # how far rounding goes, relatively
_INTERVALS = 200_000  # looked at before the bound is left as weak as it is


@dataclass(frozen=True)
class Found:
    """Parameters of the largest h found and h there, in falling order, and a bound on h everywhere."""

    parameters: Array
    values: Array
    upper: float

    @property
    def parameter(self) -> float:
        return float(self.parameters[0])

    @property
    def value(self) -> float:
        return float(self.values[0])


class Pieces:
    """Intervals of one half-width that cover a range, with N + 1 Chebyshev points s_j in [−1, 1] on each."""

    def __init__(self, count: int, half: float, degree: int) -> None:
        N = degree
        self.count, self.half, self.degree = count, half, N
        k = np.arange(N + 1)
        self.s = -np.cos(np.pi * k / N)
        self.s[0], self.s[-1] = -1.0, 1.0
        ends = np.where((k == 0) | (k == N), 0.5, 1.0)
        self.T = np.cos(np.outer(np.pi * (1.0 - k / N), k))  # T_k(s_j)
        self.to_coefficients = (2.0 / N) * (self.T * ends * ends[:, None])
        self.lebesgue = 2.0 / np.pi * np.log(N + 1.0) + 1.0

    def truncation(self, b: float) -> float:
        """Bound the error of the interpolant of a function, |h| ≤ 1 where |Im t| ≤ b, by 4ρ^{−N}/(ρ − 1).

        ρ is the sum of the half-axes of the ellipse with foci at the ends of a piece that fits into this
        strip (Trefethen, Approximation Theory and Approximation Practice, Thm 8.2).
        """
        ratio = b / self.half if self.half > 0.0 else np.inf
        rho = min(ratio + np.hypot(ratio, 1.0), 1e12)
        return float(4.0 * rho**-self.degree / (rho - 1.0))

    def peaks(
        self, V: Array, error: float, k: int, tolerance: tuple[float, float]
    ) -> tuple[Index, Array, float]:
        """Pieces and places s of the largest local maxima, some of them twice, and an upper bound on h.

        V (pieces, N + 1) are values of h at the points. `error` is how far their interpolants are from h: Λ,
        the Lebesgue constant, times the error of a value, and what `truncation` says. Beyond such errors the
        bound is too large by relative·|h*| + absolute at most, (relative, absolute) = tolerance.
        """
        N = self.degree
        C = V @ self.to_coefficients
        size, j = np.abs(C), np.arange(N + 1.0)
        # Clenshaw's p(s) is exact for coefficients that differ by 5u Σ_{j≥k} (j − k + 1) |c_j|.
        rounding = size @ (3.0 * UNIT * (j + 1.0) * (j + 2.0))
        slope = size @ (3.0 * UNIT * j**2 * (j + 1.0) * (j + 2.0))
        curvature = size @ (j**2 * (j**2 - 1.0) / 3.0) * (1.0 + 1e-12)
        missed = np.abs(V - C @ self.T.T).max(axis=1)  # by coefficients that are rounded
        errors = error + self.lebesgue * (missed + 2.0 * rounding) + rounding
        start = float(V.max())
        piece, at, _, upper, _ = chebyshev.maximise(
            C, curvature, errors, slope, start, *tolerance, _INTERVALS
        )
        places = self._local_maxima(C, V, k)
        if piece >= 0:
            r = 0.5 / N
            places += [(piece, at), (piece, chebyshev.climb(C[piece], max(at - r, -1.0), min(at + r, 1.0)))]
        return np.array([p for p, _ in places]), np.array([s for _, s in places]), upper

    def _local_maxima(self, C: Array, V: Array, k: int) -> list[tuple[int, float]]:
        """The k points of the largest values among their neighbours, and the tops near them."""
        N = self.degree
        values = np.append(V[:, :N].ravel(), V[-1, N])  # neighbours share their ends
        padded = np.concatenate(([-np.inf], values, [-np.inf]))
        local = np.flatnonzero((values > padded[:-2]) & (values >= padded[2:]))
        local = local[np.argsort(-values[local], kind="stable")][:k]
        places = []
        for i in local.tolist():
            p = min(i // N, self.count - 1)
            q = i - p * N
            top = chebyshev.climb(C[p], self.s[max(q - 1, 0)], self.s[min(q + 1, N)])
            places += [(p, float(self.s[q])), (p, top)]
            if q == 0 and p > 0:  # also the last point of the piece before
                places.append((p - 1, chebyshev.climb(C[p - 1], self.s[-2], 1.0)))
        return places


def choose(places: Array, values: Array, k: int, apart: float) -> Index:
    """Positions of up to k places of the largest values, no two closer than `apart`."""
    chosen: list[int] = []
    for i in np.argsort(-values, kind="stable"):
        if all(abs(places[i] - places[j]) >= apart for j in chosen):
            chosen.append(int(i))
        if len(chosen) == k:
            break
    return np.array(chosen, dtype=np.intp)

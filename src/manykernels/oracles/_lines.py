"""Searching one parameter of any kernel for the largest h(σ) = ⟨S, K_σ⟩: a grid, polished, and bounds.

Where |h(σ) − h(τ)| ≤ L|σ − τ|, an interval [a, b] holds nothing above ½(h(a) + h(b)) + ½L(b − a), which would
be reached at σ = ½(a + b) + (h(b) − h(a))/2L (Piyavskii). Splitting the most promising interval there
until none is left lowers the bound of the whole range to the maximum.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar

from .base import Array

_GRID = 65
_PEAKS = 8  # local maxima that are worth polishing
_EVALUATIONS = 500  # of h to spend on a bound
_ACCURACY = 1e-5  # relative, of the bound
_POLISH = 1e-10  # of the range


@dataclass(frozen=True)
class Peaks:
    """Local maxima (m, p) in falling order of their values, and a bound on all values of the family."""

    parameters: Array
    values: Array
    upper: float


class LinePoint:
    """S as kernels are asked about it: AAᵀ for a factor A (n, k), or a dense symmetric matrix."""

    def __init__(self, factor: Array | None = None, matrix: Array | None = None) -> None:
        self.factor, self._matrix = factor, matrix
        if factor is not None:
            self.factor = np.ascontiguousarray(factor, dtype=float)

    @cached_property
    def matrix(self) -> Array:
        """S itself."""
        if self._matrix is not None:
            return self._matrix
        assert self.factor is not None
        return np.asarray(self.factor @ self.factor.T)

    def inner(self, K: Array) -> float:
        """⟨S, K⟩."""
        if self.factor is None:
            return float(np.vdot(self.matrix, K))
        return float(np.vdot(self.factor, K @ self.factor))

    def absolute(self, L: Array | float = 1.0) -> float:
        """Σ_ij |S_ij| L_ij."""
        if self.factor is not None and self.factor.shape[1] == 1 and np.ndim(L) == 0:
            return float(L) * float(np.abs(self.factor).sum()) ** 2
        return float(np.sum(np.abs(self.matrix) * L))

    @cached_property
    def zero(self) -> bool:
        """True if S = 0."""
        return not np.any(self.matrix if self.factor is None else self.factor)


class LineSearch:
    """h on [low, high]: `value(σ, S)` evaluates it, `lipschitz` bounds |∂k/∂σ| (of each pair, or all)."""

    def __init__(
        self,
        value: Callable[[float, LinePoint], float],
        low: float,
        high: float,
        *,
        lipschitz: Array | float | None = None,
        grid: Array | None = None,
    ) -> None:
        self.value, self.low, self.high, self.lipschitz = value, low, high, lipschitz
        space = np.geomspace if low > 0.0 else np.linspace
        self.grid = space(low, high, _GRID) if grid is None else grid
        self.grid[[0, -1]] = low, high

    def best(self, S: LinePoint, k: int) -> Peaks:
        seen = {float(sigma): self.value(float(sigma), S) for sigma in self.grid}
        upper = np.inf
        if self.lipschitz is not None:
            upper = self._bound(S, S.absolute(self.lipschitz), seen)
        sigma, h = np.array(sorted(seen)), np.array([seen[s] for s in sorted(seen)])
        padded = np.concatenate([[-np.inf], h, [-np.inf]])
        tops = np.flatnonzero((h >= padded[:-2]) & (h > padded[2:]))
        tops = tops[np.argsort(-h[tops], kind="stable")][: min(k, _PEAKS)]
        found = [self._polish(S, sigma, h, int(top)) for top in tops]
        found.sort(key=lambda pair: -pair[1])
        values = np.array([value for _, value in found])
        return Peaks(np.array([[at] for at, _ in found]), values, max(upper, float(values[0])))

    def _polish(self, S: LinePoint, sigma: Array, h: Array, top: int) -> tuple[float, float]:
        """The local maximum between the neighbours of a point that is above both."""
        lo, hi = sigma[max(top - 1, 0)], sigma[min(top + 1, sigma.size - 1)]
        options = {"xatol": _POLISH * (self.high - self.low)}
        found = minimize_scalar(lambda s: -self.value(float(s), S), bounds=(lo, hi), options=options)
        better = -found.fun > h[top]
        return (float(found.x), float(-found.fun)) if better else (float(sigma[top]), float(h[top]))

    def _bound(self, S: LinePoint, L: float, seen: dict[float, float]) -> float:
        """An upper bound on h, from intervals between the points in `seen`, to which it adds."""

        slack = 1e-9 * max(abs(h) for h in seen.values())

        def interval(a: float, b: float) -> tuple[float, float, float]:
            if abs(seen[b] - seen[a]) > L * (b - a) + slack:
                raise ValueError(
                    f"lipschitz={self.lipschitz!r} was given, and between the parameters {a:.6g} and {b:.6g} "
                    "kernels change by more than it allows. It must bound the derivative of every entry of "
                    "the kernel by its parameter; correct it, or leave it out."
                )
            return -(0.5 * (seen[a] + seen[b]) + 0.5 * L * (b - a)), a, b

        heap = [interval(a, b) for a, b in itertools.pairwise(sorted(seen))]
        heapq.heapify(heap)
        best = max(seen.values())
        while len(seen) < _EVALUATIONS and -heap[0][0] > best + _ACCURACY * abs(best):
            _, a, b = heapq.heappop(heap)
            middle = 0.5 * (a + b) + (0.5 * (seen[b] - seen[a]) / L if L > 0.0 else 0.0)
            if not a < middle < b:  # too narrow to split, or L was no bound
                middle = 0.5 * (a + b)
                if not a < middle < b:
                    heapq.heappush(heap, interval(a, b))
                    break
            seen[middle] = self.value(middle, S)
            best = max(best, seen[middle])
            heapq.heappush(heap, interval(a, middle))
            heapq.heappush(heap, interval(middle, b))
        return -heap[0][0]

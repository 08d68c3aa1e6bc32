"""Linear equations of outputs that are tied together sample by sample.

    P r = z:      S_c z_c + b_c 1 + ν = r_c  on the free samples of every output c,      Σ_c z_ic = 0

with S_c = K + diag(D_c) there and z = 0 on all others. Where there are intercepts also Σ_i z_ic = 0, whose
multipliers are b; without, b = 0. One factor for each output eliminates z, and ν solves the sum of their
inverses: for outputs of n_c free samples that costs Σ_c n_c³ + n³/3, where all equations at once would take
(Σ_c n_c)³/3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from .._fast.linalg import factor, solve

Array = NDArray[np.float64]
_JITTERS = (1e-15, 1e-9, 1e-3, 1.0)  # of the mean diagonal, for a sum of inverses that rounding has spoilt


class Coupled:
    """P for the free entries of α (n, k); `D` (n, k) is added to diagonals, `jitter` of their mean too."""

    def __init__(
        self, K: Array, free: NDArray[np.bool_], balanced: bool, D: Array | None = None, jitter: float = 0.0
    ) -> None:
        n = len(K)
        self.rows = [np.flatnonzero(column) for column in free.T]
        self.factors: list[Array] = []
        self.ones: list[Array | None] = []  # S⁻¹1/√(1ᵀS⁻¹1)
        N = np.zeros((n, n))
        for c, rows in enumerate(self.rows):
            S = K[np.ix_(rows, rows)]
            if D is not None:
                S.flat[:: rows.size + 1] += D[rows, c]
            L = factor(S, jitter)
            one = None
            if rows.size:
                inverse = _inverse(L)
                if balanced:
                    one = inverse.sum(axis=1)
                    one /= np.sqrt(max(float(one.sum()), 1e-300))
                    inverse -= np.outer(one, one)
                N[np.ix_(rows, rows)] += inverse
            self.factors.append(L)
            self.ones.append(one)
        self.any = np.flatnonzero(free.any(axis=1))
        N = N[np.ix_(self.any, self.any)]
        if balanced and self.any.size:  # b and ν may change by the same constant
            N += float(np.mean(N.diagonal())) / self.any.size
        self.sum = _definite(N)

    def _each(self, r: Array) -> Array:
        """P_c r_c for every output by itself, r (n, k, m)."""
        z = np.zeros_like(r)
        for c, rows in enumerate(self.rows):
            if rows.size:
                z[rows, c] = solve(self.factors[c], r[rows, c])
                one = self.ones[c]
                if one is not None:
                    z[rows, c] -= np.outer(one, one @ r[rows, c])
        return z

    def solve(self, r: Array) -> Array:
        """P r, for r of shape (n, k) or (n, k, m)."""
        right = r if r.ndim == 3 else r[:, :, None]
        z = self._each(right)
        nu = np.zeros((r.shape[0], 1, right.shape[2]))
        nu[self.any, 0] = solve(self.sum, z.sum(axis=1)[self.any])
        z -= self._each(np.broadcast_to(nu, right.shape))
        return z if r.ndim == 3 else z[:, :, 0]


def _definite(N: Array) -> Array:
    """The factor of N ≥ 0; where rounding has spoilt it, of N and as much of its diagonal as that takes."""
    for jitter in _JITTERS:
        try:
            return factor(N.copy(), jitter)
        except np.linalg.LinAlgError:
            continue
    return np.diag(np.sqrt(np.maximum(np.abs(N.diagonal()), 1e-300)))


def _inverse(L: Array) -> Array:
    """S⁻¹ from its factor, the whole of it."""
    inverse, _ = lapack.dpotri(L, lower=1)
    lower = np.tril_indices(len(L), -1)
    inverse.T[lower] = inverse[lower]
    return np.asarray(inverse)

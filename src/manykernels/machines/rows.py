"""The set of dual points of a loss that ties the outputs of a sample together, and ways to stay in it.

    Σ_c α_ic = 0  and  α_ic ≤ C_i [c = y_i]  for every sample i,      Σ_i α_ic = 0  for every class c

the last with intercepts only. Let X_ic = C_i [c = y_i] − α_ic ≥ 0, whose rows add up to C_i: what a sample
spends on each class. With intercepts its columns add up to N_c = Σ {C_i : y_i = c}, so that X is a plan of
transport; X⁰_ic = C_i N_c/ΣC is one, and lies inside all bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._fast import rows as fast
from .free import solved

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
_STEPS = 8  # of the balancing of columns
_INSIDE = 0.9  # of the way to the bounds, where a step would cross them


@dataclass(frozen=True)
class Plans:
    """Classes y (n,) as numbers below k, costs C (n,) > 0, and whether columns add up to 0."""

    y: Codes
    C: Array
    k: int
    balanced: bool

    @property
    def caps(self) -> Array:
        """(n, k): C_i [c = y_i]."""
        return np.where(np.arange(self.k) == self.y[:, None], self.C[:, None], 0.0)

    @property
    def center(self) -> Array:
        """α⁰, inside all bounds."""
        share = np.bincount(self.y, self.C, self.k) / self.C.sum()
        return np.asarray(
            self.caps - np.outer(self.C, share if self.balanced else np.full(self.k, 1 / self.k))
        )

    def nearest(self, alpha: Array) -> Array:
        """The nearest point whose rows are in their sets; columns may add up to anything."""
        point = np.array(alpha, order="C", dtype=float)
        fast.nearest_rows(point, self.y, self.C)
        return point

    def feasible(self, alpha: Array) -> Array:
        """A point of the set near α: its rows first, then its columns."""
        point = self.nearest(alpha)
        return self._mixed(self._transported(point)) if self.balanced else point

    def _transported(self, alpha: Array) -> Array:
        """α with columns of zero sum, as far as moving what is between bounds can do it.

        X + Z with the smallest Σ Z²/X has Z_ic = X_ic (λ_c − μ_i), and the conditions on rows and columns are
        a Laplacian in λ: one step of Newton's method for Sinkhorn's scaling of X.
        """
        X, size = self.caps - alpha, float(self.C.sum())
        for _ in range(_STEPS):
            excess = alpha.sum(axis=0)  # what X lacks in each column
            if np.abs(excess).max() <= 1e-15 * size:
                break
            share = X / self.C[:, None]
            J = np.diag(X.sum(axis=0)) - X.T @ share
            turn = solved(J, excess, 1e-12 * size)
            Z = turn - (share @ turn)[:, None]  # relative to X
            t = min(1.0, _INSIDE / max(-float(Z.min()), 1e-300))
            X = X * (1.0 + t * Z)
            alpha = self.nearest(self.caps - X)
            X = self.caps - alpha
        return alpha

    def _mixed(self, alpha: Array) -> Array:
        """Spread the rest of the columns' sums over all rows; α⁰ takes back what crosses a bound."""
        alpha = alpha - np.outer(self.C, alpha.sum(axis=0) / self.C.sum())
        center, caps = self.center, self.caps
        over = alpha - caps
        worst = over > 0.0
        if worst.any():
            t = float(np.max(over[worst] / (over[worst] + (caps - center)[worst])))
            alpha = alpha + min(1.0, t) * (center - alpha)
        return np.minimum(alpha, caps)

    def exact(self, alpha: Array) -> Array:
        """A point next to α whose rows, and columns, add up to exactly 0; zero itself where there is none.

        In whole multiples of one power of two, an ulp of Σ|α|, all sums are exact. What a column has too much
        of, another has too little of; any row with room below its bound can change them.
        """
        total = float(np.abs(alpha).sum())
        if not 1e-270 < total < np.inf:
            return np.zeros_like(alpha)
        grid = 2.0 ** (np.ceil(np.log2(total)) - 52.0)
        whole, caps = (
            np.minimum(np.trunc(alpha / grid), np.floor(self.caps / grid)),
            np.floor(self.caps / grid),
        )
        left = whole.sum(axis=1)
        rows = np.arange(len(whole))
        most = np.where(left > 0.0, self.y, whole.argmin(axis=1))  # who can fall, or rise, by an ulp or two
        whole[rows, most] -= left
        for d in np.flatnonzero((low := whole.sum(axis=0)) < 0.0) if self.balanced else ():
            for c in np.flatnonzero(low > 0.0):
                step = min(-low[d], low[c])
                room = caps[:, d] - whole[:, d]
                i = int(room.argmax())
                if room[i] < step:
                    return np.zeros_like(alpha)
                whole[i, d], whole[i, c] = whole[i, d] + step, whole[i, c] - step
                low[d], low[c] = low[d] + step, low[c] - step
        return np.asarray(whole * grid) if np.all(whole <= caps) else np.zeros_like(alpha)

    def pairs(self, alpha: Array, edge: float) -> tuple[Codes, Array]:
        """The directions in which α is free: samples i (d,) and V (d, k) with one +1 and one −1 in each row.

        A sample that spends on classes A has |A| − 1 of them: from the class it spends most on to each other.
        """
        X = self.caps - alpha
        spent = X > edge * self.C[:, None]
        top = X.argmax(axis=1)
        spent[np.arange(len(X)), top] = False
        i, c = np.nonzero(spent)
        V = np.zeros((i.size, self.k))
        V[np.arange(i.size), c] = 1.0
        V[np.arange(i.size), top[i]] = -1.0
        return i, V

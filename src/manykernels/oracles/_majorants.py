"""Factors drawn by rejection: a sum over all that may follow, replaced by a bound that costs far less.

The next factor j of a product that starts with u = α∘Πx_i weighs m_j = (u∘x_j)ᵀ H (u∘x_j), H = S^{∘e} for the
e factors that follow it. All m_j take O(r n²) for each start. But H is a kernel, and a kernel is below

    H ⪯ λ diag(h) + W Wᵀ,      h the diagonal of H, W (n, k) its largest directions, λ what is left of it,

so that m_j ≤ b_j = λ Σ_t h_t u_t² x_tj² + Σ_i (w_iᵀ(u∘x_j))², which takes O(k r n) for all j. A factor that
is drawn in proportion to b and kept with probability m_j/b_j is one drawn in proportion to m, exactly, and m
is needed for the factors proposed only: one product of matrices H·V for all starts together in each round,
or XᵀV where H = XXᵀ has fewer columns than samples.

The higher the power, the closer is S^{∘e} to its diagonal: most proposals are then kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh
from scipy.sparse.linalg import eigsh

Array = NDArray[np.float64]
Places = NDArray[np.intp]
_DIRECTIONS = 32  # of H that are kept at most
_ROUNDING = 1e-10  # relative: what eigenvalues may be too small by
_SMALL = 1000  # samples, up to which eigenvectors are computed to the last digit
_SAFE = 1.02  # what is put on λ until it is proven
_COLUMNS = 512  # proposals that are judged together
_ENTRIES = 1 << 22  # of tables that are formed together
_WORTH = 0.25  # of what is expected to be kept: where less is, another way is taken


class Majorant:
    """λ diag(h) + WWᵀ above a kernel H on n samples, for proposals among r columns.

    With k directions a start costs about n r (k + 1) operations for its proposals, and λ n² to keep one of
    them, or λ n r where `columns` X are given, with H = XXᵀ: k is where the sum is smallest.
    """

    def __init__(self, H: Array, r: int, columns: Array | None = None) -> None:
        n = len(H)
        self.columns, self.width = columns, n if columns is None else columns.shape[1]
        self.H, self.h = H, np.maximum(H.diagonal(), 0.0)
        root = np.sqrt(self.h)
        inverse = np.divide(1.0, root, out=np.zeros(n), where=root > 0.0)
        C = inverse[:, None] * H * inverse
        values, vectors = _largest(C, min(_DIRECTIONS, n - 1) + 1)
        self.k = int(np.argmin(r * np.arange(1.0, values.size + 1.0) + self.width * values))
        W = vectors[:, : self.k] * np.sqrt(values[: self.k] - values[self.k])
        rest = float(values[self.k]) + _ROUNDING * float(values[0])
        self.rest = rest if n <= _SMALL else _proven(C, W, rest)
        self.W = root[:, None] * W

    def cost(self, starts: int, draws: int, r: int) -> float:
        """Operations, roughly, of so many draws from so many starts."""
        n = len(self.h)
        return n * r * (self.k + 1.0) * starts + max(self.rest, 1.0) * n * self.width * draws

    def bounds(self, X: Array, U: Array) -> Array:
        """(starts, r): b_j for the columns of X and each start, a column of U."""
        (n, m), r = U.shape, X.shape[1]
        table = self.rest * (np.square(X).T @ (np.square(U) * self.h[:, None]))
        step = max(1, _ENTRIES // (max(n, r) * max(self.k, 1)))
        for lo in range(0, m if self.k else 0, step):
            part = U[:, lo : lo + step]
            inner = X.T @ (part[:, :, None] * self.W[:, None, :]).reshape(n, -1)
            table[:, lo : lo + step] += np.square(inner).reshape(r, -1, self.k).sum(axis=2)
        return np.asarray(table.T)

    def draw(
        self, X: Array, U: Array, counts: Places, rng: np.random.RandomState
    ) -> tuple[Places, Places, Places]:
        """(starts, factors) of what was kept of `counts` draws from each start, and the starts of the others.

        It gives up where far fewer proposals are kept than expected. Whether a proposal is kept says nothing
        about those to come, so that the others can be drawn in any exact way.
        """
        table = self.bounds(X, U)
        ladder = _ladder(table)
        pending = np.repeat(np.arange(counts.size), counts)
        starts, factors = [pending[:0]], [pending[:0]]
        for _ in range(max(2, round(4.0 * self.rest))):
            if not pending.size:
                break
            j, kept = self._round(X, U, table, ladder, pending, rng)
            starts.append(pending[kept])
            factors.append(j[kept])
            few = float(kept.mean()) < _WORTH / max(self.rest, 1.0)
            pending = pending[~kept]
            if few and kept.size > 8:
                break
        return np.concatenate(starts), np.concatenate(factors), pending

    def _round(
        self, X: Array, U: Array, table: Array, ladder: Array, pending: Places, rng: np.random.RandomState
    ) -> tuple[Places, NDArray[np.bool_]]:
        """One proposal for every draw that is pending, and which of them are kept."""
        r = X.shape[1]
        place = np.searchsorted(ladder, pending + rng.uniform(size=pending.size), side="right")
        j = np.minimum(place - r * pending, r - 1)
        level = rng.uniform(size=pending.size) * table[pending, j]
        kept = np.empty(pending.size, dtype=bool)
        for lo in range(0, pending.size, _COLUMNS):
            part = slice(lo, lo + _COLUMNS)
            V = U[:, pending[part]] * X[:, j[part]]
            kept[part] = level[part] < self._forms(V)
        return j, kept

    def _forms(self, V: Array) -> Array:
        """vᵀHv of the columns of V."""
        if self.columns is not None:
            return np.asarray(np.square(self.columns.T @ V).sum(axis=0))
        return np.asarray(np.einsum("nm,nm->m", V, self.H @ V))


def _largest(C: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues, in falling order, and their vectors; of large matrices about."""
    n = len(C)
    if n <= _SMALL:
        values, vectors = eigh(C, subset_by_index=[n - count, n - 1])
    else:
        values, vectors = eigsh(C, count, which="LA", tol=1e-3, v0=np.ones(n), maxiter=20 * n)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return values[::-1], vectors[:, ::-1]


def _proven(C: Array, W: Array, rest: float) -> float:
    """A λ of at least `rest` with C ⪯ λI + WWᵀ, which is so where the difference has a Cholesky factor."""
    D = W @ W.T - C
    diagonal = D.diagonal().copy()
    while True:
        rest *= _SAFE
        np.fill_diagonal(D, diagonal + rest)
        try:
            cholesky(D, lower=True, check_finite=False)
        except LinAlgError:
            continue
        return rest


def _ladder(table: Array) -> Array:
    """Cumulative shares of every row, the row's number added: one search then serves all rows."""
    steps = np.cumsum(np.maximum(table, 0.0), axis=1)
    total = np.where(steps[:, -1:] > 0.0, steps[:, -1:], 1.0)
    return np.asarray(steps / total + np.arange(len(table))[:, None]).ravel()

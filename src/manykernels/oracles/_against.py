"""Products of columns against a symmetric matrix that need not be positive: what greedy alignment asks.

    ⟨K_z, S⟩ = s_z (Σ_i w_i (u_iᵀφ_z)² + ι ‖φ_z‖²)      for S = Σ_i w_i u_i u_iᵀ + ι I and K_z = s_z φ_z φ_zᵀ

are signed sums of what is scored for one-stage learning anyway (Afkanpour 2013, §5.3). From one step of
greedy alignment to the next only the weights w change, and one column u joins, that of the kernel that was
added: the squares of the others are kept, so that a step costs one look at the family, however many kernels
there are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._monomials import Monomials
from .base import Array, LowRank

_KEPT = 1 << 28  # bytes of squares that are kept, at most
Block = tuple[int, int, Array]


class Against:
    """Scores of all products against S, exactly, and the best of them."""

    def __init__(self, products: Monomials, count: float, room: float) -> None:
        self.products, self.bytes, self.room = products, 8.0 * count, min(room, _KEPT)
        self.known: dict[bytes, list[Block]] = {}

    def best(self, S: LowRank, k: int) -> tuple[list[tuple[int, ...]], Array]:
        """The k products of the largest ⟨K_z, S⟩, in falling order."""
        found: list[tuple[float, int, int]] = []
        for d, place, values in self._scores(S):
            top = np.argpartition(-values, k - 1)[:k] if values.size > k else np.arange(values.size)
            found += [(float(values[i]), d, place + int(i)) for i in top]
            found = sorted(found, key=lambda entry: -entry[0])[:k]
        return [self.products.product(d, place) for _, d, place in found], np.array([f[0] for f in found])

    def _scores(self, S: LowRank) -> Iterator[Block]:
        columns = [S.U[:, i] for i in range(S.U.shape[1])]
        if (len(columns) + 1) * self.bytes <= self.room:
            known = {u.tobytes(): self._known(u) for u in columns}
            self.known = known  # those of columns that have left are forgotten
            parts = [known[u.tobytes()] for u in columns]
            weights = [float(w) for w in S.w]
        else:
            parts, weights = [], []
            for sign in (1.0, -1.0):
                chosen = np.flatnonzero(sign * S.w > 0.0)
                if chosen.size:
                    A = S.U[:, chosen] * np.sqrt(np.abs(S.w[chosen]))
                    parts.append(self.products.squares(A))  # type: ignore[arg-type]
                    weights.append(sign)
        if S.identity != 0.0:
            parts.append(self.products.sizes())  # type: ignore[arg-type]
            weights.append(S.identity)
        for blocks in zip(*parts, strict=True):
            total = weights[0] * blocks[0][2]
            for weight, block in zip(weights[1:], blocks[1:], strict=True):
                total += weight * block[2]
            yield blocks[0][0], blocks[0][1], total

    def _known(self, u: Array) -> list[Block]:
        """s_z (uᵀφ_z)² of all products, looked up or made."""
        found = self.known.get(u.tobytes())
        return list(self.products.squares(u[:, None])) if found is None else found

"""Cuts below J(θ), with the dual points they came from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram

Array = NDArray[np.float64]


class Bundle:
    """At most `size` cuts c_t − ½q_tᵀθ over the working set, with their multipliers in the last model."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.c: list[float] = []
        self.q: list[Array] = []
        self.alpha: list[Array] = []
        self.weights: Array = np.empty(0)

    def add(self, c: float, q: Array, alpha: Array) -> None:
        """Add a cut; where there are too many, the one that mattered least leaves, never the newest."""
        if len(self.c) >= self.size:
            mattered = np.ones(len(self.c))
            mattered[: self.weights.size] = self.weights[: len(self.c)]
            least = int(np.argmin(mattered[:-1]))
            for part in (self.c, self.q, self.alpha):
                del part[least]
            self.weights = np.delete(self.weights, least) if least < self.weights.size else self.weights
        self.c.append(c)
        self.q.append(q)
        self.alpha.append(alpha)

    def arrays(self) -> tuple[Array, Array]:
        """(c, Q) with one row a cut."""
        return np.array(self.c), np.stack(self.q)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Forget kernels that leave the working set."""
        self.q = [q[kept] for q in self.q]

    def extend(self, gram: Gram, atoms: NDArray[np.intp]) -> None:
        """Give every cut its quadratic forms for kernels that join the working set."""
        A = np.concatenate(self.alpha, axis=1)
        new = gram.quad(A, atoms).reshape(atoms.size, len(self.c), -1).sum(axis=2)
        self.q = [np.concatenate([q, new[:, t]]) for t, q in enumerate(self.q)]

    def mix(self, weights: Array) -> Array:
        """Σ weights_t α_t."""
        return np.asarray(np.einsum("t,tnk->nk", weights, np.stack(self.alpha)))

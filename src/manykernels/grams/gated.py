"""Kernels c_j(x) k_m(x, x') c_j(x') of gates c_1 … c_l and kernels k_1 … k_M (Lei et al. 2016, Eq. 6), never
stored.

Kernel (j, m), in place jM + m, is diag(c_j) K_m diag(c_j): its products and quadratic forms are those of K_m
at c_j ∘ α, and a combination costs the combinations of the K_m for each gate.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._fast import stack as fast
from .base import Array, Atoms, Gram


class GatedGram(Gram):
    """The kernels of `whole` behind every gate; `gates` is (n, l)."""

    def __init__(self, whole: Gram, gates: Array) -> None:
        super().__init__(whole.n, whole.n_kernels * gates.shape[1])
        self.whole, self.gates = whole, np.asarray(gates, dtype=float)
        self.precision, self.entry = whole.precision, whole.entry
        if whole.names is not None:
            self.names = [f"{name}, cluster {j}" for j in range(gates.shape[1]) for name in whole.names]

    def rescaled(self, scale: Array) -> GatedGram:
        """With scales of kernels that are the same behind every gate."""
        return GatedGram(self.whole.rescaled(scale[: self.whole.n_kernels]), self.gates)

    def _by_gate(self, atoms: Atoms) -> Iterator[tuple[Array, NDArray[np.intp], Atoms]]:
        """(gate, positions in `atoms` of its kernels, these kernels in `whole`)."""
        gate, kernel = np.divmod(atoms, self.whole.n_kernels)
        for j in np.unique(gate):
            places = np.flatnonzero(gate == j)
            yield self.gates[:, j], places, kernel[places]

    def _combine(self, atoms: Atoms, weights: Array, out: Array) -> None:
        out.fill(0.0)
        buffer = np.empty_like(out)
        for gate, places, kernels in self._by_gate(atoms):
            K = self.whole.combine(weights[places], kernels, out=buffer)
            inside = np.flatnonzero(gate)
            if inside.size < 0.7 * self.n:  # hard gates: most of the matrix is zero
                part = np.ix_(inside, inside)
                out[part] += K[part] * gate[inside, None] * gate[inside]
                continue
            K *= gate[:, None]
            K *= gate
            out += K

    def _products(self, A: Array, atoms: Atoms) -> Array:
        R = np.empty((atoms.size, *A.shape))
        for gate, places, kernels in self._by_gate(atoms):
            R[places] = self.whole.products(gate[:, None] * A, kernels) * gate[:, None]
        return R

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        q = np.empty((atoms.size, A.shape[1]))
        for gate, places, kernels in self._by_gate(atoms):
            q[places] = self.whole.quad(gate[:, None] * A, kernels)
        return q

    def _diagonals(self) -> Array:
        d = self._whole_diagonals()
        return np.concatenate([d * gate**2 for gate in self.gates.T])

    def largest(self) -> Array:
        return np.concatenate([self.whole.largest() * gate.max() ** 2 for gate in np.abs(self.gates.T)])

    def _whole_diagonals(self) -> Array:
        d, mean = self.whole._diagonals(), self.whole.mean
        if mean is not None:
            rows = self.whole._products(mean[:, None], self.whole._atoms(None))[:, :, 0]
            d = d - 2.0 * rows + (rows @ mean)[:, None]
        return np.asarray(d * self.whole.scale[:, None])

    def _one(self, atom: int) -> Array:
        K = np.empty((self.n, self.n))
        self._combine(np.array([atom]), np.ones(1), K)
        return K

    def _blocks(self, atoms: Atoms) -> Iterator[tuple[int, int, int, Array]]:
        for position, atom in enumerate(atoms):
            yield position, 0, self.n, self._one(int(atom))

    def _centred(self, lo: int, hi: int, means: Array, grand: Array, out: Array) -> None:
        for m in range(self.n_kernels):
            out[m] = self._one(m)[lo:hi, :hi]
        fast.centre(out, 0, lo, means, grand, self.scale, out)

    def exact(self) -> Gram:
        whole = self.whole.exact()
        return self if whole is self.whole else GatedGram(whole, self.gates)

    def doubt(self, A: Array) -> Array:
        return np.concatenate([self.whole.doubt(gate[:, None] * A) for gate in self.gates.T])

    def subset(self, rows: NDArray[np.intp]) -> GatedGram:
        return GatedGram(self.whole.subset(rows), self.gates[rows])

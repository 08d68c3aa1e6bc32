"""Explicit features of all samples whose combinations stay in that form: nothing of n × n is ever made."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .base import Array, Atoms
from .factors import FactorGram

_SYSTEM_ROWS = 16384  # of Ψ at a time


class Combination:
    """K = ΨΨᵀ, never formed: Ψ = Φ diag(root) over the features of kernels with weight."""

    def __init__(self, Phi: Array, root: Array) -> None:
        self.Phi, self.root = Phi, root

    def __matmul__(self, alpha: Array) -> Array:
        return self.scores(self.features(alpha))

    def features(self, alpha: Array) -> Array:
        """Ψᵀα."""
        return np.asarray((self.Phi.T @ alpha).T * self.root).T

    def scores(self, v: Array) -> Array:
        """Ψv."""
        return np.asarray(self.Phi @ (v.T * self.root).T)

    def system(self, W: Array, Z: Array | None = None) -> Array:
        """diag(1, …, 1, 0) + Ψ̃ᵀWΨ̃ with Ψ̃ = [Ψ 1], or [Ψ Z], from the samples with W > 0."""
        p, r = self.root.size, 1 if Z is None else Z.shape[1]
        H = np.zeros((p + r, p + r))
        used = np.flatnonzero(W > 0.0)
        for lo in range(0, used.size, _SYSTEM_ROWS):
            rows = used[lo : lo + _SYSTEM_ROWS]
            root = np.sqrt(W[rows])
            half = root[:, None] * self.Phi[rows]
            H[:p, :p] += half.T @ half
            if Z is None:
                H[:p, p] += half.T @ root
            else:
                H[:p, p:] += half.T @ (root[:, None] * Z[rows])
        H[:p, :p] *= self.root
        H[:p] *= self.root[:, None]
        H.flat[: p * (p + r + 1) : p + r + 1] += 1.0
        H[p:, :p] = H[:p, p:].T
        H[p:, p:] = float(W.sum()) if Z is None else (W[:, None] * Z).T @ Z
        return H


class FeatureGram(FactorGram):
    """Explicit features of all samples, whose combinations stay in that form."""

    explicit: ClassVar[bool] = True

    def combine(self, theta: Array, atoms: Atoms | None = None, out: Any = None) -> Any:
        atoms, theta = self._atoms(atoms), np.asarray(theta, dtype=float)
        used = np.flatnonzero(theta)
        weights = np.sqrt(theta[used] * self.scale[atoms[used]])
        if used.size == self.n_kernels and np.array_equal(atoms, np.arange(self.n_kernels)):
            return Combination(self.features, np.repeat(weights, np.diff(self.ptr)))
        Phi, owner = self._columns(atoms[used])
        return Combination(Phi, weights[owner])

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        inner = np.square(self.features.T @ A)
        return np.asarray(np.add.reduceat(inner, self.ptr[:-1], axis=0)[atoms])

    def traces(self) -> Array:
        squares = np.einsum("ij,ij->j", self.features, self.features)
        return np.asarray(np.add.reduceat(squares, self.ptr[:-1]) * self.scale)

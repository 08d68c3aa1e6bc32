"""The restricted problem of rank-one kernels and a smooth loss, with the features of its atoms in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..objectives import Separable
from ..oracles import Oracle
from ..oracles.base import Atom
from ..penalties import Simplex
from ._row_problems import RowNewton, _bent, _smoothed
from .base import Array


class Held:
    """Features of atoms, asked for as `RowNewton` asks rows that are read in blocks."""

    width, most, noise = 1, np.inf, 0.0

    def __init__(self, oracle: Oracle) -> None:
        self.oracle, self.n = oracle, oracle.n
        self.atoms: list[Atom] = []
        self.rows = np.empty((0, self.n))  # the features, one in a row

    def of(self, atoms: Sequence[Atom]) -> Array:
        """(m, n)."""
        if list(atoms) == self.atoms:
            return self.rows
        place = {z: j for j, z in enumerate(self.atoms)}
        new = [z for z in atoms if z not in place]
        rows = np.empty((len(atoms), self.n))
        if new:
            found = self.oracle.gram(new).own_features().T
            fresh = {z: j for j, z in enumerate(new)}
        for i, z in enumerate(atoms):
            rows[i] = self.rows[place[z]] if z in place else found[fresh[z]]
        return rows

    def hold(self, atoms: Sequence[Atom]) -> None:
        """Have these at hand."""
        self.rows, self.atoms = self.of(atoms), list(atoms)

    def largest(self, atoms: Sequence[Atom]) -> float:
        return float(np.square(self.of(atoms)).max(initial=0.0))

    def moments(self, atoms: Sequence[Atom], new: int, c: Array, B: Array) -> tuple[Array, Array]:
        """Φᵀdiag(c)Φ and ΦᵀB."""
        rows = self.of(atoms)
        half = rows * np.sqrt(c)
        return half @ half.T, rows @ B

    def decisions(self, atoms: Sequence[Atom], w: Array) -> Array:
        """Φw."""
        return self.of(atoms).T @ w

    def quad(self, A: Array, atoms: Sequence[Atom]) -> Array:
        return np.asarray(np.square(self.of(atoms) @ A).sum(axis=1))


class HeldNewton(RowNewton):
    """Newton's method on the features that are held."""

    def __init__(self, oracle: Oracle, risk: Separable) -> None:
        self.held = Held(oracle)
        super().__init__(self.held, risk)  # type: ignore[arg-type]

    @property
    def details(self) -> dict[str, Any]:
        """Nothing: decisions are those of θ and α."""
        return {}

    def _join(self, new: int) -> None:
        self.held.hold(self.atoms)

    def settled(self, primal: float, tol: float) -> float:
        """P of Σ θ_j K_jα + Zγ after one more step, whose α meets φ_jᵀα = ±Σ|w| to first order, exactly."""
        assert isinstance(self.risk, Separable)
        risk, Phi = self.risk.scaled(self.scale), self.held.of(self.atoms).T
        smooth = risk if risk.loss.smooth else _smoothed(risk, self.mu)
        d, e, _ = self._step(smooth, tol)
        along = Phi @ d + (self.Z @ e)[:, None]
        self.alpha = -smooth.gradient(self.f) - _bent(smooth, self.f) * along
        self.w, self.gamma = self.w + d, self.gamma + e
        pull, sizes = Phi.T @ self.alpha, np.abs(self.w)
        theta = sizes / max(float(sizes.sum()), 1e-300)
        self.offsets = self._offsets()
        self.f = Phi @ (theta * pull) + (self.Z @ self.gamma)[:, None]
        q = np.square(pull[:, 0])
        return risk.primal(Simplex(), theta[:, 0], q, self.f, self.alpha, self.size)

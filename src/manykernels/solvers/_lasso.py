"""The restricted problem of rank-one kernels, squared loss and norm 1: a lasso with the norm squared.

With K_j = φ_jφ_jᵀ and f = Σ_j w_j φ_j + b,

    P = ½ (Σ_j |w_j|)² + ½ Σ_i C_i (y_i − f_i)²,      α = C(y − f),      θ_j = |w_j|/Σ|w|
    optimal ⟺ |φ_jᵀα| ≤ Σ|w|, and φ_jᵀα = sign(w_j) Σ|w| where w_j ≠ 0

With the signs s given it is non-negative least squares in v = s w: ½vᵀ(sGs + 11ᵀ)v − (sb)ᵀv, for
G = ΦᵀCΦ and b = ΦᵀCy of features and targets less their C-weighted means, which the intercept takes up (or
less their C-weighted projections on covariates). So it is solved exactly, and from the last solution when
features join or C changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._fast.nnls import nnls
from ..objectives import LeastSquares, Risk
from ..oracles import Oracle
from ..oracles.base import Atom
from ..penalties import Simplex
from ._beside import Beside
from .base import Array

_PATIENCE = 3  # rounds that an atom without weight stays for
_ROUNDS = 50  # of signs; two or three are enough


class Lasso:
    """The problem restricted to the atoms that were added, at costs `scale` · C."""

    exact = True
    details: ClassVar[dict[str, Any]] = {}

    def __init__(self, oracle: Oracle, risk: Risk, squares: LeastSquares) -> None:
        self.oracle, self.risk = oracle, risk
        self.size = 0.0
        self.C, self.y = squares.cost, squares.targets[:, 0]
        self.beside = Beside(risk, self.C)
        self.level = self.beside.coefficients(self.y)
        self.target = self.y - self.beside.values(self.level)
        self.atoms: list[Atom] = []
        self.alpha = np.zeros((self.y.size, 1))
        self.Phi = np.empty((self.y.size, 0))
        self.idle = np.empty(0, dtype=np.intp)  # for how many rounds each atom has been without weight
        self.G, self.b, self.w, self.means = np.empty((0, 0)), np.empty(0), np.empty(0), self.beside.none

    def add(self, atoms: Sequence[Atom]) -> None:
        """Let more atoms take part; those long without weight leave, so that the problem stays small.

        Not at once: near n atoms many come back, and each time it takes a look at the family to find them.
        """
        self.idle = np.where(self.w != 0.0, 0, self.idle + 1)
        self._keep(np.flatnonzero(self.idle <= _PATIENCE))
        phi = self.oracle.gram(atoms).own_features()
        self.size = max(self.size, float(np.max(phi**2, initial=0.0)))
        means = self.beside.coefficients(phi)
        phi -= self.beside.values(means)
        weighted = self.C[:, None] * phi
        cross = self.Phi.T @ weighted
        self.G = np.block([[self.G, cross], [cross.T, phi.T @ weighted]])
        self.b = np.concatenate([self.b, self.target @ weighted])
        self.means = np.concatenate([self.means, means], axis=-1)
        self.w = np.concatenate([self.w, np.zeros(len(atoms))])
        self.idle = np.concatenate([self.idle, np.zeros(len(atoms), dtype=np.intp)])
        self.Phi = np.hstack([self.Phi, phi])
        self.atoms = [*self.atoms, *atoms]

    def _keep(self, used: NDArray[np.intp]) -> None:
        self.atoms = [self.atoms[j] for j in used]
        self.G, self.b, self.w = self.G[np.ix_(used, used)], self.b[used], self.w[used]
        self.Phi, self.means, self.idle = self.Phi[:, used], self.means[..., used], self.idle[used]

    def solve(self, scale: float, tol: float) -> tuple[Array, float, float]:
        """(α, P, the largest q of the atoms there are), exactly whatever `tol`."""
        self.w = squared_lasso(scale * self.G, scale * self.b, self.w)
        residual = self.target - self.Phi @ self.w
        level = float(np.abs(self.w).sum())
        self.alpha = (scale * self.C * residual)[:, None]
        risk = self.risk.scaled(scale)
        theta, q = self.weights()[1], np.full(np.count_nonzero(self.w), level**2)
        f = (self.y - residual)[:, None]
        return self.alpha, risk.primal(Simplex(), theta, q, f, self.alpha, self.size), level**2

    def settled(self, primal: float, tol: float) -> float:
        """P as it was: α is that of w."""
        return primal

    def weights(self) -> tuple[list[Atom], Array]:
        """The atoms with weight and θ = |w|/Σ|w|."""
        used = np.flatnonzero(self.w)
        return [self.atoms[j] for j in used], np.abs(self.w[used]) / max(float(np.abs(self.w).sum()), 1e-300)

    def machine(self) -> tuple[Array, Array]:
        """α and the intercept, or Zγ."""
        return self.alpha, self.beside.offsets(self.level - self.means @ self.w)


def squared_lasso(G: Array, b: Array, w: Array) -> Array:
    """The w that minimises ½(Σ|w|)² + ½wᵀGw − bᵀw, exactly, from another w."""
    for _ in range(_ROUNDS):
        pull = b - G @ w
        signs = np.where(w != 0.0, np.sign(w), np.where(pull >= 0.0, 1.0, -1.0))
        w = signs * _non_negative(G, b, w, signs)
        pull, level = b - G @ w, float(np.abs(w).sum())
        if np.all((w != 0.0) | (np.abs(pull) <= level * (1.0 + 1e-10)) | (signs * pull > 0.0)):
            break
    return w


def _non_negative(G: Array, b: Array, w: Array, signs: Array) -> Array:
    """|w| of these signs."""
    H = G * np.outer(signs, signs) + 1.0
    d = np.sqrt(np.diag(H))
    c = signs * b / d
    size = max(float(np.abs(c).max(initial=0.0)), 1e-300)
    v = nnls(H / np.outer(d, d), c / size, np.abs(w) * d / size)
    return np.asarray(v * size / d)

"""The weights of the kernels that mirror descent has met, with K_θ and the average of all iterates.

Both are kept up to date from the kernels of each step alone. Every iterate is θ = s·w and K_θ = s·K with one
factor s for all kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..penalties import L2Ball, LpBall, Penalty
from .base import Array, Atom, Oracle

_SMALLEST = 1e-3  # of the factor of w before w is put back to scale: the average loses so many digits
_LARGEST = 50.0  # logarithm of the factor by which a step may raise a weight


class Iterate(ABC):
    """θ over the kernels met so far, zero elsewhere, and Σ a_k θ^(k) over the iterates that were counted."""

    s: float

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.atoms: list[Atom] = []
        self.K = np.zeros((oracle.n, oracle.n))
        self.counted = 0.0  # Σ a_k
        self._index: dict[Atom, int] = {}

    def positions(self, atoms: Sequence[Atom]) -> NDArray[np.intp]:
        """Return the positions of atoms in `atoms`, new ones at its end."""
        found = np.empty(len(atoms), dtype=np.intp)
        for i, atom in enumerate(atoms):
            found[i] = self._index.setdefault(atom, len(self.atoms))
            if found[i] == len(self.atoms):
                self.atoms.append(atom)
        return found

    @abstractmethod
    def step(self, atoms: Sequence[Atom], g: Array, eta: float) -> None:
        """θ ← argmin over Θ of η⟨g, θ'⟩ + D_Ψ(θ', θ), for a g that is zero outside distinct `atoms`."""

    @abstractmethod
    def count(self, weight: float) -> None:
        """Add the current θ to the average, with this weight."""

    @abstractmethod
    def weights(self) -> Array:
        """θ, in the order of `atoms`."""

    @abstractmethod
    def average(self) -> tuple[Array, Array]:
        """The average of the iterates counted, and its K_θ."""


class DrawnIterate(Iterate):
    """θ = s·w, where a step changes w at the kernels drawn only, and s for all.

    Sums over iterates: Σ_k a_k s_k w^(k) = S·w + done with S = Σ a_k s_k, where `done` loses S·Δw whenever w
    grows by Δw.
    """

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(oracle)
        self.s, self.S = 1.0, 0.0
        self.done = np.zeros(64)
        self.K_done = np.zeros_like(self.K)

    @property
    @abstractmethod
    def w(self) -> Array:
        """(len(atoms),)."""

    def _change(self, at: NDArray[np.intp], atoms: Sequence[Atom], dw: Array) -> None:
        dK = combined(self.oracle, atoms, dw)
        self.done[at] -= self.S * dw
        self.K += dK
        if self.S:
            dK *= self.S
            self.K_done -= dK

    def _settle(self) -> None:
        """Add up what was counted so far, because S·w + done cancels where s has fallen far."""
        self.done[: len(self.atoms)] += self.S * self.w
        self.K_done += self.S * self.K
        self.S = 0.0

    def count(self, weight: float) -> None:
        self.counted += weight
        self.S += weight * self.s

    def weights(self) -> Array:
        return np.asarray(self.s * self.w)

    def average(self) -> tuple[Array, Array]:
        theta = self.S * self.w + self.done[: len(self.atoms)]
        return np.maximum(theta, 0.0) / self.counted, (self.S * self.K + self.K_done) / self.counted


class ScaledIterate(DrawnIterate):
    """Balls {‖θ‖_p ≤ R}, 1 < p ≤ 2, with Ψ = ½‖·‖_p²: no step touches a kernel that was not drawn.

    In the dual coordinates u = ∇Ψ(θ) of `LpBall.mirror_step` a step adds −ηg to the kernels drawn, what falls
    below zero is zero (θ ≥ 0 has multipliers ν ≥ 0 there), and the projection divides all of u by ‖u‖_r/R.
    With u = c·v, V = Σv^r and w = v^{r−1} this is θ = s·w, s = c·V^{(2−r)/r}.
    """

    def __init__(self, oracle: Oracle, p: float, radius: float) -> None:
        super().__init__(oracle)
        self.r, self.radius = p / (p - 1.0), radius
        self.c, self.V = 1.0, 0.0
        self.v = np.zeros(64)

    @property
    def w(self) -> Array:
        return np.asarray(self.v[: len(self.atoms)] ** (self.r - 1.0))

    def step(self, atoms: Sequence[Atom], g: Array, eta: float) -> None:
        at = self.positions(atoms)
        self._reserve()
        old = self.v[at]
        new = np.maximum(old - (eta / self.c) * g, 0.0)
        self._change(at, atoms, new ** (self.r - 1.0) - old ** (self.r - 1.0))
        self.v[at] = new
        self.V += float(np.sum(new**self.r - old**self.r))
        norm = self.c * self.V ** (1.0 / self.r)
        if norm > self.radius:
            self.c *= self.radius / norm
        if self.c ** (self.r - 1.0) < _SMALLEST:
            self._rescale()
        self.s = self.c * self.V ** ((2.0 - self.r) / self.r) if self.V > 0.0 else 1.0

    def _reserve(self) -> None:
        if len(self.atoms) > self.v.size:
            more = np.zeros(max(len(self.atoms), 2 * self.v.size) - self.v.size)
            self.v, self.done = np.concatenate([self.v, more]), np.concatenate([self.done, more])

    def _rescale(self) -> None:
        """c = 1."""
        self._settle()
        self.K *= self.c ** (self.r - 1.0)
        self.v *= self.c
        self.c, self.V = 1.0, float(np.sum(self.v**self.r))


class EntropicIterate(DrawnIterate):
    """The simplex {θ ≥ 0, Σθ = 1} with Ψ = Σ_z θ_z (log θ_z − 1): exponential weights (Afkanpour 2013, §4.2;
    Afkanpour et al. 2013, §3.2).

    Ψ is 1-strongly convex in ‖·‖₁. It is smallest at equal weights, where this starts, so that every kernel
    has a weight: they must be listed. A step multiplies w_z by exp(−ηg_z) for the kernels drawn, s = 1/Σw.
    """

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(oracle)
        self.positions(list(oracle.atoms()))
        self._w = np.ones(len(self.atoms))
        self.done = np.zeros(len(self.atoms))
        self.s = 1.0 / self._w.size
        self.K = combined(oracle, self.atoms, self._w)

    @property
    def w(self) -> Array:
        return self._w

    def step(self, atoms: Sequence[Atom], g: Array, eta: float) -> None:
        at = self.positions(atoms)
        dw = self._w[at] * np.expm1(np.minimum(-eta * g, _LARGEST))
        if _SMALLEST * float(dw.sum()) > float(self._w.sum()):
            self._settle()
        self._change(at, atoms, dw)
        self._w[at] += dw
        self.s = 1.0 / float(self._w.sum())
        if self.s * self._w.size < _SMALLEST:
            self._settle()
            factor = self.s * self._w.size
            self._w *= factor
            self.K *= factor
            self.s = 1.0 / self._w.size


class ProjectedIterate(Iterate):
    """Any set that contains 0, by a dense step `move(θ, g, η)` such as its `mirror_step`.

    All kernels with weight move at every step, and K_θ is added up anew. Kernels that lose their weight
    are forgotten but for their share of the average.
    """

    s = 1.0

    def __init__(self, oracle: Oracle, move: Callable[[Array, Array, float], Array]) -> None:
        super().__init__(oracle)
        self.move = move
        self.theta = np.zeros(0)
        self.total = np.zeros(0)
        self.K_total = np.zeros_like(self.K)

    def step(self, atoms: Sequence[Atom], g: Array, eta: float) -> None:
        at = self.positions(atoms)
        more = np.zeros(len(self.atoms) - self.theta.size)
        theta = np.concatenate([self.theta, more])
        self.total = np.concatenate([self.total, more])
        gradient = np.zeros_like(theta)
        gradient[at] = g
        moving = np.union1d(np.flatnonzero(theta), at)
        theta[moving] = self.move(theta[moving], gradient[moving], eta)
        self.theta = theta
        active = np.flatnonzero(theta)
        self.K = combined(self.oracle, [self.atoms[i] for i in active], theta[active])

    def count(self, weight: float) -> None:
        self.counted += weight
        self.total += weight * self.theta
        self.K_total += weight * self.K

    def weights(self) -> Array:
        return self.theta

    def average(self) -> tuple[Array, Array]:
        return self.total / self.counted, self.K_total / self.counted


def combined(oracle: Oracle, atoms: Sequence[Atom], weights: Array) -> Array:
    """Σ_z weights_z K_z, a few kernels at a time: an oracle may hold each as a matrix."""
    K = np.zeros((oracle.n, oracle.n))
    for part in oracle.portions(len(atoms)):
        K += oracle.gram(atoms[part]).combine(weights[part])
    return K


def quads(oracle: Oracle, A: Array, atoms: Sequence[Atom]) -> Array:
    """q_z of these kernels, a few at a time for the same reason."""
    return np.concatenate(
        [np.zeros(0), *(oracle.quad(A, atoms[part]) for part in oracle.portions(len(atoms)))]
    )


def iterate_for(oracle: Oracle, penalty: Penalty, potential: str) -> Iterate:
    """The first θ, with the bookkeeping that suits the penalty: 0, or equal weights for the entropy."""
    if potential == "entropy":
        return EntropicIterate(oracle)
    euclidean = potential == "euclidean"
    if isinstance(penalty, L2Ball):
        return ScaledIterate(oracle, 2.0, float(penalty.radius))
    p = 2.0 if euclidean else penalty.potential
    if isinstance(penalty, LpBall) and penalty.p == p:
        return ScaledIterate(oracle, p, 1.0)
    if euclidean:
        return ProjectedIterate(oracle, lambda theta, g, eta: penalty.project(theta - eta * g))
    return ProjectedIterate(oracle, penalty.mirror_step)

"""UFO-MKL: online learning of sparse combinations of kernels, in the primal (Orabona & Jie 2011).

Minimises f(w) = Ω(w) + (1/N) Σ_i ℓ(y_i, Σ_j ⟨w^j, φ^j(x_i)⟩) with Ω(w) = ½ λ ‖w‖²_{2,p} + α ‖w‖_{2,1},
q = 2 log F and 1/p + 1/q = 1, by stochastic mirror descent: θ adds up negative subgradients, one sample at a
time, and after t of them w = ∇Ω*(θ/t), which has exact zeros.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from .._fast import codes
from .._fast import ufo as fast
from ..grams.expansions import Block, Expansion
from ..losses import StructuredLoss
from ..losses.structured import slope

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class GroupRegularizer:
    """Ω(w) = ½ λ ‖w‖²_{2,p} + α ‖w‖_{2,1}, as a function of the norms of the groups (Orabona & Jie 2011, Eq.
    3)."""

    lam: float
    alpha: float
    q: float

    def value(self, norms: Array) -> float:
        """Ω of groups w^j with these norms."""
        p = self.q / (self.q - 1.0)
        return float(0.5 * self.lam * _norm(norms, p) ** 2 + self.alpha * norms.sum())

    def conjugate(self, norms: Array) -> float:
        """Ω* of groups θ^j with these norms: ‖v‖_q² / 2λ, v = (‖θ^j‖ − α)₊."""
        return float(0.5 / self.lam * _norm(np.maximum(norms - self.alpha, 0.0), self.q) ** 2)

    def link(self, norms: Array) -> Array:
        """c_j = ‖w^j‖ of w = ∇Ω*(θ) for groups θ^j with these norms (Orabona & Jie 2011, Theorem 3)."""
        s = np.empty(norms.size)
        fast.link(norms**2, 1.0, 0.0, self.lam, self.alpha, self.q, s)
        return s * norms


def _norm(x: Array, p: float) -> float:
    """‖x‖_p of x ≥ 0 without overflow."""
    top = float(x.max(initial=0.0))
    return top * float(((x / top) ** p).sum() ** (1.0 / p)) if top > 0.0 else 0.0


def dual_exponent(n_kernels: int) -> float:
    """q = 2 log F; 2 for fewer than three kernels, where 2 log F < 2 would make no norm of its conjugate."""
    return max(2.0, 2.0 * float(np.log(n_kernels)))


@dataclass
class UFO:
    """The state of Orabona & Jie 2011, Alg. 1: t steps, ‖θ^j‖² kept up to date, and s_j with w^j = s_j θ^j.

    Losses whose slope has no bound (the squared ones) make Alg. 1's first steps, of size 1/λ, explode. For
    them the regulariser counts `lag` times more, w = ∇Ω*(θ/(t + lag)) but for the threshold αt: the regret
    grows by lag · ½ λ‖w*‖², which the number of steps divides. How much lag is needed shows in the steps
    (_fast/ufo.py): from none it grows to what the `curvature` of the loss asks for, which is never more than
    ℓ'' (q − 1) F^{2/q}/λ times the largest k(x, x), and usually a fraction of that.
    """

    regularizer: GroupRegularizer
    n_groups: int
    lag: float = 0.0
    average: bool = False
    curvature: float = 0.0  # ℓ'', 0 where the lag stays as it is
    t: int = 0
    squares: Array = field(init=False)
    s: Array = field(init=False)
    total: Array = field(init=False)  # Σ s over the iterates

    def __post_init__(self) -> None:
        self.squares, self.s, self.total = (np.zeros(self.n_groups) for _ in range(3))

    def copy(self) -> UFO:
        """The same state, in memory of its own."""
        twin = copy(self)
        twin.squares, twin.s, twin.total = self.squares.copy(), self.s.copy(), self.total.copy()
        return twin

    def regularize(self, regularizer: GroupRegularizer) -> None:
        """Go on with another Ω: w = ∇Ω*(θ/t) is a matter of θ and t alone."""
        if regularizer != self.regularizer:
            self.lag *= self.regularizer.lam / regularizer.lam
            self.regularizer = r = regularizer
            if self.t:
                fast.link(self.squares, float(self.t), self.lag, r.lam, r.alpha, r.q, self.s)

    def advance(self, expansion: Expansion, loss: StructuredLoss, rows: Index, Y: Array) -> None:
        """One step for each of these samples, with targets Y, in this order."""
        step = expansion.block_size
        for lo in range(0, rows.size, step):
            part = rows[lo : lo + step]
            block = expansion.block(part)
            G = np.zeros((part.size, expansion.outputs))
            late = np.zeros(block.Z.shape) if self.average else np.empty((0, 0, 0))
            self._steps(block, loss, Y[lo : lo + step], G, late)
            del block  # before the next one is made
            expansion.add(part, G, late if self.average else None)

    def _steps(self, block: Block, loss: StructuredLoss, Y: Array, G: Array, late: Array) -> None:
        """Compiled for the losses of the package, sample by sample in Python for others."""
        r = self.regularizer
        if loss.code != codes.NONE:
            state = (self.squares, self.s, self.total, self.t, self.lag, self.curvature)
            given: Any = (*block, Y, loss.code, float(loss.parameter), *state, r.lam, r.alpha, r.q, G, late)
            self.t, self.lag = fast.run(*given)
            return
        f, read = np.empty(G.shape[1]), loss.targets(Y)
        for b in range(len(G)):
            self.t += 1
            fast.score(block.Z, self.s, b, f)
            target: Any = int(read[b]) if read.ndim == 1 else read[b]
            G[b] = -slope(loss, target, f.copy())
            how = (float(self.t), self.lag, self.curvature, r.lam, r.alpha, r.q)
            self.lag = fast.step(*block, self.squares, self.s, b, G[b], *how)
            if late.size:
                late[:, b] = -self.total[:, None] * G[b]
            self.total += self.s

    @property
    def sizes(self) -> Array:
        """(groups,): ‖θ^j‖."""
        return np.sqrt(np.maximum(self.squares, 0.0))

    def indefinite(self, slack: float = 1e-7) -> Index:
        """The groups whose ‖θ^j‖² is negative beyond rounding: their kernel is not positive semi-definite.

        `slack` is what is rounding in the kernels, relative to their size.
        """
        scale = slack * (0.1 * float(np.abs(self.squares).max(initial=0.0)) + 1e-5 * self.t)
        return np.flatnonzero(self.squares < -scale)

    # -- what was reached -----------------------------------------------------------------------
    @property
    def shares(self) -> tuple[Array, float]:
        """(s, share) such that w^j = s_j θ^j + share · r^j: the last iterate, or the mean of all of them."""
        return (self.total / self.t, 1.0 / self.t) if self.average and self.t else (self.s, 0.0)

    def primal(self, expansion: Expansion, loss: StructuredLoss, rows: Index, Y: Array) -> float:
        """f(w) on these samples."""
        s, share = self.shares
        norms = expansion.norms(s, share) if share else s * self.sizes
        value = loss.value(loss.targets(Y), expansion.decide(rows, s, share))
        return self.regularizer.value(norms) + float(value.mean())

    def dual(self, expansion: Expansion, loss: StructuredLoss, Y: Array) -> float:
        """A lower bound on the minimum of f over all samples of the expansion, −inf if none is known.

        With a_i = N c_i / t, a mean of negative subgradients and so inside the domain of ℓ*,

            D(u) = −(1/N) Σ_i ℓ*(y_i, −u a_i) − Ω*(u θ/t)

        for every scaling u ≥ 0 that keeps it there; the best one is taken.
        """
        if self.t == 0 or not expansion.complete:
            return -np.inf
        norms, a = self.sizes / self.t, expansion.coef * (len(Y) / self.t)
        target = loss.targets(Y)

        def value(u: float) -> float:
            conjugate = loss.conjugate(target, -u * a)
            if conjugate is None:
                return -np.inf
            return float(-conjugate.mean()) - self.regularizer.conjugate(u * norms)

        if loss.conjugate(target, -a) is None:
            return -np.inf
        top = 1.0 + self.lag / self.t
        found = minimize_scalar(lambda u: -value(u), bounds=(0.0, top), method="bounded")
        return max(value(1.0), value(float(found.x)), value(0.0))

    def bound(self, loss: StructuredLoss) -> float:
        """Return the bound of Orabona & Jie 2011, Theorem 2 after t steps with replacement, but for 1/δ.

        R² (1 + log t) / (2 β t) with R = L F^{1/q} and β = λ/q: e L² (1 + log t) log F / (λ t). It bounds the
        expected excess of f at an iterate drawn at random; with probability 1 − δ, the excess is below
        bound/δ. (The theorem is printed for the last iterate, which its proof does not cover.)
        """
        if self.t == 0 or self.lag > 0.0:
            return np.inf
        r = self.regularizer
        R2 = loss.lipschitz**2 * self.n_groups ** (2.0 / r.q)
        return float(R2 * r.q * (1.0 + np.log(self.t)) / (2.0 * r.lam * self.t))


def curvature(loss: StructuredLoss) -> float:
    """ℓ'' of losses of unbounded slope, which need a lag; 0 for others."""
    return 0.0 if np.isfinite(loss.lipschitz) else loss.curvature

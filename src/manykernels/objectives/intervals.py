"""Risk sets that are not nested, since some samples are seen only from a later time on (left truncation).

Sample j is at risk at time t where entry_j < t ≤ time_j. Sums are made for each event time, and the curvature

    W_jk = −u_j u_k Σ_{l: j, k ∈ R_l} d_l c̄_l/S_l²      (j ≠ k),      W1 = 0,

is a matrix. R* has no closed form: ∇R(f) = −α is solved for f by Newton's method.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky

from .._fast import cox as fast
from .._fast import cox_entered as entered
from .risk_sets import RiskSets, Root

Array = NDArray[np.float64]
_JITTER = 1e-12  # of the largest curvature: a singular matrix gets a root by it
_STEPS = 60
_SHARP = 1e-21  # of R and the costs: what one more step towards a conjugate may gain
_ROUNDING = 1e-14
_LONGEST = 10.0  # a step in f
_EXTREME = 30.0  # decisions beyond it are those of a point outside the domain
_EXACT = 1e-14  # of what an event costs: ∇R(f) = −α but for rounding
_FAR = 1e-7  # of the costs: ∇R(f) that stays farther from −α means that α is outside the domain


class _Dense(Root):
    def __init__(self, sets: Intervals, W: Array) -> None:
        self.sets = sets
        self.L = cholesky(_lifted(W), lower=True)

    def left(self, X: Array) -> Array:
        return np.asarray(self.L.T @ X[self.sets.order])

    def times(self, X: Array) -> Array:
        return self.sets.given(self.L @ X)

    def inside(self, K: Array) -> Array:
        o = self.sets.order
        return np.asarray(self.L.T @ K[np.ix_(o, o)] @ self.L)

    def squares(self, Phi: Array) -> Array:
        half = self.left(Phi)
        return np.asarray(half.T @ half)


def _lifted(W: Array) -> Array:
    """W with its eigenvalues of zero raised above rounding."""
    W = W.copy()
    W.flat[:: len(W) + 1] += _JITTER * max(float(np.diag(W).max(initial=0.0)), 1e-300)
    return W


class Intervals(RiskSets):
    """Samples enter at `entry`."""

    closed = False

    def __init__(
        self, event: Array, time: Array, stratum: Array, w: Array, c: Array, efron: bool, entry: Array
    ) -> None:
        super().__init__(event, time, stratum, w, c, efron)
        self.entry = np.ascontiguousarray(entry[self.order])
        self._start = np.zeros(self.n)  # where the next search for f begins

    def sums(self, f: Array) -> tuple[Array, Array]:
        logS, share = np.empty(self.a.size), np.zeros(self.a.size)
        entered.log_sums_entered(f, self.w, self.a, self.b, self.end, self.time, self.entry, logS)
        if self.efron:
            fast.tied_share(f, self.w, self.a, self.b, logS, share)
        return logS, share

    def gradient(self, f: Array) -> Array:
        logS, share = self.sums(f)
        g = np.empty(self.n)
        groups = self.a, self.b, self.end, self.cost
        entered.gradient_entered(f, self.w, self.c, *groups, self.time, self.entry, share, logS, g)
        return g

    def curvature(self, f: Array) -> Array:
        """∇²R(f), in the order of times."""
        logS, share = self.sums(f)
        W = np.zeros((self.n, self.n))
        groups = self.a, self.b, self.end, self.cost
        entered.laplacian_entered(f, self.w, *groups, self.time, self.entry, share, logS, W)
        W += W.T
        W.flat[:: self.n + 1] = -W.sum(axis=1)
        return W

    def root(self, f: Array) -> Root:
        return _Dense(self, self.curvature(f))

    def conjugate(self, alpha: Array) -> Array:
        """⟨−α, f⟩ − R(f) at the f of α, and what rounding left of ∇R(f) + α there."""
        f, off, gain = self._search(alpha)
        if off > _FAR * float(self.total.sum()):
            return np.array([np.inf])
        return np.concatenate([-alpha * f, -self.terms(f), [2.0 * gain]])

    def decisions(self, alpha: Array) -> Array:
        return self._search(alpha)[0]

    def _search(self, alpha: Array) -> tuple[Array, float, float]:
        """f with ∇R(f) ≈ −α, how far it is from that, and what one more step would gain."""
        f = self._start
        value = float(-alpha @ f) - float(self.terms(f).sum())
        off, gain = np.inf, np.inf
        for _ in range(_STEPS):
            r = -alpha - self.gradient(f)
            off = float(np.abs(r).max())
            if off <= _EXACT * float(self.cost.max()):
                return self._ended(f, off, off * self.n)
            step = cho_solve(cho_factor(_lifted(self.curvature(f)), lower=True), r)
            gain = 0.5 * float(r @ step)
            if gain <= _SHARP * (abs(value) + float(self.total.sum())):
                break
            t = min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-300))
            while t > 1e-8:
                trial = f + t * step
                after = float(-alpha @ trial) - float(self.terms(trial).sum())
                if after >= value - _ROUNDING * abs(value):
                    break
                t *= 0.5
            else:
                break
            f, value = trial - float(np.mean(trial)), after
            if float(np.abs(f).max()) > _EXTREME:  # α is not inside the domain
                break
        return self._ended(f, off, max(gain, 0.0))

    def _ended(self, f: Array, off: float, gain: float) -> tuple[Array, float, float]:
        self._start = f
        return f, off, gain

    def expect(self, f: Array) -> None:
        self._start = f - float(np.mean(f))

    @cached_property
    def _ever(self) -> NDArray[np.bool_]:
        """(n,): who is at risk at some event."""
        return np.asarray(self.gradient(np.zeros(self.n)) + self.c > 0.0)

    def inside(self, alpha: Array) -> Array:
        """−∇R at the f of α: α itself where it is in the domain."""
        return -self.gradient(self._search(np.where(self._ever, alpha, 0.0))[0])

    @cached_property
    def at_zero(self) -> float:
        """At least R*(0): the events of a time share its mass among themselves."""
        found = 0.0
        for l in range(self.a.size):
            rows = slice(self.a[l], self.b[l])
            d, c = self.b[l] - self.a[l], self.c[rows]
            p = c / c.sum()
            lighter = np.log1p(-np.arange(d) / d).sum() if self.efron else 0.0
            found += self.cost[l] * (d * float(p @ np.log(p / self.w[rows])) - lighter)
        return float(found)

"""Log-likelihoods of a target as functions of the decisions f of its samples, for the null models of tests.

Each has, at f, its value, its second-order expansion and draws of its score r = ∇ℓ(f):

    ℓ(f + h) ≈ ℓ(f) + rᵀh − ½ hᵀWh,      W = AᵀA

Binary: P(y = 1) = μ = 1/(1 + e^{−f}), r = y − μ, W = diag(μ(1 − μ)).

Survival (Cox 1972, ties as Breslow has them): with the risk set R_i of an event i, the samples that are seen
at its time or later, and p^i the softmax of f over R_i,

    ℓ(f) = Σ_i [f_i − log Σ_{j∈R_i} e^{f_j}],      r = Σ_i (e_i − p^i),      W = Σ_i (diag(p^i) − p^i p^iᵀ)

over the events. r are the martingale residuals. Since e^{f_j} leaves a risk set at the time of j,
W_jk = −e^{f_j + f_k} Σ_{i: t_i ≤ min(t_j, t_k)} (Σ_{R_i} e^f)⁻² off the diagonal: sums along the time order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..fitting.survival import Survival

Array = NDArray[np.float64]
EXTREME = 30.0  # decisions beyond it are certain to rounding
RANK = 1e-12  # of the largest eigenvalue of W: directions that the likelihood does not see


@dataclass(frozen=True)
class Expansion:
    """The score r of a log-likelihood, and a root A of its curvature W = AᵀA: A⁺ᵀr is white."""

    score: Array  # (n,)
    root: Array  # A: (n,) for a diagonal, or (rank, n)
    inverse: Array  # A⁺ᵀ, of the same shape


class Likelihood(Protocol):
    """The interface of a target for null models."""

    @property
    def separated(self) -> str:
        """The message if covariates leave nothing to test."""

    @property
    def drawn(self) -> str:
        """A description of what `draw` draws."""

    @property
    def has_level(self) -> bool:
        """True if a constant that is added to f changes anything."""

    @property
    def exchangeable(self) -> bool:
        """True if chance is permuted samples, where there are no covariates, and not a draw of targets."""

    def value(self, f: Array) -> float: ...

    def expand(self, f: Array) -> Expansion: ...

    def draw(self, F: Array, rng: np.random.RandomState) -> Array:
        """(n, count): scores of targets that are drawn with decisions F (n, count)."""


@dataclass(frozen=True)
class Binary:
    """Labels y in {0, 1}."""

    y: Array
    separated: str = (
        "the covariates tell the two classes apart without error (or nearly so), so that the model without "
        "kernels has no best fit and nothing is left to test. Leave out the covariate that gives y away."
    )
    drawn: str = "Labels were drawn from the model without the kernel."
    has_level: bool = True
    exchangeable: bool = False

    def value(self, f: Array) -> float:
        return float(self.y @ f - np.sum(np.logaddexp(0.0, f)))

    def expand(self, f: Array) -> Expansion:
        mu = expit(np.clip(f, -EXTREME, EXTREME))
        root = np.sqrt(mu * (1.0 - mu))
        return Expansion(self.y - mu, root, 1.0 / root)

    def draw(self, F: Array, rng: np.random.RandomState) -> Array:
        mu = expit(np.clip(F, -EXTREME, EXTREME))
        return np.asarray((rng.uniform(size=mu.shape) < mu) - mu)


@dataclass(frozen=True)
class Cox:
    """Times to an event; samples that no event precedes or meets do not enter."""

    seen: Survival
    separated: str = (
        "the covariates put the samples in the order of their events (or nearly so), so that the model "
        "without kernels has no best fit and nothing is left to test. Leave out the covariate that gives the "
        "time away."
    )
    drawn: str = "Who has each event was drawn among the samples at risk, from the model without the kernel."
    has_level: bool = False
    exchangeable: bool = True

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], Array, NDArray[np.intp], NDArray[np.intp]]:
        """The samples by time, whether each has an event, and the first and last sample of its time."""
        order = np.argsort(self.seen.time, kind="stable")
        t = self.seen.time[order]
        first, last = np.searchsorted(t, t, side="left"), np.searchsorted(t, t, side="right") - 1
        return order, self.seen.event[order].astype(np.float64), first, last

    def _risks(self, f: Array) -> tuple[Array, Array]:
        """e^f by time, up to a factor, and its sum over the risk set of each sample's time."""
        order, _, first, _ = self._order
        w = np.exp(np.clip(f[order] - f.max(), -2.0 * EXTREME, 0.0))
        return w, np.cumsum(w[::-1])[::-1][first]

    def value(self, f: Array) -> float:
        order, d, _, _ = self._order
        _, S = self._risks(f)
        return float(d @ (f[order] - f.max() - np.log(S)))

    def expand(self, f: Array) -> Expansion:
        order, d, _, last = self._order
        w, S = self._risks(f)
        hazard = w * np.cumsum(d / S)[last]
        square = np.cumsum(d / S**2)[last]
        n = np.arange(w.size)
        W = -np.outer(w, w) * square[np.minimum.outer(n, n)]
        W[n, n] += hazard
        values, U = np.linalg.eigh(W)
        kept = values > RANK * max(float(values[-1]), 1e-300)
        U, size = U[:, kept], np.sqrt(values[kept])
        score, root, inverse = np.empty(w.size), np.empty((size.size, w.size)), np.empty((size.size, w.size))
        score[order], root[:, order], inverse[:, order] = d - hazard, (U * size).T, (U / size).T
        return Expansion(score, root, inverse)

    def draw(self, F: Array, rng: np.random.RandomState) -> Array:
        """Draw who has each event from its risk set, as the model has it; the risk sets stay.

        Given the risk sets, scores so drawn have covariance W, whatever decides who is censored.
        """
        return np.stack([self._drawn(f, rng) for f in F.T], axis=1)

    def _drawn(self, f: Array, rng: np.random.RandomState) -> Array:
        order, d, first, last = self._order
        w, S = self._risks(f)
        events = np.flatnonzero(d)
        total = np.cumsum(w)
        before = np.where(first[events] > 0, total[first[events] - 1], 0.0)
        places = np.searchsorted(total, before + rng.uniform(size=events.size) * S[events], side="right")
        counts = np.bincount(np.minimum(places, w.size - 1), minlength=w.size)
        score = np.empty(w.size)
        score[order] = counts - w * np.cumsum(d / S)[last]
        return score

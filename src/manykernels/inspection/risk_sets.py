"""Cox's log-likelihood where risk sets are not nested: with strata, or samples that enter late."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..fitting.survival import Survival
from .likelihoods import EXTREME, RANK, Array, Cox, Expansion


def times_likelihood(seen: Survival) -> Cox:
    """Return the likelihood of times to an event, by sums along the time order if risk sets are nested."""
    return Cox(seen) if seen.entry is None and seen.stratum is None else CoxOfRiskSets(seen)


@dataclass(frozen=True)
class CoxOfRiskSets(Cox):
    """Sample j is at risk at event i (A_ij = 1) in its stratum, and if it entered before. With P_ij = p^i_j,

    ℓ(f) = Σ_i [f_i − log Σ_j A_ij e^{f_j}],      r = Σ_i e_i − Pᵀ1,      W = diag(Pᵀ1) − PᵀP.
    """

    exchangeable: bool = False  # samples of different strata, or who enter at different times, are not

    @cached_property
    def _at_risk(self) -> tuple[NDArray[np.intp], Array]:
        """The samples with events, and A (events, n)."""
        time, entry, stratum = self.seen.time, self.seen.entry, self.seen.stratum
        events = np.flatnonzero(self.seen.event)
        A = time[None, :] >= time[events, None]
        if entry is not None:
            A &= entry[None, :] < time[events, None]
        if stratum is not None:
            A &= stratum[None, :] == stratum[events, None]
        return events, A.astype(np.float64)

    def _sums(self, f: Array) -> tuple[Array, Array]:
        """P (events, n), and log Σ_j A_ij e^{f_j} of each event i."""
        _, A = self._at_risk
        top = np.where(A > 0.0, f, -np.inf).max(axis=1)
        E = A * np.exp(np.clip(f - top[:, None], -2.0 * EXTREME, 0.0))
        return E / E.sum(axis=1, keepdims=True), top + np.log(E.sum(axis=1))

    def value(self, f: Array) -> float:
        events, _ = self._at_risk
        return float(np.sum(f[events] - self._sums(f)[1]))

    def expand(self, f: Array) -> Expansion:
        P, _ = self._sums(f)
        W = np.diag(P.sum(axis=0)) - P.T @ P
        values, U = np.linalg.eigh(W)
        kept = values > RANK * max(float(values[-1]), 1e-300)
        U, size = U[:, kept], np.sqrt(values[kept])
        return Expansion(self.seen.event - P.sum(axis=0), (U * size).T, (U / size).T)

    def _drawn(self, f: Array, rng: np.random.RandomState) -> Array:
        """Draw who has each event from its risk set, as the model has it."""
        P, _ = self._sums(f)
        total = np.cumsum(P, axis=1)
        u = rng.uniform(size=len(P))[:, None] * total[:, -1:]
        who = np.minimum((total <= u).sum(axis=1), P.shape[1] - 1)
        return np.asarray(np.bincount(who, minlength=P.shape[1]) - P.sum(axis=0))

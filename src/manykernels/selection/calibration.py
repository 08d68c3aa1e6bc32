"""Probabilities of classes from decisions, learned from decisions on samples that were held out.

With decisions f_k of K classes (for two classes and one decision f: −f/2 and f/2),

    p_k = exp(a f_k) / Σ_l exp(a f_l),

where a ≥ 0 maximises the likelihood of the held-out labels (Guo et al. 2017; for two classes a sigmoid after
Platt 1999). There are no offsets, so that the class that is predicted is always the most probable one. Labels
are smoothed as Platt does it, so that decisions without an error do not make a infinite: a sample of a class
with n samples counts as (n + 1)/(n + K) of its own class, and 1/(n + K) of each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax

Array = NDArray[np.float64]
_STEEPEST = 1e6  # of a, for decisions of size 1


@dataclass(frozen=True)
class Calibration:
    """The slope a of decisions."""

    slope: float

    @classmethod
    def fit(cls, f: Array, y: NDArray[Any], classes: NDArray[Any], weight: Array | None = None) -> Self:
        """From decisions f (n, outputs) on samples with labels y that the deciding models had not seen.

        A sample of weight w counts as w samples.
        """
        scores, w = _of_classes(f), np.ones(len(y)) if weight is None else weight
        kept = (w > 0.0) & np.isfinite(scores).all(axis=1) & np.isin(y, classes)
        scores, w = scores[kept], w[kept]
        codes, K = np.searchsorted(classes, y[kept]), classes.size
        counts = np.bincount(codes, w, minlength=K)
        T = np.repeat(1.0 / (counts[codes] + K)[:, None], K, axis=1)
        T[np.arange(codes.size), codes] *= counts[codes] + 1.0
        size = float(np.abs(scores).max(initial=0.0))
        if size == 0.0:
            return cls(0.0)
        Z = scores / size

        def slope(a: float) -> float:  # of −log likelihood, which is convex in a
            return float(w @ np.sum((softmax(a * Z, axis=1) - T) * Z, axis=1))

        if slope(0.0) >= 0.0:  # larger decisions do not go with the class: they say nothing
            return cls(0.0)
        high = 1.0
        while slope(high) < 0.0 and high < _STEEPEST:
            high *= 4.0
        a = high if slope(high) < 0.0 else float(brentq(slope, 0.0, high, xtol=1e-12, rtol=1e-13))
        return cls(a / size)

    def log_probabilities(self, f: Array) -> Array:
        """(n, K) of decisions (n, outputs)."""
        return np.asarray(log_softmax(self.slope * _of_classes(f), axis=1))


def _of_classes(f: Array) -> Array:
    """One score a class, also where one decision tells two classes apart."""
    return np.asarray(np.hstack([-0.5 * f, 0.5 * f]) if f.shape[1] == 1 else f, dtype=np.float64)

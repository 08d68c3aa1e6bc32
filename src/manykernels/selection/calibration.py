"""Probabilities of classes from decisions, learned from decisions on samples that were held out.

With decisions f_k of K classes (for two classes and one decision f: −f/2 and f/2),

    p_k = exp(h(f_k)) / Σ_l exp(h(f_l)),      h(s) = Σ_j a_j r_j(s),

where h rises and is the same for all classes, so that the class that is predicted is the most probable
one. The slopes a maximise the likelihood of the held-out labels, which is concave in them. One slope,
h(s) = a s, is a softmax at a temperature (Guo et al. 2017; for two classes a sigmoid after Platt 1999). One
is too little where most decisions are near −1, as those of least squares for many classes are: a step from
−0.9 to −0.8 then says more than one from 0.8 to 0.9. So h is piecewise linear, with a slope between each two
knots, where the likelihood gains more by it than the further slopes cost by Akaike's criterion.

Labels are smoothed as Platt does it, so that decisions without an error do not make a infinite: of a class
with n samples each gives (2/K)/(n + 2) of itself to the other classes, which share it. For two classes that
is Platt's rule. One h serves all classes, so that K classes together give up what two do: about two samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax, softmax

Array = NDArray[np.float64]
_STEEPEST = 1e6  # of a, for decisions of size 1
_FLATTEST = 1e-3  # of a slope, relative to that of one line: so that h rises everywhere
_KNOTS = (0.1, 0.25, 0.5, 0.75, 0.9)  # quantiles of the two largest scores of each sample
_ROUNDS = 5  # parts of samples whose probabilities are learned from the other parts


@dataclass(frozen=True)
class Calibration:
    """The slope of decisions; with knots, also one below the first knot and one after each of them."""

    slope: float
    knots: tuple[float, ...] = ()
    slopes: tuple[float, ...] = ()

    @classmethod
    def fit(cls, f: Array, y: NDArray[Any], classes: NDArray[Any], weight: Array | None = None) -> Self:
        """Fit to decisions f (n, outputs) on samples with labels y that the models had not seen.

        A sample of weight w counts as w samples.
        """
        scores, w = _of_classes(f), np.ones(len(y)) if weight is None else weight
        kept = (w > 0.0) & np.isfinite(scores).all(axis=1) & np.isin(y, classes)
        scores, w = scores[kept], w[kept]
        codes, K = np.searchsorted(classes, y[kept]), classes.size
        counts = np.bincount(codes, w, minlength=K)
        left = 2.0 / K / (counts[codes] + 2.0)  # for all other classes together
        T = np.repeat((left / (K - 1))[:, None], K, axis=1)
        T[np.arange(codes.size), codes] = 1.0 - left
        size = float(np.abs(scores).max(initial=0.0))
        if size == 0.0:
            return cls(0.0)
        a = _line(scores / size, T, w) / size
        return cls(a, *_bent(scores, T, w, a)) if a > 0.0 else cls(a)

    def log_probabilities(self, f: Array) -> Array:
        """Return log probabilities (n, K) of decisions (n, outputs)."""
        scores = _of_classes(f)
        if not self.knots:
            return np.asarray(log_softmax(self.slope * scores, axis=1))
        return np.asarray(log_softmax(_ramps(scores, self.knots) @ np.asarray(self.slopes), axis=1))


def crossed(f: Array, y: NDArray[Any], classes: NDArray[Any], weight: Array | None = None) -> Array:
    """Return log probabilities (n, K), each learned from the labels of other samples than its own.

    For scores of probabilities: what is scored has not seen the label that it is scored by.
    """
    part = np.arange(len(y)) % min(_ROUNDS, len(y))
    found = np.empty((len(y), classes.size))
    for k in range(int(part.max(initial=0)) + 1):
        own, rest = part == k, part != k
        known = Calibration.fit(f[rest], y[rest], classes, None if weight is None else weight[rest])
        found[own] = known.log_probabilities(f[own])
    return found


def calibrated_loss(f: Array, y: NDArray[Any], classes: NDArray[Any], weight: Array | None = None) -> float:
    """Return the log loss of held-out decisions (n, outputs) at their own calibration.

    It compares models whatever the scale of their decisions. Squared errors do not: small decisions on the
    wrong side cost them little more than small ones on the right side.
    """
    logs = Calibration.fit(f, y, classes, weight).log_probabilities(f)
    losses = -logs[np.arange(len(y)), np.searchsorted(classes, y)]
    found = float(np.average(losses, weights=weight))
    return found if np.isfinite(found) else np.inf


def _of_classes(f: Array) -> Array:
    """Return one score for each class, also for two classes with one decision."""
    return np.asarray(np.hstack([-0.5 * f, 0.5 * f]) if f.shape[1] == 1 else f, dtype=np.float64)


def _line(Z: Array, T: Array, w: Array) -> float:
    """Fit the best slope a of h(s) = a s."""

    def slope(a: float) -> float:  # of −log likelihood, which is convex in a
        return float(w @ np.sum((softmax(a * Z, axis=1) - T) * Z, axis=1))

    if slope(0.0) >= 0.0:  # larger decisions do not go with the class: they say nothing
        return 0.0
    high = 1.0
    while slope(high) < 0.0 and high < _STEEPEST:
        high *= 4.0
    return high if slope(high) < 0.0 else float(brentq(slope, 0.0, high, xtol=1e-12, rtol=1e-13))


def _bent(scores: Array, T: Array, w: Array, a: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Fit knots and slopes of the best piecewise linear h; none if one line is as good."""
    leading, counts = np.sort(scores, axis=1)[:, -2:].ravel(), np.repeat(w, 2)
    knots = np.unique(np.quantile(leading, _KNOTS, weights=counts, method="inverted_cdf"))
    R = _ramps(scores, tuple(knots))

    def loss(slopes: Array) -> tuple[float, Array]:  # −log likelihood in units of the line's slope
        logs = log_softmax(R @ (a * slopes), axis=1)
        return -float(w @ np.sum(T * logs, axis=1)), a * np.einsum("i,ik,ikj->j", w, np.exp(logs) - T, R)

    start = np.ones(knots.size + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(_FLATTEST, None)] * start.size)
    if loss(start)[0] - found.fun <= knots.size:  # Akaike: a nat for each further slope
        return (), ()
    return tuple(map(float, knots)), tuple(map(float, a * found.x))


def _ramps(scores: Array, knots: tuple[float, ...]) -> Array:
    """(n, K, knots + 1): the parts of each score below the first knot, between two, and above the last."""
    t = np.asarray(knots)
    lower, upper = np.r_[-np.inf, t], np.r_[t, np.inf]
    held = np.clip(scores[..., None], lower, upper)
    return np.asarray(held - np.r_[t[0], t])

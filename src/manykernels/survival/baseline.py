"""Breslow's estimate of the cumulative hazard behind Cox's model: from risks to survival curves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._arguments import and_more, shown
from .._fast.survival import cover_sums
from .observed import Observed, by_label, labels_of, observed, risks
from .steps import StepFunctions, read_times, warn_of_end

Array = NDArray[np.float64]
Ties = Literal["breslow", "efron"]


@dataclass(frozen=True)
class Baseline:
    """The logarithm of the cumulative hazard of a sample with f = 0, for each stratum.

    A sample with decision f has the hazard H(t) = e^{f + log H₀(t)} and the survival S(t) = e^{−H(t)}.
    Logarithms are kept, since e^f and H₀ can be too large and too small for a number where their product is
    not.

    Attributes
    ----------
    labels : ndarray of shape (n_strata,) or None
        Labels of the strata, sorted; None for a single one that has no name.
    logs : tuple of StepFunctions
        The functions log H₀ of each stratum, −∞ before its first event.

    Examples
    --------
    >>> from manykernels.survival import breslow
    >>> found = breslow([1, 1, 0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    >>> found.survival_at([0.0], [2.5]).round(3).tolist()
    [[0.435]]
    """

    labels: NDArray[Any] | None  # (strata,), sorted; None for a single one that has no name
    logs: tuple[StepFunctions, ...]  # log H₀ of each stratum, −∞ before its first event

    @property
    def times(self) -> Array:
        """The times of events in any stratum."""
        return np.unique(np.concatenate([one.times for one in self.logs]))

    def hazard(self, risk: Any, stratum: Any = None) -> StepFunctions:
        """Return the cumulative hazards H of samples, as functions of time.

        Parameters
        ----------
        risk : array-like of shape (n_samples,)
            Decisions f.
        stratum : array-like of shape (n_samples,) or None, default=None
            Strata of the samples, where there are several.

        Returns
        -------
        StepFunctions
            One function for each sample.

        Examples
        --------
        The second sample has twice the hazard of the first:

        >>> import numpy as np
        >>> from manykernels.survival import breslow
        >>> found = breslow([1, 1, 0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
        >>> curves = found.hazard([0.0, np.log(2.0)])
        >>> curves(2.0).round(3).tolist()
        [0.833, 1.667]
        """
        H, last = self._hazard(risk, self.times, stratum)
        return StepFunctions(self.times, H, 0.0, last)

    def survival(self, risk: Any, stratum: Any = None) -> StepFunctions:
        """Return the survival S of samples, as functions of time.

        Parameters
        ----------
        risk : array-like of shape (n_samples,)
            Decisions f.
        stratum : array-like of shape (n_samples,) or None, default=None
            Strata of the samples, where there are several.

        Returns
        -------
        StepFunctions
            One function for each sample.

        Examples
        --------
        The second sample has twice the hazard of the first:

        >>> import numpy as np
        >>> from manykernels.survival import breslow
        >>> found = breslow([1, 1, 0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
        >>> curves = found.survival([0.0, np.log(2.0)])
        >>> curves.times.tolist(), curves(2.5).round(3).tolist()
        ([1.0, 2.0], [0.435, 0.189])
        """
        H, last = self._hazard(risk, self.times, stratum)
        return StepFunctions(self.times, np.exp(-H), 1.0, last)

    def hazard_at(self, risk: Any, times: Any, stratum: Any = None) -> Array:
        """Compute the cumulative hazards H of samples at given times, in no more memory than the result.

        Parameters
        ----------
        risk : array-like of shape (n_samples,)
            Decisions f.
        times : array-like of shape (n_times,)
            Times.
        stratum : array-like of shape (n_samples,) or None, default=None
            Strata of the samples, where there are several.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            The hazards; NaN, and a warning, after the last observed time.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.survival import breslow
        >>> found = breslow([1, 1, 0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
        >>> found.hazard_at([0.0, np.log(2.0)], [0.5, 1.0, 2.0]).round(3)
        array([[0.   , 0.333, 0.833],
               [0.   , 0.667, 1.667]])
        """
        t = read_times(times)
        H, last = self._hazard(risk, np.atleast_1d(t).ravel(), stratum)
        warn_of_end(t, last)
        return H.reshape((len(H), *t.shape))

    def survival_at(self, risk: Any, times: Any, stratum: Any = None) -> Array:
        """Compute the survival S of samples at given times, in no more memory than the result.

        Parameters
        ----------
        risk : array-like of shape (n_samples,)
            Decisions f.
        times : array-like of shape (n_times,)
            Times.
        stratum : array-like of shape (n_samples,) or None, default=None
            Strata of the samples, where there are several.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            Probabilities; NaN, and a warning, after the last observed time.

        Examples
        --------
        Each stratum has a baseline of its own:

        >>> from manykernels.survival import breslow
        >>> found = breslow([1, 1, 1, 0], [1.0, 2.0, 3.0, 4.0], [0.0] * 4, stratum=["a", "a", "b", "b"])
        >>> found.survival_at([0.0, 0.0], [1.0], stratum=["a", "b"]).round(3)
        array([[0.607],
               [1.   ]])
        """
        return np.asarray(np.exp(-self.hazard_at(risk, times, stratum)))

    def _hazard(self, risk: Any, times: Array, stratum: Any) -> tuple[Array, Array]:
        """H (n, times), and the last time observed in the stratum of each sample."""
        f = risks(risk, None)
        H, last = np.empty((f.size, times.size)), np.empty(f.size)
        for one, rows in self._parts(f.size, stratum):
            with np.errstate(over="ignore"):  # a hazard of ∞ is a survival of 0
                H[rows] = np.exp(f[rows, None] + one.at(times))
            last[rows] = one.last
        return H, last

    def _parts(self, n: int, stratum: Any) -> Iterator[tuple[StepFunctions, NDArray[np.intp]]]:
        """Each stratum that occurs, with the samples in it."""
        if self.labels is None:
            yield self.logs[0], np.arange(n)
            return
        if stratum is None:
            raise ValueError(
                f"no strata were given; the baseline has one curve for each of the strata "
                f"{and_more([str(label) for label in self.labels], 5)}. Say to which one each sample belongs."
            )
        given = labels_of(stratum, "stratum", n)
        if not np.isin(given, self.labels).all():
            raise ValueError(
                f"stratum={shown(stratum)} was given for {n} samples; expected one of the strata that were "
                f"learned from for each ({and_more([str(label) for label in self.labels], 5)}), whose "
                "survival is known."
            )
        for label, rows in by_label(given):
            yield self.logs[int(np.searchsorted(self.labels, label))], rows


def breslow(
    event: Any,
    time: Any,
    risk: Any,
    sample_weight: Any = None,
    entry: Any = None,
    stratum: Any = None,
    ties: Ties = "breslow",
) -> Baseline:
    """Estimate the cumulative baseline hazard of samples with decisions f.

    With the samples R_i at risk at the event time t_i, the events D_i there, and weights w,

        H₀(t) = Σ_{t_i ≤ t} Σ_{D_i} w / Σ_{R_i} w e^f                                     ties="breslow"
        H₀(t) = Σ_{t_i ≤ t} Σ_{l<d} w̄ / (Σ_{R_i} w e^f − l/d Σ_{D_i} w e^f)              ties="efron"

    where d counts the events at t_i and w̄ is their mean weight. Each stratum has its own.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        1 or True where the event was observed, 0 where the sample is censored.
    time : array-like of shape (n_samples,)
        Times of the event or of the last observation.
    risk : array-like of shape (n_samples,)
        Decisions f: a sample with f + 1 has e times the hazard.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a weight of 2 is a sample given twice.
    entry : array-like of shape (n_samples,) or None, default=None
        Times from which samples are observed (left truncation); None stands for the beginning.
    stratum : array-like of shape (n_samples,) or None, default=None
        Labels of separate risk sets.
    ties : {"breslow", "efron"}, default="breslow"
        How events at the same time are counted, as Cox's model was fitted.

    Returns
    -------
    Baseline
        The hazard, as logarithms.

    References
    ----------
    Breslow (1972), discussion of "Regression models and life-tables" by D. R. Cox, Journal of the Royal
    Statistical Society B 34.

    Efron (1977), "The efficiency of Cox's likelihood function for censored data", Journal of the American
    Statistical Association 72.

    Examples
    --------
    >>> from manykernels.survival import breslow
    >>> found = breslow([1, 1, 0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    >>> found.hazard_at([0.0], [1.0, 2.0]).round(3).tolist()
    [[0.333, 0.833]]
    """
    if ties not in ("breslow", "efron"):
        raise ValueError(f"ties={ties!r} was given; expected 'breslow' or 'efron'.")
    seen = observed(event, time, sample_weight, entry)
    f = risks(risk, seen.time.size)
    if stratum is None:
        kept = seen.weight > 0.0
        return Baseline(None, (_log_hazard(seen.part(kept), f[kept], ties),))
    given = labels_of(stratum, "stratum", f.size)
    counts = np.flatnonzero(seen.weight > 0.0)
    parts = [counts[rows] for _, rows in by_label(given[counts])]
    labels = np.unique(given[counts])
    return Baseline(labels, tuple(_log_hazard(seen.part(rows), f[rows], ties) for rows in parts))


def martingale_residuals(
    event: Any,
    time: Any,
    risk: Any = None,
    sample_weight: Any = None,
    entry: Any = None,
    stratum: Any = None,
    ties: Ties = "breslow",
) -> Array:
    """Compute martingale residuals: the events of a sample beyond those expected of it.

    r_i = event_i − e^{f_i} [H₀(t_i) − H₀(entry_i)]. They are large where the event came early, and negative
    where a sample was seen for long.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        1 or True where the event was observed, 0 where the sample is censored.
    time : array-like of shape (n_samples,)
        Times of the event or of the last observation.
    risk : array-like of shape (n_samples,) or None, default=None
        Decisions f; None stands for the model in which all are alike.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a weight of 2 is a sample given twice.
    entry : array-like of shape (n_samples,) or None, default=None
        Times from which samples are observed (left truncation); None stands for the beginning.
    stratum : array-like of shape (n_samples,) or None, default=None
        Labels of separate risk sets.
    ties : {"breslow", "efron"}, default="breslow"
        How events at the same time are counted, as Cox's model was fitted.

    Returns
    -------
    ndarray of shape (n_samples,)
        The residuals.

    References
    ----------
    Therneau, Grambsch & Fleming (1990), "Martingale-based residuals for survival models", Biometrika 77.

    Examples
    --------
    >>> from manykernels.survival import martingale_residuals
    >>> martingale_residuals([1, 1, 0], [1.0, 2.0, 3.0]).round(3).tolist()
    [0.667, 0.167, -0.833]
    """
    seen = observed(event, time, sample_weight, entry)
    f = np.zeros(seen.time.size) if risk is None else risks(risk, seen.time.size)
    found = breslow(event, time, f, sample_weight, entry, stratum, ties)
    H = np.empty(f.size)
    for one, rows in found._parts(f.size, stratum):
        upto = StepFunctions(one.times, one.values, one.before)  # of a sample of weight 0, also later
        H[rows] = np.exp(f[rows] + upto.at(seen.time[rows])) - np.exp(f[rows] + upto.at(seen.entry[rows]))
    return seen.event - H


def _log_hazard(seen: Observed, f: Array, ties: Ties) -> StepFunctions:
    """log H₀ by sums of logarithms."""
    t = seen.event_times
    log_risk = f + np.log(seen.weight)
    log_R = np.asarray(cover_sums(*seen.seen_at(t), log_risk, t.size, True))
    jumps = np.log(seen.events_at(t)) - log_R
    if ties == "efron":
        jumps += _efron(seen, t, log_risk, log_R)
    return StepFunctions(t, np.logaddexp.accumulate(jumps), -np.inf, float(seen.time.max()))


def _efron(seen: Observed, t: Array, log_risk: Array, log_R: Array) -> Array:
    """log (1/d) Σ_{l<d} 1/(1 − (l/d) ρ): how much larger jumps are with ρ = Σ_D w e^f / Σ_R w e^f."""
    places = np.searchsorted(t, seen.time[seen.event])
    log_D = np.asarray(cover_sums(places, places + 1, log_risk[seen.event], t.size, True))
    rho = np.exp(np.minimum(log_D - log_R, 0.0))
    d = np.bincount(places, minlength=t.size)
    first = np.repeat(np.cumsum(d) - d, d)
    share = (np.arange(d.sum()) - first) / np.repeat(d, d)  # l/d, for each event
    terms = 1.0 / (1.0 - share * np.repeat(rho, d))
    which = np.repeat(np.arange(t.size), d)
    return np.asarray(np.log(np.bincount(which, weights=terms, minlength=t.size) / d))

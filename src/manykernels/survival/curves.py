"""Survival curves from events and times alone: Kaplan and Meier's, Nelson and Aalen's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .._arguments import rounded
from .._warn import warn
from .observed import Observed, counted, share
from .steps import StepFunctions, read_times

Array = NDArray[np.float64]
_EMPTY = 1e-12  # of those at risk: fewer are left only by rounding


@dataclass(frozen=True)
class KaplanMeier:
    """The survival curve S at the times of events, with its interval and the numbers at risk.

    Calling it gives the survival at any times, ``band`` the interval. Where S is 0, the interval is not known
    and NaN.

    Attributes
    ----------
    times : ndarray of shape (k,)
        Times at which events were observed.
    survival : ndarray of shape (k,)
        The survival S from this time on.
    lower : ndarray of shape (k,)
        Lower ends of the interval.
    upper : ndarray of shape (k,)
        Upper ends of the interval.
    at_risk : ndarray of shape (k,)
        The weight of the samples at risk just before.
    events : ndarray of shape (k,)
        The weight of the samples that had the event.
    last : float
        The time at which the last sample was seen; ∞ where S fell to 0, and stays there.
    level : float
        Level of the interval.

    References
    ----------
    Kaplan & Meier (1958), "Nonparametric estimation from incomplete observations", Journal of the American
    Statistical Association 53.

    Examples
    --------
    >>> from manykernels.survival import kaplan_meier
    >>> curve = kaplan_meier([1, 0, 1], [1.0, 2.0, 3.0])
    >>> round(curve(1.5), 3), curve.at_risk.tolist()
    (0.667, [3.0, 1.0])
    """

    times: Array  # (k,): when events were observed
    survival: Array  # (k,): S from this time on
    lower: Array
    upper: Array
    at_risk: Array  # (k,): the weight of those at risk just before
    events: Array  # (k,): the weight of those who had the event
    last: float  # when the last sample was seen; ∞ where S fell to 0, and stays there
    level: float = 0.95  # of the interval

    @property
    def curve(self) -> StepFunctions:
        """The curve as a step function."""
        return StepFunctions(self.times, self.survival, 1.0, self.last)

    def __call__(self, times: Any) -> Any:
        """Return the survival at any times.

        Parameters
        ----------
        times : array-like
            Times.

        Returns
        -------
        ndarray or float
            Probabilities; NaN, and a warning, after the last observed time.

        Examples
        --------
        >>> from manykernels.survival import kaplan_meier
        >>> curve = kaplan_meier([1, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
        >>> curve([0.5, 1.0, 3.5])
        array([1.  , 0.75, 0.5 ])
        """
        return self.curve(times)

    def band(self, times: Any) -> tuple[Array, Array]:
        """Return the ends of the interval at any times.

        Parameters
        ----------
        times : array-like
            Times.

        Returns
        -------
        lower : ndarray
            Lower ends.
        upper : ndarray
            Upper ends.

        Examples
        --------
        >>> from manykernels.survival import kaplan_meier
        >>> curve = kaplan_meier([1, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
        >>> lower, upper = curve.band([1.0])
        >>> lower.round(2), upper.round(2)
        (array([0.13]), array([0.96]))
        """
        t = read_times(times)
        ends = [StepFunctions(self.times, end, 1.0, self.last).at(t) for end in (self.lower, self.upper)]
        return ends[0], ends[1]


def kaplan_meier(
    event: Any, time: Any, sample_weight: Any = None, entry: Any = None, *, level: float = 0.95
) -> KaplanMeier:
    """Estimate the share of samples without the event by each time.

    With n_i at risk at the event time t_i (entry < t_i ≤ time) and d_i events there, by weight,

        S(t) = Π_{t_i ≤ t} (1 − d_i/n_i),      V(t) = Σ_{t_i ≤ t} d_i / (n_i (n_i − d_i))

    V is Greenwood's variance of log S. The interval is symmetric for log(−log S), so that it stays between 0
    and 1: S^exp(±z √V / log S).

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        1 or True where the event was observed, 0 where the sample is censored.
    time : array-like of shape (n_samples,)
        Times of the event or of the last observation.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a weight of 2 is a sample given twice.
    entry : array-like of shape (n_samples,) or None, default=None
        Times from which samples are observed (left truncation); 0 or None stands for the beginning.
    level : float, default=0.95
        Level of the interval.

    Returns
    -------
    KaplanMeier
        The curve, its interval, and the numbers at risk.

    References
    ----------
    Kaplan & Meier (1958), "Nonparametric estimation from incomplete observations", Journal of the American
    Statistical Association 53.

    Examples
    --------
    >>> from manykernels.survival import kaplan_meier
    >>> kaplan_meier([1, 0, 1], [1.0, 2.0, 3.0]).survival.round(3).tolist()
    [0.667, 0.0]
    """
    level = share(level, "level", 0.95)
    seen = counted(event, time, sample_weight, entry)
    t = seen.event_times
    n, d = seen.at_risk(t), seen.events_at(t)
    left = np.where(n - d > _EMPTY * n, n - d, 0.0)
    S = np.asarray(np.cumprod(left / n), dtype=np.float64)
    _warn_of_early_end(t, left, seen)
    lower, upper = _interval(S, np.cumsum(d / n / np.where(left > 0.0, left, np.inf)), level)
    end = np.inf if S.size and S[-1] == 0.0 else float(seen.time.max())
    return KaplanMeier(t, S, lower, upper, n, d, end, level)


def nelson_aalen(event: Any, time: Any, sample_weight: Any = None, entry: Any = None) -> StepFunctions:
    """Estimate the cumulative hazard Σ_{t_i ≤ t} d_i/n_i.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        1 or True where the event was observed, 0 where the sample is censored.
    time : array-like of shape (n_samples,)
        Times of the event or of the last observation.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a weight of 2 is a sample given twice.
    entry : array-like of shape (n_samples,) or None, default=None
        Times from which samples are observed (left truncation); 0 or None stands for the beginning.

    Returns
    -------
    StepFunctions
        The hazard as a function of time.

    References
    ----------
    Nelson (1972), "Theory and applications of hazard plotting for censored failure data", Technometrics 14.

    Aalen (1978), "Nonparametric inference for a family of counting processes", Annals of Statistics 6.

    Examples
    --------
    >>> from manykernels.survival import nelson_aalen
    >>> nelson_aalen([1, 0, 1], [1.0, 2.0, 3.0]).values.round(3).tolist()
    [0.333, 1.333]
    """
    seen = counted(event, time, sample_weight, entry)
    t = seen.event_times
    return StepFunctions(t, np.cumsum(seen.events_at(t) / seen.at_risk(t)), 0.0, float(seen.time.max()))


def censoring_curve(event: Any, time: Any, sample_weight: Any = None) -> StepFunctions:
    """Estimate G(t), the probability to be still observed after t, had there been no event.

    This is Kaplan and Meier's curve of the censored, in which those with an event at t are no longer at risk
    to be censored at t. It is 1 everywhere, and at all times, where nobody is censored.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        1 or True where the event was observed, 0 where the sample is censored.
    time : array-like of shape (n_samples,)
        Times of the event or of the last observation.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a weight of 2 is a sample given twice.

    Returns
    -------
    StepFunctions
        The function G.

    References
    ----------
    Graf, Schmoor, Sauerbrei & Schumacher (1999), "Assessment and comparison of prognostic classification
    schemes for survival data", Statistics in Medicine 18.

    Examples
    --------
    >>> from manykernels.survival import censoring_curve
    >>> round(censoring_curve([1, 0, 1], [1.0, 2.0, 3.0])(2.5), 3)
    0.5
    """
    seen = counted(event, time, sample_weight)
    censored = Observed(~seen.event, seen.time, seen.weight, seen.entry)
    t = censored.event_times
    if not t.size:
        return StepFunctions(t, t.copy(), 1.0, np.inf)
    places = np.searchsorted(t, seen.time[seen.event])
    same = (places < t.size) & (t[np.minimum(places, t.size - 1)] == seen.time[seen.event])
    gone = np.bincount(places[same], weights=seen.weight[seen.event][same], minlength=t.size)
    n, d = seen.at_risk(t) - gone, censored.events_at(t)
    G = np.asarray(np.cumprod(np.where(n - d > _EMPTY * n, n - d, 0.0) / n), dtype=np.float64)
    return StepFunctions(t, G, 1.0, np.inf if G[-1] == 0.0 else float(seen.time.max()))


def _interval(S: Array, V: Array, level: float) -> tuple[Array, Array]:
    """S^exp(±z √V / log S), on the scale log(−log S); NaN where S is 0."""
    z = float(ndtri(0.5 + 0.5 * level))
    falls = np.where((S > 0.0) & (S < 1.0), S, 0.5)
    wide = np.exp(z * np.sqrt(V) / -np.log(falls))
    lower, upper = falls**wide, falls ** (1.0 / wide)
    certain = np.where(S > 0.0, 1.0, np.nan)
    known = falls == S
    return np.where(known, lower, certain), np.where(known, upper, certain)


def _warn_of_early_end(t: Array, left: Array, seen: Observed) -> None:
    """With left truncation all at risk may have the event while others have not entered yet."""
    ended = np.flatnonzero(left == 0.0)
    if ended.size and float(seen.time.max()) > t[ended[0]]:
        warn(
            f"all samples at risk at the time {rounded(float(t[ended[0]]))} had the event there, and others "
            "entered later: the curve is 0 from this time on. Begin where more samples are at risk (leave "
            "out those that end before)."
        )

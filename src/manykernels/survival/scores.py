"""Scores of predicted risks and survival curves: concordance and Brier scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import as_numbers
from .._fast.survival import count_pairs
from .curves import censoring_curve
from .observed import Observed, at_least_zero, by_label, labels_of, observed, pair, risks
from .steps import StepFunctions, read_times

Array = NDArray[np.float64]
TIED = 1e-8  # risks nearer to each other are tied, as in scikit-survival


def concordance_index(
    event: Any,
    time: Any,
    risk: Any,
    sample_weight: Any = None,
    entry: Any = None,
    stratum: Any = None,
    *,
    tied_tol: float = TIED,
) -> float:
    """Compute Harrell's C, the share of comparable pairs whose risks are in the right order.

    A pair is comparable where it is known who had the event first. This is i where t_i < t_j and the event of
    i was observed, or where t_i = t_j and j is censored. Two events at the same time are no pair. A pair with
    equal risks counts one half. ½ is guessing and 1 the right order of all pairs. With weights a pair counts
    w_i w_j, so that a weight of 2 is a sample given twice.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        1 or True where the event was observed, 0 where the sample is censored.
    time : array-like of shape (n_samples,)
        Times of the event or of the last observation.
    risk : array-like of shape (n_samples,)
        Predicted risks, larger for those who are expected to have the event earlier.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the samples.
    entry : array-like of shape (n_samples,) or None, default=None
        Times from which samples are observed. Nobody is compared before that.
    stratum : array-like of shape (n_samples,) or None, default=None
        Labels of samples that are compared only among themselves.
    tied_tol : float, default=1e-08
        Risks that differ by at most this are tied.

    Returns
    -------
    float
        The index, in [0, 1].

    References
    ----------
    Harrell, Califf, Pryor, Lee & Rosati (1982), "Evaluating the yield of medical tests", Journal of the
    American Medical Association 247.

    Examples
    --------
    >>> from manykernels.survival import concordance_index
    >>> concordance_index([1, 1, 0], [1.0, 2.0, 3.0], [0.9, 0.5, 0.1])
    1.0
    """
    seen = observed(event, time, sample_weight, entry)
    return _concordance(seen, risks(risk, seen.time.size), seen.weight, tied_tol, stratum)


def uno_c(
    train: Any,
    test: Any,
    risk: Any,
    tau: float | None = None,
    sample_weight: Any = None,
    *,
    tied_tol: float = TIED,
) -> float:
    """Compute Uno's C: Harrell's C with weights, so that it does not depend on who is censored.

    Pairs count 1/G(t_i)², where G is the probability to be still observed at a time, estimated from `train`.

    Parameters
    ----------
    train : tuple of (event, time), structured array or StepFunctions
        Training samples: a pair of arrays, a structured array with these two fields, or their
        `censoring_curve`.
    test : tuple of (event, time) or structured array
        Samples to judge.
    risk : array-like of shape (n_test,)
        Predicted risks, larger for those who are expected to have the event earlier.
    tau : float or None, default=None
        The time until which events count; None stands for all. It must be given where an event of `test` is
        later than all of `train`, at times at which G is not known or 0.
    sample_weight : array-like of shape (n_test,) or None, default=None
        Weights of the test samples.
    tied_tol : float, default=1e-08
        Risks that differ by at most this are tied.

    Returns
    -------
    float
        The index, in [0, 1].

    References
    ----------
    Uno, Cai, Pencina, D'Agostino & Wei (2011), "On the C-statistics for evaluating overall adequacy of risk
    prediction procedures with censored survival data", Statistics in Medicine 30.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.survival import uno_c
    >>> seen = (np.array([1, 1, 0]), np.array([1.0, 2.0, 3.0]))
    >>> uno_c(seen, seen, [0.9, 0.5, 0.1])
    1.0
    """
    seen = observed(*pair(test, "test"), sample_weight)
    f = risks(risk, seen.time.size)
    counts = seen.event & (seen.time < (np.inf if tau is None else at_least_zero(tau, "tau")))
    G = _censoring(train).at(seen.time[counts])
    if not (G > 0.0).all():
        late = seen.time[counts][~(G > 0.0)].min()
        raise ValueError(
            f"an event of the samples to score is at {late:g}, and no training sample is known to be "
            f"observed so long: its weight is not known. Give tau={late:g} or less, so that only "
            "earlier events count."
        )
    weight = np.zeros(f.size)
    weight[counts] = seen.weight[counts] / G**2
    return _concordance(seen, f, weight, tied_tol)


def brier_score(train: Any, test: Any, survival: Any, times: Any, sample_weight: Any = None) -> Array:
    """Compute the squared error of predicted survival S_i(t) at each time; less is better.

        BS(t) = mean_i [ S_i(t)² 1{t_i ≤ t, event} / G(t_i) + (1 − S_i(t))² 1{t_i > t} / G(t) ]

    with G, the probability to be still observed at a time, from `train`; those censored before t count
    through the weights of the others. ¼ is the score of a coin, S = ½.

    Parameters
    ----------
    train : tuple of (event, time), structured array or StepFunctions
        Training samples: a pair of arrays, a structured array with these two fields, or their
        `censoring_curve`.
    test : tuple of (event, time) or structured array
        Samples to judge.
    survival : array-like of shape (n_test, n_times)
        Predicted probabilities; of shape (n_test,) for a single time.
    times : array-like of shape (n_times,)
        Times, growing, at which somebody of `test` is still observed.
    sample_weight : array-like of shape (n_test,) or None, default=None
        Weights of the test samples.

    Returns
    -------
    ndarray of shape (n_times,)
        The scores.

    References
    ----------
    Graf, Schmoor, Sauerbrei & Schumacher (1999), "Assessment and comparison of prognostic classification
    schemes for survival data", Statistics in Medicine 18.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.survival import brier_score
    >>> seen = (np.array([1, 1, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    >>> brier_score(seen, seen, np.array([0.0, 0.0, 1.0, 1.0]), 2.5).tolist()
    [0.0]
    """
    seen = observed(*pair(test, "test"), sample_weight)
    t = _score_times(times, seen)
    S = as_numbers(survival, "survival", "predicted probabilities").astype(np.float64)
    S = S[:, None] if S.ndim == 1 and t.size == 1 else S
    if S.shape != (seen.time.size, t.size):
        raise ValueError(
            f"survival has the shape {S.shape}; expected a row for each of the {seen.time.size} samples and "
            f"a column for each of the {t.size} times."
        )
    if not np.isfinite(S).all():
        raise ValueError(
            "survival holds missing or infinite numbers: curves are not known after the last time that was "
            "observed in training. Leave such times out."
        )
    if S.min() < 0.0 or S.max() > 1.0:
        raise ValueError(
            f"survival goes from {S.min():g} to {S.max():g}; expected probabilities between 0 and 1, as "
            "predict_survival_function gives them, and no risks."
        )
    return _brier(seen, S, t, _censoring(train))


def integrated_brier_score(
    train: Any, test: Any, survival: Any, times: Any, sample_weight: Any = None
) -> float:
    """Compute the mean of `brier_score` between the first and the last time, by the trapezoidal rule.

    Parameters
    ----------
    train : tuple of (event, time), structured array or StepFunctions
        Training samples, or their `censoring_curve`.
    test : tuple of (event, time) or structured array
        Samples to judge.
    survival : array-like of shape (n_test, n_times)
        Predicted probabilities.
    times : array-like of shape (n_times,)
        Times, at least two, growing, at which somebody of `test` is still observed.
    sample_weight : array-like of shape (n_test,) or None, default=None
        Weights of the test samples.

    Returns
    -------
    float
        The mean score; less is better.

    References
    ----------
    Graf, Schmoor, Sauerbrei & Schumacher (1999), "Assessment and comparison of prognostic classification
    schemes for survival data", Statistics in Medicine 18.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.survival import integrated_brier_score
    >>> seen = (np.array([1, 1, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    >>> integrated_brier_score(seen, seen, np.full((4, 2), 0.5), [1.5, 2.5])
    0.25
    """
    scores = brier_score(train, test, survival, times, sample_weight)
    t = np.atleast_1d(read_times(times))
    if t.size < 2:
        raise ValueError("one time was given; expected at least two, to take the mean between them.")
    return float(np.trapezoid(scores, t) / (t[-1] - t[0]))


def _concordance(seen: Observed, f: Array, weight: Array, tied_tol: float, stratum: Any = None) -> float:
    """C with weights weight_i w_j of the pairs in which i had the event first."""
    tied_tol = at_least_zero(tied_tol, "tied_tol")
    apart = np.zeros(f.size) if stratum is None else labels_of(stratum, "stratum", f.size)
    found = np.zeros(3)
    for _, rows in by_label(apart):
        found += _pairs(seen.part(rows), f[rows], weight[rows], tied_tol)
    concordant, discordant, tied = found
    if not concordant + discordant + tied > 0.0:
        raise ValueError(
            "there is no pair of samples in which it is known who had the event first; expected at least one "
            "event after which another sample is still observed."
        )
    return float((concordant + 0.5 * tied) / (concordant + discordant + tied))


def _pairs(seen: Observed, f: Array, weight: Array, tied_tol: float) -> Array:
    """The weights of the pairs of a stratum: in the right order, in the wrong one, and tied."""
    by_risk = np.argsort(f, kind="stable")
    rank = np.empty_like(by_risk)
    rank[by_risk] = np.arange(f.size)
    low = np.searchsorted(f[by_risk], f - tied_tol, "left")
    high = np.searchsorted(f[by_risk], f + tied_tol, "right")
    return np.asarray(count_pairs(seen.time, seen.event, seen.entry, low, high, rank, weight, seen.weight))


def _censoring(train: Any) -> StepFunctions:
    return train if isinstance(train, StepFunctions) else censoring_curve(*pair(train, "train"))


def _score_times(times: Any, seen: Observed) -> Array:
    t = np.atleast_1d(read_times(times))
    if t.ndim != 1 or (np.diff(t) <= 0.0).any():
        raise ValueError("times do not grow; expected a list of growing times.")
    first, last = seen.time.min(), seen.time.max()
    if t.size == 0 or t[0] < first or t[-1] >= last:
        raise ValueError(
            f"times go from {t.min(initial=np.inf):g} to {t.max(initial=-np.inf):g}; expected times from "
            f"{first:g}, the first at which a sample to score was observed, to before {last:g}, the last."
        )
    return t


def _brier(seen: Observed, S: Array, t: Array, G: StepFunctions) -> Array:
    G_t, G_i = G.at(t), G.at(seen.time)
    had = seen.event[:, None] & (seen.time[:, None] <= t)
    stays = seen.time[:, None] > t
    if np.isnan(G_t).any() or np.isnan(G_i[had.any(axis=1)]).any():
        raise ValueError(
            f"no training sample was observed after {float(np.max(G.last)):g}, so that the weights of later "
            "times are not known. Give times before that."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        of_event, of_rest = np.where(G_i > 0.0, 1.0 / G_i, 0.0), np.where(G_t > 0.0, 1.0 / G_t, 0.0)
    errors = np.where(had, S**2 * of_event[:, None], 0.0) + np.where(stays, (1.0 - S) ** 2 * of_rest, 0.0)
    return np.asarray(np.average(errors, axis=0, weights=seen.weight))

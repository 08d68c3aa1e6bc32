"""Scorers of times to an event, for ``scoring=`` of scikit-learn's searches and of ours.

Uno's C and the Brier score weigh samples by the chance to be still observed, which belongs to the training
samples. A model of this package knows it (``censoring_``); models of other packages are scored with
``train=y``, the events and times to estimate it from.
"""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRequest

from ..fitting.survival import Survival, read_survival
from ..survival import StepFunctions, censoring_curve, concordance_index, integrated_brier_score, uno_c

Array = NDArray[np.float64]
_TIMES = 50  # at which the Brier score is taken
_MIDDLE = (0.1, 0.9)  # quantiles of the times of the scored samples between which it is


class Scorer(BaseEstimator):
    """Base class of the scorers; weights are requested as for scikit-learn's scorers."""

    def set_score_request(self, **requests: Any) -> Self:
        """Set which metadata the scorer takes, if metadata routing is enabled.

        Parameters
        ----------
        **requests : dict
            The requests by name, such as ``sample_weight=True``.

        Returns
        -------
        self : scorer
            The scorer.

        Examples
        --------
        >>> import sklearn
        >>> from sklearn.utils.metadata_routing import get_routing_for_object
        >>> from manykernels.survival import ConcordanceScorer
        >>> with sklearn.config_context(enable_metadata_routing=True):
        ...     scorer = ConcordanceScorer().set_score_request(sample_weight=True)
        >>> get_routing_for_object(scorer)
        {'score': {'sample_weight': True}}
        """
        self._metadata_request = MetadataRequest(owner=self)
        for param, alias in requests.items():
            self._metadata_request.score.add_request(param=param, alias=alias)
        return self


class ConcordanceScorer(Scorer):
    """Score survival models by Harrell's C of the predicted risks, as their ``score`` does.

    Call it as ``scorer(model, X, y)``, or give it as ``scoring=``.

    References
    ----------
    - Harrell, Califf, Pryor, Lee and Rosati (1982), Evaluating the yield of medical tests, Journal of the
      American Medical Association 247.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLSurvival
    >>> from manykernels.survival import ConcordanceScorer
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(60, 2)
    >>> y = np.column_stack([np.ones(60), rng.exponential(np.exp(-2 * X[:, 0]))])
    >>> model = MKLSurvival().fit(X, y)
    >>> bool(ConcordanceScorer()(model, X, y) > 0.7)
    True
    """

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the score.

        Parameters
        ----------
        estimator : estimator
            A fitted model of times to an event.
        X : array-like, frame or dict
            The samples.
        y : structured array, frame or array-like of shape (n_samples, 2)
            The events and times of the samples.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples.

        Returns
        -------
        float
            The score; larger is better.

        Examples
        --------
        Any estimator that predicts risks can be scored. This one has one of three pairs wrong:

        >>> import numpy as np
        >>> from manykernels.survival import ConcordanceScorer
        >>> class FirstColumn:
        ...     def predict(self, X):
        ...         return X[:, 0]
        >>> X, y = np.array([[3.0], [1.0], [2.0]]), np.array([[1, 5.0], [1, 8.0], [1, 9.0]])
        >>> round(ConcordanceScorer()(FirstColumn(), X, y), 3)
        0.667
        """
        seen = read_survival(y)
        risk = estimator.predict(X)
        return concordance_index(seen.event, seen.time, risk, sample_weight, seen.entry, seen.stratum)


class UnoScorer(Scorer):
    """Score survival models by Uno's C, which does not depend on how samples are censored.

    Call it as ``scorer(model, X, y)``, or give it as ``scoring=``.

    Parameters
    ----------
    tau : float or None, default=None
        Only events before this time count. None counts all times at which a training sample can still be
        observed; later ones have no weight.
    train : structured array, frame, array-like or None, default=None
        The events and times to estimate the censoring from. None takes those of the training samples, which a
        model of this package knows.

    References
    ----------
    - Uno, Cai, Pencina, D'Agostino and Wei (2011), On the C-statistics for evaluating overall adequacy of
      risk prediction procedures with censored survival data, Statistics in Medicine 30.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLSurvival
    >>> from manykernels.survival import UnoScorer
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(60, 2)
    >>> y = np.column_stack([np.ones(60), rng.exponential(np.exp(-2 * X[:, 0]))])
    >>> model = MKLSurvival().fit(X, y)
    >>> bool(UnoScorer()(model, X, y) > 0.7)
    True
    """

    def __init__(self, tau: float | None = None, train: Any = None) -> None:
        self.tau = tau
        self.train = train

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the score.

        Parameters
        ----------
        estimator : estimator
            A fitted model of times to an event.
        X : array-like, frame or dict
            The samples.
        y : structured array, frame or array-like of shape (n_samples, 2)
            The events and times of the samples.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples.

        Returns
        -------
        float
            The score; larger is better.

        Examples
        --------
        An estimator of another package needs the times to estimate the censoring from:

        >>> import numpy as np
        >>> from manykernels.survival import UnoScorer
        >>> class FirstColumn:
        ...     def predict(self, X):
        ...         return X[:, 0]
        >>> X, y = np.array([[3.0], [1.0], [2.0]]), np.array([[1, 5.0], [1, 8.0], [1, 9.0]])
        >>> round(UnoScorer(train=y)(FirstColumn(), X, y), 3)
        0.667
        """
        seen, G = read_survival(y), _censoring(estimator, self.train)
        tau = _known_until(G, seen) if self.tau is None else self.tau
        return uno_c(G, (seen.event, seen.time), estimator.predict(X), tau, sample_weight)


class BrierScorer(Scorer):
    """Score survival models by the negative integrated Brier score of their survival curves.

    Call it as ``scorer(model, X, y)``, or give it as ``scoring=``.

    Parameters
    ----------
    times : array-like of shape (n_times,) or None, default=None
        The increasing times between which the squared error is integrated. None takes 50 of them, evenly from
        the first to the last decile of the times of the scored samples, as far as training samples were
        observed.
    train : structured array, frame, array-like or None, default=None
        The events and times to estimate the censoring from. None takes those of the training samples, which a
        model of this package knows.

    References
    ----------
    - Graf, Schmoor, Sauerbrei and Schumacher (1999), Assessment and comparison of prognostic classification
      schemes for survival data, Statistics in Medicine 18.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLSurvival
    >>> from manykernels.survival import BrierScorer
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(60, 2)
    >>> y = np.column_stack([np.ones(60), rng.exponential(np.exp(-2 * X[:, 0]))])
    >>> model = MKLSurvival().fit(X, y)
    >>> bool(BrierScorer()(model, X, y) > -0.25)
    True
    """

    def __init__(self, times: Any = None, train: Any = None) -> None:
        self.times = times
        self.train = train

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the score.

        Parameters
        ----------
        estimator : estimator
            A fitted model of times to an event.
        X : array-like, frame or dict
            The samples.
        y : structured array, frame or array-like of shape (n_samples, 2)
            The events and times of the samples.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples.

        Returns
        -------
        float
            The score; larger is better.

        Examples
        --------
        A model that always says one half is off by one half, and so by 0.25 when squared:

        >>> import numpy as np
        >>> from manykernels.survival import BrierScorer
        >>> class OneHalf:
        ...     def predict_survival_function(self, X, times):
        ...         return np.full((len(X), len(times)), 0.5)
        >>> y = np.array([[1, 1.0], [1, 2.0], [1, 3.0], [1, 4.0]])
        >>> round(BrierScorer(times=[1.5, 2.5, 3.5], train=y)(OneHalf(), y, y), 3)
        -0.25
        """
        seen, G = read_survival(y), _censoring(estimator, self.train)
        times = _middle(seen, G) if self.times is None else np.asarray(self.times, dtype=np.float64)
        S = _survival_at(estimator, X, times, seen.stratum)
        return -integrated_brier_score(G, (seen.event, seen.time), S, times, sample_weight)


def _censoring(estimator: Any, train: Any) -> StepFunctions:
    """Return the probability to be still observed at a time, among the training samples of a model."""
    if train is not None:
        seen = read_survival(train)
        return censoring_curve(seen.event, seen.time)
    last, _ = _last_step(estimator, None)
    found = getattr(last, "censoring_", None)
    if not isinstance(found, StepFunctions):
        raise ValueError(
            f"{type(last).__name__} does not say how its training samples were censored, which this score "
            "needs. Give the scorer the events and times to estimate it from: UnoScorer(train=y)."
        )
    return found


def _last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step inside pipelines and searches, and X in the form in which it gets there."""
    while True:
        if hasattr(estimator, "best_estimator_") and not hasattr(estimator, "censoring_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            X = X if X is None or len(estimator) == 1 else estimator[:-1].transform(X)
            estimator = estimator[-1]
        else:
            return estimator, X


def _survival_at(estimator: Any, X: Any, times: Array, stratum: Any) -> Array:
    """Predict survival (n, times), for models that take times and for those that return functions."""
    predict, X = _predicts(estimator, X)
    if "times" in inspect.signature(predict).parameters:
        beside = {} if stratum is None else {"stratum": stratum}
        return np.asarray(predict(X, times=times, **beside), dtype=np.float64)
    return np.array([one(times) for one in predict(X)], dtype=np.float64)


def survival_curves(estimator: Any, X: Any, stratum: Any = None) -> StepFunctions:
    """Predict survival as functions of time, at the event times of training."""
    predict, X = _predicts(estimator, X)
    found = predict(X) if stratum is None else predict(X, stratum=stratum)
    if isinstance(found, StepFunctions):
        return found
    functions = list(found)
    times = np.asarray(functions[0].x, dtype=np.float64)
    values = np.array([one(times) for one in functions], dtype=np.float64)
    return StepFunctions(times, values, 1.0, float(times.max()))


def _predicts(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the method that predicts survival, and X in the form in which it gets there."""
    last, X = _last_step(estimator, X)
    if not hasattr(last, "predict_survival_function"):
        raise ValueError(
            f"{type(last).__name__} predicts no survival curves: it has no predict_survival_function. Models "
            "that only predict risks are scored by ConcordanceScorer() or UnoScorer()."
        )
    return last.predict_survival_function, X


def _known_until(G: StepFunctions, seen: Survival) -> float | None:
    """Return the first event at which no training sample can be observed, or None."""
    t = seen.time[seen.event]
    late = t[~(G.at(t) > 0.0)]
    return float(late.min()) if late.size else None


def _middle(seen: Survival, G: StepFunctions) -> Array:
    """Return times between deciles, before training samples end and while some scored sample is left."""
    low, high = np.quantile(seen.time, _MIDDLE)
    high = min(float(high), float(np.max(G.last)))
    low, last = max(float(low), float(seen.time.min())), float(seen.time.max())
    if not low < min(high, last):
        raise ValueError(
            f"the middle of the times to score ({low:g} to {high:g}) is empty or after all training samples; "
            "give the scorer the times to score at: BrierScorer(times=[...])."
        )
    return np.linspace(low, high, _TIMES) if high < last else np.linspace(low, last, _TIMES + 1)[:-1]

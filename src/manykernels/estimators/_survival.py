"""What the estimators of times to an event share: risks, survival curves and their score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..fitting.functions import Function
from ..fitting.lazy import in_memory
from ..fitting.matching import matched
from ..fitting.survival import read_survival
from ..fitting.targets import check_length, check_weights
from ..survival import Baseline, StepFunctions, breslow, censoring_curve, concordance_index, median_time
from ._dask import over_blocks

Array = NDArray[np.float64]


class SurvivalFace:
    """Decisions about times to an event: f(x) is the logarithm of a ratio of hazards."""

    baseline_: Baseline
    censoring_: StepFunctions  # the chance to be still observed, for scores that weigh by it
    event_times_: Array
    intercept_: float
    _model: Any

    def _learn_baseline(self, X: Any, y: Any, sample_weight: Any, covariates: Any, ties: str) -> None:
        """Breslow's estimate of the hazard behind the decisions on the training samples."""
        X, y, sample_weight = in_memory(matched(X, y, quiet=True), y, sample_weight)
        seen, beside = read_survival(y), {} if covariates is None else {"covariates": covariates}
        f = np.asarray(self.predict(X, **beside))
        sample_weight = None if sample_weight is None else check_weights(sample_weight, f.size)
        mean = float(
            np.average(f, weights=sample_weight)
        )  # which no fit can know: a constant changes nothing
        f = f - mean
        function = self._model.function
        self._publish_centred(replace(function, intercept=function.intercept - mean))
        how: dict[str, Any] = {"entry": seen.entry, "stratum": seen.stratum, "ties": ties}
        self.baseline_ = breslow(seen.event, seen.time, f, sample_weight, **how)
        self.censoring_ = censoring_curve(seen.event, seen.time, sample_weight)

    def _publish_centred(self, function: Function) -> None:
        self._model = replace(self._model, function=function)
        self.intercept_ = float(function.intercept[0])

    @over_blocks
    def predict(self, X: Any, covariates: Any = None) -> Array:
        """(n_samples,): the risk, larger for those who have the event earlier.

        It is the logarithm of a ratio of hazards: a sample with a risk that is larger by 1 has e times the
        hazard. The training samples have a mean of 0. ``covariates`` are those of the samples, where ``fit``
        was given them beside X.
        """
        check_is_fitted(self)
        f: Array = self._model.decide(X, covariates=covariates)
        return np.asarray(f[:, 0])

    @property
    def _hazards(self) -> Baseline:
        """The baseline; a search that chose an estimator of another package has none."""
        found: Baseline | None = getattr(self, "baseline_", None)
        if found is None:
            chosen = type(getattr(self, "best_estimator_", self)).__name__
            raise ValueError(
                f"the search chose {chosen}, which is not of this package: ask it for curves, by "
                "best_estimator_.predict_survival_function(X), if it has these."
            )
        return found

    def predict_survival_function(
        self,
        X: Any,
        times: Any = None,
        *,
        stratum: Any = None,
        covariates: Any = None,
        return_array: bool = False,
    ) -> Any:
        """The probability to have no event until each time.

        Parameters
        ----------
        X : samples
        times : array of shape (n_times,), optional
            Without them, functions of time are given: ``curves(t)`` is (n_samples, len(t)), ``curves[0](t)``
            those of the first sample, and ``curves.times`` the times at which they fall.
        stratum : array of shape (n_samples,), where ``fit`` had strata
        covariates : those of the samples, where ``fit`` was given them beside X
        return_array : bool
            Without times: their values at ``unique_times_``, as an array of shape (n_samples, n_times).

        Returns
        -------
        array of shape (n_samples, n_times), or `manykernels.survival.StepFunctions`
            NaN, and a warning, after the last time at which a training sample was seen: nothing is known
            then.
        """
        f, stratum = self.predict(X, covariates=covariates), _labels(stratum)
        if times is None:
            curves = self._hazards.survival(f, stratum)
            return curves.values if return_array else curves
        return self._hazards.survival_at(f, times, stratum)

    def predict_cumulative_hazard(
        self,
        X: Any,
        times: Any = None,
        *,
        stratum: Any = None,
        covariates: Any = None,
        return_array: bool = False,
    ) -> Any:
        """The cumulative hazard, H(t) = −log S(t), as ``predict_survival_function`` gives S(t)."""
        f, stratum = self.predict(X, covariates=covariates), _labels(stratum)
        if times is None:
            curves = self._hazards.hazard(f, stratum)
            return curves.values if return_array else curves
        return self._hazards.hazard_at(f, times, stratum)

    # as scikit-survival calls it
    def predict_cumulative_hazard_function(self, X: Any, **how: Any) -> Any:
        """`predict_cumulative_hazard`, by the name that scikit-survival has for it."""
        return self.predict_cumulative_hazard(X, **how)

    @property
    def unique_times_(self) -> Array:
        """``event_times_``, at which curves jump, by the name that scikit-survival has for such."""
        return self.event_times_

    def predict_median(self, X: Any, *, stratum: Any = None, covariates: Any = None) -> Array:
        """(n_samples,): the time by which one half of such samples has had the event.

        ∞ where survival stays above one half as long as it is known.
        """
        f = self.predict(X, covariates=covariates)
        return np.asarray(median_time(self._hazards.survival(f, _labels(stratum))))

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Harrell's C: the share of pairs whose order in time the risks have right; 0.5 is chance.

        Where y has strata, pairs are of one stratum.
        """
        X = matched(X, y, quiet=True)
        f, y, sample_weight = in_memory(self.predict(X, covariates=covariates), y, sample_weight)
        seen = read_survival(y)
        check_length(f.size, seen.time)
        weight = None if sample_weight is None else check_weights(sample_weight, f.size)
        return concordance_index(seen.event, seen.time, f, weight, entry=seen.entry, stratum=seen.stratum)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        return tags


def _labels(stratum: Any) -> Any:
    """Strata as they are kept: as text."""
    return (
        None if stratum is None else np.array([str(v) for v in np.asarray(stratum).reshape(-1)], dtype=object)
    )

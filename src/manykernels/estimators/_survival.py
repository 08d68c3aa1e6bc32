"""Base class of the survival estimators: risks, survival curves and their score."""

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
    """Base class of the survival estimators: f(x) is the logarithm of a ratio of hazards."""

    baseline_: Baseline
    censoring_: StepFunctions  # the chance to be still observed, for scores that weigh by it
    event_times_: Array
    intercept_: float
    _model: Any

    def _learn_baseline(self, X: Any, y: Any, sample_weight: Any, covariates: Any, ties: str) -> None:
        """Compute Breslow's estimate of the hazard behind the decisions on the training samples."""
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
        """Predict the risk of each sample, larger for those who have the event earlier.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,)
            The logarithms of hazard ratios: a risk that is larger by 1 means e times the hazard. The training
            samples have a mean of 0.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the samples lack columns or views that the model needs, or cells hold something else than in
            training.

        Examples
        --------
        Smokers have the event earlier, and a larger risk. The training samples have the mean risk 0:

        >>> import numpy as np
        >>> from manykernels import MKLSurvival
        >>> from manykernels.kernels import Linear
        >>> smokes = np.array([[1.0], [1.0], [1.0], [0.0], [0.0], [0.0]])
        >>> y = [[1, 2.0], [1, 3.0], [1, 7.0], [1, 5.0], [1, 8.0], [0, 9.0]]
        >>> model = MKLSurvival(Linear(), C=10.0).fit(smokes, y)
        >>> smoker, other = model.predict([[1.0], [0.0]])
        >>> bool(smoker > other), bool(abs(smoker + other) < 1e-6)
        (True, True)
        """
        check_is_fitted(self)
        f: Array = self._model.decide(X, covariates=covariates)
        return np.asarray(f[:, 0])

    @property
    def _hazards(self) -> Baseline:
        """The baseline hazard; a search that chose an estimator of another package has none."""
        found: Baseline | None = getattr(self, "baseline_", None)
        if found is None:
            chosen = type(getattr(self, "best_estimator_", self)).__name__
            raise ValueError(
                f"the search chose {chosen}, which is a model of another package. Call "
                "best_estimator_.predict_survival_function(X), if it has this method."
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
        """Predict the probability to have no event until each time.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        times : array-like of shape (n_times,), default=None
            The times at which to compute it. Without them the result is a function of time.
        stratum : array-like of shape (n_samples,), default=None
            The strata of the samples, if ``fit`` had strata.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.
        return_array : bool, default=False
            Whether to return values at ``unique_times_`` if no times are given.

        Returns
        -------
        ndarray of shape (n_samples, n_times) or StepFunctions
            The probabilities S(t). Without ``times`` functions: ``curves(t)`` has shape (n_samples, len(t)),
            ``curves[0](t)`` is that of the first sample, and ``curves.times`` are the times at which they
            fall. After the last time at which a training sample was observed nothing is known: values are
            NaN, with a warning.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLSurvival
        >>> from manykernels.kernels import Linear
        >>> smokes = np.array([[1.0], [1.0], [1.0], [0.0], [0.0], [0.0]])
        >>> y = [[1, 2.0], [1, 3.0], [1, 7.0], [1, 5.0], [1, 8.0], [0, 9.0]]
        >>> model = MKLSurvival(Linear(), C=10.0).fit(smokes, y)
        >>> model.predict_survival_function([[1.0], [0.0]], times=[1.0, 4.0]).round(2)
        array([[1.  , 0.52],
               [1.  , 0.87]])
        >>> curves = model.predict_survival_function([[1.0], [0.0]])
        >>> curves.times.tolist(), curves[0](4.0) < curves[1](4.0)
        ([2.0, 3.0, 5.0, 7.0, 8.0], True)
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
        """Predict the cumulative hazard H(t) = −log S(t).

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        times : array-like of shape (n_times,), default=None
            The times at which to compute it. Without them the result is a function of time.
        stratum : array-like of shape (n_samples,), default=None
            The strata of the samples, if ``fit`` had strata.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.
        return_array : bool, default=False
            Whether to return values at ``unique_times_`` if no times are given.

        Returns
        -------
        ndarray of shape (n_samples, n_times) or StepFunctions
            The cumulative hazards, in the form of ``predict_survival_function``.

        Examples
        --------
        The hazard of a smoker is a multiple of the other, the same at all times:

        >>> import numpy as np
        >>> from manykernels import MKLSurvival
        >>> from manykernels.kernels import Linear
        >>> smokes = np.array([[1.0], [1.0], [1.0], [0.0], [0.0], [0.0]])
        >>> y = [[1, 2.0], [1, 3.0], [1, 7.0], [1, 5.0], [1, 8.0], [0, 9.0]]
        >>> model = MKLSurvival(Linear(), C=10.0).fit(smokes, y)
        >>> smoker, other = model.predict_cumulative_hazard([[1.0], [0.0]], times=[2.0, 7.0])
        >>> (smoker / other).round(1)
        array([4.9, 4.9])
        """
        f, stratum = self.predict(X, covariates=covariates), _labels(stratum)
        if times is None:
            curves = self._hazards.hazard(f, stratum)
            return curves.values if return_array else curves
        return self._hazards.hazard_at(f, times, stratum)

    # as scikit-survival calls it
    def predict_cumulative_hazard_function(self, X: Any, **how: Any) -> Any:
        """Predict the cumulative hazard, by the name that scikit-survival uses.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        **how : dict
            The other arguments of ``predict_cumulative_hazard``.

        Returns
        -------
        ndarray of shape (n_samples, n_times) or StepFunctions
            The same as ``predict_cumulative_hazard``.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLSurvival
        >>> from manykernels.kernels import Linear
        >>> X, y = np.array([[1.0], [2.0], [3.0]]), [[1, 3.0], [1, 2.0], [1, 1.0]]
        >>> model = MKLSurvival(Linear()).fit(X, y)
        >>> H = model.predict_cumulative_hazard_function(X)
        >>> H.times.tolist(), bool(H[2](2.0) > H[0](2.0))
        ([1.0, 2.0, 3.0], True)
        """
        return self.predict_cumulative_hazard(X, **how)

    @property
    def unique_times_(self) -> Array:
        """The times at which curves jump, by the name that scikit-survival uses for ``event_times_``."""
        return self.event_times_

    def predict_median(self, X: Any, *, stratum: Any = None, covariates: Any = None) -> Array:
        """Predict the time by which one half of such samples has had the event.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        stratum : array-like of shape (n_samples,), default=None
            The strata of the samples, if ``fit`` had strata.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,)
            The times; ∞ if survival stays above one half as long as it is known.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLSurvival
        >>> from manykernels.kernels import Linear
        >>> smokes = np.array([[1.0], [1.0], [1.0], [0.0], [0.0], [0.0]])
        >>> y = [[1, 2.0], [1, 3.0], [1, 7.0], [1, 5.0], [1, 8.0], [0, 9.0]]
        >>> model = MKLSurvival(Linear(), C=10.0).fit(smokes, y)
        >>> model.predict_median([[1.0], [0.0]]).tolist()
        [5.0, 8.0]
        """
        f = self.predict(X, covariates=covariates)
        return np.asarray(median_time(self._hazards.survival(f, _labels(stratum))))

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Compute Harrell's C of the predicted risks.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        y : structured array, frame or array-like of shape (n_samples, 2)
            The observed times, as in ``fit``. If they have strata, pairs are of one stratum.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples in the score.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        float
            The share of pairs whose order in time the risks have right; 0.5 is chance.

        Examples
        --------
        Two of the three pairs have their events in the order of the risks:

        >>> import numpy as np
        >>> from manykernels import MKLSurvival
        >>> from manykernels.kernels import Linear
        >>> X, y = np.array([[1.0], [2.0], [3.0]]), [[1, 3.0], [1, 2.0], [1, 1.0]]
        >>> model = MKLSurvival(Linear()).fit(X, y)
        >>> model.score(X, y), round(model.score(X, [[1, 3.0], [1, 1.0], [1, 2.0]]), 3)
        (1.0, 0.667)
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
    """Return the strata as text, the form in which they are kept."""
    return (
        None if stratum is None else np.array([str(v) for v in np.asarray(stratum).reshape(-1)], dtype=object)
    )

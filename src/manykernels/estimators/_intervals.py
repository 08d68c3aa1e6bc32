"""Searches over regression models with prediction intervals."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._arguments import is_number, number_of, shown
from .._pieces import part
from .._warn import warn
from ..fitting.functions import KernelFunction
from ..fitting.layout import is_lazy, take
from ..fitting.outside import is_mapped, open_parquet
from ..fitting.progress import progress
from ..fitting.stacks import in_matrices
from ..selection.data import Data
from ..selection.intervals import HeldOut, Jackknife, count_of, intervals, jackknife, rank_of
from ..selection.plan import WHOLE
from ..selection.race import within_rows
from ..selection.splits import Folds, make_folds
from ..selection.strategies import NAMES
from ._large import gathered
from ._own import OwnOutputs
from ._search import options_of
from .mkl import has_own_weights

Array = NDArray[np.float64]


def _keeps_models(search: Intervals) -> bool:
    """Tell whether the search keeps a model of each fold."""
    if not (isinstance(search.intervals, bool | np.bool_) and search.intervals):
        raise AttributeError(
            "predict_interval needs a model of each fold, and intervals=False was given. Fit with "
            "intervals=True."
        )
    return True


class Intervals(OwnOutputs):
    """A search that keeps what intervals need: models of folds, or what leaving out a sample changes."""

    intervals: bool
    intervals_: list[HeldOut] | Jackknife

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, covariates: Any = None
    ) -> Self:
        """Compare strategies along their paths in C and fit the best, or choose weights for every output.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list, dict or path
            The samples, of shape (n_samples, n_features). A dict {name: samples × features} holds views,
            which get kernels of their own. With ``kernels="precomputed"`` it is a stack of kernel matrices,
            of shape (n_samples, n_train, n_kernels), or a dict of them by name. With ``approx`` and the
            squared loss it may also be a Dask array or frame, which stays where it is, and with
            ``approx="auto"`` the path of a Parquet file.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            The targets: labels for a classifier, numbers for a regressor. Only a regressor takes several
            outputs. If X is a Parquet file, the name of its column.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples, in fits and in scores. A sample of weight 2 counts as two samples.
        groups : array-like of shape (n_samples,), default=None
            The groups of the samples, for a ``cv`` that keeps groups together, such as ``GroupKFold()``.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            Covariates that enter unpenalised beside the kernels, if X has no columns that ``covariates`` of
            the estimator could name. Not with ``multi_output="own"``.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._check_types()
        if self.intervals:
            X, y = open_parquet(gathered(X), y, self.memory_limit)
            self._require_intervals_make_sense(X, covariates)
        super().fit(X, y, sample_weight, groups, covariates)
        return self

    def _go_on(self, X: Any, y: Any, sample_weight: Any, groups: Any, covariates: Any) -> None:
        if self.intervals:
            with warnings.catch_warnings():  # the search has said what there is to say of these samples
                warnings.simplefilter("ignore")
                data, _, _ = self._read(X, y, sample_weight, covariates)
                self.intervals_ = self._left_out(data) if self._is_loo else self._held_out(data, groups)
            if isinstance(self.intervals_, Jackknife) and not self.intervals_.fixed:
                warn(
                    "cv='loo' was given with intervals=True, and weights or C were chosen with all samples: "
                    "the intervals are an approximate jackknife+, which may be too narrow. Fix them "
                    "beforehand (norms=[np.inf] and one of Cs), or take cv=5, which learns them anew in "
                    "each fold."
                )

    @available_if(_keeps_models)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, coverage: float = 0.9, covariates: Any = None) -> Array:
        """Compute intervals that hold the target of a new sample with a given probability.

        They are the intervals of CV+ (Barber et al. 2021), from models that are learned without one fold
        each. Weights, widths of features and C are learned anew in every one; only the strategy is that of
        all samples. With more than 1,500 samples one fold is held out, which is split conformal prediction.
        With ``cv="loo"`` they are those of the jackknife+, which leaves out one sample at a time: all its
        models come from one factorisation, at the weights and the C of all samples. If these were chosen with
        the help of y, the intervals are an approximation, and ``fit`` warns of it.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        coverage : float, default=0.9
            The probability, between 0 and 1, with which a new target shall lie inside. A larger one gives
            wider intervals.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, 2, n_outputs)
            The lower and upper ends. They are infinite, with a warning, if there are fewer training samples
            than coverage / (1 − coverage).

        References
        ----------
        - Barber, Candès, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+, Annals of
          Statistics 49.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressorCV
        >>> from manykernels.kernels import Gaussian, Linear
        >>> rng = np.random.RandomState(0)
        >>> X = rng.randn(120, 2)
        >>> y = X[:, 0] + rng.randn(120)
        >>> model = MKLRegressorCV([Linear(), Gaussian(2.0)], intervals=True, random_state=0).fit(X, y)
        >>> model.predict_interval(X[:3], coverage=0.8).shape
        (3, 2)
        """
        check_is_fitted(self, "intervals_")
        if not is_number(coverage) or not 0.0 < coverage < 1.0:
            raise ValueError(
                f"coverage={shown(coverage)} was given; expected a number between 0 and 1, such as 0.9."
            )
        known = self.intervals_
        n = known.count if isinstance(known, Jackknife) else count_of(known)
        if rank_of(coverage, n) > n:
            needed = number_of(int(np.ceil(round(coverage / (1.0 - coverage), 9))), "sample")
            warn(
                f"coverage={coverage:g} needs {needed} that were held out, and there were {n:g}: intervals "
                "are infinite."
            )
        if isinstance(known, Jackknife):
            f, model = self.best_estimator_.predict(X), self.best_estimator_._model
            return known.intervals(np.asarray(f, dtype=float), model.decide(X, known.change), float(coverage))
        beside = {} if covariates is None else {"covariates": covariates}
        predictions = [part.predict(X, **beside) for part in known]
        return intervals(known, predictions, float(coverage))

    # -- learning ---------------------------------------------------------------------------------
    def _require_intervals_make_sense(self, X: Any, covariates: Any) -> None:
        if not self.refit:
            raise ValueError(
                "intervals=True was given with refit=False, which leaves no model to predict with. Take "
                "refit=True, or intervals=False."
            )
        if self._is_loo and (self.covariates is not None or covariates is not None):
            raise ValueError(
                "intervals=True was given with cv='loo' and covariates. Take cv=5, which learns the "
                "coefficients of covariates anew in each fold."
            )
        if has_own_weights(self.multi_output):
            raise ValueError(
                "intervals=True was given with multi_output='own'. Take multi_output='shared', or fit each "
                "output by itself."
            )
        if is_lazy(X) or is_mapped(X):
            raise ValueError(
                "intervals=True was given, and X stays in a file or in a Dask collection: the models of the "
                "folds are learned in memory. Load X first (np.array(X), X.compute()), or take "
                "intervals=False."
            )

    @property
    def _is_loo(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "loo"

    def _left_out(self, data: Data) -> Jackknife:
        """What leaving out each sample changes, at the weights and the C of all samples."""
        best: Any = self.best_estimator_
        model, function = best._model, best._model.function
        assert isinstance(function, KernelFunction)  # leave-one-out needs kernels that are listed
        kept = np.arange(len(data.y)) if data.weight is None else np.flatnonzero(data.weight > 0)
        X, weight = take(model.layout.read(data.X), kept), None if data.weight is None else data.weight[kept]
        stack = model.layout.kind == "stack"  # new samples come against all training samples
        support = np.arange(len(data.y)) if stack else X
        places = np.eye(len(data.y))[:, kept] if stack else np.eye(kept.size)
        cost = np.full(kept.size, float(best.C)) if weight is None else best.C * weight
        chosen = self.path_[self.best_params_["strategy"]]
        plain = len(model.names) == 1 or best.norm == np.inf
        options = options_of(best)
        fixed = plain and len(chosen["C"]) == 1 and options is not None and not options.supervised
        y = np.asarray(data.y, dtype=float)[kept].reshape(kept.size, -1)
        here = replace(function, support=support, coefficients=places)
        return jackknife(here, X, y, cost, weight, bool(self.fit_intercept), bool(fixed))

    def _held_out(self, data: Data, groups: Any) -> list[HeldOut]:
        """Fit one model without each fold; with many samples, one model without one fold."""
        assert data.given is not None
        folds, stack = self._folds_once(data, groups), data.given.layout.kind == "stack"
        learned = folds if len(data.y) <= WHOLE else folds[:1]
        found: list[HeldOut] = []
        with progress(f"{type(self).__name__}, intervals", self.verbose, total=len(learned)) as shown_:
            for k, (train, test) in enumerate(learned):
                twin = self._twin([fold for fold in folds if fold[1] is not test], train)
                X, y, weight = data.part(train, train)
                with part("intervals", k):
                    twin.fit(X, y, weight, None, **data.beside(train))
                X, y, weight = data.part(test, train)
                f = np.asarray(twin.best_estimator_.predict(X, **data.beside(test)), dtype=float)
                errors, seen = np.abs(np.asarray(y) - f), train if stack else None
                found.append(HeldOut(twin.best_estimator_, errors, weight, seen))
                shown_.step("intervals")
        return found

    def _folds_once(self, data: Data, groups: Any) -> Folds:
        """Return the folds of the search, or raise an error if they hold a sample out more than once."""
        cut = np.zeros((len(data.y), 1)) if in_matrices(data.X) else data.X
        folds = make_folds(self.cv, cut, data, groups, self.random_state)
        times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(data.y))
        if times.max() > 1:
            raise ValueError(
                f"intervals=True was given, and cv holds a sample out {times.max()} times. Take a cv that "
                "holds each out once, such as KFold(5, shuffle=True) or GroupKFold(5)."
            )
        return folds

    def _twin(self, others: Folds, train: Any) -> Any:
        """Make the search of the chosen strategy for one fold; everything else is learned anew."""
        name = self.best_params_["strategy"]
        strategy = name if name in NAMES else [clone(self.best_estimator_)]
        plain = self.cv is None or isinstance(self.cv, int | np.integer)
        cv = self.cv if plain else within_rows(others, train)
        within = {"intervals": False, "verbose": 0, "checkpoint": None}
        twin = clone(self).set_params(strategy=strategy, cv=cv, **within)
        twin._joined = True
        return twin

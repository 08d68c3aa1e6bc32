"""Searches that choose weights and a C for every output."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._arguments import number_of
from ..fitting.model import Model
from ..fitting.options import Options
from ..fitting.spec import short
from ..selection.checkpoint import require_number
from ..selection.data import Data
from ..selection.own.models import own_model, warn_borders
from ..selection.own.search import FOLD_COSTS, LOO_COSTS, choose_each
from ..selection.splits import Folds, make_folds
from ..selection.strategies import read_costs
from ..selection.text import describe_own
from ._search import Search
from .mkl import has_own_weights

Array = NDArray[np.float64]
_NORMS = (1.0, 2.0)  # the default, which says nothing


class OwnOutputs(Search):
    """A search over models of several outputs, which share their weights or have their own."""

    multi_output: str
    loss: Any

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
        if has_own_weights(self.multi_output):
            require_number(self.checkpoint, self.random_state)
        return super().fit(X, y, sample_weight, groups, covariates)

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any, covariates: Any) -> None:
        if not has_own_weights(self.multi_output):
            super()._search(X, y, sample_weight, groups, covariates)
            return
        if covariates is not None or self.covariates is not None:
            raise ValueError(
                "covariates were given with multi_output='own', whose weights are chosen by errors that "
                "know no covariates. Take multi_output='shared', or MKLRegressor with "
                "multi_output='own'."
            )
        self._begin(y)
        options = self._own_options()
        data, target, layout = self._read(X, y, sample_weight)
        if data.given is None:
            raise ValueError(
                "X is a Dask collection, and weights for every output are chosen with all samples in memory. "
                "Call X.compute() first; y may be a Dask array."
            )
        self.__dict__.update(layout.attributes | target.attributes)
        folds = self._own_folds(data, groups)
        Cs = np.array(read_costs(self.Cs, LOO_COSTS if folds is None else FOLD_COSTS))
        ridge, chosen = choose_each(options, data.given, folds, Cs)
        named = hasattr(y, "columns") and hasattr(y, "shape")
        warn_borders(chosen, Cs, [str(name) for name in y.columns] if named else None)
        learned = own_model(options, ridge, chosen)
        self.best_score_ = float(np.mean(chosen.score))
        self.n_candidates_ = chosen.tried
        model: Any = clone(self._own(self.kernels))
        model._publish(learned)
        if self.refit:
            self.best_estimator_ = model
        else:
            self.best_C_, self.cv_scores_ = model.best_C_, model.cv_scores_

    def _own_options(self) -> Options:
        """Return the options of every output, or raise an error that names a parameter which does not fit."""
        model: Any = self._own(self.kernels)
        options: Options = model._options().replace(
            title=type(self).__name__, n_jobs=self.n_jobs, verbose=self.verbose, C=1.0
        )
        refused = {
            "loss": (
                not options.loss.quadratic,
                "only the squared loss gives the errors of all C at once",
                "'squared'",
            ),
            "strategy": (
                not (isinstance(self.strategy, str) and self.strategy in ("auto", "finite")),
                "weights of the kernels are chosen by their error on samples left out",
                "'finite'",
            ),
            "norms": (
                not (isinstance(self.norms, tuple) and self.norms == _NORMS),
                "weights are chosen on the simplex, by validation and not by a norm",
                f"the default {_NORMS}",
            ),
            "scoring": (self.scoring is not None, "the weights of every output are chosen by its R²", "None"),
            "kernels": (
                not options.listed,
                "weights are chosen for kernels that can be listed",
                "a list, such as gaussian_grid(low, high, n), or multi_output='shared'",
            ),
        }
        for name, (wrong, why, instead) in refused.items():
            if wrong:
                raise ValueError(
                    f"{name}={short(getattr(self, name))} was given with multi_output='own': {why}. Take "
                    f"{instead}."
                )
        return options

    def _own_folds(self, data: Data, groups: Any) -> Folds | None:
        if self.cv is None or (isinstance(self.cv, str) and self.cv == "loo"):
            if len(data.y) < 3:
                raise ValueError(
                    f"X holds {number_of(len(data.y), 'sample')}; leaving one out to choose weights "
                    "needs at least 3."
                )
            return None
        return make_folds(self.cv, data.X, data, groups, self.random_state)

    @property
    def deltas_(self) -> Array:
        """The logarithm of weight · C for every kernel and output, as himalaya has it.

        The shape is (n_kernels, n_outputs), and −∞ stands for no weight. With λ = 1/C it is the logarithm of
        weight/λ.
        """
        if not has_own_weights(self.multi_output):
            raise AttributeError(
                "deltas_ exists only with multi_output='own'; read weights_ and best_params_ instead."
            )
        check_is_fitted(self, "best_estimator_")
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.atleast_2d(self.weights_) * np.atleast_1d(self.best_C_)[:, None]).T)

    def describe(self) -> str:
        """Describe in words what was tried, what was chosen and why, and what the kernels are.

        Returns
        -------
        str
            Several sentences, one line each.
        """
        check_is_fitted(self)
        model: Model | None = getattr(self.__dict__.get("best_estimator_"), "_model", None)
        if not has_own_weights(self.multi_output):
            return super().describe()
        how = "leaving one sample out" if self.cv is None or self.cv == "loo" else f"cv={short(self.cv)}"
        return describe_own(self.best_C_, self.cv_scores_, self.n_candidates_, how, model, self.kernels)

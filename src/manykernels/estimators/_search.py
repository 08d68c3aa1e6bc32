"""Base class of the searches: the comparison, and the chosen model."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import check_scoring
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._arguments import require_arguments
from .._fast.stopping import within
from .._pieces import current, kept
from ..approx import Nystroem, resolve_approx
from ..fitting.layout import Layout, collected, is_lazy
from ..fitting.lazy import in_memory, lazy_layout
from ..fitting.options import Options
from ..fitting.outside import is_mapped, open_parquet
from ..fitting.samples import read
from ..fitting.stacks import in_matrices
from ..fitting.targets import Target, check_length, check_weights, require_target
from ..selection.checkpoint import keeping, prints_of
from ..selection.data import Data
from ..selection.paths import refit_path
from ..selection.plan import estimate_of_whole
from ..selection.scoring import require_score, require_several_classes, scorer_of_log_loss
from ..selection.search import Effort, Outcome, compare, leading, require_weights
from ..selection.splits import FOLDS, make_folds
from ..selection.strategies import Strategy, Wish, strategies
from ..selection.text import describe_search, end_of_path
from ..selection.tried import Searched
from ._explain import PairwiseTags
from ._large import ended_early, gathered, plan_of, search_in_stages, shape_of
from ._params import check_learning
from ._repr import HTMLSummary
from .mkl import MKLClassifier, MKLRegressor
from .survival import MKLSurvival

_SHARED = frozenset(
    "weights_ active_ kernels_ kernel_names_ kernel_ X_fit_ dual_coef_ dual_point_ intercept_ objective_ "
    "dual_gap_ certified_ history_ n_iter_ view_weights_ coef_ selected_products_ contributions features_ "
    "feature_coef_ best_C_ cv_scores_ covariate_coef_ covariate_names_ "
    "baseline_ censoring_".split()
)
_PASSED = (
    "center normalize fit_intercept tol max_iter memory_limit random_state approx loss covariates storage"
).split()
_SEARCH = 0.7  # of the time budget: the model that was chosen has the rest
_LEAST = 1.0  # seconds that each of them has in any case


def refitted(method: str) -> Any:
    """Make a check that the chosen model has this method."""

    def check(search: Search) -> bool:
        if not search.refit:
            raise AttributeError(
                f"{method} needs the model that was chosen, and refit=False was given; take refit=True, or "
                "fit a model with best_params_."
            )
        fitted = search.__dict__.get("best_estimator_")
        getattr(search._own(search.kernels) if fitted is None else fitted, method)
        return True

    return check


class Search(HTMLSummary, PairwiseTags):
    """Base class of the searches: the folds, the comparison, and the chosen model."""

    best_estimator_: Any
    classes_: NDArray[Any]
    strategy: Any
    norms: Any
    Cs: Any
    cv: Any
    scoring: Any
    refit: bool
    approx: Any
    covariates: Any
    random_state: Any
    n_jobs: int | None
    verbose: int
    time_budget: Any
    checkpoint: Any
    _folds = FOLDS  # where nobody gave any
    _narrow = False  # whether what is far behind in the first fold is left there
    _step: Any = None  # told of each strategy in each fold, where this is the race of a larger search
    _joined = False  # whether this is a part of a larger search, and its work is kept with that

    # -- what a task supplies -------------------------------------------------------------------
    @abstractmethod
    def _own(self, kernels: Any) -> BaseEstimator:
        """Make the estimator of the task, with the options of the search."""

    @abstractmethod
    def _aligned(self) -> BaseEstimator:
        """Make the two-stage estimator of the task."""

    @abstractmethod
    def _target(self) -> Target:
        """Return the kind of target that y holds."""

    def _passed(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _PASSED} | {"approx": self._approx()}

    def _approx(self) -> Any:
        """Return the approximation of single models, which is None for "auto"."""
        auto = isinstance(self.approx, str) and self.approx == "auto"
        return None if auto else self.approx

    def _given(self) -> dict[str, Any]:
        return super()._given() | {"approx": self._approx()}

    # -- fitting --------------------------------------------------------------------------------
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, covariates: Any = None
    ) -> Self:
        """Compare the strategies along their paths in C, and fit the best on all samples.

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
            the estimator could name. ``predict`` then needs those of the new samples.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has a value that it cannot have, if samples and targets do not fit together, if
            a classifier gets only one class, or if a kernel is not finite or not
            positive semidefinite.
        TypeError
            If an argument is of a type that it cannot be of.
        MemoryError
            If the kernels do not fit into ``memory_limit``; the message says what does.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressorCV
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X = np.random.RandomState(0).randn(40, 1)
        >>> search = MKLRegressorCV([Linear(), Gaussian(0.1)], norms=[1.0], Cs=[0.01, 100.0], cv=3)
        >>> search.fit(X, 2.0 * X[:, 0]).best_params_["C"]
        100.0
        >>> search.weights_.round(2).tolist()
        [1.0, 0.0]
        """
        given = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups, "covariates": covariates}
        prints, own = partial(prints_of, self, given), self._given().values()
        with keeping(self.checkpoint, type(self).__name__, prints, own, joined=self._joined):
            self._search(X, y, sample_weight, groups, covariates)
            self._go_on(X, y, sample_weight, groups, covariates)
        return self

    def _go_on(self, X: Any, y: Any, sample_weight: Any, groups: Any, covariates: Any) -> None:
        """Do what follows the search."""

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any, covariates: Any) -> None:
        started = time.monotonic()
        self._begin(y)
        X, y = open_parquet(gathered(X), y, self.memory_limit)
        outside = is_lazy(X) or is_mapped(X)
        stay = outside and not plan_of(self, X).whole
        data, target, layout = self._read(X, y, sample_weight, covariates, Nystroem() if stay else None)
        self.__dict__.update(layout.attributes | target.attributes)
        counted = len(data.y) if outside or data.weight is None else int(np.count_nonzero(data.weight))
        plan = plan_of(self, X, counted)
        if not plan.whole:
            search_in_stages(self, plan, data, target, layout, groups)
            return
        with within(self._until(_SEARCH, started)):
            outcome = self._compare(X, y, sample_weight, covariates, groups, data, target, layout)
        self._announce(outcome)
        budget = getattr(self, "time_budget", None)
        if budget is not None and time.monotonic() - started >= max(_SEARCH * budget, _LEAST):
            self.__dict__["stages_"] = [ended_early(budget)]  # survival has no budget, nor stages
        if self.refit:
            with within(self._until(1.0, started)):
                self.best_estimator_ = self._refit(outcome, data)

    def _announce(self, outcome: Outcome) -> None:
        """Set what the comparison found."""
        self.comparison_, self.path_ = outcome.comparison, outcome.path
        self.best_params_, self.best_score_ = outcome.params, outcome.score
        self.finalists_ = outcome.finalists if self._joined else leading(outcome.finalists)

    def _until(self, share: float, started: float) -> float:
        """Return the seconds until this share of the time budget is used, at least one."""
        budget = getattr(self, "time_budget", None)
        return np.inf if budget is None else max(share * budget - (time.monotonic() - started), _LEAST)

    def _compare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        covariates: Any,
        groups: Any,
        data: Data,
        target: Target,
        layout: Layout,
    ) -> Outcome:
        """Compare all strategies on all samples, in the same folds."""
        seen = data.X if data.given is None else data.given.X
        found = strategies(self._wish(target, layout), seen, target.outputs, layout.table)
        found = [self._with_samples(strategy, X, y, sample_weight, data, covariates) for strategy in found]
        loo = isinstance(self.cv, str) and self.cv == "loo"
        cut = np.zeros((len(data.y), 1)) if data.given is None or in_matrices(data.X) else data.X
        folds = None if loo else make_folds(self.cv, cut, data, groups, self.random_state, self._folds)
        race = isinstance(self.strategy, str) and self.strategy == "auto" and self.scoring is None

        def estimate(count: int) -> str:
            return estimate_of_whole(len(data.y), shape_of(seen)[1], count, self.memory_limit)

        title, jobs = type(self).__name__, self.n_jobs
        effort = Effort(title, self.verbose, jobs, race, self._narrow, self._step, estimate)
        return compare(found, data, folds, effort)

    def _begin(self, y: Any) -> None:
        """Check the parameters, and remove the attributes of an earlier fit."""
        require_target(type(self).__name__, y)
        check_learning(self._given(), "refit")
        self._check_types()
        budget = getattr(self, "time_budget", None)
        if budget is not None and not budget >= 0.0:
            raise ValueError(
                f"time_budget={budget!r} was given; expected seconds, 0 or more, or None for no limit."
            )
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, covariates: Any = None, approx: Any = None
    ) -> tuple[Data, Any, Layout]:
        """Read the samples and targets; return them with the fitted target and the layout of X.

        With an approximation samples may stay where they are.
        """
        approx = resolve_approx(self._approx()) if approx is None else approx
        options = Options(
            type(self).__name__, kernels=self.kernels, approx=approx, covariates=self.covariates
        )
        target, given = self._target(), None
        if is_lazy(X) and approx is not None and covariates is None and self.covariates is None:
            n, layout = lazy_layout(options, X)
            y, sample_weight = in_memory(y, sample_weight)
            weight = None if sample_weight is None else check_weights(sample_weight, n)
            y = target.read(y)
            check_length(n, y)
        else:
            # what is wrong is said before it is split
            given = read(options, X, y, sample_weight, target, covariates=covariates)
            X = collected(X)
            layout, y, weight = given.layout, given.y, given.weight
            if layout.parts is not None:
                X = layout.parts.in_order(X, given.X)
            elif not in_matrices(X):
                (X,) = indexable(X)
        target = target.learn(y if weight is None else y[weight > 0])
        classes = getattr(target, "classes", None)
        scorer = None if self.scoring is None else self._scorer(weight is not None, classes)
        data = Data(
            X,
            given,
            y,
            weight,
            classes,
            getattr(self, "class_weight", None),
            scorer,
            None if covariates is None or given is None else given.beside,
            target,
        )
        return data, target, layout

    def _with_samples(
        self, strategy: Strategy, X: Any, y: Any, sample_weight: Any, data: Data, covariates: Any
    ) -> Strategy:
        """Give the strategy the samples as its kernels read them, and its costs of classes."""
        strategy = self._adjusted(strategy, covariates)
        options = strategy.options
        if options is None:
            if data.weight is not None and not has_fit_parameter(strategy.template, "sample_weight"):
                raise ValueError(
                    f"sample_weight was given with strategy {strategy.name!r}, whose fit takes no weights. "
                    "Leave it out, or repeat samples in place of weights."
                )
            return strategy
        target: Target = strategy.template._target()
        given = None
        if data.given is not None:
            with warnings.catch_warnings():  # `_read` has said what there is to say of covariates
                warnings.simplefilter("ignore", UserWarning)
                given = read(options, X, y, sample_weight, target, quiet=True, covariates=covariates)
        return replace(strategy, given=given, target=target)

    def _adjusted(self, strategy: Strategy, covariates: Any) -> Strategy:
        """Give the strategy the covariates of the search, or raise an error if it takes none."""
        if self.covariates is None and covariates is None:
            return strategy
        template, options = strategy.template, strategy.options
        if "covariates" not in template.get_params(deep=False):
            raise ValueError(
                f"covariates were given with strategy {strategy.name!r}, which takes none: it would not be "
                "adjusted for them as the others are. Leave it out, or fit it by itself on residuals."
            )
        if self.covariates is None or template.covariates is not None:
            return strategy
        changed = clone(template).set_params(covariates=self.covariates)
        options = None if options is None else options.replace(covariates=self.covariates)
        return replace(strategy, template=changed, options=options)

    def _wish(self, target: Target, layout: Layout) -> Wish:
        return Wish(
            self.kernels,
            self.strategy,
            self.norms,
            self.Cs,
            target.task,
            self._approx() is not None,
            self._own,
            self._aligned,
            options_of,
            views=layout.parts is not None,
        )

    def _scorer(self, weighted: bool, classes: NDArray[Any] | None) -> Any:
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError(f"scoring={self.scoring!r} was given; expected one score to choose by, or None.")
        if callable(self.scoring):
            require_arguments(self.scoring, 3, "scoring(estimator, X, y)", more=True)
        require_score(self.scoring)
        if classes is not None and classes.size > 2 and isinstance(self.scoring, str):
            require_several_classes(self.scoring, classes.size)
        scorer = check_scoring(self, scoring=self.scoring)
        if classes is not None and isinstance(self.scoring, str) and self.scoring == "neg_log_loss":
            scorer = scorer_of_log_loss(classes)
        if weighted:
            require_weights(scorer, self.scoring)
        return scorer

    def _refit(self, outcome: Outcome, data: Data) -> BaseEstimator:
        """Fit the chosen model on all samples."""
        best, chosen = outcome.params, outcome.chosen
        chosen_params = chosen.params(best["norm"], best["kernels"], best["C"])
        model: Any = clone(chosen.template).set_params(**chosen_params)
        if "verbose" in model.get_params(deep=False):
            model.set_params(verbose=0 if outcome.sums is not None else self.verbose)
        if outcome.sums is not None:
            model._publish(outcome.sums.refit(best["norm"], best["C"]))
            return model
        options = options_of(model) if chosen.has_path else None
        if options is None or not options.listed or chosen.given is None:
            fitted: BaseEstimator = kept(current(), ("refit",), data.fitted, model)
            return fitted
        learned, along, kept_to = refit_path(options, chosen.given, chosen.Cs, outcome.promise)
        outcome.path[chosen.name]["all samples"] = along
        if kept_to.said:
            self._announce(replace(outcome, params=best | {"C": kept_to.C}, calibration=kept_to.calibration))
            self.__dict__["stages_"] = [*getattr(self, "stages_", []), kept_to.said]
            model.set_params(C=kept_to.C)
        model._publish(learned)
        return model

    # -- the model that was chosen --------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        if name in _SHARED and "best_estimator_" in self.__dict__:
            return getattr(self.best_estimator_, name)
        try:
            return object.__getattribute__(self, name)
        except NotFittedError:
            raise
        except AttributeError as error:  # of a method that cannot be asked for, its own reason
            reason = error.__cause__ or f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(str(reason)) from None

    @available_if(refitted("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, covariates: Any = None) -> Any:
        """Predict with the chosen model.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The labels, numbers or risks that the chosen model predicts.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the samples lack columns or views that the model needs, or cells hold something else than in
            training.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressorCV
        >>> X = np.linspace(0.0, 3.0, 30)[:, None]
        >>> model = MKLRegressorCV(strategy="finite", cv=3).fit(X, 2.0 * X[:, 0])
        >>> model.predict([[1.0], [2.0]]).round(1).tolist()
        [2.0, 4.0]
        """
        return self._ask("predict", X, covariates)

    def _searched(self) -> Searched | None:
        """Return what was tried and taken, once fitted; None for weights of every output."""
        if "comparison_" not in vars(self):
            return None
        by: Literal["error", "score"] = "error" if self.scoring is None else "score"
        found = self.comparison_, self.path_, self.best_params_
        return Searched(type(self).__name__, self.kernels, *found, by, self.cv)

    def _ask(self, method: str, X: Any, covariates: Any = None) -> Any:
        check_is_fitted(self, "best_estimator_")
        beside = {} if covariates is None else {"covariates": covariates}
        return getattr(self.best_estimator_, method)(X, **beside)

    def describe(self) -> str:
        """Describe in words what was tried, what was chosen and why, and what the kernels are.

        Returns
        -------
        str
            Several sentences, one line each.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressorCV
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X = np.random.RandomState(0).randn(40, 1)
        >>> search = MKLRegressorCV([Linear(), Gaussian(0.1)], norms=[1.0], Cs=[0.01, 100.0], cv=3)
        >>> print(search.fit(X, 2.0 * X[:, 0]).describe())
        Compared in the same folds (mean score, its deviation over folds):
          finite       1.0000 ± 0.0000   norm=1, C=100   ... s
        Chosen: finite, norm=1, C=100.
        C is the largest that was tried: larger ones may be better. Give them in Cs.
        Kernels: 2 from [Linear(), Gaussian(width=0.1)], 1 with weight:
          1.000  Linear
        """
        check_is_fitted(self)
        best = self.__dict__.get("best_estimator_")
        model = None if best is None else vars(best).get("_model")
        spec, end = getattr(best, "kernels", None), end_of_path(self.path_, self.best_params_)
        told = describe_search(self.comparison_, self.best_params_, model, spec, end)
        return "\n".join([*getattr(self, "stages_", []), told])


def options_of(given: BaseEstimator) -> Options | None:
    """Return the options of an estimator of this package for which a path in C can be learned, or None."""
    return given._options() if type(given) in (MKLClassifier, MKLRegressor, MKLSurvival) else None

"""Multiple kernel learning with model selection: kernels, strategy, norm and C chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..fitting.targets import Labels, Numbers
from ..selection.scoring import Adjusted, decisions_of
from ._dask import LazyScore
from ._intervals import Intervals
from ._search import Search, refitted
from .align_mkl import AlignMKLClassifier, AlignMKLRegressor
from .mkl import MKLClassifier, MKLRegressor

Array = NDArray[np.float64]


class MKLClassifierCV(LazyScore, ClassifierMixin, Search):
    """Classification with a learned kernel, where kernels, norm and C are chosen by cross-validation.

    With nothing given it does what a practitioner would: kernels for the table at hand, scaled; kernels with
    a width per feature; sparse products; each along a path in C, all in the same folds; and the best of them
    fitted on all samples.

    Parameters
    ----------
    kernels : "auto", list, dict name -> kernel, family, kernel or "precomputed"
        What there is to choose from, as in :class:`MKLClassifier`.
    strategy : "auto", "finite", "continuous", "products", "aligned", or a list of these and of estimators
        "finite" learns weights of the kernels; "continuous" first learns a width for each feature
        (``families.Relevance``), or searches the continuous family that ``kernels`` is; "products" learns
        few products of features; "aligned" weighs the kernels by alignment and hands them to an SVM or to
        kernel ridge regression. "auto" is the first three for ``kernels="auto"`` on dense tables, as far as
        they apply, and "finite" otherwise. An estimator is tried as it is, with C chosen where it has one.
    norms : sequence of float or Penalty
        The norms to try.
    Cs : None, int or list
        The values of C to try, how many of them, or None for a good choice.
    loss : "squared", "hinge", "squared_hinge", "logistic" or Loss
        Least squares on ±1 is as accurate as the hinge on most data, and all classes share their equations.
    cv : None, int, splitter, iterable of splits or "loo"
        As in scikit-learn; None is five folds, stratified and shuffled by ``random_state`` (None as 0).
        "loo" chooses C, and only C, by leave-one-out at the weights of all samples: least squares and one
        strategy and norm, for a factorisation each.
    scoring : None, str or callable
        As in scikit-learn, and the best score is chosen. None scores by accuracy and chooses by the squared
        error of decisions clipped to ±1, which tells models apart far better where samples are few; there
        samples count by ``class_weight`` too. "neg_log_loss", "roc_auc" and other scores of probabilities
        take calibrated ones where the loss has none: each is learned from other held-out samples.
    refit : bool
        Whether the best model is fitted on all samples; without it there is only the comparison.
    n_jobs : int or None
        Folds and strategies at a time, as in scikit-learn.
    approx : "auto", None, "features" or Approximation
        "auto" tries everything on all samples up to 1,500 of them. Beyond, models are raced on some of the
        samples, those that may still be the best are learned from more of them, and the best is learned from
        all: with exact kernels up to 2,500 samples, and else with the kernels and weights of that stage at
        landmarks, more of them until the error on samples held out no longer falls. X may then be an array
        that is mapped from a file or a Dask collection, which stay where they are. None tries everything on
        all samples with exact kernels; others are as in :class:`MKLClassifier`.
    time_budget : float or None
        Seconds after which the search ends with the best model until then. There is always one, so that a
        fit may take somewhat longer.
    checkpoint : None, path of a folder or Checkpoint
        Where finished work is kept: after a crash or a kill, the same fit with the same folder goes on and
        ends with the same model, to the bit on one thread where ``random_state`` is given. Other samples,
        options or versions are refused by name, and so is a second process at the same time. The folder is
        yours to delete; ``manykernels.selection.checkpoint.Checkpoint(folder, remove=True)`` does it at the
        end.
    multi_class, center, normalize, fit_intercept, tol, max_iter, class_weight, memory_limit,
    random_state, verbose, covariates : as in :class:`MKLClassifier`. Covariates are in every strategy, and
        are learned anew in every fold.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_ : the model that was chosen, fitted on all samples; its
        strategy, norm, kernels (names, where it learns from some of them only) and C; its mean score.
    stages_ : list of str, where samples were so many that models were raced: what was done, and why.
        ``describe()`` begins with it, and ``comparison_``, ``path_`` and ``finalists_`` are of the race.
    comparison_ : dict of columns, a row for each strategy at its best: strategy, norm, kernels, C, score,
        std, folds, seconds. A strategy with fewer folds than the others was too far behind in the first.
    finalists_ : dict of columns: strategy, norm, kernels and C of the model that was chosen and of those that
        the folds cannot tell from it, by how much they are behind, and the standard error of that.
    path_ : dict strategy -> dict of columns, a row for each model: norm, kernels, C, score, std, loss, gap,
        n_active over the folds; for the strategy that was chosen also "all samples": C, weights and gap
        along its path on all samples.
    weights_, active_, kernels_, kernel_names_, kernel_, X_fit_, dual_coef_, intercept_, objective_,
    dual_gap_, certified_, history_, covariate_coef_, covariate_names_ : those of ``best_estimator_``.
    present_ : dict view -> how many training samples have it, where kernels are of views.
    classes_ : labels.
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        strategy: Any = "auto",
        norms: Any = (1.0, 2.0),
        Cs: Any = None,
        loss: Any = "squared",
        multi_class: str = "shared",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        approx: Any = "auto",
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        covariates: Any = None,
        time_budget: float | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.kernels = kernels
        self.strategy = strategy
        self.norms = norms
        self.Cs = Cs
        self.loss = loss
        self.multi_class = multi_class
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.covariates = covariates
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def _own(self, kernels: Any) -> BaseEstimator:
        options = {"multi_class": self.multi_class, "class_weight": self.class_weight}
        return MKLClassifier(kernels, **self._passed(), **options)

    def _aligned(self) -> BaseEstimator:
        machine = SVC(kernel="precomputed", class_weight=self.class_weight)
        options = {"normalize": self.normalize, "memory_limit": self.memory_limit}
        return AlignMKLClassifier(self.kernels, estimator=machine, **options)

    def _target(self) -> Labels:
        return Labels(self.class_weight)

    @available_if(refitted("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, covariates: Any = None) -> Any:
        """The decisions of the model that was chosen."""
        return self._ask("decision_function", X, covariates)

    @available_if(refitted("predict"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, covariates: Any = None) -> Array:
        """Probabilities of the classes, (n_samples, n_classes).

        Those of the model itself where it has any (``loss="logistic"``). For other losses the decisions are
        calibrated: a rising function of them, the same for all classes, goes into a softmax (a sigmoid, for
        two classes). It is learned in the search, from the decisions of the best model on the samples held
        out, at no further fit. The predicted class is always the most probable one. With ``class_weight``,
        probabilities are those of classes that are as frequent as their weights say.
        """
        check_is_fitted(self, "best_estimator_")
        own = getattr(self.best_estimator_, "predict_proba", None)
        if own is None:
            return np.asarray(np.exp(self.predict_log_proba(X, covariates)))
        return np.asarray(self._ask("predict_proba", X, covariates))

    @available_if(refitted("predict"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, covariates: Any = None) -> Array:
        """Logarithms of ``predict_proba``, exact also where probabilities are tiny."""
        check_is_fitted(self, "best_estimator_")
        for method, log in (("predict_log_proba", np.asarray), ("predict_proba", np.log)):
            if hasattr(self.best_estimator_, method):
                return np.asarray(log(self._ask(method, X, covariates)))
        model = self.best_estimator_
        asked = model if covariates is None else Adjusted(model, {"covariates": covariates})
        return self.calibration_.log_probabilities(decisions_of(asked, X, self.classes_))


class MKLRegressorCV(LazyScore, RegressorMixin, Intervals):
    """Regression with a learned kernel, where kernels, norm and C are chosen by cross-validation.

    Parameters and attributes are those of :class:`MKLClassifierCV`, except that ``loss`` is "squared",
    "epsilon_insensitive", "pinball", "huber" or a regression loss, ``scoring=None`` is R², and there are no
    classes. ``multi_output`` takes the place of ``multi_class``.

    Parameters
    ----------
    multi_output : "shared" or "own"
        Several outputs share kernels, weights and C; or every output has weights and a C of its own, chosen
        by its error on samples that are left out, as in banded ridge regression. Outputs may be 10⁵: they
        share kernels and factorisations.
    intervals : bool
        Whether ``predict_interval`` will be asked for. The search of the chosen strategy is then repeated
        without each fold, which takes about as many times as there are folds.

    Attributes
    ----------
    weights_ : array of shape (n_outputs, n_kernels)
        With "own"; zeros for outputs that do not vary.
    best_C_, cv_scores_ : arrays of shape (n_outputs,)
        With "own": C, and the R² on samples that were left out.
    best_score_, n_candidates_ : float and int
        With "own": the mean of cv_scores_, and how many weights were tried. There is no ``comparison_``,
        ``path_`` or ``best_params_``.
    intervals_ : list
        With ``intervals=True``: the model of each fold, and its errors on the samples of that fold.
    deltas_ : array of shape (n_kernels, n_outputs)
        With "own": log(weight · C), as himalaya has it.

    Notes
    -----
    With "own" the loss is the squared one, and weights are points of the simplex, chosen by validation:
    ``strategy``, ``norms`` and ``scoring`` have nothing to say. ``cv=None`` and ``cv="loo"`` leave out one
    sample at a time, exactly, from one factorisation of all of them. Where neighbouring samples are alike, as
    in time series, give folds that keep them together, such as ``GroupKFold()`` with ``groups``. ``tol`` ends
    the search: two rounds of eight candidates that lower errors by less than half of it, relatively and on
    average, are the last. ``max_iter`` is the number of candidates at most, and ``n_jobs`` the number of
    threads. Up to eight outputs then go on by themselves, downhill on their leave-one-out error.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressorCV
    >>> from manykernels.kernels import Linear, OnColumns
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(80, 6)
    >>> Y = np.c_[X[:, 0] + X[:, 1], X[:, 3] - X[:, 4]] + 0.1 * rng.randn(80, 2)
    >>> bands = {"left": OnColumns(Linear(), slice(0, 3)), "right": OnColumns(Linear(), slice(3, 6))}
    >>> model = MKLRegressorCV(bands, multi_output="own", random_state=0).fit(X, Y)
    >>> model.weights_.argmax(axis=1).tolist()
    [0, 1]
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        strategy: Any = "auto",
        norms: Any = (1.0, 2.0),
        Cs: Any = None,
        loss: Any = "squared",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        approx: Any = "auto",
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        multi_output: str = "shared",
        covariates: Any = None,
        time_budget: float | None = None,
        intervals: bool = False,
        checkpoint: Any = None,
    ) -> None:
        self.kernels = kernels
        self.strategy = strategy
        self.norms = norms
        self.Cs = Cs
        self.loss = loss
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.multi_output = multi_output
        self.covariates = covariates
        self.time_budget = time_budget
        self.intervals = intervals
        self.checkpoint = checkpoint

    def _own(self, kernels: Any) -> BaseEstimator:
        return MKLRegressor(kernels, **self._passed(), multi_output=self.multi_output)

    def _aligned(self) -> BaseEstimator:
        options = {"normalize": self.normalize, "memory_limit": self.memory_limit}
        return AlignMKLRegressor(self.kernels, estimator=KernelRidge(kernel="precomputed"), **options)

    def _target(self) -> Numbers:
        return Numbers()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

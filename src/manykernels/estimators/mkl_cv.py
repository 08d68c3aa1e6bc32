"""Multiple kernel learning with model selection: kernels, strategy, norm and C chosen by cross-validation."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from ._cv import Data, Table, run_folds
from ._cv_features import feature_table, from_sums
from ._cv_refit import refit_path
from ._cv_text import describe_search
from ._data import read_training
from ._loo import loo_table
from ._params import NestedKernels
from ._repr import HTMLSummary
from ._spec import needs_stack
from ._strategies import Strategy, strategies
from ._targets import check_length, check_weights, encode, read_labels, read_numbers, require_target
from .mkl import MKLClassifier, MKLRegressor

Array = NDArray[np.float64]
_FOLDS = 5
_SHARED = frozenset(
    "weights_ active_ kernels_ kernel_names_ kernel_ X_fit_ dual_coef_ intercept_ objective_ dual_gap_ "
    "certified_ history_ n_iter_ view_weights_ coef_ selected_products_ contributions features_ "
    "feature_coef_".split()
)


def _refitted(method: str) -> Any:
    """Whether the model that was chosen can be asked for this."""

    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(
                f"{method} needs the model that was chosen, and refit=False was given; take refit=True, or "
                "fit a model with best_params_."
            )
        if "best_estimator_" in search.__dict__:
            getattr(search.best_estimator_, method)
        return True

    return check


@contextmanager
def _quiet_about_small_classes() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        yield


class _Search(HTMLSummary, NestedKernels):
    """What both tasks share: the folds, the comparison, and the model that was chosen."""

    best_estimator_: Any
    classes_: NDArray[Any]
    _task: str

    # -- what a task supplies -------------------------------------------------------------------
    @abstractmethod
    def _model(self, kernels: Any) -> BaseEstimator:
        """The estimator of the task, with the options of this one."""

    @abstractmethod
    def _read(self, y: Any, weight: Array | None) -> tuple[NDArray[Any], NDArray[Any] | None, int]:
        """y validated, its classes or None, and how many outputs a machine has."""

    def _options(self) -> dict[str, Any]:
        names = "center normalize fit_intercept tol max_iter memory_limit random_state approx".split()
        return {name: getattr(self, name) for name in names}

    # -- fitting --------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Compare the strategies along their paths in C, and fit the best on all samples.

        Parameters
        ----------
        X : array, CSR matrix, frame, list of strings, or stack (n_samples, n_train, n_kernels)
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples, in fits and in scores.
        groups : array of shape (n_samples,), optional
            For ``cv`` that keeps groups together, such as GroupKFold().
        """
        require_target(self, y)
        for name in ("best_estimator_", "classes_"):
            self.__dict__.pop(name, None)
        read_training(self, X)  # what is wrong with X is said before anything is split
        n = _num_samples(X)
        weight = None if sample_weight is None else check_weights(sample_weight, n)
        y, classes, n_outputs = self._read(y, weight)
        check_length(n, y)
        if classes is not None:
            self.classes_ = classes
        found = strategies(self, self._task, X, n_outputs)
        scorer = None if self.scoring is None else check_scoring(self, scoring=self.scoring)
        data = Data(X, y, weight, classes, scorer, self)
        loo = isinstance(self.cv, str) and self.cv == "loo"
        folds = [] if loo else self._folds(X, y, weight, groups, classes)
        race = isinstance(self.strategy, str) and self.strategy == "auto" and self.scoring is None
        on_all: Any = None
        if loo:
            tables = [loo_table(self._only(found), data)]
        elif len(found) == 1 and from_sums(found[0], data):
            table, on_all = feature_table(found[0], data, folds)
            tables = [table]
        else:
            tables = run_folds(found, data, folds, self.n_jobs, race)
        self._tell(tables, max(len(folds), 1))
        if self.refit and on_all is not None:
            self.best_estimator_ = on_all(self.best_params_["norm"], self.best_params_["C"])
        elif self.refit:
            self._refit(X, y, weight)
        del self._chosen  # it may hold functions, which files of models may not
        return self

    def _only(self, found: list[Strategy]) -> Strategy:
        """The strategy, where there is one: leave-one-out cannot choose between them."""
        if len(found) > 1:
            names = ", ".join(repr(strategy.name) for strategy in found)
            raise ValueError(
                f"cv='loo' was given with the strategies {names}; at weights and widths that have seen the "
                "sample it is optimistic and can choose C only. Give one, such as strategy='finite', or cv=5."
            )
        return found[0]

    def _folds(
        self, X: Any, y: NDArray[Any], weight: Array | None, groups: Any, classes: NDArray[Any] | None
    ) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Splits into training and test samples; each has something to learn from, and something to score."""
        splitter = self.cv
        if splitter is None:
            rng = check_random_state(0 if self.random_state is None else self.random_state)
            counts = len(y) if classes is None else int(np.unique(y, return_counts=True)[1].max())
            splits = max(2, min(_FOLDS, counts))
            kind = KFold if classes is None else StratifiedKFold
            splitter = kind(splits, shuffle=True, random_state=rng.randint(2**31 - 1))
        if len(y) < 2:
            raise ValueError(
                f"X holds {len(y)} sample (n_samples = {len(y)}); a cross-validation needs at least 2."
            )
        splitter = check_cv(splitter, y, classifier=classes is not None)
        with _quiet_about_small_classes():
            folds = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, groups)]
        for k, (train, test) in enumerate(folds):
            used = train if weight is None else train[weight[train] > 0]
            if not used.size or not test.size:
                raise ValueError(f"Fold {k} of cv={self.cv!r} has no sample to train on, or none to score.")
            if classes is not None and np.unique(y[used]).size < 2:
                raise ValueError(
                    f"Fold {k} of cv={self.cv!r} trains on samples of one class only ({y[used][0]!r}). Take "
                    "fewer folds, a stratified or shuffled cv, or groups that do not leave a class out."
                )
        return folds

    def _tell(self, tables: list[Table], n_folds: int) -> None:
        """comparison_, path_ and what is best."""
        by_score = self.scoring is not None
        columns = "strategy norm kernels C score std folds seconds"
        rows: dict[str, list[Any]] = {column: [] for column in columns.split()}
        self.path_: dict[str, dict[str, Any]] = {}
        best: Any = None
        for table in tables:
            rank, i = table.best(by_score)
            norm, only, C = key = table.keys[i]
            score, std = table.column("score").mean(axis=0), table.column("score").std(axis=0)
            told = (norm, only, C, float(score[i]), float(std[i]), len(table.trials), table.seconds)
            for column, value in zip(rows, (table.strategy.name, *told), strict=True):
                rows[column].append(value)
            self.path_[table.strategy.name] = {
                "norm": [key[0] for key in table.keys],
                "kernels": [key[1] for key in table.keys],
                "C": np.array([key[2] for key in table.keys]),
                "score": score,
                "std": std,
                "loss": table.column("loss").mean(axis=0),
                "gap": np.fmax.reduce(table.column("gap")),
                "n_active": table.column("n_active").mean(axis=0),
            }
            if len(table.trials) == n_folds and (best is None or rank < best[0]):
                best = (rank, table.strategy, key, float(score[i]))
        self.comparison_ = rows
        _, self._chosen, (norm, only, C), self.best_score_ = best
        self.best_params_ = {"strategy": self._chosen.name, "norm": norm, "kernels": only, "C": C}

    def _refit(self, X: Any, y: NDArray[Any], weight: Array | None) -> None:
        best, chosen = self.best_params_, self._chosen
        model = clone(chosen.template).set_params(**chosen.params(best["norm"], best["kernels"], best["C"]))
        if "verbose" in model.get_params(deep=False):
            model.set_params(verbose=self.verbose)
        self.best_estimator_, whole = refit_path(model, chosen, X, y, weight)
        if whole is not None:
            self.path_[chosen.name]["all samples"] = whole

    # -- the model that was chosen --------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        if name in _SHARED and "best_estimator_" in self.__dict__:
            return getattr(self.best_estimator_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @available_if(_refitted("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """The prediction of the model that was chosen, for each sample."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    def describe(self) -> str:
        """What was tried, what was chosen and why, and what the kernels are, as text."""
        check_is_fitted(self)
        return describe_search(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        stack = needs_stack(self.kernels)
        tags.input_tags.pairwise = stack
        tags.input_tags.three_d_array = stack
        tags.input_tags.two_d_array = not stack
        tags.input_tags.sparse = not stack
        return tags


class MKLClassifierCV(ClassifierMixin, _Search):
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
        error of decisions clipped to ±1, which tells models apart far better where samples are few.
    refit : bool
        Whether the best model is fitted on all samples; without it there is only the comparison.
    n_jobs : int or None
        Folds and strategies at a time, as in scikit-learn.
    multi_class, approx, center, normalize, fit_intercept, tol, max_iter, class_weight, memory_limit,
    random_state, verbose : as in :class:`MKLClassifier`.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_ : the model that was chosen, fitted on all samples; its
        strategy, norm, kernels (names, where it learns from some of them only) and C; its mean score.
    comparison_ : dict of columns, a row for each strategy at its best: strategy, norm, kernels, C, score,
        std, folds, seconds. A strategy with fewer folds than the others was too far behind in the first.
    path_ : dict strategy -> dict of columns, a row for each model: norm, kernels, C, score, std, loss, gap,
        n_active over the folds; for the strategy that was chosen also "all samples": C, weights and gap
        along its path on all samples.
    weights_, active_, kernels_, kernel_names_, kernel_, X_fit_, dual_coef_, intercept_, objective_,
    dual_gap_, certified_, history_ : those of ``best_estimator_``.
    classes_ : labels.
    """

    _task = "classification"

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
        approx: Any = None,
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

    def _model(self, kernels: Any) -> BaseEstimator:
        options = {"loss": self.loss, "multi_class": self.multi_class, "class_weight": self.class_weight}
        return MKLClassifier(kernels, **self._options(), **options)

    def _read(self, y: Any, weight: Array | None) -> tuple[NDArray[Any], NDArray[Any] | None, int]:
        y = read_labels(y)
        classes, _ = encode(y if weight is None or len(weight) != len(y) else y[weight > 0])
        return y, classes, 1 if classes.size == 2 else classes.size

    @available_if(_refitted("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """The decisions of the model that was chosen."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    @available_if(_refitted("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities, for ``loss="logistic"``."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_proba(X))


class MKLRegressorCV(RegressorMixin, _Search):
    """Regression with a learned kernel, where kernels, norm and C are chosen by cross-validation.

    Parameters and attributes are those of :class:`MKLClassifierCV`, except that ``loss`` is "squared",
    "epsilon_insensitive" or a regression loss, ``scoring=None`` is R², and there are no classes.
    """

    _task = "regression"

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
        approx: Any = None,
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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

    def _model(self, kernels: Any) -> BaseEstimator:
        return MKLRegressor(kernels, loss=self.loss, **self._options())

    def _read(self, y: Any, weight: Array | None) -> tuple[NDArray[Any], NDArray[Any] | None, int]:
        y = read_numbers(y)
        return y, None, 1 if y.ndim == 1 else y.shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

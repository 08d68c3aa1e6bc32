"""What both searches share: the folds, the comparison of strategies, and the model that was chosen."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import Tags, check_random_state, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._arguments import require_arguments
from ._approx_lazy import in_memory, read_rows
from ._cv import Data, Table, read_folds, run_folds
from ._cv_features import feature_table, from_sums
from ._cv_refit import refit_path
from ._cv_text import describe_search
from ._data import is_lazy, read_training
from ._loo import loo_table
from ._params import NestedKernels, check_search
from ._progress import progress
from ._repr import HTMLSummary
from ._spec import needs_stack, short
from ._strategies import Strategy, strategies
from ._targets import check_length, check_weights, require_target

Array = NDArray[np.float64]
_FOLDS = 5
_SHARED = frozenset(
    "weights_ active_ kernels_ kernel_names_ kernel_ X_fit_ dual_coef_ dual_point_ intercept_ objective_ "
    "dual_gap_ certified_ history_ n_iter_ view_weights_ coef_ selected_products_ contributions features_ "
    "feature_coef_".split()
)


def refitted(method: str) -> Any:
    """Whether the model that was chosen can be asked for this."""

    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(
                f"{method} needs the model that was chosen, and refit=False was given; take refit=True, or "
                "fit a model with best_params_."
            )
        fitted = search.__dict__.get("best_estimator_")
        getattr(search._model(search.kernels) if fitted is None else fitted, method)
        return True

    return check


@contextmanager
def _quiet_about_small_classes() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        yield


class Search(HTMLSummary, NestedKernels):
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
            With ``approx`` and the squared loss also a Dask array or frame, which stays where it is.
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples, in fits and in scores.
        groups : array of shape (n_samples,), optional
            For ``cv`` that keeps groups together, such as GroupKFold().
        """
        require_target(self, y)
        check_search(self)
        for name in ("best_estimator_", "classes_"):
            self.__dict__.pop(name, None)
        if is_lazy(X) and self.approx is not None:
            n = len(read_rows(self, X, 0)[0])
            y, sample_weight = in_memory(y, sample_weight)
        else:
            read_training(self, X)  # what is wrong with X is said before anything is split
            (X,) = indexable(X)
            n = _num_samples(X)
        weight = None if sample_weight is None else check_weights(sample_weight, n)
        y, classes, n_outputs = self._read(y, weight)
        check_length(n, y)
        if classes is not None:
            self.classes_ = classes
        found = strategies(self, self._task, X, n_outputs)
        scorer = None if self.scoring is None else self._scorer(weight is not None)
        data = Data(X, y, weight, classes, scorer, self)
        loo = isinstance(self.cv, str) and self.cv == "loo"
        folds = [] if loo else self._folds(np.zeros((n, 1)) if is_lazy(X) else X, y, weight, groups, classes)
        race = isinstance(self.strategy, str) and self.strategy == "auto" and self.scoring is None
        on_all: Any = None
        if loo and not is_lazy(X):
            tables = [loo_table(self._only(found), data)]
        elif not loo and len(found) == 1 and from_sums(found[0], data, folds):
            table, on_all = feature_table(found[0], data, folds)
            tables = [table]
        elif is_lazy(X):
            raise ValueError(
                "X is a Dask collection, and this search needs all samples in memory: sums over rows are "
                "enough for loss='squared', scoring=None, strategy='finite' and a cv that holds every sample "
                "out once. Take these, or call X.compute() first."
            )
        else:
            with progress(self, total=len(found) * len(folds)) as shown:
                tables = run_folds(found, data, folds, self.n_jobs, race, shown.step)
        self._tell(tables, max(len(table.trials) for table in tables))
        if self.refit and on_all is not None:
            self.best_estimator_ = on_all(self.best_params_["norm"], self.best_params_["C"])
        elif self.refit:
            self._refit(X, y, weight)
        del self._chosen  # it may hold functions, which files of models may not
        return self

    def _scorer(self, weighted: bool) -> Any:
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError(f"scoring={self.scoring!r} was given; expected one score to choose by, or None.")
        if callable(self.scoring):
            require_arguments(self.scoring, 3, "scoring(estimator, X, y)", more=True)
        scorer = check_scoring(self, scoring=self.scoring)
        function = getattr(scorer, "_score_func", scorer)
        kinds = {name: given.kind for name, given in signature(function).parameters.items()}
        if weighted and "sample_weight" not in kinds and Parameter.VAR_KEYWORD not in kinds.values():
            raise ValueError(
                f"sample_weight was given with scoring={short(self.scoring)}, which takes no weights. Give a "
                "scoring that takes sample_weight, or repeat samples in place of weights."
            )
        return scorer

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
        if isinstance(splitter, bytes) or not (isinstance(splitter, Integral) or hasattr(splitter, "split")):
            splitter = read_folds(splitter, len(y))
        splitter = check_cv(splitter, y, classifier=classes is not None)
        with _quiet_about_small_classes():
            folds = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, groups)]
        given = short(self.cv)
        for k, (train, test) in enumerate(folds):
            used = train if weight is None else train[weight[train] > 0]
            if not used.size or not test.size:
                raise ValueError(f"Fold {k} of cv={given} has no sample to train on, or none to score.")
            if classes is not None and np.unique(y[used]).size < 2:
                raise ValueError(
                    f"Fold {k} of cv={given} trains on samples of one class only ({y[used].tolist()[0]!r}). "
                    "Take fewer folds, a stratified or shuffled cv, or groups that do not leave a class out."
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

    @available_if(refitted("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """The prediction of the model that was chosen, for each sample."""
        return self._ask("predict", X)

    def _ask(self, method: str, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return getattr(self.best_estimator_, method)(X)

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

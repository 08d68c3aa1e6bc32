"""What a learned combination is compared with: the plain sum, the best single kernel, a tuned rival."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils.metaestimators import _safe_split

import manykernels

from ..families import Family, Subset
from ..plots.reading import unwrap
from .scores import Fold, Scores, score_fold

INNER = 3  # folds in which a choice is made within a fold
_SINGLES = 6  # kernels that are tried alone


def baseline_models(model: Any, X: Any) -> dict[str, Any]:
    """Estimators that are not fitted, by name: each behind the same preparation as the model's.

    Each chooses C (and the kernel, or the width) by cross-validation within what it is given. The kernels are
    those that a search began with, not those it chose: that choice has seen all samples.
    """
    mkl, inner = unwrap(model, X)
    search = _last(model)
    kernels = search.kernels if hasattr(search, "comparison_") and _listed(search.kernels) else mkl.kernels
    classes = hasattr(mkl, "classes_")
    models: dict[str, Any] = {}
    if _listed(kernels) and not hasattr(mkl, "hull_"):
        kind: Any = manykernels.MKLClassifier if classes else manykernels.MKLRegressor
        choice: Any = manykernels.MKLClassifierCV if classes else manykernels.MKLRegressorCV
        sum_ = kind(kernels, norm=math.inf)
        models["plain sum of the kernels"] = choice(kernels, strategy=[sum_], cv=inner_folds(classes))
        if len(mkl.kernel_names_) > 1 or kernels is not mkl.kernels:
            align: Any = manykernels.AlignMKLClassifier if classes else manykernels.AlignMKLRegressor
            ranking = align(kernels, weighting="align")
            models["best single kernel"] = BestSingle(
                ranking, kind(norm=1.0), choice(cv=inner_folds(classes))
            )
    if mkl._kind == "array" or (mkl._kind == "table" and _all_numbers(inner)):
        models["tuned SVC" if classes else "tuned kernel ridge"] = rival(classes)
    steps = model.steps[:-1] if isinstance(model, Pipeline) else []
    return {
        name: Pipeline([*((step, clone(part)) for step, part in steps), ("model", one)]) if steps else one
        for name, one in models.items()
    }


def inner_folds(classes: bool) -> Any:
    """Shuffled, since rows of files are often in some order."""
    return (StratifiedKFold if classes else KFold)(INNER, shuffle=True, random_state=0)


class BestSingle(BaseEstimator):
    """One kernel and its C, chosen by cross-validation; of many, those most like the target are tried.

    Parameters
    ----------
    ranking : an estimator over all kernels, whose weights say which are tried: by alignment, since weights
        that are learned together favour narrow kernels, which are the worst alone
    one : the estimator that takes each of them
    search : a search, which gets these as strategies
    """

    def __init__(self, ranking: Any, one: Any, search: Any) -> None:
        self.ranking = ranking
        self.one = one
        self.search = search

    def fit(self, X: Any, y: Any) -> Self:
        kernels, ranked = self.ranking.kernels, clone(self.ranking).fit(X, y)
        size = np.abs(np.atleast_2d(ranked.weights_)).max(axis=0)
        likely = [ranked.kernel_names_[m] for m in np.argsort(-size, kind="stable")[:_SINGLES]]
        alone = [clone(self.one).set_params(kernels=Subset(kernels, (name,))) for name in likely]
        self.search_ = clone(self.search).set_params(kernels=kernels, strategy=alone).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.search_.predict(X)

    def score(self, X: Any, y: Any) -> float:
        return float(self.search_.score(X, y))

    def __sklearn_tags__(self) -> Any:
        return self.ranking.__sklearn_tags__()  # which say how data are split


def _listed(kernels: Any) -> bool:
    return not isinstance(kernels, Family) or bool(kernels.listed)


def rival(classes: bool) -> GridSearchCV:
    """One Gaussian kernel, as people tune it today."""
    widths = ["scale", 0.01, 0.1]
    if classes:
        grid = {"C": [1.0, 10.0, 100.0], "gamma": widths}
        return GridSearchCV(SVC(), grid, cv=inner_folds(True))
    grid = {"alpha": [0.01, 0.1, 1.0], "gamma": [0.003, 0.03, 0.3]}
    return GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=inner_folds(False))


def _all_numbers(X: Any) -> bool:
    return all(np.asarray(X[name]).dtype.kind in "biuf" for name in X.columns)


def _last(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _with_last(model: Any, last: Any) -> Any:
    """The model, not fitted, with another last step."""
    if not isinstance(model, Pipeline):
        return last
    return Pipeline([*((name, clone(part)) for name, part in model.steps[:-1]), (model.steps[-1][0], last)])


def settled(model: Any) -> Any:
    """The model, not fitted, with what a search chose in the place of the search.

    It is quick to score, but since the choice has seen all samples, the scores are a little too good.
    """
    last = _last(model)
    return _with_last(model, clone(getattr(last, "best_estimator_", last)))


def anew(model: Any) -> Any:
    """The model, not fitted; a search in it chooses anew within whatever it is given, in fewer folds.

    What it scores in a cross-validation is honest: no choice has seen the samples that it is scored on.
    """
    last = clone(_last(model))
    if hasattr(_last(model), "comparison_") and not (isinstance(last.cv, str) and last.cv == "loo"):
        last.set_params(cv=inner_folds(hasattr(model, "classes_")), n_jobs=None, verbose=0)
    return _with_last(model, last)


def baselines(model: Any, X: Any, y: Any, *, cv: Any = 5, n_jobs: int | None = None) -> list[dict[str, Any]]:
    """Cross-validated scores of the model and of what it is compared with, on the same folds.

    Whatever is chosen (by a search, too) is chosen within the folds; ``n_jobs`` folds at a time. What failed
    in some of the folds has no mean, and an ``error`` that says why.
    """
    classes = hasattr(unwrap(model)[0], "classes_")
    folds = list(check_cv(cv, y, classifier=classes).split(np.zeros(len(y)), y))
    rows = []
    for name, one in {"learned": anew(model), **baseline_models(model, X)}.items():
        found = Parallel(n_jobs=n_jobs)(delayed(_fold)(clone(one), X, y, *fold) for fold in folds)
        facts = Scores(list(found)).as_dict()
        rows.append({"name": name, **{key: facts[key] for key in ("mean", "std", "folds", "error")}})
    return rows


def _fold(model: Any, X: Any, y: Any, train: Any, test: Any) -> Fold:
    def part(rows: Any) -> tuple[Any, Any]:
        return tuple(_safe_split(model, X, y, rows, None if rows is train else train))

    return score_fold(model, part, train, test)

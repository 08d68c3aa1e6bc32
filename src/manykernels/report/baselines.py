"""What a learned combination is compared with: the plain sum, the best single kernel, a tuned rival."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

import manykernels

from ..families import Family
from ..plots._reading import unwrap

_COSTS = [0.1, 1.0, 10.0]
_SINGLES = 10  # kernels that are tried alone


def baseline_models(model: Any, X: Any) -> dict[str, Any]:
    """Estimators that are not fitted, by name: each behind the same preparation as the model's."""
    mkl, inner = unwrap(model, X)
    classes = hasattr(mkl, "classes_")
    models: dict[str, Any] = {}
    if not (isinstance(mkl.kernels, Family) and not mkl.kernels.listed) and not hasattr(mkl, "hull_"):
        kind: Any = manykernels.MKLClassifier if classes else manykernels.MKLRegressor
        sum_ = kind(mkl.kernels, norm=math.inf)
        models["plain sum of the kernels"] = GridSearchCV(sum_, {"C": _COSTS}, cv=3)
        singles = list(_singles(mkl))
        if len(singles) > 1:
            options = {"kernels": singles, "C": _COSTS}
            models["best single kernel"] = GridSearchCV(kind(norm=1.0), options, cv=3)
    if mkl._kind == "array" or (mkl._kind == "table" and _all_numbers(inner)):
        models["tuned SVC" if classes else "tuned kernel ridge"] = rival(classes)
    steps = model.steps[:-1] if isinstance(model, Pipeline) else []
    return {
        name: Pipeline([*((step, clone(part)) for step, part in steps), ("model", one)]) if steps else one
        for name, one in models.items()
    }


def _singles(mkl: Any) -> Iterator[dict[str, Any]]:
    """Each kernel alone, with the parameters that the data gave it; the likeliest ones, if there are many."""
    size = np.abs(np.atleast_2d(mkl.weights_)).max(axis=0)
    for m in np.argsort(-size, kind="stable")[:_SINGLES]:
        yield {mkl.kernel_names_[m]: mkl.kernels_[m].kernel}


def rival(classes: bool) -> GridSearchCV:
    """One Gaussian kernel, as people tune it today."""
    widths = ["scale", 0.01, 0.1]
    if classes:
        return GridSearchCV(SVC(), {"C": [1.0, 10.0, 100.0], "gamma": widths}, cv=3)
    ridge = KernelRidge(kernel="rbf")
    return GridSearchCV(ridge, {"alpha": [0.01, 0.1, 1.0], "gamma": [0.003, 0.03, 0.3]}, cv=3)


def _all_numbers(X: Any) -> bool:
    return all(np.asarray(X[name]).dtype.kind in "biuf" for name in X.columns)


def settled(model: Any) -> Any:
    """The model, not fitted, with what a search chose in the place of the search.

    Searching anew in every fold would take as many times as long. Since the choice has seen all samples, the
    scores of what is settled are a little too good.
    """
    last = model[-1] if isinstance(model, Pipeline) else model
    chosen = clone(getattr(last, "best_estimator_", last))
    if not isinstance(model, Pipeline):
        return chosen
    return Pipeline([*((name, clone(part)) for name, part in model.steps[:-1]), (model.steps[-1][0], chosen)])


def baselines(model: Any, X: Any, y: Any, *, cv: Any = 5) -> list[dict[str, Any]]:
    """Cross-validated scores of the model and of what it is compared with, on the same folds."""
    classes = hasattr(unwrap(model)[0], "classes_")
    folds = list(check_cv(cv, y, classifier=classes).split(np.zeros(len(y)), y))
    rows = []
    for name, one in {"learned": settled(model), **baseline_models(model, X)}.items():
        values = cross_val_score(one, X, y, cv=folds)
        rows.append(
            {"name": name, "mean": values.mean(), "std": values.std(ddof=1), "folds": values.tolist()}
        )
    return rows

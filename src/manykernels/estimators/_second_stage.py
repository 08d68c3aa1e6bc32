"""Checks of learners of the second stage, and their coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

Array = NDArray[np.float64]


def check_learner(learner: Any, task: str) -> None:
    """Raise an error unless the learner is for this task and takes a kernel between samples as its X."""
    part = learner
    while getattr(part, "estimator", None) is not None:
        part = part.estimator  # of a search over its parameters, or of one-vs-rest
    name = type(part).__name__
    params = part.get_params(deep=False)
    kernel = params.get("kernel", "precomputed")
    if kernel != "precomputed":
        raise ValueError(
            f"estimator={name}(kernel={kernel!r}) was given; it would compute a kernel of its own from the "
            f"learned one. Give {name}(kernel='precomputed')."
        )
    if params.get("metric") == "precomputed" or params.get("affinity") == "precomputed":
        raise ValueError(
            f"estimator={name} with metric='precomputed' was given; it expects distances, and a kernel is a "
            "similarity. Give a learner that takes a kernel, such as SVC(kernel='precomputed')."
        )
    name = type(learner).__name__
    if not (is_classifier if task == "classification" else is_regressor)(learner):
        raise ValueError(
            f"estimator={name} was given; it is not a learner for {task}. Give a learner such as "
            f"{'SVC' if task == 'classification' else 'KernelRidge'}(kernel='precomputed')."
        )
    if not get_tags(learner).input_tags.pairwise:
        raise ValueError(
            f"estimator={name} was given; it takes features, not a kernel between samples. Give a learner "
            "such as SVC(kernel='precomputed') or KernelRidge(kernel='precomputed'). To use the learned "
            "kernel as features on purpose, put KernelAligner before it in a Pipeline."
        )


def takes_weights(learner: BaseEstimator, sample_weight: Any) -> bool:
    """Tell whether the learner takes sample weights; raise an error if weights were given and it does not."""
    inner = learner
    while getattr(inner, "estimator", None) is not None and not has_fit_parameter(inner, "sample_weight"):
        inner = inner.estimator  # a search over its parameters hands weights on
    takes = bool(has_fit_parameter(inner, "sample_weight"))
    if sample_weight is not None and not takes:
        raise ValueError(
            f"sample_weight was given with estimator={type(learner).__name__}, whose fit takes no weights. "
            "Give a learner that does: SVC(kernel='precomputed') or KernelRidge(kernel='precomputed')."
        )
    return takes


def dual_of(learner: Any, n: int) -> tuple[Array, Any]:
    """Return coefficients and intercept of a fitted learner f = K coefficients + intercept.

    Raise an AttributeError for other learners."""
    learner = getattr(learner, "best_estimator_", learner)
    if isinstance(learner, KernelRidge):
        return np.asarray(learner.dual_coef_), 0.0
    if hasattr(learner, "covariate_coef_"):  # a machine of this package
        return np.asarray(learner.dual_coef_), learner.intercept_
    two = not isinstance(learner, SVC | NuSVC) or len(learner.classes_) == 2
    if isinstance(learner, SVC | NuSVC | SVR | NuSVR) and two:
        dual = np.zeros(max(n, int(learner.support_.max(initial=-1)) + 1))
        dual[learner.support_] = learner.dual_coef_[0]
        return dual, float(learner.intercept_[0])
    raise AttributeError(
        f"{type(learner).__name__} does not decide by one linear combination of the kernel (several classes, "
        "or a learner of another kind): there is no dual_coef_, and no kernel has a part of its own."
    )


def require_feature_learner(learner: Any, task: str) -> None:
    """Raise an error unless the learner is for this task and takes features."""
    name = type(learner).__name__
    kernel = learner.get_params(deep=False).get("kernel")
    if kernel == "precomputed":
        raise ValueError(
            f"estimator={name}(kernel='precomputed') was given with approx: it expects a matrix of n × n, "
            "which explicit features are there to avoid. Give a learner of features, such as LinearSVC() "
            "or LogisticRegression(), or approx=None."
        )
    if not (is_classifier if task == "classification" else is_regressor)(learner):
        raise ValueError(f"estimator={name} was given; it is not a learner for {task}. Give one that is.")


def as_ridge(coef: Array, intercept: Array, labels: NDArray[Any] | None, flat: bool) -> Any:
    """Make a fitted Ridge, or RidgeClassifier for labels, with these coefficients (p, k).

    It is fitted on next to nothing, so that it knows its classes and features, and is then told the rest.
    """
    classes = np.unique(labels) if labels is not None else np.zeros(2 if flat else (2, coef.shape[1]))
    model = (Ridge() if labels is None else RidgeClassifier()).fit(
        np.zeros((len(classes), len(coef))), classes
    )
    if labels is not None and coef.shape[1] > 1:  # the targets were 0 and 1, and are −1 and 1 there
        coef, intercept = 2.0 * coef, 2.0 * intercept - 1.0
    model.coef_ = coef[:, 0] if flat and labels is None else coef.T.copy()
    model.intercept_ = float(intercept[0]) if flat and labels is None else intercept
    return model

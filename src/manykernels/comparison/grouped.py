"""Samples that belong together: folds that keep them so, also those of a search within a fold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from .._arguments import is_integral, number_of
from ..estimators import opened
from ..fitting.survival import read_survival
from ..kernels.cells import is_missing
from ..selection.splits import FOLDS, thinned

Index = NDArray[np.intp]
Splits = list[tuple[Index, Index]]
# which cut single samples, whatever groups they are of
_SINGLE = (
    KFold,
    LeaveOneOut,
    LeavePOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)


def sample_labels(given: Any, n: int, name: str = "sample_groups") -> Any:
    """Return groups of samples as an array with a label for each sample, or None."""
    if given is None:
        return None
    labels = np.asarray(given)
    if labels.shape != (n,):
        raise ValueError(
            f"{name} of shape {labels.shape} was given; expected a label for each of {n} samples."
        )
    if np.any(lacking := is_missing(labels)):
        raise ValueError(
            f"{name} was given with no label for {number_of(int(np.sum(lacking)), 'sample')}, the first in "
            f"row {int(np.argmax(lacking))}; expected a label for each. Give samples that belong to no group "
            "labels of their own."
        )
    return labels


def splitter_of(count: int, *, classes: bool, grouped: bool, random_state: Any = 0) -> Any:
    """Make a splitter into shuffled folds, which keeps the shares of classes, and groups in one piece."""
    kinds: Any = ((KFold, GroupKFold), (StratifiedKFold, StratifiedGroupKFold))
    return kinds[classes][grouped](count, shuffle=True, random_state=random_state)


def keep_together(learner: Any, y: Any, groups: Any) -> Any:
    """Give a search the folds of these samples that keep groups in one piece, and return it.

    The learner is changed. It may be a pipeline that ends in a search, and a search of any package that takes
    its folds as ``cv``, as those of scikit-learn do. Splitters of scikit-learn that cut single samples are
    replaced by folds of groups; splitters of other packages get the groups. ``"loo"``, lists of rows,
    ``TimeSeriesSplit`` and ``PredefinedSplit`` stay as they are.
    """
    if groups is None:
        return learner
    last = opened(learner).last
    if last is not learner:
        keep_together(last, y, groups)
        return learner
    known = learner.get_params(deep=False) if hasattr(learner, "get_params") else {}
    if "cv" not in known or known.get("store_cv_results") or known.get("alpha_per_target"):
        return learner  # the last two are of RidgeCV, and need its own way to leave one out
    if (found := _cut(known["cv"], is_classifier(learner), y, groups)) is not None:
        learner.set_params(cv=found)
    return learner


def _cut(cv: Any, classes: bool, y: Any, groups: Any) -> Splits | None:
    """Return the folds that take the place of `cv`; None if it stays."""
    y, X = np.asarray(y), np.zeros((len(y), 1))
    times = y.dtype.names is not None
    y = read_survival(y).event if times else y
    count = _number_of_folds(cv)
    if count is None or count < 2:
        return None
    classes = classes and y.ndim == 1
    own = [cv] if hasattr(cv, "split") and not isinstance(cv, _SINGLE) else []
    fewer = range(min(count, np.unique(groups).size), 1, -1)
    for cut in (*own, *(splitter_of(n, classes=classes or times, grouped=True) for n in fewer)):
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The least populated class", UserWarning)
                folds = [(np.asarray(train), np.asarray(test)) for train, test in cut.split(X, y, groups)]
        except (TypeError, ValueError):  # such as fewer groups, or members of a class, than folds
            if not type(cut).__module__.startswith("sklearn."):
                return None  # the search will raise the error of a splitter that is the user's own
            continue
        if all(_serves(y[train], classes, times) and test.size for train, test in folds):
            return thinned(folds, y) if cv is None and times else folds
    warnings.warn(
        f"{number_of(np.unique(groups).size, 'group')} of training samples cannot be cut into folds that "
        "keep groups together, so the search within this fold chose by folds of single samples. Give more "
        "groups, or leave the groups out.",
        stacklevel=2,
    )
    return None


def _number_of_folds(cv: Any) -> int | None:
    """Return how many folds of groups are as good as `cv`; None if it stays as it is."""
    if isinstance(cv, str | TimeSeriesSplit | PredefinedSplit):
        return None
    if cv is None or (hasattr(cv, "split") and type(cv) not in (KFold, StratifiedKFold)):
        return FOLDS
    count = getattr(cv, "n_splits", cv)
    return int(count) if is_integral(count) else None


def _serves(y: NDArray[Any], classes: bool, times: bool) -> bool:
    """Tell whether a model can be learned from these targets: two classes, or an event."""
    return bool(y.any()) if times else not classes or np.unique(y).size > 1

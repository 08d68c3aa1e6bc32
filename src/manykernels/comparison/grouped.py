"""Samples that belong together: folds that keep them so, also those of a search within a fold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.model_selection._split import GroupsConsumerMixin

from .._arguments import is_integral, number_of
from ..estimators import opened
from ..fitting.survival import read_survival
from ..selection.splits import FOLDS

Index = NDArray[np.intp]
Splits = list[tuple[Index, Index]]


def sample_labels(given: Any, n: int, name: str = "sample_groups") -> Any:
    """Return groups of samples as an array with a label for each sample, or None."""
    if given is None:
        return None
    labels = np.asarray(given)
    if labels.shape != (n,):
        raise ValueError(
            f"{name} of shape {labels.shape} was given; expected a label for each of {n} samples."
        )
    return labels


def splitter_of(count: int, *, classes: bool, grouped: bool, random_state: Any = 0) -> Any:
    """Make a splitter into shuffled folds, which keeps the shares of classes, and groups in one piece."""
    kinds: Any = ((KFold, GroupKFold), (StratifiedKFold, StratifiedGroupKFold))
    return kinds[classes][grouped](count, shuffle=True, random_state=random_state)


def keep_together(learner: Any, y: Any, groups: Any) -> Any:
    """Give a search the folds of these samples that keep groups in one piece, and return it.

    The learner is changed. It may be a pipeline that ends in a search, and a search of any package that takes
    its folds as ``cv``, as those of scikit-learn do. Folds of another kind (``"loo"``, a list of rows, a
    splitter that neither shuffles rows nor asks for groups) stay as they are.
    """
    if groups is None:
        return learner
    last = opened(learner).last
    if last is not learner:
        keep_together(last, y, groups)
        return learner
    known = learner.get_params(deep=False) if hasattr(learner, "get_params") else {}
    if "cv" in known and (found := _cut(known["cv"], is_classifier(learner), y, groups)) is not None:
        learner.set_params(cv=found)
    return learner


def _cut(cv: Any, classes: bool, y: Any, groups: Any) -> Splits | None:
    """Return the folds that take the place of `cv`; None if it stays."""
    y, X = np.asarray(y), np.zeros((len(y), 1))
    times = y.dtype.names is not None
    y = read_survival(y).event if times else y
    if isinstance(cv, GroupsConsumerMixin):
        return list(cv.split(X, y, groups))
    count = FOLDS if cv is None else cv.n_splits if type(cv) in (KFold, StratifiedKFold) else cv
    if not is_integral(count):
        return None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for fewer in range(min(count, np.unique(groups).size), 1, -1):
            cut = splitter_of(fewer, classes=classes or times, grouped=True)
            folds = list(cut.split(X, y, groups))
            if all(_serves(y[train], classes, times) and test.size for train, test in folds):
                return folds
    warnings.warn(
        f"{number_of(np.unique(groups).size, 'group')} of training samples cannot be cut into folds that "
        "keep groups together, so the search within this fold chose by folds of single samples. Give more "
        "groups, or leave the groups out.",
        stacklevel=2,
    )
    return None


def _serves(y: NDArray[Any], classes: bool, times: bool) -> bool:
    """Tell whether a model can be learned from these targets: two classes, or an event."""
    return bool(y.any()) if times else not classes or np.unique(y).size > 1

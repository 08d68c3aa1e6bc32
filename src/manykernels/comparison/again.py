"""Copies of a fitted model for cross-validation: with its search, or with the choice of the search."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from ..estimators import opened, require_named
from .methods import inner_folds


def settled(model: Any) -> Any:
    """Return the model, not fitted, with the choice of a search in place of the search.

    It is quick to score. Since the choice has seen all samples, the scores are a little too good.

    Parameters
    ----------
    model : estimator
        A fitted model of any package, or a pipeline that ends in one.

    Returns
    -------
    estimator
        A copy that is not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifierCV
    >>> from manykernels.comparison.again import settled
    >>> search = MKLClassifierCV(strategy="finite", cv=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> type(settled(search)).__name__
    'MKLClassifier'
    """
    require_named(model)
    return opened(model).settled()


def anew(model: Any) -> Any:
    """Return the model, not fitted; a search in it chooses anew on the samples that it gets.

    The search has three shuffled folds. Folds of samples that follow each other stay as they are: ``KFold``
    without shuffling, and splitters with a ``gap``, as `BlockFold` and ``TimeSeriesSplit``. Scores in a
    cross-validation are honest: no choice has seen the samples that it is scored on.

    Parameters
    ----------
    model : estimator
        A fitted model of any package, or a pipeline that ends in one.

    Returns
    -------
    estimator
        A copy that is not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifierCV
    >>> from manykernels.comparison.again import anew
    >>> search = MKLClassifierCV(strategy="finite", cv=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> type(anew(search)).__name__
    'MKLClassifierCV'
    """
    require_named(model)
    parts = opened(model)
    last, search = clone(parts.last), parts.searched
    if search is not None:
        # a text is "loo"; splitters of samples in time have a gap, or do not shuffle
        given = search.folds
        blocks = type(given) in (KFold, StratifiedKFold) and not given.shuffle
        stay = isinstance(given, str) or hasattr(given, "gap") or blocks
        folds = {} if stay else {"cv": inner_folds(is_classifier(last))}
        last.set_params(**folds, n_jobs=None)
    return parts.behind(last)

"""A fitted model, ready to learn once more in each fold: with its search, or with what the search chose."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone, is_classifier

from ..estimators import opened, require_named
from .methods import inner_folds


def settled(model: Any) -> Any:
    """The model, not fitted, with what a search chose in the place of the search.

    It is quick to score, but since the choice has seen all samples, the scores are a little too good.
    """
    require_named(model)
    return opened(model).settled()


def anew(model: Any) -> Any:
    """The model, not fitted; a search in it chooses anew within whatever it is given, in fewer folds.

    What it scores in a cross-validation is honest: no choice has seen the samples that it is scored on.
    """
    require_named(model)
    parts = opened(model)
    last, search = clone(parts.last), parts.searched
    if search is not None and not (isinstance(search.folds, str) and search.folds == "loo"):
        last.set_params(cv=inner_folds(is_classifier(last)), n_jobs=None)
    return parts.behind(last)

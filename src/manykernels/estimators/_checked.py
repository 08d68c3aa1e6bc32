"""``checks_``: what a fitted model says of itself that its user should know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import Check, Facts, judge
from ..selection.tried import Searched


class Checked(BaseEstimator):
    """Adds the checks that need nothing but the fitted model."""

    @property
    def checks_(self) -> list[Check]:
        """Reasons to be careful with this model, as a list of checks; empty if there are none.

        They are computed on access, from the fitted model alone. :func:`manykernels.inspection.check` adds
        the checks that need the data, resamples or a comparison.
        """
        check_is_fitted(self)
        chosen = vars(self).get("best_estimator_", self)
        if "_model" not in vars(chosen):  # refit=False, or a strategy of another package
            return []
        return judge(replace(facts_of(chosen), searched=self._searched()))

    def _searched(self) -> Searched | None:
        """Return what was tried, where this is a search."""
        return None


def facts_of(face: Any) -> Facts:
    """Return what a fitted estimator of this package knows of itself; a search is asked for what it chose."""
    given = face.get_params(deep=False)
    return Facts(face._model, given.get("max_iter"), costed=given.get("class_weight") is not None)

"""Copies of an estimator that learn from other samples, or with another C; the estimator stays as it is."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone, is_classifier
from sklearn.utils.metaestimators import _safe_split

from ..fitting.model import Model
from ._explain import LearnedKernel
from ._reading import face_of, require_named, silent
from ._search import Search


@dataclass(frozen=True)
class Copies:
    """An estimator that is not fitted, to be fitted on other samples or with other parameters."""

    template: LearnedKernel  # not fitted

    @property
    def classifies(self) -> bool:
        """True if the estimator is a classifier."""
        return bool(is_classifier(self.template))

    @property
    def C(self) -> float:
        """The parameter C of the estimator."""
        given = self.template.get_params(deep=False)
        if "C" not in given:
            raise ValueError(f"{type(self.template).__name__} has no parameter C to vary.")
        return float(given["C"])

    def learn(self, X: Any, y: Any, rows: Any = None, **changes: Any) -> Model:
        """Fit a copy on all samples, or on some rows of them, with other parameters."""
        copy = clone(self.template).set_params(**changes)
        if rows is not None:
            X, y = _safe_split(copy, X, y, rows)
        model: Model = copy.fit(X, y)._model
        return model

    def relearn(self, X: Any, y: Any, rows: Any) -> Model:
        """Fit a copy on some rows at the same trade-off, without the warnings that the first fit gave."""
        changes = same_trade_off(self.template.get_params(deep=False), len(rows) / len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.learn(X, y, rows, **changes)


def copies_of(estimator: Any) -> Copies:
    """Make copies of an estimator of this package, fitted or not; of a fitted search, of its choice."""
    require_named(estimator)
    if isinstance(estimator, Search):
        if "best_score_" not in vars(estimator):
            name = type(estimator).__name__
            raise ValueError(f"{name} is not fitted; call fit(X, y) first, since its choice is learned anew.")
        estimator = face_of(estimator)[0]
    if isinstance(estimator, LearnedKernel) and getattr(vars(estimator).get("_model"), "validated", False):
        raise ValueError(
            "weights and C were chosen by errors on samples left out (of every output, or of landmarks for "
            "many rows), and no single C learns them anew. Fit the search itself on other samples."
        )
    if not isinstance(estimator, LearnedKernel):
        raise ValueError(
            f"{type(estimator).__name__} has no weights_; expected an estimator of manykernels that "
            "weighs kernels."
        )
    return Copies(silent(clone(estimator)))


def same_trade_off(given: Mapping[str, Any], share: float) -> dict[str, Any]:
    """Return the parameters that make a fit on a share of the samples the same problem in expectation.

    C n and the number of steps of UFO stay the same."""
    if "C" in given:
        return {"C": given["C"] / share}
    if "lam" in given and "epochs" in given:
        return {"epochs": max(1, round(given["epochs"] / share))}
    return {}

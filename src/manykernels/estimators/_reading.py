"""Access of other parts of the package to estimators: the model, and what is around it.

Only functions that users call take an estimator. They ask here for what they need of it, and pass that on.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from ..fitting.layout import read_training
from ..fitting.matching import matched
from ..fitting.model import Model
from ..fitting.stacks import in_matrices
from ..selection.checkpoint import is_folder
from ..selection.tried import Searched as Searched
from ._explain import LearnedKernel
from ._search import Search


def model_of(estimator: Any, X: Any = None) -> tuple[Model, Any]:
    """Return the model of an estimator of this package, also inside searches and pipelines, and its X."""
    face, X = face_of(estimator, X)
    return face._model, X


def face_of(estimator: Any, X: Any = None) -> tuple[LearnedKernel, Any]:
    """Return the fitted estimator inside searches and pipelines, and X in the form in which it gets there."""
    given = type(estimator).__name__
    while True:
        if isinstance(estimator, Pipeline):
            if X is not None and len(estimator) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator[-1]
        elif "best_estimator_" in getattr(estimator, "__dict__", {}):
            estimator = estimator.best_estimator_
        else:
            break
    if not isinstance(estimator, LearnedKernel | Search):
        raise TypeError(
            f"{given} was given; expected an estimator of manykernels, or a pipeline or search that ends in "
            "one."
        )
    if isinstance(estimator, Search) and "best_score_" in vars(estimator):
        raise NotFittedError(
            "the search was fitted with refit=False, so that it has no model. Fit it with refit=True."
        )
    if isinstance(estimator, Search) or "_model" not in vars(estimator):
        raise NotFittedError(f"This {type(estimator).__name__} is not fitted yet. Call fit(X, y) first.")
    return estimator, X if X is None else estimator._model.layout.joined(X)


def in_one_piece(estimator: Any, X: Any, y: Any = None) -> tuple[Any, Any]:
    """Join samples in parts (a dict of views, or matrices), and copy the estimator for them.

    The copy learns from the joined samples what the estimator learns from the parts: its kernels say which
    columns each view has. So whoever cuts samples into folds need not know that they came in parts. Frames
    about different samples are matched as ``fit`` does it: in the order of y, if that has labels.
    """
    if not in_matrices(X):
        return estimator, X
    X = matched(X, y, quiet=True)
    if isinstance(estimator, Pipeline):
        last, X = in_one_piece(estimator[-1], X) if len(estimator) == 1 else (estimator[-1], X)
        return Pipeline([*estimator.steps[:-1], (estimator.steps[-1][0], last)]), X
    if not isinstance(estimator, LearnedKernel | Search):
        return estimator, X
    best = estimator.__dict__.get("best_estimator_", estimator)
    model = best.__dict__.get("_model")
    X = X if model is None else model.layout.in_fit_order(X)
    joined, layout = read_training(type(estimator).__name__, estimator.kernels, X)
    found = copy(estimator)
    found.kernels = layout.explicit(estimator.kernels)
    if best is not estimator:
        found.best_estimator_ = copy(best)
        if hasattr(best, "kernels"):
            found.best_estimator_.kernels = layout.explicit(best.kernels)
    return found, joined


def require_named(estimator: Any) -> None:
    """Raise an error if the estimator was fitted with covariates beside X, since copies would lack them."""
    estimator = opened(estimator).last
    model = vars(vars(estimator).get("best_estimator_", estimator)).get("_model")
    if model is not None and model.layout.separated is not None and not model.layout.separated.columns:
        raise ValueError(
            f"{type(estimator).__name__} was fitted with covariates given beside X, and is to be learned "
            "again without them. Put them into X as columns, and name these: "
            f"{type(estimator).__name__}(covariates=[...])."
        )


@dataclass(frozen=True)
class Opened:
    """A pipeline in two parts: the steps in front and the last step. Other estimators are a last step."""

    front: list[tuple[str, Any]]
    name: str
    last: Any

    @property
    def searched(self) -> Searched | None:
        """The models that the last step tried, if it is a fitted search of this package."""
        return self.last._searched() if isinstance(self.last, Search) else None

    def given_groups(self, groups: Any) -> dict[str, Any]:
        """Return the arguments by which ``fit`` hands these groups to a search of this package."""
        if groups is None or not isinstance(self.last, Search):
            return {}
        return {f"{self.name}__groups" if self.name else "groups": groups}

    def settled(self) -> Any:
        """Return the whole, not fitted, with the choice of a fitted search in place of the search."""
        chosen = getattr(self.last, "best_estimator_", None)
        if chosen is None or getattr(vars(chosen).get("_model"), "validated", False):
            return self.behind(clone(self.last))  # a choice for every output cannot be given to one model
        return self.behind(opened(chosen).settled())

    def behind(self, last: Any) -> Any:
        """Put another last step behind the same steps in front, not fitted."""
        if not self.front:
            return last
        return Pipeline([*((name, clone(step)) for name, step in self.front), (self.name, last)])


def silent(estimator: Any) -> Any:
    """Turn off progress bars, models for intervals and the checkpoint of an estimator, which is changed.

    They are for the user of one fit. Copies are fitted for their predictions alone.
    """
    known = {name: (name.rpartition("__")[2], value) for name, value in estimator.get_params().items()}
    asked = {n: type(v)() for n, (own, v) in known.items() if v and own in ("verbose", "intervals")}
    folders = {n: None for n, (own, v) in known.items() if own == "checkpoint" and is_folder(v)}
    return estimator.set_params(**asked, **folders)


def opened(estimator: Any) -> Opened:
    """Split an estimator of any package, fitted or not, into its parts."""
    if not isinstance(estimator, Pipeline):
        return Opened([], "", estimator)
    *front, (name, last) = estimator.steps
    return Opened(front, name, last)

"""Repeat the choice of a search on other samples, among the models that came near the best."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import _safe_split

from ..families.remarks import quiet_about_tables
from ..fitting.model import Model
from ..fitting.survival import as_records, read_survival
from ..fitting.targets import class_costs
from ..selection.scoring import smooth_error
from ..selection.strategies import Strategy, strategies
from ..selection.survival_judge import SurvivalJudge
from ..selection.text import called
from ._reading import silent
from ._search import Search


@dataclass(frozen=True)
class Finalist:
    """A strategy at the norm, the kernels and the C that were best for it."""

    strategy: Strategy
    norm: Any
    kernels: tuple[str, ...] | None
    C: float

    @property
    def name(self) -> str:
        return called(self.strategy.name, self.norm, self.kernels)

    def model(self, share: float) -> BaseEstimator:
        """Make the model for a share of the samples, at the same trade-off: C n stays the same."""
        params = self.strategy.params(self.norm, self.kernels, self.C / share)
        return silent(clone(self.strategy.template).set_params(**params))


@dataclass(frozen=True)
class Finalists:
    """The models that the folds of a search could not tell from its best one, and what it chose by."""

    models: list[Finalist]
    scorer: Any  # None: the smooth error, as in the search
    class_weight: Any

    @quiet_about_tables()
    def choose(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> tuple[str, Model | None]:
        """Fit each model on some rows, and choose the one that is best on the others.

        Returns what it is called and what it learned, None for an estimator of another package.
        """
        held = np.setdiff1d(np.arange(len(y)), rows)
        found: list[tuple[float, str, Any]] = []
        for one in self.models:
            model: Any = one.model(len(rows) / len(y))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the models of the user's own data have warned
                model.fit(*_safe_split(model, X, y, rows))
            rank = 0.0
            if len(self.models) > 1 and y.dtype.names is not None:
                rank = self._lost(model, X, y, held, rows)
            elif len(self.models) > 1:
                new, truth = _safe_split(model, X, y, held, rows)
                rank = self._rank(model, new, truth, np.unique(y))
            found.append((rank, one.name, model))
        _, name, chosen = min(found, key=lambda one: one[0])
        return name, getattr(chosen, "_model", None)

    def _rank(self, model: Any, X: Any, y: NDArray[Any], labels: NDArray[Any]) -> float:
        """Compute the loss of a model on samples that it has not seen."""
        if self.scorer is not None:
            return -float(self.scorer(model, X, y))
        if not hasattr(model, "classes_"):
            return smooth_error(model, X, y, None, None)
        codes = np.searchsorted(labels, y)
        costs = class_costs(self.class_weight, labels, codes, np.ones(len(y)))
        return smooth_error(model, X, y, costs[codes], labels)

    def _lost(
        self, model: Any, X: Any, y: NDArray[Any], held: NDArray[np.intp], rows: NDArray[np.intp]
    ) -> float:
        """Compute the loss of a survival model on held-out samples, as a search does."""
        both = np.concatenate([held, rows])
        seen, times = _safe_split(model, X, y, both, rows)
        ties = getattr(model, "ties", "breslow")
        judge = SurvivalJudge(as_records(read_survival(times)), None, held.size, ties, self.scorer)
        score, error = judge.score(model, seen)
        return error if self.scorer is None else -score


def finalists_of(search: Any, X: Any, y: Any) -> Finalists | None:
    """Return the finalists of a fitted search of this package; None for other estimators."""
    if not isinstance(search, Search) or "finalists_" not in vars(search):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the search has warned when it was fitted
        data, target, layout = search._read(X, y, None)
    seen = data.X if data.given is None else data.given.X
    found = strategies(search._wish(target, layout), seen, target.outputs, layout.table)
    known = {one.name: one for one in found}
    table = search.finalists_
    rows = zip(table["strategy"], table["norm"], table["kernels"], table["C"], strict=True)
    models = [Finalist(known[name], norm, kernels, C) for name, norm, kernels, C in rows]
    return Finalists(models, data.scorer, getattr(search, "class_weight", None))


def fitted_search(estimator: Any, X: Any, y: Any, groups: Any = None) -> Any:
    """Return the estimator; for an unfitted search of this package, a fitted copy."""
    unfitted = isinstance(estimator, Search) and "comparison_" not in vars(estimator)
    return clone(estimator).fit(X, y, groups=groups) if unfitted else estimator

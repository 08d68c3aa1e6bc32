"""How good risks of held-out samples are: Harrell's C to read, the partial likelihood to choose by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..fitting.times import cox_of
from ..objectives import Cox
from ..survival import StepFunctions, breslow, censoring_curve, concordance_index

Array = NDArray[np.float64]


class DecidedRisks(BaseEstimator):
    """Stands for a fitted model whose risks are known: the first `held` of f are of the samples to score.

    The others are those of the training samples, from which scorers know the censoring and the hazard.
    """

    def __init__(self, f: Array, held: int, y: Any, weight: Array | None, ties: Any) -> None:
        self.f, self.held, self.y, self.weight, self.ties = f, held, y, weight, ties

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Array:
        return self.f[: self.held]

    @property
    def censoring_(self) -> StepFunctions:
        y, weight = self._train
        return censoring_curve(y["event"], y["time"], weight)

    def predict_survival_function(self, X: Any, times: Any = None, *, stratum: Any = None) -> Any:
        y, weight = self._train
        strata = None if stratum is None else y["stratum"].astype(str)
        f = self.f[self.held :]
        baseline = breslow(y["event"], y["time"], f, weight, y["entry"], strata, ties=self.ties)
        return baseline.survival_at(self.predict(X), times, stratum)

    @property
    def _train(self) -> tuple[Any, Array | None]:
        return self.y[self.held :], None if self.weight is None else self.weight[self.held :]


@dataclass(frozen=True)
class SurvivalJudge:
    """Judges risks of held-out samples, the first `held` of those in y, beside the training samples.

    With ℓ the logarithm of the partial likelihood and d the number of events held out, a model learned
    without them has

        x = [ℓ_train(f) − ℓ_all(f)]/d − [ℓ_train(0) − ℓ_all(0)]/d:

    what the held-out samples lose by its risks, beside no risks at all (Verweij and van Houwelingen 1993).
    Risk sets hold the training samples too, so that few events are compared with many samples. The error is
    1 + x, or e^x where that is below 1 (and always positive).
    """

    y: NDArray[Any]
    held: int
    weight: Array | None  # of all in y
    ties: str
    scorer: Any  # None: Harrell's C

    def error(self, f: Array) -> float:
        """The smooth error of decisions f (n, 1)."""
        x = self._lost(f) - self._lost_by_none
        return float(np.exp(x)) if x < 0.0 else 1.0 + x

    @cached_property
    def _risks(self) -> list[tuple[NDArray[np.intp], Cox | None]]:
        """−ℓ_all and −ℓ_train, with the rows that they are of; None without an event."""
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        found: list[tuple[NDArray[np.intp], Cox | None]] = []
        for first in (0, self.held):
            rows = first + np.flatnonzero(weight[first:] > 0.0)
            some = bool(self.y["event"][rows].any())
            found.append((rows, cox_of(self.y[rows], weight[rows], self.ties) if some else None))
        return found

    @cached_property
    def _lost_by_none(self) -> float:
        return self._lost(np.zeros((len(self.y), 1)))

    def _lost(self, f: Array) -> float:
        """[ℓ_train(f) − ℓ_all(f)]/d."""
        whole, train = (0.0 if risk is None else risk.value(f[rows]) for rows, risk in self._risks)
        weight = 1.0 if self.weight is None else self.weight
        events = float(np.sum((self.y["event"] * weight)[: self.held]))
        return (whole - train) / max(events, 1.0)

    def scores(self, decisions: Sequence[Array]) -> list[tuple[float, float]]:
        """The score and the smooth error of each."""
        return [(self._score(f[:, 0], None), self.error(f)) for f in decisions]

    def score(self, model: Any, X: Any = None) -> tuple[float, float]:
        """The score and the smooth error of a model on X."""
        f = np.asarray(model.predict(X), dtype=np.float64)
        return self._score(f, model), self.error(f[:, None])

    def _score(self, f: Array, model: Any) -> float:
        test = slice(0, self.held)
        y, weight = self.y[test], None if self.weight is None else self.weight[test]
        if self.scorer is not None:
            options = {} if weight is None else {"sample_weight": weight}
            return float(self.scorer(self.stand_in(f[:, None]), None, y, **options))
        late = None if np.all(np.isneginf(y["entry"])) else y["entry"]
        try:
            return concordance_index(y["event"], y["time"], f[test], weight, late, y["stratum"].astype(str))
        except ValueError:  # no pair of which it is known who came first
            return 0.5

    def stand_in(self, f: Array) -> DecidedRisks:
        return DecidedRisks(f[:, 0], self.held, self.y, self.weight, self.ties)

    def decisions(self, decided: Any, kept: NDArray[np.intp], X: Any = None) -> None:
        """Nothing is learned from decisions."""

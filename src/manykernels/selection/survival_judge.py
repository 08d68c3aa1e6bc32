"""Quality of held-out risks: Harrell's C to read, the partial likelihood to choose by."""

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
    """Judges risks f of held-out samples by themselves: what they lose, beside no risks at all,

        x = [R(f) − R(0)]/d,      R minus the logarithm of the partial likelihood, d the number of events,

    and the error is 1 + x, or e^x where that is below 1 (and always positive).
    """

    y: NDArray[Any]  # of the samples held out, `held` of them; then, for scorers, of the training samples
    weight: Array | None  # of the same
    held: int
    ties: str
    scorer: Any  # None: Harrell's C

    def error(self, f: Array) -> float:
        """The smooth error of decisions f (n, 1)."""
        if self._risk is None:
            return 1.0
        rows, risk = self._risk
        return positive((risk.value(f[rows]) - self._without) / float(risk.sets.total.sum()))

    @cached_property
    def _risk(self) -> tuple[NDArray[np.intp], Cox] | None:
        """R and the rows that it is of; None where none of them had an event."""
        weight = np.ones(self.held) if self.weight is None else self.weight[: self.held]
        rows = np.flatnonzero(weight > 0.0)
        if not self.y["event"][rows].any():
            return None
        return rows, cox_of(self.y[rows], weight[rows], self.ties)

    @cached_property
    def _without(self) -> float:
        """R(0)."""
        assert self._risk is not None
        return self._risk[1].value(np.zeros((self._risk[0].size, 1)))

    def scores(self, decisions: Sequence[Array]) -> list[tuple[float, float]]:
        """The score and the smooth error of each set of decisions."""
        return [(self._score(f[:, 0]), self.error(f)) for f in decisions]

    def score(self, model: Any, X: Any = None) -> tuple[float, float]:
        """The score and the smooth error of a model on X."""
        f = np.asarray(model.predict(X), dtype=np.float64)
        return self._score(f), self.error(f[:, None])

    def _score(self, f: Array) -> float:
        y, weight = self.y[: self.held], None if self.weight is None else self.weight[: self.held]
        if self.scorer is not None:
            options = {} if weight is None else {"sample_weight": weight}
            return float(self.scorer(self.stand_in(f[:, None]), None, y, **options))
        f = f[: self.held]
        late = None if np.all(np.isneginf(y["entry"])) else y["entry"]
        try:
            return concordance_index(y["event"], y["time"], f, weight, late, y["stratum"].astype(str))
        except ValueError:  # no pair of which it is known who came first
            return 0.5

    def stand_in(self, f: Array) -> DecidedRisks:
        return DecidedRisks(f[:, 0], self.held, self.y, self.weight, self.ties)

    def decisions(self, decided: Any, kept: NDArray[np.intp], X: Any = None) -> Array:
        """The risks of all samples, which are judged once more together with those of other folds."""
        return np.asarray(decided.predict(X), dtype=np.float64)[: self.held]


def positive(x: float) -> float:
    """1 + x, or e^x for x < 0: as models are compared, errors are positive numbers."""
    return float(np.exp(x)) if x < 0.0 else 1.0 + float(x)


class Together:
    """Risks of samples that were all held out once, each by the model of its fold (Dai and Breheny 2019).

    Few events of a fold are compared with all samples at risk. Training samples could stand in for these, but
    their risks fit their own times: beside those who are known to have lived long, every event looks likely.
    """

    def __init__(
        self, y: NDArray[Any], weight: Array | None, ties: str, held: list[NDArray[np.intp]]
    ) -> None:
        self.held = held
        self.rows = np.concatenate(held)
        w = np.ones(self.rows.size) if weight is None else weight[self.rows]
        fold = np.repeat(np.arange(len(held)), [part.size for part in held])
        used = np.flatnonzero(w > 0.0)
        self.used, self.fold = used, fold[used]
        self.risk = cox_of(y[self.rows[used]], w[used], ties) if y["event"][self.rows[used]].any() else None

    @property
    def whole(self) -> bool:
        """Tell whether no sample was held out twice."""
        return np.unique(self.rows).size == self.rows.size and self.risk is not None

    def errors(self, decisions: list[Array]) -> Array:
        """(folds,): what the events of each fold lose, beside no risks at all."""
        assert self.risk is not None
        f = np.concatenate(decisions)[self.used]
        lost = self._each(f) - self._each(np.zeros_like(f))
        cost = np.where(self.risk.event > 0, self.risk.C, 0.0)
        count = len(self.held)
        total = np.bincount(self.fold, cost, count)
        mean = np.bincount(self.fold, lost, count) / np.where(total > 0.0, total, 1.0)
        return np.array([positive(x) for x in mean])

    def _each(self, f: Array) -> Array:
        """(n,): c_i (log S_i − f_i) of every event, 0 for others."""
        assert self.risk is not None
        sets = self.risk.sets
        ordered = sets.sorted(f)
        logS = np.repeat(sets.sums(ordered)[0], sets.b - sets.a)
        places = np.flatnonzero(sets.c > 0.0)
        lost = np.zeros(f.size)
        lost[places] = sets.c[places] * (logS - ordered[places])
        return sets.given(lost)

"""Samples, targets and weights of a search, and the judge of models on held-out samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..families.remarks import quiet_about_tables
from ..fitting.layout import evenly, take
from ..fitting.samples import Given
from ..fitting.stacks import cut
from ..fitting.survival import read_survival, records_of
from ..fitting.targets import class_costs
from .scoring import Judge
from .survival_judge import SurvivalJudge

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_KEPT = 4000  # decisions of a model in a fold that are kept, at most


@dataclass(frozen=True)
class Data:
    """Samples, targets and weights, and how models are scored."""

    X: Any  # as given, for models of the user's own
    given: Given | None  # the same, read; None where samples are in a Dask collection
    y: NDArray[Any]
    weight: Array | None
    classes: NDArray[Any] | None  # None for regression
    class_weight: Any
    scorer: Any  # None: accuracy, or R²
    covariates: Any = None  # as given beside X
    target: Any = None  # what y holds, once learned

    @property
    def survival(self) -> bool:
        return getattr(self.target, "task", None) == "survival"

    def asked(self, train: Index, test: Index) -> Index:
        """Return the samples whose decisions are needed; scorers of survival also need training samples."""
        return np.concatenate([test, train]) if self.survival and self.scorer is not None else test

    def beside(self, rows: Index) -> dict[str, Any]:
        """Return covariates of some samples as arguments for methods of other models."""
        return {} if self.covariates is None else {"covariates": take(self.covariates, rows)}

    @cached_property
    def targets(self) -> NDArray[Any]:
        """Return y for models of any package, without empty fields of times."""
        return records_of(read_survival(self.y)) if self.survival else self.y

    def part(self, rows: Index, train: Index) -> tuple[Any, NDArray[Any], Array | None]:
        """Take rows of the data as given; of a stack, against the training samples."""
        stack = self.given is not None and self.given.layout.kind == "stack"
        X = cut(self.X, rows, train) if stack else take(self.X, rows)
        return X, self.targets[rows], None if self.weight is None else self.weight[rows]

    def fitted(self, model: Any) -> Any:
        """Fit a model of any package on all samples."""
        weights = {} if self.weight is None else {"sample_weight": self.weight}
        with quiet_about_tables():
            return model.fit(self.X, self.targets, **weights, **self.beside(np.arange(len(self.y))))

    def cost(self, rows: Index) -> Array | None:
        """Return the costs of errors on these samples: weight times the weight of the class."""
        if self.classes is None or self.class_weight is None:
            return None if self.weight is None else self.weight[rows]
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        used = weight > 0  # others may be of no class
        codes = np.searchsorted(self.classes, self.y[used])
        cost = np.zeros(len(self.y))
        cost[used] = weight[used] * class_costs(self.class_weight, self.classes, codes, weight[used])[codes]
        return cost[rows]

    def kept(self, test: Index) -> Index:
        """Which of the held-out samples have decisions that are kept, to learn probabilities from."""
        if self.survival:
            return np.arange(test.size)
        most = 0 if self.classes is None else max(1, _KEPT // self.classes.size)
        return evenly(test.size, most) if most else np.empty(0, dtype=np.intp)

    def judge(
        self,
        train: Index,
        test: Index,
        present: NDArray[Any] | None,
        logistic: bool = False,
        joint: bool = False,
    ) -> Judge | SurvivalJudge:
        """Return the judge of models that were learned without these samples, from the classes `present`."""
        if self.survival:
            assert self.target is not None
            rows = self.asked(train, test)
            weight = None if self.weight is None else self.weight[rows]
            return SurvivalJudge(self.y[rows], weight, test.size, self.target.ties, self.scorer)
        weight = None if self.weight is None else self.weight[test]
        cost = self.cost(test)
        return Judge(self.y[test], weight, cost, self.classes, present, logistic, self.scorer, joint)

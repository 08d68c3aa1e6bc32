"""Scores of a method in the folds of a cross-validation, and what is said of folds where it failed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..estimators import model_of

_TOLD = 2  # reasons that are told, if folds failed for different ones
_LONGEST_REASON = 300  # characters of a reason


class Learner(Protocol):
    """An estimator of any package, of which no more is used than this."""

    def fit(self, X: Any, y: Any) -> Any: ...

    def score(self, X: Any, y: Any) -> Any: ...


@dataclass(frozen=True)
class Fold:
    """Of one method: its score, the seconds it took and the kernels it used, or why it has no score."""

    value: float = float("nan")
    seconds: float = 0.0
    kernels: int | None = None
    error: str = ""


@dataclass
class Scores:
    """Of one method, fold by fold. Its mean is known only if it has a score in each fold that was tried."""

    folds: list[Fold] = field(default_factory=list)
    interrupted: bool = False

    def add(self, one: Fold) -> None:
        self.folds.append(one)

    @property
    def values(self) -> list[float]:
        return [fold.value for fold in self.folds if not fold.error]

    @property
    def failed(self) -> int:
        """The number of folds without a score."""
        return sum(bool(fold.error) for fold in self.folds)

    @property
    def complete(self) -> bool:
        return bool(self.folds) and not self.failed

    @property
    def applies(self) -> bool:
        """Whether it has a score in some fold."""
        return len(self.folds) > self.failed

    @property
    def why(self) -> str:
        """Why folds failed, each reason once; empty where none did."""
        reasons = list(dict.fromkeys(fold.error for fold in self.folds if fold.error))
        told = [
            reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} …"
            for reason in reasons[:_TOLD]
        ]
        return " ".join(told) + (" (Not all reasons are shown.)" if len(reasons) > _TOLD else "")

    @property
    def error(self) -> str:
        """What is told in the place of a mean; empty where there is one."""
        if not self.failed:
            return ""
        return f"failed in {self.failed} of {len(self.folds)} folds: {self.why}"

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.complete else -np.inf

    @property
    def std(self) -> float:
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def shown(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values; a fold without a score is None."""
        kernels = [fold.kernels for fold in self.folds if fold.kernels is not None]
        return {
            "mean": self.mean if self.complete else None,
            "std": self.std if self.complete else None,
            "folds": [None if fold.error else fold.value for fold in self.folds],
            "seconds": sum(fold.seconds for fold in self.folds),
            "kernels": float(np.mean(kernels)) if kernels else None,
            "error": self.error or None,
        }


def score_fold(learner: Learner, part: Callable[[Any], tuple[Any, Any]], train: Any, test: Any) -> Fold:
    """Fit on some rows and score on others; ``part`` gives the X and y of rows."""
    started = time.perf_counter()
    try:
        learner.fit(*part(train))
        value = float(learner.score(*part(test)))
    except (ValueError, TypeError) as error:  # of a method that is not for these data
        return Fold(seconds=time.perf_counter() - started, error=" ".join(str(error).split()))
    seconds = time.perf_counter() - started
    if not np.isfinite(value):
        return Fold(seconds=seconds, error=f"the score is {value}.")
    try:
        return Fold(value, seconds, model_of(learner)[0].active.size)
    except (TypeError, AttributeError):
        return Fold(value, seconds)  # a rival without kernels of ours

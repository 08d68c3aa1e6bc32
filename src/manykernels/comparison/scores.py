"""Scores of a method in the folds of a cross-validation, and what is said of folds where it failed."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, check_scoring, r2_score
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import has_fit_parameter

from .._arguments import shortened
from ..estimators import model_of, opened
from ..families.remarks import TableWarning
from ..selection.survival import ConcordanceScorer

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
    warnings: tuple[str, ...] = ()
    predicted: Any = None  # for the samples that are scored, where it was asked for


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
    def why(self) -> str:
        """Why folds failed, each reason once; empty where none did."""
        reasons = list(dict.fromkeys(fold.error for fold in self.folds if fold.error))
        told = [shortened(reason, _LONGEST_REASON) for reason in reasons[:_TOLD]]
        told = [reason.removesuffix(".") for reason in told[:-1]] + told[-1:]
        return "; ".join(told) + (" (Not all reasons are shown.)" if len(reasons) > _TOLD else "")

    @property
    def error(self) -> str:
        """What is told in the place of a mean; empty where there is one."""
        if not self.failed:
            return ""
        return f"failed in {self.failed} of {len(self.folds)} folds: {self.why}"

    @property
    def warned(self) -> list[str]:
        """What was warned of in folds, each once, with the number of folds."""
        counts = Counter(text for fold in self.folds for text in fold.warnings)
        return [f"{text} (in {n} of {len(self.folds)} folds)" for text, n in counts.items()]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.complete else -np.inf

    @property
    def std(self) -> float:
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def shown(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f}" if len(self.values) > 1 else f"{self.mean:.3f}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values; a fold without a score is None."""
        kernels = [fold.kernels for fold in self.folds if fold.kernels is not None]
        return {
            "mean": self.mean if self.complete else None,
            "std": self.std if self.complete and len(self.values) > 1 else None,
            "folds": [None if fold.error else fold.value for fold in self.folds],
            "seconds": sum(fold.seconds for fold in self.folds),
            "kernels": float(np.mean(kernels)) if kernels else None,
            "error": self.error or None,
        }


def score_fold(
    learner: Any,
    X: Any,
    y: Any,
    train: Any,
    test: Any,
    *,
    scoring: Any = None,
    weight: Any = None,
    keep: bool = False,
) -> Fold:
    """Fit on some rows and score on others. What fails has a reason in place of a score.

    Samples may have weights, in the fit and in the score. With `keep`, the fold has the predictions too.
    """
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", TableWarning)  # of the whole table all has been said
        try:
            learner.fit(*_part(learner, X, y, train, None), **_weights(learner, weight, train))
            told = {} if weight is None else {"sample_weight": weight[test]}
            score = _scorer(learner, scoring, weight is not None)
            part = _part(learner, X, y, test, train)
            value = float(score(*part, **told))
            predicted = learner.predict(part[0]) if keep else None
            error = "" if np.isfinite(value) else f"the score is {value}."
        except Exception as problem:  # of whatever kind: an estimator of another package may raise any
            value, error = float("nan"), _told(problem)
    seconds = time.perf_counter() - started
    said = tuple(dict.fromkeys(" ".join(str(one.message).split()) for one in caught))
    if error:
        return Fold(seconds=seconds, error=error, warnings=said)
    return Fold(value, seconds, _kernels(learner), warnings=said, predicted=predicted)


def _part(learner: Learner, X: Any, y: Any, rows: Any, train: Any) -> tuple[Any, Any]:
    """Rows of the samples; of kernels between samples, the columns of the training rows too."""
    return tuple(_safe_split(learner, X, y, rows, train))


def _weights(learner: Any, weight: Any, rows: Any) -> dict[str, Any]:
    """What ``fit`` is told of the weights of some rows."""
    return {} if weight is None else {_weight_of(learner): weight[rows]}


def _weight_of(learner: Any) -> str:
    """What the argument is called: in a pipeline the last step gets it, in a search what it searches for."""
    if isinstance(learner, BaseSearchCV):
        return _weight_of(learner.estimator)
    parts = opened(learner)
    if parts.name:
        return f"{parts.name}__{_weight_of(parts.last)}"
    if not has_fit_parameter(learner, "sample_weight"):
        raise ValueError(f"{type(learner).__name__}.fit takes no sample_weight.")
    return "sample_weight"


def _scorer(learner: Any, scoring: Any, weighted: bool) -> Any:
    """What gives the score of (X, y): the learner's own, or that of a name or function of scikit-learn."""
    if scoring is None and weighted:  # which not every score takes
        return partial(_weighted_score, learner)
    if scoring is None:
        return learner.score
    scorer = check_scoring(learner, scoring)
    return partial(scorer, learner)


def _weighted_score(learner: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Accuracy, R², or Harrell's C of times to an event, with weights."""
    if getattr(getattr(y, "dtype", None), "names", None) is not None:
        return ConcordanceScorer()(learner, X, y, sample_weight)
    kind = accuracy_score if is_classifier(learner) else r2_score
    return float(kind(y, learner.predict(X), sample_weight=sample_weight))


def _told(problem: Exception) -> str:
    """The reason for people: what we and scikit-learn raise says it all, other errors need their kind."""
    text = " ".join(str(problem).split())
    if text.startswith("could not convert string to float"):
        text += (
            " (manykernels.estimators.TablePreparer() before it in a pipeline makes numbers of a raw table)"
        )
    return (
        text if text and isinstance(problem, ValueError | TypeError) else f"{type(problem).__name__}: {text}"
    )


def _kernels(learner: Any) -> int | None:
    """How many kernels have weight; None for a learner of another package."""
    try:
        return int(model_of(learner)[0].active.size)
    except (TypeError, AttributeError):
        return None

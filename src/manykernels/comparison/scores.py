"""Scores of a method in the folds of a cross-validation, and reasons for folds that failed."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable
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
from .grouped import keep_together

Look = Callable[[Any, Any, Any], Any]  # of a fitted model, the samples it is scored on and their targets
_TOLD = 2  # reasons that are told, if folds failed for different ones
_LONGEST_REASON = 300  # characters of a reason


class Learner(Protocol):
    """The methods that an estimator of any package must have."""

    def fit(self, X: Any, y: Any) -> Any: ...

    def score(self, X: Any, y: Any) -> Any: ...


@dataclass(frozen=True)
class Fold:
    """The result of one method in one fold: score, seconds and kernels, or the reason why it has no score."""

    value: float = float("nan")
    seconds: float = 0.0
    kernels: int | None = None
    error: str = ""
    warnings: tuple[str, ...] = ()
    kept: Any = None  # what `keep` made of the fitted model and the samples that are scored


@dataclass
class Scores:
    """Scores of one method, fold by fold.

    Parameters
    ----------
    folds : list of Fold, default=[]
        The result in each fold: a value, or the reason why there is none.
    interrupted : bool, default=False
        Whether the comparison was stopped before all folds were done.

    Attributes
    ----------
    values : list of float
        The scores of the folds that have one.
    failed : int
        The number of folds without a score.
    complete : bool
        Whether every fold that was tried has a score.
    mean : float
        The mean over the folds; −∞ if a fold has no score.
    std : float
        The standard deviation over the folds.
    shown : str
        The mean and the standard deviation as text.
    why : str
        The reasons for which folds failed.
    error : str
        The text in place of a mean. Empty if there is one.
    warned : list of str
        The warnings of the folds, each once.

    Examples
    --------
    >>> from manykernels.comparison import Scores
    >>> from manykernels.comparison.scores import Fold
    >>> scores = Scores([Fold(0.9), Fold(0.7)])
    >>> print(scores.shown)
    0.800 ± 0.141
    """

    folds: list[Fold] = field(default_factory=list)
    interrupted: bool = False

    def add(self, one: Fold) -> None:
        """Add the result of one fold.

        Parameters
        ----------
        one : Fold
            The result.

        Examples
        --------
        >>> from manykernels.comparison import Scores
        >>> from manykernels.comparison.scores import Fold
        >>> scores = Scores()
        >>> scores.add(Fold(0.9))
        >>> scores.add(Fold(0.7))
        >>> scores.values
        [0.9, 0.7]
        """
        self.folds.append(one)

    @property
    def values(self) -> list[float]:
        """The scores of the folds that have one."""
        return [fold.value for fold in self.folds if not fold.error]

    @property
    def failed(self) -> int:
        """The number of folds without a score."""
        return sum(bool(fold.error) for fold in self.folds)

    @property
    def complete(self) -> bool:
        """True if every fold that was tried has a score."""
        return bool(self.folds) and not self.failed

    @property
    def why(self) -> str:
        """The reasons for which folds failed, each once; empty if none failed."""
        reasons = list(dict.fromkeys(fold.error for fold in self.folds if fold.error))
        told = [shortened(reason, _LONGEST_REASON) for reason in reasons[:_TOLD]]
        told = [reason.removesuffix(".") for reason in told[:-1]] + told[-1:]
        return "; ".join(told) + (" (Not all reasons are shown.)" if len(reasons) > _TOLD else "")

    @property
    def error(self) -> str:
        """The text in place of a mean; empty if there is one."""
        if not self.failed:
            return ""
        return f"failed in {self.failed} of {len(self.folds)} folds: {self.why}"

    @property
    def warned(self) -> list[str]:
        """The warnings of the folds, each once, with the number of folds."""
        counts = Counter(text for fold in self.folds for text in fold.warnings)
        return [f"{text} (in {n} of {len(self.folds)} folds)" for text, n in counts.items()]

    @property
    def mean(self) -> float:
        """The mean over the folds; −∞ if a fold has no score."""
        return float(np.mean(self.values)) if self.complete else -np.inf

    @property
    def std(self) -> float:
        """The standard deviation over the folds; 0 for one fold."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def shown(self) -> str:
        """The mean and the standard deviation as text."""
        text = f"{self.mean:.3f} ± {self.std:.3f}" if len(self.values) > 1 else f"{self.mean:.3f}"
        return text.replace("-", "−")

    def as_dict(self) -> dict[str, Any]:
        """Return the scores as plain values.

        Returns
        -------
        dict
            With the keys ``mean``, ``std``, ``folds``, ``seconds``, ``kernels`` and ``error``. A fold without
            a score is None.

        Examples
        --------
        A fold that failed leaves no mean:

        >>> from manykernels.comparison import Scores
        >>> from manykernels.comparison.scores import Fold
        >>> found = Scores([Fold(0.9), Fold(error="one class only.")]).as_dict()
        >>> found["folds"], found["mean"]
        ([0.9, None], None)
        >>> found["error"]
        'failed in 1 of 2 folds: one class only.'
        """
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
    groups: Any = None,
    keep: Look | None = None,
) -> Fold:
    """Fit on some rows and score on others; a failure has a reason in place of a score.

    Samples may have weights, in the fit and in the score, and groups, which a search in the learner keeps
    together (it is changed for that). The fold has what `keep` makes of the fitted model
    and the samples that it is scored on: its predictions, for example.
    """
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", TableWarning)  # of the whole table all has been said
        try:
            known = _part(learner, X, y, train, None)
            keep_together(learner, known[1], None if groups is None else groups[train])
            learner.fit(*known, **_weights(learner, weight, train))
            told = {} if weight is None else {"sample_weight": weight[test]}
            score = _scorer(learner, scoring, weight is not None)
            part = _part(learner, X, y, test, train)
            value = float(score(*part, **told))
            seen = None if keep is None else keep(learner, *part)
            error = "" if np.isfinite(value) else f"the score is {value}."
        except Exception as problem:  # of whatever kind: an estimator of another package may raise any
            value, error = float("nan"), _told(problem)
    seconds = time.perf_counter() - started
    said = tuple(dict.fromkeys(" ".join(str(one.message).split()) for one in caught))
    if error:
        return Fold(seconds=seconds, error=error, warnings=said)
    return Fold(value, seconds, _kernels(learner), warnings=said, kept=seen)


def _part(learner: Learner, X: Any, y: Any, rows: Any, train: Any) -> tuple[Any, Any]:
    """Take rows of the samples; of kernels between samples also the columns of the training rows."""
    return tuple(_safe_split(learner, X, y, rows, train))


def _weights(learner: Any, weight: Any, rows: Any) -> dict[str, Any]:
    """Return the arguments that give ``fit`` the weights of some rows."""
    return {} if weight is None else {_weight_of(learner): weight[rows]}


def _weight_of(learner: Any) -> str:
    """Return the name of the argument, which depends on pipelines and searches around the learner."""
    if isinstance(learner, BaseSearchCV):
        return _weight_of(learner.estimator)
    parts = opened(learner)
    if parts.name:
        return f"{parts.name}__{_weight_of(parts.last)}"
    if not has_fit_parameter(learner, "sample_weight"):
        raise ValueError(f"{type(learner).__name__}.fit takes no sample_weight.")
    return "sample_weight"


def _scorer(learner: Any, scoring: Any, weighted: bool) -> Any:
    """Return the function that scores (X, y): the learner's own, or that of a name or scorer."""
    if scoring is None and weighted:  # which not every score takes
        return partial(_weighted_score, learner)
    if scoring is None:
        return learner.score
    scorer = check_scoring(learner, scoring)
    return partial(scorer, learner)


def _weighted_score(learner: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Compute the accuracy, R² or Harrell's C, with weights."""
    if getattr(getattr(y, "dtype", None), "names", None) is not None:
        return ConcordanceScorer()(learner, X, y, sample_weight)
    kind = accuracy_score if is_classifier(learner) else r2_score
    return float(kind(y, learner.predict(X), sample_weight=sample_weight))


def _told(problem: Exception) -> str:
    """Return the message of an error; errors other than ValueError and TypeError with their type."""
    text = " ".join(str(problem).split())
    if text.startswith("could not convert string to float"):
        text += (
            " (manykernels.estimators.TablePreparer() before it in a pipeline makes numbers of a raw table)"
        )
    return (
        text if text and isinstance(problem, ValueError | TypeError) else f"{type(problem).__name__}: {text}"
    )


def _kernels(learner: Any) -> int | None:
    """Count the kernels with weight; None for a learner of another package."""
    try:
        return int(model_of(learner)[0].active.size)
    except (TypeError, AttributeError):
        return None

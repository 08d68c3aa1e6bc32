"""Quality of held-out decisions: a score to read, and a smooth error to choose by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer_names, log_loss, make_scorer

from .._arguments import did_you_mean, shown
from ..fitting.targets import log_probabilities
from .calibration import crossed

Array = NDArray[np.float64]


class Decided(BaseEstimator):
    """Stands for a fitted model whose decisions on the samples to score are known."""

    def __init__(self, f: Array, classes: NDArray[Any] | None = None) -> None:
        self.f, self.classes = f, classes

    def __sklearn_is_fitted__(self) -> bool:
        return True


class DecidedClassifier(ClassifierMixin, Decided):
    def __init__(
        self,
        f: Array,
        classes: NDArray[Any] | None = None,
        logistic: bool = False,
        joint: bool = False,
        y: NDArray[Any] | None = None,
        cost: Array | None = None,
    ) -> None:
        super().__init__(f, classes)
        self.logistic = logistic
        self.joint = joint
        self.y = y
        self.cost = cost

    @property
    def classes_(self) -> Any:
        return self.classes

    def decision_function(self, X: Any) -> Array:
        return self.f[:, 0] if self.f.shape[1] == 1 else self.f

    def predict(self, X: Any) -> NDArray[Any]:
        assert self.classes is not None
        f = self.f
        return np.asarray(self.classes[f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)])

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the loss, or calibrated ones, each from other held-out samples."""
        if self.logistic:
            return np.asarray(np.exp(log_probabilities(self.f)))
        assert self.classes is not None and self.y is not None
        return np.asarray(np.exp(crossed(self.f, self.y, self.classes, self.cost)))


class DecidedRegressor(RegressorMixin, Decided):
    def predict(self, X: Any) -> Array:
        return self.f[:, 0] if self.f.shape[1] == 1 else self.f


class Adjusted(BaseEstimator):
    """A fitted model together with the covariates of the samples that it is asked about."""

    def __init__(self, model: Any, beside: dict[str, Any]) -> None:
        self.model, self.beside = model, beside

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model" not in self.__dict__:
            raise AttributeError(name)
        found = getattr(self.model, name)
        asked = name in ("predict", "decision_function", "predict_proba", "predict_log_proba")
        return partial(found, **self.beside) if asked else found


@dataclass(frozen=True)
class Judge:
    """Judges decisions on held-out samples with these targets, weights and costs."""

    y: NDArray[Any]
    weight: Array | None  # of scores
    cost: Array | None  # of errors, by which models are chosen
    classes: NDArray[Any] | None  # all of them; None for regression
    present: NDArray[Any] | None  # those that there were to learn from
    logistic: bool
    scorer: Any  # None: accuracy, or R²
    joint: bool = False  # whether decisions of several classes mean something beside each other only

    def stand_in(self, f: Array) -> Decided:
        """A model with decisions f (n, outputs)."""
        if self.classes is None or self.present is None:
            return DecidedRegressor(f)
        f = all_classes(f, self.present, self.classes)
        return DecidedClassifier(f, self.classes, self.logistic, self.joint, self.y, self.cost)

    def error(self, f: Array) -> float:
        """The smooth error of decisions f."""
        return smooth_error(self.stand_in(f), None, self.y, self.cost, self.classes)

    def row_errors(self, f: Array) -> Array:
        """The error of each sample, times its cost over the mean cost."""
        return self.errors_of(self.stand_in(f))

    def errors_of(self, decided: Any, X: Any = None) -> Array:
        """The error of each sample by a model on X, or by a stand-in for its decisions."""
        errors = row_errors(decided, X, self.y, self.classes)
        return errors if self.cost is None else np.asarray(errors * self.cost / max(self.cost.mean(), 1e-300))

    def scores(self, decisions: Sequence[Array]) -> list[tuple[float, float]]:
        """The score and the smooth error of each set of decisions."""
        return [self.score(self.stand_in(f)) for f in decisions]

    def decisions(self, decided: Any, kept: NDArray[np.intp], X: Any = None) -> NDArray[np.float32] | None:
        """Return the decisions of a classifier on some of the samples; None for regression."""
        if self.classes is None:
            return None
        return decisions_of(decided, X, self.classes)[kept].astype(np.float32)

    def score(self, decided: Any, X: Any = None) -> tuple[float, float]:
        """The score and the smooth error of a model on X, or of one that stands for its decisions."""
        options = {} if self.weight is None else {"sample_weight": self.weight}
        if self.scorer is None:
            score = score_of(decided.predict(X), self.y, self.weight, self.classes)
        else:
            score = float(self.scorer(self._with_probabilities(decided, X), X, self.y, **options))
        return score, smooth_error(decided, X, self.y, self.cost, self.classes)

    def _with_probabilities(self, decided: Any, X: Any) -> Any:
        """The model, or one with its decisions where it has no probabilities of its own, such as an SVC."""
        if self.classes is None or hasattr(decided, "predict_proba"):
            return decided
        f = decisions_of(decided, X, self.classes)
        return DecidedClassifier(f, self.classes, y=self.y, cost=self.cost)


def require_score(scoring: Any) -> None:
    """Raise an error about a score that has no such name: scikit-learn's lists all names, in any order."""
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise ValueError(
            f"scoring={shown(scoring)} was given, and scikit-learn has no score of this name."
            f"{did_you_mean(scoring, get_scorer_names())} Expected such as 'accuracy', 'roc_auc' or 'r2'; "
            "sklearn.metrics.get_scorer_names() lists all."
        )


def require_several_classes(scoring: str, count: int) -> None:
    """Raise an error if a score of two classes is asked for more: scikit-learn's own names no other score."""
    if scoring == "roc_auc":
        raise ValueError(
            f"scoring='roc_auc' was given, which is for two classes, and y has {count}. Take 'roc_auc_ovr' "
            "(each class against the others) or 'roc_auc_ovo' (each pair of classes)."
        )


def scorer_of_log_loss(classes: NDArray[Any]) -> Any:
    """scikit-learn's "neg_log_loss", also for folds that lack some of the classes."""
    return make_scorer(
        log_loss, response_method="predict_proba", greater_is_better=False, labels=list(classes)
    )


def all_classes(f: Array, present: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Decisions for all classes, where some had no sample to train on: those are never chosen."""
    if present.size == classes.size:
        return f
    if f.shape[1] == 1:
        f = np.hstack([-f, f])
    full = np.full((len(f), classes.size), float(f.min(initial=0.0)) - 1.0)
    full[:, np.searchsorted(classes, present)] = f
    return full


def score_of(f: Any, y: Any, weight: Any, classes: NDArray[Any] | None) -> float:
    """The accuracy or R² (the mean over outputs), without the checks of scikit-learn's, which cost more."""
    w = np.ones(len(y)) if weight is None else weight
    if not w.sum():
        return 0.0
    if classes is not None:
        return float(np.average(np.asarray(f) == y, weights=w))
    residual, spread = (y - f) ** 2, (y - np.average(y, axis=0, weights=w)) ** 2
    lost, total = np.average(residual, axis=0, weights=w), np.average(spread, axis=0, weights=w)
    varies = total > 0.0
    explained = np.where(varies, 1.0 - lost / np.where(varies, total, 1.0), np.where(lost > 0.0, 0.0, 1.0))
    return float(np.mean(explained))


def smooth_error(decided: Any, X: Any, y: Any, weight: Any, classes: NDArray[Any] | None) -> float:
    """The mean squared error of the predictions, or of decisions clipped to ±1 around the right label."""
    w = np.ones(len(y)) if weight is None else weight
    return float(np.average(row_errors(decided, X, y, classes), weights=w)) if w.sum() else 0.0


def row_errors(decided: Any, X: Any, y: Any, classes: NDArray[Any] | None) -> Array:
    """Compute the error of every sample."""
    if classes is None:
        residual = np.asarray(decided.predict(X)) - y
        return np.asarray(residual**2 if residual.ndim == 1 else np.mean(residual**2, axis=1))
    f = decisions_of(decided, X, classes)
    f = np.clip(margins(f) if getattr(decided, "joint", False) else f, -1.0, 1.0)
    if f.shape[1] == 1:
        return np.asarray((f[:, 0] - np.where(y == classes[1], 1.0, -1.0)) ** 2)
    return np.asarray(np.mean((f - np.where(np.asarray(y)[:, None] == classes, 1.0, -1.0)) ** 2, axis=1))


def margins(f: Array) -> Array:
    """f_c − max_{d ≠ c} f_d of decisions (n, k) for several classes: the multiclass hinge wants ±1."""
    if f.shape[1] < 2:
        return f
    rows, top = np.arange(len(f)), f.argmax(axis=1)
    others = f.copy()
    others[rows, top] = -np.inf
    rival = np.repeat(f.max(axis=1)[:, None], f.shape[1], axis=1)
    rival[rows, top] = others.max(axis=1)
    return np.asarray(f - rival)


def decisions_of(decided: Any, X: Any, classes: NDArray[Any]) -> Array:
    """(n, classes), or (n, 1) for two: decisions, or probabilities or labels on the scale from −1 to 1."""
    present = np.asarray(decided.classes_)
    f = np.empty((0, 0))
    if hasattr(decided, "decision_function"):
        f = np.asarray(decided.decision_function(X))
        f = f.reshape(len(f), -1)
    elif hasattr(decided, "predict_proba"):
        f = 2.0 * np.asarray(decided.predict_proba(X)) - 1.0
    expected = (1, 2) if present.size == 2 else (present.size,)
    if f.shape[1] not in expected:  # there is none, or one for each pair of classes
        f = np.where(np.asarray(decided.predict(X))[:, None] == present, 1.0, -1.0)
    return all_classes(f, present, classes)

"""What the models of the folds say of the samples that they did not learn from, gathered while they score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparison.folds import Splits
from ..comparison.scores import Scores
from .samples import chosen_samples, joined_samples

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """Predictions and explanations of the samples that one fold held out."""

    predicted: Any
    decided: Any = None  # decisions (samples,) or (samples, classes)
    probability: Any = None  # (samples, classes)
    classes: Any = None
    samples: dict[str, Any] | None = None  # those worth a look
    why: str = ""  # there are none of these


@dataclass(frozen=True)
class Look:
    """Asks a model that was learned in a fold; with `explain`, also for samples worth a look."""

    explain: bool = True

    def __call__(self, model: Any, X: Any, y: Any) -> Seen:
        found = {
            name: np.asarray(getattr(model, method)(X))
            for name, method in (("decided", "decision_function"), ("probability", "predict_proba"))
            if hasattr(model, "classes_") and hasattr(model, method)
        }
        told = {**found, "classes": getattr(model, "classes_", None)}
        samples, why = _samples(model, X, y) if self.explain else (None, "")
        return Seen(np.asarray(model.predict(X)), samples=samples, why=why, **told)


def _samples(model: Any, X: Any, y: Any) -> tuple[dict[str, Any] | None, str]:
    try:
        return chosen_samples(model, X, y, each=1), ""
    except (TypeError, ValueError) as error:  # TypeError: of another package
        return None, " ".join(str(error).split())


@dataclass(frozen=True)
class HeldOut:
    """All samples that were held out, fold after fold: a sample that several folds held out is there again.

    ``rows`` are those of the samples, ``fold`` says which model was asked.
    """

    rows: NDArray[np.intp]
    fold: NDArray[np.intp]
    predicted: Any
    decided: Any = None
    probability: Any = None
    classes: Any = None
    splits: Splits = field(default_factory=list)
    seen: Sequence[Seen] = ()

    def samples(self, called: Any) -> dict[str, Any] | None:
        """Return the samples worth a look, or raise an error that says why there are none."""
        parts = [one.samples for one in self.seen if one.samples is not None]
        if len(parts) < len(self.seen):
            why = next((one.why for one in self.seen if one.why), "")
            if why:
                raise ValueError(why)
            return None
        return joined_samples(parts, [test for _, test in self.splits], called)


def gathered(scores: Scores, splits: Splits) -> HeldOut | None:
    """Return the held-out predictions of a scored model; None if a fold failed or was stopped."""
    if not scores.complete or scores.interrupted or len(scores.folds) != len(splits):
        return None
    seen: list[Seen] = [fold.kept for fold in scores.folds]
    if any(one is None for one in seen):
        return None
    tests = [np.asarray(test) for _, test in splits]
    first = seen[0]
    same = first.classes is None or all(np.array_equal(one.classes, first.classes) for one in seen)
    return HeldOut(
        np.concatenate(tests),
        np.repeat(np.arange(len(tests)), [len(test) for test in tests]),
        np.concatenate([one.predicted for one in seen]),
        _all([one.decided for one in seen]) if same else None,
        _all([one.probability for one in seen]) if same else None,
        first.classes if same else None,
        list(splits),
        seen,
    )


def _all(parts: Sequence[Any]) -> Any:
    """All folds together; None where one has nothing."""
    return None if any(part is None for part in parts) else np.concatenate(parts)

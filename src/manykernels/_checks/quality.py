"""MK5xx: is the model good for anything?"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Facts, Rule

_CHANCE = {"regression": (0.0, "R²"), "survival": (0.5, "C index")}
_BEYOND = 0.1  # of the range of the targets
_OUTSIDE = 0.05  # of the predictions


def no_better(facts: Facts) -> str | None:
    """The sentence of a model that scores no better than a constant does."""
    if facts.guessing is not None:
        return None if facts.guessing.better else facts.guessing.sentence
    search = facts.searched
    if search is None or search.by == "score":
        return None
    constant, metric = _CHANCE.get(facts.task, (None, "accuracy"))
    if constant is None and facts.y is not None and facts.task == "classification":
        constant = float(np.unique(np.asarray(facts.y), return_counts=True)[1].max() / len(facts.y))
    if constant is None:
        return None
    score = search.comparison["score"][search.comparison["strategy"].index(search.best["strategy"])]
    if score > constant:
        return None
    return f"The best {metric} of the search is {score:.3f}, and a constant prediction scores {constant:.3f}."


def _plain_sum(facts: Facts) -> str | None:
    if facts.plain_sum is None or facts.plain_sum.better or no_better(facts) is not None:
        return None
    return facts.plain_sum.sentence


def _predicted(facts: Facts) -> str | None:
    if facts.predicted is None or facts.y is None or facts.task != "regression":
        return None
    y, f = np.asarray(facts.y, dtype=np.float64), np.asarray(facts.predicted, dtype=np.float64)
    return predicted_outside(y.min(), y.max(), f) if y.ndim == f.ndim == 1 else None


def predicted_outside(low: float, high: float, predicted: Any) -> str | None:
    """The sentence about predictions far from all targets of the training samples, low to high."""
    f, room = np.asarray(predicted, dtype=np.float64), _BEYOND * (high - low)
    outside = float(np.mean((f < low - room) | (f > high + room)))
    if outside <= _OUTSIDE:
        return None
    return (
        f"{100 * outside:.0f} % of the predictions lie outside of the range of the training targets, "
        f"{low:.3g} to {high:.3g}."
    )


QUALITY = (
    Rule(
        "MK501",
        "The model is no better than guessing",
        "Do not interpret its weights. Look for other columns or kernels, or for more samples.",
        no_better,
    ),
    Rule(
        "MK502",
        "The weights are no better than the plain sum",
        "If only the prediction counts, take the plain sum (--method uniform, in Python norm=math.inf). Do "
        "not conclude from a small weight that a view is useless.",
        _plain_sum,
    ),
    Rule(
        "MK503",
        "Predictions lie outside of the targets",
        "Look at these samples, lower C, or predict a logarithm or a share instead.",
        _predicted,
    ),
)

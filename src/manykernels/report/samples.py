"""Samples worth a look, and what each kernel adds to the decision on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..fitting.functions import PowerFunction
from ..fitting.layout import evenly, take
from ..fitting.model import Model
from ..plots.reading import part_names, parts_of
from .scores import task_of
from .survival import striking

_EACH = 2  # samples of a sort
_LOOKED_AT = 2000
MOST_OUTPUTS = 12  # that are told one by one


@dataclass(frozen=True)
class Said:
    """What an estimator says of samples as users give them; None where it has nothing to say."""

    predict: Callable[[Any], Any] | None
    decide: Callable[[Any], Any] | None  # about classes


def chosen_samples(
    model: Model, said: Said, X: Any, inner: Any, y: Any, names: Sequence[Any] | None = None
) -> dict[str, Any] | None:
    """The surest, the least sure and the worst, by what is said of the training data.

    `X` is what the estimator is given, `inner` what its kernels get. With several classes or outputs, the
    parts are those of the decision for the predicted class, or for the first output. `names` are those of
    the samples, where they have any.
    """
    if model.function is None or isinstance(model.function, PowerFunction):  # a power of a sum has no parts
        return None
    if model.active.size < 2:  # one kernel decides everything
        return None
    outputs = model.function.intercept.size
    if model.classes is None and outputs > MOST_OUTPUTS:
        raise ValueError(
            f"the model has {outputs} targets. contributions(X, outputs=[...]) says what each kernel adds to "
            "the prediction of some of them."
        )
    assert said.predict is not None
    rows = evenly(_num_samples(X), _LOOKED_AT)
    truth, predicted = np.asarray(take(y, rows)), np.asarray(said.predict(take(X, rows)))
    if task_of(model) == "survival":
        orders, words = striking(truth, predicted)
        truth = np.array(words, dtype=object)
    elif model.classes is None:
        orders = _by_number(truth, predicted)
    else:
        assert said.decide is not None
        orders = _by_class(np.asarray(said.decide(take(X, rows))), truth, predicted, model.classes)
    picked: dict[int, str] = {}
    for why, order in orders.items():
        new = [int(i) for i in order if int(i) not in picked][:_EACH]
        picked.update(dict.fromkeys(new, why))
    index = list(picked)
    parts, intercept = parts_of(model, take(inner, rows[index]))
    samples = []
    for s, i in enumerate(index):
        own, constant = parts[s], intercept
        if own.ndim == 2:
            k = 0 if model.classes is None else int(np.flatnonzero(model.classes == predicted[i])[0])
            own, constant = own[:, k], intercept[k]
        samples.append(
            {
                "row": int(rows[i]),
                "name": None if names is None else str(names[int(rows[i])]),
                "why": picked[i],
                "truth": _shown(truth[i]),
                "predicted": _shown(predicted[i]),
                "parts": own,
                "intercept": float(constant),
                "decision": float(own.sum() + float(constant)),
            }
        )
    return {"names": part_names(model), "samples": samples}


def names_of_samples(X: Any, given: Sequence[Any] | None) -> list[str] | None:
    """What the samples are called: as given, or by the index of a frame that does more than count them."""
    index = getattr(X, "index", None)
    if given is None and index is not None and not callable(index):
        values = list(index)
        given = None if values == list(range(len(values))) else values
    return None if given is None else [str(name) for name in given]


def _by_class(f: Any, truth: Any, predicted: Any, classes: Any) -> dict[str, Any]:
    """Orders of the samples by their decisions f, the most striking first."""
    if f.ndim == 1:
        sure = np.abs(f)
    else:
        best = np.sort(f, axis=1)
        sure = best[:, -1] - best[:, -2]
    wrong = np.flatnonzero(truth.astype(str) != predicted.astype(str))
    orders = {"wrong": wrong[np.argsort(-sure[wrong], kind="stable")]}
    orders["hardly decided"] = np.argsort(sure, kind="stable")
    for label in classes[:4]:
        own = np.flatnonzero((predicted == label) & (truth.astype(str) == str(label)))
        orders[f"surely {label}"] = own[np.argsort(-sure[own], kind="stable")]
    return orders


def _by_number(truth: Any, predicted: Any) -> dict[str, Any]:
    """The same for numbers."""
    first = predicted.reshape(len(predicted), -1)[:, 0]
    error = np.abs(truth.reshape(len(truth), -1)[:, 0] - first)
    return {
        "largest error": np.argsort(-error, kind="stable"),
        "highest": np.argsort(-first, kind="stable"),
        "lowest": np.argsort(first, kind="stable"),
        "typical": np.argsort(np.abs(first - np.median(first)), kind="stable"),
    }


def _shown(value: Any) -> str:
    if np.ndim(value):
        return ", ".join(f"{v:.4g}" for v in value)
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)

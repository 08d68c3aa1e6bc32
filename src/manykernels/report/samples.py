"""Samples worth a look: what is said of them, which of their values decide it, and what each kernel adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples

from ..estimators import model_of
from ..fitting.functions import PowerFunction
from ..fitting.layout import evenly, take
from ..fitting.model import Model
from ..inspection.effects import swaps
from ..kernels.cells import column_of, is_missing
from ..kernels.data import is_stack
from ..plots.reading import part_names, parts_of
from .names import number_shown
from .scores import task_of
from .survival import Ranked, striking

Index = NDArray[np.intp]
_EACH = 2  # samples of a sort
_LOOKED_AT = 2000
_MOST_COLUMNS = 60  # whose values are exchanged, one column at a time
_TOLD = 8  # columns of a sample that are told
MOST_OUTPUTS = 12  # that are told one by one


def chosen_samples(
    estimator: Any, X: Any, y: Any, names: Sequence[Any] | None = None, each: int = _EACH
) -> dict[str, Any] | None:
    """The surest, the least sure and the worst of some samples, by what a fitted estimator says of them.

    With several classes or outputs, the decision is that for the predicted class, or for the first output.
    `names` are those of the samples, where they have any.
    """
    model, inner = model_of(estimator, X)
    if not hasattr(estimator, "predict"):
        return None
    rows = evenly(_num_samples(X), _LOOKED_AT)
    seen = take(X, rows)
    picked, predicted, words = _picked(estimator, model, seen, take(y, rows), each)
    index = list(picked)
    parts, intercept = _parts(model, take(inner, rows[index]))
    blocks = _blocks(seen)
    if parts is None and not blocks:
        return None
    samples = []
    for s, i in enumerate(index):
        k = _output(model, predicted[i])
        why, strength = picked[i]
        one = {
            "row": int(rows[i]),
            "name": None if names is None else str(names[int(rows[i])]),
            "why": why,
            "strength": strength,
            "truth": shown(words[i]),
            "predicted": shown(predicted[i]),
            "columns": _columns(estimator, seen, i, blocks, k),
        }
        samples.append(one | _decision(parts, intercept, s, k))
    return {"names": [] if parts is None else part_names(model), "samples": samples, "held_out": False}


def _picked(
    estimator: Any, model: Model, X: Any, y: Any, each: int
) -> tuple[dict[int, tuple[str, float]], Any, Any]:
    """Places of the samples that are told, with their sort and how striking they are; all predictions."""
    truth, predicted = np.asarray(y), np.asarray(estimator.predict(X))
    if predicted.ndim > 1 and predicted.shape[1] > MOST_OUTPUTS:
        raise ValueError(
            f"the model has {predicted.shape[1]} targets. contributions(X, outputs=[...]) says what each "
            "kernel adds to the prediction of some of them."
        )
    words: Any = truth
    if task_of(model) == "survival":
        sorts, said = striking(truth, predicted)
        words = np.array(said, dtype=object)
    elif model.classes is None:
        sorts = _by_number(truth, predicted)
    else:
        sorts = _by_class(_decisions(estimator, X), truth, predicted, model.classes)
    picked: dict[int, tuple[str, float]] = {}
    for why, one in sorts.items():
        new = [int(i) for i in one.order if int(i) not in picked][:each]
        picked.update({i: (why, float(one.key[i])) for i in new})
    return picked, predicted, words


def _decisions(estimator: Any, X: Any) -> Any:
    """Decisions, or probabilities; what has neither is equally sure of all samples."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(estimator, method):
            return np.asarray(getattr(estimator, method)(X))
    return np.zeros(_num_samples(X))


def _output(model: Model, predicted: Any) -> int:
    """The output that a decision is about: that of the predicted class, or the first."""
    if model.classes is None or len(model.classes) < 3:
        return 0
    return int(np.flatnonzero(model.classes == predicted)[0])


# -- kernels --------------------------------------------------------------------------------------
def _parts(model: Model, X: Any) -> tuple[Any, Any]:
    """What each kernel adds; None where one decides everything, or a power of a sum."""
    if model.function is None or isinstance(model.function, PowerFunction) or model.active.size < 2:
        return None, None
    return parts_of(model, X)


def _decision(parts: Any, intercept: Any, s: int, k: int) -> dict[str, Any]:
    if parts is None:
        return {"parts": None, "intercept": None, "decision": None}
    own, constant = (parts[s], intercept) if parts[s].ndim == 1 else (parts[s][:, k], intercept[k])
    decision = float(own.sum() + float(constant))
    return {"parts": own, "intercept": float(constant), "decision": decision}


# -- columns --------------------------------------------------------------------------------------
def _blocks(X: Any) -> list[list[int]]:
    """Columns whose values are exchanged; none of tables that are wide, nor of lists of items."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) < 2 or sparse.issparse(X) or shape[-1] > _MOST_COLUMNS:
        return []
    return [[j] for j in range(shape[-1])] if shape[0] > 1 else []


def _columns(estimator: Any, X: Any, row: int, blocks: list[list[int]], k: int) -> list[dict[str, Any]]:
    """The columns whose values change the decision on a sample most, with these values."""
    if not blocks:
        return []
    change = swaps(estimator, X, row, blocks)
    effect = change[:, min(k, change.shape[1] - 1)]
    order = [int(j) for j in np.argsort(-np.abs(effect), kind="stable")[:_TOLD] if effect[j] != 0.0]
    return [{"name": _name(X, j), "value": _value(X, row, j), "effect": float(effect[j])} for j in order]


def _name(X: Any, j: int) -> str:
    return f"kernel {j}" if is_stack(X) else str(getattr(X, "columns", [f"x{i}" for i in range(j + 1)])[j])


def _value(X: Any, row: int, j: int) -> str:
    """As it stands in the table."""
    if is_stack(X):
        return ""
    cells = column_of(X, j)
    return "missing" if bool(is_missing(cells)[row]) else shown(np.asarray(cells)[row])


# -- folds ----------------------------------------------------------------------------------------
def joined_samples(parts: Sequence[dict[str, Any]], tests: Sequence[Index], called: Any) -> dict[str, Any]:
    """The most striking samples of all folds; `tests` are the rows that each fold held out.

    Kernels may be others in each fold: one that a fold lacks adds nothing there.
    """
    names = list(dict.fromkeys(name for part in parts for name in part["names"]))
    found: dict[str, list[dict[str, Any]]] = {}
    for part, test in zip(parts, tests, strict=True):
        for one in part["samples"]:
            own = dict(zip(part["names"], [] if one["parts"] is None else one["parts"], strict=True))
            row = int(test[one["row"]])
            moved = one | {"row": row, "name": None if called is None else str(called[row])}
            moved["parts"] = [float(own.get(name, 0.0)) for name in names] if own else None
            found.setdefault(one["why"], []).append(moved)
    best = [sorted(rows, key=lambda one: float(one["strength"]))[:_EACH] for rows in found.values()]
    return {"names": names, "samples": [one for rows in best for one in rows], "held_out": True}


def names_of_samples(X: Any, given: Sequence[Any] | None) -> list[str] | None:
    """What the samples are called: as given, or by the index of a frame that does more than count them."""
    index = getattr(X, "index", None)
    if given is None and index is not None and not callable(index):
        values = list(index)
        given = None if values == list(range(len(values))) else values
    return None if given is None else [str(name) for name in given]


# -- sorts ----------------------------------------------------------------------------------------
def _by_class(f: Any, truth: Any, predicted: Any, classes: Any) -> dict[str, Ranked]:
    """Sorts of the samples by their decisions f."""
    if f.ndim == 1:
        sure = np.abs(f)
    else:
        best = np.sort(f, axis=1)
        sure = best[:, -1] - best[:, -2]
    right = truth.astype(str) == predicted.astype(str)
    sorts = {"wrong": Ranked(-sure, np.flatnonzero(~right)), "hardly decided": Ranked(sure)}
    for label in classes[:4]:
        sorts[f"surely {label}"] = Ranked(-sure, np.flatnonzero((predicted == label) & right))
    return sorts


def _by_number(truth: Any, predicted: Any) -> dict[str, Ranked]:
    """The same for numbers."""
    first = predicted.reshape(len(predicted), -1)[:, 0].astype(np.float64)
    error = np.abs(truth.reshape(len(truth), -1)[:, 0].astype(np.float64) - first)
    return {
        "largest error": Ranked(-error),
        "highest": Ranked(-first),
        "lowest": Ranked(first),
        "typical": Ranked(np.abs(first - np.median(first))),
    }


def shown(value: Any) -> str:
    """For people: four digits of numbers."""
    if np.ndim(value):
        return ", ".join(map(_four, value))
    return _four(value) if isinstance(value, float | np.floating) else str(value)


def _four(value: Any) -> str:
    """Four digits, in a form that other programs read too."""
    return number_shown(float(value), 4, grouped=False)

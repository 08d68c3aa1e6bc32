"""Samples worth a look, and what each kernel adds to the decision on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..estimators._data import take

_EACH = 2  # samples of a sort
_LOOKED_AT = 2000


def chosen_samples(model: Any, mkl: Any, X: Any, inner: Any, y: Any) -> dict[str, Any] | None:
    """The surest, the least sure and the worst, by the model's decisions on the training data.

    `X` is what the model is given, `inner` what its kernels get. With several classes or outputs, the parts
    are those of the decision for the predicted class, or for the first output.
    """
    if not hasattr(mkl, "contributions") or not hasattr(mkl, "intercept_"):
        return None
    n = _num_samples(X)
    rows = np.unique(np.linspace(0, n - 1, min(n, _LOOKED_AT)).astype(np.intp))
    truth, predicted = np.asarray(take(y, rows)), np.asarray(model.predict(take(X, rows)))
    sorts = _sorts(model, X, rows, truth, predicted)
    picked: dict[int, str] = {}
    for why, order in sorts.items():
        new = [int(i) for i in order if int(i) not in picked][:_EACH]
        picked.update(dict.fromkeys(new, why))
    index = list(picked)
    try:
        parts = np.asarray(mkl.contributions(take(inner, rows[index])), dtype=np.float64)
    except AttributeError:  # a power of a sum has no parts
        return None
    intercept = np.asarray(mkl.intercept_, dtype=np.float64)
    samples = []
    for s, i in enumerate(index):
        own, constant = parts[s], intercept
        if own.ndim == 2:
            k = _output(model, predicted[i])
            own, constant = own[:, k], intercept[k] if intercept.ndim else intercept
        samples.append(
            {
                "row": int(rows[i]),
                "why": picked[i],
                "truth": _shown(truth[i]),
                "predicted": _shown(predicted[i]),
                "parts": own,
                "intercept": float(constant),
                "decision": float(own.sum() + float(constant)),
            }
        )
    return {"names": [str(mkl.kernel_names_[m]) for m in mkl.active_], "samples": samples}


def _sorts(model: Any, X: Any, rows: Any, truth: Any, predicted: Any) -> dict[str, Any]:
    """Orders of the samples, the most striking first."""
    if hasattr(model, "classes_"):
        f = np.asarray(model.decision_function(take(X, rows)))
        if f.ndim == 1:
            sure = np.abs(f)
        else:
            best = np.sort(f, axis=1)
            sure = best[:, -1] - best[:, -2]
        wrong = np.flatnonzero(truth.astype(str) != predicted.astype(str))
        sorts = {"wrong": wrong[np.argsort(-sure[wrong], kind="stable")]}
        sorts["hardly decided"] = np.argsort(sure, kind="stable")
        for label in model.classes_[:4]:
            own = np.flatnonzero((predicted == label) & (truth.astype(str) == str(label)))
            sorts[f"surely {label}"] = own[np.argsort(-sure[own], kind="stable")]
        return sorts
    first = predicted.reshape(len(predicted), -1)[:, 0]
    error = np.abs(truth.reshape(len(truth), -1)[:, 0] - first)
    return {
        "largest error": np.argsort(-error, kind="stable"),
        "highest": np.argsort(-first, kind="stable"),
        "lowest": np.argsort(first, kind="stable"),
        "typical": np.argsort(np.abs(first - np.median(first)), kind="stable"),
    }


def _output(model: Any, predicted: Any) -> int:
    if not hasattr(model, "classes_"):
        return 0
    return int(np.flatnonzero(np.asarray(model.classes_) == predicted)[0])


def _shown(value: Any) -> str:
    if np.ndim(value):
        return ", ".join(f"{v:.4g}" for v in value)
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)

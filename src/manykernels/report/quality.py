"""How good predictions are on held-out samples: tables of classes, curves, calibration, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from ..fitting.layout import evenly
from .held import HeldOut

Array = NDArray[np.float64]
_CLASSES = 6  # that have curves
_STEPS = 120  # of a curve that are drawn
_POINTS = 600  # that are drawn
_BINS = 10  # of probabilities
_IN_BIN = 15  # samples of a bin, at least
_OUTPUTS = 12  # that are told one by one


def quality_section(held: HeldOut | None, y: Any, task: str) -> dict[str, Any] | None:
    """What predictions of held-out samples show, of classes or of numbers; times have another section."""
    if held is None or task == "survival":
        return None
    if task == "classification":
        return _classes(held, np.asarray(y))
    return _numbers(held, np.asarray(y, dtype=np.float64))


# -- classes --------------------------------------------------------------------------------------
def _classes(held: HeldOut, y: Any) -> dict[str, Any]:
    truth, predicted = y[held.rows].astype(str), held.predicted.astype(str)
    labels = np.unique(np.concatenate([truth, predicted])) if held.classes is None else held.classes
    labels = np.asarray(labels).astype(str)
    counts = np.array([[int(((truth == a) & (predicted == b)).sum()) for b in labels] for a in labels])
    right, of, said = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    return {
        "kind": "classes",
        "labels": labels,
        "counts": counts,
        "right": int(right.sum()),
        "samples": int(counts.sum()),
        "recall": _share(right, of),
        "precision": _share(right, said),
        "balanced": float(np.mean(right[of > 0] / of[of > 0])),
        "curves": _curves(held, truth, labels),
        "calibration": _calibration(held, truth, labels),
    }


def _share(part: Any, whole: Any) -> list[float | None]:
    return [float(a / b) if b else None for a, b in zip(part, whole, strict=True)]


def _curves(held: HeldOut, truth: Any, labels: Any) -> list[dict[str, Any]]:
    """Of each class against the others; of two classes, of the second."""
    found = held.probability if held.probability is not None else held.decided
    if found is None or held.classes is None:
        return []
    if found.ndim == 1:
        found = np.column_stack([-found, found])
    if found.shape[1] != len(labels):
        return []
    picked = [1] if len(labels) == 2 else list(range(min(len(labels), _CLASSES)))
    return [_curve(held, truth == labels[k], found[:, k], labels[k]) for k in picked]


def _curve(held: HeldOut, own: Any, scores: Array, label: Any) -> dict[str, Any]:
    """ROC and precision-recall over all folds together; areas are means over the folds."""
    false, true, _ = roc_curve(own, scores)
    precision, recall, _ = precision_recall_curve(own, scores)
    precision, recall = precision[recall > 0.0], recall[recall > 0.0]  # none found, none right: no share
    folds = [held.fold == k for k in range(int(held.fold.max()) + 1)]
    whole = [rows for rows in folds if 0 < own[rows].sum() < rows.sum()]
    auc = [float(roc_auc_score(own[rows], scores[rows])) for rows in whole]
    ap = [float(average_precision_score(own[rows], scores[rows])) for rows in whole]
    return {
        "label": str(label),
        "share": float(own.mean()),
        "roc": {"x": _thin(false), "y": _thin(true)},
        "pr": {"x": _thin(recall[::-1]), "y": _thin(precision[::-1])},
        "auc": _spread(auc),
        "ap": _spread(ap),
    }


def _thin(values: Array) -> Array:
    return np.asarray(values[evenly(len(values), _STEPS)])


def _spread(values: list[float]) -> dict[str, Any]:
    return {
        "mean": float(np.mean(values)) if values else None,
        "std": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "folds": values,
    }


def _calibration(held: HeldOut, truth: Any, labels: Any) -> dict[str, Any] | None:
    """How often it happens what is said to be so probable: of the second of two classes, or of that said."""
    p = held.probability
    if p is None or held.classes is None or p.shape[1] != len(labels):
        return None
    if len(labels) == 2:
        said, happened, what = p[:, 1], truth == labels[1], str(labels[1])
    else:
        best = p.argmax(axis=1)
        said, happened, what = p[np.arange(len(p)), best], labels[best] == truth, None
    onehot = truth[:, None] == labels[None]
    order, count = np.argsort(said, kind="stable"), max(2, min(_BINS, len(said) // _IN_BIN))
    bins = np.array_split(order, count)
    low, high = zip(*(_wilson(int(happened[rows].sum()), len(rows)) for rows in bins), strict=True)
    shares = np.array([(truth == label).mean() for label in labels])
    half = 0.5 if len(labels) == 2 else 1.0  # of two classes one counts, as in scikit-learn
    return {
        "label": what,
        "said": [float(said[rows].mean()) for rows in bins],
        "happened": [float(happened[rows].mean()) for rows in bins],
        "low": low,
        "high": high,
        "samples": [len(rows) for rows in bins],
        "brier": half * float(((p - onehot) ** 2).sum(axis=1).mean()),
        "brier_constant": half * float(1.0 - (shares**2).sum()),
        "off": float(sum(len(r) * abs(said[r].mean() - happened[r].mean()) for r in bins) / len(said)),
    }


def _wilson(k: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    middle, half = k + 0.5 * z * z, z * np.sqrt(k * (n - k) / n + 0.25 * z * z)
    return float((middle - half) / (n + z * z)), float((middle + half) / (n + z * z))


# -- numbers --------------------------------------------------------------------------------------
def _numbers(held: HeldOut, y: Any) -> dict[str, Any] | None:
    truth, predicted = y[held.rows], held.predicted.astype(np.float64)
    if truth.ndim > 1 and truth.shape[1] > 1:
        return _outputs(held, truth, predicted)
    truth, predicted = truth.ravel(), predicted.ravel()
    error, guess = truth - predicted, truth - _guesses(held, y.ravel())
    some = evenly(truth.size, _POINTS)
    counts, edges = np.histogram(error, bins=20)
    return {
        "kind": "numbers",
        "truth": truth[some],
        "predicted": predicted[some],
        "rows": held.rows[some],
        "samples": int(truth.size),
        "edges": edges,
        "counts": counts,
        "mean_error": float(np.abs(error).mean()),
        "median_error": float(np.median(np.abs(error))),
        "rmse": float(np.sqrt((error**2).mean())),
        "bias": float(error.mean()),
        "constant_error": float(np.abs(guess).mean()),
        "within": np.quantile(np.abs(error), [0.5, 0.9]),
        "spread": _spread_of_errors(predicted, error),
    }


def _guesses(held: HeldOut, y: Array) -> Array:
    """The mean of the targets that each fold learned from."""
    means = np.array([y[train].mean() for train, _ in held.splits])
    return np.asarray(means[held.fold])


def _spread_of_errors(predicted: Array, error: Array) -> dict[str, Any]:
    """The size of errors for low, middle and high predictions."""
    thirds = np.array_split(np.argsort(predicted, kind="stable"), 3)
    return {
        "predicted": [float(predicted[rows].mean()) if len(rows) else None for rows in thirds],
        "error": [float(np.abs(error[rows]).mean()) if len(rows) else None for rows in thirds],
    }


def _outputs(held: HeldOut, truth: Any, predicted: Any) -> dict[str, Any] | None:
    """R² of each of a few outputs."""
    if truth.shape[1] > _OUTPUTS:
        return None
    left = ((truth - predicted) ** 2).sum(axis=0)
    total = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    R2 = [float(1.0 - a / b) if b > 0 else None for a, b in zip(left, total, strict=True)]
    return {"kind": "outputs", "R2": R2, "samples": len(truth)}

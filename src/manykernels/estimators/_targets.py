"""From y to what the machines fit: signs of one-vs-rest problems, or numbers; and what each sample costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

Array = NDArray[np.float64]


def require_target(estimator: Any, y: Any) -> None:
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: give one value "
            "per sample."
        )


def check_length(n: int, y: Any) -> None:
    if len(y) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n} samples and y has "
            f"{len(y)}."
        )


def check_weights(sample_weight: Any, n: int) -> Array:
    """Weights (n,) ≥ 0, not all of them zero."""
    weight = np.asarray(
        _check_sample_weight(sample_weight, np.empty((n, 0)), dtype=np.float64, ensure_non_negative=True)
    )
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for all samples; expected at least one positive weight.")
    return weight


def read_labels(y: Any) -> NDArray[Any]:
    """Class labels (n,)."""
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return np.asarray(y)


def read_numbers(y: Any) -> Array:
    """Targets (n,) or (n, outputs)."""
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    if y.ndim > 2 or (y.ndim == 2 and y.shape[1] == 0):
        raise ValueError(f"y of shape {y.shape} was given; expected (n_samples,) or (n_samples, n_outputs).")
    return np.asarray(y)


def encode(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes, and the number of each sample's class."""
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"y holds only one class ({classes.tolist()[0]!r}) among the {y.size} sample(s) of positive "
            "weight; a classifier needs samples of at least two classes."
        )
    if classes.size == y.size and y.size > 2:
        raise ValueError(
            f"y holds as many classes as samples (n_samples={y.size}), so there is nothing to learn from; is "
            "y a quantity? Then use the regressor."
        )
    return classes, codes.ravel()


def signs(codes: NDArray[np.intp], n_classes: int) -> Array:
    """±1 targets: (n, 1), +1 for the second of two classes; (n, k), each against the rest, for more."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def class_costs(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Array
) -> NDArray[np.float64]:
    """What a mistake on each class costs; "balanced" counts a sample of weight w as w samples."""
    if class_weight is None:
        return np.ones(classes.size)
    if isinstance(class_weight, Mapping):
        costs = compute_class_weight(dict(class_weight), classes=classes, y=classes[codes])
        if not np.all(np.isfinite(costs)) or np.any(costs < 0) or np.count_nonzero(costs) < 2:
            raise ValueError(
                f"class_weight={class_weight!r} was given; expected non-negative numbers, positive for two "
                "classes or more."
            )
        return np.asarray(costs, dtype=float)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(sample_weight.sum() / (classes.size * np.bincount(codes, sample_weight)))
    raise ValueError(
        f"class_weight={class_weight!r} was given; expected None, 'balanced' or a dict label -> weight."
    )

"""How good a kernel is for a target, and how similar two kernels are, without training anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

Array = NDArray[np.float64]
_EPS = float(np.finfo(float).eps)


# -- targets --------------------------------------------------------------------------------------
def target_factor(y: Any, kind: str = "auto") -> Array:
    """Y of shape (n, k) with K_Y = YYᵀ, the kernel of the targets themselves. Nothing is centred.

    Two classes: y = ±1, +1 for the second in sorted order (004 §2.5.1). More classes: Y is one-hot, so that
    K_Y[i, j] is 1 where i and j are of the same class; for two classes that would be (1 + yyᵀ)/2, which is
    the same after centring and scaling. Numbers: Y = y, one column an output.

    ``kind`` is "classification", "regression", or "auto": what scikit-learn's ``type_of_target`` finds, where
    labels in one column are classes and everything else is numbers.
    """
    if kind not in ("auto", "classification", "regression"):
        raise ValueError(f"kind={kind!r} was given; expected 'auto', 'classification' or 'regression'.")
    A = _read(y)
    if kind == "auto":
        kind = _kind(A)
    if kind == "regression":
        return _numbers(A)
    classes, codes = _labels(A)
    if classes.size == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.asarray(codes[:, None] == np.arange(classes.size), dtype=float)


def _read(y: Any) -> NDArray[Any]:
    """y as an array (n,) or (n, k), k ≥ 2, without missing values."""
    if y is None:
        raise ValueError("The target y is None; expected one value per sample.")
    A = np.asarray(y)
    if A.dtype.kind == "c" or A.ndim not in (1, 2) or A.size == 0:
        raise ValueError(
            f"y of shape {A.shape} and type {A.dtype} was given; expected labels (n_samples,), or real "
            "numbers (n_samples,) or (n_samples, n_outputs), of at least one sample."
        )
    A = A[:, 0] if A.ndim == 2 and A.shape[1] == 1 else A
    if A.dtype.kind == "O" and not any(isinstance(v, str) for v in A.flat):
        try:
            A = A.astype(float)  # None becomes NaN
        except (TypeError, ValueError) as error:
            raise ValueError(f"y holds objects that are neither numbers nor strings ({error}).") from error
    numbers = A.dtype.kind in "biuf"
    bad = ~np.isfinite(A) if numbers else np.array([not isinstance(v, str) for v in A.flat]).reshape(A.shape)
    if bad.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(bad))
        what = "finite numbers" if numbers else "strings throughout, or numbers throughout"
        raise ValueError(
            f"y holds {A[where]} for sample {where[0]}; expected {what}. Impute it, or leave such samples "
            "out."
        )
    return A


def _kind(A: NDArray[Any]) -> str:
    """Classes or numbers, as far as the values tell."""
    if type_of_target(A, input_name="y") not in ("binary", "multiclass"):
        return "regression"
    if A.dtype.kind in "iuf" and np.unique(A).size == A.size > 2:
        raise ValueError(
            f"y holds {A.size} whole numbers for {A.size} samples, each of them once: say by "
            "kind='regression' that they are quantities, or by kind='classification' that they are labels."
        )
    return "classification"


def _labels(A: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in sorted order, and the number of each sample's class."""
    found = type_of_target(A, input_name="y")
    if found not in ("binary", "multiclass"):
        raise ValueError(
            f"y of shape {A.shape} ({found}) was given; expected one class label per sample. Numbers that "
            "are quantities, or several outputs, need kind='regression' and a measure that takes them."
        )
    classes, codes = np.unique(A, return_inverse=True)
    if classes.size == 1:
        raise _constant(A.shape[0], classes[0])
    return classes, codes.ravel()


def _numbers(A: NDArray[Any]) -> Array:
    """Numbers (n, k), of which at least one column varies."""
    if A.dtype.kind not in "biuf":
        raise ValueError(
            f"y of shape {A.shape} holds text such as '{A.flat[0]}'; expected numbers. Labels need "
            "kind='classification', and one per sample."
        )
    Y = A.astype(float).reshape(A.shape[0], -1)
    if np.all(np.ptp(Y, axis=0) <= 4.0 * _EPS * np.abs(Y).max(axis=0)):
        raise _constant(A.shape[0], A[0])
    return Y


def _constant(n: int, value: Any) -> ValueError:
    shown = repr(value.tolist() if hasattr(value, "tolist") else value)
    return ValueError(
        f"y is the same for all {n} sample(s): {shown}. Alignment with a constant target is not defined; "
        "give samples of at least two classes, or numbers that differ."
    )

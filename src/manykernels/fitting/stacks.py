"""Stacks of kernels or distances that were computed elsewhere: their shape and type, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arguments import as_numbers
from ..families import FromDistances
from ..kernels.data import rounding
from .spec import short

EXPECTED = "a stack of shape (n_samples, n_train, n_kernels)"


def check_training_stack(X: Any, spec: Any) -> NDArray[Any]:
    """X as a stack of square matrices; given kernels are checked further where their Gram is built."""
    what = f"kernels={short(spec)}"
    A = _as_stack(X, what)
    n, n_train, layers = A.shape
    if 0 in A.shape:
        raise ValueError(
            f"X of shape {A.shape} was given: 0 sample(s) or kernels; {what} expects {EXPECTED}."
        )
    if n != n_train:
        if n_train == layers:
            hint = "It looks like kernels first: give numpy.moveaxis(X, 0, 2)."
        else:
            hint = (
                "If X was square before cross-validation cut it, the estimator is behind a transformer in a "
                "Pipeline, which hides its pairwise tag: cross-validate the estimator itself, or transform "
                "beforehand."
            )
        raise ValueError(
            f"X of shape {A.shape} was given to fit; expected {EXPECTED} with n_samples = n_train. {hint}"
        )
    if not isinstance(spec, str):
        _check_finite(A)
        _check_symmetric(A, isinstance(spec, FromDistances))
    return A


def check_new_stack(X: Any, n_train: int, layers: int) -> NDArray[Any]:
    """X as a stack of new samples against the training ones."""
    A = _as_stack(X, "the model, which was fitted on a stack,")
    if A.shape[1:] != (n_train, layers):
        raise ValueError(
            f"X of shape {A.shape} was given; expected (n_samples, {n_train}, {layers}): new samples in "
            f"rows, the {n_train} training samples in columns, {layers} layers in the order of fit. "
            f"{_hint(A.shape, n_train, layers)}"
        )
    if A.shape[0] == 0:
        raise ValueError(f"X of shape {A.shape} was given: 0 sample(s); expected at least 1.")
    _check_finite(A)
    return A


def _hint(shape: tuple[int, ...], n_train: int, layers: int) -> str:
    a, b, c = shape
    if (a, c) == (n_train, layers):
        return "It looks transposed, training samples first: give X.transpose(1, 0, 2)."
    if (a, c) == (layers, n_train):
        return "It looks like kernels first: give numpy.moveaxis(X, 0, 2)."
    if b == n_train:
        return f"The number of kernels differs: {c} instead of {layers}."
    return "Take the kernel between new samples and exactly the samples that fit was given."


def _as_stack(X: Any, what: str) -> NDArray[Any]:
    if sparse.issparse(X):
        raise ValueError(f"A sparse matrix was given; {what} expects {EXPECTED}, a dense NumPy array.")
    A = as_numbers(X, "X", EXPECTED)
    if A.ndim != 3:
        raise ValueError(
            f"X of shape {A.shape} was given; {what} expects {EXPECTED}. One kernel matrix K becomes a stack "
            "by K[:, :, None], several by numpy.stack(matrices, axis=2)."
        )
    if A.dtype.kind == "c":
        raise ValueError("Complex data not supported: a stack of real numbers is expected.")
    if A.dtype not in (np.float16, np.float32, np.float64):
        A = A.astype(np.float64)
    return A


def _check_finite(A: NDArray[Any]) -> None:
    if not np.isfinite(np.sum(A, dtype=np.float64)) and not np.isfinite(A).all():
        i, j, m = (int(axis[0]) for axis in np.nonzero(~np.isfinite(A)))
        raise ValueError(f"X holds {A[i, j, m]} at ({i}, {j}) of layer {m}; expected finite numbers.")


def _check_symmetric(A: NDArray[Any], distances: bool) -> None:
    for m in range(A.shape[2]):
        D = A[:, :, m]
        slack = rounding(A.dtype) * max(float(np.abs(D).max()), 1e-300)
        i, j = np.unravel_index(int(np.abs(D - D.T).argmax()), D.shape)
        if abs(D[i, j] - D[j, i]) > slack:
            raise ValueError(
                f"Layer {m} of X is not symmetric: entry ({i}, {j}) is {D[i, j]:.6g} and ({j}, {i}) is "
                f"{D[j, i]:.6g}. If it is symmetric up to noise, give (D + D.T) / 2."
            )
        if distances and D.min() < -slack:
            raise ValueError(
                f"Layer {m} of X holds the negative distance {D.min():.6g}; distances are at least 0."
            )

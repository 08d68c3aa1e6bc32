"""Stacks of kernels or distances that were computed elsewhere: their shape and type, in words.

A dict or a list of matrices, one for each kernel, becomes a stack with one copy; a dict names its layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arguments import as_numbers
from .._warn import warn
from ..families import FromDistances, Subset
from ..kernels import Precomputed
from ..kernels.data import rounding
from ..kernels.presence import layer_having
from .matching import has_index, in_one_order, require_names
from .spec import short

EXPECTED = "a stack of shape (n_samples, n_train, n_kernels)"


@dataclass(frozen=True)
class Layers:
    """The names of matrices that were given as a dict, and of the samples where they were frames."""

    names: tuple[str, ...]
    ids: tuple[Any, ...] | None = None
    what: ClassVar[str] = "the matrices"

    @property
    def own_names(self) -> list[str]:
        """Those of the matrices."""
        return list(self.names)

    def read(self, X: Any) -> Any:
        """New matrices as a stack, in the order of fit: those of a dict by name, those of a list by place."""
        if isinstance(X, Mapping):
            require_names(X, self.names, self.what)
            X = in_one_order({name: X[name] for name in self.names})
            X = {name: _columns(name, part, self.ids) for name, part in X.items()}
        return stacked(X) if in_matrices(X) else X

    def explicit(self, spec: Any) -> Any:
        """Kernels of an unnamed stack that have the names of these layers."""
        if isinstance(spec, Subset):
            return Subset(self.explicit(spec.kernels), spec.names)
        named = isinstance(spec, str) and spec == "precomputed"
        return {name: Precomputed(m) for m, name in enumerate(self.names)} if named else spec

    def in_order(self, X: Any, joined: Any) -> Any:
        """The training matrices X by name, as they are in the stack."""
        return {name: joined[:, :, m] for m, name in enumerate(self.names)}

    def seen(self, spec: Any) -> Any:
        """Kernels of a stack are the same, whatever its layers are called."""
        return spec


def in_matrices(X: Any) -> bool:
    """Tell whether X is a dict, or a list of two-dimensional arrays or frames."""
    if isinstance(X, list | tuple):
        return bool(X) and all(len(getattr(part, "shape", ())) == 2 for part in X)
    return isinstance(X, Mapping)


def name_layers(X: Any) -> tuple[NDArray[Any], Layers | None]:
    """Square matrices as a stack, and their names where they have any."""
    if not isinstance(X, Mapping):
        return stacked([_square(_matrix(str(m), part), str(m)) for m, part in enumerate(X)]), None
    if not X or not all(isinstance(name, str) for name in X):
        raise ValueError(f"X is a dict with the keys {list(X)[:5]}; expected names (str) of kernel matrices.")
    X = {name: part if has_index(part) else _matrix(name, part) for name, part in X.items()}
    X = in_one_order(X)
    ids = next((tuple(part.index) for part in X.values() if has_index(part)), None)
    X = {name: _square(_columns(name, part, ids), name) for name, part in X.items()}
    return stacked(X), Layers(tuple(X), ids)


def stacked(X: Any) -> NDArray[Any]:
    """Matrices of one shape as a stack (n_samples, n_train, n_kernels), stored kernel by kernel."""
    named = X if isinstance(X, Mapping) else {str(m): part for m, part in enumerate(X)}
    matrices = {name: _matrix(name, part) for name, part in named.items()}
    shapes = {name: A.shape for name, A in matrices.items()}
    if len(set(shapes.values())) > 1:
        told = ", ".join(f"{name!r}: {shape}" for name, shape in list(shapes.items())[:20])
        raise ValueError(f"The matrices of X have different shapes ({told}); expected (n_samples, n_train).")
    if len(matrices) == 1:
        return next(iter(matrices.values()))[:, :, None]
    return np.stack(list(matrices.values())).transpose(1, 2, 0)


def cut(X: Any, rows: Any, train: Any) -> Any:
    """Some samples against others, of a stack or of matrices in a dict or list."""
    if isinstance(X, Mapping):
        return {name: cut_matrix(part, rows, train) for name, part in X.items()}
    if in_matrices(X):
        return [cut_matrix(part, rows, train) for part in X]
    return np.asarray(X)[np.ix_(rows, train)]


def cut_matrix(part: Any, rows: Any, train: Any) -> Any:
    """Some rows and columns of one matrix."""
    return part.iloc[rows, train] if has_index(part) else np.asarray(part)[np.ix_(rows, train)]


def _matrix(name: str, part: Any) -> NDArray[Any]:
    expected = "a matrix of numbers of shape (n_samples, n_train)"
    A = as_numbers(part, f"Matrix {name!r} of X", expected)
    if A.ndim != 2:
        raise ValueError(f"Matrix {name!r} of X has shape {A.shape}; expected {expected}.")
    return A


def _square(A: NDArray[Any], name: str) -> NDArray[Any]:
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"Matrix {name!r} of X has shape {A.shape}; fit expects kernel matrices of the training samples, "
            "n × n. If these are features, give kernels='auto' instead, and X as a dict of views."
        )
    return A


def _columns(name: str, part: Any, ids: tuple[Any, ...] | None) -> NDArray[Any]:
    """A matrix with its columns in the order of the training samples, by their labels if it has any."""
    labels = list(part.columns) if has_index(part) else []
    if ids is None or not labels or labels in (list(ids), list(range(len(labels)))):
        return _matrix(name, part)
    place = {label: j for j, label in enumerate(labels)}
    if len(place) < len(labels) or set(place) != set(ids):
        raise ValueError(
            f"The columns of matrix {name!r} of X are not the training samples by their labels: expected "
            f"{ids[0]!r} and the {len(ids) - 1} others, each once. If they are in the same order, give "
            "to_numpy() of it."
        )
    warn(f"The columns of matrix {name!r} were put in the order of the training samples, by their labels.")
    return _matrix(name, part.iloc[:, [place[label] for label in ids]])


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
    lacking = lacking_layers(A)
    if lacking is not None:
        for m in np.flatnonzero(lacking.any(axis=0)):
            _check_lacking(A[:, :, m], lacking[:, m], int(m))
    if not isinstance(spec, str):
        _check_finite(A, lacking, lacking)
        _check_symmetric(A, lacking, isinstance(spec, FromDistances))
    return A


def lacking_layers(A: NDArray[Any]) -> NDArray[np.bool_] | None:
    """(n, layers): samples whose row of a layer is NaN; None where there are none."""
    masks = [layer_having(A[:, :, m]) for m in range(A.shape[2])]
    if all(mask is None for mask in masks):
        return None
    return np.array([np.zeros(len(A), dtype=bool) if mask is None else ~mask for mask in masks]).T


def _check_lacking(K: NDArray[Any], lacking: NDArray[np.bool_], m: int) -> None:
    """The columns of samples whose rows are NaN are NaN, too."""
    known = ~np.isnan(K[:, lacking])
    if known.any():
        i, j = (int(axis[0]) for axis in np.nonzero(known))
        j = int(np.flatnonzero(lacking)[j])
        raise ValueError(
            f"X holds {K[i, j]:.6g} at ({i}, {j}) of layer {m}, whose row {j} is NaN; expected NaN in the "
            "row and the column of a sample that lacks this layer."
        )


def check_new_stack(
    X: Any, n_train: int, layers: int, lacking: NDArray[np.bool_] | None = None
) -> NDArray[Any]:
    """X as a stack of new samples against the training ones, some of which lack layers."""
    A = _as_stack(X, "the model, which was fitted on a stack,")
    if A.shape[1:] != (n_train, layers):
        raise ValueError(
            f"X of shape {A.shape} was given; expected (n_samples, {n_train}, {layers}): new samples in "
            f"rows, the {n_train} training samples in columns, {layers} layers in the order of fit. "
            f"{_hint(A.shape, n_train, layers)}"
        )
    if A.shape[0] == 0:
        raise ValueError(f"X of shape {A.shape} was given: 0 sample(s); expected at least 1.")
    _check_finite(A, lacking_layers(A), lacking)
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


def _check_finite(A: NDArray[Any], rows: NDArray[np.bool_] | None, columns: NDArray[np.bool_] | None) -> None:
    """Finite numbers but for the rows (n, layers) and columns (n_train, layers) of samples that lack one."""
    if np.isfinite(np.sum(A, dtype=np.float64)):
        return
    bad = ~np.isfinite(A)
    if rows is not None:
        bad &= ~rows[:, None, :]
    if columns is not None:
        bad &= ~columns
    if bad.any():
        i, j, m = (int(axis[0]) for axis in np.nonzero(bad))
        raise ValueError(
            f"X holds {A[i, j, m]} at ({i}, {j}) of layer {m}; expected finite numbers, or NaN in the whole "
            "row of a sample that lacks this layer."
        )


def _check_symmetric(A: NDArray[Any], lacking: NDArray[np.bool_] | None, distances: bool) -> None:
    for m in range(A.shape[2]):
        D = A[:, :, m]
        if lacking is not None:
            here = np.flatnonzero(~lacking[:, m])
            D = D[np.ix_(here, here)]
        if not D.size:
            continue
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

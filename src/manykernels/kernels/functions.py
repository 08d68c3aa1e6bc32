"""Functions of a user's own: of two sets of samples, or of two single samples."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from .._arguments import is_masked, require_arguments, shown
from .base import brief
from .data import Array, Data, n_samples, rounding, take_rows


class OfPairs:
    """A function of two samples, as one of two sets of samples."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, X: Data, Y: Data) -> Array:
        left = each(X)
        right = left if Y is X else each(Y)
        name = function_name(self.function)
        require_arguments(self.function, 2, f"{name}(x, y)")
        K = np.empty((len(left), len(right)))
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                value = self.function(x, y)
                if not _is_one_number(value):
                    raise ValueError(
                        f"{name}(x, y) returned {shown(value)} for samples {i} and {j}; expected one number, "
                        "since it was given as a function of two samples."
                    )
                K[i, j] = np.asarray(value).item()
        return K


def takes_pairs(function: Any, X: Data) -> bool:
    """Tell whether a function is one of two single samples; see ``from_function`` for the rule."""
    width = int(X.shape[1]) if len(getattr(X, "shape", ())) == 2 else 0
    # neither as many samples as features, nor as many on both sides: no other matrix has this shape
    p, q = [count for count in (2, 3, 5) if count != width][:2]
    left, right = (_safe_indexing(X, np.arange(count) % n_samples(X)) for count in (p, q))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if np.shape(function(left, right)) == (p, q):
                return False
        except MemoryError:  # which says nothing of the function
            raise
        except Exception:  # whatever it is, it is met again if the function is one of sets
            pass
        try:
            return _is_one_number(function(each(left)[0], each(right)[-1]))
        except MemoryError:
            raise
        except Exception:
            return False


def _is_one_number(value: Any) -> bool:
    if sparse.issparse(value):
        return False
    found = np.asarray(value)
    return bool(found.size == 1 and found.dtype.kind in "biuf")


def each(X: Data) -> list[Any]:
    """The samples one by one: rows of an array or a sparse matrix, items, or rows of a frame by name."""
    if hasattr(X, "iloc"):
        return [X.iloc[i] for i in range(len(X))]
    if hasattr(X, "rows"):
        return list(X.rows(named=True))
    return [X[i] for i in range(n_samples(X))]


def function_name(function: Any) -> str:
    """Name a function: its own name, for a partial one with its arguments; "function" for a lambda."""
    if isinstance(function, partial):
        given = [shown(value) for value in function.args]
        given += [f"{name}={brief(value)}" for name, value in function.keywords.items()]
        return f"{function_name(function.func)}({', '.join(given)})"
    name = getattr(function, "__name__", None)
    if name is None:  # an object
        own = any("__repr__" in vars(kind) for kind in type(function).__mro__[:-1])
        return shown(function) if own else type(function).__name__
    return "function" if name == "<lambda>" else str(name)


def rounding_of(function: Any, X: Data) -> float:
    """Return the rounding of the type in which a user's function returns its values."""
    few = take_rows(X, 0, 2)
    return rounding(np.asarray(called(function, few, None)).dtype)


def called(function: Any, X: Data, Y: Data | None) -> Any:
    """function(X, Y), or an error where it does not take two sets of samples."""
    try:
        return function(X, X if Y is None else Y)
    except TypeError as error:
        require_arguments(function, 2, "function(X, Y)")
        raise error


def checked(result: Any, X: Data, Y: Data | None, function: Any, hint: str = "") -> Array:
    """Check the result of a user's function, and return it as a matrix of the right shape."""
    name = function_name(function)
    shape = (n_samples(X), n_samples(X if Y is None else Y))
    K = _as_matrix(result, f"{name}(X, Y)", shape)
    if K.shape != shape:
        raise ValueError(
            f"{name}(X, Y) returned shape {K.shape}; expected {shape}, one row per row of X.{hint}"
        )
    return K.astype(np.float64)


def _as_matrix(result: Any, what: str, shape: tuple[int, int]) -> NDArray[Any]:
    """An array of real numbers, or an error that says what was returned instead."""
    expected = f"expected a NumPy array of real numbers of shape {shape}, one row per row of X."
    if is_masked(result):
        raise ValueError(f"{what} returned a masked array with masked values; {expected}")
    if sparse.issparse(result):
        raise ValueError(f"{what} returned a sparse matrix; {expected} Call toarray() on it.")
    try:
        K = np.asarray(result)
        K = K.astype(np.float64) if K.dtype == object and K.ndim else K
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} returned {type(result).__name__}, which holds no numbers; {expected}"
        ) from None
    if K.dtype.kind not in "biuf":
        raise ValueError(f"{what} returned values of type {K.dtype}; {expected}")
    return K

"""Common parts of the bounds: readable results, and refusals that say what was expected."""

from __future__ import annotations

import math
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Readable:
    """Prints a frozen dataclass one field a line: numbers to four digits, arrays by their shape."""

    def __repr__(self) -> str:
        lines = [f"    {f.name}={_shown(getattr(self, f.name))}," for f in fields(self)]  # type: ignore[arg-type]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape}>"
    if isinstance(value, tuple):
        return "(" + "".join(f"\n        {part!r}," for part in value) + ("\n    )" if value else ")")
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def is_real(value: Any) -> bool:
    """Tell whether this is a number, which booleans and NaN are not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and not math.isnan(value)


def count(name: str, value: Any, least: int, meaning: str) -> int:
    """A whole number of at least `least`."""
    if not is_real(value) or value < least or value != np.floor(value) or math.isinf(value):
        raise ValueError(f"{name}={value!r} was given; expected a whole number, at least {least}: {meaning}.")
    return int(value)


def number(name: str, value: Any, meaning: str, *, zero: bool = False) -> float:
    """A positive finite number; with `zero` also 0."""
    if not is_real(value) or math.isinf(value) or value < 0 or (value == 0 and not zero):
        kind = "finite number, at least 0" if zero else "positive finite number"
        raise ValueError(f"{name}={value!r} was given; expected a {kind}: {meaning}.")
    return float(value)


def probability(delta: Any, name: str = "delta") -> float:
    """δ in (0, 1)."""
    if not is_real(delta) or not 0 < delta < 1:
        raise ValueError(
            f"{name}={delta!r} was given; expected a number between 0 and 1, both excluded: the probability "
            "with which the bound may fail, such as 0.05."
        )
    return float(delta)


def conjugate(norm: Any) -> float:
    """r with 1/q + 1/r = 1 for q = norm in [1, ∞]."""
    if not is_real(norm) or norm < 1:
        raise ValueError(f"norm={norm!r} was given; expected a number q from 1 to np.inf: ‖μ‖_q ≤ 1.")
    if norm == 1:
        return np.inf
    return 1.0 if norm == np.inf else float(norm / (norm - 1.0))


def integer_conjugate(norm: Any) -> int:
    """r as above for norm > 1, which must be a whole number: the moments of Rostamizadeh 2010, Lemma 2.1 are
    whole."""
    r = conjugate(norm)
    nearest = round(r)
    if abs(r - nearest) > 1e-9 * r:
        below, above = math.floor(r), math.ceil(r)
        larger = np.inf if below == 1 else below / (below - 1)
        raise ValueError(
            f"norm={norm!r} was given, whose conjugate exponent r = norm/(norm − 1) = {r:.6g} is not a whole "
            f"number; expected norm = r/(r − 1) with a whole r, such as {above / (above - 1):.6g} (r = "
            f"{above}) or {larger:.6g} (r = {below}). Take one of these."
        )
    return int(nearest)


def finite_array(name: str, values: Any, meaning: str) -> Array:
    """(k,) finite numbers, at least 0 and at least one of them."""
    try:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={values!r} was given; expected numbers: {meaning}.") from error
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)) or array.min() < 0:
        raise ValueError(
            f"{name} of shape {array.shape} was given, with values "
            f"{'none' if array.size == 0 else f'from {array.min():.4g} to {array.max():.4g}'}; expected a "
            f"list of finite numbers, at least 0: {meaning}."
        )
    return array


def is_whole(value: Any) -> bool:
    """Tell whether this is a whole number, also as a float."""
    return isinstance(value, Integral) or (is_real(value) and float(value).is_integer())

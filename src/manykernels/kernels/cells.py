"""Cells of a raw table, row by row: which are missing, and what they are as numbers, dates or labels.

What a cell is read as depends on no other row, so that new samples are read as the training samples were.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .data import Array

Format = Literal["", "text", "decimal comma", "span", "date", "d.m.y", "d/m/y", "m/d/y"]
MISSING = frozenset(("", "na", "n/a", "nan", "nat", "null", "none", "<na>", "-", "--", "?", "."))
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1)
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_CODE = re.compile(r"[+-]?0\d+")  # as in postal codes: what begins with 0 and goes on is no number
_BESIDE = re.compile(r"^(<=|>=|[<>≤≥~≈])\s*|\s*%$")  # what may stand beside a number
_ISO = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})([ T]\d{1,2}:\d{2}.*)?")
_DOTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")


def column_of(X: Any, j: int) -> Any:
    """Column j of a frame or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.to_series(j) if hasattr(X, "to_series") else X[:, j]


# -- what a column holds by its type ----------------------------------------------------------------
def holds_numbers(column: Any) -> bool:
    """Tell whether a column holds numbers or truth values, by its type; objects are looked at one by one."""
    dtype = column.dtype
    if numeric_type(dtype):
        return True
    plain = not hasattr(dtype, "is_numeric") and getattr(dtype, "kind", "O") == "O"
    return plain and not is_category(column) and all(isinstance(v, Number) for v in column)


def numeric_type(dtype: Any) -> bool:
    """Tell whether all values of this type are numbers or truth values; missing ones may be among them."""
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "biuf"


def is_category(column: Any) -> bool:
    """Tell whether the type of a column is a categorical one."""
    return type(column.dtype).__name__ in ("CategoricalDtype", "Categorical", "Enum")


def order_of(column: Any) -> list[str]:
    """The levels in their order, of a column that says that its categories have one; empty for others."""
    kind, dtype = type(column.dtype).__name__, column.dtype
    if kind == "Enum" or (kind == "CategoricalDtype" and dtype.ordered):
        return [str(level) for level in dtype.categories]
    return []


def is_time(column: Any) -> bool:
    """Tell whether a column holds points in time or spans of it, by its type."""
    dtype = column.dtype
    if hasattr(dtype, "is_temporal"):  # polars
        return bool(dtype.is_temporal()) and str(dtype) != "Time"
    return getattr(dtype, "kind", "O") in "mM"


def is_span(column: Any) -> bool:
    """Tell whether a column holds spans of time, by its type."""
    return "uration" in str(column.dtype) or _kind(column) == "m"


# -- single cells -----------------------------------------------------------------------------------
def is_missing(column: Any) -> NDArray[np.bool_]:
    """Tell which cells have no value: None, NaN, NaT, NA or null."""
    if hasattr(column, "isna"):
        return np.asarray(column.isna(), dtype=bool)
    if hasattr(column, "is_null"):
        null = np.asarray(column.is_null().to_numpy(), dtype=bool)
        floats = str(column.dtype).startswith("Float")
        return null | np.asarray(column.is_nan().fill_null(False).to_numpy(), dtype=bool) if floats else null
    A = np.asarray(column)
    if A.dtype.kind in "fc":
        return np.asarray(np.isnan(A))
    if A.dtype.kind in "mM":
        return np.asarray(np.isnat(A))
    if A.dtype.kind != "O":
        return np.zeros(A.shape, dtype=bool)
    return np.fromiter((_absent(v) for v in A), dtype=bool, count=len(A))


def _absent(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return value is None
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def values_of(column: Any) -> NDArray[Any]:
    """The cells as objects, None where they are missing."""
    A = np.empty(len(column), dtype=object)
    A[:] = column.to_list() if hasattr(column, "to_list") else list(column)
    A[is_missing(column)] = None
    return A


def labels_of(column: Any) -> NDArray[Any]:
    """The cells as text without blanks around it; None where they are missing or blank."""
    return as_labels(values_of(column))


def as_labels(values: NDArray[Any]) -> NDArray[Any]:
    """Cells, None where they are missing, as labels."""
    labels = np.empty(len(values), dtype=object)
    labels[:] = [None if v is None else str(v).strip() or None for v in values]
    return labels


def texts_of(column: Any) -> NDArray[Any]:
    """The cells as text as it is, which is empty where they are missing."""
    values = values_of(column)
    values[:] = ["" if v is None else str(v) for v in values]
    return values


# -- numbers ----------------------------------------------------------------------------------------
def numbers_of(column: Any, how: Format = "") -> Array:
    """A column as numbers, read in this format; NaN where a cell is missing or is none."""
    if is_time(column):
        return _days(column)
    if not how or numeric_type(column.dtype):
        try:
            return _plain_numbers(column)
        except (TypeError, ValueError):  # text in place of numbers, in new samples
            how = "text"
    parse, labels = PARSERS[how], labels_of(column)
    known = {label: parse(label) for label in set(labels) if label is not None}
    read = {label: np.nan if number is None else number for label, number in known.items()}
    return np.fromiter((read.get(label, np.nan) for label in labels), dtype=float, count=len(labels))


def _plain_numbers(column: Any) -> Array:
    if hasattr(column, "cast"):  # polars
        return np.asarray(column.cast(float).to_numpy(), dtype=np.float64)
    if hasattr(column, "to_numpy"):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = np.asarray(column)
    return np.asarray(values_of(column) if values.dtype.kind == "O" else values, dtype=np.float64)


def _days(column: Any) -> Array:
    """Days since 1970, or of a span."""
    kind = "timedelta64[us]" if is_span(column) else "datetime64[us]"
    values = column.to_numpy() if not hasattr(column, "isna") else np.asarray(column, dtype=kind)
    micro = np.asarray(values).astype(kind)
    return np.where(np.isnat(micro), np.nan, micro.astype(np.int64) / (_DAY / timedelta(microseconds=1)))


def _kind(column: Any) -> str:
    return str(getattr(column.dtype, "kind", "O"))


def _number(text: str) -> float | None:
    """'1200', '1,200', ' 3.4 ', '<0.5' and '7 %' as numbers; NaN for what means missing; None for others."""
    if text.lower() in MISSING:
        return float("nan")
    bare = _BESIDE.sub("", text)
    if _CODE.fullmatch(bare):
        return None
    if _PLAIN.fullmatch(bare):
        return float(bare)
    return float(bare.replace(",", "")) if _THOUSANDS.fullmatch(bare) else None


def _comma_number(text: str) -> float | None:
    """The same where a comma stands before the decimals: '1,5', '1.200,5'."""
    if text.lower() in MISSING:
        return float("nan")
    bare = _BESIDE.sub("", text)
    if _COMMA.fullmatch(bare):
        return float(bare.replace(",", "."))
    return _number(text)


# -- dates ------------------------------------------------------------------------------------------
def _iso_date(text: str) -> float | None:
    found = _ISO.fullmatch(text)
    if found is None:
        return _blank(text)
    year, _, month, day, clock = found.groups()
    try:
        moment = datetime.fromisoformat(f"{year}-{int(month):02d}-{int(day):02d}{clock or ''}")
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - _EPOCH) / _DAY


def _date_by(pattern: re.Pattern[str], day: int, month: int) -> Callable[[str], float | None]:
    """A reader of dates whose day and month are these groups of the pattern, and whose year is the third."""

    def read(text: str) -> float | None:
        found = pattern.fullmatch(text)
        if found is None:
            return _blank(text)
        try:
            moment = datetime(int(found[3]), int(found[month]), int(found[day]))
        except ValueError:
            return None
        return (moment - _EPOCH) / _DAY

    return read


def _blank(text: str) -> float | None:
    return float("nan") if text.lower() in MISSING else None


PARSERS: dict[str, Callable[[str], float | None]] = {
    "text": _number,
    "decimal comma": _comma_number,
    "span": _number,
    "date": _iso_date,
    "d.m.y": _date_by(_DOTS, 1, 2),
    "m/d/y": _date_by(_SLASHES, 2, 1),
    "d/m/y": _date_by(_SLASHES, 1, 2),
}
NUMBERS: tuple[Format, ...] = ("text", "decimal comma")
DATES: tuple[Format, ...] = ("date", "d.m.y", "m/d/y", "d/m/y")

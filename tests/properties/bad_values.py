"""A zoo of values that nobody should give, or that just may be given: as parameters, samples and targets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

Zoo = dict[str, Callable[[], Any]]

rng = np.random.RandomState(0)
N = 12
X = rng.randn(N, 3)
y = np.arange(N) % 2
numbers = X[:, 0] + 0.1 * rng.randn(N)
dask.config.set(scheduler="synchronous")


def cyclic() -> list[Any]:
    values: list[Any] = []
    values.append(values)
    return values


def nested(depth: int = 3000) -> list[Any]:
    values: list[Any] = []
    for _ in range(depth):
        values = [values]
    return values


class Strange:
    """Something that is nothing of what anybody expects."""


VALUES: Zoo = {
    "None": lambda: None,
    "True": lambda: True,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "1.5": lambda: 1.5,
    "1e300": lambda: 1e300,
    "5e-324": lambda: 5e-324,
    "10**30": lambda: 10**30,
    "-10**30": lambda: -(10**30),
    "10**400": lambda: 10**400,
    "10**5000": lambda: 10**5000,
    "empty text": lambda: "",
    "text": lambda: "text",
    "bytes": lambda: b"auto",
    "[]": lambda: [],
    "()": lambda: (),
    "list": lambda: [1, 2],
    "list of None": lambda: [None],
    "list of text": lambda: ["a", "b"],
    "cyclic list": cyclic,
    "nested list": nested,
    "{}": dict,
    "dict": lambda: {"a": 1},
    "dict of 0": lambda: {0: 1.0},
    "set": lambda: {1, 2},
    "object": Strange,
    "class": lambda: Strange,
    "function": lambda: lambda *values: 1.0,
    "failing function": lambda: lambda: 1.0,
    "generator": lambda: iter([1.0]),
    "0-d array": lambda: np.array(1.0),
    "empty array": lambda: np.array([]),
    "array": lambda: np.array([1.0, 2.0]),
    "2-d array": lambda: np.eye(2),
    "bool array": lambda: np.array([True, False]),
    "masked": lambda: np.ma.masked_equal(np.array([1.0, 2.0]), 2.0),
    "complex": lambda: 1 + 2j,
    "NaT": lambda: np.datetime64("NaT"),
    "date": lambda: datetime(2020, 1, 1),
    "Decimal": lambda: Decimal("1.5"),
    "Fraction": lambda: Fraction(3, 2),
    "float32": lambda: np.float32(1.5),
    "NA": lambda: pd.NA,
    "series": lambda: pd.Series([1.0, 2.0]),
    "sparse": lambda: sparse.csr_array(np.eye(2)),
}


def _with(A: Any, value: Any, where: Any = (1, 1)) -> Any:
    A = np.array(A)
    A[where] = value
    return A


def _frame(**more: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(**more)


SAMPLES: Zoo = {
    **{name: VALUES[name] for name in ("None", "True", "nan", "0", "text", "bytes", "[]", "list", "{}")},
    **{name: VALUES[name] for name in ("cyclic list", "nested list", "set", "object", "class", "function")},
    **{
        name: VALUES[name] for name in ("0-d array", "empty array", "array", "complex", "NaT", "NA", "series")
    },
    "1-d": lambda: X[:, 0],
    "no rows": lambda: X[:0],
    "no columns": lambda: X[:, :0],
    "one row": lambda: X[:1],
    "other columns": lambda: np.c_[X, X],
    "3-d": lambda: np.stack([X @ X.T] * 2, axis=2),
    "4-d": lambda: X[:, :, None, None],
    "ragged": lambda: [[1.0, 2.0, 3.0], [1.0, 2.0]] * (N // 2),
    "ragged objects": lambda: np.array([[1.0], [1.0, 2.0]] * (N // 2), dtype=object),
    "objects": lambda: np.full((N, 3), Strange(), dtype=object),
    "objects of numbers": lambda: X.astype(object),
    "object with None": lambda: _with(X.astype(object), None),
    "object with text": lambda: _with(X.astype(object), "a"),
    "object with dict": lambda: _with(X.astype(object), Strange()),
    "object with list": lambda: [[1.0, 2.0, [3.0]]] * N,
    "texts": lambda: X.astype(str),
    "words": lambda: ["ab", "ba"] * (N // 2),
    "words and None": lambda: ["ab", None] * (N // 2),
    "list of dicts": lambda: [{"a": 1}] * N,
    "list of sets": lambda: [{1, 2}] * N,
    "list of bytes": lambda: [b"ab"] * N,
    "dates": lambda: np.full((N, 3), np.datetime64("2020-01-01")),
    "NaTs": lambda: np.full((N, 3), np.datetime64("NaT")),
    "complex array": lambda: X + 1j,
    "complex list": lambda: [[1j, 2.0, 3.0]] * N,
    "masked array": lambda: np.ma.masked_greater(X, 0.5),
    "mask of nothing": lambda: np.ma.masked_greater(X, 100.0),
    "masked rows": lambda: np.ma.masked_array(X, mask=np.repeat(np.arange(N)[:, None] < 3, 3, axis=1)),
    "records": lambda: np.zeros(N, dtype=[("a", float), ("b", float)]),
    "bools": lambda: X > 0,
    "nan in it": lambda: _with(X, np.nan),
    "inf in it": lambda: _with(X, np.inf),
    "1e300": lambda: 1e300 * X,
    "1e160": lambda: 1e160 * X,
    "one 1e300": lambda: _with(X, 1e300),
    "1e-300": lambda: 1e-300 * X,
    "denormal": lambda: 5e-324 * np.ones((N, 3)),
    "zeros": lambda: -0.0 * np.ones((N, 3)),
    "offset": lambda: X + 1e9,
    "equal rows": lambda: np.ones((N, 3)),
    "float16": lambda: X.astype(np.float16),
    "longdouble": lambda: X.astype(np.longdouble),
    "big integers": lambda: [[10**30, 1, 2]] * (N - 1) + [[1, 2, 3]],
    "huge integers": lambda: [[10**400, 1, 2]] * N,
    "uint64": lambda: np.full((N, 3), 2**63, dtype=np.uint64),
    "matrix": lambda: np.asmatrix(X),
    "generator": lambda: (row for row in X),
    "dict of lists": lambda: {"a": [1.0] * N, "b": [2.0] * N},
    "csr": lambda: sparse.csr_array(X),
    "csr nan": lambda: sparse.csr_array(_with(X, np.nan)),
    "coo": lambda: sparse.coo_array(X),
    "dia": lambda: sparse.dia_array(X),
    "csr complex": lambda: sparse.csr_array(X + 1j),
    "csr empty": lambda: sparse.csr_array((0, 3)),
    "csr zeros": lambda: sparse.csr_array((N, 3)),
    "csr 1e300": lambda: sparse.csr_array(1e300 * X),
    "frame": _frame,
    "frame with text": lambda: _frame(c=["u", "v"] * (N // 2)),
    "frame with None": lambda: _frame(c=[None, "v"] * (N // 2)),
    "frame with nan": lambda: _frame(c=np.nan),
    "frame with NA": lambda: _frame(c=pd.array([pd.NA, 1] * (N // 2), dtype="Int64")),
    "frame with dates": lambda: _frame(c=pd.Timestamp("2020-01-01")),
    "frame with NaT": lambda: _frame(c=pd.NaT),
    "frame with complex": lambda: _frame(c=1j),
    "frame with lists": lambda: _frame(c=[[1]] * N),
    "frame with intervals": lambda: _frame(c=pd.interval_range(0, N)),
    "frame with categories": lambda: _frame(c=pd.Categorical(["u", "v"] * (N // 2))),
    "frame of no rows": lambda: _frame()[:0],
    "frame of no columns": lambda: _frame()[[]],
    "equal names": lambda: pd.DataFrame(X, columns=["a", "a", "b"]),
    "names of two kinds": lambda: pd.DataFrame(X, columns=["a", 1, None]),
    "levels of names": lambda: pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a"], [1, 2, 3]])),
    "sparse frame": lambda: _frame().astype(pd.SparseDtype(float)),
    "other names": lambda: _frame().rename(columns={"a": "z"}),
    "polars": lambda: pl.DataFrame(X, schema=["a", "b", "c"]),
    "polars lazy": lambda: pl.DataFrame(X, schema=["a", "b", "c"]).lazy(),
    "arrow table": lambda: pa.table({name: X[:, k] for k, name in enumerate("abc")}),
    "arrow batch": lambda: pa.table({"a": ["u", None] * (N // 2), "b": [1.0] * N}).to_batches()[0],
    "polars null": lambda: pl.DataFrame({"a": [None, 1.0] * (N // 2), "b": [1.0] * N}),
    "polars text": lambda: pl.DataFrame({"a": ["u", "v"] * (N // 2), "b": [1.0] * N}),
    "polars lists": lambda: pl.DataFrame({"a": [[1.0]] * N, "b": [1.0] * N}),
    "polars of no rows": lambda: pl.DataFrame(X, schema=["a", "b", "c"])[:0],
    "polars series": lambda: pl.Series("a", X[:, 0]),
    "dask array": lambda: da.from_array(X, chunks=(5, 3)),
    "dask columns": lambda: da.from_array(X, chunks=(5, 2)),
    "dask nan": lambda: da.from_array(_with(X, np.nan), chunks=(5, 3)),
    "dask of no rows": lambda: da.from_array(X[:0], chunks=(1, 3)),
    "dask 1-d": lambda: da.from_array(X[:, 0], chunks=5),
    "dask complex": lambda: da.from_array(X + 1j, chunks=(5, 3)),
    "dask texts": lambda: da.from_array(X.astype(str), chunks=(5, 3)),
    "dask masked": lambda: da.ma.masked_greater(da.from_array(X, chunks=(5, 3)), 0.5),
    "dask bag": lambda: db.from_sequence(X.tolist(), npartitions=2),
    "dask frame": lambda: dd.from_pandas(_frame(), npartitions=2),
    "dask frame text": lambda: dd.from_pandas(_frame(c=["u", "v"] * (N // 2)), npartitions=2),
    "dask frame of no rows": lambda: dd.from_pandas(_frame()[:0], npartitions=1),
    "dask delayed": lambda: dask.delayed(X),
    "dask unknown": lambda: dd.from_pandas(_frame(), npartitions=2).to_dask_array(),
}

TARGETS: Zoo = {
    **{name: VALUES[name] for name in ("None", "True", "nan", "0", "1e300", "text", "bytes", "[]", "list")},
    **{name: VALUES[name] for name in ("{}", "dict", "set", "object", "class", "function", "cyclic list")},
    **{name: VALUES[name] for name in ("nested list", "0-d array", "empty array", "array", "complex", "NaT")},
    "NA": VALUES["NA"],
    "short": lambda: y[:-1],
    "long": lambda: np.r_[y, 1],
    "one class": lambda: np.ones(N),
    "as many classes": lambda: np.arange(N),
    "fractions": lambda: numbers,
    "1e300s": lambda: 1e300 * numbers,
    "1e160s": lambda: 1e160 * numbers,
    "1e-300s": lambda: 1e-300 * numbers,
    "one 1e300": lambda: _with(numbers, 1e300, 1),
    "denormals": lambda: np.where(y, 5e-324, 0.0),
    "nan in it": lambda: _with(numbers, np.nan, 1),
    "inf in it": lambda: _with(numbers, np.inf, 1),
    "None in it": lambda: [None, 1] * (N // 2),
    "NA in it": lambda: pd.array([pd.NA, 1] * (N // 2), dtype="Int64"),
    "pandas text": lambda: pd.Series(["u", "v"] * (N // 2)),
    "text and numbers": lambda: ["u", 1] * (N // 2),
    "lists": lambda: [[1], [1, 2]] * (N // 2),
    "dicts": lambda: [{"a": 1}] * N,
    "objects": lambda: [Strange() for _ in range(N)],
    "complexes": lambda: y + 1j,
    "dates": lambda: np.full(N, np.datetime64("2020-01-01")) + y,
    "NaTs": lambda: np.full(N, np.datetime64("NaT")),
    "masked": lambda: np.ma.masked_array(y, mask=np.arange(N) == 2),
    "masked floats": lambda: np.ma.masked_array(numbers, mask=np.arange(N) == 2),
    "mask of nothing": lambda: np.ma.masked_array(y, mask=np.zeros(N, dtype=bool)),
    "column": lambda: y[:, None],
    "two columns": lambda: np.stack([y, 1 - y], axis=1),
    "two outputs": lambda: X[:, :2],
    "no outputs": lambda: np.zeros((N, 0)),
    "3-d": lambda: np.zeros((N, 2, 2)),
    "bools": lambda: y > 0,
    "bytes in it": lambda: np.array([b"u", b"v"] * (N // 2)),
    "big integers": lambda: [10**30, 1] * (N // 2),
    "huge integers": lambda: [10**400, 1] * (N // 2),
    "sparse": lambda: sparse.csr_array(y[:, None]),
    "generator": lambda: iter(y),
    "frame": lambda: pd.DataFrame({"y": y}),
    "empty series": lambda: pd.Series([], dtype=float),
    "categories": lambda: pd.Series(pd.Categorical(["u", "v"] * (N // 2))),
    "polars": lambda: pl.Series("y", y),
    "polars lazy": lambda: pl.DataFrame({"y": y}).lazy(),
    "polars null": lambda: pl.Series("y", [None, 1] * (N // 2)),
    "dask": lambda: da.from_array(y, chunks=5),
    "dask of no rows": lambda: da.from_array(y[:0], chunks=1),
    "dask bag": lambda: db.from_sequence(y.tolist(), npartitions=2),
    "dask nan": lambda: da.from_array(_with(numbers, np.nan, 1), chunks=5),
}

WEIGHTS: Zoo = {
    **{name: VALUES[name] for name in ("True", "nan", "inf", "-1", "0", "text", "[]", "list", "{}", "set")},
    **{name: VALUES[name] for name in ("object", "function", "cyclic list", "0-d array", "complex", "NaT")},
    "1": lambda: 1.0,
    "1e300": lambda: 1e300,
    "short": lambda: np.ones(N - 1),
    "column": lambda: np.ones((N, 1)),
    "negative": lambda: -np.ones(N),
    "zeros": lambda: np.zeros(N),
    "one": lambda: (np.arange(N) == 0).astype(float),
    "one class": lambda: (y == 0).astype(float),
    "nan in it": lambda: _with(np.ones(N), np.nan, 1),
    "inf in it": lambda: _with(np.ones(N), np.inf, 1),
    "1e300s": lambda: np.full(N, 1e300),
    "1e-300s": lambda: np.full(N, 1e-300),
    "denormals": lambda: np.full(N, 5e-324),
    "one 1e300": lambda: _with(np.ones(N), 1e300, 1),
    "texts": lambda: ["u"] * N,
    "None in it": lambda: [None] * N,
    "complexes": lambda: np.ones(N) + 1j,
    "masked": lambda: np.ma.masked_array(np.ones(N), mask=np.arange(N) == 2),
    "mask of nothing": lambda: np.ma.masked_array(np.ones(N), mask=np.zeros(N, dtype=bool)),
    "ragged": lambda: [[1.0], [1.0, 2.0]] * (N // 2),
    "sparse": lambda: sparse.csr_array(np.ones((N, 1))),
    "generator": lambda: iter(np.ones(N)),
    "series": lambda: pd.Series(np.ones(N)),
    "frame": lambda: pd.DataFrame({"w": np.ones(N)}),
    "polars": lambda: pl.Series("w", np.ones(N)),
    "dask": lambda: da.ones(N, chunks=5),
    "dask bag": lambda: db.from_sequence([1.0] * N, npartitions=2),
}

RESULTS: Zoo = {  # what a function of the user's makes of K
    "None": lambda: lambda K: None,
    "a number": lambda: lambda K: 1.0,
    "text": lambda: lambda K: "text",
    "too few rows": lambda: lambda K: K[:-1],
    "a diagonal": lambda: lambda K: np.diagonal(K),
    "3-d": lambda: lambda K: K[:, :, None],
    "nan": lambda: lambda K: K * np.nan,
    "one nan": lambda: lambda K: _with(K, np.nan, (0, 0)),
    "one inf": lambda: lambda K: _with(K, np.inf, (0, 0)),
    "1e300": lambda: lambda K: 1e300 * K,
    "1e-300": lambda: lambda K: 1e-300 * K,
    "asymmetric": lambda: lambda K: K + np.arange(K.shape[1]),
    "negative": lambda: lambda K: -K,
    "indefinite": lambda: lambda K: K - 3.0,
    "zeros": lambda: lambda K: 0.0 * K,
    "constant": lambda: lambda K: np.ones_like(K),
    "complex": lambda: lambda K: K + 0j,
    "objects": lambda: lambda K: K.astype(object),
    "texts": lambda: lambda K: K.astype(str),
    "float16": lambda: lambda K: K.astype(np.float16),
    "float32": lambda: lambda K: K.astype(np.float32),
    "integers": lambda: lambda K: np.round(K).astype(int),
    "list": lambda: lambda K: K.tolist(),
    "frame": lambda: lambda K: pd.DataFrame(K),
    "sparse": lambda: lambda K: sparse.csr_array(K),
    "masked": lambda: lambda K: np.ma.masked_greater(K, 0.0),
    "random": lambda: lambda K: np.random.RandomState().rand(*K.shape),
    "dates": lambda: lambda K: np.full(K.shape, np.datetime64("2020-01-01")),
    "ragged": lambda: lambda K: [[1.0], [1.0, 2.0]],
    "dask": lambda: lambda K: da.from_array(K),
    "generator": lambda: lambda K: iter(K),
}

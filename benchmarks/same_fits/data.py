"""Small samples of every kind that the problems are about, the same in every run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from manykernels.kernels import Gaussian, Linear, Polynomial

N, NEW, LONG = 48, 15, 20_500  # so many rows stay where they are: in Dask, in files
Sample = tuple[Any, Any, Any]  # training samples, targets, new samples

rng = np.random.RandomState(7)
X = rng.randn(N, 4)
X_NEW = rng.randn(NEW, 4)
NOISE = 0.2 * rng.randn(N)
WEIGHT = rng.randint(0, 4, N).astype(float)  # with zeros
GROUPS = np.arange(N) % 5
GATES, GATES_NEW = rng.dirichlet(np.ones(2), N), rng.dirichlet(np.ones(2), NEW)
X_LONG = rng.randn(LONG, 4)
NOISE_LONG = 0.2 * rng.randn(LONG)
KERNELS = {"line": Linear(), "narrow": Gaussian(1.0), "wide": Gaussian(3.0), "square": Polynomial(2)}


def targets(A: Any, noise: Any) -> dict[str, Any]:
    """What there is to learn about samples, by name."""
    numbers = np.sin(2.0 * A[:, 0]) + A[:, 1] * A[:, 2] + noise
    return {
        "two": np.where(numbers > 0.0, "yes", "no"),
        "three": np.digitize(numbers, [-0.5, 0.7]),
        "numbers": numbers,
        "outputs": np.column_stack([numbers, A[:, 3] ** 2 + noise]),
        "one class": np.repeat("yes", len(A)),
    }


def words(A: Any) -> list[str]:
    """A string for every row: signs of sums, as letters."""
    return ["".join("abc"[int(v > 0.4) + int(v > -0.4)] for v in np.cumsum(np.tile(row, 3))) for row in A]


def frame(A: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"a": A[:, 0], "b": A[:, 1], "c": A[:, 2], "word": words(A)})


def table(A: Any) -> Any:
    """A raw table: scales, a heavy tail, a category."""
    import pandas as pd

    kind = pd.Categorical(np.where(A[:, 3] > 0.0, "left", "right"), categories=["left", "right"])
    return pd.DataFrame({"large": 100.0 * A[:, 0], "tail": np.exp(2.0 * A[:, 1]), "c": A[:, 2], "kind": kind})


def stack(A: Any, B: Any) -> Any:
    return np.stack([kernel(A, B) for kernel in KERNELS.values()], axis=2)


def distances(A: Any, B: Any) -> Any:
    """A layer for every pair of columns."""
    parts = [(A[:, None, j : j + 2] - B[None, :, j : j + 2]) ** 2 for j in (0, 2)]
    return np.stack([part.sum(axis=2) for part in parts], axis=2)


def thinned(A: Any) -> Any:
    return sparse.csr_matrix(np.where(np.abs(A) > 0.3, A, 0.0))


def chunked(A: Any, rows: int) -> Any:
    import dask.array as da

    return da.from_array(A, chunks=(rows, A.shape[1]))


def mapped(A: Any) -> Any:
    """In a file without a name, which is gone with the array."""
    file = np.memmap(tempfile.TemporaryFile(), dtype=A.dtype, shape=A.shape)
    file[:] = A
    return file


TWICE = np.r_[np.arange(N), np.arange(0, N, 3)]  # every third sample again
FORMS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "": lambda: (X, X_NEW),
    "frame": lambda: (frame(X), frame(X_NEW)),
    "table": lambda: (table(X), table(X_NEW)),
    "stack": lambda: (stack(X, X), stack(X_NEW, X)),
    "distances": lambda: (distances(X, X), distances(X_NEW, X)),
    "sparse": lambda: (thinned(X), thinned(X_NEW)),
    "strings": lambda: (words(X), words(X_NEW)),
    "float32": lambda: (X.astype(np.float32), X_NEW.astype(np.float32)),
    "twice": lambda: (X[TWICE], X_NEW),
    "one": lambda: (X[:, :1], X_NEW[:, :1]),
    "pairs": lambda: (X[:, :2], X_NEW[:, :2]),
    "polars": lambda: (_polars(X), _polars(X_NEW)),
    "dask": lambda: (chunked(X, 20), X_NEW),
    "long": lambda: (X_LONG, X_NEW),
    "long dask": lambda: (chunked(X_LONG, 7000), X_NEW),
    "long mapped": lambda: (mapped(X_LONG), X_NEW),
    "nan": lambda: (np.where(X > 2.0, np.nan, X), X_NEW),
}


def _polars(A: Any) -> Any:
    import polars as pl

    return pl.DataFrame({name: A[:, j] for j, name in enumerate("abcd")})


@cache
def sample(name: str) -> Sample:
    """The samples of a name: a target, or a form and a target, as in "stack: three"."""
    form, _, target = name.rpartition(": ")
    train, new = FORMS[form]()
    y = (targets(X_LONG, NOISE_LONG) if form.startswith("long") else targets(X, NOISE))[target]
    return train, y[TWICE] if form == "twice" else y, new

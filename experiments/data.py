"""The datasets of the experiments, from the folder that MANYKERNELS_DATA names, or synthetic ones like them.

Files are those of `manykernels.datasets.load`. A quick run takes few samples of them. Where the variable is
not set it takes synthetic ones, with as many features and the same kinds of values: enough to see that a
script runs, and nothing else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manykernels import datasets

Array = NDArray[np.float64]
Task = Literal["classification", "regression"]
Scale = Literal["raw", "unit"]
FOLDER = "MANYKERNELS_DATA"
FEW = 200  # samples of a set in a quick run


class MissingData(Exception):
    """A set is not here; the message says what to do, `short` is for tables."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.short = f"not in {FOLDER}" if os.environ.get(FOLDER) else f"{FOLDER} is not set"


def stand_in(quick: bool) -> bool:
    """Whether synthetic samples are taken: in a quick run without a folder of data."""
    return quick and not os.environ.get(FOLDER)


def stored(name: str, dtype: Any = None) -> datasets.Dataset:
    """A set of the folder, as it is stored unless a type is asked for."""
    try:
        return datasets.load(name, dtype=dtype)
    except datasets.MissingDataset as reason:
        raise MissingData(f"{reason} With --quick and no {FOLDER} synthetic ones are used.") from reason


def stamp(given: Any, quick: bool = False) -> str:
    """Of the file of a `Source` or of a name: changes with it, "" if there is none, or a stand-in for it."""
    name = given.file if isinstance(given, Source) else given
    if stand_in(quick) or not isinstance(name, str) or Path(name).name != name:
        return ""
    file = Path(os.environ.get(FOLDER, "")) / f"{name}.npz"
    return f"{file.stat().st_size} {file.stat().st_mtime_ns}" if file.is_file() else ""


def three_parts(data: Dataset) -> tuple[int, int, int]:
    """Sizes for a quick run: half to train on, a quarter each to choose on and to test on."""
    n = data.y.size
    return n // 2, n // 4, n // 4


@dataclass(frozen=True)
class Dataset:
    """Samples, targets (±1 or numbers) and what is to be predicted."""

    X: Any
    y: Array
    task: Task


@dataclass(frozen=True)
class Source:
    """Where a table comes from and what is done to it.

    `scale`: "unit" maps every feature to [−1, 1] by its range over all samples, "raw" leaves it.
    `classes`: the labels that become +1 and −1 (default: the largest against the rest).
    """

    file: str
    task: Task
    scale: Scale = "unit"
    classes: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    letters: int = 0  # features are letters of an alphabet, to be coded as so many indicators each
    n_features: int = 8  # of the synthetic stand-in

    def load(self, m: int = 1000, quick: bool = False) -> Dataset:
        """At most m samples without missing values, drawn at random (the same ones in every run)."""
        rng = np.random.RandomState(0)
        if stand_in(quick):
            X, y = _synthetic(self, rng)
        else:
            given, m = stored(self.file), min(m, FEW) if quick else m
            complete = np.isfinite(given.X).all(axis=1)
            X, y = given.X[complete], given.y[complete]
        if self.task == "classification":
            X, y = _two_classes(X, y, self.classes)
        rows = rng.permutation(len(y))[:m]
        X, y = X[rows].astype(float), y[rows].astype(float)  # only these: images are bytes
        if self.letters:
            X = (X[:, :, None] == np.arange(self.letters)).reshape(len(X), -1).astype(float)
        return Dataset(_unit(X) if self.scale == "unit" else X, y, self.task)


def documents(name: str, task: Task, bigrams: int, m: int = 2000, quick: bool = False) -> Dataset:
    """Counts (CSR) of the most frequent bigrams in at most m reviews, drawn at random."""
    rng = np.random.RandomState(0)
    if stand_in(quick):
        X, y = _synthetic_counts(rng, bigrams)
        y = y if task == "classification" else y + rng.randn(y.size)
        return Dataset(X, y, task)
    given, m = stored(name, float), min(m, FEW) if quick else m
    pairs = np.array([j for j, word in enumerate(given.feature_names) if word.count("_") == 1])
    rows = np.sort(rng.permutation(len(given.y))[:m])
    X, y = given.X[rows], given.y[rows].astype(float)
    if task == "classification":  # labels −1 and 1, or stars: 4 and 5 against 1 and 2
        y = np.where(y > 0.5 * (y.min() + y.max()), 1.0, -1.0)
    total = np.asarray(X[:, pairs].sum(axis=0)).ravel()
    frequent = pairs[np.argsort(-total, kind="stable")[:bigrams]]
    return Dataset(X[:, np.sort(frequent)].tocsr(), y, task)


def _read(name: str, *keys: str) -> tuple[NDArray[Any], ...]:
    """Arrays of a file by their names, as they are stored."""
    file = Path(os.environ.get(FOLDER, "")) / f"{name}.npz"
    if not file.is_file():
        stored(name)
    with np.load(file) as data:
        return tuple(data[key] for key in keys)


def _two_classes(
    X: Array, y: Array, classes: tuple[tuple[int, ...], tuple[int, ...]] | None
) -> tuple[Array, Array]:
    positive, negative = (y == y.max(), y != y.max()) if classes is None else (np.isin(y, c) for c in classes)
    kept = positive | negative
    return X[kept], np.where(positive, 1.0, -1.0)[kept]


def _unit(X: Array) -> Array:
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray(2.0 * (X - low) / np.where(high > low, high - low, 1.0) - 1.0)


def _synthetic(source: Source, rng: np.random.RandomState, n: int = 60) -> tuple[Array, Array]:
    """Features that carry a nonlinear signal, letters where the source has letters."""
    X = rng.randn(n, source.n_features)
    signal = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.randn(n)
    if source.task == "regression":
        return X, signal
    codes = np.digitize(signal, np.quantile(signal, [0.3, 0.6])).astype(float)
    return (np.digitize(X, [-0.7, 0.0, 0.7]).astype(float) if source.letters else X), codes


def _synthetic_counts(rng: np.random.RandomState, bigrams: int, n: int = 60) -> tuple[Any, Array]:
    """Sparse counts whose first columns are more frequent in one class."""
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    rates = np.full((n, bigrams), 0.1)
    rates[:, : bigrams // 10] += 0.3 * (y[:, None] > 0)
    return sp.csr_matrix(rng.poisson(rates).astype(float)), y

"""The datasets of the experiments, from the folder that MANYKERNELS_DATA names, or synthetic ones like them.

A file NAME.npz holds X and y, or sparse counts of documents as X_data, X_indices, X_indptr and X_shape with a
vocabulary. Synthetic ones have as many features and the same kinds of values, but few samples: enough to see
that a script runs, and nothing else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]
Task = Literal["classification", "regression"]
Scale = Literal["raw", "unit"]


class MissingData(Exception):
    """An experiment cannot run here; the message says what is missing."""


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
        """At most m samples, drawn at random (the same ones in every run)."""
        rng = np.random.RandomState(0)
        X, y = _synthetic(self, rng) if quick else _read(self.file, "X", "y")
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
    if quick:
        X, y = _synthetic_counts(rng, bigrams)
        y = y if task == "classification" else y + rng.randn(y.size)
        return Dataset(X, y, task)
    data, indices, indptr, shape, vocabulary, y = _read(
        name, "X_data", "X_indices", "X_indptr", "X_shape", "vocab", "y"
    )
    X = sp.csr_matrix((data.astype(float), indices, indptr), shape=tuple(shape))
    words = vocabulary.tobytes().decode("utf-8").split("\n")
    pairs = np.array([j for j, word in enumerate(words) if word.count("_") == 1])
    rows = np.sort(rng.permutation(len(y))[:m])
    X, y = X[rows], y[rows].astype(float)
    if task == "classification":  # labels −1 and 1, or stars: 4 and 5 against 1 and 2
        y = np.where(y > 0.5 * (y.min() + y.max()), 1.0, -1.0)
    total = np.asarray(X[:, pairs].sum(axis=0)).ravel()
    frequent = pairs[np.argsort(-total, kind="stable")[:bigrams]]
    return Dataset(X[:, np.sort(frequent)].tocsr(), y, task)


def _read(name: str, *keys: str) -> tuple[NDArray[Any], ...]:
    folder = os.environ.get("MANYKERNELS_DATA")
    if folder is None:
        raise MissingData(
            "MANYKERNELS_DATA is not set; it should name the folder with the datasets (see README.md). "
            "With --quick synthetic ones are used instead."
        )
    file = Path(folder) / f"{name}.npz"
    if not file.is_file():
        raise MissingData(f"MANYKERNELS_DATA names a folder without {file.name}, which is needed here.")
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

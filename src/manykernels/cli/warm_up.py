"""Compiling ahead what the first fit in a new installation would wait for."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._arguments import number_of
from .._fast.compiled import compiling
from ..estimators import (
    AlignMKLClassifier,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MKLSurvivalCV,
    UFOMKLClassifier,
)
from ..families import Products
from ..inspection.certificates import certificate, why_none
from ._console import Voice

_ROWS = 72  # samples of the small problems


def say_compiled(voice: Voice) -> None:
    """The command: compile ahead, and say how much that was."""
    started = time.perf_counter()
    with voice.waiting("compiling"):
        names = compile_ahead()
    seconds = time.perf_counter() - started
    said = f"compiled {number_of(len(names), 'function')}" if names else "everything was compiled before"
    voice.show(f"{said} ({seconds:.0f} s); fits start at once from now on.")
    voice.answer({"command": "warm-up", "compiled": sorted(set(names)), "seconds": round(seconds, 1)})


def compile_ahead() -> list[str]:
    """Learn and predict small problems of every common kind, which compiles what they need; its names.

    Functions are compiled for types, not for sizes, so that small problems compile what large ones use.
    """
    with compiling() as names, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about problems that nobody has
        for model, X, y in _problems():
            model.fit(X, y).predict(X)
            if not why_none(model):
                certificate(model, X, y)  # which reports show
    return names


def _problems() -> Iterator[tuple[Any, Any, Any]]:
    """Models with samples for them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((_ROWS, 4))
    f = X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.standard_normal(_ROWS)
    y, three = np.where(f > np.median(f), "b", "a"), np.digitize(f, np.quantile(f, [1 / 3, 2 / 3]))
    times = np.zeros(_ROWS, dtype=[("event", bool), ("time", float)])
    times["event"], times["time"] = rng.random(_ROWS) < 0.7, rng.exponential(np.exp(X[:, 0]))
    yield MKLClassifier(), rng.standard_normal((_ROWS, 40)), y  # distances of many columns are products
    yield MKLClassifierCV(), X, y
    yield MKLClassifierCV(), X, three
    yield MKLRegressorCV(), X, f
    yield MKLSurvivalCV(), X, times
    yield MKLClassifier(kernels="precomputed"), np.stack([X @ X.T, (X @ X.T) ** 2], axis=2), y
    yield MKLRegressor(norm=2, loss="epsilon_insensitive"), X, f
    yield AlignMKLClassifier(), X, y
    yield MKLRegressor(kernels=Products(degree=2)), X, f
    yield UFOMKLClassifier(), X, y

"""Other packages, where they are installed: himalaya for regression, MKLpy for classification."""

from __future__ import annotations

from ..data import Array, Task
from ..tables import Facts


def himalaya(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    raise ImportError("himalaya")


def easy_mkl(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    raise ImportError("MKLpy")


def average_mkl(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    raise ImportError("MKLpy")

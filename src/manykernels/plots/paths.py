"""Weights along C: kept by a search, or from fits of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..estimators import Searched
from ..fitting.model import Model
from .reading import Array, weight_table


@dataclass(frozen=True)
class PathTable:
    """weights (steps, kernels) at C (steps,), by growing C; the score of each step where it is known."""

    C: Array
    weights: Array
    names: list[str]
    score: Array | None
    chosen: float | None


def path_of_search(searched: Searched, names: list[str]) -> PathTable:
    """Return the path of the chosen strategy and norm on all samples, with scores over the folds."""
    best, whole = searched.best, searched.whole
    found = searched.path[best["strategy"]]
    if whole is None:
        raise ValueError(
            f"{searched.title} took the strategy {best['strategy']!r}, for which it keeps no weights along "
            "C. Give its best_estimator_ with X and y, and a copy of it is fitted for every C."
        )
    weights = np.asarray(whole["weights"], dtype=np.float64)
    weights = weights.reshape(len(weights), -1, weights.shape[-1]).max(axis=1)  # rows of classes: the largest
    fixed = [key for key in ("norm", "kernels") if key in found]
    scored = {
        float(C): float(found["score"][i])
        for i, C in enumerate(found["C"])
        if all(found[key][i] == best[key] for key in fixed)
    }
    C = np.asarray(whole["C"], dtype=np.float64)
    score = np.array([scored.get(float(c), np.nan) for c in C])
    return _sorted(C, weights, list(map(str, names)), score, float(best["C"]))


def path_of_fits(fit: Callable[[float], Model], Cs: Array, chosen: float) -> PathTable:
    """Return the path of fits for every C; kernels of other fits have weight zero."""
    tables = [weight_table(fit(float(C))) for C in Cs]
    names = list(dict.fromkeys(name for table in tables for name in table.names))
    place = {name: m for m, name in enumerate(names)}
    weights = np.zeros((len(Cs), len(names)))
    for row, table in zip(weights, tables, strict=True):
        row[[place[name] for name in table.names]] = table.W.max(axis=0)
    return _sorted(Cs, weights, names, None, chosen)


def _sorted(
    C: Array, weights: Array, names: list[str], score: Array | None, chosen: float | None
) -> PathTable:
    order = np.argsort(C, kind="stable")
    return PathTable(C[order], weights[order], names, None if score is None else score[order], chosen)

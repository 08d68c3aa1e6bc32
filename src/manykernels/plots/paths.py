"""Weights along C: kept by a search, or from fits of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .reading import Array, weight_table


@dataclass(frozen=True)
class PathTable:
    """weights (steps, kernels) at C (steps,), by growing C; the score of each step where it is known."""

    C: Array
    weights: Array
    names: list[str]
    score: Array | None
    chosen: float | None


def path_of_search(search: Any) -> PathTable:
    """Of the strategy and norm that a search took, on all samples; scores are those over its folds."""
    best = search.best_params_
    found = search.path_[best["strategy"]]
    whole = found.get("all samples")
    if whole is None:
        raise ValueError(
            f"{type(search).__name__} took the strategy {best['strategy']!r}, for which it keeps no weights "
            "along C. Give its best_estimator_ with X and y, and a copy of it is fitted for every C."
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
    return _sorted(C, weights, list(map(str, search.kernel_names_)), score, float(best["C"]))


def path_of_fits(mkl: Any, X: Any, y: Any, Cs: Any = None) -> PathTable:
    """A copy of the model is fitted for every C; kernels of other fits have weight zero."""
    if "C" not in mkl.get_params(deep=False):
        raise ValueError(f"{type(mkl).__name__} has no parameter C to vary.")
    Cs = mkl.C * np.logspace(-3, 3, 13) if Cs is None else np.asarray(Cs, dtype=np.float64)
    tables = [weight_table(clone(mkl).set_params(C=float(C), verbose=0).fit(X, y)) for C in Cs]
    names = list(dict.fromkeys(name for table in tables for name in table.names))
    place = {name: m for m, name in enumerate(names)}
    weights = np.zeros((len(Cs), len(names)))
    for row, table in zip(weights, tables, strict=True):
        row[[place[name] for name in table.names]] = table.W.max(axis=0)
    return _sorted(Cs, weights, names, None, float(mkl.C))


def _sorted(
    C: Array, weights: Array, names: list[str], score: Array | None, chosen: float | None
) -> PathTable:
    order = np.argsort(C, kind="stable")
    return PathTable(C[order], weights[order], names, None if score is None else score[order], chosen)

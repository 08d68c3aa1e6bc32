"""Weights along C: kept by a search, or from fits of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ._reading import Array, weight_table


@dataclass(frozen=True)
class PathTable:
    """weights (steps, kernels) at C (steps,), by growing C; the score of each step where it is known."""

    C: Array
    weights: Array
    names: list[str]
    score: Array | None
    chosen: float | None


def path_of_search(search: Any, strategy: str | None = None) -> PathTable:
    """One norm of one strategy of a search that keeps ``path_``: the best, unless told which strategy."""
    path, best = search.path_, search.best_params_
    strategy = best["strategy"] if strategy is None else strategy
    if strategy not in path:
        raise ValueError(f"strategy={strategy!r} was given; the search tried {', '.join(path)}.")
    found = path[strategy]
    taken = strategy == best["strategy"]
    norms = np.asarray(found["norm"], dtype=np.float64)
    score = np.asarray(found["score"], dtype=np.float64)
    norm = float(best["norm"]) if taken and np.any(norms == best["norm"]) else norms[np.nanargmax(score)]
    one = np.flatnonzero(norms == norm)
    names = [str(name) for name in found.get("names", search.kernel_names_)]
    weights = np.asarray(found["weights"], dtype=np.float64)
    weights = weights.reshape(len(norms), -1, weights.shape[-1]).max(axis=1)  # rows of classes: the largest
    C = np.asarray(found["C"], dtype=np.float64)
    chosen = float(best["C"]) if taken else None
    return _sorted(C[one], weights[one], names, score[one], chosen)


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

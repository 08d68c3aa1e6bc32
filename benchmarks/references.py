"""References by general convex solvers: one place, shared by the benchmarks and the tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np

from .problems import Array

_TOLERANCES = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)


def optimal_value(problem: cp.Problem, tol: float = 1e-8) -> float:
    """The optimal value, at the tightest tolerance from `tol` on that a solver certifies."""
    for _ in attempts(problem, tol):
        if problem.status == cp.OPTIMAL:
            return float(problem.value)
    raise AssertionError(f"No convex solver has a reference for this problem: {problem.status}.")


def attempts(problem: cp.Problem, tol: float) -> Iterator[None]:
    """Solve in one way after the other; after each one that ends, problem and variables say what was found.

    An interior-point method ends where its linear systems lose their last digits, and the digits of the
    data, which depend on the processor, decide where. So there are looser tolerances, and a second solver
    that works by other means.
    """
    for options in _ways(tol):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "Solution may be inaccurate": its status says so too
                problem.solve(**options)
        except (cp.SolverError, ValueError):
            continue
        yield


def _ways(tol: float) -> Iterator[dict[str, Any]]:
    names = ("tol_gap_rel", "tol_gap_abs", "tol_feas")
    for looser in (t for t in _TOLERANCES if t >= tol):
        yield {"solver": cp.CLARABEL, **dict.fromkeys(names, looser)}
    for looser in (1e-7, 1e-6):  # a first-order method needs too long for more
        yield {"solver": cp.SCS, "eps": looser, "max_iters": 20_000}


def root(K: Array) -> Array:
    """L with L Lᵀ = K and no more columns than K has rank: empty directions make Clarabel fail."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-10 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])

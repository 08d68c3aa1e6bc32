"""Where a problem reduces to a group lasso: linear kernels on groups of columns, beside skglm.

With norm 1, the squared loss and K_g = X_g X_gᵀ, the estimators minimise

    P(w) = ½ (Σ_g ‖w_g‖)² + C · ½‖y − Xw‖²

At the minimum, X_gᵀ(y − Xw) ∈ (S/C) ∂‖w_g‖ with S = Σ ‖w_g‖: the condition of the group lasso

    ½‖y − Xw‖² + λ Σ_g ‖w_g‖     with     λ = S / C,

so both have the same w. X and y are centred beforehand, and neither fits an intercept. Groups of one column
are rank-one kernels, and the lasso. Both are judged by the group lasso's own gap, which neither computes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import Lasso

from manykernels import MKLRegressor
from manykernels.families import rank_one
from manykernels.kernels import Linear, OnColumns

from .harness import MISSING, Report, Timing, compare
from .problems import Array
from .rivals_linear import certificate, group_lasso

GOAL = "the same w: prediction difference ≤ 1e-3"
COSTS = [0.1, 0.3, 1.0, 3.0, 10.0]
Facts = dict[str, Any]
Groups = list[list[int]]


def run(report: Report) -> None:
    """Groups of five columns and single columns, of several sizes; then a path of C."""
    repeats = report.pick(3, 1)
    sizes = report.pick([(200, 100), (500, 100), (500, 400), (1000, 100)], [(60, 8), (60, 16)])
    rows = [row for n, M in sizes for row in fits(n, M, 5, [1.0], repeats)]
    report.table("groups of 5 columns, C = 1", rows, GOAL)
    sizes = report.pick([(200, 1000), (500, 1000), (500, 5000)], [(60, 40), (60, 80)])
    rows = [row for n, M in sizes for row in fits(n, M, 1, [1.0], repeats)]
    report.table("single columns (rank-one kernels, lasso), C = 1", rows, GOAL)
    n, M = report.pick((500, 100), (60, 8))
    title = f"a path of C from {COSTS[0]:g} to {COSTS[-1]:g}, groups of 5 columns"
    report.table(title, fits(n, M, 5, COSTS, repeats), GOAL)


def problem(n: int, M: int, size: int) -> tuple[Array, Array, Groups]:
    """M groups of `size` columns, of which six matter; centred, mean diagonal of each K_g and of yyᵀ 1."""
    rng = np.random.RandomState(0)
    X = rng.randn(n, M * size)
    groups = [list(range(g * size, (g + 1) * size)) for g in range(M)]
    w = np.zeros(M * size)
    w[: 6 * size] = rng.randn(6 * size)
    y = X @ w
    y += 0.5 * y.std() * rng.randn(n)
    X, y = X - X.mean(axis=0), y - y.mean()
    return X / (X.std(axis=0) * np.sqrt(size)), y / y.std(), groups


def learned(X: Array, y: Array, groups: Groups, costs: list[float], tol: float = 1e-6) -> Array:
    """(len(costs), d): our w for every C, each fit from the one before: w_g = θ_g X_gᵀα."""
    single = all(len(group) == 1 for group in groups)
    kernels = rank_one() if single else [OnColumns(Linear(), group) for group in groups]
    options: Facts = {"norm": 1.0, "loss": "squared", "normalize": None, "fit_intercept": False, "tol": tol}
    model = MKLRegressor(kernels, warm_start=len(costs) > 1, **options)
    found = np.zeros((len(costs), X.shape[1]))
    for w, C in zip(found, costs, strict=True):
        model.set_params(C=C).fit(X, y)
        alpha = np.ravel(model.dual_coef_)
        for theta, group in zip(np.ravel(model.weights_), groups, strict=True):
            w[group] = theta * (X[:, group].T @ alpha)
    return found


def strength(groups: Groups, w: Array, C: float) -> float:
    """λ = Σ ‖w_g‖ / C."""
    return sum(float(np.linalg.norm(w[group])) for group in groups) / C


def fits(n: int, M: int, size: int, costs: list[float], repeats: int) -> list[Facts]:
    """Rows of all contenders on one problem; λ comes from a fit of ours to 1e-9, which is not timed."""
    X, y, groups = problem(n, M, size)
    exact = learned(X, y, groups, costs, 1e-9)
    lams = [strength(groups, w, C) for w, C in zip(exact, costs, strict=True)]
    contenders: dict[str, Callable[[], Any]] = {
        "ours, tol 1e-3": partial(learned, X, y, groups, costs, 1e-3),
        "ours, tol 1e-6": partial(learned, X, y, groups, costs),
    }
    for tol in (1e-1, 1e-3):
        contenders[f"skglm, tol {tol:g}"] = partial(group_lasso, X, y, groups, lams, tol)
    if size == 1:
        contenders["scikit-learn Lasso"] = partial(sklearn_lasso, X, y, lams)
    timings = compare(contenders, repeats)
    return [row_of(name, t, n, M, (X, y, groups), lams, exact) for name, t in timings.items()]


def row_of(
    name: str,
    timing: Timing,
    n: int,
    M: int,
    data: tuple[Array, Array, Groups],
    lams: list[float],
    exact: Array,
) -> Facts:
    """A contender's time, its worst gap, and how far it predicts from the exact solution."""
    X, y, groups = data
    row: Facts = {"n": n, "M": M, "contender": name}
    if timing.result is None:
        return {**row, "seconds": MISSING}
    told = [certificate(X, y, groups, lam, w) for lam, w in zip(lams, timing.result, strict=True)]
    best = [certificate(X, y, groups, lam, w)[0] for lam, w in zip(lams, exact, strict=True)]
    away = np.sqrt(np.mean(((timing.result - exact) @ X.T) ** 2, axis=1)).max() / y.std()
    zeros = np.array([np.linalg.norm(timing.result[-1][group]) > 1e-8 for group in groups])
    row |= {"seconds": timing, "CPU ms": 1e3 * float(np.median(timing.cpu))}
    row |= {"gap": max(gap for _, gap in told), "prediction difference": float(away)}
    row["objective above ours"] = max(p / b - 1.0 for (p, _), b in zip(told, best, strict=True))
    return {**row, "groups": int(zeros.sum()), "λ/λmax": lams[-1] / lam_max(X, y, groups)}


def lam_max(X: Array, y: Array, groups: Groups) -> float:
    """The smallest λ at which w = 0."""
    return max(float(np.linalg.norm(X[:, group].T @ y)) for group in groups)


def sklearn_lasso(X: Array, y: Array, lams: list[float]) -> Array:
    """scikit-learn's coordinate descent, with its own tolerance."""
    model = Lasso(fit_intercept=False, warm_start=True, max_iter=10_000)
    return np.array([model.set_params(alpha=lam / len(y)).fit(X, y).coef_.copy() for lam in lams])

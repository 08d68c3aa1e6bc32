"""Weights by one convex problem or by random search: MKLRegressorCV beside himalaya, on given kernels.

Both get the same matrices (mean diagonal 1), the same folds and an intercept. himalaya's
MultipleKernelRidgeCV draws weights from Dirichlet distributions and keeps what is best in the folds, with a
ridge α from a list; MKLRegressorCV learns weights in every fold, and chooses norm and C there. Errors and
times are those of several splits into training and test samples, each fitted once by each in turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import StandardScaler

from manykernels import MKLRegressorCV
from manykernels.kernels import Gaussian, Kernel, Linear, OnColumns

from .harness import Contender, Report, split_rows
from .problems import Array, gaussians
from .rivals_linear import ridge_search

GOAL = "no worse an error, in less time"
ALPHAS = 10.0 ** np.arange(-6.0, 3.1)
OURS, RIVAL = "MKLRegressorCV", "himalaya, {} draws"
Data = tuple[Array, Array, list[Kernel]]


def run(report: Report) -> None:
    """Three sets; every split with kernels of its training samples."""
    seeds, draws = report.pick((5, (20, 100)), (2, (5,)))
    for title, (X, y, kernels) in sets(report.pick(None, 60)).items():
        rows = split_rows(splits(X, y, kernels, seeds, draws), OURS, "relative squared error")
        report.table(f"{title}: {len(kernels)} kernels, {len(y)} samples, {seeds} splits", rows, GOAL)


def sets(most: int | None) -> dict[str, Data]:
    """Diabetes with kernels of every column and of all; ten views of which two matter; Friedman's."""
    rng = np.random.RandomState(0)
    columns: list[Kernel] = [OnColumns(Gaussian(1.5), j) for j in range(10)]
    X, y = load_diabetes(return_X_y=True)
    diabetes = X[:most], y[:most], [*columns, Linear(), *gaussians(5)]
    Z = rng.randn(500, 30)[:most]
    views: list[Kernel] = [OnColumns(Gaussian(2.0), [j, j + 1, j + 2]) for j in range(0, 30, 3)]
    target = np.sin(2.0 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + np.cos(Z[:, 3] + Z[:, 4]) + 0.3 * rng.randn(len(Z))
    F, t = make_friedman1(500, 10, noise=1.0, random_state=0)
    friedman = F[:most], t[:most], [*columns, *gaussians(5)]
    return {"diabetes": diabetes, "ten views, two matter": (Z, target, views), "Friedman 1": friedman}


def split(X: Array, y: Array, kernels: list[Kernel], seed: int) -> tuple[Array, Array, Array, Array]:
    """Kernels (M, n, n) of a random two thirds, their targets, kernels (M, t, n) and targets of the rest."""
    A, B, a, b = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    scaler = StandardScaler().fit(A)
    A, B = scaler.transform(A), scaler.transform(B)
    K, new = np.array([k(A, A) for k in kernels]), np.array([k(B, A) for k in kernels])
    scale = np.einsum("mii->m", K)[:, None, None] / len(A)
    return K / scale, a, new / scale, b


def splits(
    X: Array,
    y: Array,
    kernels: list[Kernel],
    seeds: int,
    draws: tuple[int, ...],
    models: Callable[..., dict[str, Callable[[], Any]]] | None = None,
) -> Iterator[Any]:
    """For every split what is timed (`models` of it), and how a model errs on its test samples."""
    models = models or searches
    for seed in range(seeds):
        K, a, new, b = split(X, y, kernels, seed)
        few = models(K[:, :30, :30], a[:30], draws)  # compiles: the first split is timed as the others are

        def error(name: str, model: Any, new: Array = new, a: Array = a, b: Array = b) -> float:
            Z = new if name.startswith("himalaya") else np.moveaxis(new, 0, -1)
            return float(np.mean((np.ravel(model.predict(Z)) - b) ** 2) / np.mean((a.mean() - b) ** 2))

        yield {name: Contender(fit, few[name]) for name, fit in models(K, a, draws).items()}, error


def searches(K: Array, y: Array, draws: tuple[int, ...]) -> dict[str, Callable[[], Any]]:
    """What is timed: whole searches with the final fit, on the same folds."""
    cv = KFold(5, shuffle=True, random_state=0)
    ours = MKLRegressorCV("precomputed", strategy="finite", normalize=None, cv=cv, random_state=0)
    contenders: dict[str, Callable[[], Any]] = {OURS: partial(ours.fit, np.moveaxis(K, 0, -1), y)}
    for n_iter in draws:
        contenders[RIVAL.format(n_iter)] = partial(ridge_search, K, y, cv, ALPHAS, n_iter)
    return contenders

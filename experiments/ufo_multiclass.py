"""Orabona & Jie 2011, §5.2, Fig. 1: three classes and four kernels; the fourth tells all classes apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manykernels import MKLClassifier, UFOMKLClassifier
from manykernels.datasets import make_three_views
from manykernels.kernels import Gaussian, Kernel, OnColumns

from .common import in_parallel
from .data import Array
from .tables import Facts, Report

SEEDS, NOISES = range(10), (0.1, 0.15)
ALPHAS = (1e-2, 2e-2, 5e-2)  # the list of Orabona & Jie 2011 ends at 0.02
EPOCHS, WIDTH = 100, 0.5


def problem(seed: int, noise: float, n: int = 100) -> tuple[Array, NDArray[np.int64]]:
    """Four pairs of columns: the first three set one class apart, the fourth all (`make_three_views`)."""
    return make_three_views(n, noise=noise, random_state=seed)


def kernels() -> list[Kernel]:
    return [OnColumns(Gaussian(WIDTH), [2 * j, 2 * j + 1]) for j in range(4)]


def trial(seed: int, noise: float, n: int, epochs: int) -> dict[str, Any]:
    """The weights (summing to 1) of the multiclass loss for every α, and of each class against the rest."""
    X, y = problem(seed, noise, n)
    found: dict[str, Any] = {}
    options: dict[str, Any] = {"epochs": epochs, "fit_intercept": False, "random_state": seed}
    for alpha in ALPHAS:
        model = UFOMKLClassifier(
            kernels(), loss="multiclass_hinge", lam=1.0 / (100 * y.size), alpha=alpha, **options
        ).fit(X, y)
        found[f"multiclass, α = {alpha:g}"] = [model.weights_ / model.weights_.sum()]
    rest = MKLClassifier(kernels(), norm=1, C=100.0, multi_class="ovr").fit(X, y)
    for k, weights in enumerate(np.asarray(rest.weights_)):
        found[f"class {k + 1} against the rest"] = [weights / weights.sum()]
    return found


def run(report: Report) -> None:
    """Weights of one seed, and how many kernels have weight in all of them."""
    seeds, n, epochs = (range(2), 20, 20) if report.quick else (SEEDS, 100, EPOCHS)
    for noise in NOISES:
        found = in_parallel(trial, [(seed, noise, n, epochs) for seed in seeds], report.quick)
        rows = [told(method, [one[method][0] for one in found]) for method in found[0]]
        title = f"{3 * n} samples, noise {noise:g}, λ = 1/(100 · {3 * n}), {epochs} epochs"
        report.table(title, rows, NOTE)


NOTE = (
    "Weights are those of seed 0. Kernels: the least and the largest number with weight over all seeds; only "
    "the fourth: in how many seeds no other has any. Orabona & Jie 2011: the multiclass loss selects the "
    "fourth kernel "
    "only, each class against the rest two kernels."
)


def told(method: str, weights: list[Array]) -> Facts:
    used = [int(np.count_nonzero(w)) for w in weights]
    only = sum(bool(np.flatnonzero(w).tolist() == [3]) for w in weights)
    row: Facts = {"learned": method}
    row |= {f"kernel {j + 1}": f"{weights[0][j]:.2f}" if weights[0][j] else "0" for j in range(4)}
    kernels = f"{min(used)}" if min(used) == max(used) else f"{min(used)} to {max(used)}"
    return row | {"kernels": kernels, "only the fourth": f"{only} of {len(weights)}"}

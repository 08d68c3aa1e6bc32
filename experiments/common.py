"""The protocol of 004 §3.3.2: five folds, three to train on, one to tune the machine on, one to test on.

Kernels are centred and normalised on the three training folds only. A kernel is given as its matrix K of all
samples (rows) against the training ones (columns), so that tuning and testing need no kernel again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from manykernels.kernels import Gaussian, Kernel

from .data import Array, Dataset, Task

Rows = NDArray[np.intp]

# Kernels have a training diagonal of mean 1 in what follows, so these grids reach from hardly any fit to
# hardly any regularisation. C = 1/λ in the notation of the one-stage estimators.
COSTS: dict[Task, list[float]] = {
    "classification": [10.0**k for k in range(-2, 5)],
    "regression": [10.0**k for k in range(-2, 6)],
}


@dataclass(frozen=True)
class Split:
    train: Rows
    validation: Rows
    test: Rows


def splits(data: Dataset, rounds: int = 1, folds: int = 5) -> list[Split]:
    """Fold k is tested on, fold k+1 tuned on, the others trained on; classes are spread evenly over folds."""
    n, parts = data.y.size, []
    for seed in range(rounds):
        order = np.random.RandomState(seed).permutation(n)
        if data.task == "classification":
            order = order[np.argsort(data.y[order], kind="stable")]
        fold = np.empty(n, dtype=int)
        fold[order] = np.arange(n) % folds
        for k in range(folds):
            test, validation = fold == k, fold == (k + 1) % folds
            rows = (np.flatnonzero(part) for part in (~(test | validation), validation, test))
            parts.append(Split(*rows))
    return parts


def gaussians(exponents: Iterable[int]) -> list[Kernel]:
    """exp(−γ‖x − x'‖²) with γ = 2^e; the package's width is 1/√γ."""
    return [Gaussian(float(2.0 ** (-e / 2.0)), name=f"γ = 2^{e}") for e in exponents]


def error(task: Task, y: Array, predicted: Array) -> float:
    """Misclassified per cent, or the root of the mean squared error."""
    if task == "classification":
        return 100.0 * float(np.mean(y != predicted))
    return float(np.sqrt(np.mean((y - predicted) ** 2)))


def tuned(data: Dataset, split: Split, predictions: Iterable[Array]) -> tuple[int, float]:
    """Which of several predictions for all samples is best in the validation fold, and its test error.

    Of equal ones the first is taken, so candidates go from much regularisation to little.
    """
    best = (np.inf, -1, np.nan)
    for k, f in enumerate(predictions):
        on_validation = error(data.task, data.y[split.validation], f[split.validation])
        if on_validation < best[0]:
            best = (on_validation, k, error(data.task, data.y[split.test], f[split.test]))
    return best[1], best[2]


def machines(data: Dataset, split: Split, K: Array) -> Iterable[Array]:
    """Predictions for all samples of an SVM or of kernel ridge regression with kernel K, for every cost."""
    y, K_train = data.y[split.train], K[split.train]
    if data.task == "classification":
        for C in COSTS[data.task]:
            yield SVC(C=C, kernel="precomputed").fit(K_train, y).predict(K)
        return
    values, V = np.linalg.eigh(K_train)  # (K + I/C)⁻¹ for every C
    values, mean = np.maximum(values, 0.0), y.mean()  # the kernels are centred, so the intercept is the mean
    KV, Vy = K @ V, V.T @ (y - mean)
    for C in COSTS[data.task]:
        yield KV @ (Vy / (values + 1.0 / C)) + mean


def tuned_error(data: Dataset, split: Split, K: Array) -> float:
    """Of the machine with kernel K whose cost is best in the validation fold."""
    return tuned(data, split, machines(data, split, K))[1]


def in_parallel(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Trials on all processors, one thread each."""
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=-1, inner_max_num_threads=1)(delayed(function)(*a) for a in arguments))

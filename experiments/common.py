"""The protocol of Rostamizadeh 2010, §3.3.2: five folds, three to train on, one to tune on, one to test on.

Kernels are centred and normalised on the three training folds only. A kernel is given as its matrix K of all
samples (rows) against the training ones (columns), so that tuning and testing need no kernel again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from manykernels import KernelAligner, MKLClassifier, MKLRegressor
from manykernels.kernels import Gaussian, Kernel
from manykernels.measures import centered_alignment
from manykernels.solvers import Greedy

from .data import Array, Dataset, Task
from .tables import Facts, Spread
from .trials import in_parallel as in_parallel

Rows = NDArray[np.intp]
CKL = Greedy("line-search")  # as Afkanpour (2013, Alg. 6) has it; by default steps are others

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


def two_stage(
    data: Dataset, split: Split, kernels: Any, weighting: str, center: bool = True
) -> dict[str, float]:
    """Weights by alignment on the training folds, then the tuned machine."""
    train, test = split.train, split.test
    model = KernelAligner(kernels, weighting=weighting, center=center, target=data.task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that weights are not unique: they are not looked at
        model.fit(data.X[train], data.y[train])
    return {
        "error": tuned_error(data, split, model.transform(data.X)),
        "alignment": model.alignment_,
        "test": model.score_alignment(data.X[test], data.y[test]),
        "active": float(model.active_.size),
    }


def one_stage(
    data: Dataset, split: Split, kernels: Any, *, norm: Any, costs: Sequence[float] = (), **options: Any
) -> dict[str, float]:
    """Weights and machine in one problem, by default for the costs of the other machines."""
    train, test = split.train, split.test
    Model = MKLClassifier if data.task == "classification" else MKLRegressor
    options = {"center": True, **options}
    models = [Model(kernels, norm=norm, C=C, **options) for C in costs or COSTS[data.task]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a gap above tol: the table says the gap
        for model in models:
            model.fit(data.X[train], data.y[train])
    best, wrong = tuned(data, split, (model.predict(data.X) for model in models))
    kernel = models[best].kernel_
    return {
        "error": wrong,
        "alignment": centered_alignment(kernel(data.X[train]), data.y[train], kind=data.task),
        "test": centered_alignment(kernel(data.X[test]), data.y[test], kind=data.task),
        "active": float(models[best].active_.size),
        "gap": models[best].dual_gap_,
    }


def comparison(
    task: Task, found: list[dict[str, Facts]], paper: dict[str, tuple[str, str]]
) -> list[dict[str, Any]]:
    """A row per method: mean and standard deviation over the trials, beside the paper's figures."""
    digits, table = 1 if task == "classification" else 3, []
    for method in found[0]:
        column = {key: [trial[method][key] for trial in found] for key in found[0][method]}
        gain = [trial[method]["error"] - trial["unif"]["error"] for trial in found]
        row: Facts = {"method": method, "error": Spread(column["error"], digits)}
        row |= {"less unif's": Spread(gain, digits), "alignment, test": Spread(column["test"])}
        row |= {"training": Spread(column["alignment"]), "kernels used": Spread(column["active"], 1)}
        row |= {"largest gap": f"{max(column['gap']):.0e}"} if "gap" in column else {}
        row |= dict(
            zip(
                ("Rostamizadeh 2010: error", "Rostamizadeh 2010: alignment"),
                paper.get(method, ()),
                strict=False,
            )
        )
        table.append(row)
    return table

"""The data and the problems that several benchmarks share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.preprocessing import StandardScaler

from manykernels.grams import Gram
from manykernels.kernels import Gaussian, Kernel, evaluate
from manykernels.losses import Hinge, Loss
from manykernels.objectives import Risk, Separable
from manykernels.penalties import resolve_penalty
from manykernels.solvers import ActiveSet, Result, Run

from .harness import Skip

Array = NDArray[np.float64]


def breast_cancer() -> tuple[Array, Array]:
    """569 × 30, standardised; y is ±1."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), 2.0 * y - 1.0


def classification(n: int, d: int = 50, informative: int = 15) -> tuple[Array, Array]:
    """scikit-learn's synthetic classes, standardised; y is ±1."""
    X, y = make_classification(n, d, n_informative=informative, random_state=0)
    return StandardScaler().fit_transform(X), 2.0 * y - 1.0


def word_counts(n: int, M: int, words: int = 100) -> tuple[sp.csr_matrix, Array]:
    """Counts of M words in n documents of about `words` words, Zipf distributed; y is ±1, some words lean."""
    rng = np.random.RandomState(0)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    frequency = 1.0 / np.arange(10, M + 10)
    lean = np.where(rng.rand(M) < 0.1, 0.5 * rng.randn(M), 0.0)
    rates = frequency * np.exp(y[:, None] * lean)
    X = rng.poisson(words * rates / frequency.sum()).astype(float)
    return sp.csr_matrix(X[:, X.any(axis=0)]), y


def load(name: str) -> tuple[Array, Array]:
    """A dataset (X standardised, y = ±1) from the folder that MANYKERNELS_DATA names."""
    folder = os.environ.get("MANYKERNELS_DATA")
    file = Path(folder or ".") / f"{name}.npz"
    if folder is None or not file.is_file():
        missing = "is not set" if folder is None else f"names a folder without {file.name}"
        raise Skip(f"MANYKERNELS_DATA {missing}; it should name a folder with {file.name} (arrays X and y)")
    with np.load(file) as data:
        X, y = data["X"].astype(float), data["y"]
    return StandardScaler().fit_transform(X), np.where(y == y.max(), 1.0, -1.0)


def gaussians(M: int) -> list[Kernel]:
    """M Gaussian kernels, γ = 1/width² log-spaced in [1e-4, 10]."""
    return [Gaussian(float(gamma**-0.5)) for gamma in np.geomspace(1e-4, 10.0, M)]


def stack_of(kernels: list[Kernel], X: Any) -> Array:
    """(M, n, n): all Gram matrices."""
    stack = np.empty((len(kernels), len(X), len(X)))
    for m, K in evaluate(kernels, X):
        stack[m] = K
    return stack


def risk_of(y: Array, C: float, loss: Loss | None = None) -> Risk:
    """The regularised risk of one output, with an intercept."""
    return Separable(loss or Hinge(), y[:, None], np.full((y.size, 1), C), True)


def solve(gram: Gram, risk: Risk, norm: float, tol: float = 1e-3, max_iter: int = 1000) -> Result:
    """The package's solver, without an estimator around it."""
    rng = np.random.RandomState(0)
    return ActiveSet().run(gram, risk, resolve_penalty(norm), Run(tol=tol, max_iter=max_iter, rng=rng))


def told(result: Any) -> dict[str, Any]:
    """The certificate of a solver's result or a fitted estimator, and what it took."""
    if hasattr(result, "dual_gap_"):
        return {"gap": result.dual_gap_, "iterations": result.n_iter_, "active": len(result.active_)}
    return {"gap": result.gap, "iterations": result.n_iter, "active": int(np.count_nonzero(result.weights))}

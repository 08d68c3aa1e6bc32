"""Other packages, where they are installed (pip install himalaya MKLpy), on the kernels of "auto".

Kernels are those that "auto" makes of the training samples, with a mean diagonal of 1 there.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from ..data import Array, Task
from ..tables import Facts
from .methods import machine

LAMBDAS = (0.0, 0.25, 0.5, 0.75, 1.0)
COSTS = [10.0**k for k in range(-1, 4)]
ALPHAS = 10.0 ** np.arange(-6.0, 3.1)


def load_rivals() -> None:
    """Before clocks start; what is missing is said where it is needed."""
    for name in ("himalaya.kernel_ridge", "torch", "MKLpy.algorithms"):
        with suppress(ImportError):
            import_module(name)


def stacks(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Array]:
    """Matrices of every kernel for (X, X) and for (Z, X)."""
    kernels = machine(task, norm=np.inf).fit(X, y).kernels_
    K, new = np.array([k(X, X) for k in kernels]), np.array([k(Z, X) for k in kernels])
    scale = np.einsum("kii->k", K) / len(X)
    return K / scale[:, None, None], new / scale[:, None, None]


# -- himalaya ---------------------------------------------------------------------------------------
def himalaya(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    """MultipleKernelRidgeCV: a hundred random weights of the kernels (its default), ten α, five folds."""
    Ridge = import_module("himalaya.kernel_ridge").MultipleKernelRidgeCV
    options = {"n_iter": 100, "alphas": ALPHAS, "progress_bar": False}
    K, new = stacks(X, y, Z, task)
    model = Ridge(kernels="precomputed", solver="random_search", solver_params=options, cv=5, random_state=0)
    return np.asarray(model.fit(K, y - y.mean()).predict(new)).ravel() + y.mean(), {}


# -- MKLpy ------------------------------------------------------------------------------------------
class TunedSVC(BaseEstimator):  # type: ignore[misc]
    """An SVM on a kernel matrix, with C by five folds; matrices may be tensors."""

    scores: tuple[float, ...] = ()  # of every machine that was fitted, in the folds

    def fit(self, K: Any, y: Any) -> Self:
        svm = SVC(kernel="precomputed")
        self.search_ = GridSearchCV(svm, {"C": COSTS}, cv=5).fit(np.asarray(K), np.asarray(y))
        TunedSVC.scores += (float(self.search_.best_score_),)
        return self

    def predict(self, K: Any) -> Array:
        return np.asarray(self.search_.predict(np.asarray(K)))

    def decision_function(self, K: Any) -> Array:
        return np.asarray(self.search_.decision_function(np.asarray(K)))


def average_mkl(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    """The mean of the kernels; each class against the rest."""
    K, new = stacks(X, y, Z, task)
    return _learned("AverageMKL", K, y, new)[1], {}


def easy_mkl(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    """Of five λ that whose machines are best in their folds, given weights from all training samples."""
    K, new = stacks(X, y, Z, task)
    tried = [_learned("EasyMKL", K, y, new, lam=lam) for lam in LAMBDAS]
    best = int(np.argmax([score for score, _ in tried]))
    return tried[best][1], {"lambda": LAMBDAS[best]}


def _learned(name: str, K: Array, y: Array, new: Array, **options: Any) -> tuple[float, Array]:
    """The mean score of machines in their folds, and predictions."""
    torch, algorithms = import_module("torch"), import_module("MKLpy.algorithms")
    torch.set_num_threads(1)
    classes, codes = np.unique(y, return_inverse=True)
    TunedSVC.scores = ()
    model = getattr(algorithms, name)(learner=TunedSVC(), **options)
    model.fit([torch.tensor(k) for k in K], torch.tensor(codes))
    predicted = np.asarray(model.predict([torch.tensor(k) for k in new])).astype(int)
    return float(np.mean(TunedSVC.scores)), classes[predicted]

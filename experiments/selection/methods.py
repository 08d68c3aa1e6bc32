"""What a user may do with a table and no time to tune by hand.

A method gives predictions for new samples and says what it chose. It gets raw features and scales them, if it
does, by the training samples.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV
from manykernels.families import Subset

from ..data import Array, Task
from ..tables import Facts

GAMMAS = 10.0 ** np.arange(-4.0, 1.1, 0.5)
Method = Callable[[Array, Array, Array, Task], tuple[Array, Facts]]


def percent(task: Task, y: Array, predicted: Array) -> float:
    """Misclassified, or the part of the variance that is left."""
    if task == "classification":
        return 100.0 * float(np.mean(y != predicted))
    return 100.0 * float(np.mean((y - predicted) ** 2) / np.var(y))


def timed(method: Method, X: Array, y: Array, Z: Array, t: Array, task: Task) -> Facts:
    """Error and seconds of one processor, for choosing, fitting and predicting."""
    before = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        predicted, facts = method(X, y, Z, task)
    seconds = time.process_time() - before
    return {"error": percent(task, t, predicted), "seconds": seconds} | facts


# -- this package -----------------------------------------------------------------------------------
def search(task: Task, kernels: Any = "auto", **options: Any) -> Any:
    return (MKLClassifierCV if task == "classification" else MKLRegressorCV)(kernels, **options)


def machine(task: Task, kernels: Any = "auto", **options: Any) -> Any:
    return (MKLClassifier if task == "classification" else MKLRegressor)(kernels, loss="squared", **options)


def told(model: Any) -> Facts:
    """What was chosen, and the row of path_ of the best kernel alone."""
    best = {key: str(value) for key, value in model.best_params_.items()}
    return {"best": best, "alone": alone(model.path_.get("finite"))}


def alone(path: Any) -> Facts | None:
    """The kernel and C that are best where a model has one kernel only; None where none was tried."""
    ones = (
        [i for i, only in enumerate(path["kernels"]) if only is not None and len(only) == 1] if path else []
    )
    if not ones:
        return None
    i = min(ones, key=lambda i: float(path["loss"][i]))
    return {"kernel": path["kernels"][i][0], "C": float(path["C"][i])}


def ours(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    """With nothing set."""
    model = search(task).fit(X, y)
    return model.predict(Z), told(model)


def widths(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    """Who knows that features differ may ask for a width per feature alone, and C by leave-one-out."""
    model = search(task, strategy="continuous", cv="loo", norms=[2.0]).fit(X, y)
    return model.predict(Z), {"C": model.best_params_["C"]}


def uniform(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    """The plain sum of the kernels of "auto", with C by five folds."""
    model = search(task, strategy=[machine(task, norm=np.inf)]).fit(X, y)
    return model.predict(Z), {"C": model.best_params_["C"]}


def single(X: Array, y: Array, Z: Array, task: Task, best: Facts | None = None) -> tuple[Array, Facts]:
    """The best kernel of "auto" alone; `best` where a search has found it already."""
    if best is None:
        best = alone(search(task, strategy="finite", refit=False).fit(X, y).path_["finite"])
    if best is None:
        raise ValueError("there are too many kernels in 'auto' for each to be tried alone")
    model = machine(task, Subset("auto", (best["kernel"],)), norm=1.0, C=best["C"]).fit(X, y)
    return model.predict(Z), best


# -- scikit-learn -----------------------------------------------------------------------------------
def grid(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    """Standardised features, one Gaussian kernel, and a grid over its width and C, or α, in five folds."""
    if task == "classification":
        pipe, values = make_pipeline(StandardScaler(), SVC()), {"svc__C": 10.0 ** np.arange(-1, 4)}
        model = GridSearchCV(pipe, values | {"svc__gamma": GAMMAS}, cv=5).fit(X, y)
        return model.predict(Z), {}
    pipe = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    values = {"kernelridge__alpha": 10.0 ** np.arange(-4.0, 1.1), "kernelridge__gamma": GAMMAS}
    model = GridSearchCV(pipe, values, cv=5).fit(X, y - y.mean())  # it has no intercept
    return model.predict(Z) + y.mean(), {}


def gaussian_process(X: Array, y: Array, Z: Array, task: Task) -> tuple[Array, Facts]:
    """A width per feature by the marginal likelihood, from one start, where all widths are √d.

    Widths of 1 are too narrow to learn from where features are many.
    """
    kernel = ConstantKernel() * RBF(np.full(X.shape[1], np.sqrt(X.shape[1]))) + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=0)
    model = make_pipeline(StandardScaler(), process).fit(X, y)
    return model.predict(Z), {}

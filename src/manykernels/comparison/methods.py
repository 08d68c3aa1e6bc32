"""Methods by name, as ``manykernels.compare`` and the command line offer them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from .. import estimators
from ..estimators import TablePreparer
from ..families import PolynomialDAG

_FACES = {"classification": "Classifier", "survival": "Survival"}
TUNED = [0.1, 1.0, 10.0]  # C of the methods that are compared
INNER = 3  # folds in which a choice is made within a fold


@dataclass(frozen=True)
class Method:
    """A way to learn; ``make(task, kernels)`` gives an estimator that is not fitted."""

    says: str
    make: Callable[[str, Any], Any]
    tune: str | None = "C"
    stack: bool = True  # whether it takes precomputed kernels
    own: bool = False  # whether it chooses its kernels itself
    searches: bool = False  # whether it fits many models, and none that could be stopped half-way
    numbers: bool = True  # whether it learns numbers too, and not only classes
    times: bool = False  # whether it learns times to an event too

    def serves(self, task: str, stack: bool) -> bool:
        """Whether it is for this task, and for precomputed kernels where X holds these."""
        known = {"classification": True, "survival": self.times}.get(task, self.numbers)
        return known and (self.stack or not stack)

    def estimator(self, task: str, kernels: Any = "auto", *, tune: bool = False) -> Any:
        """Not fitted; with ``tune``, C is chosen by cross-validation wherever the method has one."""
        model = self.make(task, kernels)
        if not tune or self.tune is None:
            return model
        return GridSearchCV(model, {self.tune: TUNED}, cv=inner_folds(task == "classification"))

    def for_samples(self, X: Any, task: str, kernels: Any, *, tune: bool) -> Any:
        """The same for samples as users give them; kernels of its own need columns of one scale."""
        model = self.estimator(task, kernels, tune=tune)
        if not self.own or np.ndim(X) != 2:
            return model
        sparse = issparse(X)
        return make_pipeline(StandardScaler(with_mean=False) if sparse else TablePreparer(), model)


def inner_folds(classes: bool) -> Any:
    """Shuffled, since rows of files are often in some order."""
    return (StratifiedKFold if classes else KFold)(INNER, shuffle=True, random_state=0)


def rival(classes: bool) -> GridSearchCV:
    """One Gaussian kernel, as people tune it today."""
    widths = ["scale", 0.01, 0.1]
    if classes:
        grid = {"C": [1.0, 10.0, 100.0], "gamma": widths}
        return GridSearchCV(SVC(), grid, cv=inner_folds(True))
    grid = {"alpha": [0.01, 0.1, 1.0], "gamma": [0.003, 0.03, 0.3]}
    return GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=inner_folds(False))


def sparse_rival(classes: bool) -> Any:
    """A linear model of few columns, as people take it where there are more columns than samples."""
    if not classes:
        return LassoCV(eps=1e-2, cv=inner_folds(False), tol=1e-3)
    linear = LinearSVC(penalty="l1", dual=False, tol=1e-3, max_iter=5000, random_state=0)
    return GridSearchCV(linear, {"C": [0.01, 0.1, 1.0]}, cv=inner_folds(True))


def _pair(name: str, search: str = "", **options: Any) -> Callable[[str, Any], Any]:
    """What makes the classifier or the regressor of this name, as the task needs."""

    def make(task: str, kernels: Any) -> Any:
        kind: Any = getattr(estimators, f"{name}{_FACES.get(task, 'Regressor')}{search}")
        return kind(kernels, **options)

    return make


def _single(task: str, kernels: Any) -> Any:
    return rival(task == "classification")


def _hierarchical(task: str, kernels: Any) -> Any:
    return _pair("HierarchicalMKL")(task, PolynomialDAG(degree=2))


METHODS = {
    "auto": Method(
        "what the package takes by itself", _pair("MKL", "CV"), tune=None, searches=True, times=True
    ),
    "sparse": Method("norm 1: few kernels", _pair("MKL"), times=True),
    "lp": Method("norm 2: all, unequally", _pair("MKL", norm=2.0), times=True),
    "uniform": Method("the plain sum", _pair("MKL", norm=math.inf), times=True),
    "alignf": Method("alignment, together", _pair("AlignMKL", weighting="alignf"), tune=None),
    "align": Method("alignment, one by one", _pair("AlignMKL", weighting="align"), tune=None),
    "easymkl": Method(
        "distance of the classes", _pair("AlignMKL", weighting="easymkl"), tune=None, numbers=False
    ),
    "localized": Method("weights by region", _pair("LocalizedMKL", random_state=0)),
    "nonlinear": Method("a power of the sum", _pair("NonlinearMKL", n_starts=2, random_state=0)),
    "ufo": Method("online, in the primal", _pair("UFOMKL", random_state=0), tune=None),
    "hierarchical": Method("products of columns", _hierarchical, stack=False, own=True),
    "single": Method("a tuned Gaussian", _single, tune=None, stack=False, own=True, searches=True),
}

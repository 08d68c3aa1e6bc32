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
    """A method by name; ``make(task, kernels)`` makes an estimator that is not fitted."""

    says: str
    make: Callable[[str, Any], Any]
    tune: str | None = "C"
    stack: bool = True  # whether it takes precomputed kernels
    own: bool = False  # whether it chooses its kernels itself
    searches: bool = False  # whether it fits many models, and none that could be stopped half-way
    numbers: bool = True  # whether it learns numbers too, and not only classes
    times: bool = False  # whether it learns times to an event too

    def serves(self, task: str, stack: bool) -> bool:
        """Tell whether the method is for this task, and takes precomputed kernels if X holds them."""
        known = {"classification": True, "survival": self.times}.get(task, self.numbers)
        return known and (self.stack or not stack)

    def estimator(self, task: str, kernels: Any = "auto", *, tune: bool = False) -> Any:
        """Make the estimator, not fitted; with ``tune`` its C is chosen by cross-validation."""
        model = self.make(task, kernels)
        if not tune or self.tune is None:
            return model
        return GridSearchCV(model, {self.tune: TUNED}, cv=inner_folds(task == "classification"))

    def for_samples(self, X: Any, task: str, kernels: Any, *, tune: bool) -> Any:
        """Make the estimator for samples as users give them; its own kernels need scaled columns."""
        model = self.estimator(task, kernels, tune=tune)
        if not self.own or np.ndim(X) != 2:
            return model
        sparse = issparse(X)
        return make_pipeline(StandardScaler(with_mean=False) if sparse else TablePreparer(), model)


def inner_folds(classes: bool) -> Any:
    """Make shuffled folds, since rows of files are often in some order."""
    return (StratifiedKFold if classes else KFold)(INNER, shuffle=True, random_state=0)


def rival(classes: bool) -> GridSearchCV:
    """Make a machine with one Gaussian kernel, tuned as usual."""
    widths = ["scale", 0.01, 0.1]
    if classes:
        grid = {"C": [1.0, 10.0, 100.0], "gamma": widths}
        return GridSearchCV(SVC(), grid, cv=inner_folds(True))
    grid = {"alpha": [0.01, 0.1, 1.0], "gamma": [0.003, 0.03, 0.3]}
    return GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=inner_folds(False))


def sparse_rival(classes: bool) -> Any:
    """Make a sparse linear model, as usual if there are more columns than samples."""
    if not classes:
        return LassoCV(eps=1e-2, cv=inner_folds(False), tol=1e-3)
    linear = LinearSVC(penalty="l1", dual=False, tol=1e-3, max_iter=5000, random_state=0)
    return GridSearchCV(linear, {"C": [0.01, 0.1, 1.0]}, cv=inner_folds(True))


def _pair(name: str, search: str = "", **options: Any) -> Callable[[str, Any], Any]:
    """Return a function that makes the classifier or the regressor of this name, as the task needs."""

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
        "a search over kernels, norms and C", _pair("MKL", "CV"), tune=None, searches=True, times=True
    ),
    "sparse": Method("learned weights, most of them zero (norm 1)", _pair("MKL"), times=True),
    "lp": Method("learned weights for all kernels (norm 2)", _pair("MKL", norm=2.0), times=True),
    "uniform": Method("all kernels with equal weights", _pair("MKL", norm=math.inf), times=True),
    "alignf": Method(
        "weights that align the sum of the kernels with the target",
        _pair("AlignMKL", weighting="alignf"),
        tune=None,
    ),
    "align": Method(
        "weights by the alignment of each kernel with the target",
        _pair("AlignMKL", weighting="align"),
        tune=None,
    ),
    "easymkl": Method(
        "weights that keep the classes far apart",
        _pair("AlignMKL", weighting="easymkl"),
        tune=None,
        numbers=False,
    ),
    "localized": Method(
        "weights that differ between regions of the data", _pair("LocalizedMKL", random_state=0)
    ),
    "nonlinear": Method(
        "a power of a weighted sum of kernels", _pair("NonlinearMKL", n_starts=2, random_state=0)
    ),
    "ufo": Method("weights learned online, sample by sample", _pair("UFOMKL", random_state=0), tune=None),
    "hierarchical": Method(
        "products of columns, from simple to complex", _hierarchical, stack=False, own=True
    ),
    "single": Method("one Gaussian kernel, tuned", _single, tune=None, stack=False, own=True, searches=True),
}

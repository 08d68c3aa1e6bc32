"""What a learned combination is compared with: the plain sum, the best single kernel, tuned rivals."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._arguments import is_integral
from ..comparison.again import anew, settled
from ..comparison.comparing import in_folds
from ..comparison.folds import has_fields, make_folds
from ..comparison.grouped import sample_labels
from ..comparison.methods import INNER, inner_folds, rival, sparse_rival
from ..comparison.results import PLAIN_SUM
from ..estimators import (
    AlignMKLClassifier,
    AlignMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MKLSurvival,
    MKLSurvivalCV,
    TablePreparer,
    face_of,
    in_one_piece,
    model_of,
    opened,
)
from ..families import Family, Subset
from ..families.tables import read_columns
from ..fitting.progress import Progress
from ..fitting.survival import read_survival
from ..inspection import require_groups
from ..inspection.permutations import FEWEST, permuted
from ..kernels import Linear
from ..survival import martingale_residuals
from .held import Look, gathered
from .scores import as_read, task_of

_SECONDS = 60.0  # that learning from permuted targets may take
_SINGLES = 6  # kernels that are tried alone


def baseline_models(model: Any, X: Any) -> dict[str, Any]:
    """Make the estimators that a report compares a model with, not fitted.

    Each has the same preparation as the model. Each chooses C (and the kernel, or the width) by
    cross-validation within its training samples. The kernels are those that a search began with, not those it
    chose, since that choice has seen all samples.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline or search that holds one.
    X : array-like, frame, sparse matrix, list or dict
        The samples that it was fitted on.

    Returns
    -------
    dict
        The estimators by name.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.report import baseline_models
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="squared").fit(X, y)
    >>> len(baseline_models(model, X)) > 1
    True
    """
    learned, inner = model_of(model, X)
    parts, own = opened(model), face_of(model)[0].kernels
    search = parts.searched
    kernels = search.kernels if search is not None and _has_list(search.kernels) else own
    task, kind = task_of(learned), learned.layout.kind
    models: dict[str, Any] = {}
    if _has_list(kernels) and "hull_" not in learned.extra:
        several = len(learned.names) > 1 or kernels is not own
        models |= _of_kernels(kernels, task, several)
    table = read_columns(inner) if kind == "table" else learned.layout.table
    if kind == "array" or (table is not None and table.size):
        one = task != "regression" or (getattr(learned.target, "outputs", 0) == 1)
        wide = one and inner.shape[1] > inner.shape[0] and not sparse.issparse(inner)
        rivals = _rivals(task, wide, sparse.issparse(inner))
        models |= (
            rivals if table is None else {n: make_pipeline(TablePreparer(), m) for n, m in rivals.items()}
        )
    return {name: parts.behind(one) for name, one in models.items()}


def _rivals(task: str, wide: bool, is_sparse: bool) -> dict[str, Any]:
    """What people take today: one tuned kernel, or a linear model; of wide tables a sparse one too."""
    if task == "survival":
        ridge = MKLSurvivalCV([Linear()], strategy=[MKLSurvival([Linear()])], cv=INNER)
        return {"ridge Cox": make_pipeline(StandardScaler(with_mean=not is_sparse), ridge)}
    classes = task == "classification"
    rivals = {"tuned SVC" if classes else "tuned kernel ridge": rival(classes)}
    if wide:
        rivals["sparse linear SVM" if classes else "lasso"] = sparse_rival(classes)
    return rivals


_KINDS = {
    "classification": (MKLClassifier, MKLClassifierCV, AlignMKLClassifier),
    "regression": (MKLRegressor, MKLRegressorCV, AlignMKLRegressor),
    "survival": (MKLSurvival, MKLSurvivalCV, AlignMKLRegressor),
}


def _of_kernels(kernels: Any, task: str, several: bool) -> dict[str, Any]:
    """The plain sum, and of several kernels the best one."""
    kind, choice, align = _KINDS[task]
    folds = INNER if task == "survival" else inner_folds(task == "classification")
    plain = choice(kernels, strategy=[kind(kernels, norm=math.inf)], cv=folds)
    models: dict[str, Any] = {PLAIN_SUM[0]: plain}
    if several:
        ranking = align(kernels, weighting="align")
        models["best single kernel"] = BestSingle(ranking, kind(norm=1.0), choice(), cv=folds)
    return models


class BestSingle(BaseEstimator):
    """One kernel and its C, chosen by cross-validation; of many, those most like the target are tried.

    Parameters
    ----------
    ranking : an estimator over all kernels, whose weights say which are tried: by alignment, since weights
        that are learned together favour narrow kernels, which are the worst alone
    one : the estimator that takes each of them
    search : a search, which gets these as strategies
    cv : the folds of the search
    """

    def __init__(
        self,
        ranking: AlignMKLClassifier | AlignMKLRegressor,
        one: MKLClassifier | MKLRegressor | MKLSurvival,
        search: MKLClassifierCV | MKLRegressorCV | MKLSurvivalCV,
        cv: Any = None,
    ) -> None:
        self.ranking = ranking
        self.one = one
        self.search = search
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        kernels, ranked = self.ranking.kernels, clone(self.ranking).fit(X, _ranked_by(y))
        size = np.abs(np.atleast_2d(ranked.weights_)).max(axis=0)
        likely = [ranked.kernel_names_[m] for m in np.argsort(-size, kind="stable")[:_SINGLES]]
        alone = [clone(self.one).set_params(kernels=Subset(kernels, (name,))) for name in likely]
        search = clone(self.search).set_params(kernels=kernels, strategy=alone, cv=self.cv)
        self.search_ = search.fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.search_.predict(X)

    def score(self, X: Any, y: Any) -> float:
        return float(self.search_.score(X, y))

    def __sklearn_tags__(self) -> Any:
        return self.ranking.__sklearn_tags__()  # which say how data are split


def _ranked_by(y: Any) -> Any:
    """What kernels are aligned with: of times to an event, who had it earlier than expected."""
    if not has_fields(y):
        return y
    seen = read_survival(y)
    return martingale_residuals(seen.event, seen.time, entry=seen.entry, stratum=seen.stratum)


def _has_list(kernels: Any) -> bool:
    """Whether these are kernels that can be listed, and not more of them than that."""
    return not isinstance(kernels, Family) or bool(kernels.listed)


def compared(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_permutations: int = 0,
    n_jobs: int | None = None,
    bar: Progress | None = None,
) -> dict[str, Any]:
    """``scores``: the model beside what it is compared with and a constant, in the same folds.

    ``held_out``: what the models of the folds say of the samples that they did not learn from.

    Whatever is chosen (by a search, too) is chosen within the folds; ``n_jobs`` fits at a time. With
    permutations, ``permuted``: the model on permuted targets, or why that is not known. The bar counts fits,
    and has three more steps: the permutations and what callers do.
    """
    bar = Progress("", 0) if bar is None else bar
    model, X = in_one_piece(model, X, y)
    learned = model_of(model)[0]
    classes = learned.classes is not None
    y = as_read(learned, y)
    groups = sample_labels(groups, len(y))
    if groups is not None and is_integral(cv):
        cv = max(2, min(cv, np.unique(groups).size))  # three sites are three folds
    require_groups(model, groups, cv, "Give sample_groups=, the groups that fit was given, or folds as cv=.")
    splits = make_folds(y, classes=classes, cv=cv, groups=groups)
    learners = {"learned": anew(model), **baseline_models(model, X)}
    task = task_of(learned)
    bar.expect(len(splits) * len(learners) + 3)
    work: dict[str, Any] = {"n_jobs": n_jobs, "advance": bar.step, "keep": {"learned": Look()}}
    found = in_folds(learners, X, y, splits, task=task, groups=groups, **work)
    told: dict[str, Any] = {"scores": found, "held_out": gathered(found.scores["learned"], splits)}
    if n_permutations and found.scores["learned"].complete:
        seconds = _SECONDS if n_permutations <= FEWEST else None  # whoever asks for more waits
        how: dict[str, Any] = {"groups": groups, "n_jobs": n_jobs, "seconds": seconds}
        try:
            told["permuted"] = permuted(
                settled(model), found.scores["learned"], X, y, splits, n_permutations, **how
            )
        except ValueError as error:
            told["permuted"] = " ".join(str(error).split())
    bar.step("permuted targets")
    return told


def baselines(
    model: Any, X: Any, y: Any, *, cv: Any = 5, sample_groups: Any = None, n_jobs: int | None = None
) -> list[dict[str, Any]]:
    """Cross-validate a model and the estimators that it is compared with, in the same folds.

    All choices, also those of a search, are made within the folds.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline or search that holds one.
    X : array-like, frame, sparse matrix, list or dict
        The samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    cv : int, splitter or list of splits, default=5
        The folds.
    sample_groups : array-like of shape (n_samples,) or None, default=None
        The groups of the samples. Samples of a group stay in one fold, and there are no more folds than
        groups.
    n_jobs : int or None, default=None
        The number of fits at the same time.

    Returns
    -------
    list of dict
        A row for each estimator with ``name``, ``mean``, ``std``, ``folds`` and ``error``. An estimator that
        failed in some fold has no mean, and an ``error`` that says why. The last row is a constant.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.report import baselines
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="squared").fit(X, y)
    >>> [row["name"] for row in baselines(model, X, y, cv=2)][-1]
    'chance'
    """
    found = compared(model, X, y, cv=cv, groups=sample_groups, n_jobs=n_jobs)
    rows: list[dict[str, Any]] = found["scores"].as_rows()
    return rows

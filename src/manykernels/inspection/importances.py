"""Which columns and which views a model needs: what its score loses on held-out samples without them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from .._arguments import is_integral, shown
from .._fast.threads import processes
from ..comparison.folds import as_cut, has_fields, make_folds
from ..estimators import LazyScore, MatchedScore, Opened, in_one_piece, opened, require_named, silent
from ..families.remarks import quiet_about_tables
from ..fitting.layout import collected, is_lazy
from ..fitting.matching import require_order
from ..fitting.progress import Progress
from ..selection.scoring import score_of
from ..selection.survival import ConcordanceScorer
from ._inputs import groups_of, header_of, readable, require_groups, sample_labels
from ._permuted import Index, Scorer, drops, screen
from ._shown import Shown

Array = NDArray[np.float64]
Blocks = list[list[int]]
_FOLDS = 5


@dataclass(frozen=True, repr=False)
class Importance(Shown):
    """What the score of a model loses on held-out samples when columns, or groups of them, are permuted.

    It prints as a table, the most important first, and ``to_frame()`` has all of it.

    Attributes
    ----------
    names : the columns that were looked at; of a stack, its layers
    drops : (names, folds, repeats), the score before less the score after
    scores : (folds,), the scores before
    metric : what the score is called
    level : of the intervals
    ratio : held-out samples for each training sample, on average over the folds
    of : how many columns X has
    searched : of a fitted search: "before" where its choice was learned in the folds, "anew" where it chose
        in each of them; empty for other models
    views : the same of the groups of columns, or None where there are none
    mean, error, low, high : (names,), see the notes of :func:`importance`
    """

    names: list[str]
    drops: Array
    scores: Array
    metric: str
    level: float
    ratio: float
    of: int
    searched: str = ""
    views: Importance | None = None

    @property
    def mean(self) -> Array:
        return np.asarray(self.drops.mean(axis=(1, 2)))

    @property
    def error(self) -> Array:
        """The corrected standard error of the mean; NaN where there is one fold only."""
        folds = self.drops.shape[1]
        if folds < 2:
            return np.full(len(self.names), np.nan)
        variance = self.drops.mean(axis=2).var(axis=1, ddof=1)
        return np.asarray(np.sqrt((1.0 / folds + self.ratio) * variance))

    @property
    def low(self) -> Array:
        return self.mean - self._reach

    @property
    def high(self) -> Array:
        return self.mean + self._reach

    @property
    def _reach(self) -> Array:
        return np.asarray(stats.t.ppf(0.5 + 0.5 * self.level, max(self.drops.shape[1] - 1, 1)) * self.error)

    @property
    def order(self) -> NDArray[np.intp]:
        """The places of the names, the most important first."""
        return np.argsort(-self.mean, kind="stable")

    def columns(self) -> dict[str, Any]:
        """name, mean, error, low, high."""
        order, told = self.order, ("mean", "error", "low", "high")
        return {"name": [self.names[j] for j in order]} | {key: getattr(self, key)[order] for key in told}

    def _said(self) -> list[str]:
        said = (
            f"Loss of {self.metric} on held-out samples when permuted, with {100 * self.level:g} % intervals."
        )
        return [said] if self.views is None else [said, "views has the same for groups of columns."]

    def shown(self, name: str) -> str:
        """What is lost without one of the names, with its interval; a dash where nobody looked."""
        if name not in self.names:
            return "–"
        j = self.names.index(name)
        interval = f" ({self.low[j]:.3f} to {self.high[j]:.3f})" if np.isfinite(self.low[j]) else ""
        return f"{self.mean[j]:.3f}{interval}".replace("-", "−")

    def leading(self, at_most: int = 5) -> list[int]:
        """The places of those whose interval lies above zero, the most important first."""
        return [int(j) for j in self.order if self.low[j] > 0.0][:at_most]


def importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    cv: Any = None,
    n_repeats: int = 5,
    scoring: Any = None,
    searched: str = "before",
    max_columns: int = 100,
    level: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    sample_groups: Any = None,
) -> Importance:
    """Held-out permutation importance of the columns of X, and of groups of columns such as views.

    The model is learned anew in folds of X and y, also where it is fitted already: give all samples, not test
    samples. ``sklearn.inspection.permutation_importance(model, X_test, y_test)`` takes a fitted model as it
    is.

    In each fold the model is fitted once, on the training part. Then one column of the samples that were
    held out is permuted, as it was given, before any preparation. What the score loses by it is the
    importance of the column, in accuracy or R²; that of a group is the loss when its columns are permuted
    together.

    Parameters
    ----------
    model : an estimator, a pipeline or a search, fitted or not; it is cloned, never changed
    X, y : the data; X is a table (array, sparse matrix, frame) or a stack of kernels, whose layers take the
        place of columns
    groups : dict name -> columns, optional
        Columns by name or position, as ``OnColumns`` takes them. Without it, the views that the kernels of
        the model belong to, or those in names like ``view__column``.
    cv : None, int, splitter or iterable of splits
        None is 5. Folds of a number are shuffled, and stratified for classes.
    n_repeats : int
        Permutations in each fold. All columns are permuted in the same ways.
    scoring : None, str or callable
        As in scikit-learn; None is accuracy, R² or whatever else the model's ``score`` gives.
    searched : "before" or "anew"
        Of a fitted search: learn in each fold what it chose, or let it choose anew, which takes longer. A
        search that is not fitted always chooses in each fold.
    max_columns : int
        Of more columns, only those are looked at whose permutation changes the predictions of the first
        fold's model most; 0 looks at groups only.
    level : float
        Of the intervals.
    random_state : int, RandomState or None
    n_jobs : int or None
        Folds at a time.
    verbose : int
        1 for a bar with the time left.
    sample_groups : array of shape (n_samples,), optional
        The samples of a group (a patient, a site) stay together in the folds; a search that chooses in each
        fold is given them too. After a search with groups, give the same here.

    Returns
    -------
    Importance

    Notes
    -----
    With d_k the mean loss over the repeats of fold k of K, an interval is d̄ ± t σ, with t the quantile of
    Student's distribution of K − 1 degrees of freedom and σ² = (1/K + n_test/n_train) Σ_k (d_k − d̄)²/(K − 1).
    The second term is the correction of Nadeau and Bengio (2003) for training parts that overlap. Repeats in
    a fold share its model and its samples, so that more of them lessen the noise of permutations only.

    Permutation says what this model needs, not what the target depends on. Columns that say the same stand
    in for each other: each alone can be permuted without loss, while their group matters. So give such
    columns as a group. Permuted samples may also be combinations that never occur, of which a model may say
    anything.

    References
    ----------
    L. Breiman, Random forests, Machine Learning 45, 2001. C. Nadeau and Y. Bengio, Inference for the
    generalization error, Machine Learning 52, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.inspection import importance
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> found = importance(MKLRegressor(), X, X[:, 1], groups={"a": [0, 2], "b": 1}, random_state=0)
    >>> found.columns()["name"][0], found.metric, found.views.columns()["name"][0]
    ('x1', 'R²', 'b')

    The same of a model that stays as it was fitted:

    >>> from sklearn.inspection import permutation_importance
    >>> model = MKLRegressor().fit(X[:70], X[:70, 1])
    >>> int(permutation_importance(model, X[70:], X[70:, 1], random_state=0).importances_mean.argmax())
    1
    """
    _check(n_repeats, max_columns, level, searched)
    if not hasattr(model, "predict"):
        raise ValueError(f"{type(model).__name__} does not predict, so that it has no score to lose.")
    if not is_lazy(X):
        X = collected(X)
        require_order(X, y, "y")
    given = X
    require_named(model)
    model, X = in_one_piece(model, X, y)
    X = readable(X)
    if _num_samples(X) != _num_samples(y):
        raise ValueError(f"X has {_num_samples(X)} samples and y has {_num_samples(y)}.")
    sample_groups = sample_labels(sample_groups, _num_samples(X))
    require_groups(model, sample_groups, cv, "Give sample_groups=, the groups that fit was given, or cv=.")
    parts = _innermost(model)
    kernels = getattr(parts.last, "kernels", None)
    header = header_of(X, kernels, given)
    named = groups_of(groups, parts, kernels, X, header)
    if not named and not max_columns:
        raise ValueError("max_columns=0 was given without groups, so that there is nothing to permute.")
    rng = check_random_state(random_state)
    learner = silent(opened(model).settled() if searched == "before" else clone(model))
    y = as_cut(learner, y)
    scorer, metric = _scorer(learner, scoring, has_fields(y))
    cv = _FOLDS if cv is None else cv
    folds = make_folds(y, classes=is_classifier(learner), cv=cv, groups=sample_groups, random_state=rng)
    work = _Work(learner, scorer, X, y, n_repeats, sample_groups)
    seeds = rng.randint(2**31 - 1, size=len(folds))
    looked = list(range(len(header.columns)))
    first = None
    if len(looked) > max_columns:
        first = work.fit(folds[0])
        looked = work.screened(first, folds[0], max_columns, seeds[0]) if max_columns else []
    blocks = [*named.values(), *([j] for j in looked)]
    found = _run(work, folds, seeds, blocks, first, n_jobs, verbose)
    scores, lost = np.array([one[0] for one in found]), np.stack([one[1] for one in found], axis=1)
    ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
    told: dict[str, Any] = {"scores": scores, "metric": metric, "level": level, "ratio": ratio}
    told |= {"of": len(header.columns), "searched": searched if opened(model).searched is not None else ""}
    cut = len(named)
    views = Importance(list(named), lost[:cut], **told) if named else None
    return Importance([header.columns[j] for j in looked], lost[cut:], **told, views=views)


@dataclass(frozen=True)
class _Work:
    """What is done in a fold."""

    learner: Any  # not fitted
    scorer: Scorer
    X: Any
    y: Any
    n_repeats: int
    groups: Any = None  # of samples

    def fit(self, fold: tuple[Index, Index]) -> Any:
        """A copy, learned from the training part; quietly, since the user's own fit has warned."""
        model, train = clone(self.learner), fold[0]
        more = opened(model).given_groups(None if self.groups is None else self.groups[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(*_safe_split(model, self.X, self.y, train), **more)

    @quiet_about_tables()
    def screened(self, model: Any, fold: tuple[Index, Index], keep: int, seed: int) -> list[int]:
        held, _ = _safe_split(self.learner, self.X, self.y, fold[1], fold[0])
        return screen(model, held, len(fold[0]), keep, np.random.RandomState(seed))

    @quiet_about_tables()
    def __call__(
        self, fold: tuple[Index, Index], seed: int, blocks: Blocks, model: Any = None
    ) -> tuple[float, Array]:
        """The score of a fold, and (blocks, repeats) what it loses."""
        train, test = fold
        model = self.fit(fold) if model is None else model
        X, y = _safe_split(self.learner, self.X, self.y, test, train)
        rng = np.random.RandomState(seed)
        orders = [rng.permutation(len(test)) for _ in range(self.n_repeats)]
        before, lost = drops(model, self.scorer, X, y, len(train), blocks, orders)
        if not np.isfinite(before) or not np.isfinite(lost).all():
            raise ValueError(
                "the score of a fold is not finite; expected a number for every fold. Take fewer folds, so "
                "that each holds out enough samples, or another scoring."
            )
        return before, lost


def _run(
    work: _Work, folds: Any, seeds: Any, blocks: Blocks, first: Any, n_jobs: int | None, verbose: int
) -> list[tuple[float, Array]]:
    run = Parallel(n_jobs=processes(n_jobs, len(folds)), return_as="generator")
    tasks = zip(folds, seeds, [first, *[None] * (len(folds) - 1)], strict=True)
    shown_, found = Progress("importance", verbose, total=len(folds)), []
    try:
        for one in run(delayed(work)(fold, seed, blocks, model) for fold, seed, model in tasks):
            found.append(one)
            shown_.step("")
    finally:
        shown_.close()
    return found


def _innermost(model: Any) -> Opened:
    """The parts of a model; of those that a search of scikit-learn is about, where it is nothing else."""
    parts = opened(model)
    while not parts.front and not hasattr(parts.last, "kernels") and hasattr(parts.last, "estimator"):
        parts = opened(getattr(parts.last, "best_estimator_", parts.last.estimator))
    return parts


def _scorer(learner: Any, scoring: Any, times: bool = False) -> tuple[Scorer, str]:
    """How predictions are scored, and what that is called."""
    if scoring is not None:
        name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
        return check_scoring(learner, scoring=scoring), name
    last = opened(learner).last
    if times:
        return ConcordanceScorer(), "C index"
    plain = _score_is_plain(type(last))
    if not plain:
        return check_scoring(learner), "score"
    return (_accuracy, "accuracy") if is_classifier(learner) else (_r2, "R²")


def _score_is_plain(kind: type) -> bool:
    """Whether ``score`` is accuracy or R², which then is computed from predictions for many tables."""
    defines = next((base for base in kind.__mro__ if "score" in vars(base)), None)
    return defines in (ClassifierMixin, RegressorMixin, LazyScore, MatchedScore)


def _accuracy(model: Any, X: Any, y: Any) -> float:
    return score_of(model.predict(X), np.asarray(y), None, model.classes_)


def _r2(model: Any, X: Any, y: Any) -> float:
    return score_of(model.predict(X), np.asarray(y), None, None)


def _check(n_repeats: Any, max_columns: Any, level: Any, searched: Any) -> None:
    for name, value, least in (("n_repeats", n_repeats, 1), ("max_columns", max_columns, 0)):
        if not is_integral(value) or value < least:
            raise ValueError(f"{name}={shown(value)} was given; expected a whole number, at least {least}.")
    if not isinstance(level, int | float) or not 0.0 < level < 1.0:
        raise ValueError(f"level={shown(level)} was given; expected a number between 0 and 1.")
    if searched not in ("before", "anew"):
        raise ValueError(f"searched={shown(searched)} was given; expected 'before' or 'anew'.")

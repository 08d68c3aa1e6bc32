"""Importance of columns and views: the loss of score on held-out samples without them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
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
from ..comparison.grouped import keep_together, sample_labels
from ..estimators import LazyScore, MatchedScore, Opened, in_one_piece, opened, require_named, silent
from ..families.remarks import quiet_about_tables
from ..fitting.layout import collected, is_lazy, take
from ..fitting.matching import require_order
from ..fitting.progress import Progress
from ..kernels.data import is_stack
from ..selection.scoring import require_score, score_of
from ..selection.survival import ConcordanceScorer
from ._inputs import groups_of, header_of, readable, require_groups
from ._permuted import Index, Scorer, drops, screen
from ._shown import Shown
from .effects import Effect, curve, grid_of, nearest_rows

Array = NDArray[np.float64]
Blocks = list[list[int]]
_FOLDS = 5


@dataclass(frozen=True, repr=False)
class Importance(Shown):
    """The loss of score on held-out samples when columns, or groups of them, are permuted.

    It prints as a table, the most important first, and ``to_frame()`` has all of it.

    Parameters
    ----------
    names : list of str
        The columns that were permuted; of a stack, its layers.
    drops : ndarray of shape (n_names, n_folds, n_repeats)
        The score before the permutation minus the score after it.
    scores : ndarray of shape (n_folds,)
        The scores before.
    metric : str
        The name of the score.
    level : float
        The level of the intervals.
    ratio : float
        The number of held-out samples for each training sample, as a mean over the folds.
    of : int
        The number of columns of X.
    searched : str, default=""
        For a fitted search "before" if its choice was learned in the folds, "anew" if it chose in each of
        them. Empty for other models.
    views : Importance or None, default=None
        The same for groups of columns. None if there are none.
    effects : tuple of Effect, default=()
        For the leading columns, if they were asked for: the predictions for some values of the column.

    Attributes
    ----------
    mean : ndarray of shape (n_names,)
        The mean loss of score.
    error : ndarray of shape (n_names,)
        The corrected standard error of the mean.
    low : ndarray of shape (n_names,)
        The lower end of the interval.
    high : ndarray of shape (n_names,)
        The upper end of the interval.
    order : ndarray of shape (n_names,)
        The positions of the names, the most important first.

    See Also
    --------
    importance : Computes the losses.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspection import Importance
    >>> drops = np.array([[[0.3], [0.5]], [[0.0], [0.0]]])
    >>> found = Importance(["age", "site"], drops, np.array([0.9, 0.8]), "R²", 0.95, 1.0, 2)
    >>> found.mean.round(3).tolist()
    [0.4, 0.0]
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
    effects: tuple[Effect, ...] = ()

    @property
    def mean(self) -> Array:
        """The mean loss of score, over folds and repeats."""
        return np.asarray(self.drops.mean(axis=(1, 2)))

    @property
    def error(self) -> Array:
        """The corrected standard error of the mean; NaN for one fold."""
        folds = self.drops.shape[1]
        if folds < 2:
            return np.full(len(self.names), np.nan)
        variance = self.drops.mean(axis=2).var(axis=1, ddof=1)
        return np.asarray(np.sqrt((1.0 / folds + self.ratio) * variance))

    @property
    def low(self) -> Array:
        """The lower end of the interval."""
        return self.mean - self._reach

    @property
    def high(self) -> Array:
        """The upper end of the interval."""
        return self.mean + self._reach

    @property
    def _reach(self) -> Array:
        return np.asarray(stats.t.ppf(0.5 + 0.5 * self.level, max(self.drops.shape[1] - 1, 1)) * self.error)

    @property
    def order(self) -> NDArray[np.intp]:
        """The positions of the names, the most important first."""
        return np.argsort(-self.mean, kind="stable")

    def columns(self) -> dict[str, Any]:
        """Return the columns name, mean, error, low and high."""
        order, told = self.order, ("mean", "error", "low", "high")
        return {"name": [self.names[j] for j in order]} | {key: getattr(self, key)[order] for key in told}

    def _said(self) -> list[str]:
        said = (
            f"Loss of {self.metric} on held-out samples when permuted, with {100 * self.level:g} % intervals."
        )
        return [said] if self.views is None else [said, "The attribute views has the same for groups."]

    def shown(self, name: str) -> str:
        """Return the loss without one of the names as text.

        Parameters
        ----------
        name : str
            The name of a column.

        Returns
        -------
        str
            The loss with its interval; a dash if the column was not permuted.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.inspection import Importance
        >>> drops = np.array([[[0.4], [0.5], [0.6]], [[0.0], [0.0], [0.0]]])
        >>> found = Importance(["age", "site"], drops, np.array([0.9, 0.8, 0.7]), "R²", 0.95, 0.5, 2)
        >>> print(found.shown("age"))
        0.500 (0.107 to 0.893)
        >>> print(found.shown("weight"))
        –
        """
        if name not in self.names:
            return "–"
        j = self.names.index(name)
        interval = f" ({self.low[j]:.3f} to {self.high[j]:.3f})" if np.isfinite(self.low[j]) else ""
        return f"{self.mean[j]:.3f}{interval}".replace("-", "−")

    def leading(self, at_most: int = 5) -> list[int]:
        """Find the names whose interval lies above zero.

        Parameters
        ----------
        at_most : int, default=5
            The largest number of names.

        Returns
        -------
        list of int
            Their positions, the most important first.

        Examples
        --------
        Only the interval of age lies above zero:

        >>> import numpy as np
        >>> from manykernels.inspection import Importance
        >>> drops = np.array([[[0.1], [0.0], [-0.1]], [[0.4], [0.5], [0.6]]])
        >>> found = Importance(["site", "age"], drops, np.array([0.9, 0.8, 0.7]), "R²", 0.95, 0.5, 2)
        >>> found.leading()
        [1]
        """
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
    n_effects: int = 0,
) -> Importance:
    """Compute the permutation importance of columns, and of groups of them, on held-out samples.

    The model is learned anew in folds of X and y, also where it is fitted already: give all samples, not test
    samples. ``sklearn.inspection.permutation_importance(model, X_test, y_test)`` takes a fitted model as it
    is.

    In each fold the model is fitted once, on the training part. Then one column of the samples that were
    held out is permuted, as it was given, before any preparation. What the score loses by it is the
    importance of the column, in accuracy or R²; that of a group is the loss when its columns are permuted
    together.

    Parameters
    ----------
    model : estimator
        An estimator, a pipeline or a search, fitted or not. It is cloned, never changed.
    X : array-like, frame or sparse matrix
        The samples: a table, or a stack of kernels, whose layers take the place of columns.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    groups : dict or None, default=None
        Groups of columns by their names; columns by name or position, as ``OnColumns`` takes them. Without
        it the views that the kernels of the model belong to, or those in names like ``view__column``.
    cv : int, splitter, iterable of splits or None, default=None
        The folds. None is 5. Folds of a number are shuffled, and stratified for classes.
    n_repeats : int, default=5
        The number of permutations in each fold. All columns are permuted in the same ways.
    scoring : str, callable or None, default=None
        The score, as in scikit-learn. None is the model's own: accuracy or R², for example.
    searched : {"before", "anew"}, default="before"
        How a fitted search is treated: learn its choice in each fold, or let it choose anew, which takes
        longer. A search that is not fitted always chooses in each fold.
    max_columns : int, default=100
        The largest number of columns. Of more columns, only those are permuted whose permutation changes the
        predictions of the first fold's model most; 0 permutes groups only.
    level : float, default=0.95
        The level of the intervals.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of the permutations.
    n_jobs : int or None, default=None
        The number of folds at the same time.
    verbose : int, default=0
        With 1 a progress bar shows the time left.
    sample_groups : array-like of shape (n_samples,) or None, default=None
        Groups of samples (a patient, a site), which stay together in the folds. A search that chooses in
        each fold gets them too. After a search with groups, give the same here.
    n_effects : int, default=0
        The number of leading columns whose effect is computed: the predictions of the models of the folds if
        all held-out samples have the same value in the column (partial dependence). It takes no further
        fits.

    Returns
    -------
    Importance
        The losses of score, with means and intervals; ``views`` has those of groups.

    Notes
    -----
    With d_k the mean loss over the repeats of fold k of K, an interval is d̄ ± t σ, with t the quantile of
    Student's distribution of K − 1 degrees of freedom and σ² = (1/K + n_test/n_train) Σ_k (d_k − d̄)²/(K −
    1). The second term is the correction of Nadeau and Bengio (2003) for training parts that overlap. Repeats
    in a fold share its model and its samples, so that more of them lessen the noise of permutations only.

    Permutation says what this model needs, not what the target depends on. Columns that say the same stand
    in for each other: each alone can be permuted without loss, while their group matters. So give such
    columns as a group. Permuted samples may also be combinations that never occur, of which a model may say
    anything.

    References
    ----------
    - Breiman (2001), Random forests, Machine Learning 45.
    - Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52.

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
    counts = {"n_repeats": (n_repeats, 1), "max_columns": (max_columns, 0), "n_effects": (n_effects, 0)}
    _check(counts, level, searched)
    if not hasattr(model, "predict"):
        raise ValueError(
            f"{type(model).__name__} has no predict method; expected an estimator that predicts, "
            "since importance is a loss of score."
        )
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
    work = _Work(learner, scorer, X, y, n_repeats, sample_groups, n_effects)
    seeds = rng.randint(2**31 - 1, size=len(folds))
    looked = list(range(len(header.columns)))
    first = None
    if len(looked) > max_columns:
        first = work.fit(folds[0])
        looked = work.screened(first, folds[0], max_columns, seeds[0]) if max_columns else []
    blocks = [*named.values(), *([j] for j in looked)]
    found = _run(work, folds, seeds, blocks, first, n_jobs, verbose)
    scores, lost = np.array([one.before for one in found]), np.stack([one.lost for one in found], axis=1)
    ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
    told: dict[str, Any] = {"scores": scores, "metric": metric, "level": level, "ratio": ratio}
    told |= {"of": len(header.columns), "searched": searched if opened(model).searched is not None else ""}
    cut = len(named)
    views = Importance(list(named), lost[:cut], **told) if named else None
    columns = Importance([header.columns[j] for j in looked], lost[cut:], **told, views=views)
    leading = [looked[j] for j in columns.order[:n_effects]]
    return replace(columns, effects=_effects(leading, header.columns, found))


@dataclass(frozen=True)
class _Found:
    """The result of one fold: the score, its losses (blocks, repeats), and effects of the leading columns."""

    before: float
    lost: Array
    curves: dict[int, tuple[list[Any], Array]]
    outputs: list[str]


def _effects(leading: list[int], names: list[str], found: list[_Found]) -> tuple[Effect, ...]:
    """Return the effects of the leading columns, over the folds in which they lead."""
    effects = []
    for j in leading:
        own = [one.curves[j] for one in found if j in one.curves]
        if own:
            means = np.stack([curve for _, curve in own])
            effects.append(Effect(names[j], own[0][0], means, found[0].outputs, j))
    return tuple(effects)


@dataclass(frozen=True)
class _Work:
    """The work in one fold."""

    learner: Any  # not fitted
    scorer: Scorer
    X: Any
    y: Any
    n_repeats: int
    groups: Any = None  # of samples
    n_effects: int = 0

    def fit(self, fold: tuple[Index, Index]) -> Any:
        """Fit a copy on the training part, without warnings, since the user's own fit has given them."""
        model, train = clone(self.learner), fold[0]
        X, y = _safe_split(model, self.X, self.y, train)
        keep_together(model, y, None if self.groups is None else self.groups[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X, y)

    @quiet_about_tables()
    def screened(self, model: Any, fold: tuple[Index, Index], keep: int, seed: int) -> list[int]:
        held, _ = _safe_split(self.learner, self.X, self.y, fold[1], fold[0])
        return screen(model, held, len(fold[0]), keep, np.random.RandomState(seed))

    @quiet_about_tables()
    def __call__(self, fold: tuple[Index, Index], seed: int, blocks: Blocks, model: Any = None) -> _Found:
        """Compute the score of a fold, its losses, and effects."""
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
        outputs = [str(label) for label in getattr(model, "classes_", [""])]
        return _Found(before, lost, self._curves(model, X, blocks, lost), outputs)

    def _curves(
        self, model: Any, held: Any, blocks: Blocks, lost: Array
    ) -> dict[int, tuple[list[Any], Array]]:
        """Compute effects of the columns with the largest losses in this fold: twice as many as are shown."""
        found: dict[int, tuple[list[Any], Array]] = {}
        if not self.n_effects or is_stack(held):
            return found
        for b in np.argsort(-lost.mean(axis=1), kind="stable"):
            if len(found) == 2 * self.n_effects:
                break
            if len(blocks[b]) == 1 and (grid := grid_of(self.X, blocks[b][0])):
                givers = take(self.X, nearest_rows(self.X, blocks[b][0], grid))
                found[blocks[b][0]] = grid, curve(model, held, givers, blocks[b][0])
        return found


def _run(
    work: _Work, folds: Any, seeds: Any, blocks: Blocks, first: Any, n_jobs: int | None, verbose: int
) -> list[_Found]:
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
    """Return the parts of a model, or of the estimator inside a search of scikit-learn."""
    parts = opened(model)
    while not parts.front and not hasattr(parts.last, "kernels") and hasattr(parts.last, "estimator"):
        parts = opened(getattr(parts.last, "best_estimator_", parts.last.estimator))
    return parts


def _scorer(learner: Any, scoring: Any, times: bool = False) -> tuple[Scorer, str]:
    """Return the function that scores predictions, and its name."""
    if scoring is not None:
        require_score(scoring)
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
    """Tell whether ``score`` is accuracy or R², which then is computed from predictions for many tables."""
    defines = next((base for base in kind.__mro__ if "score" in vars(base)), None)
    return defines in (ClassifierMixin, RegressorMixin, LazyScore, MatchedScore)


def _accuracy(model: Any, X: Any, y: Any) -> float:
    return score_of(model.predict(X), np.asarray(y), None, model.classes_)


def _r2(model: Any, X: Any, y: Any) -> float:
    return score_of(model.predict(X), np.asarray(y), None, None)


def _check(counts: dict[str, tuple[Any, int]], level: Any, searched: Any) -> None:
    for name, (value, least) in counts.items():
        if not is_integral(value) or value < least:
            raise ValueError(f"{name}={shown(value)} was given; expected a whole number, at least {least}.")
    if not isinstance(level, int | float) or not 0.0 < level < 1.0:
        raise ValueError(f"level={shown(level)} was given; expected a number between 0 and 1.")
    if searched not in ("before", "anew"):
        raise ValueError(f"searched={shown(searched)} was given; expected 'before' or 'anew'.")

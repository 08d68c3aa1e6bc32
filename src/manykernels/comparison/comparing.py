"""``manykernels.compare``: methods by name and estimators of any package, in the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import _num_samples

from .._arguments import shown
from ..estimators import MKLClassifier, in_one_piece
from ..fitting.matching import require_order
from ..fitting.progress import Progress
from ..fitting.survival import survival_pair
from ..fitting.targets import check_weights
from .datasets import Comparisons
from .folds import Splits, cross_validate, learns_times, make_folds, task_of, times_of
from .grouped import sample_labels
from .methods import METHODS
from .results import METRIC, Comparison, chance, share_of
from .scores import Look, Scores


def compare(
    methods: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    n_repeats: int = 1,
    scoring: Any = None,
    groups: Any = None,
    kernels: Any = "auto",
    tune: bool = True,
    task: str | None = None,
    reference: str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    sample_weight: Any = None,
) -> Comparison | Comparisons:
    """Cross-validate methods in the same folds, and test how they differ.

    Parameters
    ----------
    methods : str, list or dict
        Names as on the command line ("auto", "sparse", "lp", "uniform", "alignf", "align", "easymkl",
        "localized", "nonlinear", "ufo", "hierarchical", "single"; "all" for all of them), estimators of any
        package, or a dict from names of your own to either.
    X : array-like, frame, sparse matrix, list, stack of kernels, or dict
        The samples. Without y, a dict from names of datasets to pairs (X, y).
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        The targets, or events and times: a structured array, or a frame with the columns ``event`` and
        ``time``.
    cv : int, splitter or list of (training rows, test rows), default=5
        A number means shuffled folds, which keep the shares of the classes.
    n_repeats : int, default=1
        The number of times that the folds are drawn anew.
    scoring : str, callable or None, default=None
        The score, as in scikit-learn; larger is better. None is each estimator's own: accuracy, R² or the C
        index.
    groups : array-like of shape (n_samples,) or None, default=None
        The groups of the samples. Samples of a group stay in one fold, also where a method chooses its
        options by cross-validation within a training part.
    kernels : str, list, dict, Kernel or Family, default="auto"
        The kernels of methods given by name, as an estimator takes them.
    tune : bool, default=True
        Whether methods given by name choose C by cross-validation within each training part.
    task : {"classification", "regression", "survival"} or None, default=None
        The task of methods given by name; estimators must be for the same. None is the task of the
        estimators. Without any, text and whole numbers of at most 20 values are classes.
    reference : str or None, default=None
        The method that others are compared with. None is the one with the largest mean.
    random_state : int, RandomState or None, default=0
        The seed of the folds.
    n_jobs : int or None, default=None
        The number of fits at the same time.
    verbose : int, default=0
        With 1 a progress bar shows the time left.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        The weights of the samples, in fits and in scores, also in those of a constant. A sample of weight 2
        counts as two. A choice of C within the folds (``tune``) weighs the fits alone. A method whose fit
        takes no weights says so in place of a score.

    Returns
    -------
    Comparison or Comparisons
        A table with a row for each method and one for chance, the score of a constant; for several datasets
        a table of ranks. ``seconds`` are those of all folds together. Differences are tested by the corrected
        t-test of Nadeau and Bengio (2003) and adjusted by Holm's method; over several datasets, ranks are
        compared by the tests of Friedman, Nemenyi and Wilcoxon (Demšar 2006).

    Notes
    -----
    A method that fails in a fold has no mean; the reason is in the notes below the table, and the other
    methods are compared all the same. The best method is known only after the scores: p-values against it
    are a little too small. Name a ``reference`` beforehand to avoid this.

    References
    ----------
    - Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52.
    - Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of Machine
      Learning Research 7.

    Examples
    --------
    >>> import manykernels as mk
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = mk.compare({"sum": "uniform", "neighbours": KNeighborsClassifier()}, X, y, tune=False)
    >>> list(found.scores)
    ['sum', 'neighbours']
    >>> print(found.to_csv().splitlines()[0])
    method,rank,mean,std,difference,low,high,p_value,p_adjusted,folds,kernels,seconds,error
    """
    how: dict[str, Any] = {"cv": cv, "n_repeats": n_repeats, "scoring": scoring, "kernels": kernels}
    how |= {"tune": tune, "task": task, "reference": reference, "random_state": random_state}
    how |= {"n_jobs": n_jobs, "verbose": verbose}
    if y is not None:
        return _one(methods, X, y, groups=groups, weight=sample_weight, **how)
    if not isinstance(X, Mapping) or not all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in X.values()
    ):
        raise ValueError(
            f"y is missing, and X={shown(X)} is no dict from names of datasets to pairs (X, y): give y, or "
            "such a dict."
        )
    for name, given in (("groups", groups), ("sample_weight", sample_weight)):
        if given is not None:
            raise ValueError(f"{name}= was given for several datasets; compare these one by one.")
    return Comparisons({str(name): _one(methods, *pair, groups=None, **how) for name, pair in X.items()})


def _one(
    methods: Any,
    X: Any,
    y: Any,
    *,
    cv: Any,
    n_repeats: int,
    groups: Any,
    kernels: Any,
    tune: bool,
    task: str | None,
    reference: str | None,
    random_state: Any,
    verbose: int,
    weight: Any = None,
    **how: Any,
) -> Comparison:
    """Compare the methods on one dataset."""
    for name, labelled in (("y", y), ("sample_weight", weight)):
        require_order(X, labelled, name)
    given, X, kernels = _joined(_named(methods), X, y, kernels)
    y = _targets(y, task, given)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if (n := _num_samples(X)) != len(y):
        raise ValueError(f"X has {n} samples and y has {len(y)}.")
    groups = sample_labels(groups, n, "groups")
    if weight is not None:
        how["weight"] = check_weights(weight, n)
    task = _task(given, y) if task is None else task
    if isinstance(methods, str) and methods == "all":
        given = {name: one for name, one in given.items() if METHODS[one].serves(task, np.ndim(X) == 3)}
    _require_task(given, task, y)
    if task not in METRIC and any(isinstance(one, str) for one in given.values()):
        raise ValueError(
            f"task={shown(task)} was given; expected one of {', '.join(map(repr, METRIC))}, or None."
        )
    learners = {
        name: METHODS[one].for_samples(X, task, kernels, tune=tune) if isinstance(one, str) else clone(one)
        for name, one in given.items()
    }
    if reference is not None and reference not in learners:
        raise ValueError(
            f"reference={shown(reference)} was given; expected one of {', '.join(map(repr, learners))}."
        )
    classes = task == "classification"
    splits = make_folds(
        y, classes=classes, cv=cv, n_repeats=n_repeats, groups=groups, random_state=random_state
    )
    bar = Progress("fits", verbose, total=len(splits) * len(learners))
    try:
        how |= {"groups": groups, "advance": bar.step}
        return in_folds(learners, X, y, splits, task=task, reference=reference, **how)
    finally:
        bar.close()


def _targets(y: Any, task: str | None, given: Mapping[str, Any]) -> Any:
    """Return the targets as an array; times to an event as a structured array."""
    asked = any(learns_times(one) for one in given.values() if not isinstance(one, str))
    times = task == "survival" or (task is None and (asked or survival_pair(y) is not None))
    return times_of(y) if times else np.asarray(y)


def in_folds(
    learners: Mapping[str, Any],
    X: Any,
    y: Any,
    splits: Splits,
    *,
    task: str,
    reference: str | None = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    advance: Callable[[str], None] = lambda name: None,
    until_stopped: bool = False,
    weight: Any = None,
    groups: Any = None,
    keep: Mapping[str, Look] | None = None,
) -> Comparison:
    """Score the learners and a constant in these folds; :func:`cross_validate` has the other arguments."""
    how: dict[str, Any] = {"scoring": scoring, "weight": weight}
    work: dict[str, Any] = {"n_jobs": n_jobs, "advance": advance, "until_stopped": until_stopped}
    found = cross_validate(learners, X, y, splits, groups=groups, keep=keep, **work, **how)
    known = task in METRIC
    constant = chance(y, splits, task=task, **how) if known else Scores()
    metric = METRIC.get(task, "score") if scoring is None else getattr(scoring, "__name__", str(scoring))
    return Comparison(metric, found, constant, share_of(splits), reference)


def _named(methods: Any) -> dict[str, Any]:
    """Give each method a name; a method is a name of METHODS or an estimator."""
    if isinstance(methods, Mapping):
        named = {str(name): one for name, one in methods.items()}
    else:
        alone = isinstance(methods, str) or not isinstance(methods, Iterable)
        listed = (
            list(METHODS)
            if isinstance(methods, str) and methods == "all"
            else [methods]
            if alone
            else list(methods)
        )
        named = {}
        for one in listed:
            name = one if isinstance(one, str) else type(one).__name__
            if name in named:
                raise ValueError(
                    f"two methods are called {name!r}; give a dict from names of your own to methods."
                )
            named[name] = one
    if not named:
        raise ValueError(
            "no methods were given; expected names such as 'auto', estimators, or a dict of them."
        )
    for one in named.values():
        if isinstance(one, str) and one not in METHODS:
            raise ValueError(
                f"method {one!r} was given; expected one of {', '.join(METHODS)}, or an estimator."
            )
        if not isinstance(one, str) and not (hasattr(one, "fit") and hasattr(one, "get_params")):
            raise ValueError(
                f"method {shown(one)} was given; expected a name or an estimator of scikit-learn's kind."
            )
    return named


def _joined(given: dict[str, Any], X: Any, y: Any, kernels: Any) -> tuple[dict[str, Any], Any, Any]:
    """Join samples in parts (a dict of views, or matrices), with methods and kernels for them."""
    own = {name: in_one_piece(one, X, y) for name, one in given.items() if not isinstance(one, str)}
    wholes = [joined for _, joined in own.values()]
    if len(own) < len(given):
        template, joined = in_one_piece(MKLClassifier(kernels), X, y)
        kernels = template.kernels
        wholes.append(joined)
    joined = next((whole for whole in wholes if whole is not X), X)
    return given | {name: one for name, (one, _) in own.items()}, joined, kernels


def _task(given: Mapping[str, Any], y: Any) -> str:
    """Return the task of the estimators, or else the task that y suggests."""
    own = [one for one in given.values() if not isinstance(one, str)]
    if y.dtype.names is not None:
        return "survival"
    if not own:
        return task_of(y)
    known = [kind for one in own if (kind := _kind(one)) is not None]
    if _is_text(y):
        return "classification"
    return known[0] if known else "regression"


def _require_task(given: Mapping[str, Any], task: str, y: Any) -> None:
    """Raise an error about the first method that is for another task."""
    for name, one in given.items():
        if task == "survival" and isinstance(one, str) and not METHODS[one].times:
            known = ", ".join(repr(key) for key, method in METHODS.items() if method.times)
            raise ValueError(f"method {one!r} does not learn times to an event; expected one of {known}.")
        kind = None if isinstance(one, str) else _kind(one)
        if kind is not None and task in METRIC and kind != task:
            why = f", since y holds text such as {y.ravel()[0]!r}" if _is_text(y) else ""
            raise ValueError(
                f"method {name!r} is for {kind}, and the task is {task}{why}. Compare methods of one task."
            )


def _kind(one: Any) -> str | None:
    return "classification" if is_classifier(one) else "regression" if is_regressor(one) else None


def _is_text(y: Any) -> bool:
    return y.dtype.kind not in "biufcV" and y.size > 0 and isinstance(y.ravel()[0], str)

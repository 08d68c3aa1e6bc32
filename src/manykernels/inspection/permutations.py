"""Permutation tests of a whole model: its score, beside scores on permuted targets."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._arguments import is_integral, shown
from .._fast.threads import processes
from ..comparison.again import anew, settled
from ..comparison.folds import Splits, as_cut, cross_validate, make_folds
from ..comparison.grouped import sample_labels
from ..comparison.results import Permuted
from ..comparison.scores import Learner, Scores, score_fold
from ..estimators import in_one_piece, silent
from ..fitting.matching import require_order
from ._inputs import require_groups

Index = NDArray[np.intp]
FEWEST = 19  # permutations from which p can be 0.05


def permutation_test(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    n_permutations: int = 39,
    scoring: Any = None,
    groups: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    seconds: float | None = None,
) -> Permuted:
    """Test whether a model predicts better than it would if X said nothing about y.

    The model is cross-validated on y, and on y in other orders, in the same folds. Its p-value is
    (1 + the number of orders with at least the same score)/(1 + the number of orders) (Phipson and Smyth
    2010): never 0, and valid for any number of orders.

    Parameters
    ----------
    model : estimator
        An estimator of any package with ``fit`` and ``score``, fitted or not. It is cloned. For a fitted
        search such as MKLClassifierCV the score is that of a search within each fold, and its choice is
        fitted to permuted targets, since searching again in each would take too long. Choices that have
        seen y have no part in either.
    X : array-like, frame, sparse matrix, list or dict
        The samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    cv : int, splitter or list of pairs of rows, default=5
        The folds. A number means shuffled folds, which keep the shares of the classes.
    n_permutations : int, default=39
        The number of permutations; 19 are the fewest with which p can be 0.05.
    scoring : str, callable or None, default=None
        The score, as in scikit-learn. None is the model's own.
    groups : array-like of shape (n_samples,) or None, default=None
        Groups of samples, which stay together in the folds, also in those of a search within. Groups of the
        same size exchange their targets, and targets are permuted within each group.
    random_state : int, RandomState or None, default=0
        The seed of the folds and of the permutations.
    n_jobs : int or None, default=None
        The number of permutations at the same time.
    seconds : float or None, default=None
        The time limit. If ``n_permutations`` would take longer, 19 are made. If these would take longer too,
        a ValueError says how long.

    Returns
    -------
    Permuted
        The result, with ``score``, ``null`` (the scores on permuted targets) and ``p_value``.

    References
    ----------
    - Ojala and Garriga (2010), Permutation tests for studying classifier performance, Journal of Machine
      Learning Research 11.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspection import permutation_test
    >>> X, y = load_iris(return_X_y=True)
    >>> permutation_test(MKLClassifier(), X, y, n_permutations=19).p_value
    0.05
    """
    if not is_integral(n_permutations) or n_permutations < 1:
        raise ValueError(f"n_permutations={shown(n_permutations)} was given; expected a whole number from 1.")
    require_order(X, y, "y")
    model, X = in_one_piece(model, X, y)
    if _num_samples(X) != len(y):
        raise ValueError(f"X has {_num_samples(X)} samples and y has {len(y)}.")
    require_groups(model, groups, cv, "Give groups=, the groups that fit was given, or folds as cv=.")
    y, groups = as_cut(model, y), sample_labels(groups, len(y), "groups")
    splits = make_folds(y, classes=is_classifier(model), cv=cv, groups=groups, random_state=random_state)
    how: dict[str, Any] = {"scoring": scoring, "groups": groups, "n_jobs": n_jobs}
    own = cross_validate({"": anew(model)}, X, y, splits, **how)[""]
    how |= {"random_state": random_state}
    return permuted(settled(model), own, X, y, splits, n_permutations, seconds=seconds, **how)


def permuted(
    learner: Learner,
    own: Scores,
    X: Any,
    y: Any,
    splits: Splits,
    n_permutations: int,
    *,
    scoring: Any = None,
    groups: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    seconds: float | None = None,
) -> Permuted:
    """Run :func:`permutation_test` for a model with known scores in these folds."""
    if not own.complete:
        raise ValueError(f"the model cannot be scored: it {own.error or 'has no folds.'}")
    y = np.asarray(y)
    orders, rng = _Orders(y, groups), check_random_state(random_state)
    at_once = effective_n_jobs(processes(n_jobs, n_permutations))
    if seconds is not None:
        one = (learner, X, y, splits, scoring, groups)
        n_permutations = _affordable(*one, n_permutations, at_once, seconds)
    run = Parallel(n_jobs=at_once)
    drawn = [orders.draw(rng) for _ in range(n_permutations)]
    null = run(delayed(_null)(learner, X, y, splits, order, scoring, groups) for order in drawn)
    return Permuted(own.mean, list(null))


def _null(
    learner: Learner, X: Any, y: Any, splits: Splits, order: Index, scoring: Any, groups: Any = None
) -> float:
    """The mean score on y[order]. Folds go with the targets, so that each keeps its shares of the classes."""
    place = np.argsort(order)  # where each target has gone
    moved = [(place[train], place[test]) for train, test in splits]
    found = cross_validate({"": learner}, X, y[order], moved, scoring=scoring, groups=groups)[""]
    if not found.complete:
        raise ValueError(f"the model cannot be scored on permuted targets: it {found.error}")
    return found.mean


def _affordable(
    learner: Learner,
    X: Any,
    y: Any,
    splits: Splits,
    scoring: Any,
    groups: Any,
    wanted: int,
    at_once: int,
    seconds: float,
) -> int:
    """Return the number of permutations that there is time for, by the time of one fit."""
    started = time.perf_counter()
    score_fold(silent(clone(learner)), X, y, *splits[0], scoring=scoring, groups=groups)
    each = (time.perf_counter() - started) * len(splits) / at_once
    if each * wanted <= seconds:
        return wanted
    fewest = min(wanted, FEWEST)
    if each * fewest > seconds:
        raise ValueError(
            f"{fewest} permutations in {len(splits)} folds would take about {each * fewest:.0f} s, and "
            f"{seconds:.0f} s were given."
        )
    return fewest


class _Orders:
    """Orders of the targets that would be as likely as the true one if X said nothing about y.

    Groups of the same size exchange their targets, and targets are permuted within each group. To permute
    within alone would leave what X says of a whole group, so that a good model would seem to be guessing.
    """

    def __init__(self, y: NDArray[Any], groups: Any) -> None:
        self.n = len(y)
        self.alike: list[list[Index]] = [[np.arange(self.n)]]  # rows of groups of the same size
        if groups is None:
            return
        labels = np.asarray(groups)
        members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        sizes = sorted({rows.size for rows in members})
        self.alike = [[rows for rows in members if rows.size == size] for size in sizes]
        if len(members) == len(sizes) and all((y[rows] == y[rows[0]]).all() for rows in members):
            raise ValueError(
                "every group has one target and a size of its own: no targets can change places. Leave out "
                "groups, or score one mean of each group."
            )

    def draw(self, rng: np.random.RandomState) -> Index:
        order = np.arange(self.n)
        for alike in self.alike:
            places = rng.permutation(len(alike)) if len(alike) > 1 else [0]
            for rows, place in zip(alike, places, strict=True):
                order[rows] = rng.permutation(alike[place])
        return order

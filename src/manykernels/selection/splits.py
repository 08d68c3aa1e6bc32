"""Folds of a search."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from .._arguments import number_of, shown
from .._warn import warn
from ..fitting.spec import short
from .data import Data, Index

Folds = list[tuple[Index, Index]]
FOLDS = 5
_THIN = 1000  # samples from which models of times to an event are learned to be compared


def make_folds(cv: Any, X: Any, data: Data, groups: Any, random_state: Any, count: int = FOLDS) -> Folds:
    """Splits into training and test samples; each has something to learn from, and something to score.

    Without `cv` there are `count` of them, at most.
    """
    splitter, y, classes = cv, data.y, data.classes
    look_at_groups(groups, cv, len(y))
    groups = None if cv is None or isinstance(cv, Integral) else groups
    if data.survival:  # every fold has its share of events
        y, classes = data.y["event"], _both(data.y["event"])
    if splitter is None:
        rng = check_random_state(0 if random_state is None else random_state)
        counts = len(y) if classes is None else int(np.unique(y, return_counts=True)[1].max())
        if counts < 2 <= len(y) and classes is not None and not data.survival:
            _require_repeated(data)
        splits = max(2, min(count, counts))
        kind = KFold if classes is None else StratifiedKFold
        splitter = kind(splits, shuffle=True, random_state=rng.randint(2**31 - 1))
    if len(y) < 2:
        raise ValueError(
            f"X holds {len(y)} sample (n_samples = {len(y)}); a cross-validation needs at least 2."
        )
    if isinstance(splitter, bytes) or not (isinstance(splitter, Integral) or hasattr(splitter, "split")):
        splitter = _read_folds(splitter, len(y))
    splitter = check_cv(splitter, y, classifier=classes is not None)
    with _quiet_about_small_classes():
        folds = [(np.asarray(a), np.asarray(b)) for a, b in split(splitter, X, y, groups)]
    folds = [(_numbers(train, len(y)), _numbers(test, len(y))) for train, test in folds]
    if cv is None and data.survival:
        folds = thinned(folds, data.y["event"], random_state)
    _check_folds(folds, data, "the folds taken without cv" if cv is None else f"cv={short(cv)}")
    return folds


def look_at_groups(groups: Any, cv: Any, n: int) -> None:
    """Raise an error unless each sample has a group; warn if `cv` makes folds that split groups."""
    if groups is None:
        return
    if len(groups) != n:
        raise ValueError(
            f"groups holds {number_of(len(groups), 'label')}, and X has {number_of(n, 'sample')}; expected a "
            "label for each sample, in the same order."
        )
    if cv is None or isinstance(cv, Integral):
        warn(
            f"groups were given, and cv={cv!r} does not keep them together: a model may be judged on samples "
            "of a group that it has learned from. Give cv=GroupKFold() or StratifiedGroupKFold() of "
            "sklearn.model_selection."
        )


def thinned(folds: Folds, event: NDArray[np.bool_], random_state: Any = None) -> Folds:
    """Return folds of times to an event with fewer samples to learn from, where there are many."""
    return [(_thinned(train, event, random_state), test) for train, test in folds]


def _thinned(train: Index, event: NDArray[np.bool_], random_state: Any) -> Index:
    """At most so many samples as a matrix is factored of in a fraction of a second, events in proportion."""
    if train.size <= _THIN:
        return train
    rng = check_random_state(0 if random_state is None else random_state)
    order = rng.permutation(train.size)
    order = order[np.argsort(event[train[order]], kind="stable")]  # those without an event first
    return np.sort(train[order[np.linspace(0, train.size - 1, _THIN).astype(np.intp)]])


def _both(event: NDArray[np.bool_]) -> NDArray[Any] | None:
    """Return what folds are stratified by: events, if some samples have none."""
    return None if event.all() else np.array([False, True])


def split(splitter: Any, X: Any, y: Any, groups: Any) -> Iterator[Any]:
    """The folds of a splitter, or an error that says that it needs groups."""
    try:
        yield from splitter.split(X, y, groups)
    except ValueError as error:
        if groups is not None or "group" not in str(error):
            raise
        raise ValueError(
            f"cv={short(splitter)} cuts folds by groups of samples, and none were given. Give a label for "
            "each sample: groups=... to fit, compare and permutation_test, sample_groups=... to importance, "
            "weight_stability, report and baselines."
        ) from error


def _check_folds(folds: Folds, data: Data, given: str) -> None:
    for k, (train, test) in enumerate(folds):
        used = train if data.weight is None else train[data.weight[train] > 0]
        counts = test.size and (data.weight is None or bool(np.any(data.weight[test] > 0)))
        if not used.size or not counts:
            raise ValueError(f"Fold {k} of {given} has no sample to train on, or none to score.")
        if data.survival and not data.y["event"][used].any():
            _require_events(data)
            raise ValueError(
                f"Fold {k} of {given} trains on samples without an event: all {int(data.y['event'].sum())} "
                "events are held out. Take fewer folds, or a stratified or shuffled cv."
            )
        if data.classes is not None and np.unique(data.y[used]).size < 2:
            _require_repeated(data)
            raise ValueError(
                f"Fold {k} of {given} trains on samples of one class only ({data.y[used].tolist()[0]!r}). "
                "Take fewer folds, a stratified or shuffled cv, or groups that do not leave a class out."
            )


def _require_repeated(data: Data) -> None:
    """Raise an error about a class of one sample, which cannot be both learned from and held out."""
    y = data.y if data.weight is None else data.y[data.weight > 0]
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"Class {classes.tolist()[int(counts.argmin())]!r} has one sample only, so that no sample of "
            "it is left to learn from while this one is held out. Give at least 2 samples of each class, "
            "or leave this class out."
        )


def _require_events(data: Data) -> None:
    """Raise an error about a single event, which cannot be both learned from and held out."""
    event = data.y["event"] if data.weight is None else data.y["event"][data.weight > 0]
    if event.sum() < 2:
        raise ValueError(
            f"y has one event among {event.size} samples, which cannot be both learned from and held out. "
            "Give samples with at least 2 events, or take MKLSurvival, which holds none out."
        )


@contextmanager
def _quiet_about_small_classes() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        yield


def _read_folds(cv: Any, n: int) -> Folds:
    """Folds that were given one by one: pairs of rows to train on and rows to score."""
    expected = (
        "expected a number of folds, a splitter such as KFold(5), 'loo', or pairs (train, test) of the "
        "numbers of rows"
    )
    if isinstance(cv, str | bytes) or not np.iterable(cv):
        raise ValueError(f"cv={shown(cv)} was given; {expected}.")
    folds = []
    for pair in cv:
        rows = [np.asarray(part) for part in pair] if isinstance(pair, tuple | list) else []
        fits = [r.ndim == 1 and (r.dtype.kind in "iu" or (r.dtype == bool and len(r) == n)) for r in rows]
        if len(rows) != 2 or not all(fits) or any(r.dtype.kind in "iu" and not _within(r, n) for r in rows):
            raise ValueError(f"cv={shown(cv)} was given; {expected}, each below {n}.")
        folds.append((rows[0], rows[1]))
    if not folds:
        raise ValueError(f"cv={shown(cv)} holds no fold; {expected}.")
    return folds


def _numbers(rows: NDArray[Any], n: int) -> Index:
    """Rows by number from 0, also where a mask was given, or numbers that count from the end."""
    return np.flatnonzero(rows) if rows.dtype == bool else rows % n


def _within(rows: NDArray[Any], n: int) -> bool:
    return bool(np.all((rows >= -n) & (rows < n)))

"""MK40x: classes that are small, and samples that are not apart from each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arguments import and_more, number_of
from ..kernels.cells import column_of, labels_of
from .base import Facts, Rule

_SMALL = 10  # samples of a class: two for each of five folds
_LARGE = 0.9  # of the samples in one class
_NAMED = 5
_TWINS = 0.03  # of the samples: equal rows that matter
_CHANCE = 10.0  # times as many equal pairs as independent columns would have


def _counts(facts: Facts) -> dict[Any, int]:
    """Samples of each class; nothing for other targets."""
    if facts.y is None or facts.task != "classification":
        return {}
    labels, counts = np.unique(np.asarray(facts.y), return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))


def _small(facts: Facts) -> str | None:
    few = {label: count for label, count in _counts(facts).items() if count < _SMALL}
    if not few:
        return None
    told = and_more([f"{label!r} has {number_of(count, 'sample')}" for label, count in few.items()], _NAMED)
    of = "these classes" if len(few) > 1 else "this class"
    return f"Class {told}. Some of five folds hold out at most one, so scores for {of} are unreliable."


def _unequal(facts: Facts) -> str | None:
    counts = _counts(facts)
    total = sum(counts.values())
    if facts.costed or not counts or max(counts.values()) <= _LARGE * total or min(counts.values()) < _SMALL:
        return None
    label, count = max(counts.items(), key=lambda one: one[1])
    share = f"{100 * count / total:.0f} %"
    return f"{share} of the samples are of class {label!r}: always predicting it is right as often."


# -- samples that are not apart ---------------------------------------------------------------------
def _twins(facts: Facts) -> str | None:
    keys = _row_keys(facts.table)
    if keys is None or keys.max(initial=-1) + 1 == len(keys):
        return None
    counts = np.bincount(keys)
    twin = counts[keys] > 1
    pairs = float(np.sum(counts * (counts - 1.0)) / 2.0)
    if twin.mean() < _TWINS or pairs <= _CHANCE * _expected_pairs(facts.table):
        return None
    apart = twin if facts.folds is None else _across(keys, facts.folds)
    if facts.folds is None and facts.groups is not None:
        apart = twin & ~_one_group(keys, np.asarray(facts.groups))
    if apart.mean() < _TWINS:
        return None
    count = int(apart.sum())
    return (
        f"{count} of {len(keys)} rows occur more than once. Folds that are cut row by row learn from one "
        "copy and score the other, so that scores are too good."
    )


def _row_keys(table: Any) -> NDArray[np.intp] | None:
    """(n,): equal numbers for equal rows; None where rows cannot be compared, or have one cell."""
    shape: tuple[int, ...] = tuple(getattr(table, "shape", ()))
    if len(shape) != 2 or shape[1] < 2 or sparse.issparse(table):
        return None
    codes = np.zeros(shape[0], dtype=np.intp)
    for j in range(shape[1]):
        found = np.unique(_codes(column_of(table, j)), return_inverse=True)[1]
        codes = np.unique(codes * (found.max() + 1) + found, return_inverse=True)[1]
        if codes.max() + 1 == len(codes):
            break
    return np.asarray(codes)


def _codes(column: Any) -> NDArray[np.intp]:
    values = np.asarray(column)
    if values.dtype.kind not in "biuf":
        values = np.array(["" if label is None else label for label in labels_of(column)], dtype=str)
    return np.asarray(np.unique(values, return_inverse=True)[1])


def _expected_pairs(table: Any) -> float:
    """Pairs of equal rows, if columns had nothing to do with each other: n(n − 1)/2 Π_j Σ_v p_jv²."""
    n, p = int(table.shape[0]), int(table.shape[1])
    chance = 0.0
    for j in range(p):
        shares = np.bincount(_codes(column_of(table, j))) / n
        chance += float(np.log(np.sum(shares**2)))
    return 0.5 * n * (n - 1.0) * float(np.exp(chance))


def _across(keys: NDArray[Any], folds: Any) -> NDArray[np.bool_]:
    """Return which rows are held out in a fold that learns from their like."""
    found = np.zeros(len(keys), dtype=bool)
    for train, test in folds:
        found[test] |= np.isin(keys[test], keys[train])
    return found


def _one_group(keys: NDArray[Any], groups: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows share their group with all rows like them."""
    codes = np.unique(groups, return_inverse=True)[1]
    low, high = np.full(keys.max() + 1, len(codes)), np.full(keys.max() + 1, -1)
    np.minimum.at(low, keys, codes)
    np.maximum.at(high, keys, codes)
    return np.asarray((low == high)[keys])


def _groups(facts: Facts) -> str | None:
    if facts.groups is None or facts.folds is None:
        return None
    groups = np.unique(np.asarray(facts.groups), return_inverse=True)[1]
    split = np.zeros(groups.max() + 1, dtype=bool)
    for train, test in facts.folds:
        split[np.intersect1d(groups[train], groups[test])] = True
    if not split.any():
        return None
    return (
        f"{int(split.sum())} of {split.size} groups have samples on both sides of a fold. The scores hold "
        "for new samples of known groups, and are too good for new groups."
    )


TARGETS = (
    Rule("MK401", "A class is small", "Join it with another class, or collect more samples of it.", _small),
    Rule(
        "MK402",
        "Nearly all samples are of one class",
        "Take class_weight='balanced', and scoring='balanced_accuracy' or 'roc_auc'.",
        _unequal,
    ),
    Rule(
        "MK403",
        "Rows occur more than once",
        "Leave copies out, or keep them together in folds: --sample-groups COLUMN, in Python "
        "cv=GroupKFold(5) and groups to fit.",
        _twins,
    ),
    Rule(
        "MK404",
        "Groups are split between folds",
        "Cut the folds by groups: --sample-groups COLUMN, in Python cv=GroupKFold(5) and groups to fit.",
        _groups,
    ),
)

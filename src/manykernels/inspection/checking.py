"""All coded checks of a model: what it knows of itself, and what data and comparisons add."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from .._arguments import is_integral
from .._checks import Check, Compared, Facts, judge
from ..comparison.folds import make_folds
from ..comparison.grouped import sample_labels
from ..comparison.results import PLAIN_SUM, Comparison, Permuted, said, verdict
from ..estimators import face_of, facts_of, in_one_piece, opened
from ..fitting.layout import is_lazy
from ..fitting.model import Model
from ._inputs import header_of
from .stability import Stability

_ALIGNED = 2000  # samples up to which a kernel is aligned once more, with half of them


def check(
    model: Any,
    X: Any,
    y: Any,
    *,
    stability: Stability | None = None,
    comparison: Comparison | None = None,
    permuted: Permuted | None = None,
    sample_groups: Any = None,
    cv: Any = None,
    new: Any = None,
) -> list[Check]:
    """Find the reasons to be careful with a model.

    ``model.checks_`` has the checks that need the fitted model alone. This function adds those that need the
    training data, and those that need the optional arguments.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline or search that ends in one.
    X : array, frame, list or dict
        The training samples, as they were given to ``fit``.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Their targets.
    stability : Stability or None, default=None
        The result of :func:`weight_stability`, for MK305.
    comparison : Comparison or None, default=None
        Scores of the model, which comes first, and of others, for MK501 and MK502. See
        :func:`manykernels.report.baselines`.
    permuted : Permuted or None, default=None
        The result of :func:`permutation_test`, for MK501.
    sample_groups : array of shape (n_samples,) or None, default=None
        The group of each sample (patient, site), for MK403 and MK404.
    cv : int, splitter, list of pairs of rows or None, default=None
        The folds in which the model is scored, for MK403 and MK404. None takes those of a search.
    new : array, frame, dict or None, default=None
        Samples to predict, for MK416 and MK503.

    Returns
    -------
    list of Check
        The checks that the model triggers, in the order of their codes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspection import check
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(width=0.01)], norm=2.0).fit(X, y)
    >>> [found.code for found in check(model, X, y)]
    ['MK302']
    """
    given, parts = new, X
    model, X = in_one_piece(model, X, y)
    face, inner = face_of(model, X)
    facts = replace(facts_of(face), searched=opened(model).searched)
    if new is not None:
        _, new = in_one_piece(model, new)
    with warnings.catch_warnings():  # fit has said what there is to say
        warnings.simplefilter("ignore")
        facts = _with_samples(facts, X, inner, y, sample_labels(sample_groups, _num_samples(X)), cv)
        if len(getattr(facts.table, "shape", ())) == 2:
            facts = replace(facts, names=header_of(X, face.kernels, parts).columns)
        facts = replace(facts, new=new, predicted=_predictions(model, facts.model, given))
        facts = replace(facts, alignments=_alignments(face, facts, inner, y))
    if isinstance(stability, Stability):
        of = stability if stability.views is None else stability.views
        facts = replace(facts, halves=of.weights, of="kernel" if of is stability else "view")
    if comparison is not None and comparison.scores:
        facts = replace(facts, **_compared(facts.model, comparison, permuted))
    return judge(facts)


def _with_samples(facts: Facts, X: Any, inner: Any, y: Any, groups: Any, cv: Any) -> Facts:
    target = facts.model.target
    y = np.asarray(y) if target is None else np.asarray(target.read(y))
    folds = _folds(facts, y, groups, cv)
    table = X if hasattr(X, "shape") and not is_lazy(X) else None
    return replace(facts, X=None if is_lazy(inner) else inner, y=y, table=table, groups=groups, folds=folds)


def _folds(facts: Facts, y: NDArray[Any], groups: Any, cv: Any) -> Any:
    """The folds that were given, or those of a search, which are cut by rows unless told otherwise."""
    search, classes = facts.searched, facts.task == "classification"
    if cv is not None:
        return make_folds(y, classes=classes, cv=cv, groups=groups)
    if search is None or groups is None:
        return None
    if search.folds is None or isinstance(search.folds, str) or is_integral(search.folds):
        splits = min(int(search.folds) if is_integral(search.folds) else 5, len(y))
        return make_folds(np.arange(len(y)), classes=False, cv=max(splits, 2))
    if hasattr(search.folds, "split"):
        own = groups if isinstance(search.folds, GroupsConsumerMixin) else None
        return make_folds(y, classes=classes, cv=search.folds, groups=own)
    return list(search.folds)


def _predictions(model: Any, learned: Model, new: Any) -> Any:
    """None also where covariates would have to be given beside the new samples."""
    separated = learned.layout.separated
    beside = separated is not None and not separated.columns
    return None if new is None or beside or not hasattr(model, "predict") else model.predict(new)


def _alignments(face: Any, facts: Facts, X: Any, y: Any) -> tuple[float, float] | None:
    """Return the alignment of a kernel learned from half of the samples: there, and on the others."""
    model, n = facts.model, _num_samples(X)
    beside = model.covariates is not None or model.layout.separated is not None
    if not hasattr(face, "score_alignment") or beside or model.layout.kind == "stack" or n > _ALIGNED:
        return None
    order = np.random.RandomState(0).permutation(n)
    if facts.task == "classification":  # halves have their share of each class
        order = order[np.argsort(facts.y[order], kind="stable")]
    half, rest = np.sort(order[::2]), np.sort(order[1::2])
    copy = clone(face)
    try:
        copy.fit(*_safe_split(copy, X, np.asarray(y), half))
        return float(copy.alignment_), float(copy.score_alignment(*_safe_split(copy, X, np.asarray(y), rest)))
    except ValueError:  # half of the samples is too few for it
        return None


def _compared(model: Model, comparison: Comparison, permuted: Permuted | None) -> dict[str, Any]:
    """Return what the scores say of the first method."""
    own = next(iter(comparison.scores))
    found: dict[str, Any] = {}
    guess = verdict(comparison, own, permuted)
    if guess is not None:
        found["guessing"] = Compared(guess.better, guess.sentence)
    plain = next((name for name in comparison.scores if name in PLAIN_SUM), None)
    difference = None if plain is None else comparison.above_others(own).get(plain)
    if plain is not None and difference is not None and len(model.names) > 1:
        better = difference.mean > 0.0 and difference.clear
        found["plain_sum"] = Compared(better, said("The model", f"the {plain}", difference))
    return found

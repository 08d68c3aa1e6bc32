"""Cross-validation that can be stopped, with what there is until then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from ..report.scores import Fold, Learner, Scores, score_fold
from ._console import UserError, Voice, counted
from .data import Data

METRIC = {"classification": "accuracy", "regression": "R²"}
Split = tuple[Any, Any]


def against(scores: Scores, data: Data) -> str:
    """What a score is to be held against."""
    if data.task == "regression":
        return f"{len(scores.values)} folds; a constant has 0"
    share = np.unique(np.asarray(data.y, dtype=str), return_counts=True)[1].max() / data.n
    return f"{len(scores.values)} folds; always the largest class: {share:.3f}"


def folds(data: Data, cv: int) -> list[Split]:
    """The same for all methods."""
    if data.n < cv:
        raise UserError(f"{data.n} samples cannot be split into {cv} folds; give --cv, or --no-score.")
    if data.task == "regression":
        if data.n < 2 * cv:
            raise UserError(
                f"{data.n} samples make {cv} folds of fewer than two, and R² needs two; give a smaller --cv, "
                "or --no-score."
            )
        return list(KFold(cv, shuffle=True, random_state=0).split(np.arange(data.n)))
    labels, counts = np.unique(np.asarray(data.y, dtype=str), return_counts=True)
    if counts.min() < cv:
        raise UserError(
            f"class {str(labels[counts.argmin()])!r} has {counted(counts.min(), 'sample')}, fewer than the "
            f"{cv} folds of the cross-validation; give a smaller --cv, or fit with --no-score."
        )
    return list(StratifiedKFold(cv, shuffle=True, random_state=0).split(np.arange(data.n), data.y))


def cross_validate(
    voice: Voice, learners: Mapping[str, Learner], data: Data, splits: list[Split], jobs: int = 1
) -> dict[str, Scores]:
    """Fold by fold, so that Ctrl-C leaves comparable scores of all methods; `jobs` of them at a time."""
    results = {name: Scores() for name in learners}
    tasks = [(name, split) for split in splits for name in learners]
    with voice.steps("scoring", len(tasks)) as advance:
        try:
            run = Parallel(n_jobs=jobs, return_as="generator")
            found = run(delayed(_score)(clone(learners[name]), data, *split) for name, split in tasks)
            for (name, _), one in zip(tasks, found, strict=True):
                results[name].add(one)
                advance(name)
        except KeyboardInterrupt:
            for scores in results.values():
                scores.interrupted = True
    return results


def _score(learner: Learner, data: Data, train: Any, test: Any) -> Fold:
    return score_fold(learner, lambda rows: _part(data, rows, train), train, test)


def _part(data: Data, rows: Any, train: Any) -> tuple[Any, Any]:
    if data.kernels:
        return data.X[np.ix_(rows, train)], data.y[rows]
    return data.X.iloc[rows], data.y[rows]

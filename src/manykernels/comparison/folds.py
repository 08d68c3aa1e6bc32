"""The cross-validation of several methods: the same folds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import joblib
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._arguments import is_integral, number_of, shown
from .._fast.threads import processes
from .._pieces import current, kept
from ..estimators import opened, silent
from ..fitting.survival import read_survival, records_of
from ..selection.scoring import require_score
from ..selection.splits import split
from .grouped import Splits as Splits
from .grouped import sample_labels, splitter_of
from .scores import Learner, Look, Scores, score_fold

CLASSES = 20  # whole numbers with at most so many values are classes, unless told otherwise


def task_of(y: Any) -> str:
    """Return "classification" for text, truth values and few whole numbers, else "regression"."""
    values = np.asarray(y)
    if values.dtype.kind not in "iuf" or values.ndim > 1:
        return "regression" if values.dtype.kind in "iuf" else "classification"
    whole = bool(np.all(np.mod(values, 1) == 0))
    return "classification" if whole and np.unique(values).size <= CLASSES else "regression"


def make_folds(
    y: Any, *, classes: bool, cv: Any = 5, n_repeats: int = 1, groups: Any = None, random_state: Any = 0
) -> Splits:
    """Make shuffled folds, drawn anew in each repetition.

    Classes (and events, of samples that may be censored) keep their shares, and samples of one group stay
    together. ``cv`` may also be a splitter of
    scikit-learn or a list of pairs of rows, which are taken as they are.
    """
    n = len(y)
    if not is_integral(n_repeats) or n_repeats < 1:
        raise ValueError(f"n_repeats={shown(n_repeats)} was given; expected a whole number, at least 1.")
    if not is_integral(cv):
        return _given(cv, y, groups, n_repeats)
    if not 2 <= cv <= n:
        raise ValueError(f"cv={cv} was given for {n} samples; expected a number of folds from 2 to {n}.")
    if has_fields(y):
        y, classes = _events(y, cv), True
    else:
        _require_enough(y, cv, classes, groups)
    rng = random_state if is_integral(random_state) else check_random_state(random_state).randint(2**30)
    splits: Splits = []
    for repeat in range(n_repeats):
        seed, grouped = int(rng) + repeat, groups is not None
        cut = splitter_of(cv, classes=classes, grouped=grouped, random_state=seed)
        splits += list(cut.split(np.zeros(n), y, groups))
    return splits


def _given(cv: Any, y: Any, groups: Any, n_repeats: int) -> Splits:
    """Return the folds of a splitter, or a list of folds."""
    if n_repeats != 1:
        raise ValueError(
            f"n_repeats={n_repeats} was given with cv={shown(cv)}, whose folds are taken as they are; give a "
            "number of folds as cv, or repeat them in the splitter."
        )
    if hasattr(cv, "split") and not isinstance(cv, str):
        return list(split(cv, np.zeros(len(y)), y, groups))
    if isinstance(cv, Iterable) and not isinstance(cv, str):
        return [(np.asarray(train), np.asarray(test)) for train, test in cv]
    raise ValueError(
        f"cv={shown(cv)} was given; expected a number of folds, a splitter of scikit-learn or a list of "
        "(training rows, test rows)."
    )


def as_cut(learner: Any, y: Any) -> Any:
    """Return targets whose rows can be taken: times to an event as a structured array, others as they are."""
    return times_of(y) if learns_times(learner) else y


def learns_times(learner: Any) -> bool:
    """Tell whether the learner, or its last step, is for times to an event."""
    return hasattr(type(opened(learner).last), "predict_survival_function")


def times_of(y: Any) -> Any:
    """Return times to an event as a structured array; one that is given is returned as it is."""
    return y if has_fields(y) else records_of(read_survival(y))


def has_fields(y: Any) -> bool:
    """Tell whether y is a structured array, as times to an event are."""
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def _events(y: Any, cv: int) -> NDArray[np.bool_]:
    """Return which samples had the event, since every fold needs one."""
    event = read_survival(y).event
    if (count := int(event.sum())) < cv:
        raise ValueError(
            f"y has {number_of(count, 'event')}, fewer than the {cv} folds of the cross-validation; give a "
            "smaller cv."
        )
    return event


def _require_enough(y: Any, cv: int, classes: bool, groups: Any) -> None:
    """Raise an error if a fold would lack a class, or two samples for R²."""
    if groups is not None:
        found = np.unique(np.asarray(groups)).size
        if found < cv:
            raise ValueError(f"cv={cv} was given for {found} groups; give a number of folds up to {found}.")
    elif classes:
        labels, counts = np.unique(np.asarray(y, dtype=str), return_counts=True)
        if counts.min() < cv:
            few, rare = int(counts.min()), str(labels[counts.argmin()])
            raise ValueError(
                f"class {rare!r} has {number_of(few, 'sample')}, fewer than the {cv} folds of the "
                f"cross-validation; {_remedy(rare, few, labels)}."
            )
    elif len(y) < 2 * cv:
        raise ValueError(
            f"{len(y)} samples make {cv} folds of fewer than two, and R² needs two; give a smaller cv."
        )


def _remedy(rare: str, few: int, labels: Any) -> str:
    """Return advice for classes with few samples: one sample cannot be both learned from and scored."""
    alike = [
        str(label) for label in labels if label != rare and label.strip().lower() == rare.strip().lower()
    ]
    if alike:
        return f"did you mean {alike[0]!r}? Correct the label"
    return "give a smaller cv" if few > 1 else "leave that sample out, or join the class with another one"


def cross_validate(
    learners: Mapping[str, Learner],
    X: Any,
    y: Any,
    splits: Splits,
    *,
    scoring: Any = None,
    n_jobs: int | None = None,
    advance: Callable[[str], None] = lambda name: None,
    until_stopped: bool = False,
    weight: Any = None,
    groups: Any = None,
    keep: Mapping[str, Look] | None = None,
) -> dict[str, Scores]:
    """Score each learner in each fold, with ``n_jobs`` fits at the same time.

    ``groups`` are labels of samples that belong together: a search that is repeated within a fold keeps them
    together too.

    ``advance`` is told the name of each learner that has been scored. With ``until_stopped`` Ctrl-C ends it
    with the scores until then, which are comparable since the folds are the same. Folds of the learners in
    `keep` have what its function makes of the fitted learner and the samples that are scored. Where work is
    kept, each score is a piece.
    """
    require_score(scoring)
    how: dict[str, Any] = {"scoring": scoring, "weight": weight}
    how["groups"] = groups = sample_labels(groups, len(y), "groups")
    results = {name: Scores() for name in learners}
    tasks = [(name, split) for split in splits for name in learners]
    run = Parallel(n_jobs=processes(n_jobs, len(tasks)), return_as="generator")
    store = current()
    beside = (weight,) if groups is None else (weight, groups)
    told = "" if store is None else str(joblib.hash((np.asarray(y), *beside), hash_name="sha1"))
    try:
        found = run(
            delayed(kept)(
                store,
                () if store is None else ("score", name, told, joblib.hash(split, hash_name="sha1")),
                partial(score_fold, keep=(keep or {}).get(name), **how),
                *(silent(clone(learners[name])), X, y, *split),
            )
            for name, split in tasks
        )
        for (name, _), one in zip(tasks, found, strict=True):
            results[name].add(one)
            advance(name)
    except KeyboardInterrupt:
        if not until_stopped:
            raise
        for scores in results.values():
            scores.interrupted = True
    return results

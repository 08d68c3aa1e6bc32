"""A report about several models side by side: scores in the same folds, and held-out predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from sklearn.utils.validation import _num_samples

import manykernels

from .._arguments import number_of
from ..comparison.methods import METHODS
from ..comparison.results import Comparison, verdict
from ..comparison.statistics import ALPHA
from .data import FORMAT, plain
from .held import HeldOut
from .methods import CITATION, versions
from .quality import quality_section
from .survival import groups_section, held_out_groups
from .tables import target_summary
from .verdict import listed, p_of, spread_of

Held = Mapping[str, HeldOut | None]


def comparison_data(
    results: Comparison,
    X: Any,
    y: Any,
    *,
    task: str,
    held_out: Held | None = None,
    title: str = "Which model predicts best",
    target: str = "target",
    call: str = "",
    made: date | None = None,
) -> dict[str, Any]:
    """Collect all that a report shows of several models that were scored in the same folds.

    Parameters
    ----------
    results : Comparison
        The scores of the models; see :func:`manykernels.compare`.
    X : array-like, frame, sparse matrix, list or dict
        The samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets; times to an event as a structured array.
    task : {"classification", "regression", "survival"}
        The kind of target.
    held_out : dict or None, default=None
        The held-out predictions of each model, by its name.
    title : str, default="Which model predicts best"
        The title of the report.
    target : str, default="target"
        The name of y.
    call : str, default=""
        The command that made the report.
    made : date or None, default=None
        The date of the report. None is today.

    Returns
    -------
    dict
        The sections of the report as plain values, for :func:`render` and :func:`markdown`.

    Examples
    --------
    >>> import manykernels as mk
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from manykernels.report import comparison_data
    >>> X, y = load_iris(return_X_y=True)
    >>> found = mk.compare([GaussianNB(), DummyClassifier()], X, y)
    >>> comparison_data(found, X, y, task="classification", title="Iris")["title"]
    'Iris'
    """
    held = dict(held_out or {})
    shape: tuple[int, ...] = getattr(X, "shape", ())
    table = [row for row in results.table().values if row["method"] in results.scores]
    about = {
        "samples": _num_samples(X),
        "features": int(shape[1]) if len(shape) == 2 else None,
        "kernels": int(shape[2]) if len(shape) == 3 else 0,
        "target": target_summary(y, target, task),
    }
    rows = {row["name"]: row for row in results.as_rows()}
    document: dict[str, Any] = {
        "format": FORMAT,
        "title": title,
        "made": (made or date.today()).isoformat(),
        "version": manykernels.__version__,
        "call": call,
        "alternatives": {name: METHODS[name].says for name in results.scores if name in METHODS},
        "data": about,
        "scores": {
            "metric": results.metric,
            "rows": [rows[row["method"]] for row in table],
            "chance": results.chance.as_dict() if results.chance.folds else None,
            **dict.fromkeys(("verdict", "rival", "permutation")),
        },
        "table": table,
        "against": results.against,
        "models": [_model(row["method"], held.get(row["method"]), y, task) for row in table],
        "verdict": [{"about": a, "tone": t, "text": s} for a, t, s in _in_short(results)],
        "methods": _methods(results, about),
        "left_out": {name: one.error for name, one in results.scores.items() if one.failed},
    }
    found: dict[str, Any] = plain(document)
    return found


def _model(name: str, held: HeldOut | None, y: Any, task: str) -> dict[str, Any]:
    """What held-out predictions of one model show."""
    survival = None
    if held is not None and task == "survival":
        groups = held_out_groups(y, held.splits, [one.predicted for one in held.seen])
        survival = groups_section(y, None, groups)
    return {"name": name, "quality": quality_section(held, y, task), "survival": survival}


# -- sentences ------------------------------------------------------------------------------------
def _in_short(results: Comparison) -> Iterator[tuple[str, str, str]]:
    best = results.best
    if best is None:
        yield "quality", "bad", "No model has a score in every fold."
        return
    own = results.scores[best]
    folds = number_of(len(own.folds), "fold")
    yield (
        "quality",
        "plain",
        f"{best} predicts best: {results.metric} {spread_of(own.mean, own.std)} over {folds}, on samples "
        "that it did not learn from.",
    )
    judged = verdict(results, best)
    if judged is not None:
        yield "guessing", "good" if judged.better else "bad", judged.sentence
    yield from _differences(results)
    if results.reference is None and len(results.scores) > 1:
        yield (
            "care",
            "care",
            "The best model was found on these folds, and all others are compared with it: its score tends "
            "to be a little too good, and p-values a little too small.",
        )
    for name, scores in results.scores.items():
        if scores.failed:
            yield "care", "care", f"{name} is not compared: it {scores.error}"


def _differences(results: Comparison) -> Iterator[tuple[str, str, str]]:
    """What the model that others are held against is better than, and what may be chance."""
    found = {} if results.against is None else results.above_others(results.against)
    rows = [plain(one.as_dict() | {"name": name, "shown": one.shown}) for name, one in found.items()]
    clear = [row for row in rows if (p := p_of(row)) is not None and p <= ALPHA]
    behind, ahead = [row for row in clear if row["mean"] > 0], [row for row in clear if row["mean"] <= 0]
    others = [row for row in rows if row not in clear]
    if ahead:
        yield "alternatives", "bad", f"Clearly better than {results.against}: {listed(ahead)}."
    if behind:
        yield "alternatives", "good", f"{results.against} is clearly better than {listed(behind)}."
    if others:
        yield (
            "alternatives",
            "plain",
            f"The difference of {results.against} from {listed(others)} may be chance.",
        )


def _methods(results: Comparison, about: Mapping[str, Any]) -> dict[str, Any]:
    used = versions()
    folds = max((len(one.folds) for one in results.scores.values()), default=0)
    names = ", ".join(results.scores)
    text = (
        f"We compared {number_of(len(results.scores), 'method')} ({names}) on {about['samples']} samples in "
        f"the same {folds} folds of a cross-validation, by {results.metric}. Differences were tested by the "
        "corrected resampled t-test (Nadeau and Bengio 2003), with p-values adjusted by Holm's method. "
        f"Computed with {', '.join(f'{name} {number}' for name, number in used.items())}."
    )
    references = [
        f"{CITATION} Version {manykernels.__version__}.",
        "C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003.",
    ]
    return {"text": text, "references": references, "versions": used}

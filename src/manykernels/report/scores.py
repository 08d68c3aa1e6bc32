"""The section about scores: the model beside what it is compared with, and beside guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..comparison.results import CHANCE, METRIC, Comparison, Permuted, from_rows, said, verdict
from ..comparison.statistics import Difference
from ..fitting.model import Model
from .verdict import the


def task_of(model: Model) -> str:
    """ "classification", "regression" or "survival"."""
    told = getattr(model.target, "task", None)
    return str(told) if told else "regression" if model.classes is None else "classification"


def as_read(model: Model, y: Any) -> Any:
    """The targets as the report cuts them: times to an event as a structured array, others as they are."""
    if task_of(model) != "survival":
        return y
    assert model.target is not None
    return model.target.read(y)


def compared_scores(given: Comparison | Sequence[Mapping[str, Any]], model: Model) -> Comparison:
    """Scores as a comparison, also where they were given row by row."""
    return given if isinstance(given, Comparison) else from_rows(given, METRIC[task_of(model)])


def scores_section(
    given: Comparison | Sequence[Mapping[str, Any]], model: Model, searched: str, permuted: Permuted | None
) -> dict[str, Any] | None:
    """Rows of scores, how far the model is above each, what a constant scores, and sentences about both."""
    metric, compared = METRIC[task_of(model)], compared_scores(given, model)
    if not compared.scores:
        return None
    own, *rows = (row for row in compared.as_rows() if row["name"] != CHANCE)
    name, constant = own["name"], compared.chance
    above = compared.above_others(name)
    best, judged = compared.strongest_rival(name), verdict(compared, name, permuted)
    found = None if best is None else above.get(best)
    return {
        "metric": metric,
        "rows": [own, *({**row, "above": _plainly(above.get(row["name"]))} for row in rows)],
        "searched": searched,
        "chance": constant.as_dict() if constant.folds else None,
        "verdict": None if judged is None else {"better": judged.better, "sentence": judged.sentence},
        "rival": None
        if best is None or found is None
        else _plainly(found) | {"name": best, "sentence": said("The model", the(best), found)},
        "permutation": None if permuted is None else permuted.as_dict(),
    }


def _plainly(found: Difference | None) -> Any:
    """The difference as values, and its interval and p-value in words."""
    return None if found is None else found.as_dict() | {"shown": found.shown}

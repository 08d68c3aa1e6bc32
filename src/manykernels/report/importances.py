"""Which columns and views matter, for a report; and a model's importance where it can be measured."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..inspection import Importance, importance

TITLE = "Which columns matter"


def importance_section(found: Importance | None, unused: Collection[str] = ()) -> dict[str, Any] | None:
    """What the score loses without each column and each view, the most important first.

    Columns that nothing was learned from, `unused`, have no line.
    """
    if found is None:
        return None
    _, folds, repeats = found.drops.shape
    return {
        "metric": found.metric,
        "score": found.scores.mean(),
        "level": found.level,
        "folds": folds,
        "repeats": repeats,
        "of": found.of - len(unused),
        "searched": found.searched,
        "columns": _rows(found, unused),
        "views": None if found.views is None else _rows(found.views),
    }


def _rows(found: Importance, unused: Collection[str] = ()) -> dict[str, Any] | None:
    """Columns of a table; one name alone is compared with nothing."""
    table = found.columns()
    kept = [i for i, name in enumerate(table["name"]) if name not in unused]
    if len(kept) < 2:
        return None
    return {
        "names": [table["name"][i] for i in kept],
        **{key: [table[key][i] for i in kept] for key in ("mean", "low", "high")},
    }


def measured(model: Any, X: Any, y: Any, **how: Any) -> dict[str, Any]:
    """Options for a report: the importance, or why it could not be measured."""
    try:
        return {"importance": importance(model, X, y, random_state=0, **how)}
    except ValueError as error:
        return {"left_out": {TITLE: " ".join(str(error).split())}}

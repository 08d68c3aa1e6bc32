"""Which columns and views matter, for a report; and a model's importance where it can be measured."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..inspection import Effect, Importance, importance

TITLE = "Which columns matter"
EFFECTS = 4  # columns whose effect is shown


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
        "effects": [_effect(one) for one in found.effects if one.name not in unused],
    }


def _effect(one: Effect) -> dict[str, Any]:
    """Predictions along the values of a column: the mean over the folds, and the lowest and highest fold."""
    keep = slice(0, 1)
    if len(one.outputs) > 1:  # classes: of two the second says it all
        keep = slice(1, 2) if len(one.outputs) == 2 else slice(None)
    means = one.means[:, :, keep]
    return {
        "name": one.name,
        "values": one.values,
        "outputs": one.outputs[keep],
        "mean": means.mean(axis=0).T,
        "low": means.min(axis=0).T,
        "high": means.max(axis=0).T,
        "folds": len(means),
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
        return {"importance": importance(model, X, y, random_state=0, n_effects=EFFECTS, **how)}
    except ValueError as error:
        return {"left_out": {TITLE: " ".join(str(error).split())}}

"""Whether the parts of X are about the same samples: their names, numbers of rows, and indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._arguments import and_more, renamed
from .._warn import warn

_BY_PLACE = "or, if the rows are in the same order, reset_index(drop=True) on all parts."


def require_names(X: Mapping[str, Any], names: Iterable[str], what: str) -> None:
    """An error unless the dict X holds parts of exactly these names, in any order."""
    names = list(names)
    missing, extra = [name for name in names if name not in X], [name for name in X if name not in names]
    if missing or extra:
        faults = [f"lacks {_listed(missing)}"] * bool(missing) + [f"also holds {_listed(extra)}"] * bool(
            extra
        )
        raise ValueError(
            f"X {' and '.join(faults)}; the model was fitted on {what} {_listed(names)}. Give each of "
            "them by its name, in any order." + renamed(missing, extra)
        )


def in_one_order(parts: dict[str, Any], quiet: bool = False) -> dict[str, Any]:
    """The parts with their rows in the order of the first one that has an index; those without stay.

    It warns of what was moved, unless `quiet`. Parts of different lengths, and indexes that hold other labels
    or one of them twice, are errors.
    """
    rows = {name: int(part.shape[0]) for name, part in parts.items()}
    if len(set(rows.values())) > 1:
        counts = ", ".join(f"{name!r} has {n}" for name, n in list(rows.items())[:20])
        raise ValueError(f"The parts of X have different numbers of samples: {counts}.")
    indexed = {name: part for name, part in parts.items() if has_index(part)}
    if not indexed:
        return parts
    first, reference = next(iter(indexed)), next(iter(indexed.values())).index
    moved = {}
    for name, part in indexed.items():
        if part.index.equals(reference):
            continue
        _require_same(first, reference, name, part.index)
        moved[name] = part.loc[reference]
    if moved and not quiet:
        warn(
            f"The rows of {_listed(list(moved))} were put in the order of {first!r}, by their index. Targets "
            f"and predictions are in the order of {first!r}."
        )
    return {name: moved.get(name, part) for name, part in parts.items()}


def has_index(part: Any) -> bool:
    """Whether this is a frame or a series of pandas."""
    return hasattr(part, "iloc") and hasattr(part, "index")


def _require_same(first: str, reference: Any, name: str, index: Any) -> None:
    """An error unless one index is a permutation of the other."""
    for owner, labels in ((first, reference), (name, index)):
        if not labels.is_unique:
            twice = labels[labels.duplicated()][0]
            raise ValueError(
                f"The indexes of {first!r} and {name!r} differ, and that of {owner!r} holds {twice!r} twice: "
                f"their rows cannot be matched. Give every sample a label of its own; {_BY_PLACE}"
            )
    apart = reference.difference(index, sort=False)
    if len(apart):
        raise ValueError(
            f"The indexes of {first!r} and {name!r} hold different labels: {apart[0]!r} is missing in "
            f"{name!r}. Give both the same samples; {_BY_PLACE}"
        )


def require_order(X: Any, values: Any, what: str) -> None:
    """An error where values have the labels of X, a frame or a dict of frames, in another order.

    Labels that are others, or not unique, say nothing about the order.
    """
    if not has_index(values) or not (isinstance(X, Mapping) or has_index(X)):
        return
    parts = X if isinstance(X, Mapping) else {"": X}
    first, part = next(((name, part) for name, part in parts.items() if has_index(part)), ("", None))
    if part is None or values.index.equals(part.index):
        return
    if not values.index.is_unique or not part.index.is_unique or len(part) != len(values):
        return
    if bool(np.all(part.index.isin(values.index))):
        order, labels = (
            (f"the order of {first!r}", f"X[{first!r}].index")
            if isinstance(X, Mapping)
            else ("their order", "X.index")
        )
        raise ValueError(
            f"{what} has the labels of X in another order, and rows are taken in {order}: give "
            f"{what}.loc[{labels}]. If the rows of both are the same samples as they are, give "
            f"{what}.to_numpy()."
        )


def _listed(names: list[str]) -> str:
    return and_more([repr(name) for name in names], 20)

"""Matching of the parts of X: their names, numbers of rows, and indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._arguments import and_more, number_of, renamed
from .._warn import warn

_BY_PLACE = "or, if the rows are in the same order, reset_index(drop=True) on all parts."


def require_names(X: Mapping[str, Any], names: Iterable[str], what: str) -> None:
    """Raise an error unless the dict X holds parts of exactly these names, in any order."""
    names = list(names)
    missing, extra = [name for name in names if name not in X], [name for name in X if name not in names]
    if missing or extra:
        faults = [f"lacks {_listed(missing)}"] * bool(missing) + [f"also holds {_listed(extra)}"] * bool(
            extra
        )
        raise ValueError(
            f"X {' and '.join(faults)}; the model was fitted on {what} {_listed(names)}. Give each of "
            "them by its name, in any order." + (renamed(missing, extra) or _all_lack(missing))
        )


def _all_lack(missing: list[str]) -> str:
    """Return advice for a view that none of the samples has."""
    if not missing:
        return ""
    it = "it" if len(missing) == 1 else "them"
    return f" Where no sample has {it}, give {it} with missing values in all rows (NaN)."


def in_one_order(parts: dict[str, Any], quiet: bool = False) -> dict[str, Any]:
    """The parts with their rows in the order of the first one that has an index; those without stay.

    Frames whose indexes hold other labels, but some in common, are about different samples: all samples are
    kept, and rows that a frame does not have are missing (`outer`). It warns of what was moved or added,
    unless `quiet`. Other parts of different lengths, and indexes that hold a label twice, are errors.
    """
    parts = outer(parts, quiet=quiet)
    rows = {name: int(part.shape[0]) for name, part in parts.items()}
    if len(set(rows.values())) > 1:
        counts = ", ".join(f"{name!r} has {n}" for name, n in list(rows.items())[:20])
        raise ValueError(
            f"The parts of X have different numbers of samples: {counts}. Give the same samples in each "
            "part, in the same order; where a sample lacks a part, give it a row of NaN."
        )
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


def outer(parts: dict[str, Any], order: Any = None, quiet: bool = False) -> dict[str, Any]:
    """Frames of different samples with a row for every sample that any of them has, matched by index.

    Samples are in the order of the labels `order`, which must hold all of them, else in that of the first
    frame, followed by those that it lacks. Frames of the same samples stay as they are, and so do those whose
    rows have no labels of their own (0, 1, 2, …), where nobody knows which rows belong together.
    """
    indexed = {name: part for name, part in parts.items() if has_index(part)}
    if len(indexed) < len(parts) or len(indexed) < 2 or any(_is_counted(p.index) for p in indexed.values()):
        return parts
    (first, reference), *others = [(name, part.index) for name, part in indexed.items()]
    if all(len(index) == len(reference) and index.isin(reference).all() for _, index in others):
        return parts
    for name, index in indexed.items():
        if not index.index.is_unique:
            twice = index.index[index.index.duplicated()][0]
            raise ValueError(
                f"The frames of X hold different samples, and the index of {name!r} holds {twice!r} twice: "
                f"their rows cannot be matched. Give every sample a label of its own; {_BY_PLACE}"
            )
    every = reference
    for name, index in others:
        if not index.isin(every).any():
            raise ValueError(
                f"The index of {name!r} (such as {index[0]!r}) holds no label of the frames before it (such "
                f"as {reference[0]!r}): their rows cannot be matched. Give every frame the same labels of "
                f"samples; {_BY_PLACE}"
            )
        every = every.append(index[~index.isin(every)])
    if order is not None and len(order) == len(every) and order.is_unique and order.isin(every).all():
        every = order
    lacking = {name: len(every) - len(part) for name, part in indexed.items() if len(part) < len(every)}
    if not quiet:
        told = and_more([f"{name!r} lacks {count}" for name, count in lacking.items()], 20)
        put = "y" if every is order else f"{first!r}, then those that it lacks"
        warn(
            f"The frames of X are about {len(every)} samples in all, matched by index: {told}. Samples are "
            f"in the order of {put}."
        )
    return {name: _reindexed(part, every) for name, part in parts.items()}


def matched(X: Any, y: Any, quiet: bool = False) -> Any:
    """A dict of frames about different samples with all of them in each, in the order of y if it has labels.

    A target for every sample is expected, and a view of every sample that has a target.
    """
    if not isinstance(X, Mapping) or hasattr(X, "shape"):  # a sparse matrix may be a dict
        return X
    if not X or not all(has_index(part) for part in X.values()):
        return X
    found = outer(dict(X), y.index if has_index(y) else None, quiet)
    part = next(iter(found.values()))
    if part is next(iter(X.values())) or not has_index(y) or _is_counted(y.index):
        return found
    for owner, have, lacks, lack in (("y", y.index, "X", part.index), ("X", part.index, "y", y.index)):
        apart = have.difference(lack, sort=False)
        if len(apart):
            raise ValueError(
                f"{owner} holds {number_of(len(apart), 'sample')} that {lacks} lacks, such as {apart[0]!r}; "
                "expected the same samples in both. Leave them out, or add them."
            )
    return found


def require_same_samples(X: Any) -> None:
    """Raise an error for a dict of frames about different samples if targets have no labels."""
    found = matched(X, None, quiet=True)
    if isinstance(X, Mapping) and any(found[name] is not part for name, part in X.items()):
        raise ValueError(
            "The frames of X hold different samples; expected the same ones, in one order, in every block of "
            "a stream. Give frames with a row for every sample, by reindex: rows of NaN lack the view."
        )


def _is_counted(index: Any) -> bool:
    """Tell whether rows are only numbered from 0 on, as they are where nobody gave them labels."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _reindexed(part: Any, every: Any) -> Any:
    """A frame with these rows, those that it does not have missing."""
    if part.index.equals(every):
        return part
    if hasattr(part, "columns"):
        switches = [name for name, dtype in part.dtypes.items() if str(dtype) == "bool"]
        part = part.astype(dict.fromkeys(switches, float))
    elif str(part.dtype) == "bool":
        part = part.astype(float)
    return part.reindex(every)


def has_index(part: Any) -> bool:
    """Tell whether this is a frame or a series of pandas."""
    return hasattr(part, "iloc") and hasattr(part, "index")


def _require_same(first: str, reference: Any, name: str, index: Any) -> None:
    """Raise an error unless one index is a permutation of the other."""
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
    """Raise an error if values have the labels of X, a frame or a dict of frames, in another order.

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

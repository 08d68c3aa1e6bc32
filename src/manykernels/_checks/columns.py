"""MK41x: columns and views that deserve a look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

from .._arguments import and_more
from ..families.base import names_of
from ..fitting.absence import few_have
from ..fitting.covariates import largest_margin
from ..fitting.spec import views_in
from ..kernels.cells import column_of, holds_numbers, is_missing, labels_of
from ..kernels.data import positions, take_columns
from ..kernels.presence import rows_having
from .base import Array, Facts, Rule

_COLUMNS = 2000  # that are looked at
_FEWEST = 20  # samples from which one column can give a target away
_ERRORS = 0.01  # of the samples that a column may get wrong and still give the target away
_RANKS = 0.9995  # correlation of ranks from which it does
_EACH = 5  # samples of each value of a category that does
_EMPTY = 0.5  # of the cells of a column
_ALIKE = 0.99  # R² of a covariate by the others
_MARGIN = 4000  # samples up to which it is found out whether covariates separate classes
_BEYOND = 0.1  # of a column's range
_OUTSIDE = 0.05  # of the new samples
_NAMED = 4


def _views(facts: Facts) -> str | None:
    layout = facts.model.layout
    told = few_have(layout.present or {}, layout.samples)
    return " ".join(told[:_NAMED]) or None


# -- a column that gives the target away --------------------------------------------------------------
def _given_away(facts: Facts) -> str | None:
    table, y = facts.table, facts.y
    shape: tuple[int, ...] = tuple(getattr(table, "shape", ()))
    if y is None or len(shape) != 2 or not 1 < shape[1] <= _COLUMNS or shape[0] < _FEWEST:
        return None
    if sparse.issparse(table) or facts.task == "survival" or np.ndim(y) != 1:
        return None
    names = facts.columns
    tells = _tells_class if facts.task == "classification" else _tells_number
    found = [str(names[j]) for j in range(shape[1]) if tells(column_of(table, j), np.asarray(y))]
    if not found:
        return None
    many = len(found) > 1
    return (
        f"Column{'s' * many} {and_more(list(map(repr, found)), _NAMED)} alone "
        f"{'determine' if many else 'determines'} the target."
    )


def _tells_class(column: Any, y: NDArray[Any]) -> bool:
    """Tell whether one value, or one interval, belongs to each class; for two classes but for few samples."""
    codes = np.unique(y, return_inverse=True)[1]
    if not holds_numbers(column):
        labels = np.unique(np.array([str(v) for v in labels_of(column)]), return_inverse=True)[1]
        table = np.zeros((labels.max() + 1, codes.max() + 1))
        np.add.at(table, (labels, codes), 1.0)
        return bool(len(table) * _EACH <= len(y) and table.max(axis=1).sum() >= (1.0 - _ERRORS) * len(y))
    values = np.asarray(column, dtype=np.float64)
    if not np.all(np.isfinite(values)):
        return False
    if codes.max() == 1:
        return _threshold_errors(values, codes) <= _ERRORS * len(y)
    order = np.argsort(values, kind="stable")
    changes = np.flatnonzero(np.diff(codes[order]))
    apart = bool(np.all(values[order][changes] < values[order][changes + 1]))
    return bool(changes.size == codes.max() and apart)


def _threshold_errors(values: Array, codes: NDArray[np.intp]) -> int:
    """Samples of two classes that the best threshold gets wrong."""
    order = np.argsort(values, kind="stable")
    v, c = values[order], codes[order]
    ones = np.concatenate([[0], np.cumsum(c)])
    cuts = np.concatenate([[True], v[1:] > v[:-1], [True]])
    below = np.arange(len(c) + 1)
    wrong = ones + (len(c) - below) - (ones[-1] - ones)  # below is class 0, above is class 1
    wrong = wrong[cuts]
    return int(min(wrong.min(), (len(c) - wrong).min()))


def _tells_number(column: Any, y: NDArray[Any]) -> bool:
    """Tell whether the ranks of the column are those of the target."""
    if not holds_numbers(column):
        return False
    values = np.asarray(column, dtype=np.float64)
    if not np.all(np.isfinite(values)) or np.ptp(values) == 0.0 or np.ptp(y) == 0.0:
        return False
    return bool(abs(np.corrcoef(rankdata(values), rankdata(y))[0, 1]) >= _RANKS)


# -- gaps, covariates ---------------------------------------------------------------------------------
def _gaps(facts: Facts) -> str | None:
    X = facts.table
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    if len(shape) != 2 or sparse.issparse(X) or not 0 < shape[1] <= _COLUMNS:
        return None
    table, empty = facts.model.layout.table, dict(_mostly_empty(X, facts))
    unused = set() if table is None else {table.names[j] for j in table.left_out}
    told = [f"{name!r} ({100 * share:.0f} %)" for name, share in empty.items() if name not in unused]
    if not told:
        return None
    return f"Most cells are missing in {and_more(told, _NAMED)}. The filled-in values carry no information."


def _mostly_empty(X: Any, facts: Facts) -> Iterator[tuple[str, float]]:
    """Columns and the share of missing cells among the samples that have their view."""
    names, everyone = facts.columns, np.arange(X.shape[1])
    seen: set[int] = set()
    for view in [*_view_places(X, facts), everyone]:
        having = None if view is everyone else rows_having(take_columns(X, [int(j) for j in view]))
        for j in view:
            gone = np.asarray(is_missing(column_of(X, int(j))))
            share = float(np.mean(gone if having is None else gone[having]))
            if share > _EMPTY and int(j) not in seen:
                yield names[j], share
            seen.add(int(j))


def _view_places(X: Any, facts: Facts) -> list[NDArray[np.intp]]:
    """The columns of each view, where X is what the kernels read."""
    layout = facts.model.layout
    if len(getattr(facts.X, "shape", ())) != 2 or names_of(facts.X) != names_of(X):
        return []
    found = views_in(layout.kernels, X, layout.names)[0].values()
    chosen = [columns(X) if callable(columns) else columns for columns in found]
    return [np.atleast_1d(np.arange(X.shape[1])[positions(X, columns)]) for columns in chosen]


def _covariates(facts: Facts) -> tuple[Array, list[str]] | None:
    """(n, c) standardised covariates of the training samples, where X has them."""
    part, layout = facts.model.covariates, facts.model.layout
    if part is None or facts.X is None or layout.separated is None or not layout.separated.columns:
        return None
    values = part.design.values(layout.beside(facts.X))
    values = values - values.mean(axis=0)
    size = values.std(axis=0)
    kept = size > 0.0
    return values[:, kept] / size[kept], [n for n, k in zip(part.design.names, kept, strict=True) if k]


def _alike(facts: Facts) -> str | None:
    found = _covariates(facts)
    if found is None or found[0].shape[1] < 2:
        return None
    Z, names = found
    explained = [_r2(np.delete(Z, j, axis=1), Z[:, j]) for j in range(Z.shape[1])]
    alike = [(name, r2) for name, r2 in zip(names, explained, strict=True) if r2 > _ALIKE]
    if not alike:
        return None
    told = and_more([f"{name!r} ({100 * r2:.1f} %)" for name, r2 in alike], _NAMED)
    return f"Other covariates explain nearly all variance of {told}: their coefficients are uncertain."


def _r2(Z: Array, z: Array) -> float:
    rest = z - Z @ np.linalg.lstsq(Z, z, rcond=None)[0]
    return 1.0 - float(rest @ rest) / float(z @ z)


def _separating(facts: Facts) -> str | None:
    found = _covariates(facts) if facts.task == "classification" else None
    if found is None or facts.y is None or len(facts.y) > _MARGIN:
        return None
    Z, names = found
    full = np.column_stack([np.ones(len(Z)), Z]) / np.sqrt(len(Z))
    for label in np.unique(np.asarray(facts.y)).tolist()[:10]:
        signs = np.where(np.asarray(facts.y) == label, 1.0, -1.0)
        reach = largest_margin(signs[:, None] * full)
        if reach is not None and reach[0] > 0.0:
            return (
                f"The covariates ({and_more(list(map(repr, names)), _NAMED)}) alone tell class {label!r} "
                "from the others without an error: little is left for the kernels to learn."
            )
    return None


# -- new samples --------------------------------------------------------------------------------------
def _outside(facts: Facts) -> str | None:
    known, new = facts.table, facts.new
    shapes: list[tuple[int, ...]] = [tuple(getattr(one, "shape", ())) for one in (known, new)]
    if any(len(s) != 2 for s in shapes) or sparse.issparse(known) or shapes[0][1] != shapes[1][1]:
        return None
    return outside(ranges(known), new, facts.columns)


def ranges(table: Any) -> dict[int, tuple[float, float]]:
    """The lowest and highest number of each column of numbers, by its place."""
    found = {}
    for j in range(min(table.shape[1], _COLUMNS)):
        column = column_of(table, j)
        if holds_numbers(column):
            a = np.asarray(column, dtype=np.float64)
            low, high = float(np.nanmin(a, initial=np.inf)), float(np.nanmax(a, initial=-np.inf))
            if low <= high:
                found[j] = low, high
    return found


def outside(seen: Mapping[int, tuple[float, float]], new: Any, names: Sequence[Any]) -> str | None:
    """The sentence about new samples with numbers far outside of the ranges of the training samples."""
    beyond, columns = np.zeros(new.shape[0], dtype=np.bool_), []
    for j, (low, high) in seen.items():
        column = column_of(new, j)
        if not holds_numbers(column):
            continue
        b, room = np.asarray(column, dtype=np.float64), _BEYOND * (high - low)
        here = (b < low - room) | (b > high + room)
        if here.any():
            columns.append((int(here.sum()), str(names[j])))
            beyond |= here
    if beyond.mean() <= _OUTSIDE:
        return None
    told = and_more([repr(name) for _, name in sorted(columns, key=lambda one: -one[0])], _NAMED)
    return (
        f"{100 * float(beyond.mean()):.0f} % of the new samples lie outside of the range of the training "
        f"samples, most of all in {told}."
    )


COLUMNS = (
    Rule(
        "MK411",
        "Few samples have a view",
        "Read its weight with care, or leave the view out.",
        _views,
    ),
    Rule(
        "MK412",
        "A column gives the target away",
        "Leave it out, unless it will be known for new samples before the target is.",
        _given_away,
    ),
    Rule("MK413", "Most cells of a column are missing", "Leave the column out, or find its values.", _gaps),
    Rule(
        "MK414",
        "Covariates carry nearly the same information",
        "Leave one of them out, or do not read their coefficients one by one.",
        _alike,
    ),
    Rule(
        "MK415",
        "Covariates separate the classes",
        "Ask whether the classes were sampled apart (by site, batch or age), and leave such covariates out.",
        _separating,
    ),
    Rule(
        "MK416",
        "New samples lie outside of the training range",
        "Do not rely on these predictions; fit with samples of their kind.",
        _outside,
    ),
)

"""The data at a glance, the products that a model selected, and how clusters share the samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from ..families import Products
from ..families.remarks import remarks
from ..families.tables import Table
from ..fitting.model import Model
from ..kernels import Constant, Fitted, Monomial, OnColumns, Power, Prepared, Product
from ..kernels.cells import DATES, Format, column_of, is_missing, is_time, numbers_of, numeric_type, texts_of
from .scores import task_of
from .survival import target_section

_COLUMNS = 200  # that are listed
_BINS = 20


def data_section(
    X: Any,
    y: Any,
    model: Model,
    target: str,
    set_aside: Mapping[str, str] | None = None,
    views: Set[str] = frozenset(),
) -> dict[str, Any]:
    """Samples, columns and the target, before any preparation; `set_aside` are columns that X lacks.

    The names of columns begin with those of `views`, where there are some.
    """
    stack = model.layout.kind == "stack"
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    return {
        "samples": _num_samples(X),
        "features": None if stack or len(shape) < 2 else int(shape[1]),
        "kernels": len(model.names),
        "kind": "precomputed kernels" if stack else "table" if len(shape) == 2 else "items",
        "target": target_summary(y, target, task_of(model), model),
        **_about_columns(
            X, model.layout.table, len(shape) == 2 and not sparse.issparse(X), set_aside or {}, views
        ),
    }


def _about_columns(
    X: Any, table: Table | None, told: bool, set_aside: Mapping[str, str], views: Set[str]
) -> dict[str, Any]:
    """The first columns; of all of them those with gaps, those that were left out, and what was made."""
    columns = list(_columns(X, table)) if told else []
    n = max(_num_samples(X), 1)
    dropped = [{"name": name, "why": why} for name, why in set_aside.items()]
    dropped += [{"name": one["name"], "why": one["why"]} for one in columns if one["kind"] == "left out"]
    gaps = list(_gaps([one for one in columns if one["kind"] != "left out"], n, views))
    prepared = [] if table is None or not told else [one.text for one in remarks(table)]
    return {
        "columns": columns[:_COLUMNS],
        "missing": sorted(gaps, key=lambda one: -int(one["missing"])),
        "dropped": dropped,
        "prepared": prepared,
    }


def target_summary(y: Any, name: str, task: str, model: Model | None = None) -> dict[str, Any]:
    """The target at a glance; of a model of many outputs with how well it predicts each."""
    if task == "survival":
        return target_section(y, name)
    values = np.asarray(y)
    if task == "classification":
        labels, counts = np.unique(values.astype(str), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {"name": name, "task": "classification", "labels": labels[order], "counts": counts[order]}
    outputs = 1 if values.ndim == 1 else values.shape[1]
    about = {"name": name, "task": "regression", "outputs": outputs}
    if outputs > 1:
        return about | {"scores": None if model is None else _scores(model)}
    numbers = values.astype(np.float64).ravel()
    counts, edges = np.histogram(numbers, bins=_BINS)
    return about | {"edges": edges, "counts": counts, "mean": numbers.mean(), "std": numbers.std()}


def _scores(model: Model) -> dict[str, Any] | None:
    """How R² on samples left out is distributed over the targets, where each has one of its own."""
    R2 = np.atleast_1d(np.asarray(model.extra.get("cv_scores_", []), dtype=np.float64))
    R2 = R2[np.isfinite(R2)]
    if not R2.size:
        return None
    low, median, high = np.quantile(R2, [0.05, 0.5, 0.95])
    counts, edges = np.histogram(R2.clip(min(low, 0.0)), bins=_BINS)
    return {"low": low, "median": median, "high": high, "counts": counts, "edges": edges}


def _gaps(columns: list[dict[str, Any]], n: int, views: Set[str]) -> Iterator[dict[str, Any]]:
    """Columns with missing values; those of a view that all lack as many are one row."""
    of_views: dict[str, list[dict[str, Any]]] = {}
    for one in columns:
        view = one["name"].partition("__")[0]
        of_views.setdefault(view if view in views else "", []).append(one)
    for view, own in of_views.items():
        if view and len(own) > 1 and len({one["missing"] for one in own}) == 1:
            own = [
                {"name": f"all {len(own)} columns of {view}", "missing": own[0]["missing"], "of": len(own)}
            ]
        for one in own:
            if one["missing"]:
                share = one["missing"] / n
                yield {
                    "name": one["name"],
                    "missing": one["missing"],
                    "share": share,
                    "columns": one.get("of", 1),
                }


def _columns(X: Any, table: Table | None) -> Iterator[dict[str, Any]]:
    names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(X.shape[1])])]
    known = (
        table if table is not None and table.names == names else Table(names)
    )  # it may be of other columns
    for j, name in enumerate(names):
        column, form = column_of(X, j), known.formats.get(j, "")
        if j in (unused := unused_columns(known)):
            yield {
                "name": name,
                "kind": "left out",
                "missing": int(is_missing(column).sum()),
                "why": unused[j],
            }
        elif (form in DATES or is_time(column)) and not _is_span(column):
            yield {"name": name, **_numbers(numbers_of(column, form)), "kind": "date"}
        elif j in known.text:
            yield {"name": name, **_column(column, form), "kind": "text"}
        else:
            yield {"name": name, **_column(column, form)}


def _is_span(column: Any) -> bool:
    """Whether a column holds spans of time, which are numbers of days."""
    return str(column.dtype).startswith(("timedelta", "Duration"))


def unused_columns(table: Table) -> dict[int, str]:
    """Columns that nothing was learned from, and why."""
    return table.left_out | dict.fromkeys(table.constant, "all its values are the same")


def _numbers(values: Any) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    found = {"kind": "numbers", "missing": int(values.size - known.size)}
    if not known.size:
        return found
    return found | {"mean": known.mean(), "std": known.std(), "low": known.min(), "high": known.max()}


def _column(column: Any, form: Format = "") -> dict[str, Any]:
    missing = is_missing(column)
    if form or numeric_type(column.dtype) or _is_span(column):
        return _numbers(numbers_of(column, form))
    labels, counts = np.unique(texts_of(column)[~missing].astype(str), return_counts=True)
    common = str(labels[counts.argmax()]) if labels.size else ""
    return {"kind": "categories", "missing": int(missing.sum()), "distinct": len(labels), "common": common}


# -- products -------------------------------------------------------------------------------------
def interactions_section(model: Model, kernels: Any) -> dict[str, Any] | None:
    """Features (or base kernels) as nodes and what products join as edges, with the weights on them."""
    if not (isinstance(kernels, Products) or "hull_" in model.extra):
        return None
    weights = np.abs(np.atleast_2d(model.weights)).max(axis=0)
    layout = model.layout
    named = layout.feature_names_in
    if named is None:
        named = [f"x{j}" for j in range(layout.n_features_in or 0)]
    rows = [
        (list(dict.fromkeys(_factors(kernel, named))), str(name), float(weight))
        for kernel, name, weight in zip(model.kernels, model.names, weights, strict=True)
        if weight > 0
    ]
    if all(len(features) < 2 for features, _, _ in rows):
        return None
    nodes: dict[str, float] = {}
    edges: dict[tuple[str, str], float] = {}
    for features, _, weight in rows:
        for feature in features:
            nodes[feature] = nodes.get(feature, 0.0) + weight
        for pair in combinations(features, 2):
            edges[pair] = edges.get(pair, 0.0) + weight
    rows.sort(key=lambda row: -row[2])
    return {
        "nodes": [{"name": name, "weight": weight} for name, weight in nodes.items()],
        "edges": [{"between": list(pair), "weight": weight} for pair, weight in edges.items()],
        "products": [{"name": name, "features": f, "weight": weight} for f, name, weight in rows],
    }


def _factors(kernel: Any, named: Any) -> list[str]:
    """What a product is made of: columns, or base kernels."""
    if isinstance(kernel, Fitted | Power):
        return _factors(kernel.kernel, named)
    if isinstance(kernel, Prepared):
        return _factors(kernel.kernel, kernel.preparation.names([str(name) for name in named], kernel.part))
    if isinstance(kernel, Product):
        return [factor for part in kernel.kernels for factor in _factors(part, named)]
    if isinstance(kernel, Constant):
        return []
    if isinstance(kernel, Monomial):
        return [_column_name(column, named) for column in kernel.columns]
    if isinstance(kernel, OnColumns) and isinstance(kernel.columns, int | np.integer | str):
        return [_column_name(kernel.columns, named)]
    return [kernel.label]


def is_constant(kernel: Any) -> bool:
    """Tell whether a kernel is the empty product, which is the same for all pairs of samples."""
    if isinstance(kernel, Fitted):
        return is_constant(kernel.kernel)
    if isinstance(kernel, Product):
        return all(map(is_constant, kernel.kernels))
    return isinstance(kernel, Constant) or (isinstance(kernel, Monomial) and not len(kernel.columns))


def _column_name(column: Any, named: Any) -> str:
    if isinstance(column, str):
        return column
    return str(named[column])


# -- clusters -------------------------------------------------------------------------------------
def gates_section(model: Model, y: Any) -> dict[str, Any] | None:
    """How the samples are shared out among the clusters of a localized model, in total and by class."""
    if model.rows != "cluster":
        return None
    gates = model.extra["gates_"]
    groups: dict[str, Any] = {"all samples": gates.mean(axis=0)}
    if model.classes is not None:
        labels = np.asarray(y)
        groups.update({str(c): gates[labels == c].mean(axis=0) for c in model.classes})
    sure = np.histogram(gates.max(axis=1), bins=10, range=(0.0, 1.0))[0]
    return {
        "clusters": gates.shape[1],
        "groups": list(groups),
        "shares": np.array(list(groups.values())),
        "sure": sure,
    }

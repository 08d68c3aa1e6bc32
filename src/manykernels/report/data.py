"""What a report says, as plain values that JSON can hold; how it looks is the page's business.

Every section is a dict, or None where the model has nothing for it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils._pprint import _EstimatorPrettyPrinter
from sklearn.utils.validation import _num_samples

import manykernels

from ..estimators._data import take
from ..estimators._repr import _converged, _sentence, _unlisted
from ..estimators.localized import Localized
from ..families import Parametric
from ..plots.paths import path_of_fits, path_of_search
from ..plots.reading import (
    histories,
    similarity_table,
    stability_columns,
    unwrap,
    weight_table,
    width_table,
)
from .samples import chosen_samples
from .tables import data_section, interactions_section, is_constant

FORMAT = 1
_MANY = 60  # kernels of a path or a similarity map
_ROWS = 1500  # samples from which a path is fitted
_STEPS = 9


def report_data(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str = "Which kernels matter",
    target: str = "target",
    call: str = "",
    scores: Sequence[Mapping[str, Any]] = (),
    searched: str = "before",
    stability: Any = None,
    widths: Mapping[str, Any] | None = None,
    made: date | None = None,
    fit_path: bool = True,
) -> dict[str, Any]:
    """All that a report shows of a fitted model and the data that it was fitted on.

    Parameters
    ----------
    model : a fitted estimator of this package, or a pipeline or search that holds one
    X, y : the training data
    title, target, call : what the report is called, what y is called, and the command that made it
    scores : cross-validated scores to compare: dicts with ``name``, ``mean``, ``std`` and ``folds``, the
        model's own first, and ``error`` where there is no mean; see :func:`manykernels.report.baselines`
    searched : "anew" if the scores of a search are of choices made within the folds, "before" if its choice
        has seen all samples; the report says which
    stability : of the weights: ``names, mean, low, high, frequency``, and ``views`` with the same of views
    widths : how widths that are learned vary; see :func:`manykernels.report.width_stability`
    made : the day; today, unless told
    fit_path : whether to fit the path over C where the model has not kept one
    """
    mkl, inner = unwrap(model, X)
    table = weight_table(mkl)
    size = np.abs(table.W).max(axis=0)
    left_out: dict[str, str] = {}
    sections = {
        "data": data_section(X, y, mkl, target),
        "scores": _scores(scores, mkl, searched),
        "selection": _selection(model),
        "weights": _weights(mkl, table, stability),
        "similarity": _or_why(left_out, "Which kernels say the same", _similarity, mkl, inner),
        "convergence": _or_why(left_out, "How the fit converged", _convergence, mkl),
        "path": _or_why(left_out, "Weights along C", _path, model, mkl, inner, y) if fit_path else None,
        "contributions": _or_why(left_out, "Single samples", chosen_samples, model, mkl, X, inner, y),
        "interactions": interactions_section(mkl),
        "widths": _widths(model, mkl, widths),
        "gates": _gates(mkl, y),
    }
    _name_constants(sections)
    head = {
        "format": FORMAT,
        "title": title,
        "made": (made or date.today()).isoformat(),
        "version": manykernels.__version__,
        "estimator": type(mkl).__name__,
        "model": _whole(model),
        "certificate": _sentence(mkl, size),
        "call": call,
    }
    document: dict[str, Any] = plain({**head, **sections, "left_out": left_out})
    return document


def plain(value: Any) -> Any:
    """Arrays as lists, and what is not finite as None: JSON knows neither."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _rounded(value) if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)


def _rounded(value: float) -> float:
    """Six digits: nobody reads more, and files stay small."""
    return float(f"{value:.6g}")


def _or_why(left_out: dict[str, str], title: str, section: Any, *args: Any) -> dict[str, Any] | None:
    """A section, or None where it cannot be made; the page then says why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found: dict[str, Any] | None = section(*args)
        except ValueError as error:
            left_out[title] = " ".join(str(error).split())
            return None
    return found


# -- sections -------------------------------------------------------------------------------------
def _whole(model: Any) -> str:
    """The call that makes the model; scikit-learn's repr would leave out parts of a long one."""
    printer = _EstimatorPrettyPrinter(
        compact=True, indent=1, indent_at_name=True, n_max_elements_to_show=None, width=100
    )
    return str(printer.pformat(model))


def _scores(rows: Sequence[Mapping[str, Any]], mkl: Any, searched: str) -> dict[str, Any] | None:
    if not rows:
        return None
    kept = [{key: row.get(key) for key in ("name", "mean", "std", "folds", "error")} for row in rows]
    metric = "accuracy" if hasattr(mkl, "classes_") else "R²"
    return {"metric": metric, "rows": kept, "searched": searched}


def _weights(mkl: Any, table: Any, stability: Any) -> dict[str, Any]:
    columns = None if stability is None or len(table.W) > 1 else stability_columns(stability, table.names)
    return {
        "names": table.names,
        "rows": table.rows,
        "values": table.W,
        "views": _views(mkl, None if columns is None else getattr(stability, "views", None))
        if len(mkl.view_weights_) < len(table.names)
        else None,
        "listed": not _unlisted(mkl),
        "stability": columns,
        "constant": [m for m, kernel in enumerate(mkl.kernels_) if is_constant(kernel)],
        **_certificate(mkl),
    }


def _certificate(mkl: Any) -> dict[str, Any]:
    gap = getattr(mkl, "dual_gap_", None)
    return {
        "gap": gap,
        "certified": getattr(mkl, "certified_", None),
        "converged": None if gap is None or not np.isfinite(gap) else _converged(mkl, float(gap)),
    }


def _name_constants(sections: Mapping[str, Any]) -> None:
    """The empty product is called 1, which reads like a number of a kernel."""
    if not sections["weights"]["constant"]:
        return
    for section in ("weights", "path", "contributions"):
        if sections[section] is not None:
            names = sections[section]["names"]
            sections[section]["names"] = [f"{name} (constant)" if name == "1" else name for name in names]


def _views(mkl: Any, stability: Any) -> dict[str, Any]:
    """The total weight of each view, and how it varies where that is known."""
    views = mkl.view_weights_
    values = np.array([np.atleast_1d(w) for w in views.values()]).T
    return {"names": list(views), "values": values, "stability": stability_columns(stability, list(views))}


def _similarity(mkl: Any, X: Any) -> dict[str, Any] | None:
    table = similarity_table(mkl, X, max_kernels=_MANY, n_samples=300)
    if len(table.names) < 2:
        return None
    return {"names": table.names, "values": table.S, "weights": table.weights}


def _convergence(mkl: Any) -> dict[str, Any]:
    lines = []
    for label, table in histories(mkl).items():
        quantity = next((q for q in ("gap", "objective", "bound") if np.isfinite(table.get(q, [])).any()), "")
        if not quantity:
            raise ValueError("there is nothing to show")
        columns = {"seconds": table["seconds"], "values": table[quantity], "active": table["active"]}
        lines.append({"label": label, "quantity": quantity, **columns})
    return {"lines": lines, "tol": getattr(mkl, "tol", None), "objective": getattr(mkl, "objective_", None)}


def _path(model: Any, mkl: Any, X: Any, y: Any) -> dict[str, Any] | None:
    if isinstance(mkl.kernels, Parametric):  # every C has kernels of its own, which cannot be followed
        return None
    search = _last(model)
    whole = getattr(search, "path_", {}).get(getattr(search, "best_params_", {}).get("strategy"), {})
    if "all samples" in whole:
        table = path_of_search(search)
    else:
        table = _fitted_path(mkl, X, y)
    order = np.argsort(-np.abs(table.weights).max(axis=0), kind="stable")[:_MANY]
    kept = [m for m in order if table.weights[:, m].any()]
    return {
        "C": table.C,
        "names": [table.names[m] for m in kept],
        "weights": table.weights[:, kept].T,
        "score": table.score,
        "chosen": table.chosen,
    }


def _fitted_path(mkl: Any, X: Any, y: Any) -> Any:
    """Fitted on some samples, with as much more C as these are fewer, so that C means what it did for all."""
    part, target = _some(mkl, X, y)
    share = _num_samples(part) / _num_samples(X)
    Cs = mkl.C * np.logspace(-2, 2, _STEPS) / share if hasattr(mkl, "C") else None
    table = path_of_fits(mkl, part, target, Cs)
    return replace(table, C=table.C * share)


def _last(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _selection(model: Any) -> dict[str, Any] | None:
    """What a search compared, and what it took."""
    search = _last(model)
    if not hasattr(search, "comparison_"):
        return None
    keys = ("strategy", "norm", "C", "score", "std", "folds", "seconds")
    columns = {key: search.comparison_[key] for key in keys}
    return {
        **columns,
        "norm": [str(norm) for norm in columns["norm"]],
        "error": [float(np.min(search.path_[name]["loss"])) for name in columns["strategy"]],
        "by": "error" if search.scoring is None else "score",
        "chosen": search.best_params_["strategy"],
    }


def _some(mkl: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """At most so many samples, evenly spread, for what is fitted again."""
    n = _num_samples(X)
    if n <= _ROWS:
        return X, y
    rows = np.unique(np.linspace(0, n - 1, _ROWS).astype(np.intp))
    part = np.asarray(X)[rows][:, rows] if mkl._kind == "stack" else take(X, rows)
    return part, take(y, rows)


def _widths(model: Any, mkl: Any, spread: Mapping[str, Any] | None) -> dict[str, Any] | None:
    try:
        table = width_table(mkl)
    except ValueError:  # no kernel has a width, as most have not: nothing is missing
        return None
    if not table.weights.any():
        return None
    return {
        "parameter": table.parameter,
        "names": table.names,
        "features": table.features,
        "values": table.values,
        "weights": table.weights,
        "prepared": model is not mkl,  # by a pipeline, or by a search
        "stability": spread,
    }


def _gates(mkl: Any, y: Any) -> dict[str, Any] | None:
    """How the samples are shared out among the clusters of a localized model, in total and by class."""
    if not isinstance(mkl, Localized):
        return None
    gates = mkl.gates_
    groups: dict[str, Any] = {"all samples": gates.mean(axis=0)}
    if hasattr(mkl, "classes_"):
        labels = np.asarray(y)
        groups.update({str(c): gates[labels == c].mean(axis=0) for c in mkl.classes_})
    sure = np.histogram(gates.max(axis=1), bins=10, range=(0.0, 1.0))[0]
    return {
        "clusters": gates.shape[1],
        "groups": list(groups),
        "shares": np.array(list(groups.values())),
        "sure": sure,
    }

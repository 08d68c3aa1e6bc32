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
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._pprint import _EstimatorPrettyPrinter
from sklearn.utils.validation import _num_samples

import manykernels

from .._arguments import number_of
from ..comparison.results import Comparison, Permuted
from ..estimators import Copies, Searched, copies_of, face_of, in_one_piece, model_of, opened
from ..families import Parametric
from ..fitting.layout import evenly
from ..fitting.model import Model, Proof
from ..inspection import Importance, Significance, Stability
from ..plots.paths import PathTable, path_of_fits, path_of_search
from ..plots.reading import (
    WeightTable,
    histories,
    similarity_table,
    stability_columns,
    weight_table,
    width_table,
)
from .certificates import TITLE as CERTIFICATE
from .certificates import certificate_section
from .chances import chance_section
from .importances import importance_section
from .presence import presence_section
from .samples import MOST_OUTPUTS, Said, chosen_samples, names_of_samples
from .scores import as_read, scores_section, task_of
from .survival import TITLE as SURVIVAL
from .survival import survival_section
from .tables import data_section, gates_section, interactions_section, is_constant, unused_columns

FORMAT = 1
_MOST_KERNELS = 60  # of a path or a similarity map
_PATH_SAMPLES = 1500  # from which a path is fitted
_PATH_COSTS = 9  # values of C for which it is
# The call that makes a model, whole: scikit-learn's repr would leave out parts of a long one.
_WHOLE = {"compact": True, "indent": 1, "indent_at_name": True, "n_max_elements_to_show": None}


def report_data(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str = "Which kernels matter",
    target: str = "target",
    call: str = "",
    scores: Comparison | Sequence[Mapping[str, Any]] = (),
    searched: str = "before",
    permuted: Permuted | str | None = None,
    stability: Any = None,
    widths: Mapping[str, Any] | None = None,
    importance: Importance | None = None,
    significance: Mapping[str, Significance] | None = None,
    left_out: Mapping[str, str] | None = None,
    made: date | None = None,
    fit_path: bool = True,
    sample_names: Sequence[Any] | None = None,
    risk_groups: Any = None,
) -> dict[str, Any]:
    """All that a report shows of a fitted model and the data that it was fitted on.

    Parameters
    ----------
    model : a fitted estimator of this package, or a pipeline or search that holds one
    X, y : the training data
    title, target, call : what the report is called, what y is called, and the command that made it
    scores : cross-validated scores to compare: dicts with ``name`` and ``folds``, the model's own first, with
        None and an ``error`` where there is no score; see :func:`manykernels.report.baselines`
    searched : "anew" if the scores of a search are of choices made within the folds, "before" if its choice
        has seen all samples; the report says which
    permuted : how the model scores on permuted targets (:func:`manykernels.inspection.permutation_test`), or
        why that is not known
    stability : of the weights: ``names, mean, low, high, frequency``, and ``views`` with the same of views
    widths : how widths that are learned vary; see :func:`manykernels.report.width_stability`
    importance : of columns and views; see :func:`manykernels.inspection.importance`
    significance : tests by "view" and by "kernel"; see :func:`manykernels.inspection.significance`. Where
        `stability` has pairs of halves, the report says what these select
    left_out : sections that could not be made elsewhere, and why
    made : the day; today, unless told
    fit_path : whether to fit the path over C where the model has not kept one
    sample_names : what the samples are called; by default the index of a frame X that does more than count
    risk_groups : of times to an event, the group of each sample by the risk that was predicted when it was
        held out, and −1 where there is none; without them, groups are by the risks of the fitted model
    """
    given = model
    model, X = in_one_piece(model, X, y)
    learned, inner = model_of(model, X)
    face, search = face_of(model)[0], opened(model).searched
    said = Said(getattr(model, "predict", None), getattr(model, "decision_function", None))
    survives = task_of(learned) == "survival"
    raw, y = y, as_read(learned, y)
    missing, called = dict(left_out or {}), names_of_samples(X, sample_names)
    if isinstance(permuted, str):
        missing["The test on permuted targets"] = permuted
    null = permuted if isinstance(permuted, Permuted) else None

    def path() -> dict[str, Any] | None:
        return _path(search, learned, face.kernels, copies_of(face), inner, y)

    def survival() -> dict[str, Any]:
        return survival_section(y, np.asarray(model.predict(X)), face.baseline_, risk_groups)

    sections = {
        "data": data_section(X, y, learned, target) | presence_section(learned, inner),
        "scores": scores_section(scores, learned, searched, null),
        "survival": _or_why(missing, SURVIVAL, survival) if survives else None,
        "importance": importance_section(importance, _unused(learned, X)),
        "chance": chance_section(significance, stability),
        "selection": None if search is None else _selection(search, stability),
        "weights": _weights(learned, weight_table(learned), stability),
        "recomputed": _or_why(missing, CERTIFICATE, certificate_section, face, learned, inner, raw),
        "similarity": _or_why(missing, "Which kernels say the same", _similarity, learned, inner),
        "convergence": _or_why(missing, "How the fit converged", _convergence, learned),
        "path": _or_why(missing, "Weights along C", path) if fit_path else None,
        "contributions": _or_why(
            missing, "Single samples", chosen_samples, learned, said, X, inner, y, called
        ),
        "interactions": interactions_section(learned, face.kernels),
        "widths": _widths(learned, widths, prepared=model is not face),
        "gates": gates_section(learned, y),
    }
    _name_constants(sections, learned)
    head = {
        "format": FORMAT,
        "title": title,
        "made": (made or date.today()).isoformat(),
        "version": manykernels.__version__,
        "estimator": learned.title,
        "model": _EstimatorPrettyPrinter(width=100, **_WHOLE).pformat(given),
        "certificate": " ".join(filter(None, [learned.sentence(), learned.adjusted()])),
        "call": call,
    }
    document: dict[str, Any] = plain({**head, **sections, "left_out": missing})
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
    """A section, or None where it cannot be made; the page then says why, and where fits stopped early."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: dict[str, Any] | None = section(*args)
        except ValueError as error:
            left_out[title] = " ".join(str(error).split())
            return None
    early = sum(issubclass(one.category, ConvergenceWarning) for one in caught)
    if early:
        told = f"{number_of(early, 'fit')} stopped before the tolerance was reached"
        left_out[f"{title}: the last digits"] = f"{told}, so that parts are approximate."
    return found


def _unused(model: Model, X: Any) -> list[str]:
    """Names of the columns of X that the model left out."""
    table = model.layout.table
    if table is None or table.names != [str(name) for name in getattr(X, "columns", [])]:
        return []
    return [table.names[j] for j in unused_columns(table)]


# -- sections -------------------------------------------------------------------------------------
def _weights(model: Model, table: WeightTable, stability: Any) -> dict[str, Any]:
    columns: dict[str, Any] | None = stability_columns(stability, table.names) if len(table.W) == 1 else None
    if columns is not None:
        columns["level"] = getattr(stability, "level", None)
    views = model.view_shares
    many = len(table.W) if model.rows == "output" and len(table.W) > MOST_OUTPUTS else None
    if many:  # a row for each says nothing to people
        views = {view: np.mean(weights) for view, weights in views.items()}
    return {
        "names": table.names,
        "rows": None if many else table.rows,
        "values": table.W.mean(axis=0)[None] if many else table.W,
        "targets": many,
        "spread": dict(zip(("low", "high"), np.quantile(table.W, [0.05, 0.95], axis=0), strict=True))
        if many
        else None,
        "views": _views(views, None if columns is None else getattr(stability, "views", None))
        if len(views) < len(table.names)
        else None,
        "listed": model.listed,
        "stability": columns,
        "constant": [m for m, kernel in enumerate(model.kernels) if is_constant(kernel)],
        **_certificate(model.proof),
    }


def _certificate(proof: Proof | None) -> dict[str, Any]:
    if proof is None:
        return dict.fromkeys(("gap", "certified", "converged"))
    converged = proof.converged if np.isfinite(proof.gap) else None
    return {"gap": proof.gap, "certified": proof.certified, "converged": converged}


def _name_constants(sections: Mapping[str, Any], model: Model) -> None:
    """The empty product is called 1, which reads like a number of a kernel."""
    pairs = zip(model.names, model.kernels, strict=True)
    empty = {name for name, kernel in pairs if kernel.member.role == "empty product"}
    for section in ("weights", "path", "contributions"):
        if sections[section] is not None:
            names = sections[section]["names"]
            sections[section]["names"] = [f"{name} (constant)" if name in empty else name for name in names]


def _views(views: Mapping[str, Any], stability: Any) -> dict[str, Any]:
    """The share of each view in the weight, and how it varies where that is known."""
    values = np.array([np.atleast_1d(w) for w in views.values()]).T
    if isinstance(stability, Stability):
        total = stability.weights.sum(axis=1, keepdims=True)
        stability = replace(stability, weights=stability.weights / np.where(total > 0.0, total, 1.0))
    return {"names": list(views), "values": values, "stability": stability_columns(stability, list(views))}


def _similarity(model: Model, X: Any) -> dict[str, Any] | None:
    table = similarity_table(model, X, max_kernels=_MOST_KERNELS, n_samples=300)
    if len(table.names) < 2:
        return None
    return {"names": table.names, "values": table.S, "weights": table.weights}


def _convergence(model: Model) -> dict[str, Any] | None:
    lines = []
    for label, table in histories(model).items():
        quantity = next((q for q in ("gap", "objective", "bound") if np.isfinite(table.get(q, [])).any()), "")
        if not quantity:
            raise ValueError("there is nothing to show")
        columns = {"seconds": table["seconds"], "values": table[quantity], "active": table["active"]}
        lines.append({"label": label, "quantity": quantity, **columns})
    if all(len(one["values"]) < 2 for one in lines):  # a point is no line
        return None
    assert model.proof is not None  # which has the histories
    return {"lines": lines, "tol": model.proof.tol, "objective": model.proof.primal}


def _path(
    search: Searched | None, model: Model, kernels: Any, copies: Copies, X: Any, y: Any
) -> dict[str, Any] | None:
    if isinstance(kernels, Parametric):  # every C has kernels of its own, which cannot be followed
        return None
    if search is not None and search.whole is not None:
        table = path_of_search(search, model.names)
    elif model.listed and len(model.names) == 1:  # which has all the weight for every C
        return None
    else:
        table = _fitted_path(copies, X, y)
    order = np.argsort(-np.abs(table.weights).max(axis=0), kind="stable")[:_MOST_KERNELS]
    kept = [m for m in order if table.weights[:, m].any()]
    scored = table.score is not None and np.isfinite(table.score).sum() > 1
    if len(kept) < 2:  # one kernel has all the weight for every C
        kept = []
        if not scored:
            return None
    return {
        "C": table.C,
        "names": [table.names[m] for m in kept],
        "weights": table.weights[:, kept].T,
        "score": table.score if scored else None,
        "chosen": table.chosen,
    }


def _fitted_path(copies: Copies, X: Any, y: Any) -> PathTable:
    """Fitted on some samples, with as much more C as these are fewer, so that C means what it did for all."""
    n = _num_samples(X)
    rows = _path_samples(n)
    share = 1.0 if rows is None else len(rows) / n
    Cs = copies.C * np.logspace(-2, 2, _PATH_COSTS) / share
    table = path_of_fits(lambda C: copies.learn(X, y, rows, C=C), Cs, copies.C)
    return replace(table, C=table.C * share)


def _path_samples(n: int) -> NDArray[np.intp] | None:
    """Some of n samples, or None for all of them."""
    return None if n <= _PATH_SAMPLES else evenly(n, _PATH_SAMPLES)


def _selection(search: Searched, stability: Any) -> dict[str, Any]:
    """What a search compared, what it took, and how often it took that on other samples."""
    choices = getattr(stability, "choices", None)
    keys = ("strategy", "norm", "C", "score", "std", "folds", "seconds")
    columns = {key: search.comparison[key] for key in keys}
    return {
        **columns,
        "norm": [str(norm) for norm in columns["norm"]],
        "std": [s if n > 1 else None for s, n in zip(columns["std"], columns["folds"], strict=True)],
        "error": [float(np.min(search.path[name]["loss"])) for name in columns["strategy"]],
        "by": search.by,
        "chosen": search.best["strategy"],
        "end": search.end_of_path,
        "again": None if choices is None else {"names": list(choices), "counts": list(choices.values())},
    }


def _widths(model: Model, spread: Mapping[str, Any] | None, prepared: bool) -> dict[str, Any] | None:
    try:
        table = width_table(model)
    except ValueError:  # no kernel has a width, as most have not: nothing is missing
        return None
    single = len(model.names) == 1 and table.features is None and spread is None
    if single or not table.weights.any():
        return None
    return {
        "parameter": table.parameter,
        "names": table.names,
        "features": table.features,
        "values": table.values,
        "weights": table.weights,
        "prepared": prepared,  # by a pipeline, or by a search
        "stability": spread,
    }

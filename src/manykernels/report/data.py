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
from ..inspection import Importance, Significance, Stability, check
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
from .chances import chance_section, views_of
from .held import HeldOut
from .importances import importance_section
from .methods import methods_section
from .names import readable, shown_names
from .presence import presence_section
from .quality import quality_section
from .samples import MOST_OUTPUTS, chosen_samples, names_of_samples
from .scores import as_read, compared_scores, scores_section, task_of
from .survival import TITLE as SURVIVAL
from .survival import held_out_groups, survival_section
from .tables import data_section, gates_section, interactions_section, is_constant, unused_columns
from .verdict import ALTERNATIVES, verdict_section, with_checks

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
    title: str = "What predicts the target",
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
    held_out: HeldOut | None = None,
    set_aside: Mapping[str, str] | None = None,
    column_names: Mapping[str, str] | None = None,
    sample_groups: Any = None,
    grouped_by: str = "",
) -> dict[str, Any]:
    """Collect all that a report shows of a fitted model and its training data.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline or search that holds one.
    X : array-like, frame, sparse matrix, list or dict
        The samples that it was fitted on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets that it was fitted on.
    title : str, default="What predicts the target"
        The title of the report.
    target : str, default="target"
        The name of y.
    call : str, default=""
        The command that made the report.
    scores : Comparison or list of dict, default=()
        Cross-validated scores to compare: dicts with ``name`` and ``folds``, the model's own first, with None
        and an ``error`` for folds without a score; see :func:`manykernels.report.baselines`.
    searched : {"before", "anew"}, default="before"
        Whether the scores of a search are of choices made within the folds ("anew"), or its choice has seen
        all samples. The report says which.
    permuted : Permuted, str or None, default=None
        The scores of the model on permuted targets (:func:`manykernels.inspection.permutation_test`), or the
        reason why they are not known.
    stability : Stability, dict or None, default=None
        The stability of the weights: ``names``, ``mean``, ``low``, ``high``, ``frequency``, and ``views``
        with the same for views.
    widths : dict or None, default=None
        The stability of learned widths; see :func:`manykernels.report.width_stability`.
    importance : Importance or None, default=None
        The importance of columns and views; see :func:`manykernels.inspection.importance`.
    significance : dict or None, default=None
        Tests by "view" and by "kernel"; see :func:`manykernels.inspection.significance`. If ``stability`` has
        pairs of halves, the report also says what these select.
    left_out : dict or None, default=None
        Sections that could not be made, with the reasons.
    made : date or None, default=None
        The date of the report. None is today.
    fit_path : bool, default=True
        Whether the path over C is fitted if the model has not kept one.
    sample_names : sequence or None, default=None
        The names of the samples. None takes the index of a frame X, unless it only counts the rows.
    risk_groups : array-like of shape (n_samples,) or None, default=None
        For times to an event, the group of each sample by its held-out risk, and −1 if there is none. None
        takes groups by the risks of the fitted model.
    held_out : HeldOut or None, default=None
        The held-out predictions of the models of the folds. Without them there is no section about their
        quality, and the single samples are training samples.
    set_aside : dict or None, default=None
        Columns that were removed before the fit, with the reasons. The report lists them among the columns
        that were not used.
    column_names : dict or None, default=None
        How the report writes the names of columns. None writes a column of a view such as ``body__bmi`` as
        ``bmi (body)``.
    sample_groups : array-like of shape (n_samples,) or None, default=None
        The group of each sample (patient, site), for the checks of folds. :func:`report` also keeps the
        samples of a group together in the folds that it cuts, which are no more than the groups.
    grouped_by : str, default=""
        The name of ``sample_groups``.

    Returns
    -------
    dict
        The sections of the report as plain values, which JSON can hold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.report import report_data
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="squared").fit(X, y)
    >>> data = report_data(model, X, y, title="Iris", fit_path=False)
    >>> data["title"]
    'Iris'
    """
    given, parts = model, X
    model, X = in_one_piece(model, X, y)
    learned, inner = model_of(model, X)
    face, search = face_of(model)[0], opened(model).searched
    survives = task_of(learned) == "survival"
    raw, y = y, as_read(learned, y)
    missing, called = dict(left_out or {}), names_of_samples(X, sample_names)
    if isinstance(permuted, str):
        missing["The test on permuted targets"] = permuted
    null = permuted if isinstance(permuted, Permuted) else None

    def path() -> dict[str, Any] | None:
        return _path(search, learned, face.kernels, copies_of(face), inner, y)

    def survival() -> dict[str, Any]:
        groups = _held_out_groups(held_out, y) if risk_groups is None else risk_groups
        return survival_section(y, np.asarray(model.predict(X)), face.baseline_, groups)

    def samples() -> dict[str, Any] | None:
        return chosen_samples(model, X, y, called) if held_out is None else held_out.samples(called)

    columns = getattr(X, "columns", ())
    names = shown_names(columns, views_of(learned)) if column_names is None else column_names
    sections: dict[str, Any] = {
        "data": data_section(X, y, learned, target, set_aside, {name.partition("__")[0] for name in names})
        | presence_section(learned, inner)
        | _groups(sample_groups, grouped_by),
        "scores": scores_section(scores, learned, searched, null),
        "quality": quality_section(held_out, y, task_of(learned)),
        "survival": _or_why(missing, SURVIVAL, survival) if survives else None,
        "importance": importance_section(importance, _unused(learned, X)),
        "chance": chance_section(significance, stability, views_of(learned)),
        "selection": None if search is None else _selection(search, stability),
        "weights": _weights(learned, weight_table(learned), stability),
        "recomputed": _or_why(missing, CERTIFICATE, certificate_section, face, learned, inner, raw),
        "similarity": _or_why(missing, "Which kernels are alike", _similarity, learned, inner),
        "convergence": _or_why(missing, "How the fit converged", _convergence, learned),
        "path": _or_why(missing, "Weights along C", path) if fit_path else None,
        "contributions": _or_why(missing, "Single samples", samples),
        "interactions": interactions_section(learned, face.kernels),
        "widths": _widths(learned, widths, prepared=model is not face),
        "gates": gates_section(learned, y),
    }
    _name_constants(sections, learned)
    head: dict[str, Any] = {
        "format": FORMAT,
        "title": title,
        "made": (made or date.today()).isoformat(),
        "version": manykernels.__version__,
        "estimator": learned.title,
        "model": _EstimatorPrettyPrinter(width=100, **_WHOLE).pformat(given),
        "certificate": " ".join(filter(None, [learned.sentence(), learned.adjusted()])),
        "call": call,
        "alternatives": ALTERNATIVES,
    }
    head |= _in_words(plain(sections), learned.title, face.get_params(deep=False))
    known = {"sample_groups": sample_groups, "cv": None if held_out is None else held_out.splits}
    head["checks"] = _checks(given, parts, raw, compared_scores(scores, learned), null, stability, known)
    head["verdict"] = with_checks(head["verdict"], head["checks"])
    return dict(readable(plain({**head, **sections, "left_out": missing}), names))


def _groups(labels: Any, name: str) -> dict[str, Any]:
    """How many groups of samples there are, and what they are called."""
    return {} if labels is None else {"groups": {"name": name, "count": len(set(map(str, labels)))}}


def _in_words(sections: Mapping[str, Any], title: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What is read off the other sections."""
    return {"verdict": verdict_section(sections), "methods": methods_section(sections, title, options)}


def _held_out_groups(held_out: HeldOut | None, y: Any) -> Any:
    """Groups by the risk that was predicted when a sample was held out; None where nobody has asked."""
    if held_out is None:
        return None
    return held_out_groups(y, held_out.splits, [one.predicted for one in held_out.seen])


def _checks(
    model: Any,
    X: Any,
    y: Any,
    scores: Comparison,
    permuted: Permuted | None,
    stability: Any,
    known: Mapping[str, Any],
) -> list[dict[str, str]]:
    """Reasons to be careful, by all that is known of the model."""
    spread = stability if isinstance(stability, Stability) else None
    found = check(model, X, y, comparison=scores, permuted=permuted, stability=spread, **known)
    return [one.as_dict() for one in found]


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
        "views": _views(
            views, None if columns is None else getattr(stability, "views", None), views_of(model)
        )
        if 1 < len(views) < len(table.names)
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


def _views(views: Mapping[str, Any], stability: Any, own: set[str]) -> dict[str, Any]:
    """The share of each view in the weight, and how it varies where that is known.

    Kernels of no view see all columns, and have one share together.
    """
    values = np.array([np.atleast_1d(w) for w in views.values()]).T
    names, values = _together(list(views), values, own)
    if isinstance(stability, Stability):
        total = stability.weights.sum(axis=1, keepdims=True)
        shares = stability.weights / np.where(total > 0.0, total, 1.0)
        called, shares = _together(stability.names, shares, own)
        stability = replace(stability, names=called, weights=shares)
    return {"names": names, "values": values, "stability": stability_columns(stability, names)}


def _together(names: list[str], values: Any, own: set[str]) -> tuple[list[str], Any]:
    """(rows, names), with one column for all names that are not views."""
    mine = [i for i, name in enumerate(names) if name in own]
    rest = [i for i in range(len(names)) if i not in mine]
    if not mine or not rest:
        return names, values
    both = np.column_stack([values[:, mine], values[:, rest].sum(axis=1)])
    return [*(names[i] for i in mine), "all columns together"], both


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

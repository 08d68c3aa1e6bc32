"""Descriptions of searches in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._arguments import and_more, number_of, rounded
from ..families import Subset, Views
from ..families.views import ViewColumns, columns_and_kernels
from ..fitting.model import Model
from ..fitting.spec import short
from ..kernels import Kernel
from ..kernels.preparation import Preparation

_SHOWN = 8  # kernels with the largest weights
_BEYOND = {"largest": "larger", "smallest": "smaller"}


def describe_search(
    comparison: Mapping[str, list[Any]],
    best: Mapping[str, Any],
    model: Model | None,
    spec: Any,
    end: str = "",
) -> str:
    """Describe the comparison, the choice, the preparation of the data, and the kernels from `spec`.

    `end` is that of the path in C, where the choice lies there.
    """
    lines = [*_about_strategies(comparison), *_about_choice(best)]
    if end:
        lines.append(f"C is the {end} that was tried: {_BEYOND[end]} ones may be better. Give them in Cs.")
    if model is not None:
        lines += _about_kernels(model, spec)
        lines += [model.adjusted()] if model.covariates is not None else []
    return "\n".join(lines)


def end_of_path(path: Mapping[str, Mapping[str, Any]], best: Mapping[str, Any]) -> str:
    """Return "largest" or "smallest" if the C of the best model is the last one tried; else empty."""
    tried = np.unique(np.asarray(path[best["strategy"]].get("C", []), dtype=np.float64))
    ends = {tried[0]: "smallest", tried[-1]: "largest"} if tried.size > 1 else {}
    return ends.get(best["C"], "")


def _about_strategies(rows: Mapping[str, list[Any]]) -> list[str]:
    lines = ["Compared in the same folds (mean score, its deviation over folds):"]
    most = max(rows["folds"])
    for i, name in enumerate(rows["strategy"]):
        norm, C = rows["norm"][i], rows["C"][i]
        what = f"norm={norm:g}, C={C:.3g}" if isinstance(norm, float) else f"C={C:.3g}"
        what += _chosen_kernels(rows["kernels"][i])
        left = (
            f"   left after {number_of(rows['folds'][i], 'fold')}, too far behind"
            if rows["folds"][i] < most
            else ""
        )
        spread = f" ± {rows['std'][i]:.4f}" if rows["folds"][i] > 1 else " " * 9  # one fold has none
        score = f"{rows['score'][i]:.4f}{spread}"
        lines.append(f"  {name:<12} {score}   {what}   {rows['seconds'][i]:.1f} s{left}")
    return lines


def _about_choice(best: Mapping[str, Any]) -> list[str]:
    chosen = _chosen_kernels(best["kernels"])
    return [f"Chosen: {best['strategy']}, norm={rounded(best['norm'])}, C={rounded(best['C'])}{chosen}."]


def called(strategy: str, norm: Any, kernels: tuple[str, ...] | None) -> str:
    """Name a model that a search tried."""
    weighed = kernels is None or len(kernels) > 1
    with_norm = f", norm {norm:g}" if isinstance(norm, float) and weighed else ""
    return strategy + with_norm + _chosen_kernels(kernels)


def _chosen_kernels(names: tuple[str, ...] | None) -> str:
    if names is None:
        return ""
    return f", {names[0]} alone" if len(names) == 1 else f", {len(names)} of the kernels"


def _about_kernels(model: Model, spec: Any) -> list[str]:
    lines = _about_preparations(model)
    weights = np.atleast_2d(model.weights).mean(axis=0)
    order = [m for m in np.argsort(-weights, kind="stable") if weights[m] > 0]
    spec = spec.kernels if isinstance(spec, Subset) else spec
    given = _about_views(spec) if isinstance(spec, Views) else short(spec)
    lines.append(f"Kernels: {len(model.kernels)} from {given}, {model.active.size} with weight:")
    lines += [f"  {weights[m]:.3f}  {model.names[m]}" for m in order[:_SHOWN]]
    if len(order) > _SHOWN:
        lines.append(f"  and {len(order) - _SHOWN} more")
    return lines + _about_shares(model, spec)


def _about_views(spec: Views) -> str:
    """Views as they were given, in their order."""
    named = [_about_view(str(name), columns_and_kernels(given)[0]) for name, given in spec.views.items()]
    return f"{number_of(len(named), 'view')}: {and_more(named, _SHOWN)}"


def _about_view(name: str, columns: Any) -> str:
    many = isinstance(columns, list | tuple | np.ndarray)
    return f"{name} ({number_of(len(columns), 'column')})" if many else name


def _about_shares(model: Model, spec: Any) -> list[str]:
    """The share of each view in the total weight, also of those without any kernel in the model."""
    if not any(getattr(kernel.kernel, "view", None) for kernel in model.kernels):
        return []
    parts = getattr(model.layout.parts, "own_names", ())
    known = dict.fromkeys(map(str, spec.views if isinstance(spec, Views) else parts), 0.0)
    found = {view: float(np.mean(share)) for view, share in model.view_shares.items()}
    shares = [f"{view} {100 * share:.0f} %" for view, share in (known | found).items()]
    return [f"Shares of the weight by view: {and_more(shares, 2 * _SHOWN)}."]


def _about_preparations(model: Model) -> list[str]:
    """A line about the columns; where there are views, one about those of each."""
    names, count = model.layout.feature_names_in, model.layout.n_features_in or 0
    columns = [f"x{j}" for j in range(count)] if names is None else [str(name) for name in names]
    lines: dict[str | None, str] = {}
    for kernel in model.kernels:
        view = getattr(kernel.kernel, "view", None)
        prepared = None if view in lines else _preparation(kernel.kernel)
        if prepared is not None:
            own = columns if view is None else _columns_of(kernel.kernel, columns)
            lines[view] = _about_preparation(prepared, own, "" if view is None else f" of view {view}")
    return list(lines.values())


def _columns_of(kernel: Any, columns: list[str]) -> list[str]:
    """The names of a view's columns."""
    given = kernel.columns
    if isinstance(given, str):
        return [given]
    if isinstance(given, list | tuple) and all(isinstance(name, str) for name in given):
        return list(given)
    if isinstance(given, ViewColumns):
        return given(SimpleNamespace(columns=columns))
    if callable(given) or (isinstance(given, slice) and isinstance(given.start or given.stop, str)):
        return [f"x{j}" for j in range(len(columns))]  # only X itself could tell
    return [str(name) for name in np.atleast_1d(np.asarray(columns, dtype=object)[given])]


def _preparation(kernel: Kernel) -> Preparation | None:
    """The preparation of a kernel, or of one inside it."""
    while kernel is not None:
        found = getattr(kernel, "preparation", None)
        if isinstance(found, Preparation):
            return found
        kernel = getattr(kernel, "kernel", None)  # type: ignore[assignment]
    return None


def _about_preparation(prepared: Preparation, names: Sequence[str], of: str) -> str:
    said = f"Prepared{of}: {number_of(prepared.n_numbers, 'column')} of numbers standardised"
    if prepared.heavy_.size:
        made = prepared.names(list(names))
        which = [made[j] for j in prepared.heavy_]
        said += f"; also as normal scores, for their heavy tails: {and_more(which, _SHOWN)}"
    if prepared.levels:
        said += f"; {number_of(len(prepared.levels), 'categorical column')} as indicators"
    return said + "."


def describe_own(C: Any, scores: Any, tried: int, how: str, model: Model | None, spec: Any) -> str:
    """Describe the weights and C that every output has of its own."""
    C, scores = np.atleast_1d(C), np.atleast_1d(scores)
    low, middle, high = np.quantile(scores, [0.05, 0.5, 0.95])
    lines = [
        f"{scores.size} outputs, each with weights and C of its own, chosen by {how}; {tried} weights tried.",
        f"R² on samples left out: median {middle:.4f}, from {low:.4f} to {high:.4f} in nine of ten.",
        f"C: from {C.min():.3g} to {C.max():.3g}, median {np.median(C):.3g}.",
    ]
    if model is not None:
        lines += _about_kernels(model, spec)
    return "\n".join(lines)

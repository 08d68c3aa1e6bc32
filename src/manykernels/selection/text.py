"""What a model selection did, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arguments import number_of, rounded
from ..families import Subset
from ..fitting.model import Model
from ..fitting.spec import short
from ..kernels import Kernel
from ..kernels.preparation import Preparation

_SHOWN = 8  # kernels with the largest weights


def describe_search(
    comparison: Mapping[str, list[Any]], best: Mapping[str, Any], model: Model | None, spec: Any
) -> str:
    """Lines about the data's preparation, the comparison, the choice, and its kernels, from `spec`."""
    lines = [*_about_strategies(comparison), *_about_choice(best)]
    if model is not None:
        lines += _about_kernels(model, spec)
    return "\n".join(lines)


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
        score = f"{rows['score'][i]:.4f} ± {rows['std'][i]:.4f}"
        lines.append(f"  {name:<12} {score}   {what}   {rows['seconds'][i]:.1f} s{left}")
    return lines


def _about_choice(best: Mapping[str, Any]) -> list[str]:
    chosen = _chosen_kernels(best["kernels"])
    return [f"Chosen: {best['strategy']}, norm={rounded(best['norm'])}, C={rounded(best['C'])}{chosen}."]


def called(strategy: str, norm: Any, kernels: tuple[str, ...] | None) -> str:
    """A model that a search tried, in few words."""
    weighed = kernels is None or len(kernels) > 1
    with_norm = f", norm {norm:g}" if isinstance(norm, float) and weighed else ""
    return strategy + with_norm + _chosen_kernels(kernels)


def _chosen_kernels(names: tuple[str, ...] | None) -> str:
    if names is None:
        return ""
    return f", {names[0]} alone" if len(names) == 1 else f", {len(names)} of the kernels"


def _about_kernels(model: Model, spec: Any) -> list[str]:
    lines = []
    prepared = next((p for kernel in model.kernels if (p := _preparation(kernel.kernel)) is not None), None)
    if prepared is not None:
        names = model.layout.feature_names_in
        count = model.layout.n_features_in or 0
        lines += _about_preparation(prepared, [f"x{j}" for j in range(count)] if names is None else names)
    weights = np.atleast_2d(model.weights).mean(axis=0)
    order = np.argsort(-weights)[:_SHOWN]
    spec = spec.kernels if isinstance(spec, Subset) else spec
    lines.append(f"Kernels: {len(model.kernels)} from {short(spec)}, {model.active.size} with weight:")
    lines += [f"  {weights[m]:.3f}  {model.names[m]}" for m in order if weights[m] > 0]
    return lines


def _preparation(kernel: Kernel) -> Preparation | None:
    """The preparation of a kernel, or of one inside it."""
    while kernel is not None:
        found = getattr(kernel, "preparation", None)
        if isinstance(found, Preparation):
            return found
        kernel = getattr(kernel, "kernel", None)  # type: ignore[assignment]
    return None


def _about_preparation(prepared: Preparation, names: Sequence[Any]) -> list[str]:
    lines = [f"Prepared: {number_of(prepared.n_numbers, 'column')} of numbers standardised"]
    if prepared.heavy_.size:
        made = prepared.names(list(names))
        which = [made[j] for j in prepared.heavy_]
        more = f" and {len(which) - _SHOWN} more" if len(which) > _SHOWN else ""
        shown = ", ".join(which[:_SHOWN])
        lines[0] += f"; also as normal scores, for their heavy tails: {shown}{more}"
    if prepared.levels:
        lines[0] += f"; {number_of(len(prepared.levels), 'categorical column')} as indicators"
    lines[0] += "."
    return lines


def describe_own(C: Any, scores: Any, tried: int, how: str, model: Model | None, spec: Any) -> str:
    """Lines about weights and C that every output has of its own."""
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

"""What a model selection did, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..families import Subset
from ..kernels import Kernel
from ..kernels.prepared import Preparation
from ._spec import short

_SHOWN = 8  # kernels with the largest weights


def describe_search(search: Any) -> str:
    """Lines about the data's preparation, the comparison, the choice, and its kernels."""
    lines = [*_about_strategies(search), *_about_choice(search)]
    if "best_estimator_" in search.__dict__:
        lines += _about_kernels(search.best_estimator_)
    return "\n".join(lines)


def _about_strategies(search: Any) -> list[str]:
    rows = search.comparison_
    lines = ["Compared in the same folds (mean score, its deviation over folds):"]
    most = max(rows["folds"])
    for i, name in enumerate(rows["strategy"]):
        norm, C = rows["norm"][i], rows["C"][i]
        what = f"norm={norm:g}, C={C:.3g}" if isinstance(norm, float) else f"C={C:.3g}"
        what += _chosen_kernels(rows["kernels"][i])
        left = f"   left after {rows['folds'][i]} fold, too far behind" if rows["folds"][i] < most else ""
        score = f"{rows['score'][i]:.4f} ± {rows['std'][i]:.4f}"
        lines.append(f"  {name:<12} {score}   {what}   {rows['seconds'][i]:.1f} s{left}")
    return lines


def _about_choice(search: Any) -> list[str]:
    best = search.best_params_
    chosen = _chosen_kernels(best["kernels"])
    return [f"Chosen: {best['strategy']}, norm={best['norm']}, C={best['C']:.3g}{chosen}."]


def _chosen_kernels(names: tuple[str, ...] | None) -> str:
    if names is None:
        return ""
    return f", {names[0]} alone" if len(names) == 1 else f", {len(names)} of the kernels"


def _about_kernels(model: Any) -> list[str]:
    lines = []
    prepared = next(
        (p for kernel in getattr(model, "kernels_", []) if (p := _preparation(kernel.kernel)) is not None),
        None,
    )
    if prepared is not None:
        lines += _about_preparation(prepared, getattr(model, "feature_names_in_", None))
    if not hasattr(model, "weights_"):
        return lines
    weights = np.atleast_2d(model.weights_).mean(axis=0)
    order = np.argsort(-weights)[:_SHOWN]
    spec = model.kernels.kernels if isinstance(model.kernels, Subset) else model.kernels
    lines.append(f"Kernels: {len(model.kernels_)} from {short(spec)}, {len(model.active_)} with weight:")
    lines += [f"  {weights[m]:.3f}  {model.kernel_names_[m]}" for m in order if weights[m] > 0]
    return lines


def _preparation(kernel: Kernel) -> Preparation | None:
    """The preparation of a kernel, or of one inside it."""
    while kernel is not None:
        found = getattr(kernel, "preparation", None)
        if isinstance(found, Preparation):
            return found
        kernel = getattr(kernel, "kernel", None)  # type: ignore[assignment]
    return None


def _about_preparation(prepared: Preparation, names: Any) -> list[str]:
    lines = [f"Prepared: {prepared.n_numbers} columns of numbers standardised"]
    if prepared.heavy_.size:
        which = prepared.kept_[prepared.heavy_]
        shown = ", ".join(str(names[j]) if names is not None else f"x{j}" for j in which[:_SHOWN])
        more = f" and {which.size - _SHOWN} more" if which.size > _SHOWN else ""
        lines[0] += f"; also as normal scores, for their heavy tails: {shown}{more}"
    if prepared.levels:
        lines[0] += f"; {len(prepared.levels)} categorical columns as indicators"
    lines[0] += "."
    return lines

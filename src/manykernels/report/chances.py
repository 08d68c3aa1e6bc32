"""Whether views and kernels are more than chance, for a report: p-values, and what halves of data select."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..estimators import model_of
from ..fitting.model import Model
from ..inspection import Selection, Significance, significance
from ..inspection.selected import selection_of

TITLE = "Which views and kernels are related to the target"
AFFORDABLE = 2e10  # kernels × samples³: about ten seconds
_NUMBERS = ("threshold", "n_selected", "n_pairs", "expected_false")
Tests = Mapping[str, Significance]  # by "view" and by "kernel", where there are any


def views_of(model: Model) -> set[str]:
    """The views that kernels belong to; a kernel of none of them is no view."""
    named = (getattr(kernel.kernel, "view", None) for kernel in model.kernels)
    return {str(view) for view in named if view is not None}


def chance_section(tests: Tests | None, stability: Any, views: set[str]) -> dict[str, Any] | None:
    """The p-values, the smallest first, and how often halves of the data select each view and kernel."""
    found, stable = dict(tests or {}), _stable(stability)
    if len(views) < 2:  # a single view of all columns leaves no choice
        found.pop("view", None)
        stable.pop("view", None)
    if not found and not stable:
        return None
    return {
        "tests": {
            f"{by}s": _sorted(one.columns(), one.p_value, views if by == "view" else None)
            for by, one in found.items()
        },
        "covariates": list(dict.fromkeys(name for one in found.values() for name in one.covariates)),
        "stable": {
            f"{by}s": _sorted(one.columns(), -one.frequency, views if by == "view" else None)
            | {key: getattr(one, key) for key in _NUMBERS}
            for by, one in stable.items()
        },
    }


def _sorted(columns: Mapping[str, Any], by: Any, only: set[str] | None) -> dict[str, Any]:
    order = [int(i) for i in np.argsort(by, kind="stable") if only is None or columns["name"][i] in only]
    return {key: [values[i] for i in order] for key, values in columns.items()}


def _stable(stability: Any) -> dict[str, Selection]:
    """By view and by kernel, where weights were learned on pairs of halves and there is a choice."""
    if not getattr(stability, "pairs", False) or not stability.listed:
        return {}
    found = {}
    for by, one in (("view", stability.views), ("kernel", stability)):
        if one is not None and len(one.names) > 1:
            found[by] = selection_of(one, random_state=0)
    return found


def chance_tests(model: Any, X: Any, y: Any, *, most: float | None = AFFORDABLE) -> dict[str, Any]:
    """Options for a report: the tests of all views and kernels, or why there are none.

    `most` is how much work they may be.
    """
    learned, _ = model_of(model, X)
    if most is not None and len(learned.names) * float(len(y)) ** 3 > most:
        why = f"Tests of {len(learned.names)} kernels on {len(y)} samples would take long."
        return {"left_out": {TITLE: f"{why} In Python: inspection.significance."}}
    if learned.classes is not None and len(learned.classes) > 2:
        why = f"The tests take two classes, and this target has {len(learned.classes)}."
        return {"left_out": {TITLE: f"{why} Test one class against the others."}}
    views = len(views_of(learned)) > 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the table says the same: a p of 1
            tests = {by: significance(model, X, y, by=by) for by in (["view"] if views else []) + ["kernel"]}
    except ValueError as error:
        return {"left_out": {TITLE: " ".join(str(error).split())}}
    return {"significance": tests}

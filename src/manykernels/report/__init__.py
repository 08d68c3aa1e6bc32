"""Reports of fitted models: one HTML file that works offline, on a phone and on paper.

``report(model, X, y, "report.html")`` does all of it. Its two halves can be had alone: ``report_data`` says
what a report shows, as plain values, and ``render`` makes a page of them.
"""

from __future__ import annotations

import os
from typing import Any

from ..comparison.again import anew, settled
from ..fitting.progress import progress
from .baselines import baseline_models, baselines, compared
from .chances import chance_tests
from .data import report_data
from .importances import measured
from .page import render, require_report, write_report
from .widths import learns_widths, width_stability

__all__ = [
    "anew",
    "baseline_models",
    "baselines",
    "learns_widths",
    "render",
    "report",
    "report_data",
    "settled",
    "width_stability",
    "write_report",
]


def report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    cv: Any = 5,
    n_permutations: int = 19,
    n_jobs: int | None = None,
    overwrite: bool = False,
    verbose: int = 0,
    **options: Any,
) -> None:
    """Write a report of a fitted model and its training data to a file.

    Views and kernels are tested one by one (:func:`manykernels.inspection.significance`), where that does not
    take long.

    Parameters
    ----------
    model : a fitted estimator of this package, or a pipeline or search that holds one
    X, y : the data that it was fitted on
    path : the file
    cv : folds in which it is compared with the plain sum, the best single kernel, a tuned rival and a
        constant, and in which the importance of columns is measured; None leaves both out, which is most of
        the work
    n_permutations : how often the model learns from permuted targets in the same folds, to test whether it is
        better than guessing; 0 for never. It is left out where it would take more than a minute
    n_jobs : fits at a time
    overwrite : whether a file that is not a report is replaced; without it, ``FileExistsError``
    verbose : 1 for a bar with the time left; the models that are learned on the way have none
    options : as for :func:`report_data`
    """
    require_report(path, overwrite)  # before the work
    with progress("report", verbose, total=2) as bar:
        if cv is not None and "scores" not in options:
            found = compared(model, X, y, cv=cv, n_permutations=n_permutations, n_jobs=n_jobs, bar=bar)
            options = {"searched": "anew", **found, **options}
        if cv is not None and "importance" not in options:
            options = _joined(options, measured(model, X, y, cv=cv, n_jobs=n_jobs))
        bar.step("importance")
        if "significance" not in options:
            options = _joined(options, chance_tests(model, X, y))
        write_report(report_data(model, X, y, **options), path, overwrite=overwrite)
        bar.step("page")


def _joined(options: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Options with what was found; what is left out adds up."""
    return found | options | {"left_out": found.get("left_out", {}) | dict(options.get("left_out") or {})}

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
from .markdown import markdown
from .page import render, require_report, write_report
from .several import comparison_data
from .widths import learns_widths, width_stability

__all__ = [
    "anew",
    "baseline_models",
    "baselines",
    "comparison_data",
    "learns_widths",
    "markdown",
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

    Views and kernels are tested one by one (:func:`manykernels.inspection.significance`) if that does not
    take long.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline or search that holds one.
    X : array-like, frame, sparse matrix, list or dict
        The samples that it was fitted on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets that it was fitted on.
    path : str or path
        The file to write. A path that ends in ``.md`` gets Markdown, any other an HTML page.
    cv : int, splitter, list of splits or None, default=5
        The folds in which the model is compared with the plain sum, the best single kernel, a tuned rival and
        a constant, and in which the importance of columns is measured. None leaves both out, which is most of
        the work.
    n_permutations : int, default=19
        The number of fits on permuted targets in the same folds, which test whether the model is better than
        guessing. 0 leaves the test out. With 19 or fewer it is also left out if it would take more than a
        minute; more take as long as they need. With 19 no p-value is below 0.05, with 199 none below 0.005.
    n_jobs : int or None, default=None
        The number of fits at the same time.
    overwrite : bool, default=False
        Whether a file that is not a report is replaced.
    verbose : int, default=0
        With 1 a progress bar shows the time left. The models that are learned on the way have none.
    **options : dict
        The other arguments of :func:`report_data`.

    Raises
    ------
    FileExistsError
        If the file exists and is not a report, unless ``overwrite=True``.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.report import report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="squared").fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "report.html")
    >>> report(model, X, y, path, cv=None, fit_path=False)
    >>> os.path.getsize(path) > 10_000
    True
    """
    require_report(path, overwrite)  # before the work
    together = options.get("sample_groups")
    with progress("report", verbose, total=2) as bar:
        if cv is not None and "scores" not in options:
            how: dict[str, Any] = {"groups": together, "n_permutations": n_permutations, "bar": bar}
            found = compared(model, X, y, cv=cv, n_jobs=n_jobs, **how)
            options = {"searched": "anew", **found, **options}
        if cv is not None and "importance" not in options:
            found = measured(model, X, y, cv=cv, sample_groups=together, n_jobs=n_jobs)
            options = _joined(options, found)
        bar.step("importance")
        if "significance" not in options:
            options = _joined(options, chance_tests(model, X, y))
        write_report(report_data(model, X, y, **options), path, overwrite=overwrite)
        bar.step("page")


def _joined(options: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Options with what was found; what is left out adds up."""
    return found | options | {"left_out": found.get("left_out", {}) | dict(options.get("left_out") or {})}

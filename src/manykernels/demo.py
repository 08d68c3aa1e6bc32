"""The demo: learn from a dataset that comes with scikit-learn (`make demo`, `python -m manykernels.demo`).

The breast cancer data has three views of each tumour: the mean, the standard error and the worst value of
ten measurements of its cells. Which view matters, and at which width? The learned combination answers both,
and is compared with what people do instead: add all kernels up, or pick the best one by cross-validation.
Every tumour is tested once by a model that has not seen it; C (and the single kernel) are chosen by
cross-validation within the training part. All of it is also written to a report, one page to look at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .comparison.comparing import in_folds
from .comparison.folds import make_folds
from .comparison.results import Comparison, said
from .estimators import MKLClassifier
from .families import views
from .inspection import weight_stability
from .kernels import Gaussian, Kernel, Linear
from .report import report
from .report.page import require_report

VIEWS = {"mean": slice(0, 10), "error": slice(10, 20), "worst": slice(20, 30)}
BASE = [Linear(), Gaussian(width=1.0), Gaussian(width=3.0), Gaussian(width=9.0)]
COSTS = [0.1, 1.0, 10.0]


def main(path: str = "manykernels-demo.html") -> None:
    """Learn, compare, print what was learned, and write it to a report."""
    start = perf_counter()
    require_report(path, overwrite=False)
    X, y = load_breast_cancer(return_X_y=True)
    kernels = views({view: (columns, BASE) for view, columns in VIEWS.items()}).resolve(X)
    print(
        f"Breast cancer: {len(X)} tumours; {len(kernels)} kernels on {len(VIEWS)} views of 10 measurements.\n"
    )

    searches = _searches(kernels)
    splits = make_folds(y, classes=True)
    compared = in_folds(searches, X, y, splits, task="classification")
    print("Accuracy on tumours not learned from, mean and standard deviation of 5 folds:")
    for title, one in {**compared.scores, "always the largest class": compared.chance}.items():
        print(f"  {title:<30}{one.mean:>7.1%} ± {one.std:.1%}")
    for sentence in _sentences(compared):
        print(f"  {sentence}")

    search = searches["learned combination (norm=1)"].fit(X, y)
    _say(search)
    _write(search, X, y, compared, path)
    print(f"\nReport, to be opened in a browser: {Path(path).resolve()}")
    print(f"\nEverything took {perf_counter() - start:.0f} seconds.")


def _searches(kernels: dict[str, Kernel]) -> dict[str, GridSearchCV]:
    """Return the three ways to use the kernels, each with its choices made by cross-validation."""
    singles = [{name: kernel} for name, kernel in kernels.items()]
    choices: dict[str, tuple[list[dict[str, Kernel]], float]] = {
        "learned combination (norm=1)": ([kernels], 1.0),
        "uniform sum (norm=inf)": ([kernels], math.inf),
        "best single kernel": (singles, 1.0),
    }
    model = make_pipeline(StandardScaler(), MKLClassifier(n_jobs=1))
    step = "mklclassifier__"
    return {
        title: GridSearchCV(
            model, {step + "kernels": options, step + "norm": [norm], step + "C": COSTS}, cv=3
        )
        for title, (options, norm) in choices.items()
    }


def _sentences(compared: Comparison) -> list[str]:
    """Describe how far the learned combination is from each of the others, and whether that may be chance."""
    learned, *others = compared.scores
    found = {other: compared.difference(learned, other) for other in others}
    return [said("The learned combination", f"the {o}", one) for o, one in found.items() if one is not None]


def _say(search: GridSearchCV) -> None:
    """Print the weights, the totals of each view and the certificate of the model of all tumours."""
    learned = search.best_estimator_[-1]
    zeros = len(learned.weights_) - len(learned.active_)
    print(f"\nLearned from all tumours with C = {learned.C:g} in {search.refit_time_:.3f} seconds.")
    print(f"\nWeights ({zeros} of {len(learned.weights_)} are exactly zero):")
    order = learned.active_[np.argsort(-learned.weights_[learned.active_])]
    print(bars([learned.kernel_names_[m] for m in order], learned.weights_[order]))
    print("\nTotal of each view:")
    print(bars(list(learned.view_weights_), list(learned.view_weights_.values())))
    gap = f"{learned.dual_gap_:.1e} (relative)"
    print(f"\nCertificate: the objective {learned.objective_:.4f} is within {gap} of the best that any")
    print(f"weights and any machine can reach, after {learned.n_iter_} iterations.")


def _write(search: GridSearchCV, X: Any, y: Any, compared: Comparison, path: str) -> None:
    """Write the report, with how the weights vary over halves of the tumours."""
    model = search.best_estimator_
    how: dict[str, Any] = {"method": "subsample", "n_resamples": 20, "random_state": 0}
    stability = weight_stability(model[-1], model[:-1].transform(X), y, **how)
    told: dict[str, Any] = {
        "title": "Breast cancer: which view matters",
        "target": "benign",
        "call": "make demo",
    }
    report(model, X, y, path, scores=compared, stability=stability, **told)


def bars(labels: Sequence[str], values: Sequence[float] | NDArray[np.float64], width: int = 40) -> str:
    """Make a bar chart in text: one line per label, the largest value `width` characters long."""
    largest = max(max(values), np.finfo(float).tiny)
    margin = max(map(len, labels))
    lines = (
        f"  {label:<{margin}}  {value:.3f}  {'█' * max(round(width * value / largest), int(value > 0))}"
        for label, value in zip(labels, values, strict=True)
    )
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    main()

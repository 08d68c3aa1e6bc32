"""Models and data that trigger one check each, and healthy ones that trigger none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold

import manykernels as mk
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.comparison.results import from_rows
from manykernels.families import Gaussians, gaussian_grid, views
from manykernels.inspection import Stability
from manykernels.kernels import Gaussian, Linear, OnColumns

rng = np.random.RandomState(0)
n = 120
X = rng.randn(n, 4)
signal = X[:, 0] + np.sin(2.0 * X[:, 1])
labels = np.where(signal + 0.3 * rng.randn(n) > 0.0, "yes", "no")
numbers = signal + 0.3 * rng.randn(n)
noise = rng.randn(n)
groups = np.arange(n) // 4
kernels = {"linear": Linear(), "medium": Gaussian(2.0), "wide": Gaussian(4.0)}


def classifier(X: Any = X, y: Any = labels, kernels: Any = kernels, **options: Any) -> tuple[Any, Any, Any]:
    return mk.MKLClassifier(kernels, **options).fit(X, y), X, y


def regressor(X: Any = X, y: Any = numbers, kernels: Any = kernels, **options: Any) -> tuple[Any, Any, Any]:
    return mk.MKLRegressor(kernels, **options).fit(X, y), X, y


def search(Cs: Any, y: Any = labels, cv: Any = 3, groups: Any = None) -> tuple[Any, Any, Any]:
    kind: Any = mk.MKLRegressorCV if y is numbers or y is noise else mk.MKLClassifierCV
    return kind(kernels, strategy="finite", norms=[2.0], Cs=Cs, cv=cv).fit(X, y, groups=groups), X, y


def frame(*more: Any) -> pd.DataFrame:
    table = np.column_stack([X, *more])
    return pd.DataFrame(table, columns=[f"c{j}" for j in range(table.shape[1])])


def half_known(rows: int) -> tuple[Any, Any, Any]:
    """A view that only the first rows have."""
    table = frame()
    table.loc[rows:, ["c2", "c3"]] = np.nan
    spec = views({"first": (["c0", "c1"], [Gaussian(2.0)]), "second": (["c2", "c3"], [Gaussian(2.0)])})
    return mk.MKLClassifier(spec).fit(table, labels), table, labels


def gaps(count: int) -> tuple[Any, Any, Any]:
    table = frame()
    table.loc[np.random.RandomState(1).permutation(n)[:count], "c3"] = np.nan
    return mk.MKLClassifier().fit(table, labels), table, labels


def adjusted(y: Any, *covariates: Any) -> tuple[Any, Any, Any]:
    table, kind = frame(*covariates), mk.MKLRegressor if y is numbers else mk.MKLClassifier
    model = kind([Gaussian(2.0), Gaussian(4.0)], covariates=list(table.columns[4:]))
    return model.fit(table, y), table, y


def aligned(samples: int, width: float) -> tuple[Any, Any, Any]:
    """A kernel for each of forty columns, of which one is the signal."""
    draw = np.random.RandomState(2)
    X = draw.randn(samples, 40)
    y = X[:, 0] + draw.randn(samples)
    return (
        mk.AlignMKLRegressor({f"x{j}": OnColumns(Gaussian(width), j) for j in range(40)}).fit(X, y),
        X,
        y,
    )


def quietly(make: Callable[..., Any], *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(*args, **options)


def online(epochs: int, lam: float = 1e-3) -> tuple[Any, Any, Any]:
    return mk.UFOMKLClassifier(kernels, lam=lam, epochs=epochs, random_state=0).fit(X, labels), X, labels


def halves(weights: Any) -> dict[str, Any]:
    return {"stability": Stability(list(kernels), np.asarray(weights, dtype=float), 0.95)}


def scores(model: Any, plain_sum: Any, constant: Any) -> dict[str, Any]:
    rows = {"model": model, "plain sum of the kernels": plain_sum, "chance": constant}
    told = [{"name": name, "folds": folds} for name, folds in rows.items()]
    return {"comparison": from_rows(told, "accuracy")}


def moved(X: Any, rows: int) -> Any:
    """Samples some of which are far from those in training."""
    new = X.copy()
    new[:rows, 2] += 50.0
    return new


few, rare = labels.astype(object), np.where(rng.permutation(n) < 11, "rare", "common")
few[rng.permutation(n)[:6]] = "maybe"
twice, sides = np.arange(n) % 90, np.where(labels == "yes", 1.0, -1.0)
steps, wide = np.sign(X[:, 0]) + 0.01 * rng.randn(n), 3.0 * rng.randn(n)
GOOD, SAME, BAD = [0.95, 0.96, 0.94, 0.95], [0.8, 0.81, 0.79, 0.8], [0.5, 0.5, 0.5, 0.5]
WIDE_RANGE = [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4]

# By code: the model, X, y, and a dict of what else is known.
CASES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "MK101": lambda: quietly(online, 1),
    "MK102": lambda: quietly(classifier, max_iter=1, tol=1e-9),
    "MK201": lambda: search([0.01, 0.03]),
    "MK202": lambda: regressor(kernels=gaussian_grid(8.0, 30.0, 4)),
    "MK301": lambda: classifier(kernels={**kernels, "twice": 2.0 * Gaussian(2.0)}, norm=2.0),
    "MK302": lambda: classifier(kernels=[Gaussian(0.01), Linear()], norm=2.0),
    "MK303": lambda: classifier(kernels=[Gaussian(2.0), Gaussian(500.0)], norm=np.inf),
    "MK304": lambda: regressor(approx=RandomFeatures(4), random_state=0),
    "MK305": lambda: (*classifier(), halves(np.eye(3)[[0, 1, 2, 0, 1, 2]])),
    "MK306": lambda: aligned(40, 0.5),
    "MK401": lambda: classifier(y=few),
    "MK402": lambda: classifier(y=rare),
    "MK403": lambda: classifier(X[twice], labels[twice]),
    "MK404": lambda: (*search(WIDE_RANGE), {"sample_groups": groups}),
    "MK411": lambda: half_known(20),
    "MK412": lambda: classifier(np.column_stack([X, labels == "yes"])),
    "MK413": lambda: gaps(80),
    "MK414": lambda: adjusted(numbers, X[:, 2], X[:, 2] + 0.01 * noise),
    "MK415": lambda: adjusted(labels, wide + sides, wide - sides),
    "MK416": lambda: (*classifier(), {"new": moved(X, 30)}),
    "MK501": lambda: search(WIDE_RANGE, y=noise),
    "MK502": lambda: (*classifier(), scores(SAME, SAME[::-1], BAD)),
    "MK503": lambda: (*regressor(y=steps, kernels=[Linear()]), {"new": X}),
}

HEALTHY: dict[str, Callable[[], tuple[Any, ...]]] = {
    "classifier": lambda: (*classifier(), {"new": X[:50], **halves(rng.dirichlet([20, 20, 20], 10))}),
    "scores": lambda: (*classifier(), scores(GOOD, SAME, BAD)),
    "regressor": lambda: (*regressor(), {"new": X[::2]}),
    "default": lambda: classifier(kernels="auto"),
    "search": lambda: search(WIDE_RANGE),
    "numbers": lambda: search(WIDE_RANGE, y=numbers),
    "groups": lambda: (*search(WIDE_RANGE, cv=GroupKFold(3), groups=groups), {"sample_groups": groups}),
    "copies in groups": lambda: (*classifier(X[twice], labels[twice]), {"sample_groups": twice, "cv": 3}),
    "widths": lambda: regressor(kernels=gaussian_grid(0.7, 30.0, 12)),
    "range of widths": lambda: regressor(kernels=Gaussians(0.7, 100.0)),
    "features": lambda: regressor(approx=Nystroem(60), random_state=0),
    "centred features": lambda: regressor(approx=RandomFeatures(600), center=True, random_state=0),
    "online": lambda: quietly(online, 200, 0.1),
    "costs": lambda: classifier(y=rare, class_weight="balanced"),
    "views": lambda: half_known(90),
    "gaps": lambda: gaps(20),
    "covariates": lambda: adjusted(labels, wide, noise),
    "aligned": lambda: aligned(600, 2.0),
}

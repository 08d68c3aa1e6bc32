"""Small fitted models of every kind, for what works on all of them: files, plots, reports."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.times import times

import manykernels as mk
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.families import (
    AnovaDAG,
    ARDGaussians,
    Gaussians,
    PolynomialDAG,
    Products,
    gaussian_grid,
    per_feature,
    rank_one,
    views,
)
from manykernels.kernels import Gaussian, Linear, Matern, Spectrum, Tanimoto
from manykernels.losses import EpsilonInsensitive
from manykernels.penalties import L2Ball

X, y = make_classification(48, 4, n_informative=3, n_redundant=0, random_state=0)
X = StandardScaler().fit_transform(X)
three = np.digitize(X[:, 0] + 0.3 * y, [-0.5, 0.7])
numbers = X[:, 0] * X[:, 1] + 0.1 * X[:, 2]
kernels = {"linear": Linear(), "narrow": Gaussian(width=1.0), "wide": Gaussian(width=4.0)}
strings = ["".join("ab"[int(v > 0)] for v in row) for row in X]
new = 0.9 * X[:20]
bits = np.packbits(np.hstack([X > 0.0, X > 0.5, X < -0.5]), axis=1)
stack = np.stack([k(X) for k in kernels.values()], axis=-1)


strata = np.empty(len(y), dtype=[("event", bool), ("time", float), ("stratum", object)])
strata["event"], strata["time"], strata["stratum"] = X[:, 3] > -0.5, numbers + 5.0, np.where(y > 0, "a", "b")
TIMES = {"survival": times(numbers), "survival, strata": strata, "survival, search": times(numbers)}


def frame() -> Any:
    import pandas as pd

    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": strings})


FITTED: dict[str, Callable[[], tuple[Any, Any]]] = {
    "classifier": lambda: (mk.MKLClassifier(kernels).fit(X, y), new),
    "auto": lambda: (mk.MKLClassifier().fit(X, y), new),
    "logistic": lambda: (mk.MKLClassifier(kernels, loss="logistic", norm=2.0).fit(X, y), new),
    "three classes": lambda: (mk.MKLClassifier(kernels).fit(X, three), new),
    "ovr": lambda: (mk.MKLClassifier(kernels, multi_class="ovr").fit(X, three), new),
    "crammer-singer": lambda: (
        mk.MKLClassifier(kernels, multi_class="crammer-singer").fit(X, three),
        new,
    ),
    "centred": lambda: (mk.MKLClassifier(kernels, center=True).fit(X, y), new),
    "regressor": lambda: (mk.MKLRegressor(kernels).fit(X, numbers), new),
    "two outputs": lambda: (mk.MKLRegressor(kernels, norm=1.5).fit(X, X[:, :2] ** 2), new),
    "parts": lambda: (
        mk.MKLRegressor(gaussian_grid(0.5, 8, 6), loss=EpsilonInsensitive(0.1), norm=L2Ball(radius=2.0)).fit(
            X, numbers
        ),
        new,
    ),
    "matern": lambda: (mk.MKLRegressor([Matern(0.5), Matern(1.5, 2.0), Matern(1.0)]).fit(X, numbers), new),
    "tanimoto": lambda: (
        mk.MKLClassifier({"bits": Tanimoto(packed=True), "inner": Tanimoto("inner")}).fit(bits, y),
        bits[:20],
    ),
    "per feature": lambda: (mk.MKLClassifier(per_feature()).fit(X, y), new),
    "rank one": lambda: (mk.MKLClassifier(rank_one()).fit(X, y), new),
    "stack": lambda: (mk.MKLClassifier("precomputed").fit(stack, y), stack[:20]),
    "views of a frame": lambda: (
        mk.MKLClassifier(
            views({"n": (["a", "b"], [Linear(), Gaussian(2.0)]), "w": ("word", [Spectrum(2)])})
        ).fit(frame(), y),
        frame()[:20],
    ),
    "centred frame": lambda: (
        mk.MKLClassifier(views({"n": (["a", "b"], [Gaussian(2.0)])}), center=True).fit(frame(), y),
        frame()[:20],
    ),
    "strings": lambda: (mk.MKLClassifier([Spectrum(1), Spectrum(2)]).fit(strings, y), strings[:20]),
    "products": lambda: (mk.MKLRegressor(Products(degree=2), C=10.0).fit(X, numbers), new),
    "widths": lambda: (mk.MKLRegressor(Gaussians(), C=10.0).fit(X, numbers), new),
    "many widths": lambda: (
        mk.MKLRegressor(ARDGaussians(), C=1.0, tol=0.3, random_state=0).fit(X, numbers),
        new,
    ),
    "align": lambda: (mk.AlignMKLClassifier(kernels).fit(X, y), new),
    "align regressor": lambda: (mk.AlignMKLRegressor(kernels).fit(X, numbers), new),
    "aligner": lambda: (mk.KernelAligner(kernels).fit(X, y), new),
    "ufo": lambda: (mk.UFOMKLClassifier(kernels, epochs=3, random_state=0).fit(X, three), new),
    "ufo warm": lambda: (
        mk.UFOMKLClassifier(kernels, epochs=2, warm_start=True, random_state=0).fit(X, y),
        new,
    ),
    "ufo features": lambda: (
        mk.UFOMKLRegressor([Gaussian(1.0), Gaussian(3.0)], approx=RandomFeatures(16), random_state=0).fit(
            X, numbers
        ),
        new,
    ),
    "ufo landmarks": lambda: (
        mk.UFOMKLRegressor(kernels, approx=Nystroem(10), average=True, random_state=0).fit(X, numbers),
        new,
    ),
    "polynomials": lambda: (mk.HierarchicalMKLRegressor(PolynomialDAG(degree=2)).fit(X, numbers), new),
    "anova": lambda: (mk.HierarchicalMKLClassifier(AnovaDAG(width=2.0)).fit(X, y), new),
    "ensemble": lambda: (mk.KernelEnsembleClassifier(kernels, combination="l1").fit(X, three), new),
    "ensemble of numbers": lambda: (mk.KernelEnsembleRegressor(kernels).fit(X, numbers), new),
    "powers": lambda: (mk.NonlinearMKLRegressor(kernels, n_starts=2, random_state=0).fit(X, numbers), new),
    "localized": lambda: (mk.LocalizedMKLClassifier(kernels, random_state=0).fit(X, y), new),
    "hard": lambda: (
        mk.LocalizedMKLRegressor(kernels, gating="hard", n_clusters=3, random_state=0).fit(X, numbers),
        new,
    ),
    "kmeans": lambda: (mk.LocalizedMKLClassifier(kernels, gating="kmeans", random_state=0).fit(X, y), new),
    "learned gates": lambda: (mk.LocalizedMKLClassifier(kernels, gating="softmax").fit(X, y), new),
    "approximate": lambda: (
        mk.MKLRegressor(kernels, approx=Nystroem(10), random_state=0).fit(X, numbers),
        new,
    ),
    "search": lambda: (mk.MKLClassifierCV(kernels, Cs=[0.1, 1.0], norms=[2.0], cv=2).fit(X, y), new),
    "survival": lambda: (mk.MKLSurvival(kernels).fit(X, TIMES["survival"]), new),
    "survival, strata": lambda: (
        mk.MKLSurvival(kernels, ties="efron").fit(X, TIMES["survival, strata"]),
        new,
    ),
    "survival, search": lambda: (
        mk.MKLSurvivalCV(kernels, strategy=[mk.MKLSurvival(kernels, norm=2.0)], Cs=[0.1, 1.0], cv=2).fit(
            X, TIMES["survival, search"]
        ),
        new,
    ),
    "pipeline": lambda: (make_pipeline(StandardScaler(), mk.MKLClassifier(kernels)).fit(X, y), new),
}


@cache
def fitted(name: str) -> tuple[Any, Any]:
    """The model, and data to ask it about. Shared: do not change them."""
    return FITTED[name]()


def answers(model: Any, data: Any) -> list[Any]:
    """All that a model says of data."""
    asked = ["predict", "decision_function", "predict_proba", "transform", "gate"]
    if not isinstance(model, mk.NonlinearMKLRegressor):  # has none, and says so
        asked.append("contributions")
    return [getattr(model, method)(data) for method in asked if hasattr(model, method)]

"""Problems: one-stage learning over kernels that can be listed, and what such fits refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import (
    Auto,
    Relevance,
    Subset,
    from_distances,
    gaussian_grid,
    per_feature,
    rank_one,
    views,
)
from manykernels.inspection import certificate, weight_stability
from manykernels.kernels import (
    ARDGaussian,
    Callable,
    Constant,
    Cosine,
    FeatureMap,
    FromDistance,
    Gaussian,
    Laplacian,
    Linear,
    Monomial,
    OnColumns,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Scaled,
    Spectrum,
    Sum,
)
from manykernels.losses import EpsilonInsensitive, Logistic
from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex
from manykernels.solvers import ActiveSet, Alternating

from .data import KERNELS, WEIGHT, X
from .problem import Problems

GRID = gaussian_grid(0.5, 8.0, 5)
NORMS = (1.0, 4.0 / 3.0, 2.0, math.inf, ElasticNet(lam=0.5), L2Ball(radius=2.0))
CLASSIFICATION = ("hinge", "squared_hinge", "logistic", "squared")
REGRESSION = ("squared", "epsilon_insensitive")
VIEWS = {
    "numbers": (["a", "b"], [Linear(), Gaussian(2.0)]),
    "c": (["c"], Gaussian(1.0)),
    "word": ("word", [Spectrum(2)]),
}


def tables(problems: Problems) -> None:
    """Everything of this file."""
    for table in (losses_and_norms, solvers, kernels, given, options, weights, outputs, again, refused):
        table(problems)


def losses_and_norms(problems: Problems) -> None:
    for norm in NORMS:
        for loss in CLASSIFICATION:
            problems.add("two", MKLClassifier, kernels=KERNELS, loss=loss, norm=norm, then=certified)
        for loss in REGRESSION:
            problems.add("numbers", MKLRegressor, kernels=KERNELS, loss=loss, norm=norm, then=certified)


def certified(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """P and D computed anew."""
    found = certificate(model, X, y)
    return {"certificate": [found.primal, found.dual, float(found.certified)]}


def solvers(problems: Problems) -> None:
    for solver in ("auto", "active-set", "alternating", ActiveSet(), Alternating()):
        for norm in (1.0, 2.0):
            problems.add("three", MKLClassifier, kernels=GRID, solver=solver, norm=norm, tol=1e-2)
    for norm in (1.0, 2.0):
        problems.add("numbers", MKLRegressor, kernels=GRID, solver="blockwise", norm=norm, random_state=0)
    for solver in ("corrective", "greedy", "stochastic"):
        problems.add(
            "numbers", MKLRegressor, kernels=GRID, solver=solver, random_state=0, tol=0.05, max_iter=50
        )


def dot(A: Any, B: Any) -> Any:
    return np.tanh(A) @ np.tanh(B).T


def kernels(problems: Problems) -> None:
    """Every way to say which kernels there are, on arrays."""
    algebra = [
        Sum([Linear(), Gaussian(1.0)]),
        Product([Linear(), Gaussian(2.0)]),
        Scaled(Linear(), 3.0),
        Power(Linear(), 3),
    ]
    kinds = [ARDGaussian([1.0, 2.0, 3.0, 4.0]), Cosine(), Laplacian(2.0), Monomial([0, 1]), FromDistance(0.5)]
    specs: dict[str, Any] = {
        "auto": "auto",
        "Auto": Auto(),
        "one": Gaussian(2.0),
        "list": list(KERNELS.values()),
        "grid": GRID,
        "per_feature": per_feature([0.5, 2.0], [1, 2]),
        "rank_one": rank_one(),
        "relevance": Relevance(),
        "subset": Subset("auto", ("Linear", "Polynomial(degree=2)")),
        "algebra": algebra,
        "kinds": kinds,
        "columns": [
            OnColumns(Gaussian(1.0), [0, 1]),
            OnColumns(Linear(), slice(2, 4)),
            OnColumns(Polynomial(2), 3),
        ],
        "callables": [Callable(dot), FeatureMap(np.tanh), Linear()],
    }
    for name, spec in specs.items():
        problems.add("two", MKLClassifier, note=f"kernels: {name}", kernels=spec)
        problems.add("numbers", MKLRegressor, note=f"kernels: {name}", kernels=spec, norm=2.0)


def given(problems: Problems) -> None:
    """Samples that are no arrays of numbers."""
    add, spectra, two = problems.add, [Spectrum(1), Spectrum(2)], [Linear(), Gaussian(2.0)]
    for norm in (1.0, 2.0):
        add("frame: two", MKLClassifier, note=f"views {norm:g}", kernels=views(VIEWS), norm=norm)
        add("strings: three", MKLClassifier, note=f"spectrum {norm:g}", kernels=spectra, norm=norm)
        add("sparse: numbers", MKLRegressor, note=f"list {norm:g}", kernels=two, norm=norm)
        add("sparse: two", MKLClassifier, note=f"rank_one {norm:g}", kernels=rank_one(), norm=norm)
        add("distances: numbers", MKLRegressor, kernels=from_distances([0.1, 1.0]), norm=norm)
        add("stack: three", MKLClassifier, kernels="precomputed", norm=norm)
    add("frame: numbers", MKLRegressor, note="views, centred", kernels=views(VIEWS), center=True)
    add("table: two", MKLClassifier, note="auto", kernels="auto")
    add("table: numbers", MKLRegressor, note="relevance", kernels=Relevance())
    add("polars: numbers", MKLRegressor, note="auto", kernels="auto")
    add("float32: two", MKLClassifier, note="dict", kernels=KERNELS)
    add("float32: numbers", MKLRegressor, note="auto, centred", kernels="auto", center=True)
    layers = {"a": Precomputed(0), "b": Precomputed(2)}
    add("stack: numbers", MKLRegressor, note="layers by name", kernels=layers)
    add("stack: numbers", MKLRegressor, note="centred", kernels="precomputed", center=True)
    for target, kind in (("two", MKLClassifier), ("numbers", MKLRegressor)):
        add(f"stack: {target}", kind, note="weights", kernels="precomputed", fit={"sample_weight": WEIGHT})


def options(problems: Problems) -> None:
    for normalize in ("trace", "max", "cosine", "frobenius", None):
        for center in (False, True):
            problems.add("two", MKLClassifier, kernels=GRID, normalize=normalize, center=center)
    varied: list[dict[str, Any]] = [
        {"fit_intercept": False},
        {"fit_intercept": False, "center": True},
        {"C": 1e-3},
        {"C": 1e3},
        {"tol": 1e-7},
        {"memory_limit": "1MB"},
        {"n_jobs": 1},
        {"norm": LpBall(1.5)},
        {"norm": Simplex()},
    ]
    for changed in varied:
        problems.add("two", MKLClassifier, kernels=KERNELS, **changed)
        problems.add("numbers", MKLRegressor, kernels=KERNELS, **changed)
    for weight in ("balanced", {"yes": 3.0, "no": 0.5}, {"yes": 0.0, "no": 1.0}):
        fails = isinstance(weight, dict) and weight["yes"] == 0.0
        problems.add("two", MKLClassifier, kernels=KERNELS, class_weight=weight, fails=fails)
    problems.add("two", MKLClassifier, kernels=KERNELS, loss=Logistic(), C=10.0)
    problems.add("numbers", MKLRegressor, kernels=KERNELS, loss=EpsilonInsensitive(0.3), C=10.0)


def weights(problems: Problems) -> None:
    """Samples that count several times or not at all, and kernels that say nothing."""
    weighted = {"sample_weight": WEIGHT}
    for loss in CLASSIFICATION:
        problems.add("three", MKLClassifier, note=f"weights, {loss}", kernels=GRID, loss=loss, fit=weighted)
        problems.add("twice: two", MKLClassifier, kernels=KERNELS, loss=loss)
    for loss in REGRESSION:
        problems.add("outputs", MKLRegressor, note=f"weights, {loss}", kernels=GRID, loss=loss, fit=weighted)
        problems.add("twice: numbers", MKLRegressor, kernels=KERNELS, loss=loss, center=True)
    useless = {"constant": Constant(1.0), "line": Linear(), "again": Linear(), "wide": Gaussian(3.0)}
    for norm in (1.0, 2.0, math.inf):
        for center in (False, True):
            said = f"constant and copies, {norm:g}, {center}"
            problems.add("numbers", MKLRegressor, note=said, kernels=useless, norm=norm, center=center)


def outputs(problems: Problems) -> None:
    for loss in CLASSIFICATION:
        for multi_class in ("shared", "ovr"):
            problems.add("three", MKLClassifier, kernels=KERNELS, loss=loss, multi_class=multi_class)
    for loss in REGRESSION:
        for norm in (1.0, 2.0):
            problems.add("outputs", MKLRegressor, kernels=KERNELS, loss=loss, norm=norm)


def again(problems: Problems) -> None:
    """Fits that go on from the last one, that end too early, and many of them."""

    def warm(model: Any, X: Any, y: Any) -> None:
        model.set_params(C=2.0).fit(X, y)

    def stable(model: Any, X: Any, y: Any) -> dict[str, Any]:
        found = weight_stability(model, X, y, n_resamples=4, random_state=0)
        return {"resamples": found.weights, "frequency": found.frequency}

    for norm in (1.0, 2.0):
        problems.add("two", MKLClassifier, kernels=KERNELS, warm_start=True, norm=norm, then=warm)
        problems.add("outputs", MKLRegressor, kernels=KERNELS, warm_start=True, norm=norm, then=warm)
        for max_iter in (1, 2):
            problems.add("two", MKLClassifier, kernels=GRID, max_iter=max_iter, norm=norm, tol=1e-8, C=100.0)
    problems.add("three", MKLClassifier, kernels=KERNELS, multi_class="ovr", warm_start=True, then=warm)
    problems.add("numbers", MKLRegressor, note="resamples", kernels=KERNELS, then=stable)


def refused(problems: Problems) -> None:
    wrong: list[dict[str, Any]] = [
        {"norm": 0.5},
        {"C": -1.0},
        {"loss": "absolute"},
        {"solver": "quick"},
        {"solver": "blockwise"},  # for the squared loss
        {"normalize": "range"},
        {"tol": 0.0},
        {"multi_class": "ovo"},
        {"norm": L2Ball(mu0=[1.0, 1.0])},
        {"approx": "landmarks"},
    ]
    for changed in wrong:
        problems.add("two", MKLClassifier, kernels=KERNELS, fails=True, **changed)
    for name, spec in {"none": [], "a string": "many", "one name": [Linear(), "x"]}.items():
        problems.add("two", MKLClassifier, note=f"kernels: {name}", kernels=spec, fails=True)
    problems.add("one class", MKLClassifier, note="one class", kernels=KERNELS, fails=True)
    problems.add("nan: two", MKLClassifier, note="missing", kernels=KERNELS, fails=True)
    problems.add("two", MKLClassifier, note="precomputed of a table", kernels="precomputed", fails=True)
    problems.add("two", MKLRegressor, note="labels", kernels=KERNELS, fails=True)
    short = {"sample_weight": np.ones(len(X) - 1)}
    problems.add("two", MKLClassifier, note="short weights", kernels=KERNELS, fit=short, fails=True)

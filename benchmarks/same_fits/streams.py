"""Problems: two-stage learning, online learning, and explicit features in place of matrices."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from manykernels import (
    AlignMKLClassifier,
    AlignMKLRegressor,
    KernelAligner,
    MKLClassifier,
    MKLRegressor,
    UFOMKLClassifier,
    UFOMKLRegressor,
)
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.families import Gaussians, Products, gaussian_grid, rank_one, views
from manykernels.kernels import Gaussian, Spectrum
from manykernels.losses import MulticlassHinge, OrdinalHinge
from manykernels.weightings import Align, GreedyAlignment

from .data import KERNELS, WEIGHT
from .problem import Problems

GRID = gaussian_grid(0.5, 8.0, 4)


def tables(problems: Problems) -> None:
    """Everything of this file."""
    for table in (
        two_stage,
        two_stage_kinds,
        online,
        online_streams,
        features,
        feature_kinds,
        feature_stages,
    ):
        table(problems)


def two_stage(problems: Problems) -> None:
    for weighting in ("alignf", "align", "uniform", "alignf-linear", Align(q=2.0)):
        problems.add("two", AlignMKLClassifier, kernels=KERNELS, weighting=weighting, then=elsewhere)
        indefinite = weighting == "alignf-linear"
        problems.add("numbers", AlignMKLRegressor, kernels=KERNELS, weighting=weighting, fails=indefinite)
        problems.add("three", KernelAligner, kernels=KERNELS, weighting=weighting)
    for normalize in ("max", "cosine", "frobenius", None):
        problems.add("two", AlignMKLClassifier, kernels=GRID, normalize=normalize, center=False)


def elsewhere(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """The alignment on other samples: every second one."""
    return {"score_alignment": model.score_alignment(X[::2], y[::2])}


def two_stage_kinds(problems: Problems) -> None:
    """Targets, samples, families and second stages."""
    add = problems.add
    add("three", AlignMKLClassifier, note="auto", kernels="auto")
    add("outputs", AlignMKLRegressor, note="outputs", kernels=KERNELS)
    add(
        "two",
        AlignMKLClassifier,
        note="probabilities",
        kernels=GRID,
        estimator=SVC(kernel="precomputed", C=10.0),
    )
    add("numbers", KernelAligner, kernels=GRID, target="regression", center=False)
    add(
        "frame: two",
        AlignMKLClassifier,
        note="views",
        kernels=views({"n": (["a", "b"], GRID), "w": ("word", Spectrum(2))}),
    )
    add("stack: two", AlignMKLClassifier, note="stack", kernels="precomputed")
    add("sparse: numbers", AlignMKLRegressor, note="rank one", kernels=rank_one())
    for weighting in ("greedy", GreedyAlignment("distance", max_kernels=3)):
        add("two", AlignMKLClassifier, kernels=Gaussians(0.3, 8.0), weighting=weighting)
    add(
        "two",
        AlignMKLClassifier,
        note="greedy over products",
        kernels=Products(),
        weighting="greedy",
        fails=True,
    )
    add("numbers", AlignMKLRegressor, note="greedy", kernels=Gaussians(0.3, 8.0), weighting="greedy")
    add("two", AlignMKLClassifier, note="a wrong learner", kernels=GRID, estimator=SVC(), fails=True)
    add("two", AlignMKLClassifier, kernels=GRID, weighting="aligned", fails=True)


def online(problems: Problems) -> None:
    fixed: dict[str, Any] = {"kernels": GRID, "lam": 0.01, "alpha": 0.005, "epochs": 2, "random_state": 0}
    for loss in ("hinge", "logistic", "multiclass_hinge", "squared_hinge", MulticlassHinge()):
        for target in ("two", "three"):
            problems.add(target, UFOMKLClassifier, loss=loss, **fixed)
    problems.add("three", UFOMKLClassifier, loss=OrdinalHinge(), **fixed)
    for loss in ("squared", "epsilon_insensitive"):
        problems.add("numbers", UFOMKLRegressor, loss=loss, **fixed)
        problems.add("outputs", UFOMKLRegressor, loss=loss, average=True, **fixed)
    for changed in ({"average": True}, {"shuffle": False}, {"fit_intercept": False}, {"normalize": "trace"}):
        problems.add("two", UFOMKLClassifier, **changed, **fixed)
    for approx in (Nystroem(12), RandomFeatures(16)):
        problems.add("three", UFOMKLClassifier, approx=approx, **fixed)
        problems.add("numbers", UFOMKLRegressor, approx=approx, average=True, **fixed)
    problems.add("two", UFOMKLClassifier, approx="features", **(fixed | {"kernels": rank_one()}))


def online_streams(problems: Problems) -> None:
    """More samples after the first ones, and fits that go on."""

    def more(model: Any, X: Any, y: Any) -> None:
        for start in (0, 10, 30):
            model.partial_fit(X[start : start + 20], y[start : start + 20])

    def once_more(model: Any, X: Any, y: Any) -> None:
        model.fit(X, y)

    fixed: dict[str, Any] = {"kernels": GRID, "epochs": 2, "random_state": 0}
    for form in ({}, {"average": True}, {"approx": RandomFeatures(16)}):
        problems.add("three", UFOMKLClassifier, note=f"partial_fit {form}", then=more, **form, **fixed)
        problems.add("numbers", UFOMKLRegressor, note=f"partial_fit {form}", then=more, **form, **fixed)
        problems.add("two", UFOMKLClassifier, then=once_more, warm_start=True, **form, **fixed)
    problems.add("two", UFOMKLClassifier, lam=0.0, fails=True, **fixed)


def features(problems: Problems) -> None:
    """approx × losses × norms, one-stage."""
    fixed: dict[str, Any] = {"kernels": GRID, "random_state": 0}
    for approx in (Nystroem(12), Nystroem(12, "uniform"), RandomFeatures(20)):
        for norm in (1.0, 2.0):
            problems.add("numbers", MKLRegressor, approx=approx, norm=norm, **fixed)
            problems.add("three", MKLClassifier, approx=approx, norm=norm, loss="squared", **fixed)
    for loss in ("hinge", "squared_hinge", "logistic"):
        for multi_class in ("shared", "ovr"):
            problems.add(
                "three", MKLClassifier, approx=Nystroem(12), loss=loss, multi_class=multi_class, **fixed
            )
    problems.add("outputs", MKLRegressor, approx=RandomFeatures(20), loss="epsilon_insensitive", **fixed)
    for loss in ("squared", "hinge"):
        problems.add("two", MKLClassifier, approx="features", loss=loss, kernels=rank_one())
    for changed in ({"center": True}, {"fit_intercept": False}, {"normalize": "max"}, {"normalize": None}):
        problems.add("numbers", MKLRegressor, approx=Nystroem(12), **changed, **fixed)


def feature_kinds(problems: Problems) -> None:
    """approx with weights, and with other samples."""

    def warm(model: Any, X: Any, y: Any) -> None:
        model.set_params(C=3.0).fit(X, y)

    add = problems.add
    fixed: dict[str, Any] = {"kernels": GRID, "approx": Nystroem(12), "random_state": 0}
    weighted = {"sample_weight": WEIGHT}
    for loss in ("squared", "hinge"):
        add(
            "three",
            MKLClassifier,
            note=f"features, weights, {loss}",
            loss=loss,
            fit=weighted,
            class_weight="balanced",
            **fixed,
        )
        add("two", MKLClassifier, loss=loss, warm_start=True, then=warm, **fixed)
        add("twice: two", MKLClassifier, loss=loss, **fixed)
    add("sparse: numbers", MKLRegressor, note="sparse", **fixed)
    add("dask: numbers", MKLRegressor, note="dask", **fixed)
    add("dask: outputs", MKLRegressor, note="dask", norm=2.0, **(fixed | {"approx": RandomFeatures(20)}))
    add("dask: three", MKLClassifier, note="dask", loss="squared", **fixed)
    wide = fixed | {"kernels": GRID[2:]}
    for form in ("long", "long dask", "long mapped"):
        add(f"{form}: numbers", MKLRegressor, note="many rows", **wide)
        add(f"{form}: three", MKLClassifier, note="many rows", loss="squared", norm=2.0, **wide)
        add(f"{form}: two", AlignMKLClassifier, note="many rows", **wide)


def feature_stages(problems: Problems) -> None:
    """approx in two stages, and what it is not for."""
    add = problems.add
    fixed: dict[str, Any] = {"kernels": GRID, "approx": Nystroem(12), "random_state": 0}
    for approx in (Nystroem(12), RandomFeatures(20)):
        changed = fixed | {"approx": approx}
        add("two", AlignMKLClassifier, note=f"{approx!r}", **changed)
        add("outputs", AlignMKLRegressor, note=f"{approx!r}", **changed)
        add("three", KernelAligner, note=f"{approx!r}", **changed)
        add("dask: numbers", AlignMKLRegressor, note=f"{approx!r}", **changed)
    add("three", AlignMKLClassifier, note="own learner", estimator=LogisticRegression(), **fixed)
    add(
        "two",
        MKLClassifier,
        note="features of Gaussians",
        approx="features",
        kernels=[Gaussian(1.0)],
        fails=True,
    )
    add(
        "strings: two",
        MKLClassifier,
        note="random features",
        approx=RandomFeatures(10),
        kernels=[Spectrum(2)],
        fails=True,
    )
    add("dask: two", MKLClassifier, note="dask", kernels=GRID, fails=True)
    add("two", MKLClassifier, note="greedy with features", approx=Nystroem(9), kernels=Products(), fails=True)

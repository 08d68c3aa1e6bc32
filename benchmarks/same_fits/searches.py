"""Problems: model selection, by the package's searches and by scikit-learn's."""

from __future__ import annotations

from typing import Any

from joblib import parallel_config
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from manykernels import (
    AlignMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    UFOMKLClassifier,
)
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.families import Gaussians, gaussian_grid, rank_one
from manykernels.kernels import Gaussian, Linear
from manykernels.penalties import ElasticNet

from .data import GROUPS, KERNELS, WEIGHT
from .problem import Problems

FEW: dict[str, Any] = {"kernels": KERNELS, "Cs": [0.1, 1.0, 10.0], "cv": 3}
GRID = gaussian_grid(0.5, 8.0, 4)


def tables(problems: Problems) -> None:
    """Everything of this file."""
    for table in (strategies, scores, samples, approximate, of_scikit_learn, refused):
        table(problems)


def strategies(problems: Problems) -> None:
    short: dict[str, Any] = {"Cs": [0.3, 3.0], "cv": 2}
    both = (("two", MKLClassifierCV), ("numbers", MKLRegressorCV))
    for target, kind in both:
        for strategy in ("auto", "finite", "continuous", "products", "aligned"):
            problems.add(target, kind, strategy=strategy, **short)
        problems.add(target, kind, strategy=["finite", "aligned"], **FEW)
        problems.add(
            target, kind, note="continuum", kernels=Gaussians(0.5, 5.0), strategy="continuous", **short
        )
        problems.add(target, kind, note="norms", norms=(1.0, 1.5, ElasticNet(0.5)), **FEW)
    problems.add("three", MKLClassifierCV, note="auto", **short)
    problems.add("outputs", MKLRegressorCV, note="auto", **short)
    problems.add("table: two", MKLClassifierCV, note="auto", **short)
    own = MKLRegressor(GRID, norm=1.0)
    problems.add("numbers", MKLRegressorCV, note="own estimators", strategy=["finite", own, own], **FEW)
    problems.add("numbers", MKLRegressorCV, note="kernel ridge", strategy=[KernelRidge(), "finite"], **FEW)
    forest = RandomForestClassifier(3, random_state=0)
    problems.add("three", MKLClassifierCV, note="SVC, forest", strategy=[SVC(), forest, "finite"], **FEW)
    problems.add("two", MKLClassifierCV, note="SVC alone", strategy=[SVC(gamma=0.3)], **short)


def scores(problems: Problems) -> None:
    """Losses, scores and folds."""
    add = problems.add
    for loss in ("squared", "hinge", "squared_hinge", "logistic"):
        add("three", MKLClassifierCV, loss=loss, norms=[1.0], **FEW)
    add("numbers", MKLRegressorCV, loss="epsilon_insensitive", **FEW)
    add("two", MKLClassifierCV, loss="logistic", scoring="neg_log_loss", norms=[2.0], **FEW)
    for scoring in ("roc_auc", "balanced_accuracy"):
        add("two", MKLClassifierCV, scoring=scoring, **FEW)
    for scoring in ("r2", "neg_mean_absolute_error"):
        add("outputs", MKLRegressorCV, scoring=scoring, **FEW)
    for target, kind in (("three", MKLClassifierCV), ("numbers", MKLRegressorCV)):
        add(target, kind, refit=False, **FEW)
        add(target, kind, cv="loo", kernels=KERNELS, norms=[2.0])
        add(target, kind, note="five folds by default", kernels=GRID, Cs=3, random_state=0)
        add(target, kind, note="groups", fit={"groups": GROUPS}, **(FEW | {"cv": GroupKFold(5)}))
    add(
        "numbers",
        MKLRegressorCV,
        note="repeated",
        **(FEW | {"cv": RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)}),
    )
    add("two", threaded, n_jobs=2, **FEW)
    for changed in (
        {"multi_class": "ovr"},
        {"class_weight": "balanced"},
        {"center": True},
        {"fit_intercept": False},
    ):
        add("three", MKLClassifierCV, norms=[1.0], **changed, **FEW)


class threaded(MKLClassifierCV):
    """Two folds at a time, in threads: processes would take seconds to start."""

    def fit(self, X: Any, y: Any) -> Any:
        with parallel_config("threading"):
            return super().fit(X, y)


def samples(problems: Problems) -> None:
    """Samples that are no table, or that count several times."""
    add = problems.add
    for target, kind in (("two", MKLClassifierCV), ("numbers", MKLRegressorCV)):
        add(f"stack: {target}", kind, note="stack", **(FEW | {"kernels": "precomputed"}))
        add(target, kind, note="weights", fit={"sample_weight": WEIGHT}, **FEW)
        add(f"twice: {target}", kind, note="twice", **FEW)
        add(f"sparse: {target}", kind, note="sparse", **(FEW | {"kernels": rank_one()}))
    add("float32: numbers", MKLRegressorCV, note="float32", **FEW)
    add(
        "two",
        MKLClassifierCV,
        note="weights of leave-one-out",
        kernels=GRID,
        cv="loo",
        norms=[1.0],
        fit={"sample_weight": 1.0 + WEIGHT},
    )


def approximate(problems: Problems) -> None:
    """Folds that come off sums over rows, and folds that are learned one by one."""
    add = problems.add
    fixed: dict[str, Any] = {"kernels": GRID, "Cs": [0.1, 1.0], "random_state": 0}
    for approx in (Nystroem(12), RandomFeatures(20)):
        add("three", MKLClassifierCV, approx=approx, **fixed)
        add("numbers", MKLRegressorCV, approx=approx, cv=KFold(3), **fixed)
        add("two", MKLClassifierCV, approx=approx, loss="hinge", cv=2, norms=[1.0], **fixed)
    add("outputs", MKLRegressorCV, note="scored", approx=Nystroem(12), scoring="r2", cv=2, **fixed)
    add(
        "numbers",
        MKLRegressorCV,
        note="features, weights",
        approx=Nystroem(12),
        fit={"sample_weight": WEIGHT},
        **fixed,
    )
    add("two", MKLClassifierCV, note="own features", approx="features", **(fixed | {"kernels": rank_one()}))
    for form in ("long", "long dask", "long mapped"):
        add(f"{form}: numbers", MKLRegressorCV, note="many rows", approx=Nystroem(8), **fixed)
    add("dask: numbers", MKLRegressorCV, note="dask", approx=Nystroem(12), **fixed)
    add("dask: three", MKLClassifierCV, note="dask", approx=Nystroem(12), norms=[2.0], **fixed)


def of_scikit_learn(problems: Problems) -> None:
    """Estimators inside pipelines and grid searches."""
    add = problems.add

    def scaled(last: Any) -> list[tuple[str, Any]]:
        return [("scale", StandardScaler()), ("mkl", last)]

    add("two", Pipeline, note="MKLClassifier", steps=scaled(MKLClassifier(KERNELS)))
    add("three", Pipeline, note="MKLClassifierCV", steps=scaled(MKLClassifierCV(**FEW)))
    add(
        "numbers",
        Pipeline,
        note="Nystroem",
        steps=scaled(MKLRegressor(GRID, approx=Nystroem(12), random_state=0)),
    )
    grids: dict[str, tuple[str, Any, dict[str, Any]]] = {
        "MKLClassifier": ("two", MKLClassifier(KERNELS), {"C": [0.1, 1.0], "norm": [1.0, 2.0]}),
        "widths": (
            "numbers",
            MKLRegressor({"a": Gaussian(1.0), "b": Linear()}),
            {"kernels__a__width": [0.5, 2.0]},
        ),
        "AlignMKLRegressor": ("numbers", AlignMKLRegressor(KERNELS), {"weighting": ["align", "alignf"]}),
        "UFOMKLClassifier": (
            "three",
            UFOMKLClassifier(GRID, random_state=0, epochs=2),
            {"alpha": [1e-3, 1e-2]},
        ),
    }
    for name, (target, model, grid) in grids.items():
        add(target, GridSearchCV, note=name, estimator=model, param_grid=grid, cv=2, error_score="raise")


def refused(problems: Problems) -> None:
    wrong: list[dict[str, Any]] = [
        {"strategy": "quick"},
        {"strategy": [SVC(), "finite", KernelRidge()]},
        {"Cs": [-1.0]},
        {"norms": []},
        {"scoring": ["accuracy", "roc_auc"]},
        {"cv": "loo", "strategy": ["finite", "aligned"]},
        {"cv": "loo", "loss": "hinge"},
    ]
    for changed in wrong:
        problems.add("two", MKLClassifierCV, fails=True, **({"kernels": KERNELS} | changed))

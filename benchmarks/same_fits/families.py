"""Problems: families that cannot be listed, graphs of kernels, powers of sums, and localized learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from manykernels import (
    HierarchicalMKLClassifier,
    HierarchicalMKLRegressor,
    LocalizedMKLClassifier,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLRegressor,
    NonlinearMKLClassifier,
    NonlinearMKLRegressor,
)
from manykernels.families import (
    DAG,
    AnovaDAG,
    ARDGaussians,
    Dirichlets,
    Gaussians,
    Laplacians,
    PolynomialDAG,
    Products,
)
from manykernels.kernels import Gaussian, Linear
from manykernels.solvers import Corrective, Greedy, Stochastic

from .data import GATES, GATES_NEW, KERNELS, WEIGHT
from .problem import Problems

FEW = [Linear(), Gaussian(1.0), Gaussian(3.0)]


def tables(problems: Problems) -> None:
    """Everything of this file."""
    for table in (products, continua, hierarchical, nonlinear, localized):
        table(problems)


def products(problems: Problems) -> None:
    """Corrective, greedy and stochastic learning over products."""
    add, family = problems.add, Products()
    fixed: dict[str, Any] = {"random_state": 0, "tol": 0.02}
    for solver in ("corrective", "greedy"):
        for loss in ("squared", "epsilon_insensitive"):
            add("numbers", MKLRegressor, kernels=Products(degree=2), solver=solver, loss=loss, **fixed)
        add("two", MKLClassifier, kernels=Products(degree=3), solver=solver, loss="squared", **fixed)
        add("three", MKLClassifier, kernels=Products(FEW), solver=solver, loss="logistic", tol=0.05)
    scaled = Products(degree=3, atom_scale="rms", scale=True)
    add("table: numbers", MKLRegressor, note="scaled products", kernels=scaled, **fixed)
    separate = {"loss": "squared", "multi_class": "ovr", **fixed}
    for target in ("two", "three"):
        add(target, MKLClassifier, note="products, ovr", kernels=family, **separate)
    add("outputs", MKLRegressor, note="products", kernels=family, **fixed)
    weighted = {"sample_weight": WEIGHT}
    add("numbers", MKLRegressor, note="products, weights", kernels=family, fit=weighted, **fixed)
    short = {"max_iter": 30, "random_state": 0}
    for norm in (4.0 / 3.0, 2.0):
        for solver in ("stochastic", Stochastic(sampling="uniform", batch=16, step="theorem")):
            add("numbers", MKLRegressor, kernels=family, norm=norm, solver=solver, **short)
    for solver in (Corrective(), Greedy("2/(k+1)")):
        paper = Products(rho=[1.0, 1.0, 2.0], multiplicity="paper", interactions_only=True)
        add("numbers", MKLRegressor, kernels=paper, solver=solver, max_iter=40, **fixed)
    for solver in ("auto", "active-set", "alternating"):
        add(
            "numbers",
            MKLRegressor,
            note=f"listed products, {solver}",
            kernels=family,
            norm=2.0,
            solver=solver,
        )
    listed = {"solver": "active-set", "fails": True}
    add("numbers", MKLRegressor, note="Gaussians, active-set", kernels=Gaussians(), **listed)


def continua(problems: Problems) -> None:
    """Widths and frequencies that are searched."""
    add, two = problems.add, {"loss": "squared", "random_state": 0}
    families = {"Gaussians": Gaussians(), "Laplacians": Laplacians(), "range": Gaussians(0.5, 5.0)}
    fixed: dict[str, Any] = {"tol": 0.02, "random_state": 0}
    for name, family in families.items():
        for solver in ("corrective", "greedy"):
            add("numbers", MKLRegressor, note=f"{name}, {solver}", kernels=family, solver=solver, **fixed)
        add("two", MKLClassifier, note=name, kernels=family, **fixed)
    gaussians, waves, wide = Gaussians(), Dirichlets(0.1, 4.0), ARDGaussians()
    add("two", MKLClassifier, note="Gaussians, logistic", kernels=gaussians, loss="logistic", **fixed)
    add("three", MKLClassifier, note="Gaussians, ovr", kernels=gaussians, multi_class="ovr", tol=0.02, **two)
    add("one: numbers", MKLRegressor, note="Dirichlets", kernels=waves, tol=0.05, random_state=0)
    add("one: two", MKLClassifier, note="Dirichlets", kernels=waves, tol=0.05, **two)
    add("pairs: numbers", MKLRegressor, note="ARDGaussians", kernels=wide, tol=0.3, random_state=0)
    add("pairs: two", MKLClassifier, note="ARDGaussians", kernels=wide, tol=0.3, **two)
    short = {"norm": 2.0, "max_iter": 20, "random_state": 0}
    add("numbers", MKLRegressor, note="Gaussians, norm 2", kernels=gaussians, **short)


def hierarchical(problems: Problems) -> None:
    own = DAG(
        {"line": (Linear(), []), "wide": (Gaussian(3.0), ["line"]), "narrow": (Gaussian(1.0), ["wide"])}
    )
    graphs = {"polynomials": PolynomialDAG(degree=2), "anova": AnovaDAG(width=2.0), "own": own}
    for name, graph in graphs.items():
        problems.add("numbers", HierarchicalMKLRegressor, note=name, kernels=graph)
        problems.add("two", HierarchicalMKLClassifier, note=name, kernels=graph, loss="squared")
    problems.add("two", HierarchicalMKLClassifier, note="hinge", kernels=AnovaDAG(), tol=0.02)
    problems.add("three", HierarchicalMKLClassifier, note="three", kernels=own, loss="logistic", tol=0.02)
    problems.add("outputs", HierarchicalMKLRegressor, note="no intercept", kernels=own, fit_intercept=False)
    problems.add("two", HierarchicalMKLClassifier, note="a list", kernels=FEW, fails=True)


def nonlinear(problems: Problems) -> None:
    fixed: dict[str, Any] = {"kernels": FEW, "n_starts": 2, "random_state": 0, "max_iter": 60}
    for degree in (1, 2, 3):
        problems.add("numbers", NonlinearMKLRegressor, degree=degree, **fixed)
    problems.add("outputs", NonlinearMKLRegressor, mu0=0.5, radius=0.3, **fixed)
    problems.add("numbers", NonlinearMKLRegressor, loss="epsilon_insensitive", fit_intercept=False, **fixed)
    for target, loss in (("two", "squared"), ("two", "hinge"), ("three", "logistic")):
        problems.add(target, NonlinearMKLClassifier, loss=loss, **fixed)
    problems.add("two", NonlinearMKLClassifier, degree=0, fails=True, **fixed)


def halves(X: Any) -> Any:
    """Two clusters, by the sign of the first column."""
    left = np.asarray(X)[:, 0] < 0.0
    return np.column_stack([left, ~left]).astype(float)


def localized(problems: Problems) -> None:
    fixed: dict[str, Any] = {"kernels": FEW, "random_state": 0}
    add = problems.add
    for gating in ("kernel-kmeans", "kmeans", "hard", halves):
        add("two", LocalizedMKLClassifier, gating=gating, **fixed)
        add("numbers", LocalizedMKLRegressor, gating=gating, norm=1.0, **fixed)
    asked = {"gates": GATES_NEW}
    add("two", LocalizedMKLClassifier, note="array", gating=GATES, ask=asked, **fixed)
    add("outputs", LocalizedMKLRegressor, note="array", gating=GATES, ask=asked, **fixed)
    add("three", LocalizedMKLClassifier, n_clusters=3, loss="logistic", temperature=1.0, **fixed)
    add("numbers", LocalizedMKLRegressor, loss="epsilon_insensitive", center=True, **fixed)
    add("stack: two", LocalizedMKLClassifier, note="stack", kernels="precomputed", random_state=0)
    add("two", LocalizedMKLClassifier, n_clusters=1, kernels=KERNELS, random_state=0)
    add("two", LocalizedMKLClassifier, note="wrong gates", gating=2.0 * GATES, fails=True, **fixed)

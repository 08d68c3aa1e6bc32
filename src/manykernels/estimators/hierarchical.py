"""Hierarchical multiple kernel learning: kernels of a graph, each only with its ancestors (Bach 2008)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples

from .._warn import warn
from ..families import DAG, AnovaDAG, PolynomialDAG
from ..grams import is_definite
from ..grams.memory import GRAPH, machine_matrices
from ..losses import Loss, Squared
from ..objectives import Risk
from ..oracles._bind_dags import bind_dag
from ..oracles.dags import Hierarchy, ListedHierarchy
from ..penalties import resolve_penalty
from ..solvers import Hierarchical, Result, Run
from ._base import BaseMKL
from ._data import read_training, take
from ._fit import _check_values
from ._progress import watched
from ._rows import merge
from ._spec import may_be_indefinite
from ._targets import check_length, sample_costs
from .mkl import MKLClassifier, MKLRegressor

Array = NDArray[np.float64]


class Graded(BaseMKL):
    """What both estimators share: the graph, and one problem over all of it."""

    hull_: list[Any]

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Learn which kernels of the graph are needed, their weights and the machine that uses them.

        Parameters
        ----------
        X : array, CSR matrix or frame of numbers
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        """
        self._graph()
        super().fit(X, y)
        return self

    def _graph(self) -> PolynomialDAG | AnovaDAG | DAG:
        given = self.kernels
        if isinstance(given, str) and given == "auto":
            return PolynomialDAG(degree=3)
        if not isinstance(given, PolynomialDAG | AnovaDAG | DAG):
            raise ValueError(
                f"kernels={given!r} was given; expected 'auto', PolynomialDAG(degree), AnovaDAG(width) or "
                "DAG(parents), which say which kernels are above which. Kernels without an order are for "
                "MKLClassifier and MKLRegressor."
            )
        return given

    def _solver(self) -> Hierarchical:
        if isinstance(self.solver, str) and self.solver == "auto":
            return Hierarchical()
        if not isinstance(self.solver, Hierarchical):
            raise ValueError(
                f"solver={self.solver!r} was given; expected 'auto', or Hierarchical(max_active=...) of "
                "manykernels.solvers."
            )
        return self.solver

    def _fit(self, X: Any, y: Any, sample_weight: Any, loss: Loss) -> None:
        solver, family = self._solver(), self._graph()
        previous = getattr(self, "hull_", None) if self.warm_start else None
        X, kind = read_training(self, X)
        y = self._read_y(y)
        n = _num_samples(X)
        check_length(n, y)
        Y, cost = self._encode(y, np.ones(n))
        kept = np.flatnonzero(cost > 0)  # classes that cost nothing are left out
        rows = merge(X, kind, Y[kept], np.ones(n), kept)
        self._kind, self._n_layers = kind, 0
        if rows.first.size == 1:
            raise ValueError(
                f"X holds 1 sample, or several that are all the same, and kernels={family!r} needs columns "
                "that vary. Give at least two samples that differ."
            )
        hierarchy = bind_dag(
            family,
            take(X, rows.first),
            normalize=self.normalize,
            sample_weight=None if np.all(rows.weight == 1.0) else rows.weight,
            feature_names=getattr(self, "feature_names_in_", None) if kind == "array" else None,
            memory_limit=self.memory_limit,
            work=GRAPH + machine_matrices(Y.shape[1], isinstance(loss, Squared)),
        )
        if isinstance(hierarchy, ListedHierarchy) and isinstance(family, DAG):
            _require_definite(hierarchy, family, take(X, rows.first))
        Y, cost = Y[rows.first], cost[rows.first]
        C = np.repeat(sample_costs(self.C, rows.weight * cost)[:, None], Y.shape[1], axis=1)
        result = self._learn(solver, hierarchy, loss, Y, C, previous)
        self.hull_ = list(result.atoms)
        self.kernel_names_ = [hierarchy.name(v) for v in result.atoms]
        self.kernels_ = [hierarchy.kernel(v) for v in result.atoms]
        self._store(X, rows, result.weights[None], [result])

    def _learn(
        self, solver: Hierarchical, hierarchy: Hierarchy, loss: Loss, Y: Array, C: Array, previous: Any
    ) -> Result:
        """Run the solver, and say so if it stopped early."""
        # the dual bound holds up to rounding errors of Σα times the intercept: those must stay small
        shift = np.median(Y, axis=0) if loss.translates and self.fit_intercept else 0.0
        with watched(self) as history:
            result = solver.run(
                hierarchy,
                Risk(loss, Y - shift, C, bool(self.fit_intercept), shift),
                resolve_penalty(1.0),  # the graph is the penalty
                Run(
                    tol=float(self.tol),
                    max_iter=int(self.max_iter),
                    rng=np.random.RandomState(0),  # which it never asks
                    start=previous if previous and all(map(hierarchy.knows, previous)) else None,
                    history=history,
                ),
            )
        if not result.converged:
            where = "over all" if result.certified else "over the kernels that it looked at, of"
            warn(
                f"{type(self).__name__} stopped after {result.n_iter} iterations at a relative duality gap "
                f"of {result.gap:.1e} {where} {hierarchy.size:.3g} kernels, and tol={self.tol:g} is not "
                f"proven for all. Raise max_iter (now {self.max_iter}), tol or the graph's beta, lower C, or "
                "raise the limits of solver=Hierarchical(max_active=..., max_visited=...).",
                ConvergenceWarning,
            )
        return replace(result, intercept=result.intercept + shift)


def _require_definite(hierarchy: ListedHierarchy, family: DAG, X: Any) -> None:
    """Kernels from outside must be finite, symmetric and positive semi-definite, as everywhere else."""
    kernels = {name: kernel for name, kernel in family.resolve(X).items() if may_be_indefinite(kernel)}
    if kernels:
        _check_values(hierarchy.whole, family.resolve(X), X)
    for name, kernel in kernels.items():
        slack = kernel.rounding(X)
        if not is_definite(
            np.asarray(kernel(X), dtype=float), slack
        ):  # as it is: a negative trace is scaled to 0
            raise ValueError(
                f"kernel {name!r} is not positive semi-definite: it has negative eigenvalues. Clip them "
                "(drop the negative part of the spectrum), or leave it out."
            )


class HierarchicalMKLClassifier(Graded, MKLClassifier):
    """Classification with kernels of a graph, each of which is used only together with its ancestors.

    Minimises P = ½ (Σ_v d_v ‖w_{D(v)}‖)² + Σ_i C_i ℓ(y_i, f(x_i)) over w and b (000 Eq. 2.14), with
    f(x) = Σ_v ⟨w_v, φ_v(x)⟩ + b and D(v) node v with all below it. The nodes with w_v ≠ 0 then contain the
    parents of each of them. The graph may have exponentially many nodes: only those that matter are
    visited, and the duality gap is that of the whole graph nevertheless.

    Parameters
    ----------
    kernels : "auto", PolynomialDAG, AnovaDAG or DAG
        "auto" is PolynomialDAG(degree=3): all products of powers of the features. Scale features first.
    loss, C, fit_intercept, tol, max_iter, class_weight, memory_limit, n_jobs, verbose :
        as for :class:`MKLClassifier`; several classes share the weights.
    solver : "auto" or Hierarchical(max_active=..., max_visited=...)
    normalize : "trace", "max" or None
        Of each power of a feature by itself; of the kernels of a DAG also "cosine" and "frobenius".
    warm_start : bool
        Start from the hull of the last fit.

    Attributes
    ----------
    hull_ : the nodes with weight; for products, tuples of (column, power).
    kernels_, kernel_names_, weights_ : of the hull only; weights_ are ζ_v, larger for kernels further up.
    certified_ : whether ``dual_gap_`` ≤ tol is proven for the whole graph; where it is not, ``dual_gap_`` is
        that of the kernels which were looked at.
    Others as for :class:`MKLClassifier`.
    """

    multi_class = "shared"
    approx = None
    center = False
    norm = 1.0
    random_state = None

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        loss: Any = "hinge",
        C: float = 1.0,
        solver: Any = "auto",
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        memory_limit: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.C = C
        self.solver = solver
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


class HierarchicalMKLRegressor(Graded, MKLRegressor):
    """Regression with kernels of a graph, each of which is used only together with its ancestors.

    Parameters and attributes are those of :class:`HierarchicalMKLClassifier`, except that ``loss`` is
    "squared", "epsilon_insensitive" or a regression loss and there are no classes.
    """

    approx = None
    center = False
    norm = 1.0
    random_state = None

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        loss: Any = "squared",
        C: float = 1.0,
        solver: Any = "auto",
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.C = C
        self.solver = solver
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

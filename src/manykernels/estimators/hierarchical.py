"""Hierarchical multiple kernel learning: kernels of a graph, each only with its ancestors (Bach 2008)."""

from __future__ import annotations

from typing import Any, Self

from ..families import DAG, AnovaDAG, PolynomialDAG
from ..solvers import Hierarchical, Solver
from ._base import BaseMKL, MKLClassification, MKLRegression


class Graded(BaseMKL):
    """What both estimators share: the graph, and one problem over all of it."""

    solver: Any
    hull_: list[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn which kernels of the graph are needed, their weights and the machine that uses them.

        Parameters
        ----------
        X : array, CSR matrix or frame of numbers
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples, one of weight 0 as none.
        covariates : array or frame of shape (n_samples, n_covariates), optional
            Enter unpenalised beside the kernels; ``predict`` then takes those of the new samples.
        """
        super().fit(X, y, sample_weight, covariates)
        return self

    def _parts(self) -> dict[str, Any]:
        return {"kernels": self._graph(), "solver": self._solver()}

    def _fills_gaps(self) -> bool:
        return False  # a graph multiplies columns as they are

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

    def _solver(self) -> Solver:
        if isinstance(self.solver, str) and self.solver == "auto":
            return Hierarchical()
        if not isinstance(self.solver, Solver) or self.solver.serves.problem != "hull":
            raise ValueError(
                f"solver={self.solver!r} was given; expected 'auto', or Hierarchical(max_active=...) of "
                "manykernels.solvers."
            )
        return self.solver


class HierarchicalMKLClassifier(Graded, MKLClassification):
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


class HierarchicalMKLRegressor(Graded, MKLRegression):
    """Regression with kernels of a graph, each of which is used only together with its ancestors.

    Parameters and attributes are those of :class:`HierarchicalMKLClassifier`, except that ``loss`` is
    "squared", "epsilon_insensitive", "pinball", "huber" or a regression loss and there are no classes.
    """

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

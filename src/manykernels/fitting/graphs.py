"""Graphs of kernels, each used only together with its ancestors: hierarchical learning (Bach 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._arguments import number_of
from .._warn import warn
from ..families import DAG
from ..grams.memory import GRAPH, machine_matrices
from ..kernels import Fitted
from ..oracles import bind_dag
from ..oracles.dags import Hierarchy, ListedHierarchy
from ..penalties import Penalty
from ..solvers import Result, Solver
from .asked import require_variation
from .bound import Bound, proof_of
from .checks import check_values, require_kernel
from .listed import finish
from .model import Model, mixture
from .options import Options
from .samples import Samples
from .spec import may_be_indefinite

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Graph(Bound):
    """A graph of kernels on the merged rows."""

    space: Hierarchy

    def resume(self, previous: Model, g: int, group: list[int], problems: int) -> Any:
        """The nodes of an earlier hull, where this graph knows them."""
        hull = previous.atoms
        return hull if hull and all(map(self.space.knows, hull)) else None

    def settle(self, options: Options, penalty: Penalty, result: Result) -> Result:
        if not result.converged:
            where = "over all" if result.certified else "over the kernels that it looked at, of"
            told = f"{options.title} stopped after {number_of(result.n_iter, 'iteration')}"
            warn(
                f"{told} at a relative duality gap of {result.gap:.1e} {where} {self.space.size:.3g} "
                f"kernels, and tol={options.tol:g} is not proven for all. Raise max_iter (now "
                f"{options.max_iter}), tol or the graph's beta, "
                "lower C, or raise the limits of solver=Hierarchical(max_active=..., max_visited=...).",
                ConvergenceWarning,
            )
        return result

    def model(self, options: Options, results: list[Result]) -> Model:
        (result,) = results
        samples: Samples = self.samples
        atoms = list(result.atoms)
        kernels: list[Fitted] = [self.space.kernel(v) for v in atoms]
        model = Model(
            options.title,
            samples.layout,
            [self.space.name(v) for v in atoms],
            kernels,
            result.weights,
            mixture(kernels, result.weights),
            samples.target,
            listed=False,
            proof=proof_of(results, float(options.tol)),
            atoms=atoms,
            extra={"hull_": atoms},
            n_jobs=options.n_jobs,
        )
        return finish(samples, model, results, result.weights[None])


def bind_graph(options: Options, samples: Samples, solver: Solver) -> Graph:
    """The graph on the merged rows, with everything checked."""
    family = options.kernels
    require_variation(samples, family, True)
    hierarchy = bind_dag(
        family,
        samples.data,
        normalize=options.normalize,
        sample_weight=samples.weight,
        feature_names=samples.layout.names,
        memory_limit=options.memory_limit,
        work=GRAPH + machine_matrices(samples.Y.shape[1], options.loss.quadratic),
    )
    if isinstance(hierarchy, ListedHierarchy) and isinstance(family, DAG):
        _require_definite(hierarchy, family, samples.data)
    return Graph(samples, solver, hierarchy, samples.Y, samples.costs, bool(options.fit_intercept))


def _require_definite(hierarchy: ListedHierarchy, family: DAG, X: Any) -> None:
    """Kernels from outside must be finite, symmetric and positive semi-definite, as everywhere else."""
    everything = family.resolve(X)
    kernels = {name: kernel for name, kernel in everything.items() if may_be_indefinite(kernel)}
    if kernels:
        check_values(hierarchy.whole, everything, X)
    for name, kernel in kernels.items():  # as they are: a negative trace is scaled to 0
        require_kernel(np.asarray(kernel(X), dtype=float), name, kernel.rounding(X))

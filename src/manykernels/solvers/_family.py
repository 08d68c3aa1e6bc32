"""Solvers that ask a family for kernels one after the other, instead of holding all of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ..grams import Gram
from ..objectives import Risk
from ..oracles import FiniteOracle, Oracle
from ..penalties import LpBall, Penalty
from .base import Kernels, Result, Run, Solver, listed


class FamilySolver(Solver):
    """Moves the weights of the kernels it has met; finite dictionaries are families too."""

    asks: ClassVar[tuple[str, ...]] = ()  # the questions that the oracle must answer

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Over a family; or over a list, with weights for all of it. `run.start` is not used."""
        if not isinstance(kernels, Gram):
            return self._over(_family(self, kernels), risk, penalty, run)
        found = self._over(FiniteOracle(listed(self, kernels)), risk, penalty, run)
        theta = np.zeros(kernels.n_kernels)
        theta[np.array(found.atoms, dtype=np.intp)] = found.weights
        return replace(found, atoms=list(range(theta.size)), weights=theta)

    @abstractmethod
    def _over(self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Minimise P to a relative gap of `run.tol` over all kernels of the family."""

    def require_sparse(self, oracle: Oracle, penalty: Penalty, name: str, finite: str) -> None:
        """An error for norms other than 1; `finite` says why this solver refuses them on a finite family."""
        if isinstance(penalty, LpBall) and penalty.sparse:
            return
        if np.isfinite(oracle.size):
            raise ValueError(
                f"solver={name!r} was given with norm={penalty!r}; it needs norm=1, {finite}: take "
                "solver='stochastic', or 'active-set' for a finite dictionary."
            )
        raise ValueError(
            f"solver={name!r} was given with norm={penalty!r} over a continuum of kernels; it needs norm=1. "
            "For p > 1, splitting a kernel into copies of itself lowers the objective without end, so that "
            "there is no optimum to find. Take norm=1; or solver='stochastic', a heuristic there; or "
            "a grid of kernels, such as gaussian_grid(low, high, n)."
        )

    def require(self, oracle: Oracle, others: str) -> None:
        """An error that names the question the family cannot answer, and the solvers that do without."""
        for question in self.asks:
            if not oracle.offers(question):
                raise ValueError(
                    f"solver={type(self).__name__}() needs a family that answers {question!r}, and "
                    f"{type(oracle).__name__} does not. {others}"
                )


def _family(solver: FamilySolver, kernels: Kernels) -> Oracle:
    """The kernels as a family, or an error for graphs, which are none."""
    if not isinstance(kernels, Oracle):
        raise ValueError(f"solver={solver!r} was given a graph of kernels; expected Hierarchical() for it.")
    return kernels

"""Solvers that ask a family for kernels one after the other, instead of holding all of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from ..grams import Gram
from ..objectives import Risk
from ..oracles import FiniteOracle, Oracle
from ..penalties import Penalty
from .base import Kernels, Result, Run, Solver, require_served


class FamilySolver(Solver):
    """Base class of solvers that ask a family for kernels and move the weights of those they have met.

    Finite lists of kernels are families too.

    Examples
    --------
    >>> from manykernels.solvers import Corrective, FamilySolver
    >>> isinstance(Corrective(), FamilySolver)
    True
    """

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Over a family; or over a list, with weights for all of it."""
        require_served(self, kernels, risk, penalty)
        if isinstance(kernels, Oracle):
            return self._over(kernels, risk, penalty, run)
        assert isinstance(kernels, Gram)
        oracle = FiniteOracle(kernels)
        oracle.rank_one = kernels.rank_one
        found = self._over(oracle, risk, penalty, run)
        theta = np.zeros(kernels.n_kernels)
        theta[np.array(found.atoms, dtype=np.intp)] = found.weights
        return replace(found, atoms=list(range(theta.size)), weights=theta)

    @abstractmethod
    def _over(self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Minimise P to a relative gap of `run.tol` over all kernels of the family."""

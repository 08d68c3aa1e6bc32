"""Solvers that ask a family for kernels one after the other, instead of holding all of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..grams import Gram
from ..objectives import Risk
from ..oracles import FiniteOracle, Oracle
from ..oracles.base import Atom
from ..penalties import LpBall, Penalty
from .base import Array, History, Result, Solver, relative


@dataclass(frozen=True)
class FamilyResult:
    """The kernels with weight, the machine that uses them, and the two values whose distance certifies it."""

    atoms: list[Atom]
    weights: Array
    alpha: Array
    intercept: Array
    primal: float
    dual: float
    certified: bool  # whether `dual` bounds the optimum of the whole family
    converged: bool
    n_iter: int
    history: History = field(repr=False)
    reason: str = ""  # why it stopped above the tolerance, where more iterations would not help
    dual_alpha: Array | None = field(default=None, repr=False)  # the point whose value `dual` is, if known

    @property
    def gap(self) -> float:
        """(P − D)/|P|; 0 where P = 0."""
        return relative(self.primal, self.dual)


class FamilySolver(Solver):
    """Moves the weights of the kernels it has met; finite dictionaries are families too."""

    asks: ClassVar[tuple[str, ...]] = ()  # the questions that the oracle must answer

    @abstractmethod
    def run_family(
        self,
        oracle: Oracle,
        risk: Risk,
        penalty: Penalty,
        *,
        tol: float,
        max_iter: int,
        rng: np.random.RandomState,
        history: History | None = None,
    ) -> FamilyResult:
        """Minimise P to a relative gap of `tol` over all kernels of the family."""

    def run(
        self,
        gram: Gram,
        risk: Risk,
        penalty: Penalty,
        *,
        tol: float,
        max_iter: int,
        rng: np.random.RandomState,
        start: tuple[Array, Array] | None = None,
        history: History | None = None,
    ) -> Result:
        """The same over the kernels of a Gram, with weights for all of them; `start` is not used."""
        found = self.run_family(
            FiniteOracle(gram), risk, penalty, tol=tol, max_iter=max_iter, rng=rng, history=history
        )
        theta = np.zeros(gram.n_kernels)
        theta[np.array(found.atoms, dtype=np.intp)] = found.weights
        return Result(
            theta,
            found.alpha,
            found.intercept,
            found.primal,
            found.dual,
            found.converged,
            found.n_iter,
            found.history,
            dual_alpha=found.dual_alpha,
            reason=found.reason,
        )

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

"""What every solver takes and gives back."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._arguments import number_of
from ..grams import Gram
from ..grams.memory import SOLVER
from ..objectives import Risk
from ..oracles.base import Atom
from ..penalties import Penalty
from .declarations import Held, Serves, why_not
from .declarations import Kernels as Kernels

Array = NDArray[np.float64]


@dataclass
class History:
    """Objective, relative gap, seconds and number of active kernels at each look at the whole family."""

    objective: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    effective: list[float] = field(default_factory=list)  # of solvers that draw kernels: draws that count
    report: Callable[[str], None] | None = None
    started: float = field(default_factory=time.perf_counter)

    def add(self, objective: float, gap: float, active: int) -> None:
        self.objective.append(objective)
        self.gap.append(gap)
        self.seconds.append(time.perf_counter() - self.started)
        self.active.append(active)
        if self.report is not None:
            kernels = number_of(active, "kernel")
            self.report(f"objective {objective:.6g}  gap {gap:.2e}  {kernels}  {self.seconds[-1]:.2f} s")

    def as_dict(self) -> dict[str, list[float] | list[int]]:
        known: dict[str, list[float] | list[int]] = {
            "objective": self.objective,
            "gap": self.gap,
            "seconds": self.seconds,
            "active": self.active,
        }
        return known | ({"effective_draws": self.effective} if self.effective else {})


@dataclass(frozen=True)
class Run:
    """What a solver is told beside its problem: how far to go, from where, and who watches."""

    tol: float
    max_iter: int
    rng: np.random.RandomState
    start: Any = None  # (θ, α) of a list of kernels, the nodes of a hull for graphs, or None
    history: History = field(default_factory=History)


class Reason(Enum):
    """Why a solver stopped above the tolerance although more iterations would not help; false for NONE."""

    NONE = ""
    STALLED = (
        "It stalled: rounding errors hide what is left, because kernels nearly depend on each other, C is "
        "very large, or values of kernels are large beside their differences. More iterations would not help"
    )
    ROUNDING = (
        "No kernel is missing: what is left are rounding errors, and more iterations do not change that"
    )
    SEARCH = (
        "No better kernel could be found: what is left is the accuracy of the search for kernels, about 1e-7 "
        "of the objective, and more iterations do not change that"
    )
    RULE = "Its solver was given a rule for stopping that proves nothing, where stop='gap' would go on"

    def __bool__(self) -> bool:
        return self is not Reason.NONE


@dataclass(frozen=True, kw_only=True)
class Result:
    """Kernels and weights, the machine that uses them, and the two values whose distance certifies it."""

    atoms: list[Atom]  # the kernels that the weights belong to; 0 … M−1 for a list, all of it
    weights: Array  # over `atoms`; with exact zeros for a list
    alpha: Array
    intercept: Array  # b (k,); of a solver with covariates the values Zγ (n, k)
    primal: float
    dual: float
    certified: bool  # whether `dual` bounds the optimum over the whole family
    converged: bool
    n_iter: int
    history: History = field(repr=False)
    reason: Reason = Reason.NONE
    dual_alpha: Array | None = field(default=None, repr=False)  # the point whose value `dual` is, if known
    K: Array | None = field(default=None, repr=False)  # K_θ, where the solver still has it
    screened: int = 0
    covariates: Array | None = None  # (c, k): coefficients of covariates, once they are told from b
    details: dict[str, Any] = field(default_factory=dict)  # of one method only, e.g. "starts"

    @property
    def gap(self) -> float:
        """(P − D)/|P|; 0 where P = 0."""
        return relative(self.primal, self.dual)


def relative(primal: float, dual: float) -> float:
    """The relative duality gap (P − D)/|P|, with rounding errors below zero taken as zero."""
    return max(primal - dual, 0.0) / abs(primal) if primal != 0.0 else 0.0


class Solver(BaseEstimator, ABC):
    """Moves θ. Parameters are options of the method; the problem comes with `run`.

    A solver of one's own, in a file of one's own, defines `run`, and says in `serves` what it can solve: by
    default every penalty and loss over a list of kernels.
    """

    serves: Serves = Serves()
    matrices: ClassVar[int] = SOLVER  # of n × n that it needs beside the kernels, at most
    uses_constants = False  # whether a constant kernel does what an intercept does not

    @abstractmethod
    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Minimise P to a relative gap of `run.tol` over all kernels, from `run.start` where it can."""


def require_served(solver: Solver, kernels: Kernels, risk: Risk, penalty: Penalty) -> None:
    """An error where the solver does not serve this problem, which names those that do."""
    held = Held.of(kernels)
    if why_not(solver, held, risk, penalty) is not None:
        from .serving import refusal  # which knows all solvers

        raise ValueError(refusal(solver, [held], risk, penalty))


def listed(solver: Solver, kernels: Kernels, risk: Risk, penalty: Penalty) -> Gram:
    """The kernels as a list, or an error where they are none, or the solver does not serve the problem."""
    require_served(solver, kernels, risk, penalty)
    assert isinstance(kernels, Gram)
    return kernels


def whole_number(part: Solver, option: str, least: int) -> int:
    """The option as a whole number, at least `least`, or an error."""
    value = getattr(part, option)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{option}={value!r} was given to {type(part).__name__}; expected a whole number, at least "
            f"{least}."
        )
    return int(value)

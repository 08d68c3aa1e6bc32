"""What every solver takes and gives back."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..grams import Gram
from ..grams.memory import SOLVER
from ..objectives import Risk
from ..penalties import Penalty

Array = NDArray[np.float64]


@dataclass
class History:
    """Objective, relative gap, seconds and number of active kernels at each look at the whole family."""

    objective: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    report: Callable[[str], None] | None = None
    started: float = field(default_factory=time.perf_counter)

    def add(self, objective: float, gap: float, active: int) -> None:
        self.objective.append(objective)
        self.gap.append(gap)
        self.seconds.append(time.perf_counter() - self.started)
        self.active.append(active)
        if self.report is not None:
            self.report(
                f"objective {objective:.6g}  gap {gap:.2e}  {active} kernels  {self.seconds[-1]:.2f} s"
            )

    def as_dict(self) -> dict[str, list[float] | list[int]]:
        return {"objective": self.objective, "gap": self.gap, "seconds": self.seconds, "active": self.active}


@dataclass(frozen=True)
class Result:
    """θ over the whole family, the machine that uses it, and the two values whose distance certifies it."""

    theta: Array
    alpha: Array
    intercept: Array
    primal: float
    dual: float
    converged: bool
    n_iter: int
    history: History
    screened: int = 0
    K: Array | None = field(default=None, repr=False)  # K_θ, where the solver still has it
    dual_alpha: Array | None = field(default=None, repr=False)  # the point whose value `dual` is, if known
    reason: str = ""  # why it stopped above the tolerance, where more iterations would not help

    @property
    def gap(self) -> float:
        """(P − D)/|P|; 0 where P = 0."""
        return relative(self.primal, self.dual)


STALLED = (
    "It stalled: rounding errors hide what is left, because kernels nearly depend on each other, C is very "
    "large, or values of kernels are large beside their differences. More iterations would not help"
)


def relative(primal: float, dual: float) -> float:
    """The relative duality gap (P − D)/|P|, with rounding errors below zero taken as zero."""
    return max(primal - dual, 0.0) / abs(primal) if primal != 0.0 else 0.0


class Solver(BaseEstimator, ABC):
    """Moves θ. Parameters are options of the method; the problem comes with `run`."""

    matrices = SOLVER  # of n × n that it needs beside the kernels, at most

    @abstractmethod
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
        """Minimise P to a relative gap of `tol` over all kernels of `gram`, from `start` = (θ, α)."""


def whole_number(part: BaseEstimator, option: str, least: int) -> int:
    """The option as a whole number, at least `least`, or an error."""
    value = getattr(part, option)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{option}={value!r} was given to {type(part).__name__}; expected a whole number, at least "
            f"{least}."
        )
    return int(value)

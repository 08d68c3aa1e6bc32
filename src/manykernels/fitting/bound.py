"""Kernels bound to samples: the problem for a solver, and the model from its result.

However kernels are held (`listed.py`, `asked.py`, `featured.py`), a problem is solved in the same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._arguments import number_of
from .._fast.stopping import told_to_stop
from .._warn import warn
from ..objectives import CrammerSinger, Risk
from ..penalties import Penalty
from ..solvers import Result, Run
from ..solvers.base import relative
from .covariates import Unpenalised
from .model import Model, Proof, mixture
from .options import Options
from .progress import watch
from .targets import Target, sample_costs

Array = NDArray[np.float64]
Group = list[int]


@dataclass(frozen=True)
class Bound(ABC):
    """The kernels on the samples, and the problem that they pose."""

    samples: Any
    solver: Any
    space: Any  # what the solver is given: a Gram, an oracle or a graph
    Y: Array  # (n, outputs)
    costs: Array  # (n,): what an error costs at C = 1
    intercept: bool  # whether the solver fits one

    @property
    def free(self) -> Unpenalised | None:
        """The constant and the covariates, if the solver has to fit covariates."""
        return getattr(self.samples, "free", None)

    def risk(self, options: Options, Y: Array) -> Risk:
        """Return the risk of these targets (n, k)."""
        Z = None if self.free is None else self.free.basis
        return risk_of(options, self.samples.target, Y, self.costs, self.intercept, Z)

    def told_apart(self, risk: Risk, result: Result) -> Result:
        """Undo the shift of the targets in a result, and compute coefficients of covariates."""
        offsets = result.intercept + risk.shift
        if self.free is None:
            return replace(result, intercept=offsets)
        intercept, coefficients = self.free.coefficients(np.broadcast_to(offsets, risk.shape))
        return replace(result, intercept=intercept, covariates=coefficients)

    def tolerance(self, tol: float) -> float:
        """Return the gap that the solver has to reach for one of `tol`."""
        return tol

    def restated(self, risk: Risk, penalty: Penalty, tol: float, result: Result) -> Result:
        """Return the result with P and D of the kernels themselves, if the solver saw rounded ones."""
        return result

    steps: ClassVar[bool] = False  # whether there is no gap, and progress is a number of steps

    def penalty(self, given: Penalty) -> Penalty:
        """Return the penalty of this problem, from that of one set of kernels."""
        return given

    def resume(self, previous: Model, g: int, group: Group, problems: int) -> Any:
        """Turn an earlier model into a starting point of problem g; None where it has another shape."""
        return None

    def start(self, start: Any, penalty: Penalty, Y: Array) -> Any:
        """Make a starting point that the penalty allows."""
        return start

    @abstractmethod
    def settle(self, options: Options, penalty: Penalty, result: Result) -> Result:
        """Check the result of a solver, and warn if it did not reach the tolerance."""

    @abstractmethod
    def model(self, options: Options, results: list[Result]) -> Model:
        """Make the model from the results (one, or one for each output)."""


def solve(options: Options, bound: Bound, group: Group, start: Any = None) -> Result:
    """Solve one problem: the outputs of `group`, which share weights."""
    penalty, Y = bound.penalty(options.penalty), np.ascontiguousarray(bound.Y[:, group])
    risk = bound.risk(options, Y)
    with watch(options.title, options.verbose, float(options.tol), bound.steps) as history:
        rng, begin = options.rng, bound.start(start, penalty, Y)
        tol = float(options.tol)
        run = Run(bound.tolerance(tol), int(options.max_iter), rng, begin, history)
        result = bound.restated(risk, penalty, tol, bound.solver.run(bound.space, risk, penalty, run))
    return bound.settle(options, penalty, bound.told_apart(risk, result))


def risk_of(
    options: Options, target: Target, Y: Array, costs: Array, intercept: bool, Z: Array | None = None
) -> Risk:
    """Return the risk of these targets (n, k) at C times the costs (n,).

    Z is a basis of constant and covariates, where there are covariates.
    """
    if options.joint and Y.shape[1] > 1:
        return _joint_risk(Y, sample_costs(options.C, costs), intercept, Z)
    found: Risk = target.risk(options.loss, Y, costs, sample_costs(options.C, costs), intercept, Z)
    return found


def _joint_risk(Y: Array, C: Array, intercept: bool, Z: Array | None) -> CrammerSinger:
    """All classes in one hinge; Y holds +1 for the class of a sample and −1 for the others."""
    if Z is not None:
        raise ValueError(
            f"covariates ({Z.shape[1]} columns with the constant) were given with "
            "multi_class='crammer-singer', which has no unpenalised part beside its intercepts; expected "
            "none. Take multi_class='shared' or 'ovr' with covariates."
        )
    return CrammerSinger(Y.argmax(axis=1), C, Y.shape[1], intercept)


def gap_of(results: list[Result]) -> float:
    """The relative duality gap of several problems together."""
    return float(relative(sum(r.primal for r in results), sum(r.dual for r in results)))


def proof_of(results: list[Result], tol: float) -> Proof:
    """The proof of several problems together."""
    primal, dual = (float(sum(getattr(r, side) for r in results)) for side in ("primal", "dual"))
    histories = [result.history.as_dict() for result in results]
    return Proof(
        primal,
        dual,
        all(result.certified for result in results),
        max(1, *(result.n_iter for result in results)),
        histories if len(results) > 1 else histories[0],
        tol,
        np.array([(r.primal, r.dual) for r in results]),
    )


def weighed(options: Options, target: Target, kernels: list[Any], theta: Array) -> dict[str, Any]:
    """Return the fields of a model for weights θ (problems, M): `weights`, `kernel` and `rows`.

    Outputs may be many, so that their kernels are made when somebody asks for them.
    """
    if options.own_weights and target.task == "regression" and not target.flat:
        return {"weights": theta, "kernel": None, "rows": "output"}
    if len(theta) == 1:
        return {"weights": theta[0], "kernel": mixture(kernels, theta[0])}
    return {"weights": theta, "kernel": [mixture(kernels, weights) for weights in theta], "rows": "class"}


def weights_of(previous: Model, g: int, problems: int, M: int) -> Array | None:
    """θ of problem g in an earlier model, where that has the same shape."""
    if previous.atoms is not None or previous.weights.size != problems * M:
        return None
    return np.array(np.reshape(previous.weights, (problems, M))[g])


def more_work(options: Options) -> str:
    """Return what a solver lacked that stopped above its tolerance: time, if it was told to stop."""
    if told_to_stop():
        return "It was told to stop (by time_budget, or Ctrl-C): give it more time, or raise tol"
    return f"Raise max_iter (now {options.max_iter}) or tol"


def warn_stopped(options: Options, n_iter: int, gap: float, reason: str = "") -> None:
    """Warn that a fit stopped above its tolerance; `reason` says why more iterations would not help."""
    advice = f"{reason}: raise tol" if reason else more_work(options)
    warn(
        f"{options.title} stopped after {number_of(n_iter, 'iteration')} at a relative duality gap "
        f"of {gap:.1e}, above tol={options.tol:g}. {advice}; scaling the features, normalize='trace' or "
        "a smaller C make the problem easier.",
        ConvergenceWarning,
    )

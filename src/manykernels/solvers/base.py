"""The base class of solvers, and the records that a solver takes and returns."""

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
    """Progress of a solver at each look at the whole family.

    Attributes
    ----------
    objective : list of float
        Primal values.
    gap : list of float
        Relative gaps.
    seconds : list of float
        Seconds since the start.
    active : list of int
        Numbers of kernels with weight.
    effective : list of float
        Draws that count, of solvers that draw kernels.
    report : callable or None
        Function that is given a line of text at each look.
    started : float
        The clock at the start.

    Examples
    --------
    >>> from manykernels.solvers import History
    >>> history = History()
    >>> history.add(objective=2.0, gap=0.5, active=3)
    >>> history.as_dict()["gap"]
    [0.5]
    """

    objective: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    effective: list[float] = field(default_factory=list)  # of solvers that draw kernels: draws that count
    report: Callable[[str], None] | None = None
    started: float = field(default_factory=time.perf_counter)

    def add(self, objective: float, gap: float, active: int) -> None:
        """Append one look, and report it.

        Parameters
        ----------
        objective : float
            Primal value.
        gap : float
            Relative gap.
        active : int
            Number of kernels with weight.
        """
        self.objective.append(objective)
        self.gap.append(gap)
        self.seconds.append(time.perf_counter() - self.started)
        self.active.append(active)
        if self.report is not None:
            kernels = number_of(active, "kernel")
            self.report(f"objective {objective:.6g}  gap {gap:.2e}  {kernels}  {self.seconds[-1]:.2f} s")

    def as_dict(self) -> dict[str, list[float] | list[int]]:
        """Return the lists by name, as estimators offer them in ``history_``.

        Returns
        -------
        dict of str to list
            The lists "objective", "gap", "seconds", "active" and, where kernels are drawn, "effective_draws".
        """
        known: dict[str, list[float] | list[int]] = {
            "objective": self.objective,
            "gap": self.gap,
            "seconds": self.seconds,
            "active": self.active,
        }
        return known | ({"effective_draws": self.effective} if self.effective else {})


@dataclass(frozen=True)
class Run:
    """The orders of a solver beside its problem: how far to go, from where, and who watches.

    Attributes
    ----------
    tol : float
        The relative gap that is small enough.
    max_iter : int
        Largest number of iterations.
    rng : RandomState
        Source of random numbers.
    start : object
        The (θ, α) of a list of kernels to start from, the nodes of a hull for graphs, or None.
    history : History
        The record that the solver writes to.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.solvers import Run
    >>> Run(tol=1e-3, max_iter=100, rng=np.random.RandomState(0)).start is None
    True
    """

    tol: float
    max_iter: int
    rng: np.random.RandomState
    start: Any = None  # (θ, α) of a list of kernels, the nodes of a hull for graphs, or None
    history: History = field(default_factory=History)


class Reason(Enum):
    """The reason why a solver stopped above the tolerance, if more iterations would not help; false for NONE.

    Attributes
    ----------
    NONE : Reason
        The fit reached its tolerance, or ended with its iterations.
    STALLED : Reason
        Rounding errors hide the rest of the gap.
    ROUNDING : Reason
        No kernel is missing, and the rest of the gap is rounding.
    SEARCH : Reason
        The search for better kernels has reached its accuracy.
    RULE : Reason
        The solver was given a stopping rule that proves nothing.
    SINGLE : Reason
        Kernels are stored in single precision, whose rounding leaves the rest of the gap.

    Examples
    --------
    >>> from manykernels.solvers import Reason
    >>> bool(Reason.NONE), bool(Reason.STALLED)
    (False, True)
    """

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
    RULE = "The stopping rule of its solver proves no gap; stop='gap' would go on until tol is reached"
    SINGLE = "Kernels are stored in float32, whose rounding leaves this gap (storage='float64' would not)"

    def __bool__(self) -> bool:
        return self is not Reason.NONE


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a solver: kernels, weights, the machine that uses them, and two bounds that certify it.

    Attributes
    ----------
    atoms : list of Atom
        The kernels that the weights belong to; 0 … M−1 for a list, all of it.
    weights : ndarray of shape (n_atoms,)
        Weights of these kernels, with exact zeros for a list.
    alpha : ndarray of shape (n_samples, n_outputs)
        Dual variables.
    intercept : ndarray of shape (n_outputs,) or (n_samples, n_outputs)
        The intercepts b; of a solver with covariates the values Zγ.
    primal : float
        The primal value P, an upper bound on the optimum.
    dual : float
        The dual value D.
    certified : bool
        Whether `dual` bounds the optimum over the whole family.
    converged : bool
        Whether the gap is at most the tolerance.
    n_iter : int
        Number of iterations.
    history : History
        Progress at each look at the whole family.
    reason : Reason
        Why the solver stopped early, where it did.
    dual_alpha : ndarray or None
        The point whose value `dual` is, if it is known.
    K : ndarray of shape (n_samples, n_samples) or None
        The combined kernel K_θ, where the solver still has it.
    screened : int
        Number of kernels that were proved to have no weight and left out.
    covariates : ndarray of shape (n_covariates, n_outputs) or None
        Coefficients of covariates, once they are told from b.
    details : dict of str to object
        Results of one method only, such as "starts".

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> from manykernels.losses import Squared
    >>> from manykernels.objectives import Separable
    >>> from manykernels.penalties import Simplex
    >>> from manykernels.solvers import ActiveSet, Run
    >>> y = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> gram = StackGram(np.stack([y @ y.T, np.eye(4)]))
    >>> risk = Separable(Squared(), y, np.ones((4, 1)), fit_intercept=True)
    >>> result = ActiveSet().run(gram, risk, Simplex(), Run(1e-6, 100, np.random.RandomState(0)))
    >>> result.weights.round(3).tolist(), bool(result.primal - result.dual <= 1e-6 * result.primal)
    ([1.0, 0.0], True)
    """

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
        """The relative gap (P − D)/|P|; 0 where P = 0."""
        return relative(self.primal, self.dual)


def relative(primal: float, dual: float) -> float:
    """The relative duality gap (P − D)/|P|, with rounding errors below zero taken as zero."""
    return max(primal - dual, 0.0) / abs(primal) if primal != 0.0 else 0.0


class Solver(BaseEstimator, ABC):
    """Base class of solvers: how the weights θ move.

    Parameters of a solver are options of its method; the problem comes with `run`. A solver of your own, in a
    file of your own, defines `run`, and says in `serves` what it can solve: by default every penalty and loss
    over a list of kernels.

    Attributes
    ----------
    serves : Serves
        The penalties, losses and kernels that the solver can serve.
    matrices : int
        Number of n × n matrices that the solver needs beside the kernels, at most.
    uses_constants : bool
        Whether a constant kernel can do something that an intercept cannot.

    Examples
    --------
    Estimators take a solver by name or as an object:

    >>> from sklearn.datasets import make_classification
    >>> from manykernels import MKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> from manykernels.solvers import Solver, resolve_solver
    >>> solver = resolve_solver("active-set")
    >>> isinstance(solver, Solver)
    True
    >>> X, y = make_classification(60, random_state=0)
    >>> model = MKLClassifier(gaussian_grid(1.0, 20.0, 3), solver=solver).fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    serves: Serves = Serves()
    matrices: ClassVar[int] = SOLVER
    uses_constants = False

    @abstractmethod
    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Minimise P to a relative gap of `run.tol` over all kernels, from `run.start` where it can.

        Parameters
        ----------
        kernels : Gram, Oracle or Hierarchy
            The kernels on the training samples: a list, a family or a graph.
        risk : Risk
            The data fit.
        penalty : Penalty
            The penalty on the weights.
        run : Run
            Tolerance, iterations, random numbers and start.

        Returns
        -------
        Result
            The kernels, their weights, and the bounds.

        Examples
        --------
        The first kernel K = yyᵀ is the target itself. It takes all of the weight, and with C = 1 the optimum
        of four squared errors is ½yᵀ(K + I)⁻¹y = 0.4:

        >>> import numpy as np
        >>> from manykernels.grams import StackGram
        >>> from manykernels.losses import Squared
        >>> from manykernels.objectives import Separable
        >>> from manykernels.penalties import Simplex
        >>> from manykernels.solvers import ActiveSet, Run
        >>> y = np.array([[1.0], [-1.0], [1.0], [-1.0]])
        >>> gram = StackGram(np.stack([y @ y.T, np.eye(4)]))
        >>> risk = Separable(Squared(), y, np.ones((4, 1)), fit_intercept=True)
        >>> result = ActiveSet().run(gram, risk, Simplex(), Run(1e-6, 100, np.random.RandomState(0)))
        >>> result.weights.round(3).tolist(), round(result.primal, 3), round(result.dual, 3)
        ([1.0, 0.0], 0.4, 0.4)
        """


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

"""The problems that a solver can solve, as data: which kernels, penalties and losses.

A solver says it in a record of its class (`Serves`), and `why_not` compares that with a problem. Everything
that chooses a solver or refuses one asks here (`serving.py`), so that what a refusal recommends works.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from ..grams import FactorGram, Gram
from ..losses import Criterion
from ..objectives import Risk
from ..oracles import Oracle
from ..oracles.dags import Hierarchy
from ..penalties import ElasticNet, L2Ball, LpBall, Penalty

Kind = Literal["list", "features", "family", "rows", "graph"]
Kernels = Gram | Oracle | Hierarchy  # a list (be it of matrices or of features), a family, or a graph
QUESTIONS = ("atoms", "best", "sample", "sample_uniform")


@dataclass(frozen=True)
class Serves:
    """The problems that a solver can solve; without arguments every penalty and loss over a list of kernels.

    Attributes
    ----------
    kernels : frozenset of str
        Forms in which kernels may be held: "list", "features", "family", "rows", "graph".
    penalties : frozenset of str or None
        Names of penalties (`penalty_kind`); None is every penalty.
    sparse : bool
        Whether penalties under which weights are exactly zero are served.
    quadratic : bool
        Whether errors must be squared.
    smooth : bool
        Whether the loss must be smooth.
    separable : bool
        Whether the risk must be a sum of losses.
    factored : bool
        Whether every kernel must have explicit features, held as such.
    asks : tuple of str
        Questions that a family must answer.
    needs : str
        The penalties in words, for a message: "norm=1".
    because : str
        Why not others, for a message.
    hint : str
        Other ways for those whom the solver refuses, for a message.
    problem : {"sum", "power", "hull", "gates"}
        The combination of kernels that is learned.

    Examples
    --------
    >>> from manykernels.solvers import Corrective, Serves
    >>> Serves().kernels == frozenset({"list"})
    True
    >>> Corrective().serves.needs
    'norm=1'
    """

    kernels: frozenset[Kind] = frozenset({"list"})
    penalties: frozenset[str] | None = None  # names of `penalty_kind`; None is every penalty
    sparse: bool = True  # whether penalties under which weights are exactly zero are served
    quadratic: bool = False  # whether errors must be squared
    smooth: bool = False  # whether the loss must be smooth
    separable: bool = False  # whether the risk must be a sum of losses
    factored: bool = False  # whether every kernel must have explicit features, held as such
    asks: tuple[str, ...] = ()  # what a family must answer
    needs: str = ""  # which penalties these are, for a message: "norm=1"
    because: str = ""  # why not others
    hint: str = ""  # what else there is for those whom it refuses
    problem: Literal["sum", "power", "hull", "gates"] = "sum"  # of kernels: what is learned


@dataclass(frozen=True)
class DataFit:
    """The facts about a risk that are known before there are samples, or after."""

    quadratic: bool  # a sum of squared errors
    source: Criterion | Risk
    smooth: bool = False
    separable: bool = True  # a sum of losses

    @classmethod
    def of(cls, given: Criterion | Risk | DataFit) -> DataFit:
        """Return the facts about a loss or a risk."""
        if isinstance(given, DataFit):
            return given
        if isinstance(given, Risk):
            smooth = bool(np.isfinite(given.smoothness))
            return cls(given.least_squares() is not None, given, smooth, given.separable)
        return cls(given.quadratic, given, given.smooth, given.separable)

    @property
    def label(self) -> str:
        """The loss for a message: "loss=Hinge()". Only made when needed, since it takes as long as a step."""
        return self.source.label if isinstance(self.source, Risk) else f"loss={self.source!r}"


@dataclass(frozen=True)
class Held:
    """The form in which kernels are held, which decides who can serve them.

    Attributes
    ----------
    kind : {"list", "features", "family", "rows", "graph"}
        The form of the kernels.
    answers : frozenset of str
        The questions that a family answers.
    size : float
        Number of kernels.
    who : str
        Name of the family, for messages.
    factored : bool
        Whether the kernels of a list are held as explicit features.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> from manykernels.solvers import Held
    >>> Held.of(StackGram(np.ones((2, 3, 3)))).kind
    'list'
    """

    kind: Kind
    answers: frozenset[str] = frozenset()  # the questions that a family answers
    size: float = 0.0  # how many kernels a family has
    who: str = "this family"
    factored: bool = False  # whether the kernels of a list are held as explicit features

    @classmethod
    def of(cls, kernels: Kernels) -> Held:
        """Describe how kernels are held.

        Parameters
        ----------
        kernels : Gram, Oracle or Hierarchy
            The kernels on the training samples.

        Returns
        -------
        Held
            The description.
        """
        if isinstance(kernels, Gram):
            factored = isinstance(kernels, FactorGram) and kernels.dense
            kind: Kind = "features" if kernels.explicit else "list"
            return cls(kind, size=float(kernels.n_kernels), factored=factored)
        if isinstance(kernels, Hierarchy):
            return cls("graph", size=float(kernels.size))
        answers = frozenset(question for question in QUESTIONS if kernels.offers(question))
        kind = "rows" if kernels.streamed else "family"
        return cls(kind, answers, float(kernels.size), type(kernels).__name__)


class Declares(Protocol):
    """A solver, as far as it is asked here."""

    @property
    def serves(self) -> Serves: ...


def penalty_kind(penalty: Penalty) -> str:
    """A name for what weights may be: what declarations and refusals call penalties."""
    if isinstance(penalty, L2Ball):
        try:
            around = bool(np.any(np.asarray(penalty.mu0, dtype=float) != 0.0))
        except (TypeError, ValueError):  # no numbers, which the ball says itself where it is used
            around = True
        return "ball around mu0" if around else "sum" if penalty.fixed else "ball"
    if isinstance(penalty, LpBall):
        return "norm 1" if penalty.sparse else "sum" if penalty.fixed else "norm p"
    return "elastic net" if isinstance(penalty, ElasticNet) else type(penalty).__name__


def why_not(solver: Declares, held: Held, risk: Criterion | Risk | DataFit, penalty: Penalty) -> str | None:
    """Say why a solver cannot solve such a problem.

    Parameters
    ----------
    solver : Solver
        The solver.
    held : Held
        How the kernels are held.
    risk : Criterion or Risk
        The data fit.
    penalty : Penalty
        The penalty on the weights.

    Returns
    -------
    str or None
        The end of a sentence; None if the solver can.

    Examples
    --------
    >>> from manykernels.losses import Hinge
    >>> from manykernels.penalties import LpBall
    >>> from manykernels.solvers import ActiveSet, Blockwise, Held, why_not
    >>> why_not(ActiveSet(), Held("list"), Hinge(), LpBall(2.0)) is None
    True
    >>> why_not(Blockwise(), Held("list"), Hinge(), LpBall(2.0))
    "is for loss='squared', and ... was given"
    """
    serves, fit = solver.serves, DataFit.of(risk)
    missing = [question for question in serves.asks if question not in held.answers]
    if held.kind not in serves.kernels:
        return _wrong_kernels(serves, held)
    if serves.factored and not held.factored:
        return "needs kernels with explicit features, such as Linear() on columns, held as a dense array"
    if serves.smooth and not fit.smooth:
        return f"is for smooth losses, and {fit.label} was given"
    if serves.separable and not fit.separable:
        return f"is for sums of losses, and {fit.label} was given"
    if held.kind == "rows" and "atoms" in missing and np.isfinite(held.size):
        return f"gives weight to every kernel, and there are {held.size:.3g}, more than can be listed"
    if held.kind == "family" and missing:
        return f"needs a family that answers {missing[0]!r}, and {held.who} does not"
    if serves.quadratic and not fit.quadratic:
        return f"is for loss='squared', and {fit.label} was given"
    kinds, which = serves.penalties, penalty_kind(penalty)
    if (kinds is not None and which not in kinds) or (penalty.sparse and not serves.sparse):
        why = f", {serves.because}" if serves.because else ""
        if held.kind in ("family", "rows") and not np.isfinite(held.size):
            why = (
                "; for p > 1, splitting a kernel of a continuum into copies of itself lowers the objective "
                "without end, so that there is no optimum to find"
            )
        given = f"{float(penalty.p):g}" if isinstance(penalty, LpBall) else repr(penalty)  # as users write it
        return f"needs {serves.needs}{why}, and norm={given} was given"
    return None


def _wrong_kernels(serves: Serves, held: Held) -> str:
    if held.kind == "rows":
        return "needs kernels as matrices or in memory, and these samples are read in blocks of rows"
    if held.kind == "features":
        return "needs matrices of n × n, and these kernels stay in features"
    if serves.kernels == {"rows"}:
        return (
            "learns products of columns from blocks of rows: give kernels=Products(...) and approx='features'"
        )
    if serves.kernels == {"graph"}:
        return "needs a graph of kernels: take HierarchicalMKLClassifier or HierarchicalMKLRegressor"
    if held.kind == "graph":
        return "was given a graph of kernels, which Hierarchical() is for"
    if "atoms" in held.answers:
        return "needs a list of kernels, and was given a family: list it, oracle.gram(list(oracle.atoms()))"
    count = f"{held.size:.3g}" if np.isfinite(held.size) else "infinitely many"
    return f"needs a list of kernels, and there are {count}, more than can be listed"

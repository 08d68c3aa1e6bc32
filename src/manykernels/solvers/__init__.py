"""How the weights move."""

from ._family import FamilySolver
from ._stopping import stoppable
from .active_set import ActiveSet
from .alternating import Alternating
from .base import History, Reason, Result, Run, Solver
from .blockwise import Blockwise
from .corrective import Corrective
from .greedy import Greedy
from .hierarchical import Hierarchical
from .nonlinear import ProjectedGradient
from .stochastic import Stochastic

__all__ = [
    "ActiveSet",
    "Alternating",
    "Blockwise",
    "Corrective",
    "FamilySolver",
    "Greedy",
    "Hierarchical",
    "History",
    "Reason",
    "Result",
    "Run",
    "Solver",
    "Stochastic",
    "resolve_solver",
    "stoppable",
]

_NAMES: dict[str, type[Solver]] = {
    "auto": ActiveSet,
    "active-set": ActiveSet,
    "alternating": Alternating,
    "blockwise": Blockwise,
    "corrective": Corrective,
    "greedy": Greedy,
    "stochastic": Stochastic,
}

_OTHERS = (Hierarchical, ProjectedGradient)  # of other problems, which have estimators of their own


def resolve_solver(solver: object) -> Solver:
    """The solver that a name stands for, or the object itself."""
    if isinstance(solver, Solver) and not isinstance(solver, _OTHERS):
        return solver
    if isinstance(solver, str) and solver in _NAMES:
        return _NAMES[solver]()
    known = ", ".join(repr(name) for name in _NAMES)
    raise ValueError(
        f"solver={solver!r} was given; expected one of {known}, or an object of "
        "manykernels.solvers such as ActiveSet()."
    )

"""How the weights move."""

from ._family import FamilyResult, FamilySolver
from ._stopping import stoppable
from .active_set import ActiveSet
from .alternating import Alternating
from .base import History, Result, Solver
from .blockwise import Blockwise
from .corrective import Corrective
from .greedy import Greedy
from .hierarchical import Hierarchical
from .stochastic import Stochastic

__all__ = [
    "ActiveSet",
    "Alternating",
    "Blockwise",
    "Corrective",
    "FamilyResult",
    "FamilySolver",
    "Greedy",
    "Hierarchical",
    "History",
    "Result",
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


def resolve_solver(solver: object) -> Solver:
    """The solver that a name stands for, or the object itself."""
    if isinstance(solver, Solver):
        return solver
    if isinstance(solver, str) and solver in _NAMES:
        return _NAMES[solver]()
    known = ", ".join(repr(name) for name in _NAMES)
    raise ValueError(
        f"solver={solver!r} was given; expected one of {known}, or an object of "
        "manykernels.solvers such as ActiveSet()."
    )

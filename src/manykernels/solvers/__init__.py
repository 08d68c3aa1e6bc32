"""How the weights move."""

from ._family import FamilySolver
from ._stopping import stoppable
from .active_set import ActiveSet
from .alternating import Alternating
from .base import History, Reason, Result, Run, Solver
from .blockwise import Blockwise
from .corrective import Corrective
from .declarations import Held, Serves, why_not
from .greedy import Greedy
from .group_descent import GroupDescent
from .hierarchical import Hierarchical
from .serving import refusal, resolve_solver, serving
from .stochastic import Stochastic

__all__ = [
    "ActiveSet",
    "Alternating",
    "Blockwise",
    "Corrective",
    "FamilySolver",
    "Greedy",
    "GroupDescent",
    "Hierarchical",
    "Held",
    "History",
    "Reason",
    "Result",
    "Run",
    "Serves",
    "Solver",
    "Stochastic",
    "refusal",
    "resolve_solver",
    "serving",
    "stoppable",
    "why_not",
]

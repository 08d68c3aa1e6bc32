"""Solvers: they move the weights."""

from ._family import FamilySolver
from ._stopping import stoppable
from .active_set import ActiveSet
from .alternating import Alternating
from .base import History, Reason, Result, Run, Solver
from .blockwise import Blockwise
from .corrective import Corrective
from .declarations import Held, Serves, why_not
from .dual_ascent import DualAscent
from .greedy import Greedy
from .group_descent import GroupDescent
from .hessian_mkl import HessianMKL
from .hierarchical import Hierarchical
from .serving import refusal, resolve_solver, serving
from .silp import SILP
from .simple_mkl import SimpleMKL
from .stochastic import Stochastic

__all__ = [
    "ActiveSet",
    "Alternating",
    "Blockwise",
    "Corrective",
    "DualAscent",
    "FamilySolver",
    "Greedy",
    "GroupDescent",
    "HessianMKL",
    "Hierarchical",
    "Held",
    "History",
    "Reason",
    "Result",
    "Run",
    "SILP",
    "Serves",
    "SimpleMKL",
    "Solver",
    "Stochastic",
    "refusal",
    "resolve_solver",
    "serving",
    "stoppable",
    "why_not",
]

"""How the weights move."""

from ._base import History, Result, Solver
from .active_set import ActiveSet

__all__ = ["ActiveSet", "History", "Result", "Solver"]

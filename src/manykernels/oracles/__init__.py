"""What may be asked of a whole family of kernels on the training samples."""

from ._base import Best, Draws, Oracle
from .finite import FiniteOracle

__all__ = ["Best", "Draws", "FiniteOracle", "Oracle"]

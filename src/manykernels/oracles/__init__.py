"""What may be asked of a whole family of kernels on the training samples."""

from .base import Best, Draws, Oracle
from .build import build_oracle
from .finite import FiniteOracle
from .products import ProductsOracle

__all__ = ["Best", "Draws", "FiniteOracle", "Oracle", "ProductsOracle", "build_oracle"]

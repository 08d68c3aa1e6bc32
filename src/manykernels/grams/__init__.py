"""How kernels are evaluated on data: stored, recomputed in blocks, or held as factors."""

from ._base import Gram
from .factors import FactorGram
from .stack import StackGram

__all__ = ["FactorGram", "Gram", "StackGram"]

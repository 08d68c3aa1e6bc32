"""How kernels are evaluated on data: stored, recomputed in blocks, or held as factors."""

from ._base import Gram
from ._checks import is_definite
from ._memory import parse_memory
from .blocks import BlockGram
from .build import build_from_stack, build_gram
from .factors import FactorGram
from .selected import SelectedGram
from .stack import StackGram

__all__ = [
    "BlockGram",
    "FactorGram",
    "Gram",
    "SelectedGram",
    "StackGram",
    "build_from_stack",
    "build_gram",
    "is_definite",
    "parse_memory",
]

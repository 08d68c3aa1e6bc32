"""Kernels on data: stored, recomputed in blocks, or held as factors."""

from .base import Gram
from .blocks import BlockGram
from .build import build_from_stack, build_gram
from .checks import is_definite
from .factors import FactorGram
from .memory import parse_memory
from .rounded import RoundedGram
from .selected import SelectedGram
from .stack import StackGram

__all__ = [
    "BlockGram",
    "FactorGram",
    "Gram",
    "RoundedGram",
    "SelectedGram",
    "StackGram",
    "build_from_stack",
    "build_gram",
    "is_definite",
    "parse_memory",
]

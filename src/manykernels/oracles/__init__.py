"""Oracles: questions about a whole family of kernels on the training samples."""

from ._bind_dags import bind_dag
from .base import Atom, Best, Draws, LowRank, Oracle
from .build import build_oracle
from .finite import FiniteOracle
from .products import ProductsOracle

__all__ = [
    "Atom",
    "Best",
    "Draws",
    "FiniteOracle",
    "LowRank",
    "Oracle",
    "ProductsOracle",
    "bind_dag",
    "build_oracle",
]

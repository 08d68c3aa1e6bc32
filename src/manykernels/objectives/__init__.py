"""Objectives: the risk of one-stage learning, and the alignment of two-stage learning."""

from .alignment import Alignment
from .base import Box, Fit, LeastSquares, Risk
from .cox import Cox
from .crammer_singer import CrammerSinger
from .separable import Separable

__all__ = ["Alignment", "Box", "Cox", "CrammerSinger", "Fit", "LeastSquares", "Risk", "Separable"]

"""What is optimised: the risk of one-stage learning, or the alignment of two-stage learning."""

from .alignment import Alignment
from .base import Box, Fit, LeastSquares, Risk
from .separable import Separable

__all__ = ["Alignment", "Box", "Fit", "LeastSquares", "Risk", "Separable"]

"""What is optimised: the risk of one-stage learning, or the alignment of two-stage learning."""

from .alignment import Alignment
from .base import Box, Fit, LeastSquares, Risk
from .cox import Cox
from .separable import Separable

__all__ = ["Alignment", "Box", "Cox", "Fit", "LeastSquares", "Risk", "Separable"]

"""What is optimised: the risk of one-stage learning, or the alignment of two-stage learning."""

from .alignment import Alignment
from .risk import Fit, Risk

__all__ = ["Alignment", "Fit", "Risk"]

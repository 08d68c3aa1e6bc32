"""What is optimised: the regularised risk."""

from .risk import Fit, Risk

__all__ = ["Fit", "Risk"]

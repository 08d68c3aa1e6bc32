"""The scikit-learn face."""

from .align_mkl import AlignMKLClassifier, AlignMKLRegressor
from .aligner import KernelAligner
from .mkl import MKLClassifier, MKLRegressor

__all__ = ["AlignMKLClassifier", "AlignMKLRegressor", "KernelAligner", "MKLClassifier", "MKLRegressor"]

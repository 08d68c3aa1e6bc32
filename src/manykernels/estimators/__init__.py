"""The scikit-learn face."""

from .align_mkl import AlignMKLClassifier, AlignMKLRegressor
from .aligner import KernelAligner
from .mkl import MKLClassifier, MKLRegressor
from .ufo import UFOMKLClassifier, UFOMKLRegressor

__all__ = [
    "AlignMKLClassifier",
    "AlignMKLRegressor",
    "KernelAligner",
    "MKLClassifier",
    "MKLRegressor",
    "UFOMKLClassifier",
    "UFOMKLRegressor",
]

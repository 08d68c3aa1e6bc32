"""The scikit-learn face."""

from .align_mkl import AlignMKLClassifier, AlignMKLRegressor
from .aligner import KernelAligner
from .hierarchical import HierarchicalMKLClassifier, HierarchicalMKLRegressor
from .localized import LocalizedMKLClassifier, LocalizedMKLRegressor
from .mkl import MKLClassifier, MKLRegressor
from .mkl_cv import MKLClassifierCV, MKLRegressorCV
from .nonlinear import NonlinearMKLClassifier, NonlinearMKLRegressor
from .ufo import UFOMKLClassifier, UFOMKLRegressor

__all__ = [
    "AlignMKLClassifier",
    "AlignMKLRegressor",
    "HierarchicalMKLClassifier",
    "HierarchicalMKLRegressor",
    "KernelAligner",
    "LocalizedMKLClassifier",
    "LocalizedMKLRegressor",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "NonlinearMKLClassifier",
    "NonlinearMKLRegressor",
    "UFOMKLClassifier",
    "UFOMKLRegressor",
]

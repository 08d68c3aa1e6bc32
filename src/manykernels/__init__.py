"""Multiple kernel learning: learn the kernel, with a certificate of how close to optimal it is."""

from .estimators import (
    AlignMKLClassifier,
    AlignMKLRegressor,
    HierarchicalMKLClassifier,
    HierarchicalMKLRegressor,
    KernelAligner,
    LocalizedMKLClassifier,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    NonlinearMKLClassifier,
    NonlinearMKLRegressor,
    UFOMKLClassifier,
    UFOMKLRegressor,
)
from .persistence import load, save

__version__ = "0.1.0"

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
    "load",
    "save",
    "__version__",
]

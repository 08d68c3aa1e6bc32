"""Multiple kernel learning: learn the kernel, with a certificate of how close to optimal it is."""

from typing import TYPE_CHECKING

from ._lazy import attach

if TYPE_CHECKING:
    from .comparison import compare
    from .estimators import (
        AlignMKLClassifier,
        AlignMKLRegressor,
        HierarchicalMKLClassifier,
        HierarchicalMKLRegressor,
        KernelAligner,
        KernelEnsembleClassifier,
        KernelEnsembleRegressor,
        LocalizedMKLClassifier,
        LocalizedMKLRegressor,
        MKLClassifier,
        MKLClassifierCV,
        MKLRegressor,
        MKLRegressorCV,
        MKLSurvival,
        MKLSurvivalCV,
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
    "KernelEnsembleClassifier",
    "KernelEnsembleRegressor",
    "LocalizedMKLClassifier",
    "LocalizedMKLRegressor",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "MKLSurvival",
    "MKLSurvivalCV",
    "NonlinearMKLClassifier",
    "NonlinearMKLRegressor",
    "UFOMKLClassifier",
    "UFOMKLRegressor",
    "compare",
    "load",
    "save",
    "__version__",
]

# Names and parts are imported when they are first used: `import manykernels` alone takes milliseconds.
_HOMES = {".comparison": ["compare"], ".persistence": ["load", "save"]}  # all other names are estimators
_HOMES[".estimators"] = sorted({*__all__} - {"__version__", "compare", "load", "save"})
if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, _HOMES)

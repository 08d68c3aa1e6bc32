"""Multiple kernel learning: learn the kernel, with a certificate of how close to optimal it is."""

from typing import TYPE_CHECKING, Any

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
_HOME = {
    "compare": "comparison",
    "load": "persistence",
    "save": "persistence",
}  # all other names are estimators


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.util import find_spec

    if name in __all__:
        found = getattr(import_module(f"{__name__}.{_HOME.get(name, 'estimators')}"), name)
        globals()[name] = found
        return found
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from pkgutil import iter_modules

    parts = [part.name for part in iter_modules(__path__) if not part.name.startswith("_")]
    return sorted({*globals(), *__all__, *parts})

"""Checkpoints of long inspections, by what they depend on (`selection/checkpoint.py`)."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from ..estimators import model_of
from ..selection.checkpoint import FREE, print_of

_MEASURED = ("behind", "error")  # of finalists, who are known without them


def estimator_prints(estimator: Any, told: dict[str, Any]) -> dict[str, str]:
    """Hash an estimator, its choice (not the seconds it took), and other things by name."""
    params = {k: v for k, v in estimator.get_params(deep=False).items() if k not in FREE}
    chosen = getattr(estimator, "best_params_", None)
    finalists = {k: v for k, v in getattr(estimator, "finalists_", {}).items() if k not in _MEASURED}
    own = print_of("estimator", (type(estimator).__name__, params, chosen, finalists))
    return {"estimator": own} | {name: print_of(name, value) for name, value in told.items()}


def kernel_prints(kernels: Any, told: dict[str, Any]) -> dict[str, str]:
    """Hash kernels as an estimator takes them, or those of a fitted one, and other things by name."""
    tested = kernels
    if isinstance(kernels, BaseEstimator) and hasattr(kernels, "fit"):
        model = model_of(kernels)[0]
        tested = type(kernels).__name__, model.names, model.kernels
    return {"kernels": print_of("kernels", tested)} | {
        name: print_of(name, value) for name, value in told.items()
    }

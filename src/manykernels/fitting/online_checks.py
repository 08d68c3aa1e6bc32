"""Checks of kernels for online learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._warn import warn
from ..families import Family
from ..kernels import Fitted, Kernel

_SLACK = 1e-9  # of k(x, x) above 1 that is rounding


def check_family(kernels: Any) -> None:
    """Every kernel is looked at in every step, so they must be listed."""
    if isinstance(kernels, Family) and not kernels.listed:
        raise ValueError(
            f"kernels={kernels!r} stands for more kernels than can be listed, and UFO-MKL looks at every "
            "kernel in every step. Give a list such as gaussian_grid(low, high, n), or use MKLClassifier or "
            "MKLRegressor."
        )


def check_approx(approx: Any, kind: str) -> None:
    """Features are computed from samples."""
    if approx is not None and kind == "stack":
        raise ValueError(
            f"approx={approx!r} was given with a stack of matrices, and explicit features are computed from "
            "samples. Give the samples and kernels that read them, or set approx=None."
        )


def check_finite(kernels: dict[str, Kernel], X: Any) -> None:
    """Raise an error if a kernel is not finite."""
    for name, kernel in kernels.items():
        if not np.all(np.isfinite(kernel.diag(X))):
            raise ValueError(
                f"kernel {name!r} is not finite on the data: it overflows, or returns NaN. Scale the "
                "features (StandardScaler), or change its parameters."
            )


def check_definite(indefinite: Any, names: list[str]) -> None:
    """‖θ‖² < 0 has no square root, and no θ."""
    for j in indefinite[indefinite < len(names)]:
        raise ValueError(
            f"kernel {names[j]!r} is not positive semi-definite: the squared norm of what it learned is "
            "negative. Leave it out, or make it a kernel (add a multiple of the identity to a matrix)."
        )


def warn_few(F: int) -> None:
    """q = 2 log F is below 2, where ‖·‖_q² is no longer what Theorem 2 needs."""
    if F < 3:
        warn(
            f"{F} kernel{'s were' if F > 1 else ' was'} given: q = 2 log F needs F ≥ 3, so q = 2 is taken, "
            "the plain sum of squares.",
            UserWarning,
        )


def warn_sizes(kernels: list[Fitted], normalize: str | None, X: Any) -> None:
    """Theorem 2 needs ‖φ^j(x)‖ ≤ 1; say so where that does not hold."""
    if normalize in ("max", "cosine"):
        return
    sizes = np.array([kernel.diag(X).max() for kernel in kernels])
    if sizes.max() > 1.0 + _SLACK:
        j = int(sizes.argmax())
        warn(
            f"kernel {kernels[j].name!r} has k(x, x) up to {sizes[j]:.3g}: the bound of UFO-MKL, and "
            "kernels on an equal footing, need k(x, x) ≤ 1. Give normalize='max'.",
            UserWarning,
        )


def warn_empty(alpha: float, t: int) -> None:
    """All kernels are below the threshold."""
    warn(
        f"alpha={alpha!r} leaves no kernel any weight after {t} steps: every sample gets the same "
        "prediction. Lower alpha, or normalise the kernels (normalize='max').",
        UserWarning,
    )

"""Dictionaries made of the single features: SimpleMKL's protocol, and one rank-one kernel per column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..kernels import Gaussian, Kernel, Linear, OnColumns, Polynomial
from ..kernels.data import Data
from .base import Family, names_of, numbers, unique

SIMPLEMKL_WIDTHS = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)


def per_feature(widths: Sequence[float] = SIMPLEMKL_WIDTHS, degrees: Sequence[int] = (1, 2, 3)) -> PerFeature:
    """Gaussian and polynomial kernels on all features and on each one (002 §5.1): 13(d + 1) by default.

    ``widths`` are the σ of exp(−‖x − x'‖²/2σ²), which is Gaussian(width=σ√2); ``degrees`` those of
    (1 + ⟨x, x'⟩)^degree.
    """
    return PerFeature(widths, degrees)


def rank_one() -> RankOne:
    """One linear kernel per column of X, dense or sparse; never stored as n × n."""
    return RankOne()


class PerFeature(Family):
    """See :func:`per_feature`."""

    def __init__(
        self, widths: Sequence[float] = SIMPLEMKL_WIDTHS, degrees: Sequence[int] = (1, 2, 3)
    ) -> None:
        self.widths = widths
        self.degrees = degrees

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        numbers(X, feature_names)
        base: list[Kernel] = [Gaussian(float(sigma * np.sqrt(2.0))) for sigma in self.widths]
        base += [Polynomial(degree) for degree in self.degrees]
        single = [kernel.as_member(role="column") for kernel in base]
        labels = [f"Gaussian(σ={sigma:.6g})" for sigma in self.widths]
        labels = unique([*labels, *(f"Polynomial(degree={degree})" for degree in self.degrees)])
        features = unique(["all", *names_of(X, feature_names)])
        kernels: dict[str, Kernel] = {}
        for j, feature in enumerate(features):
            for label, kernel, one in zip(labels, base, single, strict=True):
                kernels[f"{feature}: {label}"] = kernel if j == 0 else OnColumns(one, j - 1)
        return kernels


class RankOne(Family):
    """See :func:`rank_one`."""

    factors: ClassVar[bool] = True

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        numbers(X, feature_names)
        linear = Linear().as_member(role="column")
        return {name: OnColumns(linear, j) for j, name in enumerate(unique(names_of(X, feature_names)))}

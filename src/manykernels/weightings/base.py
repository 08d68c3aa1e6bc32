"""What every weighting offers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..objectives import Alignment

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Weighted:
    """Weights of the kernels, Σ|θ| = 1, and what is known about them."""

    theta: Array
    bound: float | None = None  # no weights that the method allows have a larger alignment
    residual: float | None = None  # of the optimality conditions, where the weights solve a problem
    unique: bool = True  # whether the problem has no other solution


class Weighting(BaseEstimator):
    """How two-stage learning weighs kernels by their alignment with the target."""

    pairs = 0  # matrices of kernels × kernels that it holds at once
    squares = 0  # matrices of samples × samples that it holds at once
    classes = False  # whether targets must be classes
    sums = True  # whether sums over the samples are all it needs, so that explicit features serve it

    @abstractmethod
    def weigh(self, alignment: Alignment) -> Weighted:
        """The weights for these kernels and this target."""
        raise NotImplementedError(f"{type(self).__name__} must define weigh(alignment).")


def shares(theta: Array) -> Array:
    """θ / Σ|θ|. Alignment does not depend on the scale of the weights; kernels of trace n then mix to one."""
    total = float(np.abs(theta).sum())
    if not total > 0.0:
        raise ValueError(
            "no kernel is aligned with the target at all: every ⟨K_c, K_Y⟩ is zero, so alignment has nothing "
            "to weigh kernels by. Check that y belongs to these samples, or take weighting='uniform'."
        )
    return theta / total

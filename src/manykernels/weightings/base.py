"""What every weighting offers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..objectives import Alignment
from ..oracles import Oracle
from ..oracles.base import Atom

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Weighted:
    """Weights of the kernels, Σ|θ| = 1, and what is known about them."""

    theta: Array
    bound: float | None = None  # no weights that the method allows have a larger alignment
    residual: float | None = None  # of the optimality conditions, where the weights solve a problem
    unique: bool = True  # whether the problem has no other solution


@dataclass
class Chosen:
    """Kernels of a family in the order they were found, their weights, and the alignment after each step."""

    atoms: list[Atom] = field(default_factory=list)
    theta: Array = field(default_factory=lambda: np.empty(0))
    path: list[float] = field(default_factory=list)
    certified: bool = True  # whether every kernel was proven to be the best of the family at its step


class Weighting(BaseEstimator):
    """How two-stage learning weighs kernels by their alignment with the target."""

    pairs = 0  # matrices of kernels × kernels that it holds at once
    squares = 0  # matrices of samples × samples that it holds at once
    classes = False  # whether targets must be classes
    sums = True  # whether sums over the samples are all it needs, so that explicit features serve it
    asks = ""  # what it asks of the oracle of a family that cannot be listed; empty if it needs a list

    @abstractmethod
    def weigh(self, alignment: Alignment) -> Weighted:
        """The weights for these kernels and this target."""
        raise NotImplementedError(f"{type(self).__name__} must define weigh(alignment).")

    def choose(self, oracle: Oracle, Y: Array) -> Chosen:
        """Kernels of a family and weights (sum 1) for centred targets Y, where it can do without a list."""
        raise NotImplementedError(f"{type(self).__name__} needs a list of kernels.")


def shares(theta: Array) -> Array:
    """θ / Σ|θ|. Alignment does not depend on the scale of the weights; kernels of trace n then mix to one."""
    total = float(np.abs(theta).sum())
    if not total > 0.0:
        raise ValueError(
            "no kernel is aligned with the target at all: every ⟨K_c, K_Y⟩ is zero, so alignment has nothing "
            "to weigh kernels by. Check that y belongs to these samples, or take weighting='uniform'."
        )
    return theta / total

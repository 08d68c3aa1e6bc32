"""The options of a fit, resolved once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..approx import Approximation
from ..families import Family
from ..losses import Criterion, Squared
from ..penalties import Penalty, Simplex
from .gates import Gating
from .spec import leaves, may_be_indefinite

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """The parameters of an estimator as parts; `replace` changes some and leaves the rest."""

    title: str  # the name of the estimator, for messages and bars
    kernels: Any = "auto"  # as given: they are resolved on samples
    loss: Criterion = Squared()  # noqa: RUF009 (it has no state)
    penalty: Penalty = Simplex()  # noqa: RUF009
    solver: Any = "auto"  # as given: "auto" depends on how the kernels are bound
    C: float = 1.0
    own_weights: bool = False  # whether every output learns weights of its own
    joint: bool = False  # whether several classes are one hinge (Crammer and Singer), not one for each
    approx: Approximation | None = None
    center: bool = False
    normalize: Any = "trace"
    fit_intercept: bool = True
    tol: float = 1e-3
    max_iter: int = 1000
    memory_limit: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    counts_classes: bool = False  # whether errors cost by class
    gating: Gating | None = None  # of localized learning
    covariates: Any = None  # columns of X that enter unpenalised, as given
    storage: str = "float64"  # of kernel matrices that are kept

    def replace(self, **changes: Any) -> Self:
        """Return the options with these changes."""
        return replace(self, **changes)

    @cached_property
    def listed(self) -> bool:
        """True if the kernels are named one by one, or as a family too large for that."""
        return not isinstance(self.kernels, Family) or self.kernels.listed

    @cached_property
    def foreign(self) -> bool:
        """True if kernels come from outside, so that nothing guarantees that they are kernels."""
        return may_be_indefinite(self.kernels)

    @cached_property
    def supervised(self) -> bool:
        """True if some kernels are made from the targets too."""
        return any(isinstance(part, Family) and part.supervised for part in leaves(self.kernels))

    @property
    def rng(self) -> np.random.RandomState:
        found: np.random.RandomState = check_random_state(self.random_state)
        return found

    def groups(self, outputs: int) -> list[list[int]]:
        """The outputs that share weights."""
        separate = self.own_weights and outputs > 1
        return [[k] for k in range(outputs)] if separate else [list(range(outputs))]

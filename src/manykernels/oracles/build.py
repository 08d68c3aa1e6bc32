"""From a family and data to the oracle that solvers ask."""

from __future__ import annotations

from typing import Any

from ..families import Parametric, Products, resolve_kernels
from ..grams import build_gram
from ..grams.memory import SOLVER
from ..kernels.data import Data
from ._bind import bind_products
from ._bind_continuous import bind_continuous
from .base import Array, Oracle
from .finite import FiniteOracle


def build_oracle(
    family: Any,
    X: Data,
    *,
    normalize: str | None,
    sample_weight: Array | None = None,
    feature_names: Any = None,
    memory_limit: int | float | str | None = None,
    norm: Any = 1.0,
    work: int = SOLVER,
) -> Oracle:
    """A family bound to training data X, with base kernels normalised there; weights mean repetition.

    `norm` is that of the weights θ, on which some scales depend. `work` is how many matrices of n × n the
    solver needs beside the kernels. What lists its kernels is a finite family.
    """
    if isinstance(family, Products):
        return bind_products(
            family,
            X,
            normalize=normalize,
            sample_weight=sample_weight,
            feature_names=feature_names,
            memory_limit=memory_limit,
            norm=norm,
            work=work,
        )
    if isinstance(family, Parametric):
        return bind_continuous(
            family,
            X,
            normalize=normalize,
            sample_weight=sample_weight,
            feature_names=feature_names,
            memory_limit=memory_limit,
            work=work,
        )
    kernels = resolve_kernels(family, X, sample_weight, feature_names)
    gram, fitted = build_gram(
        kernels,
        X,
        center=False,
        normalize=normalize,
        sample_weight=sample_weight,
        memory_limit=memory_limit,
        factors=getattr(family, "factors", False),
        work=work,
    )
    return FiniteOracle(gram, fitted)

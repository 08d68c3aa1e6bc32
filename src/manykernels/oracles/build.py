"""From a family and data to the oracle that solvers ask."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from ..families import AnovaDAG, Family, Parametric, PolynomialDAG, Products, resolve_kernels
from ..grams import build_gram
from ..grams.memory import SOLVER
from ..kernels.data import Data
from ._bind import bind_products
from ._bind_continuous import bind_continuous
from ._bind_dags import bind_dag
from .base import Array, Oracle
from .finite import FiniteOracle
from .listing import GraphOracle


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
    solver needs beside the kernels. A family that defines ``bind`` says itself how that is done, those of
    this package are registered below, and what lists its kernels is a finite family.
    """
    how = {
        "normalize": normalize,
        "sample_weight": sample_weight,
        "feature_names": feature_names,
        "memory_limit": memory_limit,
        "norm": norm,
        "work": work,
    }
    own = isinstance(family, Family) and type(family).bind is not Family.bind
    oracle = family.bind(X, **how) if own else bind_family(family, X, **how)
    if not isinstance(oracle, Oracle):
        raise TypeError(
            f"{type(family).__name__}.bind returned {oracle!r}; expected an Oracle of manykernels.oracles."
        )
    return oracle


@singledispatch
def bind_family(family: Any, X: Data, **how: Any) -> Oracle:
    """A family as this package binds it: a list, unless its class is registered."""
    if isinstance(family, Family) and not family.listed:
        family.bind(X, **how)  # says that it must be defined
    options = {name: how[name] for name in ("normalize", "sample_weight", "memory_limit", "work")}
    kernels = resolve_kernels(family, X, how["sample_weight"], how["feature_names"])
    gram, fitted = build_gram(kernels, X, center=False, factors=getattr(family, "factors", False), **options)
    gram.names = list(kernels)
    return FiniteOracle(gram, fitted)


bind_family.register(Products, bind_products)
bind_family.register(Parametric, bind_continuous)


@bind_family.register(PolynomialDAG)
@bind_family.register(AnovaDAG)
def _bind_nodes(family: Any, X: Data, *, norm: Any, **how: Any) -> Oracle:
    return GraphOracle(bind_dag(family, X, **how))

"""From a family and data to the oracle that solvers ask."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..families import AnovaDAG, Family, Parametric, PolynomialDAG, Products, resolve_kernels
from ..families.base import list_by
from ..grams import build_gram
from ..grams.base import take
from ..grams.memory import SOLVER
from ..kernels import Kernel
from ..kernels.data import Data, n_samples
from ._bind import bind_products
from ._bind_continuous import bind_continuous
from ._bind_dags import bind_dag
from .base import Array, Oracle
from .finite import FiniteOracle
from .listing import GraphOracle

_BESIDE = 2000  # kernels of a family that are listed one by one beside others
_LOOKED_AT = 16  # samples on which a constant shows


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
    groups: NDArray[np.intp] | None = None,
) -> Oracle:
    """Bind a family to training data, with base kernels normalised there.

    A family that defines ``bind`` says itself how that is done; those of this package are registered in this
    module; a family that lists its kernels is a finite one.

    Parameters
    ----------
    family : Family
        The family.
    X : array-like of shape (n_samples, n_features)
        Training samples.
    normalize : {"trace", "max", "frobenius", "cosine"} or None
        How base kernels are scaled.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights of the samples, which count as repetitions.
    feature_names : sequence of str or None, default=None
        Names of the columns.
    memory_limit : int, float, str or None, default=None
        Memory that may be used, as for ``grams.parse_memory``.
    norm : float or Penalty, default=1.0
        The norm of the weights θ, on which some scales depend.
    work : int, default=5
        Number of matrices of n × n that the solver needs beside the kernels.
    groups : ndarray of int of shape (n_features,) or None, default=None
        Numbers of columns of which at most one is not zero, the indicators of a category, which `Products`
        does not multiply; −1 stands for others.

    Returns
    -------
    Oracle
        The family on these samples.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import Products
    >>> from manykernels.oracles import build_oracle
    >>> X = np.random.RandomState(0).randn(20, 4)
    >>> build_oracle(Products(degree=2), X, normalize="trace").size
    15.0
    """
    how = {
        "normalize": normalize,
        "sample_weight": sample_weight,
        "feature_names": feature_names,
        "memory_limit": memory_limit,
        "norm": norm,
        "work": work,
    }
    if groups is not None and isinstance(family, Products):
        how["groups"] = groups
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


@list_by
def list_beside_others(
    family: Family, X: Data, sample_weight: Any, feature_names: Any
) -> dict[str, Kernel] | None:
    """The kernels of a family that can be enumerated, as they are before they are normalised.

    The constant among products is left out: beside others an intercept does its work.
    """
    if getattr(family, "scale", False):
        return None  # its kernels are of columns that are prepared first
    how: dict[str, Any] = {"sample_weight": sample_weight, "feature_names": feature_names}
    oracle = build_oracle(family, X, normalize="trace", **how)
    if not oracle.offers("atoms") or not oracle.size <= _BESIDE:
        return None
    found = {oracle.name(z): oracle.kernel(z).kernel for z in oracle.atoms()}
    few = take(X, np.arange(min(n_samples(X), _LOOKED_AT)))
    return {name: kernel for name, kernel in found.items() if np.ptp(kernel(few)) > 0.0}


bind_family.register(Products, bind_products)
bind_family.register(Parametric, bind_continuous)


@bind_family.register(PolynomialDAG)
@bind_family.register(AnovaDAG)
def _bind_nodes(family: Any, X: Data, *, norm: Any, **how: Any) -> Oracle:
    return GraphOracle(bind_dag(family, X, **how))

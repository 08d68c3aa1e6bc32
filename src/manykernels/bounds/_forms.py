"""u_σ,z = Σ_k σ_kᵀ K_z σ_k over all kernels z of a list or of a family, for signs σ (n, k).

A list is looked at as a whole. A family is asked through its oracle: at norm 1 only the largest form counts,
which `best` finds and bounds, so that there may be 10⁹ kernels, or a continuum of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..families import Family, Products
from ..grams import Gram
from ..kernels.data import Data
from ..oracles import Oracle, build_oracle
from ._common import Array

_LISTED = 20_000  # kernels of a family that can only be listed


class Forms(ABC):
    """Quadratic forms of kernels as they were given, on n samples."""

    n: int
    size: float  # how many kernels; inf for a continuum

    @abstractmethod
    def norms(self, sigma: Array, r: float) -> tuple[Array, Array]:
        """(draws,) twice: ‖u_σ‖_r as found, and a bound on it, for signs (n, draws, k)."""

    @abstractmethod
    def diagonal(self, r: float) -> Array | None:
        """(n,): ‖(K_z(x_i, x_i))_z‖_r for each sample; None if unknown."""


class ListForms(Forms):
    """All kernels of a Gram."""

    def __init__(self, gram: Gram) -> None:
        self.gram, self.n, self.size = gram, gram.n, gram.n_kernels

    def norms(self, sigma: Array, r: float) -> tuple[Array, Array]:
        n, draws, k = sigma.shape
        U = self.gram.quad(sigma.reshape(n, draws * k)).reshape(-1, draws, k).sum(axis=2)
        found = norms_of(U, r)
        return found, found

    def diagonal(self, r: float) -> Array:
        return norms_of(self.gram.diagonals(), r)


class FamilyForms(Forms):
    """A family that is asked."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle, self.n, self.size = oracle, oracle.n, oracle.size

    def norms(self, sigma: Array, r: float) -> tuple[Array, Array]:
        found, upper = np.empty((2, sigma.shape[1]))
        for b in range(sigma.shape[1]):
            A = np.ascontiguousarray(sigma[:, b])
            if r == np.inf:
                best = self.oracle.best(A, 1)
                found[b], upper[b] = max(float(best.values[0]), 0.0), best.upper
            else:
                found[b] = upper[b] = self._total(A, r)
        return found, np.maximum(upper, found)

    def _total(self, A: Array, r: float) -> float:
        total = self.oracle.total(A, r)
        if total is None:
            raise ValueError(
                f"a norm above 1 was given with a family of {self.size:.3g} kernels, whose quadratic forms "
                "cannot all be summed. Give norm=1, where the largest of them is all that counts, a lower "
                "degree or fewer base kernels."
            )
        return float(total)

    def diagonal(self, r: float) -> Array | None:
        return self.oracle.diagonal(r)


def norms_of(U: Array, r: float) -> Array:
    """‖u‖_r of every column of U ≥ 0, without overflow."""
    largest = U.max(axis=0)
    if r == np.inf:
        return np.asarray(largest)
    scaled = np.divide(U, largest, out=np.zeros_like(U), where=largest > 0)
    return np.asarray(largest * np.sum(scaled**r, axis=0) ** (1.0 / r))


def is_asked(spec: Any) -> bool:
    """Tell whether these kernels are a family that is not listed."""
    return isinstance(spec, Family) and not spec.listed


def ask(
    family: Family, X: Data, norm: float, *, cosine: bool = False, names: Any = None, memory_limit: Any = None
) -> Oracle:
    """Bind the kernels of a family as they are, neither centred nor normalised, or their cosines."""
    if getattr(family, "scale", False) and isinstance(family, Products):
        raise ValueError(
            f"{family!r} prepares the columns of X by what these samples tell; expected columns as they are. "
            "Give Products(scale=False), with columns that were scaled by constants known in advance."
        )
    normalize = "cosine" if cosine else None
    how: dict[str, Any] = {"feature_names": names, "memory_limit": memory_limit, "norm": norm}
    oracle = build_oracle(family, X, normalize=normalize, **how)
    if norm > 1 and not np.isfinite(oracle.size):
        raise ValueError(
            f"norm={norm!r} was given with {family!r}, a continuum of kernels; expected norm=1. Above it a "
            "kernel that is split into copies counts more and more, and the class has no bound. "
            "margin_bound and regression_bound take norm=1 for functions learned with any norm."
        )
    return oracle


def forms_of(oracle: Oracle, family: Family) -> Forms:
    """The forms of a family that was bound; of all its kernels, where it cannot be asked for the best one."""
    if oracle.offers("best"):
        return FamilyForms(oracle)
    if oracle.offers("atoms") and oracle.size <= _LISTED:
        return ListForms(oracle.gram(list(oracle.atoms())))
    raise ValueError(
        f"{family!r} stands for {oracle.size:.3g} kernels and cannot be asked for the largest quadratic form "
        f"of them, nor are they few enough ({_LISTED}) to be listed: its complexity cannot be bounded. Lower "
        "the degree, or use fewer base kernels."
    )

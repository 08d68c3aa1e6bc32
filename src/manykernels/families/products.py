"""All products of base kernels up to a degree: mostly too many to list, and asked for the best ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from .._arguments import is_number
from ..kernels import Kernel, Linear, OnColumns
from ..kernels.data import Array, Columns, Data
from ._resolve import resolve_kernels
from .base import Family, names_of, numbers, short_list, unique
from .features import RankOne


class Products(Family):
    """K_z = s_z Π_{j∈z} K_j for every multiset z of at most ``degree`` base kernels (000 §4.2.1).

    ``base`` is "features" (each column of X is a kernel of rank one, and products are monomials), or what
    ``kernels`` may be elsewhere: a list or dict of kernels, or a family. ``rho`` holds ρ_0 … ρ_degree, a
    prior on the degree: kernels of degree d are divided by ρ_d². ``interactions_only`` leaves out powers.

    A prior on single products (000 §4.2.1, footnote 2) is a function: ``rho(names)`` gives ρ_z > 0 for the
    names of the factors of a product, such as ("x0", "x0", "x3"), and () for the constant. All products are
    then asked for theirs once, so that there may be up to 2 million of them. Draws by the gradient do not
    know ρ_z: they are made without, and weighted by importance, whose variance grows with the range of ρ.
    ``base_rho`` is a prior on base kernels, numbers in their order or a dict by name (1 for others): each
    factor j divides a product by ρ_j², with every solver and any number of products.

    000 lists the factors in order, so that a multiset counts c_z = d!/Π_j m_j! times.
    ``multiplicity="paper"`` solves that problem with every product held once, which scales it by
    c_z^{(p−1)/p} for the norm p;
    ``"distinct"`` counts each product once. They agree at p = 1. ``atom_scale="rms"`` scales every product to
    a mean diagonal of 1 on the training data, so that none is preferred for its size.

    ``scale`` prepares the columns of a raw table first, as "auto" does: standardised, heavy tails as normal
    scores, categories as indicators.

    Base kernels are normalised as the estimator asks, products are not. Solvers ask this family through an
    oracle (``oracles/products.py``); where a solver or a norm needs a list, all products are listed, up to
    100,000 of them (20,000 with ``solver="auto"``, beyond which they are drawn at random).

    Products of columns are learned from blocks of rows where matrices of n × n do not fit into memory, where
    X is a Dask collection, or with ``approx="features"``: see "Many rows" on the page about products.
    """

    listed: ClassVar[bool] = False
    needs_variation: ClassVar[bool] = True
    instead: ClassVar[str] = (
        "With a lower degree, fewer columns (SelectKBest) or fewer base kernels the products can be listed, "
        "and every solver and norm serves them."
    )

    def __init__(
        self,
        base: Any = "features",
        degree: int = 2,
        rho: Sequence[float] | Callable[[tuple[str, ...]], float] | None = None,
        interactions_only: bool = False,
        multiplicity: str = "distinct",
        atom_scale: str | None = None,
        scale: bool = False,
        base_rho: Any = None,
    ) -> None:
        self.base = base
        self.degree = degree
        self.rho = rho
        self.interactions_only = interactions_only
        self.multiplicity = multiplicity
        self.atom_scale = atom_scale
        self.scale = scale
        self.base_rho = base_rho

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        found = short_list(self, X, sample_weight, feature_names)
        if found is not None:
            return found
        raise ValueError(
            "Products stands for more kernels than can be listed beside others, and this needs a list. Give "
            "it alone, as kernels=Products(...), to MKLClassifier or MKLRegressor (solver='auto'); to join "
            "kernels to it, put them into its base."
        )

    @property
    def from_rows(self) -> bool:  # type: ignore[override]
        """Whether it multiplies columns, as far as that shows without samples."""
        base = self.base
        if isinstance(base, RankOne) or (isinstance(base, str) and base == "features"):
            return True
        kernels = list(base.values()) if isinstance(base, dict) else base
        many = isinstance(kernels, list | tuple) and len(kernels) > 0
        return many and all(isinstance(k, Kernel) and single_column(k) is not None for k in kernels)

    def options(self) -> tuple[int, Array]:
        """The degree D and ρ_0 … ρ_D, with every option checked."""
        degree = self.degree
        if not is_number(degree) or degree != degree // 1 or degree < 1:
            raise ValueError(f"degree={degree!r} was given to Products; expected a whole number, at least 1.")
        for option, allowed in (("multiplicity", ("distinct", "paper")), ("atom_scale", (None, "rms"))):
            if getattr(self, option) not in allowed:
                raise ValueError(
                    f"{option}={getattr(self, option)!r} was given to Products; expected "
                    f"{allowed[0]!r} or {allowed[1]!r}."
                )
        D = int(degree)
        if self.rho is None or callable(self.rho):
            return D, np.ones(D + 1)
        rho = _positive(self.rho)
        if rho is None or rho.shape != (D + 1,):
            raise ValueError(
                f"rho={self.rho!r} was given to Products(degree={D}); expected {D + 1} positive numbers, one "
                f"for each degree from 0 to {D}, or a function of the names of the factors of a product."
            )
        return D, rho

    def prior(self, names: Sequence[str]) -> Callable[[tuple[int, ...]], float] | None:
        """ρ_z of a product, by the places of its factors among `names`; None where ρ is no function."""
        given = self.rho
        if not callable(given):
            return None

        def rho(product: tuple[int, ...]) -> float:
            factors = tuple(names[j] for j in product)
            value: Any = given(factors)
            if not is_number(value) or not 0.0 < value < np.inf:
                raise ValueError(
                    f"rho{factors!r} of Products is {value!r}; expected a positive number: the kernel is "
                    "divided by its square. To leave a product out, give it a large one."
                )
            return float(value)

        return rho

    def base_prior(self, names: Sequence[str]) -> Array:
        """ρ_j of the base kernels of these names."""
        given = self.base_rho
        if given is None:
            return np.ones(len(names))
        if self.atom_scale is not None:
            raise ValueError(
                f"base_rho={given!r} was given to Products(atom_scale={self.atom_scale!r}), which scales "
                "every product to the same size, whatever its factors are divided by. Give atom_scale=None, "
                "or rho as a function of the names of a product."
            )
        if isinstance(given, Mapping):
            unknown = [repr(name) for name in given if name not in names]
            if unknown:
                raise ValueError(
                    f"base_rho of Products names {', '.join(unknown[:5])}; the base kernels are "
                    f"{', '.join(map(repr, names[:10]))}{', …' if len(names) > 10 else ''}."
                )
            given = [given.get(name, 1.0) for name in names]
        rho = _positive(given)
        if rho is None or rho.shape != (len(names),):
            raise ValueError(
                f"base_rho={self.base_rho!r} was given to Products; expected {len(names)} positive numbers, "
                "one for each base kernel, or a dict from names of base kernels to such numbers."
            )
        return rho

    def base_kernels(
        self, X: Data, sample_weight: Any = None, feature_names: Any = None
    ) -> tuple[dict[str, Kernel], list[Columns] | None]:
        """The base kernels by name, and their columns where each is linear on a single one (rank one)."""
        if isinstance(self.base, RankOne) or (isinstance(self.base, str) and self.base == "features"):
            numbers(X, feature_names)
            names = unique(names_of(X, feature_names))
            return {name: OnColumns(Linear(), j) for j, name in enumerate(names)}, list(range(len(names)))
        if isinstance(self.base, str) and self.base not in ("auto", "precomputed"):
            raise ValueError(
                f"base={self.base!r} was given to Products; expected 'features', 'auto', 'precomputed', or a "
                "list of kernels."
            )
        if isinstance(self.base, list | tuple | dict) and not self.base:
            raise ValueError(
                f"base={self.base!r} was given to Products; expected at least one kernel, or 'features'."
            )
        kernels = resolve_kernels(self.base, X, sample_weight, feature_names)
        columns = [single_column(kernel) for kernel in kernels.values()]
        return kernels, None if None in columns else columns


def _positive(values: Any) -> Array | None:
    """Positive finite numbers, or None."""
    try:
        numbers_given = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None
    fits = numbers_given.ndim == 1 and bool(np.all((numbers_given > 0.0) & np.isfinite(numbers_given)))
    return numbers_given if fits else None


def single_column(kernel: Kernel) -> Columns | None:
    """The column, a position or a name, that a linear kernel is on; None for every other kernel."""
    if not isinstance(kernel, OnColumns) or type(kernel.kernel) is not Linear:
        return None
    columns = kernel.columns
    if isinstance(columns, list | tuple) and len(columns) == 1:
        columns = columns[0]
    return columns if isinstance(columns, str | int | np.integer) and not isinstance(columns, bool) else None

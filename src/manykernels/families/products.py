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
    """All products of at most `degree` base kernels, K_z = s_z Π_{j∈z} K_j for every multiset z.

    With the default base each column of X is a kernel of rank one, products are monomials, and a sparse model
    is a polynomial with few terms. Base kernels are normalised as the estimator asks; products are not.

    Solvers ask this family through an oracle (``oracles/products.py``), so that 10¹² products need no list.
    Where a solver or a norm needs a list, all products are listed, up to 100,000 of them (20,000 with
    ``solver="auto"``, beyond which they are drawn at random). Products of columns are learned from blocks of
    rows where matrices of n × n do not fit into memory, where X is a Dask collection, or with
    ``approx="features"``: see "Many rows" on the page about products.

    Parameters
    ----------
    base : "features", list, dict or Family, default="features"
        The factors: "features" takes each column of X; otherwise anything that an estimator takes as kernels.
    degree : int, default=2
        Largest number of factors, at least 1. A larger degree allows interactions of more features; the
        number of products grows like (number of base kernels)^degree.
    rho : sequence of float, callable or None, default=None
        Prior on products. A sequence holds ρ_0 … ρ_degree: kernels of degree d are divided by ρ_d², so that a
        larger ρ_d makes that degree dearer. A function is given the names of the factors of a product, such
        as ("x0", "x0", "x3"), and () for the constant, and returns ρ_z > 0. All products are then asked once,
        so that there may be up to 2 million of them. None stands for 1 throughout.
    interactions_only : bool, default=False
        Whether to leave out powers, so that each factor occurs once.
    multiplicity : {"distinct", "paper"}, default="distinct"
        "distinct" counts each product once. "paper" counts it c_z = d!/Π_j m_j! times, once for every order
        of its factors; this scales it by c_z^{(p−1)/p} for the norm p. Both agree at p = 1.
    atom_scale : {"rms"} or None, default=None
        "rms" scales every product to a mean diagonal of 1 on the training data, so that none is preferred for
        its size. Solvers that draw products refuse it.
    scale : bool, default=False
        Whether to prepare the columns of a raw table first, as "auto" does: standardised, heavy tails as
        normal scores, categories as indicators.
    base_rho : array-like of shape (n_base,), dict or None, default=None
        Prior on base kernels, numbers in their order or a dict by name (1 for others). Each factor j divides
        a product by ρ_j², with every solver and any number of products.

    See Also
    --------
    PolynomialDAG : Products in a graph, where a product needs its factors.
    manykernels.kernels.Monomial : One product of columns.

    Notes
    -----
    Draws in proportion to the gradient do not know a function ρ_z: they are made without it and weighted by
    importance, whose variance grows with the range of ρ.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §4.2.1
    and its footnote 2 for priors on single products.

    Afkanpour, György, Szepesvári & Bowling (2013), "A Randomized Mirror Descent Algorithm for Large Scale
    Multiple Kernel Learning", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Products
    >>> X = np.random.RandomState(0).randn(100, 5)
    >>> y = X[:, 0] * X[:, 3]
    >>> model = MKLRegressor(Products(degree=2), C=10.0).fit(X, y)
    >>> model.kernel_names_[int(model.weights_.argmax())]
    'x0 · x3'
    >>> model.certified_
    True
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
        """True if it multiplies columns, as far as that shows without samples."""
        base = self.base
        if isinstance(base, RankOne) or (isinstance(base, str) and base == "features"):
            return True
        kernels = list(base.values()) if isinstance(base, dict) else base
        many = isinstance(kernels, list | tuple) and len(kernels) > 0
        return many and all(isinstance(k, Kernel) and single_column(k) is not None for k in kernels)

    def options(self) -> tuple[int, Array]:
        """Return the degree and the priors of degrees, with every option checked.

        Returns
        -------
        degree : int
            The degree D.
        rho : ndarray of shape (D + 1,)
            The priors ρ_0 … ρ_D; 1 where `rho` is a function.

        Examples
        --------
        >>> from manykernels.families import Products
        >>> degree, rho = Products(degree=2, rho=[1.0, 1.0, 2.0]).options()
        >>> degree, rho.tolist()
        (2, [1.0, 1.0, 2.0])
        """
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
        """Return the function that gives ρ_z of a product.

        Parameters
        ----------
        names : sequence of str
            Names of the base kernels.

        Returns
        -------
        callable or None
            A function of the positions of the factors among `names`; None where `rho` is no function.

        Examples
        --------
        A prior that makes every product with x1 dearer:

        >>> from manykernels.families import Products
        >>> rho = Products(rho=lambda factors: 3.0 if "x1" in factors else 1.0).prior(["x0", "x1"])
        >>> rho((0, 0)), rho((0, 1)), Products().prior(["x0", "x1"]) is None
        (1.0, 3.0, True)
        """
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
        """Return the priors ρ_j of base kernels.

        Parameters
        ----------
        names : sequence of str
            Names of the base kernels.

        Returns
        -------
        ndarray of shape (n_base,)
            The priors, 1 where none is given.

        Examples
        --------
        >>> from manykernels.families import Products
        >>> Products(base_rho={"x1": 2.0}).base_prior(["x0", "x1"]).tolist()
        [1.0, 2.0]
        """
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
        """List the base kernels, and their columns where each is linear on a single one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples, which count as repetitions.
        feature_names : sequence of str or None, default=None
            Names of the columns.

        Returns
        -------
        kernels : dict of str to Kernel
            The base kernels by name.
        columns : list or None
            The column of each base kernel, if all are of rank one; else None.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.families import Products
        >>> from manykernels.kernels import Gaussian, Linear
        >>> kernels, columns = Products().base_kernels(np.eye(2))
        >>> list(kernels), columns
        (['x0', 'x1'], [0, 1])
        >>> kernels, columns = Products([Linear(), Gaussian(1.0)]).base_kernels(np.eye(2))
        >>> len(kernels), columns is None
        (2, True)
        """
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

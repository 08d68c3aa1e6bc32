"""Kernels that have a finite map of their own: nothing is approximated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..kernels import Fitted, Kernel, Linear, OnColumns, Prepared, Spectrum
from ..kernels.data import Array, Data, n_samples, numeric, take_columns, take_rows
from ..kernels.monomial import Monomial
from .base import Approximation, Features, Part, ours

_TOGETHER = 4096  # products of columns that are multiplied together


class OwnFeatures(Approximation):
    """The finite feature map that a kernel has itself, k = ΦΦᵀ; the shorthand is ``approx="features"``.

    Linear, Cosine, Constant, Monomial and FeatureMap have one, and these on columns, scaled or normalised.
    Nothing is approximated.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.approx import OwnFeatures
    >>> from manykernels.kernels import Linear
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> OwnFeatures().fit([Linear()], X, rng=np.random.RandomState(0)).transform(X)
    array([[1., 2.],
           [3., 4.]])
    """

    def fit_sample(
        self, kernels: Sequence[Kernel], X: Data, weight: Array, rng: np.random.RandomState
    ) -> Features:
        for kernel in kernels:
            if not has_own_map(kernel):
                raise ValueError(
                    f"approx='features' was given, but {kernel.label} has no finite feature map of its own"
                    f"{_why(kernel)}. Use approx=RandomFeatures() for Gaussians, Laplacians, Matern; "
                    "Nystroem serves every kernel."
                )
        return Features(own_parts(list(enumerate(kernels)), X), len(kernels))

    def serves(self, kernel: Kernel, X: Data) -> bool:
        return has_own_map(kernel)


def has_own_map(kernel: Kernel) -> bool:
    """Tell whether the kernel has a finite map that is the same in every call."""
    return kernel.has_features and not _collects_anew(kernel)


def own_parts(members: list[tuple[int, Kernel]], X: Data) -> list[Part]:
    """Parts for kernels that have a map, given with their positions: linear ones on columns in one part."""
    by_position: list[tuple[int, float, list[Any]]] = []
    by_name: list[tuple[int, float, list[Any]]] = []
    products: dict[Any, list[tuple[int, float, Monomial]]] = {}
    prepared: dict[Any, Prepared | None] = {}
    alone: list[tuple[int, Kernel]] = []
    for m, kernel in members:
        c, columns = _linear_columns(kernel)
        scale, product, seen = _product(kernel)
        if columns:
            (by_name if isinstance(columns[0], str) else by_position).append((m, c, columns))
        elif product is not None:
            key = None if seen is None else (seen.part, seen.preparation.key_)
            products.setdefault(key, []).append((m, scale, product))
            prepared[key] = seen
        else:
            alone.append((m, kernel))
    parts: list[Part] = [_Columns(group) for group in (by_position, by_name) if group]
    parts += [_Monomials(group, prepared[key]) for key, group in products.items()]
    return parts + [_Own(m, kernel, X) for m, kernel in alone]


class _Own(Part):
    """The map of one kernel."""

    def __init__(self, m: int, kernel: Kernel, X: Data) -> None:
        self.kernel = kernel
        self.members = [m]
        self.threads = ours(kernel)
        self.sizes = [int(kernel.features(take_rows(X, 0, 1)).shape[1])]

    def fill(self, X: Data, out: Any, start: NDArray[np.intp]) -> None:
        Phi = self.kernel.features(X)
        if Phi.shape[1] != self.sizes[0]:
            raise ValueError(
                f"{self.kernel.label} has {Phi.shape[1]} features on this X and had {self.sizes[0]} on the "
                "training data; give X with the same columns."
            )
        Phi = Phi.toarray() if sparse.issparse(Phi) else Phi
        out[:, start[0] : start[0] + self.sizes[0]] = Phi


class _Columns(Part):
    """Linear kernels on listed columns, c ⟨x_J, x'_J⟩: 10⁴ of them cost what their columns cost."""

    def __init__(self, members: list[tuple[int, float, list[Any]]]) -> None:
        self.members = [m for m, _, _ in members]
        self.sizes = [len(columns) for _, _, columns in members]
        self.columns = [j for _, _, columns in members for j in columns]
        self.threads = True
        self.root = np.repeat(np.sqrt([c for _, c, _ in members]), self.sizes)

    def fill(self, X: Data, out: Any, start: NDArray[np.intp]) -> None:
        chosen = numeric(take_columns(X, self.columns))
        chosen = chosen.toarray() if sparse.issparse(chosen) else chosen
        ends = np.cumsum(self.sizes)
        target = np.arange(ends[-1]) + np.repeat(start - (ends - self.sizes), self.sizes)
        first = int(target[0])
        if np.array_equal(target, np.arange(first, first + target.size)):
            np.multiply(chosen, self.root, out=out[:, first : first + target.size], casting="same_kind")
        else:
            out[:, target] = chosen * self.root


class _Monomials(Part):
    """Products of columns, c φ(x) φ(x'): what is made of a raw table first is made once for all of them."""

    def __init__(self, members: list[tuple[int, float, Monomial]], prepared: Prepared | None) -> None:
        self.members = [m for m, _, _ in members]
        self.sizes = [1] * len(members)
        self.products = [product for _, _, product in members]
        self.root = np.sqrt([c for _, c, _ in members])
        self.preparation = None if prepared is None else prepared.preparation
        self.part = "scaled" if prepared is None else prepared.part
        self.threads = True

    def fill(self, X: Data, out: Any, start: NDArray[np.intp]) -> None:
        if self.preparation is not None:
            X = self.preparation.transform(X, self.part)
        rows, factors = self._factors(X)
        for lo in range(0, len(factors), _TOGETHER):
            part = slice(lo, lo + _TOGETHER)
            Z = rows[factors[part, 0]]
            for column in factors[part, 1:].T:
                Z *= rows[column]
            out[:, start[part]] = (Z * self.root[part, None]).T

    def _factors(self, X: Data) -> tuple[Array, NDArray[np.intp]]:
        """Powers of columns (powers, n), of which the last is 1, and those that each product multiplies."""
        place: dict[tuple[Any, int], int] = {}
        own = [
            [place.setdefault(factor, len(place)) for factor in zip(p.columns, p.whole_powers(), strict=True)]
            for p in self.products
        ]
        rows = np.ones((len(place) + 1, n_samples(X)))
        for (column, power), i in place.items():
            x = numeric(take_columns(X, column))
            x = np.ravel(x.toarray() if sparse.issparse(x) else x)
            rows[i] = x if power == 1 else x**power
        factors = np.full((len(own), max(1, *map(len, own))), len(place), dtype=np.intp)
        for z, row in zip(own, factors, strict=True):
            row[: len(z)] = z
        return rows, factors


def _product(kernel: Kernel) -> tuple[float, Monomial | None, Prepared | None]:
    """(c, φ, how a raw table is prepared) if the kernel is c φ(x) φ(x') with a product of columns φ."""
    terms = kernel.terms()
    c, base = terms[0] if len(terms) == 1 else (1.0, kernel)
    seen = base if isinstance(base, Prepared) else None
    product = base if seen is None else base.kernel
    return c, product if type(product) is Monomial else None, seen


def _linear_columns(kernel: Kernel) -> tuple[float, list[Any]]:
    """(c, J) if the kernel is c ⟨x_J, x'_J⟩ with J positions or names, else an empty J."""
    terms = kernel.terms()
    c, base = terms[0] if len(terms) == 1 else (1.0, kernel)
    if not (isinstance(base, OnColumns) and type(base.kernel) is Linear):
        return c, []
    chosen = base.columns
    chosen = [chosen] if isinstance(chosen, int | np.integer | str) else chosen
    if not isinstance(chosen, list | tuple | np.ndarray):
        return c, []
    kinds = {type(j) for j in chosen}
    if kinds == {str}:
        return c, list(chosen)
    plain = all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
    return c, [int(j) for j in chosen] if plain else []


def _collects_anew(kernel: Kernel) -> bool:
    """Tell whether a kernel inside is Spectrum, whose substrings, and so features, are those of each call."""
    if isinstance(kernel, Spectrum):
        return True
    inner = getattr(kernel, "kernel", None)
    return isinstance(inner, Kernel) and _collects_anew(inner)


def _why(kernel: Kernel) -> str:
    if _collects_anew(kernel):
        return " that is the same for all strings (its substrings are collected anew in every call)"
    return " once it is centred" if isinstance(kernel, Fitted) and kernel.center else ""

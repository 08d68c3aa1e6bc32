"""From the description of a family of products and data to its oracle: every check of the base is here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._warn import warn
from ..families import Products
from ..grams import FactorGram, StackGram, build_gram, is_definite, parse_memory
from ..grams.checks import check_stack
from ..grams.memory import counted, readable, require_memory
from ..kernels import Callable, Fitted, FromDistance, Kernel, Precomputed
from ..kernels.data import Columns, Data, is_stack, n_samples, numeric, take_columns
from ._groups import Groups
from ._parts import Array, FactorParts, Parts, StackParts, lower_triangles
from .products import ProductsOracle

_COPIES = 4  # of the columns: as they are, scaled, by rows, and in the making
_LARGEST = 1e200  # of sums of products: beyond it their squares overflow
_APART = 1e10  # sizes of two products, beyond which rounding errors of one hide the other
_CONSTANT = 1e-12  # relative to the largest value: what varies less does so by rounding only


def bind_products(
    family: Products,
    X: Data,
    *,
    normalize: str | None,
    sample_weight: Array | None,
    feature_names: Any,
    memory_limit: int | float | str | None,
    norm: Any,
    work: int,
    groups: Groups | None = None,
) -> ProductsOracle:
    """The products on training data X; see ``build_oracle``."""
    D, rho = family.options()
    exponent = _exponent(norm) if family.multiplicity == "paper" else 0.0
    kernels, columns = family.base_kernels(X, sample_weight, feature_names)
    options: dict[str, Any] = {
        "normalize": normalize,
        "sample_weight": sample_weight,
        "memory_limit": memory_limit,
        "work": work,
    }
    w = np.ones(n_samples(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    parts: Parts
    if columns is None:
        parts, base, kept, room = _matrices(kernels, X, w, options)
        groups = None  # of columns, not of kernels
    else:
        parts, base, kept, room = _features(kernels, columns, X, w, options, bool(family.scale))
        groups = None if groups is None or np.all(groups[kept] < 0) else groups[kept]
        columns = None if normalize == "cosine" else [columns[j] for j in kept]
    listed = list(kernels)
    names = [listed[j] for j in kept]
    prior = family.base_prior(listed)[kept] ** -2.0
    parts.rescale(prior)
    if isinstance(parts, FactorParts):
        _require_range(np.square(np.abs(parts.X).max(axis=0)), "Column", names, D, parts.n)
    else:
        assert isinstance(parts, StackParts)
        _require_range(np.array([np.abs(K).max() for K in parts.B]), "Kernel", names, D, parts.n)
    if D > 1 and not family.interactions_only and family.atom_scale is None:
        _require_sizes(parts, names, D, rho)
    return ProductsOracle(
        parts,
        base,
        names,
        D,
        rho,
        columns=columns,
        exponent=exponent,
        weight=w / w.sum() if family.atom_scale == "rms" else None,
        interactions_only=bool(family.interactions_only),
        room=room,
        groups=groups,
        base_prior=prior,
        own=family.prior(names),
    )


def _exponent(norm: Any) -> float:
    """(p − 1)/p for the norm p of the weights."""
    p = getattr(norm, "p", norm)
    if not isinstance(p, int | float | np.number) or isinstance(p, bool) or not p >= 1.0:
        raise ValueError(
            f"norm={norm!r} was given with Products(multiplicity='paper'), whose scales need a number p of "
            "at least 1. Give such a norm, or multiplicity='distinct'."
        )
    return 1.0 if p == np.inf else 1.0 - 1.0 / float(p)


def _features(
    kernels: dict[str, Kernel],
    columns: list[Columns],
    X: Data,
    w: Array,
    options: dict[str, Any],
    prepared: bool,
) -> tuple[Parts, list[Fitted], list[int], int]:
    """Columns as kernels of rank one, dense: products of columns are, even where few entries are not zero.

    Of constant columns that were `prepared` nothing is said: they are no columns of the user's.
    """
    n, limit = n_samples(X), parse_memory(options["memory_limit"])
    who = f"Products of {len(columns)} columns of {n} samples hold the columns densely and need"
    advice = "Raise memory_limit, or select fewer columns (SelectKBest)."
    require_memory(counted(_COPIES * 8 * n * len(columns)), limit, who, "copies of them", advice)
    if columns == list(range(X.shape[1])):
        A = numeric(X)
        A = A.toarray() if sp.issparse(A) else A
    else:
        A = np.column_stack([_column(X, column) for column in columns])
    names = list(kernels)
    if not np.isfinite(A).all():
        j = int(np.argmin(np.isfinite(A).all(axis=0)))
        raise ValueError(
            f"Column {names[j]!r} holds NaN or infinity; expected finite numbers. Impute it first."
        )
    used = A[w > 0]
    constant = np.ptp(used, axis=0) <= _CONSTANT * np.abs(used).max(axis=0)
    kept = _varying(names, constant, "" if prepared else "Column")
    parts = {names[j]: kernels[names[j]] for j in kept}
    gram, base = build_gram(parts, A[:, kept], center=False, factors=True, **options)
    assert isinstance(gram, FactorGram)
    return FactorParts(gram.features * np.sqrt(gram.scale)), base, kept, gram.room


def _column(X: Data, column: Columns) -> Array:
    values = numeric(take_columns(X, column))
    return np.asarray(values.toarray() if sp.issparse(values) else values).reshape(-1)


def _matrices(
    kernels: dict[str, Kernel], X: Data, w: Array, options: dict[str, Any]
) -> tuple[Parts, list[Fitted], list[int], int]:
    """Base kernels as matrices, all of them in memory."""
    gram, base = build_gram(kernels, X, center=False, factors=False, **options)
    if not isinstance(gram, StackGram):
        raise MemoryError(
            f"Products of {len(kernels)} kernels on {gram.n} samples need all of them in memory, "
            f"{readable(8 * len(kernels) * gram.n**2)} and more. Raise memory_limit, or use fewer kernels or "
            "samples; base='features' needs no matrix for each of them."
        )
    stack, names = np.asarray(gram.stack, dtype=float), list(kernels)
    for m, kernel in enumerate(kernels.values()):
        if is_stack(X) or _is_given(kernel):
            _require_definite(stack[m], names[m], kernel.rounding(X))
    used = np.flatnonzero(w > 0)
    whole = used.size == gram.n
    constant = np.empty(len(stack), dtype=bool)
    for m, K in enumerate(stack):
        K = K if whole else K[np.ix_(used, used)]
        constant[m] = np.ptp(K) <= _CONSTANT * np.abs(K).max()
    kept = _varying(names, constant, "Kernel")
    B = lower_triangles(stack, kept, gram.scale)
    return StackParts(B, gram.n, gram.room), [base[m] for m in kept], kept, gram.room


def _is_given(kernel: Kernel) -> bool:
    """Tell whether values that a user computed are in it: nothing else vouches for them."""
    members = [kernel, *(v for v in kernel.get_params(deep=True).values() if isinstance(v, Kernel))]
    return any(
        isinstance(member, Callable | FromDistance | Precomputed)
        or not type(member).__module__.startswith("manykernels.")
        for member in members
    )


def _require_definite(K: Array, name: str, slack: float) -> None:
    check_stack(K[None], [name], slack)
    if not is_definite(K, slack):
        raise ValueError(
            f"Kernel {name!r} is not positive semi-definite on the training data, and products of such "
            "kernels need not be either (Schur's theorem needs all factors to be). Clip its negative "
            "eigenvalues, or leave it out of the base."
        )


def _varying(names: list[str], constant: Any, what: str) -> list[int]:
    """The positions of base kernels that vary; products with the others only repeat those without.

    A warning says so of what users gave, `what`; empty for what was made of it.
    """
    gone = [repr(names[j]) for j in np.flatnonzero(constant)]
    if not gone:
        return list(range(len(names)))
    shown = ", ".join(gone[:10]) + (f", … ({len(gone)})" if len(gone) > 10 else "")
    if len(gone) == len(names):
        raise ValueError(
            f"{what or 'Column'}s {shown} are the same for all samples, and Products has no others to "
            f"multiply. Give {what.lower() or 'column'}s that vary with the samples."
        )
    if what:
        warn(
            f"{what} {shown} is the same for all samples: products with it only repeat those without, so it "
            "is left out of the base of Products.",
            UserWarning,
        )
    return [int(j) for j in np.flatnonzero(~np.asarray(constant))]


def _require_range(largest: Array, what: str, names: list[str], D: int, n: int) -> None:
    """An error where products of the highest degree could overflow: |K|^D n, and its square in a sum.

    `largest` are the largest values of the base kernels, and `what` they are.
    """
    j = int(np.argmax(largest))
    with np.errstate(divide="ignore"):
        size = D * float(np.log(largest[j])) + math.log(n)
    if not size <= math.log(_LARGEST):
        value = math.sqrt(largest[j]) if what == "Column" else largest[j]
        raise ValueError(
            f"{what} {names[j]!r} reaches {value:.3g}, so that products of degree {D} overflow. Scale the "
            "data (StandardScaler), normalise the kernels (normalize='trace'), or lower the degree."
        )


def _require_sizes(parts: Parts, names: list[str], D: int, rho: Array) -> None:
    """An error where powers of a kernel are so much larger than the kernel that nothing else counts."""
    size = np.ones(parts.n) / parts.n
    powers = [(j,) * d for j in range(parts.r) for d in (1, D)]
    mean = parts.mean_diagonals(powers, size).reshape(-1, 2) / np.asarray(rho, dtype=float)[[1, D]] ** 2
    j = int(np.argmax(mean[:, 1]))
    ratio = mean[j, 1] / max(float(mean[:, 0].max()), np.finfo(float).tiny)
    if ratio > _APART:
        raise ValueError(
            f"Products of degree {D} are up to {ratio:.1g} times as large as those of degree 1 (powers of "
            f"{names[j]!r}), so that rounding errors hide all others. Give atom_scale='rms', which makes all "
            "products the same size, a rho that grows with the degree, or a lower degree."
        )

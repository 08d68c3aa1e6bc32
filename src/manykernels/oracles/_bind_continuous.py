"""From the description of a continuous family and data to its oracle: every check of the family is here."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._warn import warn
from ..families import ARDGaussians, Dirichlets, Gaussians, Laplacians, Parametric
from ..families.base import names_of, numbers
from ..grams import parse_memory
from ..grams.memory import SEARCH, require_memory
from ..kernels import Kernel
from ..kernels.data import Data, n_samples, take_rows
from ._quasi_newton import Coordinates, differences
from ._scales import Scale
from .base import Array
from .continuous import ContinuousOracle

_OWN = (ARDGaussians, Dirichlets, Gaussians, Laplacians)
_CHECKED_ROWS = 30  # on which a gradient is checked
_AGREEMENT = 1e-3  # of the largest entry, between a gradient and finite differences


def bind_continuous(
    family: Parametric,
    X: Data,
    *,
    normalize: str | None,
    sample_weight: Array | None,
    feature_names: Any,
    memory_limit: int | float | str | None,
    norm: Any = 1.0,
    work: int,
) -> ContinuousOracle:
    """The kernels of a continuum on training data X; see ``build_oracle``."""
    own = type(family) in _OWN  # a user's family may read anything, and have any diagonal
    if own:
        names = names_of(X, feature_names)
        X, feature_names = numbers(X, feature_names), names
    low, high = family.box(X, sample_weight, feature_names)
    if isinstance(family, ARDGaussians):
        low = _without_constant(X, low, high, feature_names)
    n, limit, work = n_samples(X), parse_memory(memory_limit), work + SEARCH
    who = f"{type(family).__name__} on {n} samples needs"
    advice = (
        "Raise memory_limit, fit on fewer samples, or learn from blocks of rows in explicit features: "
        "approx=RandomFeatures(512), or a grid of widths and approx=Nystroem(200)."
    )
    require_memory((work + 2) * 8 * n * n, limit, who, f"several matrices of {n} × {n}", advice)
    coordinates = Coordinates(low, high)
    middle = coordinates.middle()
    _require_kernel(family, middle)
    if family.has_gradient and not own:
        _check_gradient(family, X, coordinates)
    constant = (own or family.rate is not None) and not family.has_prior
    scale = Scale(family, X, normalize, sample_weight, constant, middle)
    return ContinuousOracle(family, X, low, high, scale, limit, work)


def _require_kernel(family: Parametric, parameters: Array) -> None:
    kernel: Any = family.kernel(*map(float, parameters))
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"{type(family).__name__}.kernel returned {kernel!r} ({type(kernel).__name__}); expected a "
            "kernel of manykernels.kernels. A plain function becomes one by Callable(function)."
        )


def _without_constant(X: Data, low: Array, high: Array, feature_names: Any) -> Array:
    """low, raised to high for features that are the same on all samples: nothing depends on their width."""
    A, names = numbers(X, feature_names), names_of(X, feature_names)
    A = A if isinstance(A, np.ndarray) else A.toarray()
    constant = np.flatnonzero(np.ptp(A, axis=0) == 0.0)
    if not constant.size:
        return low
    if constant.size == low.size:
        raise ValueError("ARDGaussians was given X without two different rows: no width can be learned.")
    shown = ", ".join(repr(names[j]) for j in constant[:5]) + (", …" if constant.size > 5 else "")
    warn(
        f"The width of {constant.size} constant feature(s) ({shown}) cannot be learned; it is set to high. "
        "Remove constant features, for example by VarianceThreshold.",
        UserWarning,
    )
    low = low.copy()
    low[constant] = high[constant]
    return low


def _check_gradient(family: Parametric, X: Data, coordinates: Coordinates) -> None:
    """Compare a user's gradient with finite differences, at a third of the box and for some symmetric S."""
    few = take_rows(X, 0, min(_CHECKED_ROWS, n_samples(X)))
    S = np.random.RandomState(0).normal(size=(n_samples(few),) * 2)
    S += S.T
    u = coordinates.bounds
    sigma = coordinates.outwards(u[:, 0] + (u[:, 1] - u[:, 0]) / 3.0)
    given = np.asarray(family.gradient(sigma, few, S), dtype=float)
    if given.shape != sigma.shape:
        raise ValueError(
            f"{type(family).__name__}.gradient returned shape {given.shape}; expected {sigma.shape}, one "
            "derivative a parameter."
        )

    def form(s: Array) -> float:
        return float(np.vdot(S, family.kernel(*map(float, s))(few)))

    expected = differences(form, sigma, coordinates)
    # on the scale on which the search moves, where no parameter's unit counts
    error = np.abs(given - expected) * coordinates.slope(sigma)
    size = float(np.max(np.abs(expected) * coordinates.slope(sigma))) + 1e-6 * float(np.abs(S).sum())
    if not np.all(error <= _AGREEMENT * size):
        i = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
        at = ", ".join(f"{value:.6g}" for value in sigma)
        raise ValueError(
            f"{type(family).__name__}.gradient says {given[i]:.6g} for parameter {i} at ({at}), and finite "
            f"differences of Σ_ab S_ab κ(x_a, x_b) say {expected[i]:.6g}. Correct the gradient by σ (not by "
            "log σ), or leave it out."
        )

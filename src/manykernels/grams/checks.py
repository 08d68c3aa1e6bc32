"""Checks of kernels that a user computed: one compiled pass, then words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from .._fast.checking import check
from ..kernels.data import rounding as rounding_of

Array = NDArray[np.float64]
_DOUBLE = rounding_of(np.float64)
FLAT = 1e-12
"""Of its size: a kernel that varies less between samples does not vary but for rounding."""


def check_stack(
    kernels: NDArray[Any], names: list[str], slack: float | None = None, share: Array | None = None
) -> Array:
    """Finite, symmetric, without a negative diagonal or 2 × 2 minor; (M, n, n) with contiguous rows.

    `slack` is what is rounding, relative to their size: where it is not given, that of their type. The same
    pass multiplies all kernels by the vector `share`, so that their means take no other one: (M, n).
    """
    n = kernels.shape[1]
    slack = rounding_of(kernels.dtype) if slack is None else slack
    x = np.asarray(np.random.RandomState(0).uniform(0.5, 1.0, n))
    found, means = np.empty((len(kernels), 3)), np.empty((len(kernels), n))
    slacker = 1.0 + (slack if slack > _DOUBLE else 1e-8)
    check(kernels, x, slacker, np.zeros(n) if share is None else share, found, means)
    diagonals = np.einsum("mii->mi", kernels).astype(float)
    for m in np.flatnonzero(~np.isfinite(found[:, 0])):
        i, j = (int(v[0]) for v in np.nonzero(~np.isfinite(kernels[m])))
        raise ValueError(
            f"kernel {names[m]!r} holds {kernels[m, i, j]} at row {i}, column {j}; expected finite numbers. "
            "Find out where it comes from; a missing similarity must be imputed or its samples left out."
        )
    scale = np.abs(diagonals).max(axis=1, initial=0.0) + np.abs(found[:, 0]) / max(n * n, 1)
    rounding = slack * scale
    for m in np.flatnonzero(found[:, 1] > rounding * np.sqrt(n)):
        K = kernels[m].astype(float)
        worst = np.abs(K - K.T)
        i, j = (int(v) for v in np.unravel_index(int(worst.argmax()), worst.shape))
        raise ValueError(
            f"kernel {names[m]!r} is not symmetric: entry ({i}, {j}) is {K[i, j]:.6g} and "
            f"({j}, {i}) is {K[j, i]:.6g}. Expected K[i, j] == K[j, i]; if it is "
            "so up to noise, give (K + K.T) / 2."
        )
    for m in np.flatnonzero((diagonals.min(axis=1) < -rounding) | (found[:, 2] > rounding**2 * n)):
        raise indefinite(names[m], _why_indefinite(kernels[m]))
    return means


def indefinite(name: str, why: str) -> ValueError:
    """The error about a kernel that is none."""
    return ValueError(
        f"kernel {name!r} is not positive semi-definite: {why} Multiple kernel learning needs kernels "
        "without negative eigenvalues; clip them (drop the negative part of the spectrum) or leave this "
        "kernel out."
    )


def require_diagonals(
    names: list[str], diagonals: NDArray[Any], products: NDArray[Any], centred: bool
) -> None:
    """An error about the first kernel whose diagonal is not positive, though it is not zero; (M, n) each.

    `products` are with some positive vector. Without a diagonal they are zero, and the diagonal of a centred
    kernel has no negative mean but for rounding, unless the kernel is indefinite.
    """
    rounding = rounding_of(np.float32) * np.abs(products).max(axis=1, initial=0.0)
    after = "once centred, " if centred else ""
    for m, (name, d) in enumerate(zip(names, diagonals, strict=True)):
        if d.mean() < -rounding[m]:
            raise indefinite(name, f"{after}its diagonal entry {int(d.argmin())} is {d.min():.6g}.")
        if not centred and not d.any() and products[m].any():
            raise indefinite(name, "its diagonal is zero, and other entries are not.")


def _why_indefinite(K: NDArray[Any]) -> str:
    K = K.astype(float)
    d = K.diagonal()
    i = int(d.argmin())
    if d[i] < 0:
        return f"its diagonal entry {i} is {d[i]:.6g}."
    excess = K * K - np.outer(d, d)
    i, j = (int(v) for v in np.unravel_index(int(excess.argmax()), K.shape))
    return (
        f"|K[{i}, {j}]| = {abs(K[i, j]):.6g} exceeds √(K[{i}, {i}] K[{j}, {j}]) = {np.sqrt(d[i] * d[j]):.6g}."
    )


def is_definite(K: NDArray[np.float64], slack: float = _DOUBLE) -> bool:
    """Tell whether a matrix is positive semidefinite, by one Cholesky factorisation.

    From 1,000 samples on the matrix is factored in single precision, which is twice as fast, and 1e-4 is
    taken for rounding.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A symmetric matrix.
    slack : float, default=1e-07
        Negative eigenvalues below `slack` times the mean diagonal are taken for rounding.

    Returns
    -------
    bool
        Whether K is positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import is_definite
    >>> is_definite(np.eye(2)), is_definite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (True, False)
    """
    n = K.shape[0]
    single = n >= 1000
    slack = max(slack, rounding_of(np.float32)) if single else slack
    A = K.astype(np.float32) if single else K.copy()
    A.flat[:: n + 1] += slack * max(float(K.trace()) / max(n, 1), 1e-30)
    potrf = lapack.spotrf if single else lapack.dpotrf
    return int(potrf(A.T, lower=1, overwrite_a=1, clean=0)[1]) == 0

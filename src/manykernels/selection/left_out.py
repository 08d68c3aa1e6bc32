"""The error on each sample of the machine that is fitted without it: squared loss, one factorisation.

With (K_θ + diag(1/C))α + b1 = y and 1ᵀα = 0, let P be the inverse of the bordered matrix, cut to the samples:
P = A⁻¹ − A⁻¹11ᵀA⁻¹/(1ᵀA⁻¹1), A = K_θ + diag(1/C); covariates Z take the place of 1. The error of the machine
that is fitted without sample i is α_i/P_ii. A row may stand for several equal samples: with its residual
r = α_i/cost_i and leverage h = 1 − P_ii/cost_i, the error without one of them, of share s, is r/(1 − s h).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._fast.linalg import factor
from ..machines.free import basis

Array = NDArray[np.float64]


def left_out(
    K: Array,
    Y: Array,
    cost: Array,
    fit_intercept: bool,
    Z: Array | None = None,
    copies: tuple[NDArray[np.intp], Array] | None = None,
) -> Array:
    """Return (n, outputs): the error on each sample of the machine fitted without it.

    `copies` says, of samples that were merged, which row each is in and its share of that row's cost. The
    errors are then those of the machines fitted without one of them.
    """
    A = K.copy()
    A.flat[:: len(A) + 1] += 1.0 / cost
    L = factor(A)
    inverse_root = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
    half = inverse_root @ Y
    P = np.einsum("ij,ij->j", inverse_root, inverse_root)
    if Z is not None:
        V = basis(inverse_root @ Z)
        half -= V @ (V.T @ half)
        P = P - np.sum((V.T @ inverse_root) ** 2, axis=0)
    elif fit_intercept:
        v = inverse_root.sum(axis=1)
        size = float(v @ v)
        half -= np.outer(v, (v @ half) / size)
        P = P - (inverse_root.T @ v) ** 2 / size
    alpha = inverse_root.T @ half
    if copies is not None:
        owner, share = copies
        alpha, P = alpha[owner], share * P[owner] + (1.0 - share) * cost[owner]
    return np.asarray(-alpha / P[:, None])

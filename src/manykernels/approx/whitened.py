"""Landmark features of one kernel by a Cholesky factor, for many landmarks.

The features span the same functions as those of `Nystroem`. They differ by a rotation, and by a small
constant on the diagonal in place of eigenvalues that are cut. A factor costs far less than eigenvectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, solve_triangular

from .._fast.linalg import factor
from ..kernels import Kernel
from ..kernels.data import Array, Data, n_samples
from .base import Features, Part, ours

_JITTER = 1e-10  # of the mean diagonal: features then have ten digits, and functions lose nothing


class _Whitened(Part):
    """φ(x) = R⁻¹ k(L, x), with k(L, L) + εI = RRᵀ."""

    def __init__(self, kernel: Kernel, landmarks: Data) -> None:
        self.kernel, self.landmarks = kernel, landmarks
        self.threads = ours(kernel)
        self.R = factor(np.ascontiguousarray(kernel(landmarks)), _JITTER)
        self.members, self.sizes = [0], [n_samples(landmarks)]

    def fill(self, X: Data, out: Array, start: NDArray[np.intp]) -> None:
        K = np.ascontiguousarray(self.kernel(X, self.landmarks))
        # the transpose of K is in Fortran's order: it is solved for where it is
        Phi = blas.dtrsm(1.0, self.R, K.T, side=0, lower=1, overwrite_b=1)
        out[:, start[0] : start[0] + self.sizes[0]] = Phi.T


def landmark_features(kernel: Kernel, landmarks: Data) -> Features:
    """The features of one kernel, as many as there are landmarks."""
    return Features([_Whitened(kernel, landmarks)], 1)


def landmark_coefficients(features: Features, w: Array) -> Array:
    """β with ⟨φ(x), w⟩ = Σ_l β_l k(x, l) over the landmarks l: β = R⁻ᵀ w."""
    (part,) = features.parts
    assert isinstance(part, _Whitened)
    return np.asarray(solve_triangular(part.R, w, lower=True, trans="T", check_finite=False))

"""Widths of a Gaussian kernel, one for each feature, by the evidence of a Gaussian process.

    A = exp(−Σ_i γ_i (x_i − x'_i)²) + a ⟨x, x'⟩/d + λ diag(1/w),        E = ½ Σ_k N log(y_kᵀA⁻¹y_k)
        + ½ m (log det A + Σ_i (w_i − 1) log λ) + s Σ_i (√(1 + u_i²) − 1),        log γ_i = μ + u_i

is minimised over u, μ, log a and log λ: minus the log evidence of m outputs with their own scale, which is
maximised out, and a prior on how much the widths differ. N = Σ w, and a sample of weight w is w samples with
the same target. The prior costs little for features that data ask to leave out (γ_i → 0) and keeps the others
together where the data say little. With W = ∂E/∂A ∘ exp(·), all derivatives are one product:
∂E/∂γ_i = −Σ_ab W_ab (x_ai − x_bi)² = −2(x_i²·W1 − x_iᵀWx_i).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import OptimizeResult, minimize

from .._fast import elementwise
from .._fast.evidence import weigh
from .._fast.linalg import invert
from .._fast.stopping import goes_on
from .._fast.threads import blas_threads
from ..kernels.stationary import squared_distances

Array = NDArray[np.float64]
_SMALL = 1500  # samples up to which one BLAS thread is as fast as several that wait for each other
_LITTLE = 0.01  # of evidence a sample: what two per cent of the variance are worth


@dataclass(frozen=True)
class Widths:
    """γ_i of the features, and what else the evidence says: the linear part a, noise λ, and E itself."""

    gamma: Array
    linear: float
    noise: float
    value: float


def learn_widths(X: Array, Y: Array, weight: Array, shrinkage: float, max_iter: int) -> Widths:
    """Minimise E from equal widths, by a quasi-Newton method; the columns of X should have deviation 1.

    Where most features say nothing, the first steps may lead to where nearly all is noise. From a larger
    noise they are shorter, and often lead to the few features that matter: so that is tried then.
    """
    d = X.shape[1]
    problem = _Evidence(X, Y, weight, shrinkage)
    with blas_threads(1 if len(X) < _SMALL else None):
        found = problem.descend(np.log(0.1), max_iter)
        if found.fun > problem.of_noise - _LITTLE * problem.N:
            found = min(found, problem.descend(np.log(1.0), max_iter), key=lambda result: float(result.fun))
    p = found.x
    return Widths(np.exp(p[d] + p[:d]), float(np.exp(p[d + 1])), float(np.exp(p[d + 2])), float(found.fun))


def _pause(_: Array) -> None:
    """After each step: end with the widths so far if somebody asked to stop."""
    if not goes_on(0, 1):
        raise StopIteration


class _Evidence:
    def __init__(self, X: Array, Y: Array, weight: Array, shrinkage: float) -> None:
        self.X, self.weight, self.shrinkage = X, weight, shrinkage
        self.squares = X * X
        self.N = float(weight.sum())
        mean = weight @ Y / self.N
        spread = np.sqrt(weight @ (Y - mean) ** 2 / self.N)
        self.Y = (Y - mean) / np.where(spread > 0.0, spread, 1.0)
        self.Y = self.Y[:, spread > 0.0]
        self.inner = X @ X.T / X.shape[1]
        self.diagonal = np.diag_indices(len(X))
        # both are written at every step: memory that is new costs as much as the exponentials in it
        self.K, self.A = np.empty_like(self.inner), np.empty_like(self.inner)
        alone = self.N * float(np.log(self.N)) - float(np.log(weight).sum())  # A = λ diag(1/w), whatever λ
        self.of_noise = 0.5 * self.Y.shape[1] * alone

    def descend(self, log_noise: float, max_iter: int) -> OptimizeResult:
        """From equal widths and this noise."""
        d = self.X.shape[1]
        middle = np.log(0.5 / d)
        return minimize(
            self,
            np.concatenate([np.zeros(d), [middle, np.log(0.3), log_noise]]),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-10.0, 6.0)] * d + [(middle - 7.0, middle + 5.0), (-12.0, 6.0), (-14.0, 4.0)],
            options={"maxiter": max_iter, "maxcor": 15, "ftol": 1e-5},
            callback=_pause,
        )

    def __call__(self, p: Array) -> tuple[float, Array]:
        d, m = self.X.shape[1], self.Y.shape[1]
        u, mu, (a, lam) = p[:d], p[d], np.exp(p[d + 1 :])
        gamma = np.exp(mu + u)
        K = squared_distances(self.X * np.sqrt(gamma), out=self.K)
        elementwise.exp(K, -1.0, K)
        A = np.multiply(self.inner, a, out=self.A)
        A += K
        A[self.diagonal] += lam / self.weight
        L, failed = lapack.dpotrf(A.T, lower=1, overwrite_a=1)
        if failed:
            return 1e10, np.zeros_like(p)
        root = np.sqrt(1.0 + u * u)
        log_det = 2.0 * float(np.log(L[self.diagonal]).sum())
        alpha, _ = lapack.dpotrs(L, self.Y, lower=1)
        s = np.sum(self.Y * alpha, axis=0)
        value = 0.5 * self.N * float(np.log(s).sum()) + self.shrinkage * float((root - 1.0).sum())
        value += 0.5 * m * (log_det + float((self.weight - 1.0).sum()) * p[d + 2])
        # G = ∂E/∂A = ½ m A⁻¹ − ½ N Σ_k α_kα_kᵀ/s_k
        B, diagonal = np.ascontiguousarray(alpha * np.sqrt(0.5 * self.N / s)), np.empty(len(K))
        by_inner = weigh(invert(L).T, B, 0.5 * m, K, self.inner, diagonal)
        scaled = self.squares.T @ K.sum(axis=1) - np.einsum("ij,ij->j", self.X, K @ self.X)
        by_gamma = -2.0 * gamma * scaled
        by_a = a * by_inner
        by_noise = lam * float((diagonal / self.weight).sum())
        by_noise += 0.5 * m * float((self.weight - 1.0).sum())
        gradient = [by_gamma + self.shrinkage * u / root, [by_gamma.sum(), by_a, by_noise]]
        return value, np.concatenate(gradient)

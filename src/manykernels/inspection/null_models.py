"""Null models of a test of kernels: what y is like if the kernel that is tested says nothing about it.

Linear: y = Zγ + u + ε with u ~ N(0, σ²K_η) of the kernels that are taken for granted (none, for a test of a
kernel by itself) and ε ~ N(0, σ²I). Binary: P(y = 1) = 1/(1 + e^{−f}), f = Zγ + u, with the working response
z = f + (y − μ)/W, W = μ(1 − μ), in the place of y (Breslow & Clayton 1993). Both are the same to a test: with

    V = K_η + I (or K_η + W⁻¹),      M = V⁻¹ − V⁻¹Z(ZᵀV⁻¹Z)⁻¹ZᵀV⁻¹ = BᵀB,      e = Bz,

the statistic of a kernel K is Q = zᵀMKMz = eᵀ(BKBᵀ)e, a quadratic form in e, which is white noise but for
the directions that Z takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import expit

from .._fast.linalg import factor

Array = NDArray[np.float64]
_STEPS = 50  # of Newton's method, and rounds of working responses
_SMALLEST, _LARGEST = 1e-5, 1e5  # variance of a kernel relative to the noise
_SEPARATED = 30.0  # log-odds: a fitted probability that is 0 or 1 to rounding
_SETTLED = 1e-8  # relative change of log-odds at which rounds end
_RANK = 1e-9  # relative size of a direction below which covariates are linearly dependent


@dataclass(frozen=True)
class Null:
    """A fitted null model: white residuals e = Bz, and what makes the quadratic form of a kernel in them."""

    e: Array  # (n,)
    whiten: Array  # (n,) or (n, n): V^{−½}, a diagonal or the inverse of a Cholesky factor
    free: Array  # (n, rank): an orthonormal basis of the whitened covariates
    mu: Array | None = None  # (n,): probabilities, for a binary target

    @property
    def n_free(self) -> int:
        """Degrees of freedom that are left."""
        return int(self.e.size - self.free.shape[1])

    def residual(self, E: Array) -> Array:
        """Whitened responses (n, …) without what the covariates explain of them."""
        return np.asarray(E - self.free @ (self.free.T @ E))

    def form(self, K: Array) -> Array:
        """BKBᵀ (n, n), symmetric."""
        R = self.whiten
        A = K * R * R[:, None] if R.ndim == 1 else R @ K @ R.T
        A = self.residual(self.residual(A).T)
        return np.asarray(0.5 * (A + A.T))

    def draws(self, count: int, rng: np.random.RandomState) -> Array:
        """(n, count): residuals as the null model would have them.

        Linear: permuted residuals (Freedman & Lane 1983). Binary: residuals of labels that are drawn with the
        fitted probabilities, to first order in the change of the fit.
        """
        if self.mu is None:
            E = np.stack([rng.permutation(self.e) for _ in range(count)], axis=1)
            return self.residual(E)
        drawn = rng.uniform(size=(self.mu.size, count)) < self.mu[:, None]
        score = (drawn - self.mu[:, None]) / _weights(self.mu)[:, None]  # of the working response
        return self.residual(_apply(self.whiten, score))


def linear_null(y: Array, Z: Array, kernels: Sequence[Array] = ()) -> Null:
    """The linear null model of y, with the variance of each kernel by restricted maximum likelihood."""
    noise = np.ones(y.size)
    eta = _variances(y, Z, kernels, noise, scaled=True) if kernels else np.empty(0)
    return _null(y, Z, _root(kernels, eta, noise))


def binary_null(y: Array, Z: Array, kernels: Sequence[Array] = ()) -> Null:
    """The logistic null model of y in {0, 1}; with kernels by penalised quasi-likelihood."""
    f = Z @ _logistic(y, Z)
    mu = expit(f)
    eta = np.full(len(kernels), 1e-2)
    for _ in range(_STEPS if kernels else 0):
        W = _weights(mu)
        z = f + (y - mu) / W
        eta = _variances(z, Z, kernels, 1.0 / W, scaled=False, start=eta)
        fitted = _null(z, Z, _root(kernels, eta, 1.0 / W))
        R = fitted.whiten
        before, f = f, z - (R.T @ fitted.e) / W  # z − W⁻¹Mz is the fitted f
        mu = expit(np.clip(f, -_SEPARATED, _SEPARATED))
        if np.max(np.abs(f - before)) <= 1e-4 * (1.0 + np.max(np.abs(f))):
            break
    W = _weights(mu)
    root = np.sqrt(W) if not kernels else _root(kernels, eta, 1.0 / W)
    return _null(f + (y - mu) / W, Z, root, mu)


def _null(z: Array, Z: Array, root: Array, mu: Array | None = None) -> Null:
    free = orthonormal(_apply(root, Z))
    e = _apply(root, z)
    return Null(e - free @ (free.T @ e), root, free, mu)


def orthonormal(Z: Array) -> Array:
    """An orthonormal basis of the columns of Z, without those that depend on others."""
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return np.asarray(U[:, s > _RANK * max(float(s.max(initial=0.0)), 1e-300)])


def _apply(root: Array, A: Array) -> Array:
    return np.asarray(root @ A if root.ndim == 2 else (root * A.T).T)


def _weights(mu: Array) -> Array:
    return np.asarray(np.maximum(mu * (1.0 - mu), 1e-10))


def _root(kernels: Sequence[Array], eta: Array, noise: Array) -> Array:
    """V^{−½} for V = Σ η_k K_k + diag(noise): the inverse of a Cholesky factor, or a diagonal."""
    if not kernels:
        return np.asarray(noise**-0.5)
    L = factor(_variance(kernels, eta, noise))
    return np.asarray(solve_triangular(L, np.eye(noise.size), lower=True, check_finite=False))


def _variance(kernels: Sequence[Array], eta: Array, noise: Array) -> Array:
    V = np.diag(noise)
    for value, K in zip(eta, kernels, strict=True):
        V += value * K
    return V


def _variances(
    z: Array, Z: Array, kernels: Sequence[Array], noise: Array, scaled: bool, start: Array | None = None
) -> Array:
    """η of V = Σ η_k K_k + diag(noise) with the largest restricted likelihood, times any σ² if `scaled`.

    −2 log L = log|V| + log|ZᵀV⁻¹Z| + (n − rank Z) log(zᵀMz), or zᵀMz itself where σ² = 1 is known.
    """

    def loss(t: Array) -> tuple[float, Array]:
        eta = np.exp(t)
        L = factor(_variance(kernels, eta, noise))
        R = solve_triangular(L, np.eye(z.size), lower=True, check_finite=False)
        RZ = R @ Z
        free = orthonormal(RZ)
        B = R - free @ (free.T @ R)  # BᵀB = M
        e = B @ z
        m, total, dof = B.T @ e, float(e @ e), z.size - free.shape[1]
        s = np.linalg.svd(RZ, compute_uv=False)
        logdet = 2.0 * float(np.sum(np.log(np.diag(L)))) + 2.0 * float(np.sum(np.log(s[: free.shape[1]])))
        scale = dof / max(total, 1e-300) if scaled else 1.0
        slope = [np.sum(B * (B @ K)) - scale * float(m @ K @ m) for K in kernels]
        fit = dof * np.log(max(total, 1e-300)) if scaled else total
        return logdet + fit, eta * np.asarray(slope)

    low, high = np.log(_SMALLEST), np.log(_LARGEST)
    first = np.full(len(kernels), np.log(0.5 / len(kernels))) if start is None else np.log(start)
    bounds = [(low, high)] * len(kernels)
    found = minimize(loss, np.clip(first, low, high), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(np.exp(found.x))


def _logistic(y: Array, Z: Array) -> Array:
    """γ of the largest likelihood of y in {0, 1}; an error where covariates separate the labels."""
    gamma = np.zeros(Z.shape[1])
    for _ in range(_STEPS):
        f = Z @ gamma
        mu = expit(f)
        W = _weights(mu)
        root = np.sqrt(W)
        step, *_ = np.linalg.lstsq(root[:, None] * Z, (y - mu) / root, rcond=_RANK)
        gamma = gamma + step
        if np.max(np.abs(Z @ step)) <= _SETTLED * (1.0 + np.max(np.abs(f))):
            return np.asarray(gamma)
        if np.max(np.abs(Z @ gamma)) > _SEPARATED:
            break
    raise ValueError(
        "the covariates tell the two classes apart without error (or nearly so), so that the model without "
        "kernels has no best fit and nothing is left to test. Leave out the covariate that gives y away."
    )

"""Null models of tests of kernels: the distribution of y if the tested kernel is unrelated to it.

Linear: y = Zγ + u + ε with u ~ N(0, σ²K_η) of the kernels that are taken for granted (none, for a test of a
kernel by itself) and ε ~ N(0, σ²I). Binary and survival: a log-likelihood ℓ(f) of f = Zγ + u (`likelihoods`)
with score r and curvature W = AᵀA, and the working response z = Af + A⁺ᵀr in the place of y, AZ and AK_ηAᵀ in
those of Z and K_η (Breslow & Clayton 1993). All are the same to a test: with

    V = AK_ηAᵀ + I,      M = V⁻¹ − V⁻¹AZ(ZᵀAᵀV⁻¹AZ)⁻¹ZᵀAᵀV⁻¹ = BᵀB,      e = Bz,      s = AᵀBᵀe

the statistic of a kernel K is Q = sᵀKs, a quadratic form in e, which is white noise but for the directions
that Z takes. Without kernels in the null model s is the score r (the residuals, for a linear one).

Q is compared with the size of what it is made of, so that a kernel near the identity, whose Q is that size,
gains nothing by it: eᵀe, whose unknown variance cancels, for a linear model, and sᵀs for the others, whose
residuals are no more Gaussian than y is (a test without it hardly ever rejects narrow kernels in small
samples). Both have p = Pr(xᵀB(A K Aᵀ − q G)Bᵀx > 0) with x white, q the observed ratio and BGBᵀ its size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from .._fast.linalg import factor
from .likelihoods import Expansion, Likelihood
from .quadratic_forms import upper_tail

Array = NDArray[np.float64]
_STEPS = 50  # of Newton's method, and rounds of working responses
_HALVINGS = 30  # of a step that does not gain
_ROUNDING = 1e-12  # of the likelihood: a smaller loss is none
_SMALLEST, _LARGEST = 1e-5, 1e5  # variance of a kernel relative to the noise
_SEPARATED = 30.0  # spread of decisions: what is fitted is certain to rounding
_SETTLED = 1e-8  # relative change of decisions at which rounds end
_RANK = 1e-9  # relative size of a direction below which covariates are linearly dependent
_NOTHING = 1e-10  # of its own size: what is left of a kernel without the covariates is rounding
_PERMUTED = "Samples were permuted: valid where censoring does not depend on the kernel."

Draws = Callable[[int, np.random.RandomState], Array]


@dataclass(frozen=True)
class Null:
    """A fitted null model: white residuals e = Bz, and what makes the quadratic form of a kernel in them."""

    e: Array  # (m,)
    whiten: Array  # V^{−½}A: (n,) for a diagonal, or (m, n)
    free: Array  # (m, rank): an orthonormal basis of the whitened covariates
    draw: Draws | None = None  # (n, count): residuals s by chance; None for a linear model
    size: float = 1.0  # of what was explained: residuals are compared with it
    chance: str = "Residuals of the model without the kernel were permuted (Freedman & Lane)."

    @property
    def n_free(self) -> int:
        """Degrees of freedom that are left."""
        return int(self.e.size - self.free.shape[1])

    @property
    def exhausted(self) -> bool:
        """True if nothing but rounding is left of the target."""
        return float(np.linalg.norm(self.e)) <= _NOTHING * self.size

    def residual(self, E: Array) -> Array:
        """Whitened responses (m, …) without what the covariates explain of them."""
        return np.asarray(E - self.free @ (self.free.T @ E))

    def scores(self, E: Array) -> Array:
        """s (n, …) of whitened responses E (m, …)."""
        return _apply(self.whiten.T, self.residual(E))

    def form(self, K: Array) -> Array:
        """BAKAᵀBᵀ (m, m), symmetric."""
        A = self.residual(self.residual(_between(self.whiten, K)).T)
        return np.asarray(0.5 * (A + A.T))

    def sees(self, K: Array) -> bool:
        """Tell whether the covariates leave more than rounding of a kernel."""
        R = self.whiten
        whole = float(np.sum(np.diag(K) * (R * R if R.ndim == 1 else np.sum(R * R, axis=0))))
        return float(np.trace(self.form(K))) > _NOTHING * whole

    def statistic(self, K: Array, S: Array, size: Array) -> Array:
        """(count,): Q of residuals S (n, count) over their size, in units of the degrees of freedom."""
        return np.asarray(self.n_free * np.sum(S * (K @ S), axis=0) / size)

    def observed(self) -> tuple[Array, Array]:
        """The residuals s (n, 1) of y, and their size."""
        S = self.scores(self.e[:, None])
        return S, np.array([np.sum(self.e**2)]) if self.draw is None else np.sum(S * S, axis=0)

    def draws(self, count: int, rng: np.random.RandomState) -> tuple[Array, Array]:
        """Draw residuals (n, count) from the null model.

        Linear: permuted residuals (Freedman & Lane 1983). Others: of targets that are drawn from the fitted
        model, to first order in the change of the fit.
        """
        if self.draw is not None:
            S = self.draw(count, rng)
            return S, np.sum(S * S, axis=0)
        E = self.residual(np.stack([rng.permutation(self.e) for _ in range(count)], axis=1))
        return _apply(self.whiten.T, E), np.sum(E * E, axis=0)

    def test(self, K: Array) -> tuple[float, float]:
        """The statistic of kernel K, and the probability of one at least as large.

        That is 1 for a kernel that is a multiple of what its statistic is compared with: no two samples are
        more alike to it than others.
        """
        found = float(self.statistic(K, *self.observed())[0])
        A, q = self.form(K), found / self.n_free
        if self.draw is not None:
            values = np.asarray(np.linalg.eigvalsh(A - q * self.form(np.eye(len(K)))), dtype=np.float64)
        else:
            values = np.sort(np.linalg.eigvalsh(A))[::-1]
            values = np.concatenate([values[values > 0.0], np.zeros(values.size)])[: self.n_free] - q
        flat = float(np.abs(values).max()) <= _NOTHING * float(np.trace(A)) / self.n_free
        return found, 1.0 if flat else upper_tail(values)


def linear_null(y: Array, Z: Array, kernels: Sequence[Array] = ()) -> Null:
    """The linear null model of y, with the variance of each kernel by restricted maximum likelihood."""
    eta = _variances(y, Z, kernels, scaled=True) if kernels else np.empty(0)
    found = _null(y, Z, _root(kernels, eta, y.size))
    return replace(found, size=float(np.linalg.norm(y)))


def likelihood_null(target: Likelihood, Z: Array, kernels: Sequence[Array] = ()) -> Null:
    """The null model of a likelihood; with kernels by penalised quasi-likelihood."""
    Z = Z if target.has_level else _without_level(Z)
    f = Z @ _largest(target, Z)
    at, eta, steady = target.expand(f), np.full(len(kernels), 1e-2), f
    for _ in range(_STEPS if kernels else 0):
        before = f
        eta, steady, f = _round(at, f, Z, kernels, eta)
        at = target.expand(f)
        if np.max(np.abs(f - before)) <= 1e-4 * (1.0 + np.max(np.abs(f))):
            break
    z, root = _working(at, f), _root([_between(at.root, K) for K in kernels], eta, at.inverse.shape[0])
    found = _null(z, _apply(at.root, Z), root)
    found = replace(found, whiten=_compose(root, at.root))

    permuted = target.exchangeable and not kernels and not Z.shape[1]

    def drawn(count: int, rng: np.random.RandomState) -> Array:
        if permuted:
            return np.stack([rng.permutation(at.score) for _ in range(count)], axis=1)
        U = np.zeros((f.size, count))
        if kernels:
            K = np.asarray(sum(h * K for h, K in zip(eta, kernels, strict=True)))
            U = np.tril(factor(K)) @ rng.normal(size=U.shape)
        score = target.draw(steady[:, None] + U, rng)
        return found.scores(_apply(root, _apply(at.root, U) + _apply(at.inverse, score)))

    return replace(found, draw=drawn, chance=_PERMUTED if permuted else target.drawn)


def _round(
    at: Expansion, f: Array, Z: Array, kernels: Sequence[Array], eta: Array
) -> tuple[Array, Array, Array]:
    """Variances for the working response at f, the part Zγ of the decisions, and these."""
    z, AZ, seen = _working(at, f), _apply(at.root, Z), [_between(at.root, K) for K in kernels]
    eta = _variances(z, AZ, seen, scaled=False, start=eta)
    root = _root(seen, eta, z.size)
    m = root.T @ _null(z, AZ, root).e  # Mz
    left = z - _variance(seen, eta, z.size) @ m  # AZγ
    gamma = np.linalg.lstsq(AZ, left, rcond=_RANK)[0] if Z.shape[1] else np.empty(0)
    back = _apply(at.root.T, m)
    steady = Z @ gamma
    return eta, steady, steady + sum(h * (K @ back) for h, K in zip(eta, kernels, strict=True))


def _largest(target: Likelihood, Z: Array) -> Array:
    """γ of the largest likelihood; an error where covariates leave nothing to test."""
    gamma = np.zeros(Z.shape[1])
    for _ in range(_STEPS if gamma.size else 0):
        f = Z @ gamma
        at = target.expand(f)
        step, *_ = np.linalg.lstsq(_apply(at.root, Z), _apply(at.inverse, at.score), rcond=_RANK)
        moved = Z @ step
        if np.max(np.abs(moved)) <= _SETTLED * (1.0 + np.max(np.abs(f))):
            return np.asarray(gamma + step)
        before, size = target.value(f), 1.0
        least = before - _ROUNDING * (1.0 + abs(before))
        for _ in range(_HALVINGS):
            if target.value(f + size * moved) >= least:
                break
            size *= 0.5
        gamma = gamma + size * step
        if np.ptp(Z @ gamma) > _SEPARATED:
            break
    if not gamma.size:
        return gamma
    raise ValueError(target.separated)


def _without_level(Z: Array) -> Array:
    """The covariates without the constant, which the likelihood does not see."""
    moved = Z - Z.mean(axis=0)
    return np.asarray(moved[:, np.linalg.norm(moved, axis=0) > _RANK * np.linalg.norm(Z, axis=0)])


def _working(at: Expansion, f: Array) -> Array:
    """z = Af + A⁺ᵀr."""
    return np.asarray(_apply(at.root, f) + _apply(at.inverse, at.score))


def _null(z: Array, Z: Array, root: Array) -> Null:
    free = orthonormal(_apply(root, Z))
    e = _apply(root, z)
    return Null(e - free @ (free.T @ e), root, free)


def orthonormal(Z: Array) -> Array:
    """An orthonormal basis of the columns of Z, without those that depend on others."""
    if Z.shape[1] == 0:
        return Z
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return np.asarray(U[:, s > _RANK * max(float(s.max()), 1e-300)])


def _apply(root: Array, A: Array) -> Array:
    return np.asarray(root @ A if root.ndim == 2 else (root * A.T).T)


def _between(root: Array, K: Array) -> Array:
    """RKRᵀ."""
    return np.asarray(K * root * root[:, None] if root.ndim == 1 else root @ K @ root.T)


def _compose(left: Array, right: Array) -> Array:
    """The product of two matrices, of which each may be a diagonal."""
    if left.ndim == 1:
        return _apply(left, right)
    return np.asarray(left * right if right.ndim == 1 else left @ right)


def _root(kernels: Sequence[Array], eta: Array, m: int) -> Array:
    """V^{−½} for V = Σ η_k K_k + I: the inverse of a Cholesky factor, or a diagonal."""
    if not kernels:
        return np.ones(m)
    L = factor(_variance(kernels, eta, m))
    return np.asarray(solve_triangular(L, np.eye(m), lower=True, check_finite=False))


def _variance(kernels: Sequence[Array], eta: Array, m: int) -> Array:
    V = np.eye(m)
    for value, K in zip(eta, kernels, strict=True):
        V += value * K
    return V


def _variances(
    z: Array, Z: Array, kernels: Sequence[Array], scaled: bool, start: Array | None = None
) -> Array:
    """η of V = Σ η_k K_k + I with the largest restricted likelihood, times any σ² if `scaled`.

    −2 log L = log|V| + log|ZᵀV⁻¹Z| + (n − rank Z) log(zᵀMz), or zᵀMz itself where σ² = 1 is known.
    """

    def loss(t: Array) -> tuple[float, Array]:
        eta = np.exp(t)
        L = factor(_variance(kernels, eta, z.size))
        R = solve_triangular(L, np.eye(z.size), lower=True, check_finite=False)
        RZ = R @ Z
        free = orthonormal(RZ)
        B = R - free @ (free.T @ R)  # BᵀB = M
        e = B @ z
        m, total, dof = B.T @ e, float(e @ e), z.size - free.shape[1]
        s = np.linalg.svd(RZ, compute_uv=False) if Z.shape[1] else np.empty(0)
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

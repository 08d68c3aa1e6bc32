"""Widths of features learned again, from many rows: by the error in folds, at landmarks.

`families.Relevance` learns widths from the evidence of at most a thousand samples. A feature that only more
samples show to matter has no part in its kernels, and all widths are those of few samples. With landmarks l,
widths 1/√γ_i and weights θ,

    k(x, l) = Σ_s θ_s exp(−s⁻² Σ_i γ_i (x_i − l_i)²) + Σ_q θ_q k_q(x, l) + Σ θ

has derivatives by γ and θ, and so has the error in folds. With K of all rows and W of the landmarks, c the
costs of errors, and β_F learned outside of the fold F:

    M_F = Σ_{i∉F} c_i k_i k_iᵀ + W,     M_F β_F = Σ_{i∉F} c_i k_i y_iᵀ,     E = Σ_F Σ_{i∈F} c_i ‖r_i‖²

where r_i = β_Fᵀk_i − y_i, and none of it where a decision on a class is beyond ±1. With M_F a_F = Σ_{i∈F}
c_i k_i r_iᵀ the derivative is ½ dE = Σ_F (Σ_{i∈F} c_i ⟨β_F r_i, dk_i⟩ + Σ_{i∉F} c_i ⟨a_F (y_i − β_Fᵀk_i) −
β_F a_Fᵀk_i, dk_i⟩ − ⟨a_F β_Fᵀ, dW⟩): matrices of low rank, so that most of the work is the sums M_F, which
E itself needs. The sum over folds of M is made once, and each fold is taken from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .._fast import elementwise
from .._fast.linalg import factor, solve
from .._fast.stopping import goes_on
from ..fitting.layout import take
from ..kernels import ARDGaussian
from ..kernels.fitted import Fitted
from ..kernels.prepared import Prepared
from ..kernels.stationary import squared_distances

Array = NDArray[np.float64]
_FOLDS = 3
_STEPS = 20  # values of E, at most
_LEAST = 0.05  # of the mean γ, to begin with: where γ is nearly zero, nothing says that it should grow
_FAINT = 0.01  # of the largest weight, to begin with
_LARGEST = 1e4  # of C, to begin with
_JITTER = 1e-9  # of the mean diagonal of M
_OTHERS = 20  # kernels without widths whose matrices are held, at most


@dataclass(frozen=True)
class Learned:
    """Kernels with the widths that were learned, and their weights at C = 1."""

    kernels: list[Any]
    weights: Array


def has_widths(kernels: Sequence[Any]) -> bool:
    """Whether these are kernels of one set of widths, and others, without constants of other widths."""
    own = [kernel for kernel in kernels if _is_wide(kernel)]
    if not own or len(kernels) - len(own) > _OTHERS:
        return False
    first = np.asarray(own[0].kernel.kernel.widths)
    plain = all(k.normalize in (None, "trace", "max", "cosine") and k.rest_ is None for k in own)
    ratios = [np.asarray(kernel.kernel.kernel.widths) / first for kernel in own]
    return plain and all(bool(np.allclose(ratio, ratio[0])) for ratio in ratios)


def _is_wide(kernel: Any) -> bool:
    inside = kernel.kernel if isinstance(kernel, Fitted) and not kernel.center else None
    return isinstance(inside, Prepared) and isinstance(inside.kernel, ARDGaussian)


def learn_again(
    kernels: Sequence[Any], weights: Array, X: Any, Y: Array, cost: Array | None, count: int, clip: bool
) -> Learned:
    """From these widths and weights (at C = 1), on rows in a random order, the first `count` as landmarks.

    Y (n, outputs) holds numbers or, with `clip`, ±1.
    """
    problem = _Error(kernels, X, Y, cost, min(count, len(Y) // 2), clip)
    own = [m for m, kernel in enumerate(kernels) if _is_wide(kernel)]
    gamma = np.asarray(kernels[own[0]].kernel.kernel.widths) ** -2.0
    theta = np.maximum(weights, _FAINT * weights.max())
    theta *= min(1.0, _LARGEST / theta.max())
    start = np.log(np.concatenate([np.maximum(gamma, _LEAST * gamma.mean()), theta]))
    d, middle = gamma.size, float(np.median(start[: gamma.size]))
    found = minimize(
        problem,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(middle - 14.0, middle + 10.0)] * d + [(-10.0, 14.0)] * theta.size,
        options={"maxfun": _STEPS, "maxcor": 15, "ftol": 1e-4},
        callback=_pause,
    )
    best = problem.best if found.fun > problem.lowest else found.x
    widths = np.exp(-0.5 * best[:d])
    made = [
        _with_widths(kernel, widths / np.sqrt(problem.rates[own.index(m)])) if m in own else kernel
        for m, kernel in enumerate(kernels)
    ]
    return Learned(made, np.exp(best[d:]))


def _pause(_: Array) -> None:
    """After each step: end with the widths so far if somebody asked to stop."""
    if not goes_on(0, 1):
        raise StopIteration


def _with_widths(kernel: Any, widths: Array) -> Fitted:
    """The same kernel with other widths. The diagonal of a Gaussian is 1 whatever they are."""
    inside = kernel.kernel
    made = Prepared(ARDGaussian(tuple(widths.tolist())), inside.preparation, inside.part, name=inside.name)
    fitted = Fitted.from_constants(inside._told(made), kernel.scale_, normalize=kernel.normalize)
    fitted.name = kernel.name
    return kernel._told(fitted)  # type: ignore[no-any-return]


class _Error:
    """E and its derivatives by log γ and log θ."""

    def __init__(
        self, kernels: Sequence[Any], X: Any, Y: Array, cost: Array | None, count: int, clip: bool
    ) -> None:
        self.own = [m for m, kernel in enumerate(kernels) if _is_wide(kernel)]
        wide = [kernels[m] for m in self.own]
        first = np.asarray(wide[0].kernel.kernel.widths)
        self.rates = [float(first[0] / np.asarray(k.kernel.kernel.widths)[0]) ** 2 for k in wide]
        self.sizes = [float(kernel.scale_) for kernel in wide]
        inside = wide[0].kernel
        self.A = np.ascontiguousarray(inside.preparation.transform(X, inside.part), dtype=np.float64)
        self.L = self.A[:count]
        landmarks = take(X, np.arange(count))
        self.others = {m: kernels[m](X, landmarks) for m in range(len(kernels)) if m not in self.own}
        self.clip, self.M = clip, len(kernels)
        mean, spread = (np.zeros(Y.shape[1]), 1.0) if clip else (Y.mean(axis=0), Y.std(axis=0))
        c = np.ones(len(Y)) if cost is None else cost / cost.mean()
        self.root = np.sqrt(c)[:, None]
        self.Y = self.root * (Y - mean) / np.where(np.asarray(spread) > 0.0, spread, 1.0)
        edges = np.linspace(0, len(Y), _FOLDS + 1).astype(int)
        self.folds = [slice(a, b) for a, b in pairwise(edges)]
        self.lowest, self.best, self.unit = np.inf, np.empty(0), 0.0

    def __call__(self, p: Array) -> tuple[float, Array]:
        """E relative to the first one, so that "little" means little of it."""
        d = self.A.shape[1]
        gamma, theta = np.exp(p[:d]), np.exp(p[d:])
        parts = self._parts(gamma)
        K, W = np.full((len(self.A), len(self.L)), theta.sum()), np.full(2 * (len(self.L),), theta.sum())
        for weight, part in zip(theta, parts, strict=True):
            K += weight * part
            W += weight * part[: len(self.L)]
        K *= self.root
        try:
            value, E, V = self._of_matrices(K, W)
        except np.linalg.LinAlgError:
            return 1e10, np.zeros_like(p)
        self.unit = self.unit or value or 1.0
        value /= self.unit
        if value < self.lowest:
            self.lowest, self.best = value, p.copy()
        E *= self.root
        E[: len(self.L)] += V  # of the landmarks among themselves, which are the first rows
        total = E.sum()
        by_theta = [theta[m] * (np.vdot(E, part) + total) for m, part in enumerate(parts)]
        slope = np.zeros_like(E)
        for m, rate in zip(self.own, self.rates, strict=True):
            slope += (rate * theta[m]) * parts[m]
        slope *= E
        by_gamma = -gamma * self._moments(slope)
        return value, (2.0 / (self.Y.size * self.unit)) * np.concatenate([by_gamma, by_theta])

    def _parts(self, gamma: Array) -> list[Array]:
        """Every kernel between rows and landmarks."""
        root = np.sqrt(gamma)
        D = squared_distances(self.A * root, self.L * root)
        found = dict(self.others)
        for m, rate, size in zip(self.own, self.rates, self.sizes, strict=True):
            found[m] = np.empty_like(D)
            elementwise.exp(D, -rate, found[m])
            if size != 1.0:
                found[m] *= size
        return [found[m] for m in range(self.M)]

    def _of_matrices(self, K: Array, W: Array) -> tuple[float, Array, Array]:
        """E over its number of terms, and half its derivatives by the entries of K and W, without that."""
        sums = [K[fold].T @ K[fold] for fold in self.folds]
        rights = [K[fold].T @ self.Y[fold] for fold in self.folds]
        M, right = sum(sums) + W, sum(rights)
        value, V, left, beside = 0.0, np.zeros_like(W), list[Array](), list[Array]()
        for fold, own, Z in zip(self.folds, sums, rights, strict=True):
            L = factor(M - own, _JITTER)
            beta = solve(L, right - Z)
            r = K @ beta - self.Y
            held = r[fold]
            if self.clip:  # a decision beyond ±1 on the side of its class
                held = held * (r[fold] * self.Y[fold] < 0.0)
            value += float(np.vdot(held, held))
            a = solve(L, K[fold].T @ held)
            u, v = -(K @ a), -r
            u[fold], v[fold] = held, 0.0
            left += [u, v]
            beside += [beta, a]
            V -= a @ beta.T
        return value / self.Y.size, np.hstack(left) @ np.hstack(beside).T, V

    def _moments(self, S: Array) -> Array:
        """Σ_il S_il (x_ij − l_lj)² of each feature j."""
        A, L = self.A, self.L
        mixed = np.einsum("ij,ij->j", A, S @ L)
        return np.asarray(S.sum(axis=1) @ (A * A) + S.sum(axis=0) @ (L * L) - 2.0 * mixed)

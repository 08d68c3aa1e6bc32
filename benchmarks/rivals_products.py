"""What one would do about products without an oracle: list them all, and alternate over the list."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from manykernels.losses import Squared
from manykernels.penalties import LpBall

from .problems import Array, risk_of

_CHUNK = 4096  # features that are scaled together, so that no second copy of all of them is made


@dataclass(frozen=True)
class Alternated:
    """Weights, the objective of every round, and the last one's certificate over the list, all kernels."""

    theta: Array
    objective: list[float]
    gap: float

    @property
    def primal(self) -> float:
        return self.objective[-1]


def product_features(X: Array, degree: int) -> Array:
    """(M, n): every product of at most `degree` columns of X, of mean square 1, then less its mean.

    The means are what the intercept of the problem takes up.
    """
    rows = [np.ones((1, len(X)))]
    last = np.zeros(1, dtype=int)
    for _ in range(degree):
        longer = [rows[-1][last <= j] * X[:, j] for j in range(X.shape[1])]
        last = np.concatenate([np.full(len(part), j) for j, part in enumerate(longer)])
        rows.append(np.concatenate(longer))
    F = np.concatenate(rows)
    F /= np.sqrt(np.einsum("ij,ij->i", F, F) / len(X))[:, None]
    F -= F.mean(axis=1)[:, None]
    return F


def alternating_features(F: Array, y: Array, C: float, rounds: int) -> Alternated:
    """Squared loss, norm 1: ridge regression with K_θ = Fᵀ diag(θ) F, then Kloft's update, all by BLAS.

        α = (K_θ + I/C)⁻¹ y,     a_m = θ_m |f_mᵀα|,     θ_m = a_m / Σ a

    K_θ is a product of a matrix with its own transpose, for which NumPy takes SYRK: half the work of GEMM.
    """
    target, (M, n) = y - y.mean(), F.shape
    penalty, risk = LpBall(1.0), risk_of(y, C, Squared())
    theta, objective = np.full(M, 1.0 / M), []
    for _ in range(rounds):
        K = np.zeros((n, n))
        for lo, hi in itertools.pairwise([*range(0, M, _CHUNK), M]):
            part = np.sqrt(theta[lo:hi])[:, None] * F[lo:hi]
            K += part.T @ part
        without = K.copy()
        K[np.diag_indices(n)] += 1.0 / C
        alpha = cho_solve(cho_factor(K, lower=True, overwrite_a=True, check_finite=False), target)
        score = np.abs(F @ alpha)
        used, a = theta, theta * score
        theta = a / a.sum()
        f = without @ alpha + y.mean()
        objective.append(0.5 * float(a.sum()) ** 2 + risk.value(f[:, None]))
    dual = risk.dual(alpha[:, None], np.array([score.max() ** 2]), penalty, 0.0)
    return Alternated(used, objective, (objective[-1] - dual) / objective[-1])

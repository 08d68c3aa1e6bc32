"""From sums over rows to a few *pseudo-samples* on which every solver runs as it is.

Let [Φ Y]ᵀ diag(c) [Φ Y] = RᵀR (centred where there is an intercept). The rows of R are p + k samples with
features R_Φ and targets R_Y, of cost C each, and for all w

    Σ_i c_i ‖y_i − wᵀφ_i‖² = ‖R_Y − R_Φ w‖²,      ⟨K_k, K_l⟩_F = ‖Φ_kᵀΦ_l‖² = ‖R_kᵀR_l‖²,

so the squared loss, its dual, its gap and every alignment are those of all n samples, at a cost that does
not depend on n.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack, solve_triangular

from ..approx.lacking import Lacking
from .base import Array, Atoms
from .checks import FLAT
from .factors import FactorGram
from .statistics import Statistics, mirrored

Ptr = NDArray[np.intp]
_FEW = 0.4  # of the samples: below this many columns their SYRK is cheaper than a triangular product


@dataclass(frozen=True)
class Constants:
    """The constants that centre and scale the features of every kernel: ψ = √s (φ − μ)."""

    scale: Array  # (M,): s; 0 for a kernel that is zero
    mean: Array | None  # (p,): μ where kernels are centred
    flat: NDArray[np.bool_]  # (M,): kernels that are the same for all samples
    zero: NDArray[np.bool_]  # (M,): kernels that are zero, once centred

    def roots(self, ptr: Ptr) -> Array:
        """(p,): √s of each feature."""
        return np.repeat(np.sqrt(self.scale), np.diff(ptr))


def constants(
    S: Statistics,
    ptr: Ptr,
    center: bool,
    normalize: str | None,
    norms: Array | None = None,
    lacking: Lacking | None = None,
) -> Constants:
    """Compute the constants of centring and normalising the kernels ⟨φ_m, φ_m⟩ (as in `build_gram`).

    The trace is that of the samples that have the view of a kernel, where some are ``lacking`` it. ``norms``
    are ‖K_m‖_F of the (centred) kernels, which are found here if S has the products they need.
    """
    mean = S.sums / S.total
    traces = np.add.reduceat(S.squares, ptr[:-1])
    centred = np.add.reduceat(np.maximum(S.squares - S.total * mean**2, 0.0), ptr[:-1])
    flat = ~(centred > FLAT * traces)
    own = np.where(flat, 0.0, centred) if center else traces
    zero = ~(own > 0.0)
    if normalize is None or normalize == "cosine":  # cosine is in the features already
        size = np.ones(own.size)
    elif normalize == "trace":
        size = own / S.total
        if lacking is not None:
            size = lacking.over_present(size, mean if center else None, ptr)
            zero |= ~(size > 0.0)
    elif normalize == "max":
        size = S.largest
    else:
        size = _frobenius(S, ptr, mean if center else None) if norms is None else norms
    scale = np.divide(1.0, size, out=np.zeros_like(own), where=~zero)
    return Constants(scale, mean if center else None, flat, zero)


def _frobenius(S: Statistics, ptr: Ptr, mean: Array | None) -> Array:
    """‖K_m‖_F = ‖Φ_mᵀΦ_m‖_F."""
    parts = [slice(a, b) for a, b in itertools.pairwise(ptr)]
    shift = [0.0 if mean is None else S.total * np.outer(mean[own], mean[own]) for own in parts]
    return np.array([np.linalg.norm(S.G[own, own] - c) for own, c in zip(parts, shift, strict=True)])


class LowRankGram(FactorGram):
    """Kernels K_m = R_m R_mᵀ of pseudo-samples, R = U Pᵀ with U (r, p) trapezoidal: from a Cholesky factor.

    `extra` samples have no features at all. K_θ = U D Uᵀ is a product of triangles, a third of a SYRK.
    """

    def __init__(self, U: Array, order: NDArray[np.intp], ptr: Ptr, extra: int) -> None:
        r, p = U.shape
        R = np.zeros((r + extra, p))
        R[:r, order] = U
        super().__init__(R, ptr)
        self.U, self.order = np.asfortranarray(U), order
        self.owner = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))

    def _combine(self, atoms: Atoms, weights: Array, out: Array) -> None:
        d = np.zeros(self.n_kernels)
        np.add.at(d, atoms, weights)
        used = d[self.owner] != 0.0
        r = self.U.shape[0]
        if np.any(d < 0.0) or not r:
            return super()._combine(atoms, weights, out)
        root = np.sqrt(d)[self.owner]
        out[r:], out[:, r:] = 0.0, 0.0
        K: Array
        if np.count_nonzero(used) < _FEW * r:
            K = np.zeros((r, r), order="F")
            columns = self.features[:r, used] * root[used]
        else:
            V = self.U * root[self.order]
            K, _ = lapack.dlauum(V[:, :r], lower=0)
            columns = V[:, r:][:, used[self.order[r:]]]
        if columns.shape[1]:
            K = blas.dsyrk(1.0, np.asfortranarray(columns), beta=1.0, c=K, lower=0, overwrite_c=1)
        out[:r, :r] = mirrored_lower(K.T)
        return None

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        """‖R_mᵀα‖², read for all kernels together."""
        inner = np.square(self.features.T @ A)
        return np.asarray(np.add.reduceat(inner, self.ptr[:-1], axis=0)[atoms])

    def _products(self, A: Array, atoms: Atoms) -> Array:
        inner = self.features.T @ A
        P = np.empty((atoms.size, self.n, A.shape[1]))
        for position, m in enumerate(atoms):
            own = slice(self.ptr[m], self.ptr[m + 1])
            np.matmul(self.features[:, own], inner[own], out=P[position])
        return P


def mirrored_lower(A: Array) -> Array:
    """A symmetric matrix from its lower triangle (C order), in place."""
    mirrored(A.T)
    return A


@dataclass(frozen=True)
class Reduced:
    """The pseudo-samples of a problem, and the way back to features."""

    gram: FactorGram
    targets: Array  # (n', k)
    constants: Constants
    feature_means: (
        Array  # (p,): of φ − μ, weighted by cost; zero without an intercept; (r, p) with covariates
    )
    target_means: Array  # (k,), or (r, k)

    def coefficients(self, theta: Array, alpha: Array) -> Array:
        """(p, k): f(x) = (φ(x) − μ)ᵀ coefficients + intercept, from weights and dual coefficients."""
        ptr = self.gram.ptr
        per_feature = np.repeat(theta, np.diff(ptr)) * self.constants.roots(ptr)
        return np.asarray(per_feature[:, None] * (self.gram.features.T @ alpha))

    def intercept(self, coefficients: Array) -> Array:
        """(k,); with covariates (r, k): the coordinates of the unpenalised part in their basis."""
        return np.asarray(self.target_means - self.feature_means @ coefficients)


def reduce(S: Statistics, ptr: Ptr, known: Constants, intercept: bool) -> Reduced:
    """The pseudo-samples of the sums S, with the intercept (where there is one) taken out of them.

    Cholesky's factor is pivoted and ends where only rounding errors are left: features that depend on each
    other cost nothing, and nothing is added to the diagonal.
    """
    G, Z, T, feature_means, target_means = _products(S, known.mean, intercept)
    root = known.roots(ptr)
    G *= root
    G *= root[:, None]
    U, order = _pivoted(G)
    right = (root[:, None] * Z)[order[: len(U)]]
    top = solve_triangular(U[:, : len(U)], right, trans="T", check_finite=False) if len(U) else right
    values, Q = np.linalg.eigh(T - top.T @ top)
    rest = np.sqrt(np.maximum(values, 0.0))[:, None] * Q.T  # what no feature can explain
    gram = LowRankGram(U, order, ptr, rest.shape[0])
    return Reduced(gram, np.concatenate([top, rest]), known, feature_means, target_means)


def reduce_rows(Phi: Array, Y: Array, cost: Array, ptr: Ptr, known: Constants, intercept: bool) -> Reduced:
    """The same from the samples themselves, where they are fewer than features; overwrites Φ."""
    if known.mean is not None:
        Phi -= known.mean
    feature_means, target_means = np.zeros(Phi.shape[1]), np.zeros(Y.shape[1])
    if intercept:
        feature_means, target_means = np.average(Phi, 0, cost), np.average(Y, 0, cost)
        Phi -= feature_means
    Phi *= np.sqrt(cost)[:, None]
    Phi *= known.roots(ptr)
    targets = (Y - target_means) * np.sqrt(cost)[:, None]
    return Reduced(FactorGram(Phi, ptr), targets, known, feature_means, target_means)


def reduce_beside(Phi: Array, Y: Array, cost: Array, ptr: Ptr, known: Constants, Z: Array) -> Reduced:
    """The same with covariates, whose basis (with the constant) is Z (n, r); overwrites Φ.

    Features and targets are less their projections on Z by cost, which γ takes up.
    """
    if known.mean is not None:
        Phi -= known.mean
    heavy = cost[:, None] * Z
    inverse = np.linalg.inv(Z.T @ heavy)
    features, targets = inverse @ (heavy.T @ Phi), inverse @ (heavy.T @ Y)
    Phi -= Z @ features
    rest = Y - Z @ targets
    if len(Phi) <= Phi.shape[1]:
        Phi *= np.sqrt(cost)[:, None]
        Phi *= known.roots(ptr)
        return Reduced(FactorGram(Phi, ptr), rest * np.sqrt(cost)[:, None], known, features, targets)
    beside = np.column_stack([rest, np.ones(len(rest))])
    G, right, T = (A.T @ (cost[:, None] * B) for A, B in ((Phi, Phi), (Phi, beside), (beside, beside)))
    nothing = np.zeros(Phi.shape[1])
    S = Statistics(G, right, T, nothing, nothing, float(len(Phi)), np.empty(0), len(Phi))
    found = reduce(S, ptr, replace(known, mean=None), intercept=False)
    return replace(found, constants=known, feature_means=features, target_means=targets)


def _products(S: Statistics, mu: Array | None, intercept: bool) -> tuple[Array, Array, Array, Array, Array]:
    """Σ c ψψᵀ, Σ c ψyᵀ and Σ c yyᵀ of ψ = φ − μ and y, less their means where there is an intercept."""
    k, N = S.outputs, float(S.T[-1, -1])
    G, Z, T = S.G.copy(), S.Z.copy(), S.T[:k, :k].copy()
    if mu is not None:
        s = S.Z[:, -1]
        half = np.outer(mu, s - 0.5 * N * mu)
        G -= half
        G -= half.T
        Z -= np.outer(mu, S.T[-1])
    means, target_means = np.zeros(len(Z)), np.zeros(k)
    if intercept:
        s, t = Z[:, -1], S.T[:k, -1]
        means, target_means = s / N, t / N
        G -= np.outer(s, means)
        Z = Z - np.outer(s, S.T[-1] / N)
        T -= np.outer(t, target_means)
    return G, np.ascontiguousarray(Z[:, :k]), T, means, target_means


def _pivoted(G: Array) -> tuple[Array, NDArray[np.intp]]:
    """(U, order) with G[order, order] = UᵀU, U (rank, p) upper trapezoidal; overwrites G."""
    p = len(G)
    rounding = p * np.finfo(float).eps * max(float(G.diagonal().max(initial=0.0)), 0.0)
    if not rounding > 0.0:
        return np.zeros((0, p)), np.arange(p)
    U, pivots, rank, _ = lapack.dpstrf(G.T, tol=rounding, lower=0, overwrite_a=1)
    return np.triu(U)[:rank], pivots.astype(np.intp) - 1


def without_means(reduced: Reduced) -> tuple[FactorGram, Array]:
    """The same pseudo-samples, turned so that features and targets have mean zero over them.

    Alignment takes means out of whatever samples it is given. With a row of zeros added, the reflection that
    takes it to 1/√n' makes all sums zero, and leaves all products between columns as they are.
    """
    R, Y = reduced.gram.features, reduced.targets
    n = len(R) + 1
    v = np.full(n, 1.0 / np.sqrt(n))
    v[-1] -= 1.0
    v *= np.sqrt(2.0) / max(float(np.linalg.norm(v)), 1e-300) if n > 1 else 0.0
    turned = []
    for A in (R, Y):
        B = np.concatenate([A, np.zeros((1, A.shape[1]))])
        turned.append(B - np.outer(v, v @ B))
    return FactorGram(turned[0], reduced.gram.ptr), turned[1]


def squared_error(S: Statistics, coefficients: Array, intercept: Array, mean: Array | None) -> Array:
    """(k,): Σ c (y − f(x))² of f(x) = (φ(x) − μ)ᵀ coefficients + intercept over the samples of S."""
    k = S.outputs
    b = intercept if mean is None else intercept - mean @ coefficients
    W = np.concatenate([-np.eye(k), b[None]])  # f − y = φᵀ coefficients + [y 1] W
    both = np.einsum("pk,pk->k", coefficients, S.G @ coefficients + 2.0 * (S.Z @ W))
    return np.asarray(np.maximum(both + np.einsum("ak,ak->k", W, S.T @ W), 0.0))

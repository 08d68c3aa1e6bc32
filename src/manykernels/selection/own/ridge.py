"""Kernel ridge regression of many targets at shared weights θ, for all values of C at once.

The machine is (K_θ + W⁻¹/C)α + b1 = y with 1ᵀα = 0. Let D = W^½, and Q be an orthonormal basis of what is
orthogonal to D1 (of everything where no intercept is fitted), so that constants leave the spectrum. Then
α = DQβ with (B_θ + λI)β = QᵀDy, B_θ = QᵀDK_θDQ and λ = 1/C: with B_θ = U diag(d) Uᵀ every C costs a scaling.
Kernels with p features in all, fewer than samples, have Q of p columns, and nothing is n × n; the rest of y,
which they do not reach, is left as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.linalg.blas import dsyr2

from ...approx import OwnFeatures
from ...approx.own import has_own_map
from ...families import resolve_kernels
from ...fitting.dictionary import bind
from ...fitting.featured import Mapped, constants_of_rows, map_kernels
from ...fitting.listed import Listed
from ...fitting.options import Options
from ...fitting.samples import Samples
from ...grams import Gram
from ...kernels import Fitted, evaluate

Array = NDArray[np.float64]
Real = NDArray[Any]  # float32 or float64
_KEPT = 3 << 28  # bytes of eigenvectors that are kept for the end
_THIN = 0.7  # of the samples: with fewer features their factorisation is the cheaper one
_FLAT = 1e-9  # of the largest: directions of features that are rounding


class Basis(ABC):
    """Q, as a way in and a way out."""

    size: int  # columns of Q

    @abstractmethod
    def inward(self, A: Real) -> Real:
        """QᵀA."""

    @abstractmethod
    def outward(self, A: Real) -> Real:
        """QA."""


class Everything(Basis):
    """Q = I: no intercept."""

    def __init__(self, n: int) -> None:
        self.size = n

    def inward(self, A: Real) -> Real:
        return A

    def outward(self, A: Real) -> Real:
        return A


class WithoutConstant(Basis):
    """The columns of the reflection H = I − τvvᵀ that takes z to a multiple of e₁, but for the first."""

    def __init__(self, z: Array) -> None:
        self.v = z / np.linalg.norm(z)
        self.v[0] += 1.0 if self.v[0] >= 0 else -1.0
        self.tau = 2.0 / float(self.v @ self.v)
        self.size = z.size - 1

    def inward(self, A: Real) -> Real:
        v = self.v.astype(A.dtype)
        return np.asarray(A[1:] - np.outer(v[1:], self.tau * (v @ A)))

    def outward(self, A: Real) -> Real:
        v = self.v.astype(A.dtype)
        found = np.multiply.outer(v, -self.tau * (v[1:] @ A))
        found[1:] += A
        return np.asarray(found)


class Thin(Basis):
    """Q itself, of few columns."""

    def __init__(self, Q: Array) -> None:
        self.Q, self.size = Q, Q.shape[1]

    def inward(self, A: Real) -> Real:
        return np.asarray(self.Q.T.astype(A.dtype, copy=False) @ A)

    def outward(self, A: Real) -> Real:
        return np.asarray(self.Q.astype(A.dtype, copy=False) @ A)


@dataclass(frozen=True)
class Spectrum:
    """B_θ = U diag(d) Uᵀ."""

    d: Array
    U: Array


class Ridge(ABC):
    """The kernels on training samples of weights w, seen from Q."""

    def __init__(
        self, samples: Samples, fit_intercept: bool, names: list[str], kernels: list[Fitted]
    ) -> None:
        self.samples, self.names, self.kernels = samples, names, kernels
        self.root = np.sqrt(samples.costs)  # the diagonal of D
        self.fit_intercept = fit_intercept
        self.n = samples.n
        self.useless = np.zeros(len(names), dtype=bool)  # kernels that say nothing
        self.basis: Basis
        self._spectra: dict[bytes, Spectrum] = {}

    @property
    def free(self) -> int:
        """Dimensions of y, but for the constant."""
        return self.n - int(self.fit_intercept)

    @abstractmethod
    def matrix(self, theta: Array) -> Array:
        """B_θ, at least its lower triangle."""

    @abstractmethod
    def against(self, spectrum: Spectrum, T: Array) -> Array:
        """(M,): ⟨UTUᵀ, B_m⟩ of symmetric T, for derivatives."""

    @abstractmethod
    def seen_by(self, new: Any) -> Unseen:
        """The kernels between new samples and these."""

    @abstractmethod
    def mean_rows(self) -> Array:
        """(M, n): the weighted mean over the training samples of k_m(x, x_i)."""

    def spectrum(self, theta: Array) -> Spectrum:
        """Eigenvalues, none below zero, and eigenvectors of B_θ; the last ones are kept."""
        kept = self._spectra.pop(key := theta.tobytes(), None)
        if kept is None:
            B = self.matrix(theta).T  # as LAPACK reads it: the upper triangle of this is the lower one of B
            d, U = eigh(B, lower=False, driver="evd", overwrite_a=True, check_finite=False)
            kept = Spectrum(np.maximum(d, 0.0), U)
        self._spectra[key] = kept
        while len(self._spectra) > 1 and len(self._spectra) * kept.U.nbytes > _KEPT:
            self._spectra.pop(next(iter(self._spectra)))
        return kept

    def means(self, Y: Real) -> Array:
        """The weighted means of targets; 0 without an intercept."""
        if not self.fit_intercept:
            return np.zeros(Y.shape[1])
        w = self.samples.costs
        return np.asarray((w @ Y) / w.sum(), dtype=np.float64)

    def whitened(self, Y: Array) -> Array:
        """D(Y − mean): what the machine has to explain."""
        return np.asarray(self.root[:, None] * (Y - self.means(Y)))


class Unseen(ABC):
    """K_θ between new samples and training samples, less its mean over these: what predictions take."""

    @abstractmethod
    def reach(self, theta: Array, U: Array) -> Array:
        """(new, columns of U): f − mean = reach · β in the coordinates of U."""


# -- kernels as matrices ------------------------------------------------------------------------
class ListedRidge(Ridge):
    """Kernels as Gram matrices."""

    def __init__(self, options: Options, samples: Samples) -> None:
        bound = bind(options, samples)
        assert isinstance(bound, Listed)
        super().__init__(samples, bound.intercept, bound.known.names, bound.known.kernels)
        self.gram: Gram = bound.space
        self.useless = bound.useless
        self.basis = WithoutConstant(self.root.copy()) if self.fit_intercept else Everything(self.n)

    def matrix(self, theta: Array) -> Array:
        K = self.gram.combine(theta)
        if np.any(self.root != 1.0):
            K *= self.root[:, None] * self.root
        if isinstance(self.basis, WithoutConstant):
            v, tau = self.basis.v, self.basis.tau
            p = tau * (K @ v)
            p -= 0.5 * tau * float(v @ p) * v
            # HKH in the lower triangle of K, which is the upper one of its transpose
            K = dsyr2(-1.0, v, p, a=K.T, overwrite_a=True).T[1:, 1:]
        return np.asarray(K)

    def against(self, spectrum: Spectrum, T: Array) -> Array:
        V = self.root[:, None] * self.basis.outward(spectrum.U)
        return self.gram.against(V @ T @ V.T)

    def mean_rows(self) -> Array:
        w = self.samples.costs / self.samples.costs.sum()
        return np.asarray(self.gram.products(w[:, None])[:, :, 0])

    def seen_by(self, new: Any) -> Unseen:
        return _Matrices(self, new)


class _Matrices(Unseen):
    def __init__(self, ridge: ListedRidge, new: Any) -> None:
        self.ridge, samples = ridge, ridge.samples
        kernels = ridge.kernels
        width = int(new.shape[1]) if samples.stack else samples.n
        count = new.shape[0] if hasattr(new, "shape") else len(new)
        self.stack = np.empty((len(kernels), count, width))
        for _ in evaluate(kernels, new, None if samples.stack else samples.data, out=self.stack):
            pass
        if samples.stack:
            self.stack = np.ascontiguousarray(self.stack[:, :, samples.rows.first])
        if ridge.fit_intercept:
            self.stack -= ridge.mean_rows()[:, None, :]
        self.stack *= ridge.root

    def reach(self, theta: Array, U: Array) -> Array:
        K = np.tensordot(theta, self.stack, axes=1)
        return np.asarray(self.ridge.basis.inward(K.T).T @ U)


# -- kernels as features ------------------------------------------------------------------------
class FeatureRidge(Ridge):
    """Kernels as explicit features Φ, fewer than samples: B_θ = G diag(θ) Gᵀ with G = QᵀDΦ."""

    def __init__(self, options: Options, samples: Samples, mapped: Mapped) -> None:
        Phi = mapped.features.transform(samples.data)
        known = constants_of_rows(options, samples, Phi, mapped)
        super().__init__(
            samples, options.fit_intercept, mapped.names, mapped.fitted(known, options.normalize)
        )
        self.mapped, self.known = mapped, known
        self.mean = np.zeros(Phi.shape[1]) if known.mean is None else known.mean
        self.roots = known.roots(mapped.ptr)
        if self.fit_intercept:
            self.mean = samples.costs @ Phi / samples.costs.sum()
        Phi -= self.mean
        Phi *= self.roots * self.root[:, None]
        Q, R, order = qr(Phi, mode="economic", pivoting=True, overwrite_a=True, check_finite=False)
        size = np.abs(np.diag(R))
        kept = max(int(np.count_nonzero(size > _FLAT * size.max(initial=0.0))), 1)
        self.G = np.empty((kept, R.shape[1]))
        self.G[:, order] = R[:kept]
        self.basis = Thin(np.ascontiguousarray(Q[:, :kept]))
        self.owner = np.repeat(np.arange(len(self.names)), np.diff(mapped.ptr))
        energy = np.add.reduceat((self.G**2).sum(axis=0), mapped.ptr[:-1])
        self.useless = energy <= _FLAT**2 * energy.max(initial=0.0)

    def matrix(self, theta: Array) -> Array:
        half = self.G * np.sqrt(theta)[self.owner]
        return np.asarray(half @ half.T)

    def against(self, spectrum: Spectrum, T: Array) -> Array:
        W = spectrum.U.T @ self.G
        each: Array = (W * (T @ W)).sum(axis=0)
        return np.asarray(np.bincount(self.owner, each, len(self.names)), dtype=np.float64)

    def mean_rows(self) -> Array:
        Phi = self.mapped.features.transform(self.samples.data) * self.roots
        w = self.samples.costs / self.samples.costs.sum()
        both = (Phi * (w @ Phi)).T
        return np.asarray(np.add.reduceat(both, self.mapped.ptr[:-1], axis=0))

    def seen_by(self, new: Any) -> Unseen:
        return _Features(self, new)


class _Features(Unseen):
    def __init__(self, ridge: FeatureRidge, new: Any) -> None:
        self.ridge = ridge
        self.Phi = (ridge.mapped.features.transform(new) - ridge.mean) * ridge.roots

    def reach(self, theta: Array, U: Array) -> Array:
        G = self.ridge.G * theta[self.ridge.owner]
        return np.asarray(self.Phi @ (G.T @ U))


def ridge_of(options: Options, samples: Samples) -> Ridge:
    """The kernels on these samples, as they are held best.

    Features are taken where somebody asks for them (``approx``), or where all kernels have maps of their own
    with fewer features than there are samples.
    """
    if options.approx is not None:
        return FeatureRidge(options, samples, map_kernels(options, samples))
    if samples.stack or options.center or options.supervised or options.normalize == "cosine":
        return ListedRidge(options, samples)
    kernels = resolve_kernels(options.kernels, samples.data, samples.weight, samples.layout.names)
    if all(has_own_map(kernel) for kernel in kernels.values()):
        mapped = map_kernels(options.replace(approx=OwnFeatures()), samples)
        if mapped.features.n_features < _THIN * samples.n:
            return FeatureRidge(options, samples, mapped)
    return ListedRidge(options, samples)

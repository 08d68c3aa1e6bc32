"""Decision functions: f(x), and the contribution of each kernel, for samples as kernels read them.

Each form says `decide(X)` (n, outputs), `parts(X)` (n, active kernels, outputs) and `coef(names)`. Kernels
and explicit features, one coefficient a sample or one for each kernel, gates: models do not tell them apart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from ..approx import Features
from ..kernels import Fitted, Kernel, evaluate
from ..kernels.data import take_rows
from ..kernels.linear_weights import linear_coefficients
from .gates import Gate, KnownGate

Array = NDArray[np.float64]
Active = NDArray[np.intp]
_BLOCK_BYTES = 1 << 25  # of one matrix between new samples and training samples
_OUTPUTS = 1024  # whose coefficients are weighted at a time
_FEATURE_ROWS = 4096  # whose features are held at a time, at most
_FEATURE_BYTES = 1 << 27  # of the features that are held at a time


class Function(ABC):
    """f(x) = Σ_m (what kernel m adds) + intercept."""

    intercept: Array  # (outputs,)

    @abstractmethod
    def decide(self, X: Any) -> Array:
        """Compute values of shape (n, outputs)."""

    @abstractmethod
    def parts(self, X: Any) -> Array:
        """Compute the contribution of each kernel, of shape (n, active kernels, outputs)."""

    def of(self, outputs: Active) -> Self:
        """The function of some outputs, by their places."""
        known: Any = self
        return cast(
            Self,
            replace(known, coefficients=known.coefficients[..., outputs], intercept=self.intercept[outputs]),
        )

    def coef(self, names: Sequence[str]) -> Array:
        """(outputs, n_features), where all active kernels, called so, are linear."""
        raise AttributeError("this model has no coef_: see contributions(X).")


def blocks(X: Any, support: Any) -> Iterator[tuple[slice, Any]]:
    """X in blocks of rows, so that matrices between it and the training samples stay small."""
    n, step = _num_samples(X), max(16, _BLOCK_BYTES // (8 * max(_num_samples(support), 1)))
    for lo in range(0, n, step):
        yield slice(lo, lo + step), take_rows(X, lo, min(lo + step, n))


@dataclass(frozen=True)
class KernelFunction(Function):
    """Σ_m θ_m k_m(x, support) coefficients + intercept; θ is the same for all outputs, or one for each."""

    kernels: list[Fitted]
    theta: Array  # (problems, M)
    active: Active
    learned: list[Any]  # the kernel of all outputs, unless they have weights of their own
    support: Any
    coefficients: Array  # (support, outputs)
    intercept: Array

    def decide(self, X: Any) -> Array:
        f = np.empty((_num_samples(X), self.coefficients.shape[1]))
        for rows, part in blocks(X, self.support):
            if len(self.learned) == 1:
                f[rows] = self.learned[0](part, self.support) @ self.coefficients
            else:
                self._add_each(part, f[rows])
        f += self.intercept
        return f

    def of(self, outputs: Active) -> Self:
        chosen = super().of(outputs)
        return chosen if len(self.theta) == 1 else replace(chosen, theta=self.theta[outputs])

    def _add_each(self, X: Any, f: Array) -> None:
        """Σ_m k_m(X, support) (θ_m ∘ coefficients) in place of f: one matrix a kernel for all outputs."""
        f[:] = 0.0
        outputs, theta = f.shape[1], self._each_output()
        for i, K in evaluate([self.kernels[m] for m in self.active], X, self.support):
            m = self.active[i]
            for lo in range(0, outputs, _OUTPUTS):
                part = slice(lo, lo + _OUTPUTS)
                f[:, part] += K @ (self.coefficients[:, part] * theta[part, m])

    def parts(self, X: Any) -> Array:
        theta = self._each_output()[:, self.active]
        found = np.zeros((_num_samples(X), self.active.size, theta.shape[0]))
        active = [self.kernels[m] for m in self.active]
        for rows, part in blocks(X, self.support):
            for i, K in evaluate(active, part, self.support):
                found[rows, i] = (K @ self.coefficients) * theta[:, i]
        return found

    def coef(self, names: Sequence[str]) -> Array:
        return linear_coefficients(self.kernels, names, self._each_output(), self.support, self.coefficients)

    def _each_output(self) -> Array:
        """(outputs, M)."""
        return np.broadcast_to(self.theta, (self.coefficients.shape[1], len(self.kernels)))


@dataclass(frozen=True)
class PowerFunction(KernelFunction):
    """The same with a power of a sum for a kernel, which has no parts that belong to one of them."""

    def parts(self, X: Any) -> Array:
        raise AttributeError(
            "this model has no contributions: its kernel is a power of a sum, whose parts belong to several "
            "kernels at once. weights_ says what each one weighs in the sum."
        )

    def coef(self, names: Sequence[str]) -> Array:
        raise AttributeError("this model has no coef_: a power of kernels is not linear in X.")


@dataclass(frozen=True)
class OwnFunction(Function):
    """Σ_m k_m(x, support) coefficients_m + intercept: every kernel has coefficients of its own."""

    kernels: list[Fitted]
    active: Active
    support: Any
    coefficients: Array  # (M, support, outputs)
    intercept: Array

    def decide(self, X: Any) -> Array:
        f = np.zeros((_num_samples(X), self.coefficients.shape[2]))
        active = [self.kernels[m] for m in self.active]
        for rows, part in blocks(X, self.support) if active else ():
            for i, K in evaluate(active, part, self.support):
                f[rows] += K @ self.coefficients[self.active[i]]
        return np.asarray(f + self.intercept)

    def parts(self, X: Any) -> Array:
        found = np.zeros((_num_samples(X), self.active.size, self.coefficients.shape[2]))
        active = [self.kernels[m] for m in self.active]
        for rows, part in blocks(X, self.support) if active else ():
            for i, K in evaluate(active, part, self.support):
                found[rows, i] = K @ self.coefficients[self.active[i]]
        return found

    def coef(self, names: Sequence[str]) -> Array:
        total: Any = 0.0
        for m in self.active:
            alone = np.zeros((self.coefficients.shape[2], len(self.kernels)))
            alone[:, m] = 1.0
            total = total + linear_coefficients(
                self.kernels, names, alone, self.support, self.coefficients[m]
            )
        return np.asarray(total)


@dataclass(frozen=True)
class FeatureFunction(Function):
    """features(x) @ coefficients + intercept."""

    features: Features
    coefficients: Array  # (p, outputs)
    active: Active
    intercept: Array

    def decide(self, X: Any) -> Array:
        f = np.zeros((_num_samples(X), self.coefficients.shape[1]))
        for rows, Phi in self.feature_blocks(X):
            f[rows] = Phi @ self.coefficients
        return np.asarray(f + self.intercept)

    def parts(self, X: Any) -> Array:
        ptr = self.features.ptr
        found = np.zeros((_num_samples(X), self.active.size, self.coefficients.shape[1]))
        for rows, Phi in self.feature_blocks(X) if self.active.size else ():
            for i, m in enumerate(self.active):
                own = slice(ptr[m], ptr[m + 1])
                found[rows, i] = Phi[:, own] @ self.coefficients[own]
        return found

    def coef(self, names: Sequence[str]) -> Array:
        raise AttributeError(
            "coef_ belongs to linear kernels of X itself, and this model has explicit features of its "
            "kernels: features_.transform(X) @ feature_coef_ + intercept_ decides."
        )

    def feature_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """The features of all samples, in blocks of rows."""
        n = _num_samples(X)
        step = max(16, min(_FEATURE_ROWS, _FEATURE_BYTES // (8 * max(1, len(self.coefficients)))))
        for lo in range(0, n, step):
            hi = min(lo + step, n)
            yield slice(lo, hi), self.features.transform(take_rows(X, lo, hi))


@dataclass(frozen=True)
class GatedFunction(Function):
    """Σ_j c_j(x) Σ_m β_jm k_m(x, support) (c_j(support) coefficients) + intercept."""

    kernels: Sequence[Kernel]
    weights: Array  # (l, M): β
    active: Active
    gate: Gate
    support: Any
    support_gates: Array  # (support, l)
    coefficients: Array  # (support, outputs)
    intercept: Array

    def behind(self, gates: Any) -> Self:
        """With these gates of new samples in place of its own, for one call."""
        if gates is None:
            return self
        return replace(self, gate=KnownGate(gates, self.gate.training, self.gate.shared))

    def decide(self, X: Any) -> Array:
        return np.asarray(self.parts(X).sum(axis=1) + self.intercept)

    def parts(self, X: Any) -> Array:
        outputs = self.coefficients.shape[1]
        found = np.zeros((_num_samples(X), self.active.size, outputs))
        behind = self.support_gates[:, :, None] * self.coefficients[:, None]
        active = [self.kernels[m] for m in self.active]
        shares = self.gate(X)
        for rows, part in blocks(X, self.support):
            for i, K in evaluate(active, part, self.support):
                beta = self.weights[:, self.active[i]]
                used = np.flatnonzero(beta)
                terms = (K @ behind[:, used].reshape(-1, used.size * outputs)).reshape(-1, used.size, outputs)
                found[rows, i] = np.einsum("nl,nlk->nk", shares[rows][:, used] * beta[used], terms)
        return found

    def coef(self, names: Sequence[str]) -> Array:
        raise AttributeError(
            "a localized model has no coef_: its weights change with x. See contributions(X)."
        )

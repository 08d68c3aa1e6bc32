"""Functions f(x) = Σ_j ⟨w^j, φ^j(x)⟩ that grow sample by sample, for online learning.

All θ^j = Σ_i φ^j(x_i) ⊗ c_i share one array of coefficients c, and w^j = s_j θ^j. A `KernelExpansion` keeps
c and the samples, and reads kernels (stored, or evaluated where they are needed); a `FeatureExpansion` keeps
the θ^j themselves in the spaces of explicit features, so that a step costs the same however many samples
came before. The last of the `n_groups` is the constant kernel 1, where there is an intercept.

The mean of all iterates is w^j = s_j θ^j + share · r^j, with remainders r^j that are no longer in proportion
to θ^j: they are kept only where they are asked for (`averaging`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._fast import ufo as fast
from ..kernels import Kernel, evaluate
from ..kernels.data import Data, is_stack, n_samples
from .base import Array, take
from .stack import StackGram

if TYPE_CHECKING:
    from ..approx import Features

Index = NDArray[np.intp]
_DECIDED_ROWS = 1024  # of which decisions are made at a time, at most
_ENTRIES = 1 << 19  # of a kernel between some rows and all samples
_PRODUCTS = 1 << 21  # numbers in the products between the samples of a block, all kernels together
_FEATURE_ROWS = 64  # of a block of features, whose products cost its square


class Block(NamedTuple):
    """Z (groups, B, k) and the products scale_j K[j, rows_a, rows_b], 1 for a group that K does not have."""

    Z: Array
    K: Any
    scale: Array
    rows: Index


class Expansion(ABC):
    """θ^1 … θ^F, and one for the intercept where `constant` is true; `outputs` columns each."""

    n_kernels: int
    constant: bool
    outputs: int
    averaging: bool
    bias: Array  # θ of the constant kernel, Σ_i c_i; in its second row the remainder
    X: Data = None  # the samples that rows are counted in
    coef: Array  # (n, k): c of these samples
    complete: bool = True  # whether θ is made of these samples alone
    _changing: tuple[str, ...]  # arrays that steps change in place

    @property
    def n_groups(self) -> int:
        return self.n_kernels + self.constant

    @property
    def block_size(self) -> int:
        """Return how many samples to take at a time."""
        return self._few(int(np.clip(np.sqrt(_PRODUCTS / self.n_groups), 16, 256)))

    def _few(self, rows: int) -> int:
        """Return a number of rows, fewer where a kernel between them and all samples would be large."""
        return max(16, min(rows, _ENTRIES // max(len(self.coef), 1)))

    def block(self, rows: Index) -> Block:
        """Scores of these samples under every θ^j, and their products."""
        Z = np.empty((self.n_groups, rows.size, self.outputs))
        K = np.empty((self.n_groups, rows.size, rows.size))
        self._read(rows, Z, K)
        if self.constant:
            Z[-1], K[-1] = self.bias[0], 1.0
        return Block(Z, K, np.ones(self.n_groups), np.arange(rows.size))

    def add(self, rows: Index, G: Array, late: Array | None) -> None:
        """θ^j += Σ_b φ^j(x_b) ⊗ G[b], and r^j += Σ_b φ^j(x_b) ⊗ late[j, b], for different rows."""
        self._add(rows, G, None if late is None else late[: self.n_kernels])
        self.bias[0] += G.sum(axis=0)
        if late is not None and self.constant:
            self.bias[1] += late[-1].sum(axis=0)

    def decide(self, rows: Index, s: Array, share: float) -> Array:
        """(B, k): f of these samples, with w^j = s_j θ^j + share · r^j."""
        f = np.zeros((rows.size, self.outputs))
        step = self._few(_DECIDED_ROWS)
        for lo in range(0, rows.size, step):
            self._decide(rows[lo : lo + step], s, share, f[lo : lo + step])
        return f + self.intercept(s, share)

    def intercept(self, s: Array, share: float) -> Array:
        """(k,): what the constant kernel adds."""
        return np.asarray((s[-1] * self.bias[0] + share * self.bias[1]) * self.constant)

    def norms(self, s: Array, share: float) -> Array:
        """(groups,): ‖w^j‖."""
        squares = np.append(self._squares(s, share), np.sum(self.intercept(s, share) ** 2))
        return np.sqrt(np.maximum(squares[: self.n_groups], 0.0))

    def copy(self) -> Self:
        """The same state, with what steps change in memory of its own."""
        twin = copy(self)
        for name in self._changing:
            setattr(twin, name, getattr(self, name).copy())
        return twin

    @abstractmethod
    def enter(self, X: Data, again: bool = False) -> Index:
        """The rows of new samples, or (`again`) of the samples that were there before."""

    @abstractmethod
    def _read(self, rows: Index, Z: Array, K: Array) -> None:
        """Fill Z and K for the kernels proper."""

    @abstractmethod
    def _add(self, rows: Index, G: Array, late: Array | None) -> None:
        """Add to θ^j and r^j."""

    @abstractmethod
    def _decide(self, rows: Index, s: Array, share: float, f: Array) -> None:
        """f += Σ_j ⟨w^j, φ^j⟩ over the kernels proper."""

    @abstractmethod
    def _squares(self, s: Array, share: float) -> Array:
        """(kernels,): ‖w^j‖²."""


class KernelExpansion(Expansion):
    """θ^j = Σ_i φ^j(x_i) ⊗ coef[i] over samples X, with kernels or a stored stack of their matrices."""

    _changing = ("bias", "coef", "late", "scores")

    def __init__(
        self,
        kernels: Sequence[Kernel],
        outputs: int,
        *,
        constant: bool,
        averaging: bool = False,
        gram: StackGram | None = None,
        eager: bool = False,
    ) -> None:
        self.kernels, self.gram = kernels, gram  # the Gram of the first samples that enter
        self.eager = eager  # whether every step changes something
        self.n_kernels, self.outputs, self.constant = len(kernels), outputs, constant
        self.averaging = averaging
        self.bias = np.zeros((2, outputs))
        self.coef = np.zeros((0, outputs))
        self.late = np.zeros((self.n_kernels, 0, outputs))
        self.scores = np.zeros((0, outputs, 0))  # (kernels, k, n): of all samples, with a stored Gram

    def enter(self, X: Data, again: bool = False) -> Index:
        """Samples of before stay as long as they have coefficients."""
        if again:  # the last that entered
            return np.arange(len(self.coef) - n_samples(X), len(self.coef))
        used = np.flatnonzero(self.coef.any(axis=1))
        if self.X is None:
            self.X = X
            if self.gram is not None and not self.eager:
                self.scores = np.zeros((self.n_kernels, self.outputs, n_samples(X)))
        else:
            self.X, self.gram = _concatenate(take(self.X, used), X), None
            self.complete = False
        fresh = np.zeros((n_samples(X), self.outputs))
        self.coef = np.concatenate([self.coef[used], fresh])
        if self.averaging:
            more = np.zeros((self.n_kernels, *fresh.shape))
            self.late = np.concatenate([self.late[:, used], more], axis=1)
        return np.arange(used.size, len(self.coef))

    def kernel_coef(self, s: Array, share: float) -> Array:
        """(kernels, n, k): w^j = Σ_i φ^j(x_i) ⊗ kernel_coef[j, i]."""
        return np.asarray([self._coef_of(m, s, share) for m in range(self.n_kernels)])

    def release(self) -> None:
        """Forget the stored matrices; what is needed of them later is computed again."""
        self.gram, self.scores = None, np.zeros((0, self.outputs, 0))

    def _coef_of(self, m: int, s: Array, share: float) -> Array:
        own: Array = s[m] * self.coef
        return own + share * self.late[m] if self.averaging else own

    def block(self, rows: Index) -> Block:
        """With a stored Gram, scores of all samples are kept, and products are read where they are needed.

        That pays where most steps change nothing.
        """
        if self.gram is None or self.eager:
            return super().block(rows)
        Z = np.empty((self.n_groups, rows.size, self.outputs))
        Z[: self.n_kernels] = self.scores[:, :, rows].transpose(0, 2, 1)
        if self.constant:
            Z[-1] = self.bias[0]
        return Block(Z, self.gram.stack, self.gram.scale, rows)

    def _read(self, rows: Index, Z: Array, K: Array) -> None:
        M = self.n_kernels
        if self.gram is not None:
            return fast.read(self.gram.stack, self.gram.scale, rows, self.coef, Z[:M], K[:M])
        used = np.flatnonzero(self.coef.any(axis=1))
        Z[:M] = 0.0
        if used.size:
            coef = self.coef[used]
            for m, values in self._between(self.kernels, rows, used):
                np.matmul(values, coef, out=Z[m])
        for m, values in self._between(self.kernels, rows, None):
            K[m] = values
        return None

    def _add(self, rows: Index, G: Array, late: Array | None) -> None:
        self.coef[rows] += G
        if self.gram is not None and not self.eager:
            fast.spread(self.gram.stack, self.gram.scale, rows, G, self.scores)
        if late is not None:
            self.late[:, rows] += late

    def _decide(self, rows: Index, s: Array, share: float, f: Array) -> None:
        for m, values in self._matrices(rows, np.flatnonzero(s[: self.n_kernels])):
            f += values @ self._coef_of(m, s, share)

    def _squares(self, s: Array, share: float) -> Array:
        squares, active = np.zeros(self.n_kernels), np.flatnonzero(s[: self.n_kernels])
        step = self._few(_DECIDED_ROWS)
        for lo in range(0, len(self.coef), step):
            rows = np.arange(lo, min(lo + step, len(self.coef)))
            for m, values in self._matrices(rows, active):
                coef = self._coef_of(m, s, share)
                squares[m] += np.vdot(coef[rows], values @ coef)
        return squares

    def _matrices(self, rows: Index, active: Index) -> Iterator[tuple[int, Array]]:
        """(m, K_m[rows]) for these kernels."""
        if self.gram is not None:
            for m in active:
                yield m, self.gram.scale[m] * self.gram.stack[m, rows]
            return
        for i, values in self._between([self.kernels[m] for m in active], rows, np.arange(len(self.coef))):
            yield active[i], values

    def _between(
        self, kernels: Sequence[Kernel], rows: Index, columns: Index | None
    ) -> Iterator[tuple[int, Array]]:
        """(i, kernels[i] of these rows and these columns, or of the rows with themselves), computed."""
        if is_stack(self.X):  # which holds what kernels need of every pair
            return evaluate(kernels, self.X[np.ix_(rows, rows if columns is None else columns)])
        part = take(self.X, rows)
        if columns is None:
            return evaluate(kernels, part)
        everything = columns.size == len(self.coef)
        return evaluate(kernels, part, self.X if everything else take(self.X, columns))


def _concatenate(X: Data, Y: Data) -> Any:
    """The rows of both, in their own type."""
    if sparse.issparse(X) or sparse.issparse(Y):
        return sparse.vstack([X, Y], format="csr")
    if hasattr(X, "iloc"):  # whose library knows what whole numbers followed by fractions are together
        return import_module("pandas").concat([X, Y], ignore_index=True)
    if hasattr(X, "to_series"):
        return import_module("polars").concat([X, Y], how="vertical_relaxed")
    return np.concatenate([X, Y])


class FeatureExpansion(Expansion):
    """θ^j in the space of explicit features, the columns ptr[j]:ptr[j + 1]."""

    _changing = ("bias", "coef", "late", "theta")

    def __init__(
        self, features: Features, outputs: int, *, constant: bool, averaging: bool = False, memory: int = 0
    ) -> None:
        self.features, self.ptr = features, features.ptr
        self.n_kernels, self.outputs, self.constant = self.ptr.size - 1, outputs, constant
        self.averaging, self.memory = averaging, memory
        self.bias = np.zeros((2, outputs))
        self.theta = np.zeros((int(self.ptr[-1]), outputs))
        self.late = np.zeros((len(self.theta) if averaging else 0, outputs))
        self.coef = np.zeros((0, outputs))
        self.Phi: Array | None = None  # the features of all samples, where they fit in `memory` bytes
        self._held: tuple[Index, Array] | None = None

    @property
    def block_size(self) -> int:
        return _FEATURE_ROWS

    def enter(self, X: Data, again: bool = False) -> Index:
        """Samples of before are forgotten."""
        self.release()
        self.X = X
        if not again:
            self.complete = not len(self.coef)
            self.coef = np.zeros((n_samples(X), self.outputs))
        if 8 * n_samples(X) * len(self.theta) <= self.memory:
            self.Phi = self.features.transform(X)
        return np.arange(len(self.coef))

    def release(self) -> None:
        """Forget the samples."""
        self.X = self.Phi = self._held = None

    def feature_coef(self, s: Array, share: float) -> Array:
        """(features, k): f(x) = features.transform(x) @ feature_coef, but for the intercept."""
        own = np.repeat(s[: self.n_kernels], np.diff(self.ptr))[:, None] * self.theta
        return own + share * self.late if self.averaging else own

    def _phi(self, rows: Index) -> Array:
        """The features of these samples, held until others are asked for."""
        if self._held is None or self._held[0] is not rows:
            Phi = self.Phi
            self._held = rows, self.features.transform(take(self.X, rows)) if Phi is None else Phi[rows]
        return self._held[1]

    def _read(self, rows: Index, Z: Array, K: Array) -> None:
        Phi = self._phi(rows)
        for j in range(self.n_kernels):
            part = Phi[:, self.ptr[j] : self.ptr[j + 1]]
            np.matmul(part, self.theta[self.ptr[j] : self.ptr[j + 1]], out=Z[j])
            np.matmul(part, part.T, out=K[j])

    def _add(self, rows: Index, G: Array, late: Array | None) -> None:
        Phi = self._phi(rows)
        self.coef[rows] += G
        self.theta += Phi.T @ G
        for j, part in enumerate(() if late is None else late):
            columns = slice(self.ptr[j], self.ptr[j + 1])
            self.late[columns] += Phi[:, columns].T @ part

    def _decide(self, rows: Index, s: Array, share: float, f: Array) -> None:
        f += self._phi(rows) @ self.feature_coef(s, share)

    def _squares(self, s: Array, share: float) -> Array:
        return np.asarray(np.add.reduceat(np.sum(self.feature_coef(s, share) ** 2, axis=1), self.ptr[:-1]))

"""Kernels given by explicit features, K_m = Φ_m Φ_mᵀ: nothing of size n × n is held per kernel.

Rank-one kernels (each column of X is one) are the case of one feature a kernel, so that 10⁴ kernels cost
what their 10⁴ columns cost: αᵀK_mα = ‖Φ_mᵀα‖².
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .base import Array, Atoms, Gram, centred
from .stack import _renormalise

_SQUARED_ROWS = 4096  # of features that are squared at a time


class FactorGram(Gram):
    """Kernels given by explicit features, of which kernel m has the columns ptr[m] : ptr[m + 1].

    Nothing of n × n is made unless somebody asks for a combination.

    Parameters
    ----------
    features : ndarray or sparse matrix of shape (n, ptr[M])
        The features Φ of all kernels.
    ptr : ndarray of int of shape (M + 1,)
        Where the columns of each kernel begin and end.
    scale : ndarray of shape (M,) or None, default=None
        Factors of the kernels; None stands for 1.
    mean : ndarray of shape (n,) or None, default=None
        Weights of the samples in the means that kernels are centred by; None does not centre.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import FactorGram
    >>> gram = FactorGram(np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([0, 1, 2]))
    >>> gram.quad(np.array([[1.0], [1.0]])).tolist()
    [[9.0], [1.0]]
    """

    def __init__(
        self, features: Any, ptr: NDArray[np.intp], scale: Array | None = None, mean: Array | None = None
    ) -> None:
        super().__init__(features.shape[0], ptr.size - 1, scale, mean)
        sparse = sp.issparse(features)
        self.features: Any = sp.csc_array(features) if sparse else np.asarray(features, dtype=float)
        self.ptr = ptr
        self._largest: Array | None = None  # before they are scaled
        self._rank_one = bool(np.all(np.diff(ptr) == 1))

    @property
    def dense(self) -> bool:
        """True if features are a dense array."""
        return not sp.issparse(self.features)

    def _columns(self, atoms: Atoms) -> tuple[Any, NDArray[np.intp]]:
        """The features of these kernels, and the position in `atoms` each column belongs to."""
        if self._rank_one:
            return self.features[:, self.ptr[atoms]], np.arange(atoms.size)
        parts = [np.arange(self.ptr[m], self.ptr[m + 1]) for m in atoms]
        owner = np.repeat(np.arange(atoms.size), [p.size for p in parts])
        return self.features[:, np.concatenate(parts) if parts else np.empty(0, np.intp)], owner

    @property
    def rank_one(self) -> bool:
        return self._rank_one

    def _single(self, atoms: Atoms) -> Array:
        phi = self._columns(atoms)[0]
        return np.asarray(phi.toarray() if sp.issparse(phi) else phi)

    def _combine(self, atoms: Atoms, weights: Array, out: Array) -> None:
        phi, owner = self._columns(atoms)
        if sp.issparse(phi):
            out[:] = (phi @ sp.diags_array(weights[owner]) @ phi.T).toarray()
        else:
            half = phi * np.sqrt(np.abs(weights[owner]))
            other = half if np.all(weights >= 0) else half * np.sign(weights[owner])
            np.matmul(half, other.T, out=out)

    def _products(self, A: Array, atoms: Atoms) -> Array:
        phi, owner = self._columns(atoms)
        inner = phi.T @ A  # (columns, k)
        if sp.issparse(phi):
            phi = phi.toarray()
        if self._rank_one:
            return np.asarray(phi.T[:, :, None] * inner[:, None, :])
        R = np.zeros((atoms.size, self.n, A.shape[1]))
        ends = np.searchsorted(owner, np.arange(atoms.size + 1))
        for m, (lo, hi) in enumerate(pairwise(ends)):
            R[m] = phi[:, lo:hi] @ inner[lo:hi]
        return R

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        whole = atoms.size == self.n_kernels and np.array_equal(atoms, np.arange(self.n_kernels))
        if whole:
            phi, owner = self.features, np.repeat(np.arange(self.n_kernels), np.diff(self.ptr))
        else:
            phi, owner = self._columns(atoms)
        squares = np.asarray(phi.T @ A) ** 2
        if self._rank_one:
            return squares
        if whole:
            return np.asarray(np.add.reduceat(squares, self.ptr[:-1], axis=0))
        q = np.zeros((atoms.size, A.shape[1]))
        np.add.at(q, owner, squares)
        return q

    def _diagonals(self) -> Array:
        if self.dense and not self._rank_one:  # kernel by kernel: the squares of all would be a copy
            parts = (self.features[:, lo:hi] for lo, hi in pairwise(self.ptr))
            return np.stack([np.einsum("ij,ij->i", Phi, Phi) for Phi in parts])
        squares = self.features**2
        squares = squares.T.toarray() if sp.issparse(squares) else squares.T
        return np.asarray(squares if self._rank_one else np.add.reduceat(squares, self.ptr[:-1], axis=0))

    def largest(self) -> Array:
        if self._largest is None:
            self._largest = self._find_largest()
        return self._largest * self.scale

    def _find_largest(self) -> Array:
        """The largest ‖φ_m(x)‖² of each kernel."""
        if self.dense and not self._rank_one:
            return np.asarray(self._diagonals().max(axis=1))
        largest = np.zeros(self.n_kernels)
        for lo in range(0, self.n, _SQUARED_ROWS):
            squares = self.features[lo : lo + _SQUARED_ROWS] ** 2
            squares = squares.toarray() if sp.issparse(squares) else squares
            values = squares if self._rank_one else np.add.reduceat(squares, self.ptr[:-1], axis=1)
            np.maximum(largest, values.max(axis=0), out=largest)
        return largest

    def _blocks(self, atoms: Atoms) -> Iterator[tuple[int, int, int, Array]]:
        for position, m in enumerate(atoms):
            phi = self.features[:, self.ptr[m] : self.ptr[m + 1]]
            phi = phi.toarray() if sp.issparse(phi) else phi
            yield position, 0, self.n, phi @ phi.T

    def inner(self, W: Array | None = None) -> Array:
        """‖Φ_kᵀΦ_l‖² of the centred features: squared inner products where kernels are of rank one.

        Combinations W are formed as matrices, which are few; the kernels are not.
        """
        if W is not None:
            mean, root = self.mean_weight(), np.ones(self.n) if self.weight is None else np.sqrt(self.weight)
            both = np.outer(root, root)
            K = np.array([(both * centred(self.combine(w), mean)).ravel() for w in W])  # twice is as once
            return np.asarray(K @ K.T)
        G = np.square(self._cross() if self.weight is None else self._weighted_cross(self.weight))
        if not self._rank_one:
            G = np.add.reduceat(np.add.reduceat(G, self.ptr[:-1], axis=0), self.ptr[:-1], axis=1)
        return np.asarray(G * np.outer(self.scale, self.scale))

    def _weighted_cross(self, weight: Array) -> Array:
        """ΦᵀΦ of the centred features, where samples count as often as they weigh."""
        Phi = self.features.toarray() if sp.issparse(self.features) else self.features
        half = np.sqrt(weight)[:, None] * (Phi - self.mean_weight() @ Phi)
        return np.asarray(half.T @ half)

    def against(self, S: Array) -> Array:
        """Compute φᵀSφ of rank-one kernels, one product of matrices for all of them."""
        if not self._rank_one or not self.dense:
            return super().against(S)
        return np.asarray(np.einsum("nm,nm->m", self.features, self._seen(S) @ self.features) * self.scale)

    def norms(self) -> Array:
        if not self._rank_one or self.weight is not None:
            return np.sqrt(np.diag(self.inner()))
        total, mu = self._sums()
        if sp.issparse(self.features):
            squares = (self.features**2).sum(axis=0) - 2.0 * mu * total + self.n * mu**2
            return np.asarray(np.maximum(squares, 0.0) * self.scale)
        return np.asarray(((self.features - mu) ** 2).sum(axis=0) * self.scale)

    def _sums(self) -> tuple[Array, Array]:
        """The sum of every feature, and its mean."""
        total = np.asarray(self.features.sum(axis=0), dtype=float)
        return total, total / self.n if self.mean is None else np.asarray(self.mean @ self.features)

    def _cross(self) -> Array:
        """(D, D): inner products of the centred features; sparse ones are not filled in."""
        total, mu = self._sums()
        if not sp.issparse(self.features):
            phi = self.features - mu
            return np.asarray(phi.T @ phi)
        G = (self.features.T @ self.features).toarray()
        G -= np.outer(total, mu) + np.outer(mu, total - self.n * mu)
        return np.asarray(G)

    def subset(self, rows: NDArray[np.intp]) -> FactorGram:
        part = self.features.tocsr()[rows] if sp.issparse(self.features) else self.features[rows]
        return FactorGram(part, self.ptr, self.scale, _renormalise(self.mean, rows))

"""The questions that a solver may ask of many Gram matrices at once, however they are held.

Everything a one-stage method needs of the kernels K_1 … K_M on the training data is linear in each K_m:
their combination, their products with a few vectors, and quadratic forms. How they are held (a stored
stack, blocks recomputed from the data, explicit factors) is decided once, from a memory budget, and no
solver can tell the difference.

Normalisation multiplies kernel m by `scale[m]`. Centring replaces K by H K Hᵀ with H = I − 1 w̄ᵀ, where w̄
are the sample weights divided by their sum. It is carried implicitly: quadratic forms and products of a
centred kernel are those of the raw one at Hᵀα.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._fast.pairs import pairs
from .._fast.threads import blas_threads, split
from ..kernels.data import Data

Array = NDArray[np.float64]
_CHUNK_BYTES = 1 << 20  # of the rows of all kernels that Frobenius products take at a time
Atoms = NDArray[np.intp]


class LazyNames(Sequence[str]):
    """Names of atoms, written only when somebody asks for one: most Grams never need them for a message."""

    def __init__(self, atoms: Sequence[Any], name: Callable[[Any], str]) -> None:
        self._atoms, self._name = atoms, name

    def __len__(self) -> int:
        return len(self._atoms)

    def __getitem__(self, m: Any) -> Any:
        return [self._name(a) for a in self._atoms[m]] if isinstance(m, slice) else self._name(self._atoms[m])


class Gram(ABC):
    """Base class of Gram engines: M kernel matrices of n samples, evaluated within a memory limit.

    Subclasses implement the underscored methods on raw kernels. Scales, centring and checks are here.

    Parameters
    ----------
    n : int
        Number of samples.
    n_kernels : int
        Number M of kernels.
    scale : ndarray of shape (n_kernels,) or None, default=None
        Factors of the kernels; None stands for 1.
    mean : ndarray of shape (n,) or None, default=None
        Weights w̄ of the samples in the means that kernels are centred by; None does not centre.

    Attributes
    ----------
    explicit : bool
        Whether combinations of kernels stay in explicit features, so that no matrix is n × n.
    room : int
        Bytes of the memory limit that neither the kernels nor their solver need.
    stored : int
        Bytes that the engine holds of the kernels, at most.
    precision : float
        Rounding error of the entries, relative to the largest one. A quadratic form that is below zero by
        more than this shows that a kernel is indefinite.
    entry : float
        Share of itself by which an entry may differ from that of the exact kernel; 0 if nothing is rounded.
    names : sequence of str or None
        Names of the kernels, for messages.
    weight : ndarray of shape (n,) or None
        The number of times that each sample counts in Frobenius products; None stands for once.
    watch : callable or None
        A function that long passes call with the number of entries done and the number of all entries.

    Examples
    --------
    Combinations, products with vectors and quadratic forms of the kernels I and 11ᵀ on two samples:

    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> gram = StackGram(np.stack([np.eye(2), np.ones((2, 2))]))
    >>> theta, A = np.array([2.0, 1.0]), np.array([[1.0], [1.0]])
    >>> gram.combine(theta).tolist(), gram.columns(theta, np.array([0])).tolist()
    ([[3.0, 1.0], [1.0, 3.0]], [[3.0], [1.0]])
    >>> gram.products(A).tolist(), gram.quad(A).tolist()
    ([[[1.0], [1.0]], [[2.0], [2.0]]], [[2.0], [4.0]])
    >>> atoms, q = gram.best(A, 1, exclude=np.empty(0, dtype=int))
    >>> atoms.tolist(), q.tolist(), gram.against(np.array([[1.0, 2.0], [2.0, 3.0]])).tolist()
    ([1], [2.0, 4.0], [4.0, 8.0])

    `inner` and `norms` centre the kernels, which leaves nothing of a constant one:

    >>> gram.mean_weight().tolist(), gram.norms().round(6).tolist()
    ([0.5, 0.5], [1.0, 0.0])
    >>> bool(np.allclose(np.diag(gram.inner()), gram.norms() ** 2))
    True

    Nothing is rounded here, so that the Gram is exact:

    >>> gram.exact() is gram, gram.doubt(A).tolist()
    (True, [0.0, 0.0])

    Other scales, or fewer samples:

    >>> twin = gram.rescaled(np.array([1.0, 3.0]))
    >>> twin.diagonals().tolist(), twin.traces().tolist(), twin.largest().tolist()
    ([[1.0, 1.0], [3.0, 3.0]], [2.0, 6.0], [1.0, 3.0])
    >>> gram.subset(np.array([1])).combine(theta).tolist()
    [[3.0]]
    """

    _chunk_bytes = _CHUNK_BYTES
    explicit: ClassVar[bool] = False
    room = 0
    stored = 0
    precision = 1e-10
    entry = 0.0

    def __init__(self, n: int, n_kernels: int, scale: Array | None = None, mean: Array | None = None) -> None:
        self.n = n
        self.n_kernels = n_kernels
        self.scale = np.ones(n_kernels) if scale is None else np.asarray(scale, dtype=float)
        self.names: Sequence[str] | None = None
        self.mean = mean
        self.weight: Array | None = None
        self.watch: Callable[[int, int], object] | None = None

    # -- what subclasses supply -----------------------------------------------------------------
    @abstractmethod
    def _combine(self, atoms: Atoms, weights: Array, out: Array) -> None:
        """out = Σ weights_m K_{atoms_m}."""

    @abstractmethod
    def _products(self, A: Array, atoms: Atoms) -> Array:
        """(len(atoms), n, k): K_m A for A of shape (n, k)."""

    @abstractmethod
    def _quad(self, A: Array, atoms: Atoms) -> Array:
        """(len(atoms), k): α_jᵀ K_m α_j for each column α_j of A."""

    @abstractmethod
    def _diagonals(self) -> Array:
        """(M, n): the diagonal of each kernel."""

    @abstractmethod
    def _blocks(self, atoms: Atoms) -> Iterator[tuple[int, int, int, Array]]:
        """(position in atoms, lo, hi, K_m[lo:hi, :hi]) over lower triangles; blocks are read, not kept."""

    @abstractmethod
    def subset(self, rows: NDArray[np.intp]) -> Gram:
        """Return the same kernels on some of the samples only.

        Parameters
        ----------
        rows : ndarray of int
            Positions of the samples.

        Returns
        -------
        Gram
            The Gram of these samples.
        """

    @property
    def rank_one(self) -> bool:
        """True if every kernel is one explicit feature times itself."""
        return False

    def _single(self, atoms: Atoms) -> Array:
        """(n, len(atoms)): the features of kernels of rank one."""
        raise NotImplementedError

    # -- what solvers call ----------------------------------------------------------------------
    def own_features(self) -> Array:
        """Return the features of kernels of rank one, centred and scaled as the kernels are.

        Returns
        -------
        ndarray of shape (n, n_kernels)
            One column for each kernel.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.grams import FactorGram
        >>> X = np.array([[1.0, 0.0], [2.0, 1.0]])
        >>> gram = FactorGram(X, np.array([0, 1, 2]), scale=np.array([4.0, 1.0]))
        >>> gram.own_features().tolist()
        [[2.0, 0.0], [4.0, 1.0]]
        """
        phi = self._single(self._atoms(None)) * np.sqrt(self.scale)
        return np.asarray(phi if self.mean is None else phi - self.mean @ phi)

    def combine(self, theta: Array, atoms: Atoms | None = None, out: Array | None = None) -> Array:
        """Compute K_θ = Σ θ_m K_m, skipping weights that are zero.

        Parameters
        ----------
        theta : ndarray of shape (n_atoms,)
            Weights.
        atoms : ndarray of int or None, default=None
            Kernels that the weights are of; None stands for all.
        out : ndarray of shape (n, n) or None, default=None
            Memory that the matrix is written to.

        Returns
        -------
        ndarray of shape (n, n)
            The combination.
        """
        atoms = self._atoms(atoms)
        out = np.empty((self.n, self.n)) if out is None else out
        used = np.flatnonzero(theta)
        self._combine(atoms[used], np.asarray(theta, dtype=float)[used] * self.scale[atoms[used]], out)
        return out if self.mean is None else centred(out, self.mean)

    def rescaled(self, scale: Array) -> Gram:
        """Return the same kernels with other scales.

        Parameters
        ----------
        scale : ndarray of shape (n_kernels,)
            The new factors.

        Returns
        -------
        Gram
            A copy that shares the kernels.
        """
        twin = copy(self)
        twin.scale = scale
        return twin

    def products(self, A: Array, atoms: Atoms | None = None) -> Array:
        """Compute the products K_m A.

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Vectors, one in each column.
        atoms : ndarray of int or None, default=None
            Kernels; None stands for all.

        Returns
        -------
        ndarray of shape (n_atoms, n, k)
            The products.
        """
        atoms = self._atoms(atoms)
        R = self._products(self._lift(A), atoms)
        if self.mean is not None:
            R -= np.einsum("n,mnk->mk", self.mean, R)[:, None, :]
        R *= self.scale[atoms][:, None, None]
        return R

    def quad(self, A: Array, atoms: Atoms | None = None) -> Array:
        """Compute the quadratic forms α_jᵀ K_m α_j, never negative.

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Vectors α_j, one in each column.
        atoms : ndarray of int or None, default=None
            Kernels; None stands for all.

        Returns
        -------
        ndarray of shape (n_atoms, k)
            The quadratic forms.
        """
        atoms = self._atoms(atoms)
        q = self._quad(self._lift(A), atoms)
        self._require_definite(q, A, atoms)
        return np.maximum(q * self.scale[atoms][:, None], 0.0)

    def columns(self, theta: Array, rows: NDArray[np.intp]) -> Array:
        """Compute about K_θ[:, rows], for preconditioners; centring may be left out.

        Parameters
        ----------
        theta : ndarray of shape (n_kernels,)
            Weights.
        rows : ndarray of int
            Positions of samples.

        Returns
        -------
        ndarray of shape (n, n_rows)
            The columns.
        """
        unit = np.zeros((self.n, rows.size))
        unit[rows, np.arange(rows.size)] = 1.0
        atoms = np.flatnonzero(theta)
        return np.asarray(np.einsum("m,mnk->nk", theta[atoms], self.products(unit, atoms)))

    def inner(self, W: Array | None = None) -> Array:
        """Compute ⟨K_a, K_b⟩_F of the centred combinations K_a = Σ_m W_am K_m.

        Samples count as often as `weight` says: a weight of 2 is a repetition. Kernels that the Gram does not
        centre are centred here, by the plain mean of the samples: alignment asks for that (Rostamizadeh 2010,
        Def. 2.4). Entries are centred before they are multiplied, because for nearly constant kernels the
        products of raw entries cancel to nothing. One pass over the lower triangles.

        Parameters
        ----------
        W : ndarray of shape (k, n_kernels) or None, default=None
            Coefficients of the combinations; None stands for the kernels themselves.

        Returns
        -------
        ndarray of shape (k, k)
            The products.
        """
        size = self.n_kernels if W is None else len(W)
        total = np.zeros((size, size))
        for part in self._over_chunks(lambda B: pairs(B if W is None else W @ B)):
            total += part
        return total

    def mean_weight(self) -> Array:
        """Return the share of each sample in a mean, where nothing is centred yet by its weight.

        Returns
        -------
        ndarray of shape (n,)
            Shares that add up to 1.
        """
        if self.mean is not None:
            return self.mean
        return np.full(self.n, 1.0 / self.n) if self.weight is None else self.weight / self.weight.sum()

    def norms(self) -> Array:
        """Compute the Frobenius norms ‖K_m‖ of the centred kernels, without the products between them.

        Returns
        -------
        ndarray of shape (n_kernels,)
            The norms.
        """
        squares = np.zeros(self.n_kernels)
        for part in self._over_chunks(lambda B: np.einsum("mt,mt->m", B, B)):
            squares += part
        return np.sqrt(squares)

    def against(self, S: Array) -> Array:
        """Compute ⟨K_m, S⟩_F for all kernels, which centred kernels see as HᵀSH.

        Parameters
        ----------
        S : ndarray of shape (n, n)
            A symmetric matrix.

        Returns
        -------
        ndarray of shape (n_kernels,)
            The products.
        """
        S = self._seen(S)
        values = np.zeros(self.n_kernels)
        for position, lo, hi, K in self._blocks(self._atoms(None)):
            values[position] += np.vdot(K[:, lo:], S[lo:hi, lo:hi])
            if lo:
                values[position] += 2.0 * np.vdot(K[:, :lo], S[lo:hi, :lo])
        return np.asarray(values * self.scale)

    def _seen(self, S: Array) -> Array:
        """HᵀSH, or S where kernels are not centred."""
        if self.mean is None:
            return S
        sums = S.sum(axis=0)
        S = S - np.outer(self.mean, sums) - np.outer(sums, self.mean)
        S += float(sums.sum()) * np.outer(self.mean, self.mean)
        return S

    def _over_chunks(self, product: Callable[[Array], Array]) -> list[Array]:
        """Sums, one a thread, of product(B) over chunks B (M, entries) of the centred lower triangles."""
        mean = self.mean_weight()
        root = None if self.weight is None else np.sqrt(self.weight)
        means = np.ascontiguousarray(self._products(mean[:, None], self._atoms(None))[:, :, 0])
        grand = means @ mean
        count = max(1, min(self.n, self.n_kernels * self.n**2 * 4 // self._chunk_bytes))
        edges = np.round(self.n * np.sqrt(np.arange(count + 1) / count)).astype(int)
        parts: dict[int, Array] = {}  # by where they begin: threads end in any order, sums are added in one

        def run(first: int, last: int) -> None:
            total: Array | None = None
            spans = list(itertools.pairwise(edges[first : last + 1].tolist()))
            buffer = np.empty(self.n_kernels * max((hi - lo) * hi for lo, hi in spans))
            for lo, hi in spans:
                if lo == hi:
                    continue
                size = self.n_kernels * (hi - lo) * hi
                out = buffer[:size].reshape(self.n_kernels, hi - lo, hi)
                self._centred(lo, hi, means, grand, out)
                if root is not None:
                    out *= root[lo:hi, None] * root[:hi]
                part = product(out.reshape(self.n_kernels, -1))
                total = part if total is None else total + part
                if self.watch is not None:
                    self.watch(hi * hi - lo * lo, self.n**2)
            if total is not None:
                parts[first] = total

        with blas_threads(1):
            split(count, float(self.n_kernels) * self.n**2, run)
        return [parts[first] for first in sorted(parts)]

    def _centred(self, lo: int, hi: int, means: Array, grand: Array, out: Array) -> None:
        """out[m] = the rows lo:hi of `fast.centre`. Classes that do not use chunks need not have it."""
        raise NotImplementedError

    def best(self, A: Array, k: int, exclude: Atoms) -> tuple[Atoms, Array]:
        """Find the kernels with the largest Σ_j α_jᵀ K_m α_j.

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Dual points, one in each column.
        k : int
            Number of kernels to return.
        exclude : ndarray of int
            Kernels that are left out.

        Returns
        -------
        atoms : ndarray of int
            The best kernels, in falling order.
        q : ndarray of shape (n_kernels,)
            The values of all kernels.
        """
        q = self.quad(A).sum(axis=1)
        masked = q.copy()
        masked[exclude] = -np.inf
        top = np.argpartition(-masked, min(k, q.size - 1))[:k]
        top = top[np.isfinite(masked[top])]
        return top[np.argsort(-masked[top])], q

    def diagonals(self) -> Array:
        """Return the diagonal of each kernel, before centring.

        Returns
        -------
        ndarray of shape (n_kernels, n)
            The diagonals.
        """
        return np.asarray(self._diagonals() * self.scale[:, None])

    def traces(self) -> Array:
        """Return upper bounds on the traces, exact where kernels are not centred (tr HKHᵀ ≤ n‖w̄‖² tr K).

        Returns
        -------
        ndarray of shape (n_kernels,)
            The bounds.
        """
        growth = 1.0 if self.mean is None else self.n * float(self.mean @ self.mean)
        return np.asarray(self._diagonals().sum(axis=1) * self.scale * growth)

    def largest(self) -> Array:
        """Return the largest |k(x, x')| of each kernel as it is evaluated, before centring.

        Returns
        -------
        ndarray of shape (n_kernels,)
            The largest values.
        """
        return np.asarray(np.abs(self._diagonals()).max(axis=1, initial=0.0) * self.scale)

    def exact(self) -> Gram:
        """Return the same kernels without the rounding of what is stored; itself where nothing is rounded.

        Returns
        -------
        Gram
            The exact kernels, with the scales of this Gram.
        """
        return self

    def doubt(self, A: Array) -> Array:
        """Bound how far `quad`, summed over columns, is from that of the exact kernels: |zᵀ(K̃−K)z| ≤ uL‖z‖₁².

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Vectors α_j, one in each column.

        Returns
        -------
        ndarray of shape (n_kernels,)
            The bounds, 0 where nothing stored is rounded.
        """
        sizes = np.abs(self._lift(A)).sum(axis=0)
        return np.asarray(self.entry * float(sizes @ sizes) * self.largest())

    def _require_definite(self, q: Array, A: Array, atoms: Atoms) -> None:
        """A quadratic form clearly below zero proves a kernel indefinite: no answer could be trusted."""
        if q.size == 0 or q.min() >= 0.0:
            return
        largest = np.abs(self._diagonals()[atoms]).max(axis=1)
        rounding = self.precision * largest * self.n * float(np.max((A**2).sum(axis=0)))
        bad = np.flatnonzero(q.min(axis=1) < -rounding)
        if bad.size:
            raise ValueError(
                f"kernel {self._name(int(atoms[bad[0]]))} is not positive semi-definite: a quadratic form "
                f"αᵀKα is {q[bad[0]].min():.3g}. Multiple kernel learning needs kernels without negative "
                "eigenvalues; clip them (drop the negative part of the spectrum) or leave this kernel out."
            )

    def _name(self, m: int) -> str:
        return str(m) if self.names is None else repr(self.names[m])

    # -- helpers --------------------------------------------------------------------------------
    def _atoms(self, atoms: Atoms | Sequence[int] | None) -> Atoms:
        return np.arange(self.n_kernels) if atoms is None else np.asarray(atoms, dtype=np.intp)

    def _lift(self, A: Array) -> Array:
        """Hᵀ A: what a centred kernel sees of A. The identity where the columns of A sum to zero."""
        A = np.ascontiguousarray(A, dtype=float)
        return A if self.mean is None else A - np.outer(self.mean, A.sum(axis=0))


def centred(K: Array, mean: Array) -> Array:
    """H K Hᵀ with H = I − 1 meanᵀ, in place."""
    mu = K @ mean
    K -= mu
    K -= (mu - mu @ mean)[:, None]
    return K


def take(X: Data, rows: NDArray[np.intp]) -> Data:
    """Some rows of X, in X's own type."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]

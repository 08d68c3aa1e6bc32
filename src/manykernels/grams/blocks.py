"""Kernels recomputed from the data, block by block, when their stack does not fit in memory.

A block holds some rows of the lower triangle. Kernels that are functions of one statistic (all widths of a
Gaussian share the distances) compute it once a block. The kernels that take part in a sparse combination are
few: they are kept, as many as the budget allows, in the slots of a small stored stack.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np
from numpy.typing import NDArray

from .._fast import elementwise, exponentials
from .._fast import stack as fast
from .._fast.threads import thread_count
from ..kernels import Kernel
from ..kernels.data import Data, is_stack, take_rows
from ..kernels.presence import Mask, farther, rescale, write
from .base import Array, Atoms, Gram, take
from .stack import _renormalise

_BLOCK_BYTES = 1 << 22  # of one kernel's block: it stays in cache while it is used
_CHUNK_BYTES = 1 << 26  # of the rows of all kernels: what kernels share costs too much on fewer rows
_LEAST = 1 << 20  # bytes of a chunk, however little room there is


class BlockGram(Gram):
    """Kernels on data X, evaluated when they are asked for; some of them may be kept.

    Parameters
    ----------
    kernels : list of Kernel
        The kernels.
    X : array-like of shape (n, n_features)
        Samples.
    n : int
        Number of samples.
    slots : int
        Number of matrices of n × n that may be kept.
    scale : ndarray of shape (n_kernels,) or None, default=None
        Factors of the kernels; None stands for 1.
    mean : ndarray of shape (n,) or None, default=None
        Weights of the samples in the means that kernels are centred by; None does not centre.
    cosine : tuple of ndarray or None, default=None
        Row means (n_kernels, n), grand means (n_kernels,) and inverse norms (n_kernels, n) of kernels that
        are normalised by cosine.
    room : int, default=67108864
        Bytes that the rows of all kernels may take that Frobenius products look at together.

    Attributes
    ----------
    lacking : dict of int to tuple
        The kernels that some samples lack, by position: which samples have them, and the values for the
        others (see `lack`).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import BlockGram
    >>> from manykernels.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> BlockGram([Linear()], X, n=2, slots=0).combine(np.ones(1))
    array([[1., 2.],
           [2., 4.]])
    """

    def __init__(
        self,
        kernels: list[Kernel],
        X: Data,
        n: int,
        slots: int,
        scale: Array | None = None,
        mean: Array | None = None,
        cosine: tuple[Array, Array, Array] | None = None,
        room: int = _CHUNK_BYTES,
    ) -> None:
        super().__init__(n, len(kernels), scale, mean)
        self.kernels, self.X, self.slots = kernels, X, slots
        self.stored = 8 * slots * n * n
        self._chunk_bytes = max(min(room // thread_count(), _CHUNK_BYTES), _LEAST)
        self.cosine = cosine  # (row means (M, n), grand means (M,), inverse norms (M, n)) of each kernel
        self.lacking: dict[int, tuple[Mask, Array, float, tuple[Array, float] | None]] = {}  # see `lack`
        self._store = np.empty((0, n, n))
        self._slot_of: dict[int, int] = {}

    def lack(
        self, m: int, having: Mask, means: Array, own: float, spread: tuple[Array, float] | None = None
    ) -> None:
        """Say that samples lack the view of kernel m, and have means in its place (`kernels.presence`).

        Parameters
        ----------
        m : int
            Number of the kernel.
        having : ndarray of bool of shape (n,)
            Samples that have the view.
        means : ndarray of shape (n,)
            The values r(x) of the kernel between each sample and the mean.
        own : float
            The number c: two samples that lack the view have the value r + c.
        spread : tuple of (ndarray, float) or None, default=None
            How far samples are from the mean, a, and the product g of the mean with itself.

        Examples
        --------
        The third sample has no view. In its place it has the mean 1.5 of the others, whose square is 2.25,
        and c = 0.25 in a direction of its own:

        >>> import numpy as np
        >>> from manykernels.grams import BlockGram
        >>> from manykernels.kernels import Linear
        >>> gram = BlockGram([Linear()], np.array([[1.0], [2.0], [0.0]]), n=3, slots=0)
        >>> gram.lack(0, np.array([True, True, False]), np.array([1.5, 3.0, 2.25]), own=0.25)
        >>> gram.combine(np.ones(1)).tolist()
        [[1.0, 2.0, 1.5], [2.0, 4.0, 3.0], [1.5, 3.0, 2.5]]
        """
        self.lacking[m] = having, means, own, spread
        self._slot_of.clear()

    # -- evaluation -----------------------------------------------------------------------------
    def _groups(self, atoms: Atoms) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
        """Positions in `atoms` that share a statistic: groups of exponentials of it, and the other groups."""
        exponential: dict[Hashable, list[int]] = {}
        others: dict[Hashable, list[int]] = {}
        for position, m in enumerate(atoms):
            kernel = self.kernels[m]
            key: Hashable = ("alone", position) if kernel.statistic is None else kernel.statistic
            plain = self.cosine is None and int(m) not in self.lacking
            fused = plain and kernel.statistic is not None and kernel.rate is not None
            (exponential if fused else others).setdefault(key, []).append(position)
        first, second = (
            [np.array(part, dtype=np.intp) for part in d.values()] for d in (exponential, others)
        )
        return first, second

    def _statistics(self, kernel: Kernel) -> Iterator[tuple[int, int, Array]]:
        """(lo, hi, S[lo:hi, :hi]) for blocks of rows."""
        for lo, hi in self._spans():
            yield lo, hi, kernel.compute_statistic(*self._rows(lo, hi))

    def _spans(self) -> Iterator[tuple[int, int]]:
        height = max(16, _BLOCK_BYTES // (8 * self.n))
        return ((lo, min(lo + height, self.n)) for lo in range(0, self.n, height))

    def _blocks(self, atoms: Atoms) -> Iterator[tuple[int, int, int, Array]]:
        """(position in atoms, lo, hi, K_m[lo:hi, :hi]); the block may be overwritten at the next step."""
        exponential, others = self._groups(atoms)
        for members in exponential + others:
            first = self.kernels[atoms[members[0]]]
            if first.statistic is None:
                for lo, hi in self._spans():
                    yield (
                        int(members[0]),
                        lo,
                        hi,
                        self._adjust(atoms[members[0]], first(*self._rows(lo, hi)), lo, hi),
                    )
                continue
            for lo, hi, S in self._statistics(first):
                block = np.empty_like(S)
                for position in members:
                    self.kernels[atoms[position]].fill(S, block)
                    yield int(position), lo, hi, self._adjust(atoms[position], block, lo, hi)

    def _sweep(self, atoms: Atoms) -> Iterator[tuple[NDArray[np.intp], Array, int, int, Array]]:
        """(positions, rates, lo, hi, S): the exponentials among the kernels, by their shared statistics."""
        for members in self._groups(atoms)[0]:
            rates = np.array([self.kernels[atoms[position]].rate for position in members], dtype=float)
            for lo, hi, S in self._statistics(self.kernels[atoms[members[0]]]):
                yield members, rates, lo, hi, S

    def _rest(self, atoms: Atoms) -> NDArray[np.intp]:
        """Positions of the kernels that `_sweep` leaves out."""
        others = self._groups(atoms)[1]
        return np.concatenate(others) if others else np.empty(0, dtype=np.intp)

    def _rows(self, lo: int, hi: int) -> tuple[Data, Data | None]:
        if is_stack(self.X):
            return self.X[lo:hi, :hi], None
        return take_rows(self.X, lo, hi), take_rows(self.X, 0, hi)

    def _adjust(self, m: int, block: Array, lo: int, hi: int) -> Array:
        """Put in what samples without the view have; centre and normalise to unit diagonal where asked."""
        if int(m) in self.lacking:
            having, means, own, spread = self.lacking[int(m)]
            write(block, having[lo:hi], having[:hi], means[:hi], means[lo:hi], own)
            if spread is not None:
                a, g = spread
                rescale(block, a[lo:hi], a[:hi], means[lo:hi], means[:hi], g)
        if self.cosine is not None:
            means, grand, inverse = (part[m] for part in self.cosine)
            elementwise.subtract_outer(block, means[lo:hi] - 0.5 * grand, means[:hi] - 0.5 * grand)
            elementwise.multiply_outer(block, inverse[lo:hi], inverse[:hi])
        return block

    # -- kernels that are kept ------------------------------------------------------------------
    def _keep(self, atoms: Atoms) -> NDArray[np.intp] | None:
        """The slots of these kernels, evaluating those that are missing; None if they are too many."""
        if atoms.size > self.slots:
            return None
        wanted = set(atoms.tolist())
        missing = np.array([m for m in atoms if m not in self._slot_of], dtype=np.intp)
        if missing.size:
            self._make_room(wanted, missing.size)
            free = [s for s in range(len(self._store)) if s not in self._slot_of.values()]
            for position, lo, hi, block in self._blocks(missing):
                self._store[free[position], lo:hi, :hi] = block
            self._slot_of.update({int(m): s for m, s in zip(missing, free, strict=False)})
        return np.array([self._slot_of[int(m)] for m in atoms], dtype=np.intp)

    def _make_room(self, wanted: set[int], count: int) -> None:
        if len(self._store) == 0:
            self._store = np.empty((self.slots, self.n, self.n))  # pages are touched only when used
        for m in list(self._slot_of):
            if len(self._slot_of) + count <= self.slots:
                break
            if m not in wanted:
                del self._slot_of[m]

    # -- what Gram asks for ---------------------------------------------------------------------
    def columns(self, theta: Array, rows: NDArray[np.intp]) -> Array:
        if self.cosine is not None or self.lacking or is_stack(self.X):
            return super().columns(theta, rows)
        total, some = np.zeros((self.n, rows.size)), take(self.X, rows)
        for m in np.flatnonzero(theta):
            total += theta[m] * self.scale[m] * self.kernels[m](self.X, some)
        return total

    def _combine(self, atoms: Atoms, weights: Array, out: Array) -> None:
        slots = self._keep(atoms)
        if slots is not None:
            fast.combine(self._store, slots, weights, out)
            return
        out[:] = 0.0
        for members, rates, lo, hi, S in self._sweep(atoms):
            exponentials.combine(S, rates, weights[members], out[lo:hi, :hi])
        rest = self._rest(atoms)
        for position, lo, hi, block in self._blocks(atoms[rest]):
            elementwise.add(block, weights[rest[position]], out[lo:hi, :hi])
        fast.mirror(out)

    def _products(self, A: Array, atoms: Atoms) -> Array:
        slots = self._keep(atoms)
        if slots is not None:
            out = np.empty((atoms.size, A.shape[1], self.n))
            fast.products(self._store, slots, np.ascontiguousarray(A.T), out)
            return out.transpose(0, 2, 1)
        R = np.zeros((atoms.size, A.shape[1], self.n))
        At = np.ascontiguousarray(A.T)
        for members, rates, lo, _, S in self._sweep(atoms):
            part = np.zeros((members.size, *R.shape[1:]))
            exponentials.products(S, rates, At, lo, part)
            R[members] += part
        rest = self._rest(atoms)
        for position, lo, hi, block in self._blocks(atoms[rest]):
            R[rest[position], :, lo:hi] += (block @ A[:hi]).T
            R[rest[position], :, :lo] += (block[:, :lo].T @ A[lo:hi]).T
        return R.transpose(0, 2, 1)

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        q = np.zeros((atoms.size, A.shape[1]))
        kept = np.array([int(m) in self._slot_of for m in atoms], dtype=bool)
        if kept.any():
            slots = np.array([self._slot_of[int(m)] for m in atoms[kept]], dtype=np.intp)
            part = np.empty((slots.size, A.shape[1]))
            fast.quadratic_forms(self._store, slots, np.ascontiguousarray(A.T), part)
            q[kept] = part
        far = np.flatnonzero(~kept)
        At = np.ascontiguousarray(A.T)
        for members, rates, lo, _, S in self._sweep(atoms[far]):
            part = np.zeros((members.size, A.shape[1]))
            exponentials.forms(S, rates, At, lo, part)
            q[far[members]] += part
        rest = far[self._rest(atoms[far])]
        for position, lo, hi, block in self._blocks(atoms[rest]):
            product = 2.0 * (block @ A[:hi]) - block[:, lo:] @ A[lo:hi]
            q[rest[position]] += np.einsum("nk,nk->k", A[lo:hi], product)
        return q

    def _diagonals(self) -> Array:
        if self.cosine is not None:
            return (self.cosine[2] > 0).astype(float)
        d = np.array([k.diag(self.X) for k in self.kernels]).reshape(-1, self.n)
        for m, (having, means, own, spread) in self.lacking.items():
            d[m, ~having] = means[~having] + own
            if spread is not None:
                a, g = spread
                d[m] = farther(d[m], a, means, g)
        return d

    def _centred(self, lo: int, hi: int, means: Array, grand: Array, out: Array) -> None:
        exponential, others = self._groups(self._atoms(None))
        for members in exponential + others:
            first = self.kernels[members[0]]
            if first.statistic is None:
                out[members[0]] = first(*self._rows(lo, hi))
            else:
                S = first.compute_statistic(*self._rows(lo, hi))
                for m in members:
                    self.kernels[m].fill(S, out[m])
            for m in members:
                self._adjust(m, out[m], lo, hi)
        fast.centre(out, 0, lo, means, grand, self.scale, out)

    def subset(self, rows: NDArray[np.intp]) -> BlockGram:
        X = self.X[np.ix_(rows, rows)] if is_stack(self.X) else take(self.X, rows)
        cosine = self.cosine
        if cosine is not None:
            cosine = (cosine[0][:, rows], cosine[1], cosine[2][:, rows])
        mean = _renormalise(self.mean, rows)
        slots = max(self.slots, self.slots * self.n**2 // max(rows.size, 1) ** 2)
        slots = min(slots, self.n_kernels)
        part = BlockGram(self.kernels, X, rows.size, slots, self.scale, mean, cosine, self._chunk_bytes)
        part.lacking = {
            m: (s[rows], r[rows], own, None if spread is None else (spread[0][rows], spread[1]))
            for m, (s, r, own, spread) in self.lacking.items()
        }
        return part

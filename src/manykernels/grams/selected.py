"""Some of the kernels of another Gram, without a copy of anything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .base import Array, Atoms, Gram, LazyNames


class SelectedGram(Gram):
    """Some of the kernels of another Gram.

    Parameters
    ----------
    whole : Gram
        The Gram of all kernels.
    chosen : ndarray of int
        Positions of the kernels to take, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import SelectedGram, StackGram
    >>> whole = StackGram(np.stack([np.eye(2), np.ones((2, 2))]))
    >>> SelectedGram(whole, np.array([1])).combine(np.ones(1))
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, whole: Gram, chosen: Atoms) -> None:
        super().__init__(whole.n, chosen.size, whole.scale[chosen], whole.mean)
        self.whole, self.chosen = whole, chosen
        self.precision, self.entry = whole.precision, whole.entry
        self.names = None if whole.names is None else LazyNames(chosen.tolist(), whole.names.__getitem__)

    @property
    def rank_one(self) -> bool:
        return self.whole.rank_one

    def _single(self, atoms: Atoms) -> Array:
        return self.whole._single(self.chosen[atoms])

    def _combine(self, atoms: Atoms, weights: Array, out: Array) -> None:
        self.whole._combine(self.chosen[atoms], weights, out)

    def _products(self, A: Array, atoms: Atoms) -> Array:
        return self.whole._products(A, self.chosen[atoms])

    def _quad(self, A: Array, atoms: Atoms) -> Array:
        return self.whole._quad(A, self.chosen[atoms])

    def _diagonals(self) -> Array:
        return self.whole._diagonals()[self.chosen]

    def _blocks(self, atoms: Atoms) -> Iterator[tuple[int, int, int, Array]]:
        return self.whole._blocks(self.chosen[atoms])

    def inner(self, W: Array | None = None) -> Array:
        rows = np.eye(self.n_kernels) if W is None else W
        full = np.zeros((len(rows), self.whole.n_kernels))
        np.add.at(full.T, self.chosen, rows.T)
        return self.whole.inner(full)

    def norms(self) -> Array:
        return self.whole.norms()[self.chosen]

    def exact(self) -> Gram:
        whole = self.whole.exact()
        return self if whole is self.whole else SelectedGram(whole, self.chosen).rescaled(self.scale)

    def subset(self, rows: NDArray[np.intp]) -> SelectedGram:
        return SelectedGram(self.whole.subset(rows), self.chosen)

"""A finite dictionary of kernels as a family: every question is answered by looking at all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..grams import Gram, SelectedGram
from ..kernels import Fitted
from .base import Array, Atom, Best, Draws, Oracle


class FiniteOracle(Oracle):
    """The kernels of a Gram as a finite family; an atom is a position in the list.

    Parameters
    ----------
    gram : Gram
        The kernels on the training samples.
    kernels : list of Fitted or None, default=None
        The kernels as functions, where somebody may ask for them.

    Attributes
    ----------
    whole : Gram
        The Gram of all kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> from manykernels.oracles import FiniteOracle
    >>> oracle = FiniteOracle(StackGram(np.stack([np.eye(2), np.ones((2, 2))])))
    >>> oracle.quad(np.array([[1.0], [1.0]]), [0, 1]).tolist()
    [2.0, 4.0]
    """

    def __init__(self, gram: Gram, kernels: list[Fitted] | None = None) -> None:
        self.whole = gram
        self.kernels = kernels
        self.n, self.size = gram.n, gram.n_kernels

    def name(self, atom: Atom) -> str:
        m = self._position(atom)
        return str(m) if self.whole.names is None else self.whole.names[m]

    def kernel(self, atom: Atom) -> Fitted:
        assert self.kernels is not None
        return self.kernels[self._position(atom)]

    def atoms(self) -> Iterator[Atom]:
        return iter(range(int(self.size)))

    def gram(self, atoms: Sequence[Atom]) -> Gram:
        return SelectedGram(self.whole, np.array([self._position(atom) for atom in atoms], dtype=np.intp))

    def quad(self, A: Array, atoms: Sequence[Atom]) -> Array:
        positions = np.array([self._position(atom) for atom in atoms], dtype=np.intp)
        return np.asarray(self.whole.quad(A, positions).sum(axis=1))

    def best(self, A: Array, k: int) -> Best:
        top, q = self.whole.best(A, k, np.empty(0, dtype=np.intp))
        return Best([int(m) for m in top], q[top], float(q.max()))

    def best_against(self, S: Array, k: int, shrinkage: float = 0.0) -> Best:
        values = self.whole.against(S)
        top = np.argsort(-values, kind="stable")[:k]
        return Best([int(m) for m in top], values[top], float(values.max()))

    def sample(self, A: Array, size: int, rng: np.random.RandomState, spread: float = 1.0) -> Draws:
        q = self.whole.quad(A).sum(axis=1)
        total = q.sum()
        if not total > 0.0:
            return self.sample_uniform(size, rng)
        drawn = rng.choice(q.size, size, p=q / total)
        return Draws([int(m) for m in drawn], q[drawn] / total)

    def sample_uniform(self, size: int, rng: np.random.RandomState) -> Draws:
        drawn = rng.randint(int(self.size), size=size)
        return Draws([int(m) for m in drawn], np.full(size, 1.0 / self.size))

    def total(self, A: Array, r: float) -> float | None:
        q = self.whole.quad(A).sum(axis=1)
        return float(np.linalg.norm(q, r))

    def _position(self, atom: Atom) -> int:
        assert isinstance(atom, int | np.integer)
        return int(atom)

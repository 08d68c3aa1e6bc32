"""What a solver may ask of a family of kernels that is too large to list, on the training samples.

An atom stands for a kernel of the family and is hashable. Everything is asked at a signed point A (n, k) of
the dual: q_z = Σ_j α_jᵀ K_z α_j for its columns α_j. Which questions an oracle can answer decides which
solvers can serve its family.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram
from ..kernels import Fitted

Array = NDArray[np.float64]
Atom = Hashable
_ENTRIES = 1 << 23  # of the kernels that are held at a time


@dataclass(frozen=True)
class Best:
    """The atoms of the largest q that were found, in falling order, and a bound on q of all atoms."""

    atoms: list[Atom]
    values: Array
    upper: float  # inf where the search cannot bound what it has not looked at


@dataclass(frozen=True)
class Draws:
    """Atoms drawn with replacement, each with the probability of drawing it."""

    atoms: list[Atom]
    probabilities: Array


@dataclass(frozen=True)
class LowRank:
    """S = U diag(w) Uᵀ + ι I, U (n, m): the form that products of columns are compared with."""

    U: Array
    w: Array
    identity: float = 0.0

    def dense(self) -> Array:
        """S."""
        return np.asarray((self.U * self.w) @ self.U.T + self.identity * np.eye(len(self.U)))

    @classmethod
    def of(cls, S: Array) -> LowRank:
        """A symmetric matrix by its eigenvectors, but for what rounding left of them."""
        w, U = np.linalg.eigh(S)
        kept = np.abs(w) > 1e-13 * np.abs(w).max(initial=0.0)
        return cls(U[:, kept], w[kept])


class Oracle(ABC):
    """A family of kernels on n training samples, scaled as the problem sees them."""

    n: int
    size: float  # of the family; inf for a continuum
    dimensions: int = 1  # parameters of an atom that are searched together
    rank_one: bool = False  # whether every kernel is a feature times itself
    swift: bool = False  # whether a look at the family costs little beside weights learned anew
    streamed: bool = False  # whether samples are read in blocks of rows, so that there are no Grams

    @property
    def work(self) -> float:
        """Operations of one look at the family, roughly."""
        return self.size * self.n if np.isfinite(self.size) else 16.0 * self.n**2

    @abstractmethod
    def name(self, atom: Atom) -> str:
        """What a person calls this kernel."""

    @abstractmethod
    def kernel(self, atom: Atom) -> Fitted:
        """The kernel as a function, with the constants of the training data."""

    @abstractmethod
    def gram(self, atoms: Sequence[Atom]) -> Gram:
        """The Gram of some atoms, in this order; it is for these atoms only, so they must be few."""

    def quad(self, A: Array, atoms: Sequence[Atom]) -> Array:
        """(len(atoms),): q_z."""
        return np.asarray(self.gram(atoms).quad(A).sum(axis=1)) if len(atoms) else np.zeros(0)

    def against(self, S: Array, atoms: Sequence[Atom]) -> Array:
        """(len(atoms),): ⟨K_z, S⟩_F with any symmetric S (n, n)."""
        found = [self.gram(atoms[part]).against(S) for part in self.portions(len(atoms))]
        return np.concatenate([np.zeros(0), *found])

    def portions(self, count: int) -> list[slice]:
        """So many atoms, a few at a time: each may be held as a matrix."""
        step = max(1, _ENTRIES // (self.n if self.rank_one else self.n**2))
        return [slice(lo, lo + step) for lo in range(0, count, step)]

    def atoms(self) -> Iterator[Atom]:
        """All atoms, in order; only finite families have them, and only few are short enough to be listed."""
        raise NotImplementedError

    def bytes_of(self, count: int) -> float:
        """What the Gram of so many atoms takes in memory, with a copy in the making."""
        return 8.0 * count * self.n * (3.0 if self.rank_one else self.n)

    def best(self, A: Array, k: int) -> Best:
        """The k atoms of the largest q, or the best that could be found."""
        raise NotImplementedError

    def best_against(self, S: Array, k: int, shrinkage: float = 0.0) -> Best:
        """The same for ⟨K_z, S⟩_F with any symmetric S (n, n), of which the largest may be negative.

        Families of rank-one kernels that answer take it as `LowRank` too, and remember what they know of the
        columns of U. `shrinkage` is λ of 000 Eq. 6.2, for atoms of several parameters.
        """
        raise NotImplementedError

    def sample(self, A: Array, size: int, rng: np.random.RandomState, spread: float = 1.0) -> Draws:
        """Atoms drawn with a probability close to proportional to q_z.

        `spread` is how wide to draw around the best kernel, for who can do no better than that; others are
        not told.
        """
        raise NotImplementedError

    def sample_against(self, Q: Array, size: int, rng: np.random.RandomState) -> Draws:
        """The same for ⟨K_z, Q⟩_F with any positive semi-definite Q (n, n)."""
        raise NotImplementedError

    def sample_uniform(self, size: int, rng: np.random.RandomState) -> Draws:
        """Atoms drawn with equal probability."""
        raise NotImplementedError

    def total(self, A: Array, r: float) -> float | None:
        """‖q‖_r over the whole family, r ≥ 1 or inf: the dual value of norm p = r/(r−1); None if unknown."""
        if r == np.inf:
            upper = self.best(A, 1).upper
            return upper if np.isfinite(upper) else None
        return None

    def diagonal(self, r: float = np.inf) -> Array | None:
        """(n,): ‖(K_z(x_i, x_i))_z‖_r over the whole family for each sample; None if unknown.

        K_z(x_i, x_i) is q_z at A = e_i.
        """
        found = np.empty(self.n)
        for i in range(self.n):
            total = self.total(np.eye(self.n, 1, -i), r)
            if total is None:
                return None
            found[i] = total
        return found

    def offers(self, question: str) -> bool:
        """Whether a question is answered: "atoms", "best", "sample", "sample_uniform", or "…_against"."""
        return getattr(type(self), question) is not getattr(Oracle, question)

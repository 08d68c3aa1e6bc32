"""The questions that a solver may ask of a family of kernels that is too large to list.

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
    """The best atoms of a family that were found, with a bound on all others.

    Attributes
    ----------
    atoms : list of Atom
        The atoms of the largest q that were found, in falling order.
    values : ndarray of shape (n_atoms,)
        Their q.
    upper : float
        A bound on q of all atoms; inf where the search cannot bound what it has not looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> from manykernels.oracles import FiniteOracle
    >>> oracle = FiniteOracle(StackGram(np.stack([np.eye(2), np.ones((2, 2))])))
    >>> found = oracle.best(np.array([[1.0], [1.0]]), 1)
    >>> [int(atom) for atom in found.atoms], found.values.tolist(), found.upper
    ([1], [4.0], 4.0)
    """

    atoms: list[Atom]
    values: Array
    upper: float  # inf where the search cannot bound what it has not looked at


@dataclass(frozen=True)
class Draws:
    """Atoms that were drawn with replacement.

    Attributes
    ----------
    atoms : list of Atom
        The atoms.
    probabilities : ndarray of shape (n_draws,)
        The probability of drawing each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> from manykernels.oracles import FiniteOracle
    >>> oracle = FiniteOracle(StackGram(np.stack([np.eye(2), np.ones((2, 2))])))
    >>> oracle.sample_uniform(3, np.random.RandomState(0)).probabilities.tolist()
    [0.5, 0.5, 0.5]
    """

    atoms: list[Atom]
    probabilities: Array


@dataclass(frozen=True)
class LowRank:
    """A symmetric matrix S = U diag(w) Uᵀ + ι I, the form that products of columns are compared with.

    Attributes
    ----------
    U : ndarray of shape (n, m)
        The columns.
    w : ndarray of shape (m,)
        Their coefficients.
    identity : float
        The coefficient ι of the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.oracles import LowRank
    >>> LowRank(np.array([[1.0], [2.0]]), np.array([1.0]), 0.5).dense()
    array([[1.5, 2. ],
           [2. , 4.5]])
    """

    U: Array
    w: Array
    identity: float = 0.0

    def dense(self) -> Array:
        """Return S as a matrix.

        Returns
        -------
        ndarray of shape (n, n)
            The matrix.
        """
        return np.asarray((self.U * self.w) @ self.U.T + self.identity * np.eye(len(self.U)))

    @classmethod
    def of(cls, S: Array) -> LowRank:
        """Write a symmetric matrix by its eigenvectors, but for what rounding left of them.

        Parameters
        ----------
        S : ndarray of shape (n, n)
            A symmetric matrix.

        Returns
        -------
        LowRank
            The same matrix in this form.

        Examples
        --------
        A matrix of rank one needs one column:

        >>> import numpy as np
        >>> from manykernels.oracles import LowRank
        >>> S = np.array([[1.0, 2.0], [2.0, 4.0]])
        >>> low = LowRank.of(S)
        >>> low.w.round(6).tolist(), low.U.shape, bool(np.allclose(low.dense(), S))
        ([5.0], (2, 1), True)
        """
        w, U = np.linalg.eigh(S)
        kept = np.abs(w) > 1e-13 * np.abs(w).max(initial=0.0)
        return cls(U[:, kept], w[kept])


class Oracle(ABC):
    """Base class of oracles: a family of kernels on n training samples, scaled as the problem sees them.

    Solvers ask an oracle for the best kernels or for a sample of them, so that a family may be too large to
    list. With A of shape (n, k), q_z = Σ_j A_jᵀ K_z A_j. A family of your own defines what it can answer;
    `offers` tells solvers which questions these are.

    Attributes
    ----------
    n : int
        Number of samples.
    size : float
        Number of kernels in the family; infinite for a continuum.
    dimensions : int
        Number of parameters of an atom that are searched together.
    rank_one : bool
        Whether every kernel is a feature times itself.
    swift : bool
        Whether a look at the family costs little beside learning the weights again.
    streamed : bool
        Whether samples are read in blocks of rows, so that there are no Gram matrices.

    Examples
    --------
    The four products of two columns, each a kernel of rank one, and their values of q:

    >>> import numpy as np
    >>> from manykernels.families import Products
    >>> from manykernels.oracles import build_oracle
    >>> X, A = np.array([[1.0, 2.0], [2.0, 0.0]]), np.ones((2, 1))
    >>> oracle = build_oracle(Products(degree=2, interactions_only=True), X, normalize=None)
    >>> atoms = list(oracle.atoms())
    >>> [oracle.name(atom) for atom in atoms], oracle.quad(A, atoms).tolist()
    (['1', 'x0', 'x1', 'x0 · x1'], [4.0, 9.0, 4.0, 4.0])
    >>> oracle.kernel((0, 1))(X).tolist(), oracle.gram([(0, 1)]).combine(np.ones(1)).tolist()
    ([[4.0, 0.0], [0.0, 0.0]], [[4.0, 0.0], [0.0, 0.0]])

    The largest q, the sum of all, and the largest value of each sample on the diagonal of any kernel:

    >>> oracle.best(A, 1).atoms, round(oracle.total(A, 1.0), 6), oracle.diagonal().tolist()
    ([(0,)], 21.0, [4.0, 4.0])

    q is ⟨K, AAᵀ⟩_F too:

    >>> oracle.against(A @ A.T, atoms).round(6).tolist(), oracle.best_against(A @ A.T, 1).atoms
    ([4.0, 9.0, 4.0, 4.0], [(0,)])

    Draws are in proportion to q, or all alike:

    >>> draws = oracle.sample(A, 5, np.random.RandomState(0))
    >>> bool(np.allclose(draws.probabilities, oracle.quad(A, draws.atoms) / 21.0))
    True
    >>> draws = oracle.sample_against(A @ A.T, 5, np.random.RandomState(0))
    >>> bool(np.allclose(draws.probabilities, oracle.quad(A, draws.atoms) / 21.0))
    True
    >>> oracle.sample_uniform(2, np.random.RandomState(0)).probabilities.tolist()
    [0.25, 0.25]

    All four may be held at once. Each takes 3 columns of 2 numbers of 8 bytes:

    >>> len(oracle.portions(4)), oracle.bytes_of(4), oracle.offers("best")
    (1, 192.0, True)
    """

    n: int
    size: float
    dimensions: int = 1
    rank_one: bool = False
    swift: bool = False
    streamed: bool = False

    @property
    def work(self) -> float:
        """Operations of one look at the family, roughly."""
        return self.size * self.n if np.isfinite(self.size) else 16.0 * self.n**2

    @abstractmethod
    def name(self, atom: Atom) -> str:
        """Return the name of a kernel.

        Parameters
        ----------
        atom : Atom
            The atom.

        Returns
        -------
        str
            The name that a person would give it.
        """

    @abstractmethod
    def kernel(self, atom: Atom) -> Fitted:
        """Return a kernel as a function, with the constants of the training data.

        Parameters
        ----------
        atom : Atom
            The atom.

        Returns
        -------
        Fitted
            The kernel.
        """

    @abstractmethod
    def gram(self, atoms: Sequence[Atom]) -> Gram:
        """Build the Gram of some atoms, in this order; they must be few.

        Parameters
        ----------
        atoms : sequence of Atom
            The atoms.

        Returns
        -------
        Gram
            Their matrices.
        """

    def quad(self, A: Array, atoms: Sequence[Atom]) -> Array:
        """Compute q_z of some atoms.

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Dual points, one in each column.
        atoms : sequence of Atom
            The atoms.

        Returns
        -------
        ndarray of shape (n_atoms,)
            The values q_z.
        """
        return np.asarray(self.gram(atoms).quad(A).sum(axis=1)) if len(atoms) else np.zeros(0)

    def against(self, S: Array, atoms: Sequence[Atom]) -> Array:
        """Compute ⟨K_z, S⟩_F of some atoms.

        Parameters
        ----------
        S : ndarray of shape (n, n)
            A symmetric matrix.
        atoms : sequence of Atom
            The atoms.

        Returns
        -------
        ndarray of shape (n_atoms,)
            The products.
        """
        found = [self.gram(atoms[part]).against(S) for part in self.portions(len(atoms))]
        return np.concatenate([np.zeros(0), *found])

    def portions(self, count: int) -> list[slice]:
        """Cut a number of atoms into parts, each of which may be held as matrices.

        Parameters
        ----------
        count : int
            Number of atoms.

        Returns
        -------
        list of slice
            The parts.
        """
        step = max(1, _ENTRIES // (self.n if self.rank_one else self.n**2))
        return [slice(lo, lo + step) for lo in range(0, count, step)]

    def atoms(self) -> Iterator[Atom]:
        """Iterate over all atoms, in order; only finite families have them.

        Returns
        -------
        iterator of Atom
            The atoms.
        """
        raise NotImplementedError

    def bytes_of(self, count: int) -> float:
        """Return the memory that the Gram of some atoms takes, with a copy in the making.

        Parameters
        ----------
        count : int
            Number of atoms.

        Returns
        -------
        float
            Number of bytes.
        """
        return 8.0 * count * self.n * (3.0 if self.rank_one else self.n)

    def best(self, A: Array, k: int) -> Best:
        """Find the k atoms of the largest q, or the best that could be found.

        Parameters
        ----------
        A : ndarray of shape (n, m)
            Dual points, one in each column.
        k : int
            Number of atoms.

        Returns
        -------
        Best
            The atoms, their q, and a bound on q of all atoms.
        """
        raise NotImplementedError

    def best_against(self, S: Array, k: int, shrinkage: float = 0.0) -> Best:
        """Find the k atoms of the largest ⟨K_z, S⟩_F, of which the largest may be negative.

        Families of rank-one kernels that answer take S as `LowRank` too, and remember what they know of the
        columns of U.

        Parameters
        ----------
        S : ndarray of shape (n, n) or LowRank
            A symmetric matrix.
        k : int
            Number of atoms.
        shrinkage : float, default=0.0
            The λ of Afkanpour (2013), Eq. 6.2, for atoms of several parameters.

        Returns
        -------
        Best
            The atoms, their values, and a bound on the values of all atoms.
        """
        raise NotImplementedError

    def sample(self, A: Array, size: int, rng: np.random.RandomState, spread: float = 1.0) -> Draws:
        """Draw atoms with a probability close to proportional to q_z.

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Dual points, one in each column.
        size : int
            Number of draws.
        rng : RandomState
            Source of random numbers.
        spread : float, default=1.0
            How wide to draw around the best kernel, for families that can do no better than that.

        Returns
        -------
        Draws
            The atoms and their probabilities.
        """
        raise NotImplementedError

    def sample_against(self, Q: Array, size: int, rng: np.random.RandomState) -> Draws:
        """Draw atoms with a probability close to proportional to ⟨K_z, Q⟩_F.

        Parameters
        ----------
        Q : ndarray of shape (n, n)
            A positive semidefinite matrix.
        size : int
            Number of draws.
        rng : RandomState
            Source of random numbers.

        Returns
        -------
        Draws
            The atoms and their probabilities.
        """
        raise NotImplementedError

    def sample_uniform(self, size: int, rng: np.random.RandomState) -> Draws:
        """Draw atoms with equal probability.

        Parameters
        ----------
        size : int
            Number of draws.
        rng : RandomState
            Source of random numbers.

        Returns
        -------
        Draws
            The atoms and their probabilities.
        """
        raise NotImplementedError

    def total(self, A: Array, r: float) -> float | None:
        """Compute ‖q‖_r over the whole family: the dual value of norm p = r/(r−1).

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Dual points, one in each column.
        r : float
            The norm, from 1 to inf.

        Returns
        -------
        float or None
            The norm, or a bound on it from above; None if it is not known.
        """
        if r == np.inf:
            upper = self.best(A, 1).upper
            return upper if np.isfinite(upper) else None
        return None

    def diagonal(self, r: float = np.inf) -> Array | None:
        """Compute ‖(K_z(x_i, x_i))_z‖_r over the whole family for each sample.

        K_z(x_i, x_i) is q_z at A = e_i.

        Parameters
        ----------
        r : float, default=inf
            The norm.

        Returns
        -------
        ndarray of shape (n,) or None
            The norms; None if they are not known.
        """
        found = np.empty(self.n)
        for i in range(self.n):
            total = self.total(np.eye(self.n, 1, -i), r)
            if total is None:
                return None
            found[i] = total
        return found

    def offers(self, question: str) -> bool:
        """Tell whether a question is answered.

        Parameters
        ----------
        question : str
            "atoms", "best", "sample", "sample_uniform", or "…_against".

        Returns
        -------
        bool
            Whether it is.
        """
        return getattr(type(self), question) is not getattr(Oracle, question)

"""Questions about a family whose samples are read in blocks of rows: sums over them, values on them.

Every kernel has the same number of explicit features, which are made anew for each block.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..approx import Features
from ..grams import Gram
from ..grams.row_blocks import RowBlocks
from ..kernels import Kernel
from .base import Array, Atom, Oracle

Map = Callable[[Array], Array]  # a block (rows, r) to features (features, rows)


class RowOracle(Oracle):
    """A family on samples in blocks: its kernels have `width` features each, and no Gram."""

    streamed = True
    source: RowBlocks
    width: int = 1
    most: float = np.inf  # kernels that may take part at once, for want of memory
    noise: float = 0.0  # how far features may be from those that are meant, relatively

    @property
    @abstractmethod
    def neutral(self) -> Atom:
        """An atom to show where none has weight."""

    @abstractmethod
    def part(self, rows: NDArray[np.intp]) -> Self:
        """The same family on some rows, in memory."""

    @abstractmethod
    def map(self, atoms: Sequence[Atom]) -> Map:
        """The features of some atoms, one after the other, scaled as the problem sees them; picklable."""

    @abstractmethod
    def explicit(self, atoms: Sequence[Atom], kernels: Sequence[Kernel], one: Any) -> Features:
        """The same for new samples, before scaling; `kernels` are the atoms' and `one` is a sample."""

    def gram(self, atoms: Sequence[Atom]) -> Gram:
        raise NotImplementedError("kernels on rows in blocks have no Gram: see `moments`.")

    def offers(self, question: str) -> bool:
        """The best kernels, and nothing that needs matrices or draws."""
        return question == "best" and super().offers(question)

    def quad(self, A: Array, atoms: Sequence[Atom]) -> Array:
        """(len(atoms),): q_z."""
        if not atoms:
            return np.zeros(0)
        return np.asarray(np.square(self.scores(atoms, A)).reshape(len(atoms), -1).sum(axis=1))

    # -- what the restricted problem asks ------------------------------------------------------------
    def moments(
        self,
        atoms: Sequence[Atom],
        new: int,
        c: Array,
        B: Array,
        U: Array | None = None,
        means: Array | None = None,
    ) -> tuple[Array, Array]:
        """ΦᵀcΦ_new and Φ_newᵀB, for the features Φ of atoms, of which the last `new` atoms are new.

        Features are less U @ means, for U (n, r) and means (r, features).
        """
        U = np.empty((self.n, 0)) if U is None else U
        shift = np.empty((0, 0)) if means is None else means
        cross, linear = self.source.sums(Moments(self.map(atoms), new * self.width, shift), c, B, U)
        return cross, linear

    def scores(self, atoms: Sequence[Atom], B: Array) -> Array:
        """ΦᵀB (features, b)."""
        (found,) = self.source.sums(Scores(self.map(atoms)), B)
        return found

    def decisions(self, atoms: Sequence[Atom], w: Array) -> Array:
        """Φw (n, k)."""
        if not atoms:
            return np.zeros((self.n, w.shape[1]))
        return self.source.values(Decisions(self.map(atoms), w))

    def largest(self, atoms: Sequence[Atom]) -> float:
        """The largest value of these kernels, over all samples."""
        found = self.source.values(Largest(self.map(atoms), self.width))
        return float(found.max(initial=0.0))

    def mean_squares(self, atoms: Sequence[Atom], w: Array, weight: Array) -> Array:
        """(m,): Σ_t weight_t ‖Φ_m(x_t) w_m‖², of what each atom adds to decisions."""
        (found,) = self.source.sums(Added(self.map(atoms), w, self.width), weight)
        return found


@dataclass(frozen=True)
class Scores:
    """ΦᵀA (features, k), or of squared features."""

    map: Map
    squared: bool = False

    def __call__(self, X: Array, A: Array) -> list[Array]:
        Phi = self.map(X)
        return [(np.square(Phi, out=Phi) if self.squared else Phi) @ A]


@dataclass(frozen=True)
class Decisions:
    """Φw (rows, k)."""

    map: Map
    w: Array

    def __call__(self, X: Array) -> Array:
        return np.asarray(self.map(X).T @ self.w)


@dataclass(frozen=True)
class Moments:
    """ΦᵀcΦ_new, where the last `new` features are new, and Φ_newᵀB, for c (m,), B (m, b) and U (m, r).

    Features are less U @ shift, with `shift` (r, features).
    """

    map: Map
    new: int
    shift: Array

    def __call__(self, X: Array, c: Array, B: Array, U: Array) -> list[Array]:
        Phi = self.map(X)
        if self.shift.size:
            Phi -= self.shift.T @ U.T
        own = Phi[len(Phi) - self.new :]
        return [Phi @ (own * c).T, own @ B]


@dataclass(frozen=True)
class Largest:
    """The largest k(x, x) of each kernel in a block: (1, kernels)."""

    map: Map
    width: int

    def __call__(self, X: Array) -> Array:
        squares = np.square(self.map(X)).reshape(-1, self.width, len(X)).sum(axis=1)
        return np.asarray(squares.max(axis=1)[None])


@dataclass(frozen=True)
class Added:
    """Σ_t weight_t ‖Φ_m w_m‖² of each kernel."""

    map: Map
    w: Array
    width: int

    def __call__(self, X: Array, weight: Array) -> list[Array]:
        Phi = self.map(X).reshape(-1, self.width, len(X))
        f = np.einsum("mpt,mpk->mtk", Phi, self.w.reshape(len(Phi), self.width, -1))
        return [np.einsum("mtk,t->m", np.square(f), weight)]

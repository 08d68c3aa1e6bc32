"""Families that solvers may ask, but that are short enough to be listed for those that need a list."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram, parse_memory
from ..oracles import Atom, Oracle
from ..penalties import Penalty
from ..solvers import Result, Solver
from .asked import Asked
from .checks import constant_kernels
from .options import Options

Array = NDArray[np.float64]
_MOST = 100_000  # kernels that are listed where somebody asks for a solver of lists
_FEW = 20_000  # and where nobody does
_WORK = 1e11  # operations of a look at all of them, where nobody does


@dataclass(frozen=True)
class Enumerated(Asked):
    """All kernels of a family as a list; the model holds those with weight, as that of any family."""

    space: Gram  # type: ignore[assignment]
    whole: Oracle
    members: list[Atom]

    @classmethod
    def of(cls, asked: Asked, solver: Solver) -> Self:
        """The family of `asked`, listed."""
        members = list(asked.oracle.atoms())
        known = {field.name: getattr(asked, field.name) for field in fields(Asked)}
        gram = asked.oracle.gram(members)
        return cls(**known | {"solver": solver, "space": gram}, whole=asked.oracle, members=members)

    @property
    def oracle(self) -> Oracle:
        return self.whole

    def settle(self, options: Options, penalty: Penalty, result: Result) -> Result:
        weights = result.weights.copy()
        if self.intercept:  # Σα = 0: whatever weight they have, constants add nothing to f or to P
            weights[constant_kernels(self.space)] = 0.0
        used = np.flatnonzero(weights)
        atoms = [self.members[m] for m in used]
        result = replace(result, atoms=atoms, weights=weights[used], K=None)
        return super().settle(options, penalty, result)

    def spread(self, atoms: list[Atom], values: Array) -> Array:
        """Values of some kernels as values of all, 0 for the others."""
        place = {z: m for m, z in enumerate(self.members)}
        whole = np.zeros(len(self.members))
        whole[[place[z] for z in atoms]] = values
        return whole

    def _any_atom(self) -> list[Any]:
        return self.members[-1:]


def can_be_listed(options: Options, asked: Asked, matrices: int, wished: bool) -> bool:
    """Tell whether the family is short enough for a list, beside so many matrices of n × n.

    `wished` says that somebody asked for a solver of lists; otherwise it must be faster than drawing kernels.
    """
    oracle = asked.oracle
    n, M = oracle.n, oracle.size
    if not oracle.offers("atoms") or not M <= (_MOST if wished else _FEW):
        return False
    fits = oracle.bytes_of(int(M)) + 8.0 * matrices * n * n <= parse_memory(options.memory_limit)
    return fits and (wished or M * float(n) ** 2 <= _WORK)

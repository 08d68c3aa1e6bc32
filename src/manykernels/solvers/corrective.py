"""Totally corrective learning over families of any size: add kernels, then solve for all weights anew.

IKL's column generation, with the best kernels found by the family's oracle and the restricted problem solved
to a certificate each time. The gap is that of the whole family wherever the oracle bounds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np

from .._fast.threads import blas_threads
from ..losses import Squared
from ..objectives import Risk
from ..oracles import Best, Oracle
from ..oracles._base import Atom
from ..penalties import LpBall, Penalty
from ._base import Array, History, Result, relative
from ._family import FamilyResult, FamilySolver
from ._lasso import Lasso
from .active_set import ActiveSet

_LOOSE = 0.05  # the gap along the path
_EXACT = 1e-9  # the gap of a restricted problem below which nothing is gained
_DUST = 1e-12  # of the largest weight
_LARGE = 3e8  # operations of a look at the family from which threads are worth their while
_SMALL = 3000  # samples up to which one BLAS thread is as fast as several that wait for each other


class Restricted(Protocol):
    """The problem of the atoms that were added, at costs scale · C."""

    atoms: list[Atom]
    exact: bool  # whether `solve` leaves rounding errors only

    def add(self, atoms: Sequence[Atom]) -> None: ...

    def solve(self, scale: float, tol: float) -> tuple[Array, float, float]:
        """(a dual point, P, the largest q of the atoms there)."""

    def weights(self) -> tuple[list[Atom], Array]: ...

    def machine(self) -> tuple[Array, Array]:
        """(α, b) of the function whose value P is."""


class Corrective(FamilySolver):
    """Adds the best kernels of the family and learns all weights anew, until none is missing; norm = 1.

    C is raised along a path, so that the first kernels are those that matter most and each problem starts
    from the solution of the one before.

    Parameters
    ----------
    add : int or None
        How many kernels may join at a time; None takes 50 of rank one, or 10 others.
    steps : int
        Of the path, a decade of C; 0 starts at C.
    """

    asks: ClassVar[tuple[str, ...]] = ("best",)

    def __init__(self, add: int | None = None, steps: int = 1) -> None:
        self.add = add
        self.steps = steps

    def run_family(
        self,
        oracle: Oracle,
        risk: Risk,
        penalty: Penalty,
        *,
        tol: float,
        max_iter: int,
        rng: np.random.RandomState,
        history: History | None = None,
    ) -> FamilyResult:
        self.require(oracle, "Greedy and Corrective ask for the best kernels, Stochastic draws them.")
        self._check(penalty)
        add = (50 if oracle.rank_one else 10) if self.add is None else self.add
        search = _Search(oracle, risk, penalty, add, max_iter, rng, history or History())
        for scale in self._path(risk):
            if scale == 1.0:
                search.grow(scale, tol)
            elif search.n_iter < max_iter - 1:  # the last is for C itself
                search.grow(scale, max(tol, _LOOSE))
        return search.result(tol)

    def _check(self, penalty: Penalty) -> None:
        add = 1 if self.add is None else self.add
        if not isinstance(add, int) or add < 1 or not isinstance(self.steps, int) or self.steps < 0:
            raise ValueError(
                f"Corrective(add={self.add!r}, steps={self.steps!r}) was given; expected whole numbers, add "
                "at least 1 and steps at least 0."
            )
        if not (isinstance(penalty, LpBall) and penalty.sparse):
            raise ValueError(
                f"solver='corrective' was given with norm={penalty!r}; it needs norm=1, where few kernels "
                "have weight. Other norms give weight to every kernel of a family: take solver='stochastic', "
                "or 'active-set' for a finite dictionary."
            )

    def _path(self, risk: Risk) -> list[float]:
        """Factors of C, from about 1/n, where hardly anything is fitted, up to 1."""
        first = 1.0 / (risk.Y.shape[0] * float(risk.C.mean()))
        if self.steps == 0 or first >= 1.0:
            return [1.0]
        count = int(np.ceil(-self.steps * np.log10(first)))
        return [float(first ** (1.0 - step / count)) for step in range(count)] + [1.0]


class _Search:
    """One run: what was found so far, at the last factor of C."""

    def __init__(
        self,
        oracle: Oracle,
        risk: Risk,
        penalty: Penalty,
        add: int,
        max_iter: int,
        rng: np.random.RandomState,
        history: History,
    ) -> None:
        self.oracle, self.risk, self.penalty = oracle, risk, penalty
        self.add, self.max_iter, self.history = add, max_iter, history
        self.n_iter = 0
        self.restricted = _restricted(oracle, risk, penalty, rng)
        self.primal, self.dual, self.certified = np.inf, -np.inf, False
        self.restricted.add(self._best(risk.constant_alpha()).atoms)

    def grow(self, scale: float, goal: float) -> None:
        """Add kernels at costs scale · C until the gap over the family is at most `goal`."""
        risk = Risk(self.risk.loss, self.risk.Y, scale * self.risk.C, self.risk.fit_intercept)
        self.dual, accuracy = -np.inf, 0.3 * goal
        while True:
            self.n_iter += 1
            with blas_threads(1 if self.oracle.n < _SMALL else None):
                alpha, self.primal, level = self.restricted.solve(scale, accuracy)
            found = self._best(alpha)
            self._bound(risk, alpha, max(level, float(found.values[0])), found.upper)
            gap = relative(self.primal, self.dual)
            known = set(self.restricted.atoms)
            if scale == 1.0:
                self.history.add(self.primal, gap, len(self.restricted.weights()[0]))
            better = zip(found.atoms, found.values, strict=True)
            fresh = [z for z, q in better if q > level * (1.0 + 1e-9) and z not in known]
            if gap <= goal or self.n_iter >= self.max_iter - (scale < 1.0):
                return
            if fresh:
                self.restricted.add(fresh)
            elif accuracy < _EXACT or self.restricted.exact:
                return  # what is left is rounding
            else:
                accuracy *= 0.1

    def _bound(self, risk: Risk, alpha: Array, top: float, upper: float) -> None:
        """The best dual value so far, of those that are proven as this one is, or as it is not."""
        proven = bool(np.isfinite(upper))
        value = risk.dual(alpha, np.array([max(top, upper) if proven else top]), self.penalty)
        if proven == self.certified:
            self.dual = max(self.dual, value)
        else:
            self.dual, self.certified = value, proven

    def _best(self, alpha: Array) -> Best:
        with blas_threads(1 if self.oracle.work < _LARGE else None):
            return self.oracle.best(alpha, self.add)

    def result(self, tol: float) -> FamilyResult:
        return FamilyResult(
            *self.restricted.weights(),
            *self.restricted.machine(),
            self.primal,
            self.dual,
            self.certified,
            relative(self.primal, self.dual) <= tol,
            self.n_iter,
            self.history,
        )


class _Finite:
    """Any loss and any kernels: the active set method on the Gram of the atoms that were added.

    P is flat around the optimal θ, and the machine's α there is not: the family is asked at the point of the
    best bound instead.
    """

    exact = False

    def __init__(self, oracle: Oracle, risk: Risk, penalty: Penalty, rng: np.random.RandomState) -> None:
        self.oracle, self.risk, self.penalty, self.rng = oracle, risk, penalty, rng
        self.atoms: list[Atom] = []
        self.theta = np.empty(0)
        self.last: Result | None = None
        self.scale, self.lowest = 0.0, np.inf

    def add(self, atoms: Sequence[Atom]) -> None:
        """Let more atoms take part; those without weight leave once P has fallen, or they could come back."""
        used = np.arange(len(self.atoms))
        if self.last is not None and self.last.primal < self.lowest * (1.0 - 1e-9):
            used, self.lowest = np.flatnonzero(self.theta), self.last.primal
        self.atoms = [*(self.atoms[m] for m in used), *atoms]
        self.theta = np.concatenate([self.theta[used], np.zeros(len(atoms))])
        self.gram = self.oracle.gram(self.atoms)

    def solve(self, scale: float, tol: float) -> tuple[Array, float, float]:
        risk = Risk(self.risk.loss, self.risk.Y, scale * self.risk.C, self.risk.fit_intercept)
        if scale != self.scale:
            self.scale, self.lowest = scale, np.inf
        start = None
        if self.last is not None and self.theta.any():
            start = self.theta, risk.feasible(self.last.alpha)
        self.last = ActiveSet().run(
            self.gram, risk, self.penalty, tol=tol, max_iter=200, rng=self.rng, start=start
        )
        self.theta = np.where(self.last.theta > _DUST * self.last.theta.max(), self.last.theta, 0.0)
        alpha = self.last.alpha if self.last.dual_alpha is None else self.last.dual_alpha
        return alpha, self.last.primal, float(self.gram.quad(alpha).sum(axis=1).max())

    def weights(self) -> tuple[list[Atom], Array]:
        assert self.last is not None
        used = np.flatnonzero(self.theta if self.last.alpha.any() else [])  # nothing to learn: no kernels
        return [self.atoms[m] for m in used], self.theta[used]

    def machine(self) -> tuple[Array, Array]:
        assert self.last is not None
        return self.last.alpha, self.last.intercept


def _restricted(oracle: Oracle, risk: Risk, penalty: Penalty, rng: np.random.RandomState) -> Restricted:
    """The fastest exact form of the restricted problem."""
    squared = isinstance(risk.loss, Squared) and risk.Y.shape[1] == 1
    if squared and oracle.rank_one:
        return Lasso(oracle, risk)
    return _Finite(oracle, risk, penalty, rng)

"""Totally corrective learning over families of any size: add kernels, then solve for all weights anew.

IKL's column generation, with the best kernels found by the family's oracle and the restricted problem solved
to a certificate each time. The gap is that of the whole family wherever the oracle bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._fast.threads import blas_for, blas_threads
from ..objectives import Risk
from ..oracles import Best, FiniteOracle, Oracle
from ..oracles.base import Atom
from ..oracles.rows import RowOracle
from ..penalties import Penalty
from ._family import FamilySolver
from ._restricted import Finite, restricted
from ._stopping import goes_on
from .base import Array, Reason, Result, Run, relative, require_served, whole_number
from .declarations import Serves

_LOOSE = 0.05  # the gap along the path
_COARSE = 0.3  # the largest gap that an accuracy is a share of
_SHARE = 0.1  # of the gap of the family, to which the restricted problem is solved
_NEAR = 0.01  # of q, that a kernel between two others may be below them when they become one
_EXACT = 1e-9  # the gap of a restricted problem below which nothing is gained
_ROWS = 1 << 15  # rows read in blocks, from which a fit begins on some of them
_FEWER, _MOST = 8, 1 << 16  # times fewer rows, and how many at most
_LARGE = 3e8  # operations of a look at the family from which threads are worth their while


class Corrective(FamilySolver):
    """Add the best kernels of the family and learn all weights anew, until none is missing; for norm = 1.

    ``solver="auto"`` takes it for families at norm 1. C is raised along a path, so that the first
    kernels are those that matter most and each problem starts from the solution of the one before. It is
    infinite kernel learning where the family is a continuum.

    Parameters
    ----------
    add : int or None, default=None
        Largest number of kernels that join at a time. None takes 50 of rank one, or 10 others.
    steps : int, default=1
        Number of steps of the path for each decade of C; 0 starts at C.
    certify : bool, default=False
        Whether to raise an error for a result without a bound on the whole family.

    References
    ----------
    Gehler & Nowozin (2008), "Infinite kernel learning", Max Planck Institute for Biological Cybernetics,
    Technical Report 178.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Products
    >>> from manykernels.solvers import Corrective
    >>> X = np.random.RandomState(0).randn(60, 5)
    >>> model = MKLRegressor(Products(degree=2), solver=Corrective(certify=True)).fit(X, X[:, 0] * X[:, 1])
    >>> model.certified_
    True
    """

    serves = Serves(
        kernels=frozenset({"list", "family", "rows"}),
        penalties=frozenset({"norm 1"}),
        asks=("best",),
        needs="norm=1",
        because="where few kernels have weight: other norms give weight to every kernel of a family",
    )

    def __init__(self, add: int | None = None, steps: int = 1, certify: bool = False) -> None:
        self.add = add
        self.steps = steps
        self.certify = certify

    def _over(self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run) -> Result:
        first = self._begun(oracle, run) or self._drawn(oracle, risk, penalty, run)
        search = self._begin(oracle, risk, penalty, run, first)
        self._require_bound(oracle, search.bounded)
        for scale in [1.0] if first else self._path(risk):
            if scale == 1.0:
                search.grow(scale, run.tol)
            elif goes_on(search.n_iter, run.max_iter - 1):  # the last is for C itself
                search.grow(scale, max(run.tol, _LOOSE), last=False)
        self._require_bound(oracle, search.certified)
        return search.result(run.tol)

    def run_path(
        self, oracle: Oracle, risk: Risk, penalty: Penalty, scales: Sequence[float], run: Run
    ) -> Iterator[Result]:
        """Solve the problem at several costs, each from the solution of the one before.

        Parameters
        ----------
        oracle : Oracle
            The family on the training samples.
        risk : Risk
            The data fit at the last cost.
        penalty : Penalty
            The penalty on the weights.
        scales : sequence of float
            Factors of C, which must rise to 1.
        run : Run
            Tolerance, iterations, random numbers and start.

        Yields
        ------
        Result
            The solution at each factor.

        Examples
        --------
        The first kernel K = yyᵀ is the target itself. At cost C the optimum of four squared errors is
        2C/(1 + 4C):

        >>> import numpy as np
        >>> from manykernels.grams import StackGram
        >>> from manykernels.losses import Squared
        >>> from manykernels.objectives import Separable
        >>> from manykernels.oracles import FiniteOracle
        >>> from manykernels.penalties import Simplex
        >>> from manykernels.solvers import Corrective, Run
        >>> y = np.array([[1.0], [-1.0], [1.0], [-1.0]])
        >>> oracle = FiniteOracle(StackGram(np.stack([y @ y.T, np.eye(4)])))
        >>> risk = Separable(Squared(), y, np.ones((4, 1)), fit_intercept=True)
        >>> run = Run(1e-6, 100, np.random.RandomState(0))
        >>> path = list(Corrective().run_path(oracle, risk, Simplex(), [0.25, 1.0], run))
        >>> [(result.atoms, round(result.primal, 3)) for result in path]
        [([0], 0.25), ([0], 0.4)]
        """
        require_served(self, oracle, risk, penalty)
        search = self._begin(oracle, risk, penalty, run)
        for scale in scales:
            search.grow(scale, run.tol)
            yield search.result(run.tol)

    def _begun(self, oracle: Oracle, run: Run) -> list[Atom]:
        """The kernels of a list that have weight in the start, where there is one."""
        if run.start is None or not isinstance(oracle, FiniteOracle):
            return []
        return [int(m) for m in np.flatnonzero(run.start[0])]

    def _drawn(self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run) -> list[Atom]:
        """Kernels that some of many rows find best: a look at them costs little, one at all rows much.

        Noise in a score grows as √n C, so that C is chosen to let in as much of it as all rows do.
        """
        n = risk.shape[0]
        if not isinstance(oracle, RowOracle) or n < _ROWS:
            return []
        size = min(n // _FEWER, _MOST)
        rows = np.sort(run.rng.choice(n, size, replace=False))
        some = risk.subset(rows)
        if some is None:
            return []
        brief = Run(max(run.tol, _LOOSE), run.max_iter, run.rng)
        return self._over(oracle.part(rows), some.scaled(np.sqrt(size / n)), penalty, brief).atoms

    def _begin(
        self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run, first: Sequence[Atom] = ()
    ) -> _Growth:
        """Choose the kernels to begin with: known good ones, or the best at a constant function."""
        whole_number(self, "steps", 0)
        add = (50 if oracle.rank_one else 10) if self.add is None else whole_number(self, "add", 1)
        return _Growth(oracle, risk, penalty, add, run, first)

    def _require_bound(self, oracle: Oracle, bounded: bool) -> None:
        if self.certify and not bounded:
            count = f"{oracle.size:.3g} kernels" if np.isfinite(oracle.size) else "infinitely many kernels"
            raise ValueError(
                f"certify=True was given, and this family of {count} cannot be bounded: it is too large to "
                "look at every kernel, or has several parameters to search. Make it smaller (a lower degree, "
                "fewer features, one width), or take certify=False and read certified_."
            )

    def _path(self, risk: Risk) -> list[float]:
        """Factors of C, from about 1/n, where hardly anything is fitted, up to 1."""
        first = 1.0 / (risk.shape[0] * risk.cost)
        if self.steps == 0 or first >= 1.0:
            return [1.0]
        count = int(np.ceil(-self.steps * np.log10(first)))
        return [float(first ** (1.0 - step / count)) for step in range(count)] + [1.0]


class _Growth:
    """One run: what was found so far, at the last factor of C."""

    def __init__(
        self, oracle: Oracle, risk: Risk, penalty: Penalty, add: int, run: Run, first: Sequence[Atom] = ()
    ) -> None:
        self.oracle, self.risk, self.penalty = oracle, risk, penalty
        self.add, self.max_iter, self.history = add, run.max_iter, run.history
        self.n_iter = 0
        self.restricted = restricted(oracle, risk, penalty, run.rng)
        self.primal, self.dual, self.certified = np.inf, -np.inf, False
        self.reason = Reason.NONE
        self.inside: Array | None = None  # the point whose value `dual` is
        self.bounded = True
        if not first:
            found = self._best(risk.constant_alpha())
            first, self.bounded = found.atoms, bool(np.isfinite(found.upper))
        self.restricted.add(first)

    def grow(self, scale: float, goal: float, last: bool = True) -> None:
        """Add kernels at costs scale · C until the gap over the family is at most `goal`.

        Unless it is the `last` one, there is no result of it.
        """
        risk = self.risk.scaled(scale)
        self.dual, self.inside, self.reason = -np.inf, None, Reason.NONE
        share, gap = _SHARE, _COARSE
        while True:
            self.n_iter += 1
            accuracy = share * max(goal, min(gap, _COARSE))
            with blas_for(self.oracle.n):
                alpha, self.primal, level = self.restricted.solve(scale, accuracy)
            found = self._look(risk, alpha, level)
            if scale == 1.0 and self.certified and isinstance(self.restricted, Finite):
                self.primal = self.restricted.merge(max(goal, min(relative(self.primal, self.dual), _NEAR)))
            known = set(self.restricted.atoms)
            fresh = [z for z, q in found if q > level * (1.0 + 1e-9) and z not in known]
            stuck = not fresh and (accuracy < _EXACT or self.restricted.exact)
            over = stuck or not goes_on(self.n_iter, self.max_iter - (scale < 1.0))
            if last and (over or relative(self.primal, self.dual) <= goal):
                with blas_for(self.oracle.n):
                    self.primal = self.restricted.settled(self.primal, accuracy)
            gap = relative(self.primal, self.dual)
            if scale == 1.0:
                self.history.add(self.primal, gap, len(self.restricted.weights()[0]))
            if gap <= goal or over:
                break
            if fresh:
                self.restricted.add(fresh)
            else:
                share, gap = 0.1 * share, goal
        if stuck and gap > goal:
            self.reason = Reason.ROUNDING if np.isfinite(self.oracle.size) else Reason.SEARCH

    def _look(self, risk: Risk, alpha: Array, level: float) -> list[tuple[Atom, float]]:
        """Kernels that the family finds best at α, with their q; bounds the optimum.

        q of the kernels that are missing is far above `level` at first, and D far below the optimum. On the
        way to the best dual point so far D is better than at both ends (Wentges): so that is tried as well.
        """
        found = self._best(alpha)
        self._bound(risk, alpha, max(level, float(found.values[0])), found.upper)
        seen = dict(zip(found.atoms, map(float, found.values), strict=True))
        cheap = self.oracle.swift or self.oracle.work < _LARGE
        if self.certified and self.inside is not alpha and cheap:
            assert self.inside is not None
            middle = 0.5 * (self.inside + alpha)
            other = self._best(middle)
            if np.isfinite(other.upper):
                self._bound(risk, middle, other.upper, other.upper)
            fresh = [z for z in other.atoms if z not in seen]
            seen.update(zip(fresh, map(float, self.oracle.quad(alpha, fresh)), strict=True))
        return list(seen.items())

    def _bound(self, risk: Risk, alpha: Array, top: float, upper: float) -> None:
        """The best dual value so far, if proven. One that is not says nothing of kernels met later."""
        proven = bool(np.isfinite(upper))
        q = np.array([max(top, upper) if proven else top])
        value = risk.dual(alpha, q, self.penalty, self.restricted.size)
        if not (proven and self.certified) or value > self.dual:
            self.dual, self.certified, self.inside = value, proven, alpha

    def _best(self, alpha: Array) -> Best:
        with blas_threads(1 if self.oracle.work < _LARGE else None):
            return self.oracle.best(alpha, self.add)

    def result(self, tol: float) -> Result:
        atoms, weights = self.restricted.weights()
        alpha, intercept = self.restricted.machine()
        gap = relative(self.primal, self.dual)
        return Result(
            atoms=atoms,
            weights=weights,
            alpha=alpha,
            intercept=intercept,
            primal=self.primal,
            dual=self.dual,
            certified=self.certified,
            converged=gap <= tol,
            n_iter=self.n_iter,
            history=self.history,
            reason=self.reason if gap > tol else Reason.NONE,
            dual_alpha=self.inside,
            details=self.restricted.details,
        )

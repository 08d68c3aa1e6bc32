"""Groups of many features: exact steps block by block, on the features as they are held.

At f the risk has the second-order model −⟨t, δ⟩ + ½ Σ_i W_i δ_i², t = −∇R(f), of a change δ of the decisions;
with t at the best unpenalised part Zγ, Zᵀt = 0, that part follows by taking from the features what Z explains
of them by W (with an intercept alone: their means). One block
of coefficients is then minimised exactly in the basis in which Φ_gᵀWΦ_g is diagonal (`_fast/groups.py`), and
only t moves: a sweep reads the features of the groups that take part twice, and nothing is copied. For
squared errors W is the cost, and the bases stay what they are, along a whole path in C too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._fast import groups as fast
from ..grams import FactorGram
from ..objectives import Separable
from ..penalties import Penalty
from ._beside import Beside
from ._group_work import EXACT, GroupWork, missing
from ._narrow_groups import Narrow
from .base import Array, Run

_FEWEST = 2  # new groups at a time, or as many as cost what a look at all groups does
_SWEEPS = 60  # between two looks; where they do not suffice, groups nearly depend on each other
_MODEL_SWEEPS = 10  # of one second-order model
_CLOSER = 0.1  # times the change of a group at which sweeps end, after a look that found no other group
_HALVINGS = 30
_FLOOR = 1e-10  # of the cost: samples far from the decision have no curvature


class Wide(GroupWork):
    """Block coordinate descent on t, with the second-order model anew where errors are not squared."""

    def __init__(self, gram: FactorGram, risk: Separable, penalty: Penalty, run: Run) -> None:
        super().__init__(gram, risk, penalty, run)
        self.rows = np.ascontiguousarray(gram.features.T)  # (D, n); no copy, as features are held
        self.root = np.sqrt(gram.scale)
        self.w = np.zeros((risk.shape[1], self.rows.shape[0]))
        self.norms = np.zeros(gram.n_kernels)
        self.score = risk.zeros()  # Σ_g Φ_g w_g, before anything is taken from the features
        self.live = np.empty(0, dtype=np.intp)
        self.bases = _Bases(self.rows, gram.ptr, self.root, risk.Z)
        self.cost = 1.0  # of squared errors, relative to those that the bases were made for
        self.change = max(0.1 * np.sqrt(run.tol), EXACT)
        n, D, p = gram.n, self.rows.shape[0], np.diff(gram.ptr).max()
        self._room = max(_FEWEST, int(n * D / (0.1 * n * p**2 + 3.0 * p**3)))

    def after(self, risk: Separable, run: Run) -> Wide:
        self.cost *= float(risk.C[0, 0] / self.risk.C[0, 0])
        self.pose(risk, run if self.slow else replace(run, start=None))  # others ended what was slow
        self.change = max(0.1 * np.sqrt(run.tol), EXACT)
        self.f = self.score + risk.intercepts(self.score)
        return self

    @property
    def width(self) -> int:
        """Features of all groups with weight."""
        return int(np.diff(self.gram.ptr)[self.norms > 0.0].sum())

    def handed_over(self) -> Narrow:
        """The same work by Newton's method, which does not mind groups that nearly depend on each other."""
        other = Narrow(self.gram, self.risk, self.penalty, self.run)
        other.take_over(self, self.w)
        return other

    @property
    def sizes(self) -> Array:
        return self.norms.copy()

    # -- the groups that take part ----------------------------------------------------------------
    def begin(self, count: int | None) -> None:
        if self.run.start is not None and np.any(self.run.start[1]):
            self.w = self._of_machine(*self.run.start)
            self._place()
        self.join(np.sqrt(self.forms(self.risk.feasible(-self.risk.gradient(self.f)))), count)

    def join(self, pull: Array, add: int | None) -> bool:
        used = self.norms > 0.0
        found = missing(pull, self.norms, ~used & (self.gram.scale > 0.0))
        known = self.bases.known[found] if self.squares else np.zeros(found.size, dtype=bool)
        room = max(self._room, int(used.sum()) // 2) if add is None else add
        new = np.concatenate([found[known], found[~known][:room]])
        self.live = np.concatenate([np.flatnonzero(used), new]).astype(np.intp)
        if not new.size:
            self.change = max(_CLOSER * self.change, EXACT)
        return bool(new.size)

    # -- sweeps -----------------------------------------------------------------------------------
    def improve(self) -> None:
        self.steps += 1
        if self.squares:
            self.slow = not self._sweep(self.risk.C[:, 0], _SWEEPS)
            self._place()
            return
        for _ in range(_SWEEPS // _MODEL_SWEEPS):
            before, last, start = self._value(self.w, self.f), self.score.copy(), self.w.copy()
            W = (self.risk.C * self.risk.loss.hessian(self.risk.Y, self.f))[:, 0]
            self.bases.forget()
            self._sweep(np.maximum(W, _FLOOR * self.risk.C[:, 0]), _MODEL_SWEEPS)
            self._search(before, start, last)
            if before - self._value(self.w, self.f) <= self.change**2 * abs(before):
                return
        self.slow = True

    def _sweep(self, W: Array, most: int) -> bool:
        """Blocks in turn, until none changes by more than `change` times Σ ‖w_g‖; whether it came so far."""
        beside, unit = Beside(self.risk, W), W / self.cost
        for g in self.live:
            self.bases.learn(int(g), unit, beside, self.gram.mean)
        t, bases = np.ascontiguousarray(-self.risk.gradient(self.f).T), self.bases
        score, live = np.ascontiguousarray(self.score.T), self.live
        blocks = (bases.Q, bases.at, self.cost * bases.d, bases.Z, bases.taken)
        for _ in range(most):
            moved = fast.sweep_rows(
                live, self.rows, self.gram.ptr, self.root, *blocks, W, self.w, t, score, self.norms
            )
            live = live[self.norms[live] > 0.0]
            if moved <= self.change * float(self.norms.sum()):
                break
        self.score = score.T if self.gram.mean is None else score.T - self.gram.mean @ score.T
        return bool(moved <= self.change * float(self.norms.sum()))

    def _search(self, before: float, start: Array, last: Array) -> None:
        """Go as far towards the minimum of the model as P falls."""
        step, moved = self.w - start, self.score - last
        for halvings in range(_HALVINGS):
            part = 0.5**halvings
            self.w, self.score = start + part * step, last + part * moved
            self.f = self.score + self.risk.intercepts(self.score)
            self.norms = self._sizes(self.w)
            if self._value(self.w, self.f) <= before:
                return
        self.w, self.score = start, last
        self.norms, self.f = self._sizes(start), last + self.risk.intercepts(last)

    def _sizes(self, w: Array) -> Array:
        return np.sqrt(np.add.reduceat((w**2).sum(axis=0), self.gram.ptr[:-1]))

    def _value(self, w: Array, f: Array) -> float:
        return float(0.5 * self._sizes(w).sum() ** 2 + self.risk.value(f))

    def _place(self) -> None:
        """f of the coefficients, computed anew so that no rounding is carried on."""
        self.norms = self._sizes(self.w)
        self.score = self._products(self.norms > 0.0, self.w)
        self.f = self.score + self.risk.intercepts(self.score)

    def _products(self, which: NDArray[np.bool_], w: Array) -> Array:
        """Σ_g √s_g Φ_g w_g over these groups, less its mean where kernels are centred."""
        score = np.zeros((self.gram.n, w.shape[0]))
        for g in np.flatnonzero(which):
            own = slice(self.gram.ptr[g], self.gram.ptr[g + 1])
            score += self.root[g] * (self.rows[own].T @ w[:, own].T)
        return score if self.gram.mean is None else score - self.gram.mean @ score

    def scores(self, theta: Array) -> tuple[Array, Array]:
        return self._products(theta > 0.0, self._of_machine(theta, self.alpha)), np.zeros(self.w.shape[0])

    def _of_machine(self, theta: Array, alpha: Array) -> Array:
        """The coefficients θ_g Φ_gᵀα of the function Σ θ_g K_gα."""
        mean, w = self.gram.mean, np.zeros_like(self.w)
        alpha = alpha if mean is None else alpha - np.outer(mean, alpha.sum(axis=0))
        for g in np.flatnonzero((theta > 0.0) & (self.root > 0.0)):
            own = slice(self.gram.ptr[g], self.gram.ptr[g + 1])
            w[:, own] = theta[g] * self.root[g] * (self.rows[own] @ alpha).T
        return w


class _Bases:
    """The basis of every group in which its block ΦᵀWΦ is diagonal, as far as it is known.

    Features are less Z · taken, where Z holds a constant and the covariates.
    """

    def __init__(self, rows: Array, ptr: NDArray[np.intp], root: Array, Z: Array | None) -> None:
        self.rows, self.ptr, self.root = rows, ptr, root
        widths, ones = np.diff(ptr), np.ones((rows.shape[1], 1))
        self.at = np.concatenate([[0], np.cumsum(widths**2)]).astype(np.intp)
        self.Q = np.empty(int(self.at[-1]))  # all bases, one behind the other
        self.d = np.zeros(int(ptr[-1]))
        self.Z = ones if Z is None else np.hstack([ones, Z])
        self.taken = np.zeros((self.Z.shape[1], int(ptr[-1])))
        self.known = np.zeros(widths.size, dtype=bool)

    def forget(self) -> None:
        """W has changed."""
        self.known[:] = False

    def learn(self, g: int, W: Array, beside: Beside, mean: Array | None) -> None:
        """The basis of group g; where kernels are centred, features are less their `mean` as well."""
        if self.known[g]:
            return
        lo, hi = self.ptr[g], self.ptr[g + 1]
        rows, taken = self.rows[lo:hi], self.taken[:, lo:hi]
        taken[:] = 0.0
        taken[0] = 0.0 if mean is None else rows @ mean
        explained = beside.coefficients((rows - taken[0][:, None]).T)
        if beside.Z is None:
            taken[0] += explained
        else:
            taken[1:] = explained
        half = (rows - (self.Z @ taken).T) * np.sqrt(W)
        values, Q = np.linalg.eigh(self.root[g] ** 2 * (half @ half.T))
        self.d[lo:hi] = np.maximum(values, 0.0)
        self.Q[self.at[g] : self.at[g + 1]] = Q.ravel()
        self.known[g] = True

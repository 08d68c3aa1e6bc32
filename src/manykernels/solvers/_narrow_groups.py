"""Groups of few features: the second-order model of the risk as a matrix of features × features.

R is replaced by its second-order model, which is exact for the squared loss, and that problem is solved to
rounding in the few columns of a working set of groups (`_groups.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..grams import FactorGram
from ..machines.free import solved
from ..objectives import Separable
from ..penalties import Penalty
from ._beside import Beside
from ._group_work import EXACT, GroupWork, missing
from ._groups import Quadratic, diagonal_blocks, turned
from .base import Array, Run

_FIRST = 10  # groups that join at a time, at least
_LOOSE = 0.1  # times tol: the relative change of a group at which the quadratic problem is solved, at first
_STEPS = 30  # of Newton's method at one working set
_HALVINGS = 30


class Narrow(GroupWork):
    """Newton's method with copies of the features of the groups that take part."""

    def __init__(self, gram: FactorGram, risk: Separable, penalty: Penalty, run: Run) -> None:
        super().__init__(gram, risk, penalty, run)
        n, outputs = risk.shape
        self.chosen = np.empty(0, dtype=np.intp)
        self.Phi, self.ptr = np.empty((n, 0)), np.zeros(1, dtype=np.intp)
        self.bases: list[Array] = []  # of the groups that take part
        self.H = np.empty((0, 0))  # ΦᵀCΦ, for squared errors
        self.C = risk.C[:, 0]
        self.beside = Beside(risk, self.C)
        self.means = self.beside.none  # what was taken from the features
        self.w = np.empty((outputs, 0))
        self.change = max(_LOOSE * run.tol, EXACT)

    @property
    def sizes(self) -> Array:
        found = np.zeros(self.gram.n_kernels)
        if self.chosen.size:
            found[self.chosen] = np.sqrt(np.add.reduceat((self.w**2).sum(axis=0), self.ptr[:-1]))
        return found

    # -- the working set --------------------------------------------------------------------------
    def begin(self, count: int | None) -> None:
        count = max(_FIRST, self.gram.n_kernels // 10) if count is None else count
        q = self.forms(self.alpha)
        usable = np.flatnonzero(q > 0.0)
        order = usable[np.argsort(-q[usable], kind="stable")][:count]
        theta, alpha = self.run.start if self.run.start is not None else (np.empty(0), np.zeros(1))
        if np.any(alpha):
            order = np.union1d(order, np.flatnonzero((theta > 0.0) & (self.gram.scale > 0.0)))
        self._append(order)
        if np.any(alpha):
            pull = (self.Phi.T @ alpha).T
            self.w = pull * np.repeat(theta[self.chosen], np.diff(self.ptr))
            self._place()

    def take_over(self, other: GroupWork, w: Array) -> None:
        """Go on with the coefficients (outputs, D) of other work on the same problem."""
        groups = np.flatnonzero(other.sizes)
        self._append(groups)
        parts = [w[:, self.gram.ptr[g] : self.gram.ptr[g + 1]] for g in groups]
        self.w = turned(np.hstack([np.empty((w.shape[0], 0)), *parts]), self.ptr, self.bases)
        self.steps, self.dual, self.best = other.steps, other.dual, other.best
        self._place()

    def join(self, pull: Array, add: int | None) -> bool:
        sizes, out = self.sizes, np.ones(self.gram.n_kernels, dtype=bool)
        out[self.chosen] = False
        found = missing(pull, sizes, out)
        self._append(found[: max(_FIRST, int(np.count_nonzero(sizes))) if add is None else add])
        if not found.size:
            self.change = max(_LOOSE * self.change, EXACT)
        return bool(found.size)

    def _append(self, groups: NDArray[np.intp]) -> None:
        """Let more groups take part, each in the basis in which its own block of ΦᵀCΦ is diagonal.

        Features are less what the unpenalised part takes up: means by cost, or projections on covariates.
        """
        gram, parts = self.gram, []
        for g in groups:
            Phi = gram.features[:, gram.ptr[g] : gram.ptr[g + 1]] * np.sqrt(gram.scale[g])
            Phi = Phi if gram.mean is None else Phi - gram.mean @ Phi
            means = self.beside.coefficients(Phi)
            Phi = Phi - self.beside.values(means)
            Q = np.linalg.eigh(Phi.T @ (self.C[:, None] * Phi))[1]
            parts.append(np.vstack([Phi @ Q, means @ Q]))
            self.bases.append(Q)
        joined = np.hstack([np.empty((gram.n + np.atleast_2d(self.means).shape[0], 0)), *parts])
        new, means = joined[: gram.n], joined[gram.n :].reshape(*self.means.shape[:-1], -1)
        if self.squares:
            half = self.C[:, None] * new
            cross = self.Phi.T @ half
            self.H = np.block([[self.H, cross], [cross.T, new.T @ half]])
        self.chosen = np.concatenate([self.chosen, groups])
        self.ptr = np.concatenate([self.ptr, self.ptr[-1] + np.cumsum(np.diff(gram.ptr)[groups])])
        self.means = np.concatenate([self.means, means], axis=-1)
        self.Phi = np.hstack([self.Phi, new])
        self.w = np.hstack([self.w, np.zeros((self.w.shape[0], new.shape[1]))])

    # -- Newton's method --------------------------------------------------------------------------
    def improve(self) -> None:
        for _ in range(_STEPS):
            self.steps += 1
            before = self._value(self.w, self.f)
            self._step()
            if self.squares or before - self._value(self.w, self.f) <= self.change * abs(before):
                break

    def _step(self) -> None:
        """The best coefficients for the second-order model at f; then as far there as P falls."""
        risk, g = self.risk, self.risk.gradient(self.f)
        if self.squares:
            right = (self.Phi.T @ (self.C[:, None] * self.f - g)).T
            self.w = Quadratic(self.H, right, self.ptr).minimise(self.w, self.change)
            self._place()
            return
        W = (risk.C * risk.loss.hessian(risk.Y, self.f))[:, 0]
        half = np.sqrt(W)[:, None] * self.Phi
        H, right = half.T @ half, (self.Phi.T @ (W[:, None] * self.f - g)).T
        if risk.Z is not None:
            pull, inner = risk.Z.T @ (W[:, None] * self.Phi), risk.Z.T @ (W[:, None] * risk.Z)
            absorbed = solved(inner, pull, 1e-14 * float(np.trace(inner)))
            H -= pull.T @ absorbed
            right -= (risk.Z.T @ (W[:, None] * self.f - g)).T @ absorbed
        elif risk.fit_intercept and (mass := float(W.sum())) > 0.0:
            pull = W @ self.Phi
            H -= np.outer(pull, pull) / mass
            right -= (W @ self.f - g.sum(axis=0))[:, None] / mass * pull
        bases = diagonal_blocks(H, self.ptr)
        H = turned(turned(H, self.ptr, bases).T, self.ptr, bases)
        start, right = (turned(a, self.ptr, bases) for a in (self.w, right))
        w = turned(Quadratic(H, right, self.ptr).minimise(start, self.change), self.ptr, bases, back=True)
        self._search(w)

    def _search(self, w: Array) -> None:
        """From here towards w, half as far as long as P does not fall."""
        now, dw = self._value(self.w, self.f), w - self.w
        for halvings in range(_HALVINGS):
            trial = self.w + 0.5**halvings * dw
            score = self.Phi @ trial.T
            if self._value(trial, score + self.risk.intercepts(score)) <= now:
                self.w = trial
                break
        self._place()

    def _place(self) -> None:
        """f of the coefficients, with the best intercept for them."""
        score = self.Phi @ self.w.T
        self.f = score + self.risk.intercepts(score)

    def _value(self, w: Array, f: Array) -> float:
        norms = (
            np.sqrt(np.add.reduceat((w**2).sum(axis=0), self.ptr[:-1])) if self.chosen.size else np.zeros(1)
        )
        return float(0.5 * norms.sum() ** 2 + self.risk.value(f))

    def scores(self, theta: Array) -> tuple[Array, Array]:
        each = np.repeat(theta[self.chosen], np.diff(self.ptr))
        v = each[:, None] * (self.Phi.T @ self.alpha)
        # the features of the model are not less their means
        return self.Phi @ v, self.beside.values(self.means @ v)

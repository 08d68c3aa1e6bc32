"""Newton's method on groups of explicit features: the group lasso's way to norm 1.

With K_g = Φ_gΦ_gᵀ, w_g the coefficients of kernel g and norm 1,

    P = ½ (Σ_g ‖w_g‖)² + R(Σ_g Φ_g w_g + b),      θ_g = ‖w_g‖/Σ‖w‖,      α = −∇R
    optimal ⟺ ‖Φ_gᵀα‖ ≤ Σ‖w‖ =: N, and Φ_gᵀα = N w_g/‖w_g‖ where w_g ≠ 0:

the condition of the group lasso at λ = N. R is replaced by its second-order model, which is exact for the
squared loss, and that problem is solved to rounding in the few columns of a working set of groups
(`_groups.py`). A look at all groups, one product Φᵀα, adds those with ‖Φ_gᵀα‖ > N and gives the bound: where
kernels have fewer features than samples nothing of n × n is ever made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._fast.threads import blas_for
from ..grams import FactorGram
from ..machines.free import solved
from ..objectives import Risk, Separable
from ..penalties import Penalty
from ._beside import Beside
from ._groups import Quadratic, diagonal_blocks, turned
from ._stopping import goes_on
from .base import Array, Kernels, Reason, Result, Run, Solver, listed, relative
from .declarations import Serves

_FIRST = 10  # groups to begin with, at least
_LOOSE = 0.1  # times tol: the relative change of a group at which the quadratic problem is solved, at first
_EXACT = 1e-11  # and at last
_STEPS = 30  # of Newton's method at one working set
_HALVINGS = 30
_STALLED = 3  # looks without a smaller gap after which rounding has the last word


class GroupDescent(Solver):
    """Sparse weights (norm 1) of kernels with explicit features, for the smooth losses.

    Parameters
    ----------
    add : int or None
        How many groups may join the working set at a time; None takes as many as have weight, but at
        least ten.
    """

    serves = Serves(
        kernels=frozenset({"list", "features"}),
        penalties=frozenset({"norm 1"}),
        smooth=True,
        factored=True,
        needs="norm=1",
        because="under which few groups have weight",
    )

    def __init__(self, add: int | None = None) -> None:
        self.add = add

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        gram = listed(self, kernels, risk, penalty)
        if not serves_outputs(risk.shape[1], risk.least_squares() is not None):
            raise ValueError(
                f"GroupDescent was given {risk.label} of {risk.shape[1]} outputs; expected one output, or "
                "squared errors. Take solver='active-set'."
            )
        assert isinstance(gram, FactorGram)
        assert isinstance(risk, Separable)
        with blas_for(gram.n):
            work = _Work(gram, risk, penalty, run)
            first = max(_FIRST, gram.n_kernels // 10) if self.add is None else int(self.add)
            work.begin(first)
            while goes_on(work.steps, run.max_iter):
                work.improve()
                more = max(_FIRST, int(np.count_nonzero(work.norms))) if self.add is None else int(self.add)
                if work.look(more):
                    break
        return work.result()


def serves_outputs(outputs: int, squared: bool) -> bool:
    """Whether all outputs that share weights have one second-order model."""
    return squared or outputs == 1


class _Work:
    """The groups that take part, their coefficients, and what is known of P and D."""

    def __init__(self, gram: FactorGram, risk: Separable, penalty: Penalty, run: Run) -> None:
        self.gram, self.risk, self.penalty, self.run = gram, risk, penalty, run
        self.squares = risk.least_squares() is not None
        n, outputs = risk.shape
        self.chosen = np.empty(0, dtype=np.intp)
        self.Phi, self.ptr = np.empty((n, 0)), np.zeros(1, dtype=np.intp)
        self.H = np.empty((0, 0))  # ΦᵀCΦ, for squared errors
        self.C = risk.C[:, 0]
        self.beside = Beside(risk, self.C)
        self.means = self.beside.none  # what was taken from the features
        self.w = np.empty((outputs, 0))
        self.b = risk.constant()
        self.f = risk.zeros() + self.b
        self.alpha = risk.constant_alpha()
        self.best, self.dual, self.steps, self.waits = self.alpha, -np.inf, 0, 0
        self.largest = gram.largest()
        self.answer: tuple[Array, Array, float] | None = None
        self.reason = Reason.NONE
        self.change = max(_LOOSE * run.tol, _EXACT)  # of a group, at which the quadratic problem is solved

    @property
    def norms(self) -> Array:
        """‖w_g‖ of the groups that take part."""
        if not self.chosen.size:
            return np.empty(0)
        return np.sqrt(np.add.reduceat((self.w**2).sum(axis=0), self.ptr[:-1]))

    # -- the working set --------------------------------------------------------------------------
    def begin(self, count: int) -> None:
        """The groups with weight in the start, and those that pull most."""
        q = self._forms(self.alpha)
        usable = np.flatnonzero(q > 0.0)
        order = usable[np.argsort(-q[usable], kind="stable")][:count]
        if self.run.start is not None:
            theta, alpha = self.run.start
            order = np.union1d(order, np.flatnonzero((theta > 0.0) & (self.gram.scale > 0.0)))
        self._join(order)
        if self.run.start is not None and np.any(alpha):
            pull = (self.Phi.T @ alpha).T
            self.w = pull * np.repeat(theta[self.chosen], np.diff(self.ptr))
            self._place()

    def _join(self, groups: NDArray[np.intp]) -> None:
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
        """Solve the problem of the working set, as far as the gap deserves it."""
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
        """f and b of the coefficients: the best intercept for them."""
        score = self.Phi @ self.w.T
        self.b = self.risk.intercepts(score)
        self.f = score + self.b

    def _value(self, w: Array, f: Array) -> float:
        norms = (
            np.sqrt(np.add.reduceat((w**2).sum(axis=0), self.ptr[:-1])) if self.chosen.size else np.zeros(1)
        )
        return float(0.5 * norms.sum() ** 2 + self.risk.value(f))

    # -- the certificate --------------------------------------------------------------------------
    def _forms(self, alpha: Array) -> Array:
        return np.asarray(self.gram.quad(alpha).sum(axis=1))

    def look(self, add: int) -> bool:
        """P and D over all groups; whether that is enough, and if not, the groups that are missing join."""
        risk, run = self.risk, self.run
        self.alpha = risk.feasible(-risk.gradient(self.f))
        q, norms = self._forms(self.alpha), self.norms
        dual = risk.dual(self.alpha, q, self.penalty, self.largest)
        if dual > self.dual:
            self.dual, self.best = dual, self.alpha
        self.answer = self._answer(q)
        *_, primal = self.answer
        gap = relative(primal, self.dual)
        last = run.history.gap[-1] if run.history.gap else np.inf
        run.history.add(primal, gap, int(np.count_nonzero(norms)))
        if gap <= run.tol:
            return True
        level = norms.sum()
        outside = np.setdiff1d(np.flatnonzero(np.sqrt(q) > level * (1.0 + 1e-12)), self.chosen)
        self._join(outside[np.argsort(-q[outside], kind="stable")][:add])
        if not outside.size:
            self.change = max(_LOOSE * self.change, _EXACT)
        self.waits = self.waits + 1 if gap >= 0.5 * last and not outside.size else 0
        if self.waits >= _STALLED:
            self.reason = Reason.STALLED
            return True
        return False

    def _answer(self, q: Array) -> tuple[Array, Array, float]:
        """θ, b and P of the function Σ θ_g K_gα + b."""
        norms, theta = self.norms, np.zeros(self.gram.n_kernels)
        total = norms.sum()
        if total > 0.0:
            theta[self.chosen] = norms / total
        each = np.repeat(theta[self.chosen], np.diff(self.ptr))
        v = each[:, None] * (self.Phi.T @ self.alpha)
        score = self.Phi @ v
        b = self.risk.intercepts(score)
        primal = self.risk.primal(self.penalty, theta, q, score + b, self.alpha, self.largest)
        # the features of the model are not less their means
        return theta, b - self.beside.values(self.means @ v), primal

    def result(self) -> Result:
        assert self.answer is not None
        theta, b, primal = self.answer
        weights = theta if theta.any() else self.penalty.start(theta.size)
        return Result(
            atoms=list(range(theta.size)),
            weights=weights,
            alpha=self.alpha,
            intercept=b,
            primal=primal,
            dual=self.dual,
            certified=True,
            converged=relative(primal, self.dual) <= self.run.tol,
            n_iter=self.steps,
            history=self.run.history,
            reason=self.reason,
            dual_alpha=self.best,
        )

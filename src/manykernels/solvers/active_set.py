"""The second-order method: a bundle of cuts with Newton's metric, on a growing working set of kernels.

J(θ) = max_α [−Σ C ℓ* − ½θᵀq(α)] is convex. At a solution of the machine its gradient is −½q and its second
derivative BᵀB (see `machines`); every dual point ever met gives a cut below J. Each iteration minimises the
model made of both (`_model.py`), predicts α there, and solves the machine once, only as exactly as the
predicted decrease deserves. For sparse penalties only a working set of kernels takes part; the whole
family is looked at when the working set is solved, and the gap is always that of the whole family.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram
from ..objectives import Fit, Risk
from ..penalties import Penalty
from ._base import Array, History, Result, Solver, relative, tight_primal
from ._interior import InteriorPoint
from ._model import Model, Step
from ._screening import Screen

Atoms = NDArray[np.intp]
_RUN = 8
_PATIENCE = (
    6  # machines per working set, and one more for every 150 samples, before the interior-point method
)


@dataclass
class _Center:
    """Where the method stands: weights on the working set, their machine, and K_mα for each kernel of it."""

    theta: Array
    K: Array
    fit: Fit
    R: Array
    q: Array
    upper: float  # ½θᵀq + ½h(θ) + Σ Cℓ: J(θ) from above
    tight: float  # the same function at the weights that suit it best


@dataclass
class _Bundle:
    """Cuts c_t − ½q_tᵀθ over the working set, with the dual points they came from."""

    size: int
    c: list[float] = field(default_factory=list)
    q: list[Array] = field(default_factory=list)
    alpha: list[Array] = field(default_factory=list)

    def add(self, c: float, q: Array, alpha: Array, weights: Array | None) -> None:
        if len(self.c) >= self.size:  # forget the cut that matters least, never the newest
            worst = int(np.argmin(weights[: len(self.c) - 1])) if weights is not None else 0
            for part in (self.c, self.q, self.alpha):
                part.pop(worst)
        self.c.append(c)
        self.q.append(q)
        self.alpha.append(alpha)

    def extend(self, gram: Gram, atoms: Atoms) -> None:
        """Give every cut its quadratic forms for kernels that join the working set."""
        A = np.concatenate(self.alpha, axis=1)
        new = gram.quad(A, atoms).reshape(atoms.size, len(self.c), -1).sum(axis=2)
        self.q = [np.concatenate([q, new[:, t]]) for t, q in enumerate(self.q)]

    def mix(self, weights: Array) -> Array:
        return np.asarray(np.einsum("t,tnk->nk", weights, np.stack(self.alpha)))


class ActiveSet(Solver):
    """Second-order learning of the weights, for every penalty.

    Parameters
    ----------
    add : int
        How many kernels may join the working set at a time (sparse penalties).
    cuts : int
        How many cuts are kept.
    warm_size : int
        Problems of five times as many samples start from the weights of a random part of this size;
        0 never does.
    """

    def __init__(self, add: int = 20, cuts: int = 12, warm_size: int = 200) -> None:
        self.add = add
        self.cuts = cuts
        self.warm_size = warm_size

    def run(
        self,
        gram: Gram,
        risk: Risk,
        penalty: Penalty,
        *,
        tol: float,
        max_iter: int,
        rng: np.random.RandomState,
        start: tuple[Array, Array] | None = None,
        history: History | None = None,
    ) -> Result:
        search = _Search(self, gram, risk, penalty, tol, max_iter, history or History())
        search.begin(*self._start(gram, risk, penalty, rng, start))
        if penalty.sparse and not penalty.fixed and search.center.tight > 0.0:
            # a look at the whole family costs more than a better start
            search.improve()
        while not search.look() and search.iterations < max_iter:
            search.improve()
        return search.result()

    def _start(
        self,
        gram: Gram,
        risk: Risk,
        penalty: Penalty,
        rng: np.random.RandomState,
        start: tuple[Array, Array] | None,
    ) -> tuple[Array, Array]:
        """(θ, α) to start from: given, learned on a part of the samples, or uniform weights."""
        if start is not None:
            return start
        alpha = np.zeros_like(risk.Y)
        if not self.warm_size or gram.n < 5 * self.warm_size or gram.n_kernels == 1:
            return penalty.start(gram.n_kernels), alpha
        # runs of eight samples, a cache line of each row: eight times fewer reads than single ones
        runs = rng.choice(gram.n // _RUN, self.warm_size // _RUN, replace=False)
        rows = np.sort((runs[:, None] * _RUN + np.arange(_RUN)).ravel())
        if np.any(np.ptp(risk.Y[rows], axis=0) == 0):
            return penalty.start(gram.n_kernels), alpha
        part = self.run(gram.subset(rows), risk.subset(rows), penalty, tol=0.02, max_iter=30, rng=rng)
        return part.theta, alpha


class _Search:
    """One run: the working set, the centre, the bundle and the best bounds so far."""

    def __init__(
        self,
        options: ActiveSet,
        gram: Gram,
        risk: Risk,
        penalty: Penalty,
        tol: float,
        max_iter: int,
        history: History,
    ) -> None:
        self.options, self.gram, self.risk, self.penalty = options, gram, risk, penalty
        self.tol, self.max_iter, self.history = tol, max_iter, history
        self.iterations, self.dual, self.converged = 0, -np.inf, False
        self.mu, self.weights = 0.0, np.ones(1)
        self.candidate: Array | None = None
        self.stalled, self.precision = False, 1e-7
        self.fixed = penalty.fixed or (gram.n_kernels == 1 and penalty.homogeneous)
        self.screen = Screen(gram, risk, penalty)
        self.bundle = _Bundle(options.cuts)
        self.buffers = [np.empty((gram.n, gram.n)) for _ in range(2)]

    # -- starting -------------------------------------------------------------------------------
    def begin(self, theta: Array, alpha: Array) -> None:
        everything = np.arange(self.gram.n_kernels)
        dense = np.count_nonzero(theta) > 5 * self.options.add
        if self.penalty.sparse and dense:
            theta, alpha = self._select(theta, alpha)
        self.work = np.flatnonzero(theta) if self.penalty.sparse else everything
        self.center = self._evaluate(theta[self.work], alpha, 0.5 * self.tol if self.fixed else 0.002)
        self._cut(self.center)

    def _select(self, theta: Array, alpha: Array) -> tuple[Array, Array]:
        """Weights on the few kernels that the machine of a dense combination likes best."""
        fit = self.risk.solve(self.gram.combine(theta, out=self.buffers[0]), alpha, 0.05 * self._scale())
        self.iterations += 1
        top, q = self.gram.best(fit.alpha, self.options.add, np.empty(0, np.intp))
        self.dual = max(self.dual, self.risk.dual(fit.alpha, q, self.penalty))
        theta = np.zeros_like(theta)
        theta[top] = self.penalty.start(top.size)
        return theta, fit.alpha

    def _scale(self) -> float:
        """P of the zero function: what the objective is measured against before anything is known."""
        return max(self.risk.loss_value(np.zeros_like(self.risk.Y)), 1e-300)

    # -- one machine ----------------------------------------------------------------------------
    def _evaluate(self, theta: Array, alpha: Array, accuracy: float, K: Array | None = None) -> _Center:
        """Solve the machine at θ; `accuracy` is the gap it may leave, relative to the objective."""
        self.iterations += 1
        if K is None:
            K = self.gram.combine(theta, self.work, out=self.buffers.pop())
        known = hasattr(self, "center")
        fit = self.risk.solve(K, alpha, accuracy * (abs(self.center.upper) if known else self._scale()))
        if not known:  # the objective can be far below that of the zero function
            fit = self.risk.solve(K, fit.alpha, accuracy * self.risk.machine_value(fit))
        R = self.gram.products(fit.alpha, self.work)
        q = np.maximum(np.einsum("mnk,nk->m", R, fit.alpha), 0.0)
        upper = 0.5 * float(theta @ q) + 0.5 * self.penalty.value(theta) + self.risk.loss_value(fit.f)
        return _Center(theta, K, fit, R, q, upper, tight_primal(self.risk, self.penalty, theta, q, fit.f))

    def _cut(self, point: _Center) -> None:
        self.bundle.add(self.risk.dual_fit(point.fit.alpha), point.q, point.fit.alpha, self.weights)

    # -- the restricted problem -----------------------------------------------------------------
    def improve(self) -> None:
        """Solve the problem of the working set until its gap is a fraction of what the whole family needs."""
        target = 0.3 * self.tol
        if self.penalty.sparse:
            known = relative(self.center.tight, self.dual) if np.isfinite(self.dual) else 0.2
            target = max(target, 0.1 * known)
        begun = self.iterations
        patience = begun + _PATIENCE + self.gram.n // 150
        B = self._curvature()
        if self.fixed:  # nothing to learn: only the machine can be more exact
            return self._refine(0.5 * self.tol * abs(self.center.upper))
        while self.iterations < self.max_iter:
            if self.stalled or (self.risk.piecewise_linear and self.iterations >= patience):
                self.stalled = True
                return self._polish(target)
            step, predicted = self._model_step(B)
            guess, lower = self._dual_candidate(step, B)
            # at least one machine each time: a working set that changes but never moves could go on for ever
            if self.iterations > begun and relative(self.center.tight, lower) <= target:
                return
            if predicted <= max(3.0 * self.center.fit.gap, self.precision * abs(self.center.upper)):
                # neither machine nor model is exact enough to see further
                self.precision = max(0.01 * self.precision, 1e-14)
                self._refine(max(0.1 * predicted, 0.0))
                B = self._curvature()
                continue
            accuracy = max(0.1 * predicted / max(abs(self.center.upper), 1e-300), 0.01 * self.tol)
            point = self._evaluate(step.theta, guess, min(accuracy, 0.05))
            self._cut(point)
            if point.upper <= self.center.upper - 0.1 * predicted:
                self.buffers.append(self.center.K)
                self.center, self.mu = point, 0.2 * self.mu
                if not self.penalty.sparse:
                    return
                B = self._curvature()
            else:
                self.buffers.append(point.K)
                self.mu = max(4.0 * self.mu, 1e-3 * abs(self.center.upper))

    def _polish(self, target: float) -> None:
        """Solve the working set by the joint interior-point method, then once more by the machine."""
        scale, K = abs(self.center.tight), self.buffers[-1]
        inner = InteriorPoint(
            self.risk,
            self.penalty,
            lambda theta: self.gram.combine(theta, self.work, out=K),
            lambda alpha: self.gram.products(alpha, self.work),
            self.center.theta,
            self.center.fit.alpha,
        )
        # always from afar: an interior-point method started too close to the boundary creeps along it
        self.iterations += inner.run(0.3 * scale, 0.2 * target * scale)
        self.candidate = self.risk.feasible(inner.alpha)
        point = self._evaluate(inner.weights(), self.candidate, 0.05 * target)
        self._cut(point)
        if point.tight <= self.center.tight:
            point, self.center = self.center, point
        self.buffers.append(point.K)

    def _curvature(self) -> Array:
        return self.risk.curvature(self.center.K, self.center.fit, self.center.R)

    def _refine(self, gap: float) -> None:
        """Solve the machine of the centre again, to this gap."""
        c = self.center
        self.center = self._evaluate(c.theta, c.fit.alpha, gap / max(abs(c.upper), 1e-300), c.K)
        self._cut(self.center)

    def _model_step(self, B: Array) -> tuple[Step, float]:
        c, Q = np.array(self.bundle.c), np.stack(self.bundle.q)
        scale = max(abs(self.center.upper), 1e-300)
        step = Model(c, Q, self.center.theta, B, self.mu, self.penalty, scale).minimise(self.precision)
        self.weights = step.cut_weights
        return step, self.center.upper - step.value

    def _dual_candidate(self, step: Step, B: Array) -> tuple[Array, float]:
        """The dual point that the model expects at its minimiser, and a lower bound of the working set.

        It is the mixture of the cuts' points moved by −P(ΣK_mα d_m): to first order that makes the quadratic
        forms of all kernels with weight equal, which no single α_t does where J has a corner.
        """
        mixed = self.bundle.mix(step.cut_weights)
        guess = self.risk.feasible(
            self.risk.move(self.center.fit, mixed, B @ (step.theta - self.center.theta))
        )
        if not self.penalty.sparse:
            return guess, self.dual
        self.candidate = guess
        q = self.gram.quad(guess, self.work).sum(axis=1)
        at_center = self.risk.dual(self.center.fit.alpha, self.center.q, self.penalty)
        return guess, max(at_center, self.risk.dual(guess, q, self.penalty))

    # -- the whole family -----------------------------------------------------------------------
    def look(self) -> bool:
        """Bound the optimum over all kernels, let violating ones join; True when the gap is small enough."""
        new = self._survey() if self.penalty.sparse or self.stalled else np.empty(0, np.intp)
        if not self.penalty.sparse:
            self.dual = max(self.dual, self.risk.dual(self.center.fit.alpha, self.center.q, self.penalty))
        gap = relative(self.center.tight, self.dual)
        self.history.add(self.center.tight, gap, int(np.count_nonzero(self.center.theta)))
        self.converged = gap <= self.tol
        if not self.converged and new.size:
            self._admit(new)
        return self.converged

    def _survey(self) -> Atoms:
        """Quadratic forms of all kernels at the current dual points, and the best outside the working set."""
        points = [self.center.fit.alpha] + ([self.candidate] if self.candidate is not None else [])
        k = self.risk.Y.shape[1]
        q = (
            self.screen.quad(np.concatenate(points, axis=1))
            .reshape(self.gram.n_kernels, len(points), k)
            .sum(axis=2)
        )
        values = [self.risk.dual(a, q[:, t], self.penalty) for t, a in enumerate(points)]
        best = int(np.argmax(values))
        self.dual = max(self.dual, values[best])
        self.screen.update(points[best], q[:, best], self.center.tight)
        outside = np.setdiff1d(np.arange(self.gram.n_kernels), self.work)
        q = q[:, best]
        violating = outside[q[outside] > self.penalty.entry(q[self.work])]
        return np.asarray(violating[np.argsort(-q[violating])][: self.options.add])

    def _admit(self, new: Atoms) -> None:
        """Drop kernels that left (no weight, no pull) and let `new` join with weight zero."""
        c = self.center
        keep = (c.theta > 0.0) | (c.q >= 0.9 * self.penalty.entry(c.q))
        self.bundle.q = [q[keep] for q in self.bundle.q]
        self.work = np.concatenate([self.work[keep], new])
        self.bundle.extend(self.gram, new)
        R = self.gram.products(c.fit.alpha, new)
        c.R = np.concatenate([c.R[keep], R])
        c.q = np.concatenate([c.q[keep], np.maximum(np.einsum("mnk,nk->m", R, c.fit.alpha), 0.0)])
        c.theta = np.concatenate([c.theta[keep], np.zeros(new.size)])

    def result(self) -> Result:
        theta = np.zeros(self.gram.n_kernels)
        theta[self.work] = self.center.theta
        fit = self.center.fit
        return Result(
            theta,
            fit.alpha,
            fit.intercept,
            self.center.tight,
            self.dual,
            self.converged,
            self.iterations,
            self.history,
            self.screen.count,
        )

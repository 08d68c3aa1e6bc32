"""One run of the second-order method: the working set, the centre, the bundle and the best bounds so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram
from ..objectives import Fit, Risk
from ..penalties import Penalty
from ._bundle import Bundle
from ._interior import InteriorPoint
from ._model import Model, Step
from ._screening import Screen
from ._stopping import goes_on
from .base import Array, Reason, Result, Run, relative

Atoms = NDArray[np.intp]
_PATIENCE = 6  # machines a working set, and one for every 150 samples, before the interior-point method
_IDLE = 6  # looks without a smaller gap, by each of the two methods in turn, after which none will come
_SHORTER = 5  # trials of a step that must make the objective fall
_VAIN = 5  # steps of the last resort in a row that gain next to nothing, after which none will
_MANY = 500  # kernels that may join at once when that method solves the working set: it minds few rounds


@dataclass
class Center:
    """Where the method stands: weights on the working set, their machine, and K_mα for each kernel of it."""

    theta: Array
    K: Array
    fit: Fit
    R: Array
    q: Array
    upper: float  # ½θᵀq + ½h(θ) + Σ Cℓ: J(θ) from above
    tight: float  # the same function at the weights that suit it best
    B: Array | None = None  # BᵀB is the second derivative of J here


class Search:
    """Improves the weights on the working set, and looks at the whole family, in turns."""

    def __init__(
        self,
        gram: Gram,
        risk: Risk,
        penalty: Penalty,
        run: Run,
        add: int,
        cuts: int,
    ) -> None:
        self.gram, self.risk, self.penalty = gram, risk, penalty
        self.tol, self.max_iter, self.history, self.add = run.tol, run.max_iter, run.history, add
        self.iterations, self.dual, self.converged = 0, -np.inf, False
        self.vain, self.exhausted = 0, False  # steps that gained nothing; nothing can gain any more
        self.dual_alpha: Array | None = None
        self.smallest, self.idle = np.inf, 0  # the smallest gap, and looks since it fell
        self.mu, self.precision, self.stalled, self.reason = 0.0, 1e-7, False, Reason.NONE
        self.candidate: Array | None = None  # a dual point better than the centre's, if there is one
        self.fixed = penalty.fixed or (gram.n_kernels == 1 and penalty.homogeneous)
        self.polishes = risk.piecewise_linear and risk.has_interior
        self.screen, self.largest = Screen(gram, risk, penalty), gram.largest()
        self.bundle = Bundle(cuts)
        self.buffers = [np.empty((gram.n, gram.n)) for _ in range(2)]

    # -- starting -------------------------------------------------------------------------------
    def begin(self, theta: Array, alpha: Array) -> None:
        """Solve the first machine, at θ or, if that is dense and the penalty sparse, at its best kernels."""
        alive = self.gram.scale > 0.0
        if self.penalty.sparse and np.any(theta[alive] > 0.0):  # no weight for kernels that are nothing
            theta = self.penalty.stretch(np.where(alive, theta, 0.0))
        if self.penalty.sparse and np.count_nonzero(theta) > 5 * self.add:
            theta, alpha = self._select(theta, alpha)
        everything = np.arange(self.gram.n_kernels)
        self.work = np.flatnonzero(theta) if self.penalty.sparse else everything
        self.center = self._evaluate(theta[self.work], alpha, 0.5 * self.tol if self.fixed else 0.002)
        self._cut(self.center)

    def _select(self, theta: Array, alpha: Array) -> tuple[Array, Array]:
        """Weights on the few kernels that the machine of a dense combination likes best."""
        fit = self.risk.solve(self.gram.combine(theta, out=self.buffers[0]), alpha, 0.05 * self._scale())
        self.iterations += 1
        top, q = self.gram.best(fit.alpha, self.add, np.empty(0, np.intp))
        self._raise(fit.alpha, self._bound(fit.alpha, q, None))
        theta = np.zeros_like(theta)
        theta[top] = self.penalty.start(top.size)
        return theta, fit.alpha

    def _scale(self) -> float:
        """P of the zero function: what the objective is measured against before anything is known."""
        return max(self.risk.loss_value(np.zeros_like(self.risk.Y)), 1e-300)

    # -- one machine ----------------------------------------------------------------------------
    def _evaluate(self, theta: Array, alpha: Array, accuracy: float, K: Array | None = None) -> Center:
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
        tight = self.risk.primal(self.penalty, theta, q, fit.f, fit.alpha, self.largest[self.work])
        return Center(theta, K, fit, R, q, upper, tight)

    def _cut(self, point: Center) -> None:
        alpha = point.fit.alpha
        height = self.risk.dual_fit(alpha)
        if not np.isfinite(height):  # a point that rounding has taken out of the dual box
            height = self.risk.dual_fit(self.risk.feasible(alpha))
        if np.isfinite(height):
            self.bundle.add(height, point.q, alpha)

    def _consider(self, point: Center, decrease: float) -> bool:
        """Add the point's cut, and make it the centre if the objective falls there by `decrease`."""
        self._cut(point)
        serious = point.upper <= self.center.upper - decrease
        if serious:
            point, self.center, self.candidate = self.center, point, None
        self.buffers.append(point.K)
        return serious

    # -- the problem of the working set ---------------------------------------------------------
    def improve(self) -> None:
        """Solve the problem of the working set until its gap is a fraction of what the whole family needs."""
        if self.fixed:  # nothing to learn: only the machine can be more exact
            return self._refine_alone()
        target = self._target()
        begun, patience = self.iterations, self.iterations + _PATIENCE + self.gram.n // 150
        joint = self.stalled and self.idle % 2 == 0  # where that gained nothing, steps in θ are tried again
        while goes_on(self.iterations, self.max_iter) and not self.exhausted:
            if joint or (self.polishes and self.iterations >= patience):
                if not joint and self.stalled:
                    return None
                self.stalled = True
                return self._polish(self._target())
            # at least one machine each time: a working set that changes but never moves could go on for ever
            if self.iterations > begun and self._solved(self.center.fit.alpha, self.center.q, target):
                return None
            step, predicted = self._model_step()
            guess = self._guess(step)
            scale = abs(self.center.upper)
            if self.penalty.sparse and predicted <= 2.0 * target * scale:
                self.candidate = guess
                q = self.gram.quad(guess, self.work).sum(axis=1)
                if self.iterations > begun and self._solved(guess, q, target):
                    return None
            seen = predicted > max(3.0 * self.center.fit.gap, self.precision * scale)
            if not seen or not np.isfinite(step.theta).all():
                self._sharpen(predicted)
                continue
            accuracy = max(0.1 * predicted / max(scale, 1e-300), 0.01 * self.tol)
            if self._consider(self._evaluate(step.theta, guess, min(accuracy, 0.05)), 0.1 * predicted):
                self.mu *= 0.2
                if not self.penalty.sparse:
                    return None
            else:
                self.mu = max(4.0 * self.mu, 1e-3 * scale)

    def _target(self) -> float:
        """The gap to leave on the working set: a share of what is asked, or of what is missing."""
        known = 0.0
        if self.penalty.sparse and not self.stalled:  # to the interior-point method accuracy is cheap
            known = relative(self.center.tight, self.dual) if np.isfinite(self.dual) else 0.2
        return max(0.3 * self.tol, 0.1 * known)

    def _solved(self, alpha: Array, q: Array, target: float) -> bool:
        """Whether α, with its quadratic forms q, proves the working set solved (of sparse penalties)."""
        return self.penalty.sparse and relative(self.center.tight, self._bound(alpha, q, self.work)) <= target

    def _raise(self, alpha: Array, value: float) -> None:
        """Keep the best bound over the whole family, and the point that gives it."""
        if value > self.dual:
            self.dual, self.dual_alpha = value, alpha

    def _bound(self, alpha: Array, q: Array, atoms: Atoms | None) -> float:
        """D from the quadratic forms of these kernels; of all with None."""
        largest = self.largest if atoms is None else self.largest[atoms]
        return self.risk.dual(alpha, q, self.penalty, largest)

    def _model_step(self) -> tuple[Step, float]:
        """The minimiser of the model, and the decrease it predicts."""
        c = self.center
        if c.B is None:
            c.B = self.risk.curvature(c.K, c.fit, c.R)
        scale = max(abs(c.upper), 1e-300)
        model = Model(*self.bundle.arrays(), c.theta, c.B, self.mu, self.penalty, scale)
        step = model.minimise(self.precision)
        self.bundle.weights = step.cut_weights
        return step, c.upper - step.value

    def _guess(self, step: Step) -> Array:
        """The dual point that the model expects at its minimiser.

        It is the mixture of the cuts' points moved by −P(ΣK_mα d_m): to first order that makes the quadratic
        forms of all kernels with weight equal, which no single α_t does where J has a corner.
        """
        c = self.center
        assert c.B is not None
        mixed = self.bundle.mix(step.cut_weights)
        return self.risk.feasible(self.risk.move(c.fit, mixed, c.B @ (step.theta - c.theta)))

    def _sharpen(self, predicted: float) -> None:
        """Neither machine nor model is exact enough to see further: solve both more exactly.

        Where that is exhausted, two steps that cannot stall are the last resort: one towards the kernels that
        pull most, and the closed-form update, which never raises P but leaves zeros where they are.
        """
        if self.precision > 1e-14:
            self.precision = max(0.01 * self.precision, 1e-14)
            return self._refine(max(0.1 * predicted, 0.0))
        before = self.center.upper
        self._towards_best()
        theta = self.penalty.closed_form(self.center.theta * np.sqrt(self.center.q))
        self._consider(self._evaluate(theta, self.center.fit.alpha, 0.01 * self.tol), 0.0)
        gained = before - self.center.upper > 1e-3 * self.tol * abs(before)
        self.vain = 0 if gained else self.vain + 1
        self.exhausted = self.vain >= _VAIN
        return None

    def _towards_best(self) -> None:
        """A conditional gradient step: towards argmax θᵀq − h(θ), as far as J falls."""
        c = self.center
        d = self.penalty.conjugate(c.q)[1] - c.theta
        slope, bend = 0.5 * float(d @ c.q), float(np.sum((c.B @ d) ** 2)) if c.B is not None else 0.0
        eta = min(1.0, slope / bend) if bend > 0.0 else 1.0
        for _ in range(_SHORTER):
            if not slope > 0.0 or self._consider(
                self._evaluate(c.theta + eta * d, c.fit.alpha, 0.01 * self.tol), 0.1 * eta * slope
            ):
                return
            eta *= 0.2

    def _refine_alone(self) -> None:
        """Where weights are fixed only the machine can be more exact: until it is not."""
        before = self.center.fit.gap
        self._refine(min(0.5 * self.tol * abs(self.center.upper), 0.1 * before))
        self.vain = 0 if self.center.fit.gap < 0.5 * before else self.vain + 1
        self.exhausted = self.vain >= 2

    def _refine(self, gap: float) -> None:
        """Solve the machine of the centre again, to this gap."""
        c = self.center
        point = self._evaluate(c.theta, c.fit.alpha, gap / max(abs(c.upper), 1e-300), c.K)
        self._cut(point)
        if point.tight <= c.tight:  # where rounding has the last word, the better of the two
            self.center = point
        else:
            self.candidate = point.fit.alpha

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
            self.largest[self.work],
        )
        # always from afar: an interior-point method started too close to the boundary creeps along it
        inner.run(0.3 * scale, 0.2 * target * scale)
        candidate, theta = self.risk.feasible(inner.alpha), inner.weights()
        self._consider(self._evaluate(theta, candidate, 0.3 * target), 0.0)
        self.candidate, self.used = candidate, theta > 0.0

    # -- the whole family -----------------------------------------------------------------------
    def look(self) -> bool:
        """Bound the optimum over all kernels, let violating ones join; True when that is the end.

        That is when the gap is small enough, or no longer falls although no kernel is missing: what rounding
        errors leave at kernels that nearly depend on each other, more machines do not change.
        """
        new = self._survey()
        gap = relative(self.center.tight, self.dual)
        whole = not self.penalty.sparse  # the working set is the whole family, and one step a look
        waits = (self.stalled or self.exhausted or whole) and not gap < 0.97 * self.smallest
        self.idle = self.idle + 1 if waits else 0
        self.smallest = min(self.smallest, gap)
        self.history.add(self.center.tight, gap, int(np.count_nonzero(self.center.theta)))
        self.converged = gap <= self.tol
        lost = self.exhausted and not new.size
        if not self.converged and new.size:
            self._admit(new)
            self.vain, self.exhausted = 0, False
        lost = lost or self.idle >= (4 if whole else 1) * _IDLE
        self.reason = Reason.STALLED if lost and not self.converged else Reason.NONE
        return self.converged or bool(self.reason)

    def _survey(self) -> Atoms:
        """Quadratic forms of all kernels at the current dual points; those that must join, best first."""
        if not self.penalty.sparse and self.candidate is None:  # the working set is the whole family
            self._raise(self.center.fit.alpha, self._bound(self.center.fit.alpha, self.center.q, self.work))
            return np.empty(0, np.intp)
        # one look, at the dual point where the working set is solved best: who violates there must join
        alpha = self.center.fit.alpha
        if self.candidate is not None:
            q = self.gram.quad(self.candidate, self.work).sum(axis=1)
            better = self._bound(self.candidate, q, self.work) > self._bound(alpha, self.center.q, self.work)
            alpha = self.candidate if better else alpha
        q = self.screen.quad(alpha).sum(axis=1)
        bound = self._bound(alpha, q, None)
        # where many α are optimal, kernels without weight decide between them: dropped, they would come back
        self.binding = q[self.work] >= (0.5 if bound > self.dual else 0.0) * self.penalty.entry(q[self.work])
        self._raise(alpha, bound)
        self.screen.update(alpha, q, self.center.tight)
        outside = np.setdiff1d(np.arange(self.gram.n_kernels), self.work)
        violating = outside[q[outside] > self.penalty.entry(q[self.work])]
        most = max(self.add, int(np.count_nonzero(self.center.theta)), _MANY if self.stalled else 0)
        return np.asarray(violating[np.argsort(-q[violating])][:most])

    def _admit(self, new: Atoms) -> None:
        """Drop kernels that left (no weight, no pull) and let `new` join with weight zero."""
        c = self.center
        keep = (c.theta > 0.0) | (c.q >= 0.9 * self.penalty.entry(c.q))
        if self.stalled:  # its answer need not have become the centre, and bounds may bind without weight
            keep |= self.used | self.binding
        self.bundle.keep(keep)
        self.bundle.extend(self.gram, new)
        self.work = np.concatenate([self.work[keep], new])
        R = self.gram.products(c.fit.alpha, new)
        c.R, c.B = np.concatenate([c.R[keep], R]), None
        c.q = np.concatenate([c.q[keep], np.maximum(np.einsum("mnk,nk->m", R, c.fit.alpha), 0.0)])
        c.theta = np.concatenate([c.theta[keep], np.zeros(new.size)])

    def result(self) -> Result:
        theta = np.zeros(self.gram.n_kernels)
        theta[self.work] = self.center.theta
        return Result(
            atoms=list(range(theta.size)),
            weights=theta,
            alpha=self.center.fit.alpha,
            intercept=self.center.fit.intercept,
            primal=self.center.tight,
            dual=self.dual,
            certified=True,
            converged=self.converged,
            n_iter=self.iterations,
            history=self.history,
            reason=self.reason,
            dual_alpha=self.dual_alpha,
            K=self.center.K,
            screened=self.screen.count,
        )

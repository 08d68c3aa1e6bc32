"""One run of the second-order method: a working set that is improved, and looks at the whole family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..grams import Gram
from ..objectives import Risk
from ..penalties import Penalty
from ._bundle import Bundle
from ._interior import InteriorPoint
from ._screening import Screen
from ._stopping import goes_on
from ._working_set import Atoms, WorkingSet
from .base import Array, Reason, Result, Run, relative

_PATIENCE = 6  # machines a working set, and one for every 150 samples, before the interior-point method
_IDLE = 6  # looks without a smaller gap, by each of the two methods in turn, after which none will come
_SHORTER = 5  # trials of a step that must make the objective fall
_VAIN = 5  # steps of the last resort in a row that gain next to nothing, after which none will
_MANY = 500  # kernels that may join at once when that method solves the working set: it minds few rounds
_CELLS = 1 << 23  # of (K_mα), if these are more kernels and each is one vector
_NOBODY = np.empty(0, dtype=np.intp)


@dataclass
class DualBound:
    """The best dual value over the whole family so far, and the point that gives it."""

    value: float = -np.inf
    alpha: Array | None = None

    def lift(self, alpha: Array, value: float) -> None:
        if value > self.value:
            self.value, self.alpha = value, alpha


@dataclass
class Trust:
    """The trust in the model: how far it is followed."""

    mu: float = 0.0  # the price of leaving the centre
    precision: float = 1e-7  # to which the model is solved, and below which it sees nothing


@dataclass
class Patience:
    """A count of attempts in vain, which says when to stop trying."""

    smallest: float = np.inf  # the smallest P − D
    idle: int = 0  # looks since it fell
    vain: int = 0  # steps that gained nothing, in a row
    exhausted: bool = False  # nothing can gain any more
    stalled: bool = False  # steps in θ alone did not do: the interior-point method has its turns

    def tried(self, gained: bool, most: int) -> None:
        """After `most` steps in vain, none will gain."""
        self.vain = 0 if gained else self.vain + 1
        self.exhausted = self.vain >= most

    def renew(self) -> None:
        """Other kernels, other chances."""
        self.vain, self.exhausted = 0, False

    def looked(self, distance: float, whole: bool) -> None:
        """After a look with P − D = `distance`; `whole`: the working set is the whole family.

        (P − D)/P would be 1 as long as P is far above the optimum, however fast it falls.
        """
        waits = (self.stalled or self.exhausted or whole) and not distance < 0.97 * self.smallest
        self.idle = self.idle + 1 if waits else 0
        self.smallest = min(self.smallest, distance)


class SecondOrder:
    """Improves the weights on the working set, and looks at the whole family, in turns."""

    def __init__(
        self,
        gram: Gram,
        risk: Risk,
        penalty: Penalty,
        run: Run,
        start: tuple[Array, Array],
        add: int,
        cuts: int,
    ) -> None:
        """Solve the first machine: at `start`, or for sparse penalties at the best kernels of a dense one."""
        self.gram, self.risk, self.penalty, self.run, self.add = gram, risk, penalty, run, add
        self.fixed = penalty.fixed or (gram.n_kernels == 1 and penalty.homogeneous)
        self.polishes = risk.piecewise_linear and risk.has_interior
        self.screen, self.bound = Screen(gram, risk, penalty), DualBound()
        self.trust, self.patience = Trust(), Patience()
        self.converged, self.reason, self.joined = False, Reason.NONE, False
        self.needed = self.used = _NOBODY  # that bind in a look; that the interior-point method gave weight
        buffers: list[Any] = [None if gram.explicit else np.empty((gram.n, gram.n)) for _ in range(2)]
        theta, alpha = start
        alive = gram.scale > 0.0
        if penalty.sparse and np.any(theta[alive] > 0.0):  # no weight for kernels that are nothing
            theta = penalty.stretch(np.where(alive, theta, 0.0))
        dense = penalty.sparse and np.count_nonzero(theta) > 5 * add
        if dense:
            theta, alpha = self._select(theta, alpha, buffers[0])
        accuracy = 0.5 * run.tol if self.fixed else 0.002
        self.on = WorkingSet(gram, risk, penalty, Bundle(cuts), buffers, (theta, alpha), accuracy)
        self.on.machines += int(dense)

    def _select(self, theta: Array, alpha: Array, out: Any) -> tuple[Array, Array]:
        """Weights on the few kernels that the machine of a dense combination likes best."""
        fit = self.risk.solve(self.gram.combine(theta, out=out), alpha, 0.05 * self.risk.zero_value())
        top, q = self.gram.best(fit.alpha, self.add, _NOBODY)
        self.bound.lift(fit.alpha, self.risk.dual(fit.alpha, q, self.penalty, self.gram.largest()))
        theta = np.zeros_like(theta)
        theta[top] = self.penalty.start(top.size)
        return theta, fit.alpha

    # -- the problem of the working set ---------------------------------------------------------
    def improve(self) -> None:
        """Solve the problem of the working set until its gap is a fraction of what the whole family needs."""
        if self.fixed:  # nothing to learn: only the machine can be more exact
            return self._refine_alone()
        on, patience, target = self.on, self.patience, self._target()
        begun, last = on.machines, on.machines + _PATIENCE + self.gram.n // 150
        # where that gained nothing, θ moves again; but kernels that have just joined are first tried so once
        joint = patience.stalled and (patience.idle % 2 == 0 or (self.joined and patience.idle == 1))
        while goes_on(on.machines, self.run.max_iter) and not patience.exhausted:
            if joint or (self.polishes and on.machines >= last):
                if not joint and patience.stalled:
                    return None
                patience.stalled = True
                return self._polish(self._target())
            # at least one machine each time: a working set that changes but never moves could go on for ever
            if on.machines > begun and self._solved(on.center.fit.alpha, on.center.q, target):
                return None
            step, predicted = on.step(self.trust.mu, self.trust.precision)
            guess = on.guess(step)
            scale = abs(on.center.upper)
            if self.penalty.sparse and predicted <= 2.0 * target * scale:
                on.candidate = guess
                q = self.gram.quad(guess, on.atoms).sum(axis=1)
                if on.machines > begun and self._solved(guess, q, target):
                    return None
            seen = predicted > max(3.0 * on.center.fit.gap, self.trust.precision * scale)
            if not seen or not np.isfinite(step.theta).all():
                self._sharpen(predicted)
            elif self._follow(step.theta, guess, predicted) and not self.penalty.sparse:
                return None

    def _follow(self, theta: Array, guess: Array, predicted: float) -> bool:
        """Solve the machine where the model has its minimum; whether the objective fell as predicted."""
        scale = abs(self.on.center.upper)
        accuracy = max(0.1 * predicted / max(scale, 1e-300), 0.01 * self.run.tol)
        serious = self.on.consider(self.on.evaluate(theta, guess, min(accuracy, 0.05)), 0.1 * predicted)
        self.trust.mu = 0.2 * self.trust.mu if serious else max(4.0 * self.trust.mu, 1e-3 * scale)
        return serious

    def _target(self) -> float:
        """The gap to leave on the working set: a share of what is asked, or of what is missing."""
        known = 0.0
        if self.penalty.sparse and not self.patience.stalled:  # to the interior-point method it is cheap
            dual = self.bound.value
            known = relative(self.on.center.tight, dual) if np.isfinite(dual) else 0.2
        return max(0.3 * self.run.tol, 0.1 * known)

    def _solved(self, alpha: Array, q: Array, target: float) -> bool:
        """Tell whether α, with its quadratic forms q, proves the working set solved (of sparse penalties)."""
        return self.penalty.sparse and relative(self.on.center.tight, self.on.bound(alpha, q)) <= target

    def _sharpen(self, predicted: float) -> None:
        """Neither machine nor model is exact enough to see further: solve both more exactly.

        Where that is exhausted, two steps that cannot stall are the last resort: one towards the kernels that
        pull most, and the closed-form update, which never raises P but leaves zeros where they are.
        """
        on, tol = self.on, self.run.tol
        if self.trust.precision > 1e-14:
            self.trust.precision = max(0.01 * self.trust.precision, 1e-14)
            return on.refine(max(0.1 * predicted, 0.0))
        before = on.center.upper
        self._towards_best()
        theta = self.penalty.closed_form(on.center.theta * np.sqrt(on.center.q))
        on.consider(on.evaluate(theta, on.center.fit.alpha, 0.01 * tol), 0.0)
        self.patience.tried(before - on.center.upper > 1e-3 * tol * abs(before), _VAIN)
        return None

    def _towards_best(self) -> None:
        """A conditional gradient step: towards argmax θᵀq − h(θ), as far as J falls."""
        on, c = self.on, self.on.center
        d = self.penalty.conjugate(c.q)[1] - c.theta
        slope, bend = 0.5 * float(d @ c.q), float(np.sum((c.B @ d) ** 2)) if c.B is not None else 0.0
        eta = min(1.0, slope / bend) if bend > 0.0 else 1.0
        for _ in range(_SHORTER):
            if not slope > 0.0 or on.consider(
                on.evaluate(c.theta + eta * d, c.fit.alpha, 0.01 * self.run.tol), 0.1 * eta * slope
            ):
                return
            eta *= 0.2

    def _refine_alone(self) -> None:
        """Make the machine more exact until it no longer can be, where weights are fixed."""
        before = self.on.center.fit.gap
        self.on.refine(min(0.5 * self.run.tol * abs(self.on.center.upper), 0.1 * before))
        self.patience.tried(self.on.center.fit.gap < 0.5 * before, 2)

    def _polish(self, target: float) -> None:
        """Solve the working set by the joint interior-point method, then once more by the machine."""
        on = self.on
        scale, K = abs(on.center.tight), on.buffers[-1]
        inner = InteriorPoint(
            self.risk,
            self.penalty,
            lambda theta: self.gram.combine(theta, on.atoms, out=K),
            lambda alpha: self.gram.products(alpha, on.atoms),
            on.center.theta,
            on.center.fit.alpha,
            on.largest[on.atoms],
        )
        # always from afar: an interior-point method started too close to the boundary creeps along it
        inner.run(0.3 * scale, 0.2 * target * scale, share=0.2 * target)
        candidate, theta = self.risk.feasible(inner.alpha), inner.weights()
        # the machine's accuracy is relative to the old P, which may be far above the new one
        fallen = min(1.0, abs(inner.primal) / max(scale, 1e-300))
        on.consider(on.evaluate(theta, candidate, 0.3 * target * fallen), 0.0)
        on.candidate, self.used = candidate, on.atoms[theta > 0.0]

    # -- the whole family -----------------------------------------------------------------------
    def look(self) -> bool:
        """Bound the optimum over all kernels, let violating ones join; True when that is the end.

        That is when the gap is small enough, or no longer falls although no kernel is missing: what rounding
        errors leave at kernels that nearly depend on each other, more machines do not change.
        """
        new, center, patience = self._survey(), self.on.center, self.patience
        gap, whole = relative(center.tight, self.bound.value), not self.penalty.sparse
        patience.looked(center.tight - self.bound.value, whole)
        self.run.history.add(center.tight, gap, int(np.count_nonzero(center.theta)))
        self.converged = gap <= self.run.tol
        lost = patience.exhausted and not new.size
        self.joined = bool(new.size)
        if not self.converged and new.size:
            # the interior-point method's answer need not have become the centre, and bounds may bind
            # without weight
            both = np.concatenate([self.used, self.needed])
            self.on.admit(new, both if patience.stalled else _NOBODY)
            patience.renew()
        lost = lost or patience.idle >= (4 if whole else 1) * _IDLE
        self.reason = Reason.STALLED if lost and not self.converged else Reason.NONE
        return self.converged or bool(self.reason)

    def _survey(self) -> Atoms:
        """Quadratic forms of all kernels at the current dual points; those that must join, best first."""
        on, c = self.on, self.on.center
        if not self.penalty.sparse and on.candidate is None:  # the working set is the whole family
            self.bound.lift(c.fit.alpha, on.bound(c.fit.alpha, c.q))
            return _NOBODY
        # one look, at the dual point where the working set is solved best: who violates there must join
        alpha = on.best_point()
        q = self.screen.quad(alpha).sum(axis=1)
        value, entry = self.risk.dual(alpha, q, self.penalty, on.largest), self.penalty.entry(q[on.atoms])
        # where many α are optimal, kernels without weight decide between them: dropped, they would come back
        self.needed = on.atoms[q[on.atoms] >= (0.5 if value > self.bound.value else 0.0) * entry]
        self.bound.lift(alpha, value)
        self.screen.update(alpha, q, c.tight)
        outside = np.setdiff1d(np.arange(self.gram.n_kernels), on.atoms)
        violating = outside[q[outside] > entry]
        most = max(self.add, int(np.count_nonzero(c.theta)), self._at_once() if self.patience.stalled else 0)
        if most >= outside.size > _MANY and 2 * violating.size > outside.size:
            self.needed = on.atoms  # one round with all kernels, and none dropped, takes less than several
            return outside
        return np.asarray(violating[np.argsort(-q[violating])][:most])

    def _at_once(self) -> int:
        """Return how many kernels may join when the interior-point method solves the working set.

        A round of it takes an n × n matrix to pieces, so that few rounds with many kernels are best where a
        kernel is one vector, and reading it costs next to nothing.
        """
        cells = self.gram.n * self.risk.shape[1]
        return max(_MANY, _CELLS // cells) if self.gram.rank_one else _MANY

    def result(self) -> Result:
        center, theta = self.on.center, np.zeros(self.gram.n_kernels)
        theta[self.on.atoms] = center.theta
        return Result(
            atoms=list(range(theta.size)),
            weights=theta,
            alpha=center.fit.alpha,
            intercept=center.fit.intercept,
            primal=center.tight,
            dual=self.bound.value,
            certified=True,
            converged=self.converged,
            n_iter=self.on.machines,
            history=self.run.history,
            reason=self.reason,
            dual_alpha=self.bound.alpha,
            K=center.K,
            screened=self.screen.count,
        )

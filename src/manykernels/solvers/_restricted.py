"""The problem of the kernels that `Corrective` has met so far, with the weights of all of them free.

Smooth losses go by the active set method. Piecewise linear ones go by the joint interior-point method, which
the active set method would end with anyway where kernels are many or alike: kernels of neighbouring widths
make J(θ) a valley with a flat floor and corners, where steps in θ alone creep. Both are only as exact as the
gap of the whole family deserves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from ..grams import FactorGram, Gram
from ..grams.features import FeatureGram
from ..objectives import Risk, Separable
from ..oracles import Oracle
from ..oracles.base import Atom
from ..oracles.continuous import ContinuousOracle, parameters_of
from ..oracles.rows import RowOracle
from ..penalties import Penalty
from ._held_newton import HeldNewton
from ._interior import InteriorPoint
from ._interior_features import FeatureInterior
from ._interior_lasso import InteriorLasso
from ._lasso import Lasso
from ._row_problems import row_problem
from ._stopping import goes_on
from .active_set import ActiveSet
from .base import Array, Run, relative

_FEW_FEATURES = 0.3  # of the samples: as many as are worth while
_DUST = 1e-12  # of the largest weight
_FEW = 3  # kernels up to which steps in θ are the faster way for any loss
_TRIALS = 4  # of the joint method, each to a tenth of the last one's gap at most
_BRIEF = 8  # machines for kernels that stand for others
_SHARPER = (0.1, 1e-3, 1e-5)  # of the accuracy of a problem: how exact its weights are made for a result
_MACHINES = 50  # of one restricted problem


class Restricted(Protocol):
    """The problem of the atoms that were added, at costs scale · C."""

    atoms: list[Atom]
    exact: bool  # whether `solve` leaves rounding errors only
    size: float  # the largest value of their kernels

    @property
    def details(self) -> dict[str, Any]:
        """Return the details of a result beside weights and machine."""

    def add(self, atoms: Sequence[Atom]) -> None: ...

    def solve(self, scale: float, tol: float) -> tuple[Array, float, float]:
        """(a dual point, P, the largest q of the atoms there)."""

    def settled(self, primal: float, tol: float) -> float:
        """P of the function that `weights` and `machine` say, about as close to D as `primal` of `solve`."""

    def weights(self) -> tuple[list[Atom], Array]: ...

    def machine(self) -> tuple[Array, Array]:
        """(α, b) of the function whose value P is."""


class Finite:
    """Any loss and any kernels, on the Gram of the atoms that were added.

    P is flat around the optimal θ, and the machine's α there is not: the family is asked at the point of the
    best bound instead.
    """

    exact = False
    details: ClassVar[dict[str, Any]] = {}

    def __init__(self, oracle: Oracle, risk: Risk, penalty: Penalty, rng: np.random.RandomState) -> None:
        self.oracle, self.risk, self.penalty, self.rng = oracle, risk, penalty, rng
        self.atoms: list[Atom] = []
        self._gram: Gram | None = None  # of the atoms, once there are any
        self.theta, self.largest, self.size = np.empty(0), np.empty(0), 0.0
        self.alpha, self.intercept = risk.zeros(), np.zeros(risk.shape[1])
        self.point = self.alpha  # whose bound is the best
        self.scale, self.primal, self.lowest = 0.0, np.inf, np.inf
        self.seen = np.inf  # P of the last trial
        self.ready = True  # whether α is that of the machine at θ

    def add(self, atoms: Sequence[Atom]) -> None:
        """Let more atoms take part; those without weight leave once P has fallen, or they could come back."""
        used = np.arange(len(self.atoms))
        if self.primal < self.lowest * (1.0 - 1e-9):
            used, self.lowest = np.flatnonzero(self.theta), self.primal
        self.atoms = [*(self.atoms[m] for m in used), *atoms]
        self.theta = np.concatenate([self.theta[used], np.zeros(len(atoms))])
        self._gram = None  # before the next one is made: both may not fit in memory
        self._gram = self._held(self.oracle.gram(self.atoms))
        self.largest = self.gram.largest()
        self.size = float(self.largest.max(initial=0.0))

    def _held(self, gram: Gram) -> Gram:
        """The kernels as features, where the risk is learned faster with a few of them than with matrices."""
        if (
            not self.risk.in_few_features
            or not isinstance(gram, FactorGram)
            or not gram.dense
            or gram.mean is not None
        ):
            return gram
        few = gram.features.shape[1] <= _FEW_FEATURES * gram.n
        return FeatureGram(gram.features, gram.ptr, gram.scale) if few else gram

    @property
    def gram(self) -> Gram:
        assert self._gram is not None
        return self._gram

    def solve(self, scale: float, tol: float) -> tuple[Array, float, float]:
        risk = self.risk.scaled(scale)
        if scale != self.scale:
            self.scale, self.lowest = scale, np.inf
            self.primal = risk.constant_value()
        joint = risk.piecewise_linear and risk.has_interior and len(self.atoms) > _FEW and self.primal > 0.0
        if not (joint and self._joint(risk, tol)):
            self._stepwise(risk, tol)
        self.theta = np.where(self.theta > _DUST * self.theta.max(), self.theta, 0.0)
        return self.point, self.primal, float(self.gram.quad(self.point).sum(axis=1).max())

    def _joint(self, risk: Risk, tol: float) -> bool:
        """α and θ together; False where that fails.

        How exact is known only when P is: at a new C it can be far below what was known of it before.
        """
        theta = self.theta if self.theta.any() else self.penalty.start(len(self.atoms))
        point, size = risk.feasible(self.alpha), self.primal
        for _ in range(_TRIALS):
            inner = self._interior(risk, theta, point)
            inner.run(0.3 * size, 0.1 * tol * size)
            point, theta = risk.feasible(inner.alpha), inner.weights()
            if self._settled(risk, theta, point, size, tol):
                return True
            if not goes_on(0, 1):
                break
            size = min(0.1 * size, self.seen)
        return False

    def _interior(self, risk: Risk, theta: Array, point: Array) -> InteriorPoint:
        gram, penalty = self.gram, self.penalty
        if FeatureInterior.serves(gram, risk):
            assert isinstance(gram, FactorGram)
            return FeatureInterior(gram, risk, penalty, theta, point, self.largest)
        combine = partial(gram.combine, out=np.empty((gram.n, gram.n)))
        return InteriorPoint(risk, penalty, combine, gram.products, theta, point, self.largest)

    def _settled(self, risk: Risk, theta: Array, point: Array, size: float, tol: float) -> bool:
        """Take θ and this dual point, if they are as close as they should be, with a function for them.

        That of the point itself will do on the way; where it does not, the machine at θ is solved.
        """
        there = self.gram.quad(point).sum(axis=1)
        dual = risk.dual(point, there, self.penalty, self.largest)
        score = np.einsum("m,mnk->nk", theta, self.gram.products(point))
        b = risk.intercepts(score)
        self.seen = risk.primal(self.penalty, theta, there, score + b, point, self.largest)
        alpha, self.ready = point, relative(self.seen, dual) > tol
        if self.ready:
            alpha, b, self.seen = self._machine(risk, theta, point, 0.3 * tol * size)
        if relative(self.seen, dual) > tol:
            return False
        self.theta, self.point, self.primal = theta, point, self.seen
        self.alpha, self.intercept = alpha, b
        return True

    def _machine(self, risk: Risk, theta: Array, point: Array, accuracy: float) -> tuple[Array, Array, float]:
        """α, b and P of the machine at θ."""
        fit = risk.solve(self.gram.combine(theta), point, accuracy)
        q = self.gram.quad(fit.alpha).sum(axis=1)
        value = risk.primal(self.penalty, theta, q, fit.f, fit.alpha, self.largest)
        return fit.alpha, fit.intercept, value

    def _stepwise(self, risk: Risk, tol: float) -> None:
        """Steps in θ, each with its machine."""
        start = (self.theta, risk.feasible(self.alpha)) if self.theta.any() else None
        run = Run(tol=tol, max_iter=_MACHINES, rng=self.rng, start=start)
        last = ActiveSet().run(self.gram, risk, self.penalty, run)
        self.theta, self.primal, self.ready = last.weights, last.primal, True
        self.alpha, self.intercept = last.alpha, last.intercept
        self.point = last.alpha if last.dual_alpha is None else last.dual_alpha

    def settled(self, primal: float, tol: float) -> float:
        """The machine at θ, once: its α is zero or at a bound for most samples."""
        if not self.ready:
            risk, self.ready = self.risk.scaled(self.scale), True
            alpha, b, value = self._machine(risk, self.theta, self.alpha, 0.3 * tol * self.primal)
            if value <= self.primal:
                self.alpha, self.intercept, self.primal = alpha, b, value
        return self.primal

    def merge(self, tol: float) -> float:
        """P, after neighbours on a line of kernels became one between them where that does not raise it.

        Columns come in around an optimum, from both sides. Two optima of their own have kernels between them
        whose q is smaller; two neighbours of one optimum have one that is at least as good as they are.
        """
        if not isinstance(self.oracle, ContinuousOracle) or self.oracle.dimensions > 1:
            return self.primal
        atoms, weights = self.weights()
        level = float(self.oracle.quad(self.point, atoms).max(initial=0.0)) * (1.0 - tol)
        merged: dict[Atom, float] = {}
        for z, weight in sorted(zip(atoms, weights, strict=True), key=lambda pair: parameters_of(pair[0])):
            if merged:
                last = next(reversed(merged))
                middle = self.oracle.between([last, z], np.array([merged[last], weight]))
                if self.oracle.quad(self.point, [middle])[0] >= level:
                    weight, z = weight + merged.pop(last), middle
            merged[z] = merged.get(z, 0.0) + weight
        if len(merged) < len(atoms):
            self._replace(list(merged), np.array(list(merged.values())), tol)
        return self.primal

    def _replace(self, atoms: list[Atom], theta: Array, tol: float) -> None:
        """Take these atoms instead, with the best weights near these, unless P is larger then."""
        gram = self._held(self.oracle.gram(atoms))
        start = theta, self.risk.feasible(self.alpha)
        run = Run(tol=0.1 * tol, max_iter=_BRIEF, rng=self.rng, start=start)
        found = ActiveSet().run(gram, self.risk, self.penalty, run)
        if found.primal <= self.primal:
            self.atoms, self._gram, self.theta, self.primal = atoms, gram, found.weights, found.primal
            self.largest = gram.largest()
            self.alpha, self.intercept, self.ready = found.alpha, found.intercept, True

    def weights(self) -> tuple[list[Atom], Array]:
        used = np.flatnonzero(self.theta if self.alpha.any() else [])  # nothing to learn: no kernels
        return [self.atoms[m] for m in used], self.theta[used]

    def machine(self) -> tuple[Array, Array]:
        return self.alpha, self.intercept


class Cornered(Finite):
    """Kernels of rank one and a piecewise linear loss of one output: an interior-point method on features.

    Its point is kept when atoms join. The machine at θ is only solved for a result, and not at every look.
    """

    def __init__(self, oracle: Oracle, risk: Risk, penalty: Penalty, rng: np.random.RandomState) -> None:
        super().__init__(oracle, risk, penalty, rng)
        self.inner: InteriorLasso | None = None
        self.Phi, self.held, self.tol = np.empty((risk.shape[0], 0)), 0.0, 1.0

    def add(self, atoms: Sequence[Atom]) -> None:
        before = {z: j for j, z in enumerate(self.atoms)}
        super().add(atoms)
        self.Phi = self.gram.own_features()
        if self.inner is not None:
            kept = [before[z] for z in self.atoms if z in before]
            self.inner.join(self.Phi, np.array(kept, dtype=np.intp))

    def _joint(self, risk: Risk, tol: float) -> bool:
        inner = self._inner(risk)
        self.ready = inner.run(self.Phi, tol) > tol
        if self.ready:
            return super()._joint(risk, tol)
        self.theta, self.primal, self.tol = inner.weights(), inner.primal, tol
        self.point = risk.feasible(inner.alpha[:, None])
        return True

    def _inner(self, risk: Risk) -> InteriorLasso:
        if self.inner is None:
            box, n = risk.box(), risk.shape[0]
            assert box is not None
            Z = np.ones((n, 1 if risk.fit_intercept else 0)) if risk.Z is None else risk.Z
            self.inner = InteriorLasso(box, Z)
            self.inner.begin(None if risk.Z is None else risk.interior(risk.zeros())[:, 0])
            self.inner.start(self.Phi)
        elif self.held != self.scale:
            self.inner.scale(self.scale / self.held)
            self.inner.join(self.Phi, np.arange(len(self.atoms)))
        self.held = self.scale
        return self.inner

    def settled(self, primal: float, tol: float) -> float:
        """The sharper the point, the closer φ_jᵀα is to ±Σ|w|, so that θ and α stand for w."""
        if self.ready:
            return self.primal
        risk, self.ready = self.risk.scaled(self.scale), True
        assert self.inner is not None
        for share in _SHARPER:
            self.inner.run(self.Phi, share * tol)
            theta = self.inner.weights()
            if self._stands(risk, theta, risk.feasible(self.inner.sharp[:, None]), (1.0 + tol) * primal):
                return self.primal
        if not self._settled(risk, theta, self.point, primal, tol):
            self._stepwise(risk, tol)
        return self.primal

    def _stands(self, risk: Risk, theta: Array, alpha: Array, most: float) -> bool:
        """Take θ with this α, if P of their function is at most that."""
        pull = self.Phi.T @ alpha
        score = self.Phi @ (theta[:, None] * pull)
        b = risk.intercepts(score)
        value = risk.primal(self.penalty, theta, pull[:, 0] ** 2, score + b, alpha, self.largest)
        if value <= most:
            self.theta, self.primal, self.alpha, self.intercept = theta, value, alpha, b
        return value <= most


def restricted(oracle: Oracle, risk: Risk, penalty: Penalty, rng: np.random.RandomState) -> Restricted:
    """The fastest form of the restricted problem."""
    if isinstance(oracle, RowOracle):
        return row_problem(oracle, risk)
    squares = risk.least_squares() if risk.shape[1] == 1 and oracle.rank_one else None
    if squares is not None:
        return Lasso(oracle, risk, squares)
    if oracle.rank_one and risk.shape[1] == 1 and isinstance(risk, Separable):
        return Cornered(oracle, risk, penalty, rng) if risk.piecewise_linear else HeldNewton(oracle, risk)
    return Finite(oracle, risk, penalty, rng)

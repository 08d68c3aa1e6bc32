"""Greedy coordinate descent, GCD-1s = CKL (Afkanpour 2013, Algs 5, 6): Frank–Wolfe over kernels, one at a
time.

    I = argmax_z q_z(α),      θ ← (1−η)θ + ηe_I,      K_θ ← (1−η)K_θ + ηK_I,      α = α*(θ)

J(θ), the optimal value of the machine at K_θ, is convex along the step with φ'(η) = −½αᵀ(K_I − K_θ)α at the
machine's solution α at η, and φ''(η) = ‖B‖² from the machine's own sensitivity (see `machines`): the line
search is Newton's method on φ' inside a bracket. It begins at θ⁰ = 0, from where J only falls: η₁ = 1.

The first kernels keep weight for long, since every step takes the same share of all of them. Pairwise steps
θ ← θ + η(e_I − e_A) take it from the kernel in use of the smallest q_A instead, at most all that it has.

Afkanpour 2013, Thm 5.1, J(θ_k) − J* ≤ 2C_J/(k + 2), needs a smooth J. That of a piecewise linear loss has
corners where α is not unique, and the method could stop at one that is no optimum. So there the machine is
solved for K_θ + δI, which makes α unique; its f, less δα, costs at most δ Σ C|α| more, a share of the gap
that shrinks with it. Both bounds are those of the true problem, whatever δ was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from .._fast.threads import blas_for
from ..objectives import Fit, Risk
from ..oracles import Best, Oracle
from ..oracles.base import Atom
from ..penalties import Penalty
from ._family import FamilySolver
from ._stopping import goes_on
from .base import Array, Result, Run, relative
from .declarations import Serves

_EXACT = 0.03  # of the slope at η = 0 may be left by the line search
_TRIALS = 30  # machines in one line search at most; Newton's method needs two or three
_SHARE = 0.1  # of the gap that smoothing may cost
_BLIND = 1e-6  # the sharpest look at a gap that no kernel would close
_RULES = ("pairwise", "line-search", "2/(k+1)")


class Greedy(FamilySolver):
    """Frank–Wolfe over kernels, for norm = 1: simple, with few machines, but slow to high accuracy.

    Parameters
    ----------
    step : {"pairwise", "line-search", "2/(k+1)"}, default="pairwise"
        How weights move to the best kernel. "pairwise" takes weight from the worst kernel in use alone
        (Lacoste-Julien & Jaggi 2015), "line-search" from all in proportion (Afkanpour 2013), both by the η
        that minimises the objective. "2/(k+1)" takes it from all by the rule of Afkanpour (2013), Alg. 5
        (whose §5.2 has 2/(k + 3) in another place), which needs one machine a step and does not lower the
        objective in each.

    References
    ----------
    Lacoste-Julien & Jaggi (2015), "On the global linear convergence of Frank–Wolfe optimization variants",
    NeurIPS.

    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, Algs 5
    and 6.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Gaussians
    >>> from manykernels.solvers import Greedy
    >>> X, y = make_regression(40, 3, random_state=0)
    >>> model = MKLRegressor(Gaussians(1.0, 10.0), solver=Greedy("line-search"), tol=0.1).fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    serves = Serves(
        kernels=frozenset({"list", "family"}),
        penalties=frozenset({"norm 1"}),
        asks=("best",),
        needs="norm=1",
        because="because its steps stay on the simplex",
    )

    def __init__(self, step: str = "pairwise") -> None:
        self.step = step

    def _over(self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run) -> Result:
        self._check(run.max_iter)
        with blas_for(oracle.n):
            descent = FrankWolfe(oracle, risk, penalty, run, pairwise=self.step == "pairwise")
            while not descent.look() and goes_on(descent.k, run.max_iter):
                descent.move(2.0 / (descent.k + 2.0) if self.step == "2/(k+1)" else None)
        return descent.result()

    def _check(self, max_iter: int) -> None:
        if self.step not in _RULES:
            raise ValueError(f"step={self.step!r} was given to Greedy; expected one of {', '.join(_RULES)}.")
        if max_iter < 1:
            raise ValueError(f"max_iter={max_iter} was given; expected at least 1.")


class Kept(NamedTuple):
    """The function of the smallest P so far."""

    atoms: list[Atom]
    weights: Array
    alpha: Array
    intercept: Array


class FrankWolfe:
    """One run: θ as weights of the atoms met, the machine at K_θ, and the best bounds so far."""

    def __init__(
        self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run, pairwise: bool = False
    ) -> None:
        self.oracle, self.risk, self.penalty, self.pairwise = oracle, risk, penalty, pairwise
        self.tol, self.history = run.tol, run.history
        self.k, self.converged, self.gap = 0, False, 1.0
        self.theta: dict[Atom, float] = {}
        self.scale = risk.zero_value()
        self.primal, self.dual, self.certified = np.inf, -np.inf, -np.inf
        self.best = Best([], np.empty(0), np.inf)  # of the last look
        self.kept = Kept([], np.empty(0), risk.zeros(), np.zeros(risk.shape[1]))
        self.proof: Array | None = None  # the point whose value `certified` is
        self.sharpness = 1.0  # lowered where the errors of machine and smoothing hide what is left
        self.K, self.direction, self.trial = (np.zeros((oracle.n, oracle.n)) for _ in range(3))
        box = risk.box() if risk.piecewise_linear else None
        self.steepest = None if box is None else np.maximum(box.hi, -box.lo)  # no |α| is larger
        self.delta = self._smoothing(risk.zeros() if self.steepest is None else self.steepest)
        self.fit = self._solve(self.K, risk.zeros())

    # -- the machine ------------------------------------------------------------------------------
    def _smoothing(self, alpha: Array) -> float:
        """δ such that what it takes from f costs a share of the gap; 0 where the loss is smooth itself."""
        pull = 0.0 if self.steepest is None else float(np.sum(self.steepest * np.abs(alpha)))
        if pull == 0.0:
            return 0.0
        return _SHARE * self.sharpness * self.gap * self.scale / pull

    @contextmanager
    def _softened(self, K: Array) -> Iterator[Array]:
        """K + δI, in the memory of K."""
        diagonal = K.diagonal().copy()
        K.flat[:: K.shape[0] + 1] += self.delta
        yield K
        K.flat[:: K.shape[0] + 1] = diagonal

    def _solve(self, K: Array, alpha: Array) -> Fit:
        """The machine at K + δI. An error ε of its value is one of 2√(2εq) in q: it must not hide the gap."""
        accuracy = max(0.01 * self.sharpness * self.gap**2, 1e-13)
        with self._softened(K):
            return self.risk.solve(K, alpha, accuracy * self.scale)

    def _function(self) -> tuple[Array, Array]:
        """f = K_θα + b with the best b, without what δ adds."""
        fit, risk = self.fit, self.risk
        if self.delta == 0.0:
            return fit.f, fit.intercept
        score = fit.f - fit.intercept - self.delta * fit.alpha
        b = risk.intercepts(score)
        return score + b, b

    # -- bounds -----------------------------------------------------------------------------------
    def look(self) -> bool:
        """Ask the family for its best kernel, and bound the optimum; True if the gap is small enough."""
        alpha, atoms, weights = self.fit.alpha, list(self.theta), np.array(list(self.theta.values()))
        self.best = self.oracle.best(alpha, 1)
        q, (f, b) = self.oracle.quad(alpha, atoms), self._function()
        largest = float(np.abs(self.K.diagonal()).max())  # on the simplex, as of a mixture of all
        primal = self.risk.primal(self.penalty, weights, q, f, alpha, largest)
        if primal <= self.primal:
            self.primal, self.kept = primal, Kept(atoms, weights, alpha, b)
        self.dual = self._bound(alpha, q, largest)
        self.gap = relative(self.primal, self.dual)
        self.scale = max(abs(self.primal), 1e-300)
        self.history.add(self.primal, self.gap, len(self.kept.atoms))
        self.converged = self.gap <= self.tol
        if self.sharpness < _BLIND:  # the family's own bound leaves this gap, or rounding errors do
            return True
        nothing = not self.best.atoms or not self.best.values[0] > 0.0  # no kernel could help
        return self.converged and (self.k > 0 or nothing)

    def _bound(self, alpha: Array, q: Array, largest: float) -> float:
        """D from a bound on q over the whole family, the best one so far.

        Where there never was one, D of the kernels that were met, at this α: it says nothing of the others,
        as one of an earlier α says nothing of the kernels met since.
        """
        if np.isfinite(self.best.upper):
            before = self.proof
            self._prove(alpha, self.best.upper, largest)
            if before is not None and self.proof is before:
                middle = 0.5 * (before + alpha)
                self._prove(middle, self.oracle.best(middle, 1).upper, largest)
        if np.isfinite(self.certified):
            return self.certified
        met = max([*self.best.values[:1], *q], default=0.0)
        return self.risk.dual(alpha, np.array([met]), self.penalty, largest)

    def _prove(self, alpha: Array, upper: float, largest: float) -> None:
        """D at α, if that is more than was known."""
        bound = (
            self.risk.dual(alpha, np.array([upper]), self.penalty, largest) if np.isfinite(upper) else -np.inf
        )
        if bound > self.certified:
            self.certified, self.proof = bound, alpha

    def result(self) -> Result:
        kept = self.kept
        return Result(
            atoms=kept.atoms,
            weights=kept.weights,
            alpha=kept.alpha,
            intercept=kept.intercept,
            primal=self.primal,
            dual=self.dual,
            certified=bool(np.isfinite(self.certified)),
            converged=self.converged,
            n_iter=self.k,
            history=self.history,
            dual_alpha=self.proof,
        )

    # -- one step ---------------------------------------------------------------------------------
    def move(self, eta: float | None) -> None:
        """θ ← (1−η)θ + ηe_I with this η, or the best."""
        self.k += 1
        delta = self._smoothing(self.fit.alpha)
        renewed = delta < 0.5 * self.delta
        if renewed:  # never within a step: a slope is of one function
            self.delta = delta
            self.fit = self._solve(self.K, self.fit.alpha)
        if not self.best.atoms:
            return self._sharpen()
        atom, last = self.best.atoms[0], self._worst()
        self.oracle.gram([atom]).combine(np.ones(1), out=self.direction)
        self.direction -= self.K if last is None else self.oracle.gram([last]).combine(np.ones(1))
        if self.k == 1:
            eta, self.fit = 1.0, self._at(1.0, self.fit.alpha)
        elif eta is not None:
            self.fit = self._at(eta, self.fit.alpha)
        else:
            R, slope = self._slope(self.fit)
            if slope >= 0.0:
                return None if renewed else self._sharpen()
            eta, self.fit = self._search(R, slope, 1.0 if last is None else self.theta[last])
        self.K, self.trial = self.trial, self.K
        if last is None:
            self.theta = {z: (1.0 - eta) * weight for z, weight in self.theta.items() if eta < 1.0}
        elif eta < self.theta[last]:
            self.theta[last] -= eta
        else:
            del self.theta[last]
        self.theta[atom] = self.theta.get(atom, 0.0) + eta
        return None

    def _worst(self) -> Atom | None:
        """The kernel in use of the smallest q, whose weight the best one takes over; None takes of all."""
        if not self.pairwise or len(self.theta) < 2:
            return None
        atoms = list(self.theta)
        last = atoms[int(np.argmin(self.oracle.quad(self.fit.alpha, atoms)))]
        return None if last == self.best.atoms[0] else last

    def _sharpen(self) -> None:
        """Solve the machine more exactly, since at its accuracy no kernel is better than the mixture."""
        self.sharpness *= 0.1
        self.delta = self._smoothing(self.fit.alpha)
        self.fit = self._solve(self.K, self.fit.alpha)

    def _at(self, eta: float, alpha: Array) -> Fit:
        """The machine at K + η(K_I − K), which becomes `trial`."""
        np.multiply(self.direction, eta, out=self.trial)
        self.trial += self.K
        return self._solve(self.trial, alpha)

    def _slope(self, fit: Fit) -> tuple[Array, float]:
        """R = (K_I − K)α and φ' = −½ Σ_k α_kᵀR_k."""
        R = self.direction @ fit.alpha
        return R, -0.5 * float(np.sum(fit.alpha * R))

    def _search(self, R: Array, first: float, most: float = 1.0) -> tuple[float, Fit]:
        """η ∈ (0, most] where φ' vanishes, or its end: Newton's method, or bisection outside of a bracket."""
        K, fit, slope, eta, lo, hi = self.K, self.fit, first, 0.0, 0.0, most
        for _ in range(_TRIALS):
            with self._softened(K):
                B = self.risk.curvature(K, fit, R[None])[:, 0]
            following = eta - slope / max(float(B @ B), 1e-300)
            if not lo < following < hi:
                following = hi if slope < 0.0 and hi == most else 0.5 * (lo + hi)
            guess = self.risk.feasible(self.risk.move(fit, fit.alpha, B * (following - eta)))
            K, eta = self.trial, following
            fit = self._at(eta, guess)
            R, slope = self._slope(fit)
            if abs(slope) <= -_EXACT * first or (eta == most and slope <= 0.0):
                break
            lo, hi = (eta, hi) if slope < 0.0 else (lo, eta)
        return eta, fit

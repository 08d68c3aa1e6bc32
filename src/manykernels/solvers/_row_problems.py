"""The restricted problem of kernels with few features on samples that are read in blocks of rows.

With Φ_j the features of the atoms there are, as many for each, f = Σ_j Φ_j w_j + Zγ (Z the constant, or
covariates beside it),

    P = ½ (Σ_j ‖w_j‖)² + R(f),      θ_j = ‖w_j‖/Σ‖w‖,      α = −∇R(f).

Of the samples only vectors are held; what is quadratic in the features is a sum over rows. For squared errors
these sums are taken once for every atom, and the problem is solved from them: exactly for one output and one
feature an atom (`_lasso.py`), else by `GroupDescent` on as many pseudo-samples as features. For other losses
Newton's method takes them anew at each step, ½dᵀHd − gᵀd with H = Φᵀdiag(Cℓ″)Φ and g = Φᵀα, whose minimum
with ½(Σ‖w + d‖)² is such a problem again. Losses with corners are smoothed by μ, which falls until the gap of
the loss itself is small enough.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from ..grams import FactorGram
from ..losses import Squared
from ..losses.scalar import EPS
from ..losses.smoothed import Smoothed, Softened
from ..objectives import LeastSquares, Risk, Separable
from ..objectives.rounding import unit
from ..oracles.base import Atom
from ..oracles.rows import RowOracle
from ..penalties import Simplex
from ._beside import Beside
from ._lasso import squared_lasso
from ._stopping import goes_on
from .base import Array, Run, relative
from .group_descent import GroupDescent

_PATIENCE = 3  # rounds that an atom without weight stays for
_STEPS = 60  # of Newton's method
_HALVINGS = 40  # of a step
_DECREMENT = 0.03  # of the accuracy: what the next step may still gain
_WITHIN = 0.01  # of the accuracy, to which the model of a step with groups of features is minimised
_STEEP = 0.25  # how μ falls
_WAITS = 3  # sharper losses in a row that leave the gap as it was, after which rounding has the last word
_BACK = 25.0  # by how much μ rises again, at most, when atoms join
_SHARPEST = 1e-9  # of the largest target: μ below which nothing is gained
_STRAIGHT = 1e-8  # the least curvature of a loss
_RIDGE = 1e-13  # of the largest entry of a matrix of sums, for what is singular but for rounding


class RowProblem:
    """Base of problems on rows: atoms, the coefficients w (features, k), and decisions of all samples."""

    exact = True

    def __init__(self, oracle: RowOracle, risk: Risk) -> None:
        self.oracle, self.risk = oracle, risk
        self.atoms: list[Atom] = []
        self.size = 0.0
        self.w = np.empty((0, risk.shape[1]))
        self.alpha, self.offsets = risk.zeros(), np.zeros(risk.shape[1])
        self.idle = np.empty(0, dtype=np.intp)  # for how many rounds each atom has been without weight

    def add(self, atoms: Sequence[Atom]) -> None:
        """Let more atoms take part; those long without weight leave, so that the problem stays small."""
        width = self.oracle.width
        self.idle = np.where(self.sizes > 0.0, 0, self.idle + 1)
        kept = np.flatnonzero(self.idle <= (_PATIENCE if width == 1 else 0))
        atoms = self._fitting(atoms, kept.size)
        self.atoms = [self.atoms[j] for j in kept]
        features = (width * kept[:, None] + np.arange(width)).ravel()
        self.w, self.idle = self.w[features], self.idle[kept]
        self._keep(features)
        self.atoms = [*self.atoms, *atoms]
        self.w = np.concatenate([self.w, np.zeros((width * len(atoms), self.w.shape[1]))])
        self.idle = np.concatenate([self.idle, np.zeros(len(atoms), dtype=np.intp)])
        self.size = max(self.size, self.oracle.largest(atoms))
        self._join(len(atoms))

    def _fitting(self, atoms: Sequence[Atom], others: int) -> Sequence[Atom]:
        """Take as many of these as there is memory for, or raise an error where not even one fits."""
        room = self.oracle.most - others
        if room < 1.0:
            raise MemoryError(
                f"{others} kernels with {self.oracle.width} features each have weight, and memory_limit has "
                "no room for another one. Raise memory_limit, take fewer features, or a larger tol."
            )
        return atoms if len(atoms) <= room else atoms[: int(room)]

    @property
    def sizes(self) -> Array:
        """(m,): ‖w_j‖."""
        return _norms(self.w, self.oracle.width)

    def _keep(self, kept: NDArray[np.intp]) -> None:
        """Forget the other features."""

    def _join(self, new: int) -> None:
        """The last so many atoms are new."""

    @abstractmethod
    def solve(self, scale: float, tol: float) -> tuple[Array, float, float]: ...

    def decided(self, w: Array) -> Array:
        """Φw (n, k)."""
        groups = w.reshape(-1, self.oracle.width, w.shape[1])
        used = np.flatnonzero(groups.any(axis=(1, 2)))
        return self.oracle.decisions([self.atoms[j] for j in used], groups[used].reshape(-1, w.shape[1]))

    def primal(self, risk: Risk, f: Array) -> float:
        """P of w, at the worst that rounding may have done to f; at constant targets it is zero."""
        level = float(self.sizes.sum())
        noise = 1e-25 * risk.value(risk.zeros())
        if 0.5 * level**2 + risk.value(f) <= noise and risk.constant_value() <= noise:
            return 0.0
        off = (unit(len(self.w)) + self.oracle.noise) * np.sqrt(self.size) * level
        off = off + EPS * (np.abs(f) + np.abs(risk.shift))
        return (1.0 + unit(f.shape[0])) * (0.5 * level**2 + risk.worst(f, off))

    def settled(self, primal: float, tol: float) -> float:
        """P as it was: decisions are those of w."""
        return primal

    def weights(self) -> tuple[list[Atom], Array]:
        """The atoms with weight and θ = ‖w‖/Σ‖w‖."""
        sizes = self.sizes
        used = np.flatnonzero(sizes)
        return [self.atoms[j] for j in used], sizes[used] / max(float(sizes.sum()), 1e-300)

    def machine(self) -> tuple[Array, Array]:
        """α, and the intercepts or Zγ."""
        return self.alpha, self.offsets

    @property
    def details(self) -> dict[str, Any]:
        """The coefficients of the atoms with weight: decisions need no training samples."""
        return {"coefficients": self.w[np.repeat(self.sizes > 0.0, self.oracle.width)]}


class RowSquares(RowProblem):
    """Squared errors: G = ΦᵀCΦ and b = ΦᵀCY, of features less what constant and covariates take up."""

    def __init__(self, oracle: RowOracle, risk: Risk, squares: LeastSquares) -> None:
        super().__init__(oracle, risk)
        self.C, self.Y = squares.cost, squares.targets
        self.beside = Beside(risk, self.C)
        self.level = self.beside.coefficients(self.Y)
        self.target = self.Y - self.beside.values(self.level)
        self.exact = self.Y.shape[1] == 1 and oracle.width == 1
        self.G, self.b = np.empty((0, 0)), np.empty((0, self.Y.shape[1]))
        self.means = self.beside.none

    def _keep(self, kept: NDArray[np.intp]) -> None:
        self.G, self.b, self.means = self.G[np.ix_(kept, kept)], self.b[kept], self.means[..., kept]

    def _join(self, new: int) -> None:
        U, heavy = self.beside.columns, self.C[:, None]
        means = self.beside.of_sums(self.oracle.scores(self.atoms[len(self.atoms) - new :], heavy * U).T)
        self.means = np.concatenate([self.means, means], axis=-1)
        known = np.atleast_2d(self.means)[: U.shape[1]]  # none without an intercept
        cross, linear = self.oracle.moments(self.atoms, new, self.C, heavy * self.target, U, known)
        old = len(self.G)
        self.G = np.block([[self.G, cross[:old]], [cross[:old].T, 0.5 * (cross[old:] + cross[old:].T)]])
        self.b = np.concatenate([self.b, linear])

    def solve(self, scale: float, tol: float) -> tuple[Array, float, float]:
        """(α, P, the largest q of the atoms there are)."""
        if self.exact:
            self.w = squared_lasso(scale * self.G, scale * self.b[:, 0], self.w[:, 0])[:, None]
        else:
            self.w = _grouped(scale * self.G, scale * self.b, self.w, self.oracle.width, tol)
        self.offsets = self.beside.offsets(self.level - self.means @ self.w)
        f = self.decided(self.w) + self.offsets
        risk = self.risk.scaled(scale)
        self.alpha = scale * self.C[:, None] * (self.Y - f)
        level = float(self.sizes.sum()) ** 2
        if not self.exact:
            pull = scale * (self.b - self.G @ self.w)
            level = float(_norms(pull, self.oracle.width).max()) ** 2
        return self.alpha, self.primal(risk, f), level


def _root(G: Array) -> Array:
    """R, upper triangular, with RᵀR = G, and as much more on its diagonal as rounding needs."""
    size = max(float(np.diag(G).max(initial=0.0)), 1e-300)
    ridge = _RIDGE * size
    while True:
        try:
            return np.asarray(cholesky(G + ridge * np.eye(len(G)), check_finite=False))
        except LinAlgError:
            ridge *= 10.0


def _norms(w: Array, width: int) -> Array:
    """(m,): ‖w_j‖ for the coefficients (features, k) of atoms with so many features each."""
    return np.asarray(np.linalg.norm(w.reshape(-1, width * w.shape[1]), axis=1))


def _grouped(G: Array, b: Array, w: Array, width: int, tol: float) -> Array:
    """The w of the least ½(Σ_j ‖w_j‖)² + ½⟨w, Gw⟩ − ⟨b, w⟩, from the last one.

    With RᵀR = G, pseudo-samples R with targets R⁻ᵀb stand for all rows.
    """
    R = _root(G)
    T = solve_triangular(R, b, trans="T")
    gram = FactorGram(np.ascontiguousarray(R), np.arange(0, len(G) + 1, width))
    risk = Separable(Squared(), T, np.ones_like(T), False)
    sizes = _norms(w, width)
    start = (sizes / sizes.sum(), T - R @ w) if sizes.any() else None
    run = Run(tol=tol, max_iter=1000, rng=np.random.RandomState(0), start=start)
    found = GroupDescent().run(gram, risk, Simplex(), run)
    # the best w for these weights, to the last digits
    root = np.sqrt(np.repeat(found.weights, width))[:, None]
    system = np.eye(len(G)) + root * G * root.T
    return np.asarray(root * cho_solve(cho_factor(system, overwrite_a=True), root * b))


class RowNewton(RowProblem):
    """Any other loss, one output: Newton's method on sums over rows."""

    exact = False

    def __init__(self, oracle: RowOracle, risk: Separable) -> None:
        super().__init__(oracle, risk)
        ones = np.ones((risk.shape[0], 1 if risk.fit_intercept else 0))
        self.Z = ones if risk.Z is None else risk.Z
        self.largest = float(np.abs(risk.Y).max()) or 1.0
        self.mu, self.scale = self.largest, 0.0
        self.f = np.zeros(risk.shape)
        self.gamma: Array = np.zeros(self.Z.shape[1])
        self.begun = False

    def solve(self, scale: float, tol: float) -> tuple[Array, float, float]:
        assert isinstance(self.risk, Separable)
        risk = self.risk.scaled(scale)
        if not self.begun:
            self._begin(risk)
        corners = not risk.loss.smooth
        self.mu = min(self.largest, _BACK * self.mu) if scale == self.scale else self.largest
        self.scale, best, gap, waits = scale, (-np.inf, risk.zeros(), 0.0), np.inf, 0
        while True:
            smooth = _smoothed(risk, self.mu) if corners else risk
            alpha = risk.feasible(self._descend(smooth, risk if corners else None, tol))
            level = float(self.oracle.quad(alpha, self.atoms).max(initial=0.0))
            dual = risk.dual(alpha, np.array([level]), Simplex(), self.size)
            if dual > best[0]:
                best = dual, alpha, level
            primal = self.primal(risk, self.f)
            before, gap = gap, relative(primal, best[0])
            waits = waits + 1 if gap > 0.9 * before else 0
            sharp = not corners or self.mu <= _SHARPEST * self.largest or waits == _WAITS
            if gap <= tol or sharp or not goes_on(0, 1):
                break
            self.mu *= _STEEP
        self.alpha = best[1]
        self.offsets = self._offsets()
        return best[1], primal, best[2]

    def _begin(self, risk: Separable) -> None:
        """From the best constant function."""
        constant = risk.zeros() + risk.constant()
        if self.Z.size:
            self.gamma = np.asarray(np.linalg.lstsq(self.Z, constant[:, 0], rcond=None)[0], dtype=np.float64)
        self.f, self.begun = (self.Z @ self.gamma)[:, None], True

    def _offsets(self) -> Array:
        values = self.Z @ self.gamma
        if self.risk.Z is not None:
            return np.asarray(values[:, None])
        return self.gamma if self.gamma.size else np.zeros(1)

    def _descend(self, risk: Separable, sharp: Separable | None, tol: float) -> Array:
        """Newton's steps until the next one would gain next to nothing: α (n, 1) where it would lead.

        To first order α moves to −g − W(f' − f), which meets the conditions of the atoms exactly, even where
        curvature is so large that f is known better than α = −∇R(f).

        With corners the gain must be little beside what smoothing the `sharp` risk has changed, so that
        sharper and sharper risks are each followed to where their minimum is.
        """
        for _ in range(_STEPS):
            fit = risk.value(self.f)
            value = 0.5 * self._norm(self.w) ** 2 + fit
            d, e, gain = self._step(risk, tol)
            along = self.decided(d) + (self.Z @ e)[:, None]
            alpha = -risk.gradient(self.f) - _bent(risk, self.f) * along
            enough = tol * abs(value) if sharp is None else abs(fit - sharp.value(self.f))
            t = self._length(risk, d, along, value, gain)
            self.w, self.gamma, self.f = self.w + t * d, self.gamma + t * e, self.f + t * along
            dust = self.sizes <= 1e-15 * self.sizes.max(initial=0.0)
            self.w[np.repeat(dust, self.oracle.width)] = 0.0
            if not gain > _DECREMENT * enough or t == 0.0 or not goes_on(0, 1):
                return np.asarray(alpha)
        return -risk.gradient(self.f)

    def _norm(self, w: Array) -> float:
        """Σ_j ‖w_j‖."""
        return float(_norms(w.reshape(len(self.w), -1), self.oracle.width).sum())

    def _step(self, risk: Separable, tol: float) -> tuple[Array, Array, float]:
        """(d, e, what the model falls by) for w + d and γ + e, of which γ is eliminated."""
        alpha, W = -risk.gradient(self.f), _bent(risk, self.f)
        m, new = len(self.w), len(self.atoms)
        H, linear = self.oracle.moments(self.atoms, new, W[:, 0], np.hstack([alpha, W * self.Z]))
        H, g, beside = 0.5 * (H + H.T), linear[:, 0], linear[:, 1:]
        ridge = _RIDGE * max(float(np.abs(np.diag(H)).max(initial=0.0)), float(W.max(initial=0.0)), 1e-300)
        HZ, gZ = self.Z.T @ (W * self.Z), self.Z.T @ alpha[:, 0]
        HZ += ridge * max(1.0, float(len(W))) * np.eye(len(HZ))
        back = np.linalg.solve(HZ, np.column_stack([beside.T, gZ])) if gZ.size else np.zeros((0, m + 1))
        G = H - beside @ back[:, :m] + ridge * np.eye(m)
        g = g - beside @ back[:, m]
        w, G = self.w[:, 0], 0.5 * (G + G.T)
        to = squared_lasso(G, g + G @ w, w) if self.oracle.width == 1 else self._groups(G, g + G @ w, tol)
        d = to - w
        e = back[:, m] - back[:, :m] @ d
        norms = self._norm(w) ** 2 - self._norm(to) ** 2
        gain = 0.5 * norms + float(d @ g) - 0.5 * float(d @ G @ d) + 0.5 * float(gZ @ back[:, m])
        return d[:, None], e, gain

    def _groups(self, G: Array, b: Array, tol: float) -> Array:
        return _grouped(G, b[:, None], self.w, self.oracle.width, _WITHIN * tol)[:, 0]

    def _length(self, risk: Separable, d: Array, along: Array, value: float, gain: float) -> float:
        """Return how far to go: the whole step, or half of it and so on until P falls as it should."""
        t = 1.0
        for _ in range(_HALVINGS):
            there = 0.5 * self._norm(self.w + t * d) ** 2 + risk.value(self.f + t * along)
            if there <= value - 1e-4 * t * gain:
                return t
            t *= 0.5
        return 0.0


def _bent(risk: Separable, f: Array) -> Array:
    """The second derivative of every loss, of which a little is left where a loss is straight."""
    return np.asarray(risk.C * np.maximum(risk.loss.hessian(risk.Y, f), _STRAIGHT))


def _smoothed(risk: Separable, mu: float) -> Separable:
    """Return a loss with curvature everywhere, so that Newton's steps are long."""
    kind = Softened if risk.loss.piecewise_linear else Smoothed
    return Separable(kind(risk.loss, mu), risk.Y, risk.C, risk.fit_intercept, risk.shift, risk.Z)


def row_problem(oracle: RowOracle, risk: Risk) -> RowProblem:
    """The restricted problem on rows in blocks."""
    squares = risk.least_squares()
    if squares is not None:
        return RowSquares(oracle, risk, squares)
    if isinstance(risk, Separable) and risk.shape[1] == 1:
        return RowNewton(oracle, risk)
    raise ValueError(
        f"{risk.label} of {risk.shape[1]} outputs that share weights was given with samples that are read in "
        "blocks of rows; expected one output, or squared errors. Take multi_class='ovr' or "
        "multi_output='own', or loss='squared'."
    )

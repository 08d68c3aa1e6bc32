"""The squared loss with nothing of n × n in memory: exact kernels where their matrices do not fit.

Nothing is asked of kernels but products with vectors: one pass, in which kernels are computed block by block
and forgotten. At given weights α solves

    (K_θ + Λ)α = Y − 1bᵀ,   1ᵀα = 0,   Λ = diag(1/C)

by conjugate gradients, with Nyström's approximation N of K_θ on some samples as the preconditioner. What is
left of the right-hand side, R, is worth at most ½ Σ C R² of the dual value, since (K_θ + Λ)⁻¹ ≼ Λ⁻¹: that
says when to stop. The weights move by Newton's method on J(θ), whose second derivative
α_kᵀK_m(K_θ + Λ)⁻¹K_lα_k (projected where there is an intercept) is taken with N in place of K_θ. N ≼ K_θ, so
that this is too large if anything, and steps are a little short rather than too long. The certificate is made
of exact products and does not depend on either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._fast.linalg import factor, solve
from ..grams import Gram
from ..machines.free import solved
from ..objectives import Risk
from ..penalties import Penalty
from ._local_model import LocalModel
from ._stopping import goes_on
from .base import Array, History, Kernels, Result, Run, Solver, listed, relative, whole_number
from .declarations import Serves

_STEPS = 500  # of conjugate gradients for one machine
_ACCURACY = 1e-10  # of the model's minimum
_CLOSE = 24  # right-hand sides for the second derivative
_ROUGH = 0.03  # of which is left
_EXACT = 0.02  # of the gap: what a machine may leave


@dataclass(frozen=True)
class _BlockPoint:
    """Weights, their machine, and the values of both problems there."""

    theta: Array
    alpha: Array
    intercept: Array
    primal: float
    dual: float
    cut: float  # −Σ C ℓ*(y, −α/C): J(θ') ≥ cut − ½ qᵀθ' everywhere
    q: Array
    B: Array  # BᵀB is about the second derivative of J


class Blockwise(Solver):
    """Newton's method for the weights and conjugate gradients for the machine, for the squared loss.

    It never holds a matrix of n × n: kernels are asked for products with vectors only.

    Parameters
    ----------
    landmarks : int, default=1000
        Number of samples of the preconditioner. More take fewer passes over the kernels; memory is
        8 n landmarks bytes, twice.

    References
    ----------
    Frangella, Tropp & Udell (2023), "Randomized Nyström preconditioning", SIAM Journal on Matrix Analysis and
    Applications 44.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import gaussian_grid
    >>> from manykernels.solvers import Blockwise
    >>> X, y = make_regression(80, 5, random_state=0)
    >>> model = MKLRegressor(gaussian_grid(2.0, 20.0, 3), norm=2.0, solver=Blockwise(landmarks=20)).fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    serves = Serves(
        quadratic=True,
        hint="For many samples approx=Nystroem(...), explicit features, serves every loss.",
    )
    matrices: ClassVar[int] = 0

    def __init__(self, landmarks: int = 1000) -> None:
        self.landmarks = landmarks

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        gram = listed(self, kernels, risk, penalty)
        self._check(run.max_iter)
        count = min(int(self.landmarks), max(gram.n // 10, 1))
        machine = _BlockMachine(
            gram, risk, penalty, np.sort(run.rng.permutation(gram.n)[:count]), run.history
        )
        theta = penalty.start(gram.n_kernels) if run.start is None else run.start[0]
        best, at, dual, gap, mu, exact = None, None, -np.inf, 1.0, 0.0, _EXACT
        size, iteration, proof = max(risk.constant_value(), 1e-300), 0, risk.zeros()
        while iteration < run.max_iter:
            iteration += 1
            allowed = exact * min(gap, 1.0) * size
            found = machine.solve(theta, allowed)
            if found.dual > dual:
                dual, proof = found.dual, found.alpha
            if best is None or found.primal <= best.primal:
                best = found
            if at is None or found.primal <= at.primal + allowed:
                at, mu = found, 0.1 * mu
            else:  # too far
                mu = max(10.0 * mu, 1e-3 * at.primal)
            last, size, gap = gap, best.primal, relative(best.primal, dual)
            if gap > 0.7 * last:  # what machines leave may be in the way
                exact = max(0.2 * exact, 1e-6)
            run.history.add(best.primal, gap, int(np.count_nonzero(best.theta)))
            if gap <= run.tol or not goes_on(iteration, run.max_iter):
                break
            scale = max(abs(at.primal), 1e-300)
            c, Q = np.array([at.cut]), at.q[None]
            theta = LocalModel(c, Q, at.theta, at.B, mu, penalty, scale).minimise(_ACCURACY).theta
        assert best is not None
        return Result(
            atoms=list(range(gram.n_kernels)),
            weights=best.theta,
            alpha=best.alpha,
            intercept=best.intercept,
            primal=best.primal,
            dual=dual,
            certified=True,
            converged=gap <= run.tol,
            n_iter=iteration,
            history=run.history,
            dual_alpha=proof,
        )

    def _check(self, max_iter: int) -> None:
        whole_number(self, "landmarks", 1)
        if max_iter < 1:
            raise ValueError(f"max_iter={max_iter} was given; expected at least 1.")


class _BlockMachine:
    """Machines for one weight vector after the other, each from the solution of the last."""

    def __init__(
        self, gram: Gram, risk: Risk, penalty: Penalty, rows: NDArray[np.intp], history: History
    ) -> None:
        self.gram, self.risk, self.penalty, self.rows, self.history = gram, risk, penalty, rows, history
        squares = risk.least_squares()
        assert squares is not None  # `_check` has seen to it
        Y, self.cost = squares.targets, squares.cost[:, None]
        ones = np.ones((gram.n, int(risk.fit_intercept)))
        self.Z = ones if risk.Z is None else risk.Z
        self.right = np.column_stack([Y, self.Z]) if self.Z.size else Y
        self.solution, self.largest = np.zeros_like(self.right), gram.largest()

    def solve(self, theta: Array, tol: float) -> _BlockPoint:
        """The machine to within `tol` of its dual value; then one pass over all kernels for the values."""
        before = _Nystroem(self.gram.columns(theta, self.rows), self.rows, self.cost)
        self._descend(theta, before, tol)
        risk, outputs = self.risk, self.risk.shape[1]
        gamma = self._intercept()
        b = self.Z @ gamma if risk.Z is not None else gamma.sum(axis=0)  # of one row, or none
        alpha = risk.feasible(self.solution[:, :outputs] - self.solution[:, outputs:] @ gamma)
        products = self.gram.products(alpha)
        q = np.maximum(np.einsum("nk,mnk->m", alpha, products), 0.0)
        f = np.einsum("m,mnk->nk", theta, products) + b
        primal = risk.primal(self.penalty, theta, q, f, alpha, self.largest)
        dual, cut = risk.dual(alpha, q, self.penalty, self.largest), risk.dual_fit(alpha)
        return _BlockPoint(theta, alpha, b, primal, dual, cut, q, self._curvature(theta, before, products))

    def _descend(self, theta: Array, before: _Nystroem, tol: float) -> None:
        """α(θ), up to the intercept."""
        report = self.history.report

        def enough(X: Array, R: Array) -> bool:
            self.solution = X
            left = self._left(R)
            if report is not None:
                report(f"a machine by conjugate gradients: {left:.1e} off, {tol:.1e} allowed")
            return bool(X.any()) and left <= tol

        _conjugate_gradients(partial(self._times, theta), before, self.right, self.solution, enough)

    def _curvature(self, theta: Array, before: _Nystroem, products: Array) -> Array:
        """B (M, M) with BᵀB about Σ_k R_kᵀ(K_θ + Λ)⁻¹R_k for R_k = (K_mα_k), less what the intercept takes.

        A tenth of exactness is enough for a step. Of many kernels only those with the largest part in K_θ are
        looked at so closely, the others with N in place of K_θ: too much curvature for kernels without weight
        makes the steps in which they come in a little short.
        """
        M, n, outputs = products.shape
        close = np.argsort(-theta, kind="stable")[: max(_CLOSE // outputs, 1)]
        close = np.sort(close[theta[close] > 0.0])
        R = products.transpose(1, 0, 2).reshape(n, M * outputs)  # output by output for each kernel
        W = before.solve(R).reshape(n, M, outputs)
        chosen = np.ascontiguousarray(products[close].transpose(1, 0, 2)).reshape(n, -1)
        first = float(np.sum(chosen * before.solve(chosen)))

        def enough(X: Array, left: Array) -> bool:
            return bool(X.any()) and float(np.sum(left * before.solve(left))) <= _ROUGH**2 * first

        start = np.zeros_like(chosen)
        found = _conjugate_gradients(partial(self._times, theta), before, chosen, start, enough)
        W[:, close] = found.reshape(n, close.size, outputs)
        if self.Z.size:
            v = self.solution[:, self.risk.shape[1] :]
            W = W - np.tensordot(v, self._absorbed(np.tensordot(self.Z, W, (0, 0))), 1)
        H = np.einsum("mnk,nlk->ml", products, W)
        values, V = np.linalg.eigh(0.5 * (H + H.T))
        return np.asarray((V * np.sqrt(np.maximum(values, 0.0))).T)

    def _times(self, theta: Array, A: Array) -> Array:
        atoms = np.flatnonzero(theta)
        return np.asarray(np.einsum("m,mnk->nk", theta[atoms], self.gram.products(A, atoms)) + A / self.cost)

    def _left(self, R: Array) -> float:
        """Bound the gain that the residuals leave."""
        outputs = self.risk.shape[1]
        combined = R[:, :outputs] - R[:, outputs:] @ self._intercept()
        return 0.5 * float(np.sum(self.cost * combined**2))

    def _intercept(self) -> Array:
        """γ (r, k) with Zᵀ(u − vγ) = 0, for the solutions u and v of the right-hand sides y and Z (or 1)."""
        return self._absorbed(self.Z.T @ self.solution[:, : self.risk.shape[1]])

    def _absorbed(self, off: Array) -> Array:
        """(Zᵀv)⁻¹ of what is off (r, …)."""
        M = self.Z.T @ self.solution[:, self.risk.shape[1] :]
        if not M.size or not float(np.trace(M)) > 0.0:
            return np.zeros_like(off)
        flat = off.reshape(len(off), -1)
        return solved(M, flat, 1e-14 * float(np.trace(M))).reshape(off.shape)


class _Nystroem:
    """(N + Λ)⁻¹ with N = AAᵀ = K_nm K_mm⁻¹ K_mn, from the columns K_nm of some samples."""

    def __init__(self, columns: Array, rows: NDArray[np.intp], cost: Array) -> None:
        L = factor(columns[rows], 1e-12)
        self.A = np.asarray(solve_triangular(L, columns.T, lower=True, check_finite=False).T)
        self.cost = cost
        inner = self.A.T @ (cost * self.A)
        inner.flat[:: len(inner) + 1] += 1.0
        self.inner = factor(inner)

    def solve(self, R: Array) -> Array:
        scaled = self.cost * R
        return np.asarray(scaled - self.cost * (self.A @ solve(self.inner, self.A.T @ scaled)))


def _conjugate_gradients(
    times: Callable[[Array], Array],
    before: _Nystroem,
    right: Array,
    X: Array,
    enough: Callable[[Array, Array], bool],
) -> Array:
    """X with times(X) = right, for all columns at once, each with steps of its own; from the given X.

    `enough` is asked with X and right − times(X) before every step.
    """
    R = right - times(X) if X.any() else right.copy()
    D = Z = before.solve(R)
    slope = np.einsum("nk,nk->k", R, Z)
    for _ in range(_STEPS):
        if enough(X, R):
            break
        KD = times(D)
        size = _ratio(slope, np.einsum("nk,nk->k", D, KD))
        X, R = X + size * D, R - size * KD
        Z = before.solve(R)
        slope, last = np.einsum("nk,nk->k", R, Z), slope
        D = Z + _ratio(slope, last) * D
    return X


def _ratio(a: Array, b: Array) -> Array:
    """a/b, and 0 for columns that have nothing left to solve."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)

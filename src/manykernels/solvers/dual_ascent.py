"""Dual ascent on drawn rows: norms above 1 over all products of columns, from samples in blocks of rows.

With v = Φᵀα for the features Φ of all products and q_z = Σ_k v_zk², the dual is

    D(α) = −R*(−α) − ½h*(q),      θ = argmax_θ θᵀq − h(θ),      w = θ∘v,      f = Φw.

h* is smooth above norm 1, so that D is, but for R*, which is a sum over rows. A step draws rows B and moves
their α_B alone (Shalev-Shwartz & Zhang 2013). On B, D is at least

    −R*(−α_B − Δ) − fᵀΔ − ½c Σ_i K_θ,ii Δ_i² + constant

for a c that is found on the way, and the Δ of the largest value is one number for each row, but for the
multiplier of ΣΔ = 0 where b is fitted. v moves by Φ_BᵀΔ, so that θ, w and D are known at every step.

Drawing products as well, each by its part of the gradient on B with an importance weight (Afkanpour 2013,
Algs 1 to 3), leaves the gradient unbiased too. But as long as products can be listed, drawing 128 of them
costs more than scoring all of them on B, and adds noise that never ends (`benchmarks/bench_rows_drawn.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..losses.scalar import EPS
from ..objectives import Risk, Separable
from ..objectives.rounding import unit
from ..oracles.all_products import AllProducts, Block, WholeDecisions, WholeScores, largest_values
from ..oracles.row_products import RowProducts
from ..penalties import Penalty
from ._stopping import goes_on
from .base import Array, Kernels, Result, Run, Solver, relative, require_served, whole_number
from .declarations import Serves

Rows = NDArray[np.intp]
_CHUNK = 1 << 13  # rows that are read together
_EASIER, _HARDER = 0.8, 1.6  # factors of c after steps that gained as much as was promised, or far less
_LEAST = 1e-3  # c
_HALVINGS = 8  # of a step that loses
_SHARE = 8  # of the passes so far, that the next look waits for
_DOUBLINGS = 60  # of the interval in which a multiplier is looked for


class DualAscent(Solver):
    """Ascend the dual on drawn rows, over all products of columns, for norms above 1.

    ``solver="auto"`` takes it for `Products` at norms above 1 that are learned from blocks of rows. A pass is
    one step for every batch of rows, and `max_iter` of the estimator counts passes. Every step scores all
    products on its rows, so that the gap is certified over the family. At C of about 1/√n a pass of a smooth
    loss takes about nine tenths of the gap away; the larger C, the more passes it takes.

    Parameters
    ----------
    batch : int, default=512
        Number of rows that a step moves together.

    References
    ----------
    Shalev-Shwartz & Zhang (2013), "Stochastic dual coordinate ascent methods for regularized loss
    minimization", Journal of Machine Learning Research 14.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Products
    >>> from manykernels.solvers import DualAscent
    >>> X = np.random.RandomState(0).randn(200, 5)
    >>> solver = DualAscent(batch=64)
    >>> model = MKLRegressor(Products(degree=2), norm=2.0, solver=solver, approx="features", C=0.1)
    >>> bool(model.fit(X, X[:, 0] * X[:, 1]).certified_)
    True
    """

    serves = Serves(
        kernels=frozenset({"rows"}),
        penalties=frozenset({"norm p"}),
        separable=True,
        asks=("atoms",),
        needs="a finite norm above 1",
        because="where the dual is smooth",
    )

    def __init__(self, batch: int = 512) -> None:
        self.batch = batch

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Pass over the rows until the gap is small enough; a look takes as long as a pass."""
        require_served(self, kernels, risk, penalty)
        batch = whole_number(self, "batch", 1)
        assert isinstance(kernels, RowProducts) and isinstance(risk, Separable)
        if risk.Z is not None:
            raise ValueError(
                "solver='dual-ascent' was given with covariates, which it does not learn. Take norm=1 with "
                "solver='corrective', or give the covariates as columns of X."
            )
        ascent, k, before, wait = _Ascent(kernels, risk, penalty), 0, np.inf, 0
        while True:
            k += 1
            left = ascent.go_through(batch, run.rng)
            last = not goes_on(k, run.max_iter)
            near = left * min(1.0, left / before) <= run.tol and k >= wait
            if last or near or k & (k - 1) == 0:
                found = ascent.look(k, run)
                if last or found.converged:
                    return found
                wait = k + 1 + k // _SHARE
            before = left


class _Ascent:
    """α (n, k), v = Φᵀα (products, k), and the c of the last step."""

    def __init__(self, oracle: RowProducts, risk: Separable, penalty: Penalty) -> None:
        self.oracle, self.risk, self.penalty = oracle, risk, penalty
        self.all: AllProducts = oracle.whole()
        self.products = self.all.products()
        self.alpha = risk.zeros()
        self.v = np.zeros((self.all.size, risk.shape[1]))
        self.c = 1.0
        self.gamma = np.broadcast_to(risk.constant(), risk.shape[1]).copy()
        top = oracle.source.values(largest_values).max(axis=0, keepdims=True)
        self.largest = np.square(self.all.on(top).scores(np.ones((1, 1)))[:, 0])  # the largest φ_z², at most

    def go_through(self, batch: int, rng: np.random.RandomState) -> float:
        """One step on every batch; the gap of the rows as they were met, relative to P: an estimate."""
        primal = gap = 0.0
        for X, rows in self._chunks(rng):
            for lo in range(0, len(rows), batch):
                P, left = self._step(self.all.on(X[lo : lo + batch]), rows[lo : lo + batch])
                primal, gap = primal + P, gap + left
        return gap / max(primal + 0.5 * self._conjugate(self.v)[0], 1e-300)

    def _chunks(self, rng: np.random.RandomState) -> Iterator[tuple[Array, Rows]]:
        """All rows in random order, as many at a time as are read together."""
        order = rng.permutation(self.oracle.n)
        for lo in range(0, order.size, _CHUNK):
            rows = np.sort(order[lo : lo + _CHUNK])
            held = self.oracle.source.some(rows)
            mixed = rng.permutation(rows.size)
            yield held.read(held.X)[mixed], rows[mixed]

    def _conjugate(self, v: Array) -> tuple[float, Array]:
        """h*(q) and its θ."""
        return self.penalty.conjugate(np.square(v).sum(axis=1))

    def _step(self, block: Block, B: Rows) -> tuple[float, float]:
        """Move α_B; the loss of these rows before it, and their part of the gap."""
        loss, Y, C = self.risk.loss, self.risk.Y[B], self.risk.C[B]
        level, theta = self._conjugate(self.v)
        f, k = block.decisions(theta[:, None] * self.v), block.diagonal(theta)[:, None]
        a = self.alpha[B] / C
        new = self._moved(Y, f, a, C, self.c * k * C)
        dual = -np.sum(C * loss.conjugate(Y, -a))
        value = float(np.sum(C * loss.value(Y, f + self.gamma)))
        left = value - float(dual) + float(np.sum(C * a * (f + self.gamma)))
        move, t = C * (new - a), 1.0
        along = block.scores(move)
        for halvings in range(_HALVINGS):
            rise = -np.sum(C * loss.conjugate(Y, -(a + t * (new - a)))) - dual
            gain = float(rise) - 0.5 * (self._conjugate(self.v + t * along)[0] - level)
            if halvings == 0:
                promised = float(rise - np.sum(f * move) - 0.5 * self.c * np.sum(k * move**2))
                self._learn(gain, promised)
            if gain > 0.0:
                self.alpha[B] += t * move
                self.v += t * along
                break
            t *= 0.5
        return value, left

    def _learn(self, gain: float, promised: float) -> None:
        """Let c follow what the last step gained beside what its model promised."""
        if gain >= 0.95 * promised:
            self.c = max(_EASIER * self.c, _LEAST)
        elif gain < 0.5 * promised:
            self.c *= _HARDER

    def _moved(self, Y: Array, f: Array, a: Array, C: Array, k: Array) -> Array:
        """The best a' = (α + Δ)/C of the model, with ΣΔ = 0 for each output where b is fitted."""
        if not self.risk.fit_intercept:
            return np.asarray(self.risk.loss.dual_step(Y, f, a, k))
        new = a.copy()
        for j in range(a.shape[1]):
            column = (Y[:, j], f[:, j], a[:, j], C[:, j], k[:, j])
            new[:, j], self.gamma[j] = self._balanced(*column, float(self.gamma[j]))
        return new

    def _balanced(
        self, y: Array, f: Array, a: Array, C: Array, k: Array, gamma: float
    ) -> tuple[Array, float]:
        """The a' with ΣC(a' − a) = 0 and its multiplier γ, which is what b is on these rows."""

        def moved(at: float) -> Array:
            return np.asarray(self.risk.loss.dual_step(y, f + at, a, k))

        def total(at: float) -> float:
            return float(np.sum(C * (moved(at) - a)))

        width = 1e-3 * max(1.0, abs(gamma))
        lo, hi = gamma - width, gamma + width
        for _ in range(_DOUBLINGS):
            low, high = total(lo) < 0.0, total(hi) > 0.0
            if not low and not high:
                gamma = float(brentq(total, lo, hi, xtol=1e-12 * max(1.0, abs(gamma)))) if lo < hi else lo
                return moved(gamma), gamma
            width *= 2.0
            lo, hi = (lo - width if low else lo), (hi + width if high else hi)
        return a, gamma

    def look(self, k: int, run: Run) -> Result:
        """P and D by passes over all rows, from an α that is feasible to the last digit."""
        risk, penalty, source = self.risk, self.penalty, self.oracle.source
        self.alpha = risk.exact(self.alpha)
        (self.v,) = source.sums(WholeScores(self.all), self.alpha)
        q = np.square(self.v).sum(axis=1)
        level, theta = penalty.conjugate(q)
        w = theta[:, None] * self.v
        f = source.values(WholeDecisions(self.all, w))
        intercept = risk.intercepts(f)
        f = f + intercept
        dual = risk.dual(self.alpha, q, penalty, self.largest)
        # |Σ w_z φ_z| ≤ √(Σ w²/θ · Σ θφ²) bounds what rounding may have done to f
        off = unit(len(w)) * float(np.sqrt(level * np.sum(theta * self.largest)))
        primal = self._primal(w, f, off + EPS * (np.abs(f) + np.abs(risk.shift)))
        used = np.flatnonzero(w.any(axis=1))
        gap = relative(primal, dual)
        run.history.add(primal, gap, used.size)
        return Result(
            atoms=[self.products[z] for z in used],
            weights=theta[used],
            alpha=self.alpha,
            intercept=intercept,
            primal=primal,
            dual=dual,
            certified=True,
            converged=gap <= run.tol,
            n_iter=k,
            history=run.history,
            dual_alpha=self.alpha,
            details={"coefficients": w[used]},
        )

    def _primal(self, w: Array, f: Array, off: Array) -> float:
        """P of w; of constant targets zero, where nothing but rounding is left."""
        risk, size = self.risk, 0.5 * self.penalty.group_norm(np.linalg.norm(w, axis=1))
        noise = 1e-25 * risk.value(risk.zeros())
        if size + risk.value(f) <= noise and risk.constant_value() <= noise:
            return 0.0
        return (1.0 + unit(f.shape[0])) * (size + risk.worst(f, off))

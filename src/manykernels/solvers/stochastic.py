"""SGD-1s: stochastic mirror descent on the weights of a family too large to look at (Afkanpour 2013, Algs 1,
2).

J(θ), the optimal value of the machine at K_θ, is convex with ∂J/∂θ_z = g_z = −½q_z(α(θ)). Kernels z drawn
with probability s_z give the estimate ĝ = (1/b) Σ_draws (g_z/s_z) e_z, whose mean is ∇J; θ moves by
θ ← argmin_Θ η⟨ĝ, θ'⟩ + D_Ψ(θ', θ). Draws proportional to q make E‖ĝ‖² smallest. All draws of a batch
share one solution of the machine.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import ClassVar

import numpy as np

from .._arguments import is_number
from .._fast.threads import blas_for
from ..grams.memory import DRAWS
from ..objectives import Fit, Risk
from ..oracles import Oracle
from ..oracles.base import Atom
from ..oracles.descent import Iterate, iterate_for, quads
from ..penalties import LpBall, Penalty
from ..penalties.steps import Steps
from ._family import FamilySolver
from ._ridge_updates import RidgePath
from ._stopping import goes_on
from .base import Array, Result, Run, relative, whole_number
from .declarations import Serves

_DUST = 1e-12  # of the largest weight: below it a kernel has none
_RIDGE_TOL = 1e-6  # relative gap of the squared loss, which conjugate gradients reach at little cost


class Stochastic(FamilySolver):
    """Stochastic mirror descent over any family that can be sampled (SGD-1s).

    `max_iter` of the estimator counts batches. The whole family is looked at after 1, 2, 4, … of them, where
    its oracle can sum q over all kernels: then the gap is certified. Where it cannot, all `max_iter`
    iterations run and the dual value is −∞.

    Parameters
    ----------
    sampling : {"gradient", "uniform"}, default="gradient"
        How kernels are drawn: about proportional to their part of the gradient (SGD-1s), or all alike (UCD).
    batch : int, default=128
        Number of kernels that are drawn for each solution of the machine. More make steps less noisy.
    averaging : bool, default=True
        Whether to return the average of the iterates instead of the last. With step="theorem" all count
        alike, as the theorem asks; otherwise θ^(k) counts k², so that the start is forgotten.
    step : {"auto", "theorem"} or float, default="auto"
        Length of the steps. "theorem" is the constant step of Theorem 4.1 for `max_iter` iterations. "auto"
        moves θ by about 1/(2√k) of the radius of the ball at iteration k, measured by the gradient of this
        iteration alone: at large C the first one is larger by orders of magnitude, and is forgotten at once.
        A number is a constant η.
    potential : {"auto", "euclidean", "entropy"}, default="auto"
        The potential Ψ. "auto" is ½‖·‖_p² for norms 1.05 ≤ p < 2 and ½‖·‖₂² for others; "euclidean" is always
        the latter. Where Ψ is the norm of the ball, a step moves only the kernels drawn, elsewhere all that
        have weight. "entropy" is Ψ = Σ θ (log θ − 1) at norm 1, exponential weights: all kernels have a
        weight from the start, so that they must be listed, and none is ever exactly zero.
    inner_tol : float or None, default=None
        The relative gap to which the machine is solved in each iteration; None chooses.
    spread : float, default=1.0
        Kernels of a continuum are drawn from N(σ*, (spread·σ*)²) around the best parameters σ*, cut to the
        range (Afkanpour 2013, §4.2.2 and Alg. 4, which leave the variance open and take 1).

    Notes
    -----
    ``history_["effective_draws"]`` says how many draws of a batch count, (Σ w)²/Σ w² with w = |g_z|/s_z, as a
    mean over the batches since the last look, times the share of the gradient that draws from a continuum
    reach (``reach``). Draws in proportion to the gradient all count. Those around the best kernel count less
    the more parameters there are (Afkanpour 2013, §4.2.2 leaves that open), and a warning says where few do:
    then the gradient is not what θ follows.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, Algs 1
    and 2, Theorem 4.1.

    Afkanpour, György, Szepesvári & Bowling (2013), "A Randomized Mirror Descent Algorithm for Large Scale
    Multiple Kernel Learning", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Products
    >>> from manykernels.solvers import Stochastic
    >>> X = np.random.RandomState(0).randn(50, 5)
    >>> solver = Stochastic(batch=32)
    >>> model = MKLRegressor(Products(degree=2), norm=2.0, solver=solver, tol=0.1, random_state=0)
    >>> bool(model.fit(X, X[:, 0] * X[:, 1]).dual_gap_ <= 0.1)
    True
    """

    matrices: ClassVar[int] = DRAWS

    def __init__(
        self,
        sampling: str = "gradient",
        batch: int = 128,
        averaging: bool = True,
        step: str | float = "auto",
        potential: str = "auto",
        inner_tol: float | None = None,
        spread: float = 1.0,
    ) -> None:
        self.sampling = sampling
        self.batch = batch
        self.averaging = averaging
        self.step = step
        self.potential = potential
        self.inner_tol = inner_tol
        self.spread = spread

    @property
    def serves(self) -> Serves:  # type: ignore[override]
        """It starts from no weight at all and gives some to the kernels that it draws; or from equal ones."""
        if self.potential == "entropy":
            return Serves(
                penalties=frozenset({"norm 1"}),
                needs="norm=1 for potential='entropy'",
                because="since exponential weights are those of a simplex",
            )
        return Serves(
            kernels=frozenset({"list", "family"}),
            penalties=frozenset({"norm 1", "norm p", "ball"}),
            asks=("sample_uniform" if self.sampling == "uniform" else "sample",),
            needs="a finite norm from 1 on, or L2Ball(radius=...) around 0",
            because="since it starts from no weight at all",
        )

    def _over(self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run) -> Result:
        self._check(run.max_iter)
        iterate = iterate_for(oracle, penalty, self.potential)
        p = {"euclidean": 2.0, "entropy": 1.0}.get(self.potential, penalty.potential)
        steps = Steps(self.step, penalty, p, oracle.size, run.max_iter)
        machine = _InnerMachine(risk, self.inner_tol)
        looks = _Looks(oracle, risk, penalty, run)
        k = 0
        with blas_for(oracle.n):
            while k < run.max_iter:
                k += 1
                alpha = machine.solve(iterate)
                if self.averaging:
                    iterate.count(1.0 if self.step == "theorem" else (k - 1.0) ** 2)
                atoms, g, ratio = self.estimate(oracle, alpha, run.rng)
                iterate.step(atoms, g, steps.next(g, ratio))
                looks.drawn(ratio)
                last = not goes_on(k, run.max_iter)
                if last or k & (k - 1) == 0:
                    last |= looks.look(iterate, alpha, self.reach(oracle, alpha, ratio))
                if last:
                    break
        return looks.result(k)

    def estimate(
        self, oracle: Oracle, alpha: Array, rng: np.random.RandomState
    ) -> tuple[list[Atom], Array, Array]:
        """Estimate the gradient from a batch of draws (Afkanpour 2013, Eq. 4.14).

        Parameters
        ----------
        oracle : Oracle
            The family on the training samples.
        alpha : ndarray of shape (n_samples, n_outputs)
            Dual variables.
        rng : RandomState
            Source of random numbers.

        Returns
        -------
        atoms : list of Atom
            The distinct kernels of the batch.
        gradient : ndarray of shape (n_atoms,)
            The estimate ĝ at these kernels, 0 elsewhere.
        ratio : ndarray of shape (batch,)
            The importance weights |g_z|/s_z of every draw.

        Examples
        --------
        For the kernels I and 11ᵀ at α = (1, 1), q = (2, 4) and the gradient is −½q = (−1, −2). Draws in
        proportion to q all have the same importance, so that every estimate has the right sum:

        >>> import numpy as np
        >>> from manykernels.grams import StackGram
        >>> from manykernels.oracles import FiniteOracle
        >>> from manykernels.solvers import Stochastic
        >>> oracle = FiniteOracle(StackGram(np.stack([np.eye(2), np.ones((2, 2))])))
        >>> solver, alpha = Stochastic(batch=4), np.ones((2, 1))
        >>> atoms, gradient, ratio = solver.estimate(oracle, alpha, np.random.RandomState(0))
        >>> round(float(gradient.sum()), 6), ratio.round(6).tolist()
        (-3.0, [3.0, 3.0, 3.0, 3.0])
        """
        if self.sampling == "gradient":
            how = {} if self.spread == 1.0 else {"spread": float(self.spread)}
            draws = oracle.sample(alpha, int(self.batch), rng, **how)
        else:
            draws = oracle.sample_uniform(int(self.batch), rng)
        index: dict[Atom, int] = {}
        at = np.array([index.setdefault(atom, len(index)) for atom in draws.atoms])
        atoms = list(index)
        g = -0.5 * quads(oracle, alpha, atoms)
        ratio = g[at] / draws.probabilities
        return atoms, np.bincount(at, weights=ratio) / at.size, np.abs(ratio)

    def reach(self, oracle: Oracle, alpha: Array, ratio: Array) -> float:
        """Estimate the share of the gradient that draws around its largest entry see, at most 1.

        Their mean of |g_z|/s_z is an estimate of the whole, as is that of as many uniform draws. Where it is
        far smaller, the draws stay in a corner, and look alike only because of that.

        Parameters
        ----------
        oracle : Oracle
            The family on the training samples.
        alpha : ndarray of shape (n_samples, n_outputs)
            Dual variables.
        ratio : ndarray of shape (batch,)
            The importance weights of a batch.

        Returns
        -------
        float
            The share.

        Examples
        --------
        Draws close to the best width see less of the gradient:

        >>> import numpy as np
        >>> from manykernels.families import Gaussians
        >>> from manykernels.oracles import build_oracle
        >>> from manykernels.solvers import Stochastic
        >>> X = np.linspace(-3.0, 3.0, 20)[:, None]
        >>> oracle, alpha = build_oracle(Gaussians(0.1, 100.0), X, normalize=None), np.sin(X)
        >>> def share(solver):
        ...     ratio = solver.estimate(oracle, alpha, np.random.RandomState(0))[2]
        ...     return solver.reach(oracle, alpha, ratio)
        >>> share(Stochastic(batch=32, spread=0.01)) < 0.1 < share(Stochastic(batch=32)) <= 1.0
        True
        """
        if self.sampling != "gradient" or np.isfinite(oracle.size):
            return 1.0
        draws = oracle.sample_uniform(ratio.size, np.random.RandomState(0))
        whole = float(np.mean(0.5 * quads(oracle, alpha, draws.atoms) / draws.probabilities))
        return min(1.0, float(ratio.mean()) / whole) if whole > 0.0 else 1.0

    def _check(self, max_iter: int) -> None:
        if self.sampling not in ("gradient", "uniform"):
            raise ValueError(f"sampling={self.sampling!r} was given; expected 'gradient' or 'uniform'.")
        if self.potential not in ("auto", "euclidean", "entropy"):
            raise ValueError(
                f"potential={self.potential!r} was given; expected 'auto', 'euclidean' or 'entropy'."
            )
        if not is_number(self.spread) or not 0 < self.spread < np.inf:
            raise ValueError(
                f"spread={self.spread!r} was given; expected a number above 0, such as 1, the standard "
                "deviation of draws in units of the best parameter."
            )
        whole_number(self, "batch", 1)
        number = isinstance(self.step, Real) and not isinstance(self.step, bool) and 0 < self.step < np.inf
        if not number and self.step not in ("auto", "theorem"):
            raise ValueError(f"step={self.step!r} was given; expected 'auto', 'theorem' or a number above 0.")
        if max_iter < 1:
            raise ValueError(f"max_iter={max_iter} was given; expected at least 1.")


class _InnerMachine:
    """α(θ) along the iterates, from the last one, and only as exact as the noise of a step deserves."""

    def __init__(self, risk: Risk, tol: float | None) -> None:
        self.risk, self.tol, self.k = risk, tol, 0
        squares = risk.least_squares()
        self.path = None if squares is None or risk.Z is not None else RidgePath(squares, risk.fit_intercept)
        self.alpha = risk.zeros()
        self.value = risk.value(risk.zeros())

    def solve(self, iterate: Iterate) -> Array:
        self.k += 1
        if self.path is not None:
            self.alpha = self.path.solve(iterate.K, iterate.s, self.alpha, self.tol or _RIDGE_TOL)
            return self.alpha
        tol = self.tol or 0.01 / math.sqrt(self.k)
        fit = self.risk.solve(iterate.s * iterate.K, self.alpha, tol * self.value)
        self.alpha, self.value = fit.alpha, self.risk.machine_value(fit)
        return self.alpha


class _Looks:
    """The objective at the average of the iterates, now and then, and the bound of the whole family."""

    def __init__(self, oracle: Oracle, risk: Risk, penalty: Penalty, run: Run) -> None:
        self.oracle, self.risk, self.penalty = oracle, risk, penalty
        self.tol, self.history = run.tol, run.history
        p = float(penalty.p) if isinstance(penalty, LpBall) else 2.0
        self.r = np.inf if p == 1.0 else p / (p - 1.0)
        self.primal, self.dual = np.inf, -np.inf
        self.proof: Array | None = None  # the point whose value `dual` is
        self.best: tuple[list[Atom], Array, Fit] | None = None
        self._effective: list[float] = []  # since the last look

    def drawn(self, ratio: Array) -> None:
        """Record the importance weights of a batch."""
        squares = float(np.sum(ratio**2))
        self._effective.append(float(np.sum(ratio)) ** 2 / squares if squares > 0.0 else float(ratio.size))

    def look(self, iterate: Iterate, alpha: Array, reach: float) -> bool:
        """Tell whether the gap is small enough. θ is first stretched to the boundary, which lowers J."""
        theta, K = iterate.average() if iterate.counted > 0.0 else (iterate.weights(), iterate.s * iterate.K)
        before = theta.max()
        theta = self.penalty.stretch(theta)
        if before > 0.0:
            K *= theta.max() / before
        fit = self._solve(K, alpha)
        keep = np.flatnonzero(theta > _DUST * theta.max())
        atoms, theta = [iterate.atoms[i] for i in keep], theta[keep]
        largest = float(np.abs(K.diagonal()).max()) / max(float(theta.sum()), 1e-300)
        primal = self._primal(atoms, theta, fit, largest)
        total = self.oracle.total(fit.alpha, self.r)
        if total is not None:
            bound = self.risk.dual(fit.alpha, np.array([total]), self.penalty, largest)
            if bound > self.dual:
                self.dual, self.proof = bound, fit.alpha
        if self.best is None or primal <= self.primal:
            self.primal, self.best = primal, (atoms, theta, fit)
        gap = relative(self.primal, self.dual)
        self.history.add(self.primal, gap, len(self.best[0]))
        self.history.effective.append(reach * float(np.mean(self._effective)))
        self._effective = []
        return gap <= self.tol

    def _solve(self, K: Array, alpha: Array) -> Fit:
        """The machine at K, to a small part of the gap that is asked for."""
        accuracy = max(0.01 * self.tol, 1e-12)
        value = min(self.primal, self.risk.value(self.risk.zeros()))
        fit = self.risk.solve(K, alpha, accuracy * value)
        value = self.risk.machine_value(fit)
        return fit if fit.gap <= accuracy * value else self.risk.solve(K, fit.alpha, accuracy * value)

    def _primal(self, atoms: list[Atom], theta: Array, fit: Fit, largest: float) -> float:
        if not atoms:
            return self.risk.value(fit.f)
        q = quads(self.oracle, fit.alpha, atoms)
        return self.risk.primal(self.penalty, theta, q, fit.f, fit.alpha, largest)

    def result(self, k: int) -> Result:
        assert self.best is not None
        atoms, theta, fit = self.best
        return Result(
            atoms=atoms,
            weights=theta,
            alpha=fit.alpha,
            intercept=fit.intercept,
            primal=self.primal,
            dual=self.dual,
            certified=bool(np.isfinite(self.dual)),
            converged=relative(self.primal, self.dual) <= self.tol,
            n_iter=k,
            history=self.history,
            dual_alpha=self.proof,
        )

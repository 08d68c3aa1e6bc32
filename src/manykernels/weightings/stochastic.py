"""Two-stage learning over families that can be drawn from: mirror descent on the alignment.

Afkanpour (2013, §4.3 and §7.1) leaves it open, since the gradient has entries of both signs. It is a
difference of two gradients whose entries are not negative, and both are drawn from as in one-stage learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._arguments import is_integral, is_number, shown
from .._fast.nnls import nnls
from .._fast.stopping import goes_on
from .._fast.threads import blas_for
from ..grams.base import centred
from ..objectives import Alignment
from ..oracles import Oracle
from ..oracles.base import Atom
from ..oracles.descent import ScaledIterate
from ..penalties import LpBall
from ..penalties.steps import Steps
from .base import Array, Chosen, Weighted, Weighting, shares

_DUST = 1e-6  # of the largest weight: below it a kernel has none
_REFITTED = 500  # kernels at most, those of the largest weights, whose weights are computed at the end
_NOTHING = 1e-12  # of the largest centred norm: a kernel whose own is smaller does not vary


class StochasticAlignment(Weighting):
    """Mirror descent on kernels that are drawn, ``weighting="stochastic"``: for products, and for lists too.

    With T the centred target kernel, K = Σ_z θ_z K_z and β = ⟨K_c, T⟩/‖K_c‖², alignment has the gradient

        ∂ρ̂/∂θ_z = −g_z/(‖K_c‖‖T‖),      g_z = β⟨K_z, K_c⟩ − ⟨K_z, T⟩.

    Both K_c and T are positive semi-definite, so that neither of the two products is negative, and their sum
    is ⟨K_z, Q⟩ with Q = T + βK_c. Kernels are drawn with s_z = c_z⟨K_z, Q⟩/N, N the sum of both over the
    family, exactly (Afkanpour 2013, Alg. 3; c_z ≥ 1 is the number of orders of a product's factors, 1 in
    lists). The mean of ĝ = (g_z/s_z) e_z is g, and the importance weights are bounded:

        |g_z|/s_z = N |β⟨K_z, K_c⟩ − ⟨K_z, T⟩| / (c_z (β⟨K_z, K_c⟩ + ⟨K_z, T⟩)) ≤ N.

    θ moves on the ball ‖θ‖_p ≤ 1 by Ψ = ½‖θ‖_p², steps as in ``Stochastic(step="auto")``, and the mean of the
    iterates (the k-th counts k²) is the answer.

    Parameters
    ----------
    max_iter : int, default=200
        Number of batches of draws.
    batch : int, default=128
        Number of kernels that are drawn in each.
    norm : float, default=1.5
        The p of the potential, from 1.05 to 2. Near 1 few kernels have most of the weight, which suits
        families of many kernels.
    refit : bool, default=True
        Whether to give the kernels that were drawn (the 500 with the largest weights) the weights of
        ``"alignf"`` over them at the end, where their alignment is larger: most are then exactly zero. False
        keeps the mean of the iterates, which mirror descent itself has learned.
    random_state : int, RandomState or None, default=0
        Seed or source of the draws.

    Notes
    -----
    Draws in proportion to |g_z| would be the best: E(g_z/s_z)² is then (Σ|g|)². Here it is at most N Σ|g|,
    and N is larger than Σ|g| because the two parts cancel, most of all where a kernel has weight at the
    optimum, and because orders count. But where they cancel g_z/s_z is small too. On Sonar (60 features,
    degree 2, 1,891 products) the sum of the two masses is 1.9 to 2.1 times Σ|g| from the first step to the
    optimum, N 3.4 to 3.9 times, and E(g_z/s_z)² 1.3 to 1.5 times (Σ|g|)²; on breast cancer (30 features) 2.0
    to 3.5, 3.5 to 6.0 and 1.2 to 1.7 times.

    A batch costs a factorisation of Q and one product of n × n matrices for each degree, beside its draws.
    ``alignment_bound_`` holds for all combinations of the family where all of it can be looked at.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, Alg. 3.

    Afkanpour, György, Szepesvári & Bowling (2013), "A randomized mirror descent algorithm for large scale
    multiple kernel learning", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import AlignMKLRegressor
    >>> from manykernels.families import Products
    >>> from manykernels.weightings import StochasticAlignment
    >>> X = np.random.RandomState(0).randn(60, 5)
    >>> y = X[:, 0] * X[:, 1]
    >>> weighting = StochasticAlignment(max_iter=20, batch=32)
    >>> model = AlignMKLRegressor(Products(degree=2), weighting=weighting).fit(X, y)
    >>> model.kernel_names_[int(np.argmax(model.weights_))]
    'x0 · x1'
    """

    asks = "sample_against"
    pairs = 4  # M, the cosines, and what is factored of them

    def __init__(
        self,
        max_iter: int = 200,
        batch: int = 128,
        norm: float = 1.5,
        refit: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.max_iter = max_iter
        self.batch = batch
        self.norm = norm
        self.refit = refit
        self.random_state = random_state

    def _rng(self) -> np.random.RandomState:
        seed: Any = self.random_state
        if is_integral(seed) and not 0 <= seed < 2**32:
            raise ValueError(
                f"StochasticAlignment(random_state={shown(seed)}) was given; expected None, a whole number "
                "from 0 to 2**32 - 1, or a RandomState."
            )
        found: np.random.RandomState = check_random_state(seed)
        return found

    def weigh(self, alignment: Alignment) -> Weighted:
        """From a_k = ⟨K_kc, T⟩ and M_kl = ⟨K_kc, K_lc⟩ alone, which is all that a list needs."""
        self._check()
        rng, p = self._rng(), float(self.norm)
        a, M, penalty = np.maximum(alignment.a, 0.0), alignment.M, LpBall(p)
        steps = Steps("auto", penalty, p, a.size, int(self.max_iter))
        theta, total = np.zeros(a.size), np.zeros(a.size)
        for k in range(1, int(self.max_iter) + 1):
            q = np.maximum(M @ theta, 0.0)
            q *= float(theta @ a) / (float(theta @ q) or 1.0)
            if not (q + a).any():
                break
            s = (q + a) / float(np.sum(q + a))
            counts = rng.multinomial(int(self.batch), s)
            at = np.flatnonzero(counts)
            ratio, g = (q - a)[at] / s[at], np.zeros(a.size)
            g[at] = counts[at] * ratio / counts.sum()
            theta = penalty.mirror_step(theta, g, steps.next(g, np.repeat(np.abs(ratio), counts[at])))
            total += float(k * k) * theta
        return Weighted(shares(_refit(a, M, total) if self.refit else total))

    def choose(self, oracle: Oracle, Y: Array) -> Chosen:
        """Kernels of the family and weights (sum 1) for centred targets Y."""
        self._check()
        rng, p = self._rng(), float(self.norm)
        mean, T = np.full(oracle.n, 1.0 / oracle.n), Y @ Y.T
        iterate = ScaledIterate(oracle, p, 1.0)
        steps = Steps("auto", LpBall(p), p, oracle.size, int(self.max_iter))
        path: list[float] = []
        with blas_for(oracle.n):
            for k in range(1, int(self.max_iter) + 1):
                K = centred(iterate.s * iterate.K, mean)
                if k > 1:
                    path.append(aligned(K, T))
                    iterate.count((k - 1.0) ** 2)
                if k > 1 and not goes_on(k - 1, int(self.max_iter)):
                    break
                atoms, g, ratios = self.estimate(oracle, T, K, rng)
                iterate.step(atoms, g, steps.next(g, ratios))
            iterate.count(float(self.max_iter) ** 2)
            theta, K = iterate.average()
            return self._finish(oracle, Y, iterate.atoms, theta, path)

    def estimate(
        self, oracle: Oracle, T: Array, K: Array, rng: np.random.RandomState
    ) -> tuple[list[Atom], Array, Array]:
        """Estimate the gradient at a centred K from a batch of draws.

        Parameters
        ----------
        oracle : Oracle
            The family on the training samples.
        T : ndarray of shape (n_samples, n_samples)
            The centred target kernel.
        K : ndarray of shape (n_samples, n_samples)
            The centred combination.
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
        The combination holds x0, and the target x0 · x1 does not. A step against the gradient takes weight
        from x0:

        >>> import numpy as np
        >>> from manykernels.families import Products
        >>> from manykernels.oracles import build_oracle
        >>> from manykernels.weightings import StochasticAlignment
        >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> oracle = build_oracle(Products(degree=2, interactions_only=True), X, normalize=None)
        >>> y = X[:, :1] * X[:, 1:]
        >>> T, K = y @ y.T, y @ y.T + X[:, :1] @ X[:, :1].T
        >>> atoms, gradient, ratio = StochasticAlignment().estimate(oracle, T, K, np.random.RandomState(0))
        >>> sorted((oracle.name(atom), float(np.sign(g))) for atom, g in zip(atoms, gradient))
        [('x0', 1.0), ('x0 · x1', -1.0)]
        """
        size = float(np.vdot(K, K))
        scale = float(np.vdot(K, T)) / size if size > 0.0 else 0.0
        draws = oracle.sample_against(T + scale * K, int(self.batch), rng)
        index: dict[Atom, int] = {}
        at = np.array([index.setdefault(atom, len(index)) for atom in draws.atoms])
        atoms = list(index)
        g = oracle.against(scale * K - T, atoms)
        ratio = g[at] / draws.probabilities
        return atoms, np.bincount(at, weights=ratio) / at.size, np.abs(ratio)

    def _finish(
        self, oracle: Oracle, Y: Array, atoms: Sequence[Atom], theta: Array, path: list[float]
    ) -> Chosen:
        kept = np.flatnonzero(theta > _DUST * theta.max(initial=0.0))
        chosen = Chosen([atoms[int(i)] for i in kept], theta[kept], path, certified=False)
        if self.refit and chosen.atoms:
            chosen = _refitted(oracle, Y, chosen)
        chosen.theta = shares(chosen.theta)
        return chosen

    def _check(self) -> None:
        for name in ("max_iter", "batch"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(
                    f"StochasticAlignment({name}={value!r}) was given; expected a whole number, at least 1."
                )
        if not is_number(self.norm) or not 1.05 <= self.norm <= 2.0:
            raise ValueError(
                f"StochasticAlignment(norm={self.norm!r}) was given; expected a number from 1.05 to 2, such "
                "as 1.5."
            )


def aligned(K: Array, T: Array) -> float:
    """The alignment of two centred matrices."""
    size = float(np.linalg.norm(K) * np.linalg.norm(T))
    return float(np.vdot(K, T)) / size if size > 0.0 else 0.0


def _refitted(oracle: Oracle, Y: Array, chosen: Chosen) -> Chosen:
    """alignf over the kernels of the largest weights, or what was there, if that is better aligned."""
    largest = np.sort(np.argsort(-chosen.theta, kind="stable")[:_REFITTED])
    atoms = [chosen.atoms[i] for i in largest]
    alignment = Alignment(oracle.gram(atoms), Y)
    theta = _refit(alignment.a, alignment.M, chosen.theta[largest])
    before = Alignment(oracle.gram(chosen.atoms), Y).value(chosen.theta)
    if not theta.any() or alignment.value(theta) < before:
        return chosen
    used = np.flatnonzero(theta)
    return Chosen([atoms[i] for i in used], theta[used], chosen.path, certified=False)


def _refit(a: Array, M: Array, theta: Array) -> Array:
    """The weights of the largest alignment over the kernels that have weight, the others at zero."""
    sizes = np.sqrt(M.diagonal())
    used = np.flatnonzero((theta > _DUST * theta.max(initial=0.0)) & (a > 0.0))
    used = used[sizes[used] > _NOTHING * sizes.max(initial=0.0)]
    found = np.zeros_like(theta)
    norms = sizes[used]
    G, c = M[np.ix_(used, used)] / np.outer(norms, norms), a[used] / norms
    found[used] = nnls(G, c / c.max(initial=1e-300)) / norms
    return found

"""Two-stage learning over families of any size: one kernel after the other (GCD-2s, Afkanpour 2013, §5.3).

With T the centred target kernel and K the centred combination so far, the alignment of K + ηK' grows fastest
for the kernel with the largest ⟨K', F'(K)⟩_F, F'(K) = (T − K⟨K, T⟩/‖K‖²)/(‖K‖‖T‖) (Prop. 5.2).
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

import numpy as np

from .._arguments import is_number
from .._fast.stopping import goes_on
from .._fast.threads import blas_for
from ..grams.base import centred
from ..objectives import Alignment
from ..oracles import FiniteOracle, Oracle
from ..oracles.base import Atom
from .base import Array, Chosen, Weighted, Weighting, shares
from .bound import PROVEN, feature_of, residual

Validate = Callable[[list[Atom], Array], float]  # the alignment of a combination on data held out
_METHODS = ("stagewise", "distance", "distance-printed")
_PATIENCE = 3  # kernels in a row that may not help on data held out
_INNER = 200  # steps among the kernels that are there, for each new one
_START = 1e-6  # ε of Alg. 7: K⁽⁰⁾ = εI


class GreedyAlignment(Weighting):
    """Raise the alignment by one kernel after the other, ``weighting="greedy"``.

    It serves families too large to list, and lists too.

    Parameters
    ----------
    method : {"stagewise", "distance", "distance-printed"}, default="stagewise"
        The step. "stagewise" is Afkanpour (2013), Alg. 7: it adds ηK' with the η in [0, max_step] of the
        largest alignment, in closed form, and never changes a weight again. "distance" minimises
        ‖βΣθ_iK_i − T‖² over θ ≥ 0, Σθ ≤ 1 by Frank–Wolfe steps with exact line search and away steps, whose
        limit is that of alignf. "distance-printed" is Alg. 8 as printed, whose step is not the one it
        optimises; it is there for reproduction.
    max_kernels : int, default=50
        Largest number of steps (Afkanpour 2013 takes 50).
    tol : float, default=0.001
        The search stops when a step raises the alignment by less than this. Below 0, steps that lower it are
        taken too.
    max_step : float, default=1.0
        The η_max of Alg. 7, which regularises: a smaller one spreads the weight over more kernels.
    shrinkage : float or None, default=None
        The λ of Afkanpour (2013), Eq. 6.2, which pulls the widths of several features to their mean. Here F'
        is scaled to norm one, so that λ means the same at every step. None chooses it by cross-validated
        alignment for ``ARDGaussians``, and is 0 for other families.
    validation : float or None, default=None
        The share of the samples held out to stop early, at the kernel where their alignment is largest; None
        stops by `tol` alone.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §5.3,
    Algs 7 and 8.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import AlignMKLRegressor
    >>> from manykernels.families import Products
    >>> from manykernels.weightings import GreedyAlignment
    >>> X = np.random.RandomState(0).randn(60, 5)
    >>> weighting = GreedyAlignment(max_kernels=5)
    >>> model = AlignMKLRegressor(Products(degree=2), weighting=weighting).fit(X, X[:, 0] * X[:, 1])
    >>> model.kernel_names_[int(np.argmax(model.weights_))]
    'x0 · x1'
    """

    asks = "best_against"

    def __init__(
        self,
        method: str = "stagewise",
        max_kernels: int = 50,
        tol: float = 1e-3,
        max_step: float = 1.0,
        shrinkage: float | None = None,
        validation: float | None = None,
    ) -> None:
        self.method = method
        self.max_kernels = max_kernels
        self.tol = tol
        self.max_step = max_step
        self.shrinkage = shrinkage
        self.validation = validation

    def weigh(self, alignment: Alignment) -> Weighted:
        chosen = self.choose(FiniteOracle(alignment.gram), alignment.Y, weight=alignment.gram.weight)
        theta = np.zeros(alignment.gram.n_kernels)
        np.add.at(theta, np.array(chosen.atoms, dtype=np.intp), chosen.theta)
        return Weighted(shares(theta))

    def choose(
        self,
        oracle: Oracle,
        Y: Array,
        validate: Validate | None = None,
        shrinkage: float = 0.0,
        weight: Array | None = None,
    ) -> Chosen:
        """Choose kernels of the family, one after the other, and their weights.

        Parameters
        ----------
        validate : callable or None, default=None
            A function of atoms and weights that is larger for better ones. The best step by it is returned,
            and the search ends where it stops to grow.
        shrinkage : float, default=0.0
            Strength λ of the pull of widths towards their mean, for families with several parameters.
        weight : ndarray of shape (n_samples,) or None, default=None
            The number of times that each sample counts, for lists of kernels; None stands for once.
        """
        self._check()
        start = _Stagewise if self.method == "stagewise" else _Distance
        with blas_for(oracle.n):
            return self._choose(start(oracle, Y, self, shrinkage, weight), validate)

    def _choose(self, state: _State, validate: Validate | None) -> Chosen:
        best, best_value, idle = Chosen(), -np.inf, 0
        for found in range(int(self.max_kernels)):
            if (found and not goes_on(found, int(self.max_kernels))) or not state.step():
                break
            path = state.chosen.path
            if validate is not None:
                value = validate(state.chosen.atoms, shares(state.chosen.theta))
                idle = 0 if value > best_value else idle + 1
                if value > best_value:
                    best, best_value = state.copy(), value
                if idle >= _PATIENCE:
                    break
            if len(path) > 1 and path[-1] <= path[-2] + self.tol:
                break
        chosen = best if validate is not None and best.atoms else state.copy()
        chosen.theta = shares(chosen.theta)
        return chosen

    def _check(self) -> None:
        if self.method not in _METHODS:
            raise ValueError(
                f"GreedyAlignment(method={self.method!r}) was given; expected one of "
                f"{', '.join(map(repr, _METHODS))}."
            )
        count = self.max_kernels
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise ValueError(
                f"GreedyAlignment(max_kernels={count!r}) was given; expected a whole number, at least 1."
            )
        if not is_number(self.max_step) or not self.max_step > 0:
            raise ValueError(
                f"GreedyAlignment(max_step={self.max_step!r}) was given; expected a positive number."
            )
        if not is_number(self.tol) or not np.isfinite(float(self.tol)):
            raise ValueError(f"GreedyAlignment(tol={self.tol!r}) was given; expected a number.")
        if self.shrinkage is not None and not (is_number(self.shrinkage) and 0 <= self.shrinkage < np.inf):
            raise ValueError(
                f"GreedyAlignment(shrinkage={self.shrinkage!r}) was given; expected a number, at least 0."
            )
        share = self.validation
        if share is not None and not (is_number(share) and 0.0 < share < 1.0):
            raise ValueError(
                f"GreedyAlignment(validation={self.validation!r}) was given; expected a share of the samples "
                "between 0 and 1, or None."
            )


class _State:
    """A combination that grows.

    Samples that count w_i times have w_i w_j in every sum over pairs. So matrices are held as √W K √W, with K
    centred by weighted means, and the oracle is asked for the best kernel against √W S √W.
    """

    def __init__(
        self,
        oracle: Oracle,
        Y: Array,
        options: GreedyAlignment,
        shrinkage: float,
        weight: Array | None = None,
    ) -> None:
        self.oracle, self.options, self.shrinkage = oracle, options, shrinkage
        self.Y = Y
        self.root = None if weight is None else np.sqrt(weight)
        self.T = self.counted(Y @ Y.T)
        self.tau = float(np.linalg.norm(self.T))
        self.mean = np.full(oracle.n, 1.0 / oracle.n) if weight is None else weight / weight.sum()
        self.chosen = Chosen()
        self.features: list[Array] = []  # of the kernels chosen, centred, where they are of rank one
        self.begin()

    def begin(self) -> None:
        """Set the method to its start."""
        raise NotImplementedError

    def counted(self, A: Array) -> Array:
        """√W A √W."""
        return A if self.root is None else np.asarray(self.root[:, None] * A * self.root)

    def step(self) -> bool:
        """Add a kernel, or change weights; False where nothing is left to gain."""
        raise NotImplementedError

    def find(self, S: Array, theta: Array, identity: float = 0.0) -> tuple[Atom, float, Array]:
        """The best kernel against S, ⟨K, S⟩, and its centred matrix.

        S is T − Σ_i θ_i K_i − ι (I − 11ᵀ/n) over the kernels chosen, `identity` being ι.
        """
        S = self.counted(S)
        asked = residual(self.oracle, self.Y, self.features, theta, S, identity)
        found = self.oracle.best_against(asked, 1, self.shrinkage)
        level = float(found.values[0])
        self.chosen.certified &= bool(found.upper <= level + PROVEN * abs(level))
        gram = self.oracle.gram(found.atoms[:1])
        K = self.counted(centred(gram.combine(np.ones(1)), self.mean))
        if self.oracle.rank_one and found.atoms[0] not in self.chosen.atoms:
            self.candidate = feature_of(gram)
        return found.atoms[0], float(np.linalg.norm(S)) * level, K

    def copy(self) -> Chosen:
        c = self.chosen
        return Chosen(list(c.atoms), c.theta.copy(), list(c.path), c.certified)

    def add(self, atom: Atom, weight: float) -> None:
        """A kernel that is there already gets more weight."""
        c = self.chosen
        if atom in c.atoms:
            c.theta[c.atoms.index(atom)] += weight
        else:
            c.atoms.append(atom)
            c.theta = np.append(c.theta, weight)
            if self.oracle.rank_one:
                self.features.append(self.candidate)


class _Stagewise(_State):
    """Alg. 7, with a = ⟨K, T⟩ and c = ⟨K, K⟩ carried along.

    It starts from εI, which is there to avoid a division by zero and is not in the learned kernel. But the
    best η of the first step can be of the size of ε, since a part of the identity may raise the alignment; so
    εI is left behind when the first kernel is found, and that one gets weight 1.
    """

    def begin(self) -> None:
        self.K = self.counted(centred(_START * np.eye(self.oracle.n), self.mean))

    def step(self) -> bool:
        K, T = self.K, self.T
        a, c = float(np.vdot(K, T)), float(np.vdot(K, K))
        first = not self.chosen.atoms  # K is ε times the identity, centred
        theta, identity = (np.empty(0), _START * a / c) if first else ((a / c) * self.chosen.theta, 0.0)
        atom, _, new = self.find(T - (a / c) * K, theta, identity)
        b, d, e = float(np.vdot(new, T)), float(np.vdot(K, new)), float(np.vdot(new, new))
        if not self.chosen.atoms:
            a, c, d, K = 0.0, 0.0, 0.0, np.zeros_like(K)
        eta = 1.0 if c == 0.0 and b > 0.0 else best_step(a, b, c, d, e, float(self.options.max_step))
        if eta <= 0.0:
            return False
        self.K = K + eta * new
        self.add(atom, eta)
        value = (a + eta * b) / np.sqrt(max(c + 2.0 * eta * d + eta * eta * e, 1e-300)) / self.tau
        self.chosen.path.append(float(value))
        return True


def best_step(a: float, b: float, c: float, d: float, e: float, largest: float) -> float:
    """The η in [0, largest] of the largest (a + bη)/√(c + 2dη + eη²) (Afkanpour 2013, Prop. 5.4).

    Its derivative has the one root (ad − bc)/(bd − ae), which counts only where it is in the interval.
    """
    candidates = [0.0, largest]
    if b * d - a * e != 0.0:
        root = (a * d - b * c) / (b * d - a * e)
        if 0.0 < root < largest:
            candidates.append(root)
    values: list[float] = [
        (a + b * eta) / np.sqrt(max(c + 2.0 * d * eta + e * eta * eta, 1e-300)) for eta in candidates
    ]
    return candidates[int(np.argmax(values))]


class _Distance(_State):
    """min ½‖βΣθ_iK_i − T‖² over θ ≥ 0, Σθ ≤ 1 (Afkanpour 2013, Eq. 5.9), by G_ij = ⟨K_i, K_j⟩ and c_i = ⟨K_i,
    T⟩.

    ∂/∂θ_i = −β r_i, r_i = ⟨K_i, T − βΣθK⟩. A step goes towards the kernel of the largest r (or to 0), or
    away from the one of the smallest, whichever promises more, by an exact line search. β doubles when the
    simplex binds, so that in the limit only θ ≥ 0 does.
    """

    def begin(self) -> None:
        self.matrices: list[Array] = []
        self.G, self.c, self.beta = np.empty((0, 0)), np.empty(0), 0.0

    def step(self) -> bool:
        combination = self._combination()
        atom, value, new = self.find(self.T - combination, self.beta * self.chosen.theta)
        if value <= 0.0 and not self.matrices:
            return False
        if self.options.method == "distance-printed":
            moved = self._printed(atom, value, new)
        else:
            moved = self._corrected(atom, new)
        if moved:
            norm = np.sqrt(max(float(self.chosen.theta @ self.G @ self.chosen.theta), 0.0))
            value = float(self.chosen.theta @ self.c) / (norm * self.tau + 1e-300)
            self.chosen.path.append(value)
        return moved

    def _combination(self) -> Array:
        out = np.zeros_like(self.T)
        for weight, K in zip(self.chosen.theta, self.matrices, strict=True):
            out += (self.beta * weight) * K
        return out

    def _include(self, atom: Atom, K: Array) -> int:
        if atom in self.chosen.atoms:
            return self.chosen.atoms.index(atom)
        row = np.array([float(np.vdot(K, other)) for other in self.matrices])
        corner = np.array([[float(np.vdot(K, K))]])
        self.G = np.block([[self.G, row[:, None]], [row[None], corner]])
        self.c = np.append(self.c, float(np.vdot(K, self.T)))
        self.matrices.append(K)
        self.add(atom, 0.0)
        if self.beta == 0.0:  # the first kernel alone would take half of the simplex
            self.beta = 2.0 * float(self.c[0] / self.G[0, 0])
        return len(self.matrices) - 1

    def _printed(self, atom: Atom, value: float, K: Array) -> bool:
        """Alg. 8, line by line: η optimises θ + ηe_I, and the update is (1 − η)θ + ηe_I."""
        if value <= 0.0:
            return False
        i = self._include(atom, K)
        eta = min(1.0, value / (self.beta * self.G[i, i]))
        self.chosen.theta *= 1.0 - eta
        self.chosen.theta[i] += eta
        return True

    def _corrected(self, atom: Atom, K: Array) -> bool:
        """A step that may use the new kernel, then steps among those that are there, which cost nothing."""
        self._include(atom, K)
        moved = self._frank_wolfe()
        for _ in range(_INNER):
            if not moved or not self._frank_wolfe():
                break
        return moved

    def _frank_wolfe(self) -> bool:
        theta, beta = self.chosen.theta, self.beta
        r = self.c - beta * (self.G @ theta)
        level, i = float(theta @ r), int(r.argmax())
        direction, promise, longest = -theta, max(float(r[i]), 0.0) - level, 1.0
        if r[i] > 0.0:
            direction = direction + np.eye(theta.size)[i]
        used = np.flatnonzero(theta)
        worst = int(used[int(r[used].argmin())]) if used.size else i
        if level - float(r[worst]) > promise and 0.0 < theta[worst] < 1.0:
            direction, promise = theta - np.eye(theta.size)[worst], level - float(r[worst])
            longest = float(theta[worst] / (1.0 - theta[worst]))
        curvature = beta * float(direction @ self.G @ direction)
        if not promise > 1e-12 * self.tau or not curvature > 0.0:
            return False
        theta = np.maximum(theta + min(promise / curvature, longest) * direction, 0.0)
        theta[theta < 1e-15] = 0.0
        if theta.sum() > 0.9:  # the simplex must not bind
            theta, self.beta = 0.5 * theta, 2.0 * beta
        self.chosen.theta = theta
        return True

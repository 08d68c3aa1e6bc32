"""Gates of localized learning: the share of each sample in each cluster.

c_j(x) ≥ 0 with Σ_j c_j(x) = 1, fixed before the kernels are weighed, because the problem is convex only then
(Lei et al. 2016); or gates of every kernel, linear in x, that `solvers/gate_descent.py` learns with the
machine (Gönen and Alpaydın 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arguments import as_numbers, require_arguments
from ..clusters import STARTS, centre_weights, kernel_kmeans, shares_of, soften
from ..grams import Gram
from ..kernels import Kernel
from ..kernels.data import Data, is_stack, n_samples, numeric
from ..solvers.gate_descent import GateInputs, gates_of
from .rows import Rows

Array = NDArray[np.float64]
GATINGS = ("kernel-kmeans", "kmeans", "hard")
LEARNED = ("softmax", "sigmoid")
_CONSTANT = 1e-7  # of its mean size, up to which the spread of a column is rounding


Means = Callable[[Any, Array, int, int, np.random.RandomState], tuple[Array, float]]


@dataclass(frozen=True)
class Gating:
    """The options of how samples are shared out among clusters.

    `means(X, weight, n_clusters, n_starts, rng)` gives the centres of k-means, and the sum of squares.
    """

    gating: Any
    n_clusters: int
    temperature: float
    means: Means

    @property
    def learned(self) -> bool:
        """True if gates are learned with the machine."""
        return isinstance(self.gating, str) and self.gating in LEARNED

    @property
    def alone(self) -> bool:
        """True if there is but one cluster, so that nothing is local."""
        if self.learned:
            return False
        named = isinstance(self.gating, str)
        return self.n_clusters == 1 if named else np.shape(self.gating)[1:] == (1,)


class Gate:
    """Shares of the training samples (n, l), and of new ones by calling it."""

    shared = True  # whether those of a sample add up to 1

    def __init__(self, training: Array) -> None:
        self.training = training

    def __call__(self, X: Data) -> Array:
        raise NotImplementedError


class CentreGate(Gate):
    """softmax_j(−d_j(x)/t), or the nearest centre (t = 0); d_j is a squared distance up to a common term."""

    def __init__(self, distances: Callable[[Data], Array], t: float, training: Array) -> None:
        super().__init__(training)
        self.distances, self.t = distances, t

    def __call__(self, X: Data) -> Array:
        return shares_of(self.distances(X), self.t)


class KernelDistances:
    """‖φ(x) − μ_j‖² − k(x, x) for centres μ_j = Σ_i R_ij φ(x_i): −2 Σ_i R_ij k(x, x_i) + μ_j · μ_j."""

    def __init__(self, kernel: Kernel, X: Data, R: Array, squares: Array) -> None:
        self.kernel, self.X, self.R, self.squares = kernel, X, R, squares

    def __call__(self, X: Data) -> Array:
        return np.asarray(self.squares - 2.0 * self.kernel(X, self.X) @ self.R)


class PointDistances:
    """‖x − μ_j‖² for centres in the space of the features."""

    def __init__(self, centres: Array) -> None:
        self.centres = centres

    def __call__(self, X: Data) -> Array:
        A = np.asarray(_complete(X, "kmeans") @ self.centres.T)
        return np.asarray(np.sum(self.centres**2, axis=1) - 2.0 * A)


class GivenGate(Gate):
    """Shares that the user gave for the training samples alone."""

    def __init__(self, given: Array, training: Array) -> None:
        super().__init__(training)
        self.given = given

    def __call__(self, X: Data) -> Array:
        raise ValueError(
            "gating was given as an array, which says nothing about new samples: give their gates too, "
            "predict(X, gates=...), or give gating as a function of X."
        )


class KnownGate(Gate):
    """Shares that the user gives for the samples of one call, for a model of l clusters."""

    def __init__(self, shares: Any, training: Array, shared: bool = True) -> None:
        super().__init__(training)
        self.shares, self.shared = shares, shared

    def __call__(self, X: Data) -> Array:
        return check_gates(self.shares, n_samples(X), self.training.shape[1], self.shared)


class TrainedGate(Gate):
    """Shares of any samples, where those of the training samples as they were given are known."""

    def __init__(self, gate: Gate, X: Data, shares: Array) -> None:
        super().__init__(gate.training)
        self.gate, self.X, self.shares, self.shared = gate, X, shares, gate.shared

    def __call__(self, X: Data) -> Array:
        return self.shares if X is self.X else self.gate(X)


class LinearGate(Gate):
    """softmax or sigmoid of ⟨v_m, x⟩ + v_m0, in features that are standardised as in training."""

    def __init__(self, kind: str, V: Array, shift: Array, spread: Array, training: Array) -> None:
        super().__init__(training)
        self.kind, self.V, self.shift, self.spread = kind, V, shift, spread
        self.shared = kind == "softmax"

    def __call__(self, X: Data) -> Array:
        inputs = GateInputs(_complete(X, self.kind), self.shift, self.spread)
        return gates_of(self.kind, inputs.scores(self.V))


def gate_inputs(kind: str, X: Data, weight: Array) -> GateInputs:
    """Return the inputs of learned gates: the columns of X, with mean 0 and variance 1."""
    if is_stack(X):
        raise ValueError(
            f"gating={kind!r} is linear in the features of a sample, and X is a stack of kernels, which has "
            "none; expected an array or a frame of numbers. Take gating='kernel-kmeans'."
        )
    A, w = _complete(X, kind), weight / weight.sum()
    shift, size = w @ A, w @ abs(A)
    variance = w @ A.multiply(A) - shift**2 if sparse.issparse(A) else w @ (A - shift) ** 2
    spread = np.sqrt(np.maximum(variance, 0.0))
    return GateInputs(A, shift, np.where(spread > _CONSTANT * size, spread, 1.0))


class FunctionGate(Gate):
    """Shares by a function of the user's."""

    def __init__(self, function: Callable[[Data], Any], training: Array) -> None:
        super().__init__(training)
        self.function = function

    def __call__(self, X: Data) -> Array:
        return check_gates(self.function(X), n_samples(X), self.training.shape[1])


def fit_gate(
    asked: Gating, X: Data, rows: Rows, gram: Gram, kernel: Kernel, rng: np.random.RandomState
) -> Gate:
    """The gate for merged samples X (a stack as given), which count as often as they were given.

    `kernel` is the uniform combination, `gram` the kernels on the merged samples.
    """
    gating, n_clusters, temperature = asked.gating, asked.n_clusters, asked.temperature
    if callable(gating):
        require_arguments(gating, 1, "gating(X)")
        shares = check_gates(gating(X), n_samples(X), None)
        return FunctionGate(gating, _filled(shares[rows.first] if is_stack(X) else shares))
    if not isinstance(gating, str):
        return _given(check_gates(gating, rows.owner.size, None), rows)
    if gating not in GATINGS:
        raise ValueError(
            f"gating={gating!r} was given; expected one of {', '.join(map(repr, GATINGS + LEARNED))}, an "
            "array of shares (n_samples, n_clusters), or a function of X that returns one."
        )
    if n_clusters > gram.n:
        raise ValueError(
            f"n_clusters={n_clusters} was given for {gram.n} different samples; expected at most as many "
            "clusters as samples."
        )
    if gating == "kmeans":
        return _in_features(asked, X, rows.weight, rng)
    return _in_feature_space(0.0 if gating == "hard" else temperature, n_clusters, X, rows, gram, kernel, rng)


def _given(shares: Array, rows: Rows) -> Gate:
    training = _filled(shares[rows.first])
    kept = np.flatnonzero(rows.owner >= 0)
    apart = np.abs(shares[kept] - training[rows.owner[kept]]).max(axis=1) > 1e-9
    if apart.any():
        i = int(kept[apart.argmax()])
        raise ValueError(
            f"samples {rows.first[rows.owner[i]]} and {i} are equal, targets too, and their gates differ: "
            f"{training[rows.owner[i]].tolist()} and {shares[i].tolist()}. Give equal samples equal gates, "
            "or add what tells them apart to X."
        )
    return GivenGate(shares, training)


def _in_features(asked: Gating, X: Data, weight: Array, rng: np.random.RandomState) -> Gate:
    """k-means on X."""
    if is_stack(X):
        raise ValueError("gating='kmeans' needs features, and X is a stack; take 'kernel-kmeans'.")
    centres, inertia = asked.means(_complete(X, "kmeans"), weight, asked.n_clusters, STARTS, rng)
    t = asked.temperature * inertia / float(weight.sum())
    distances = PointDistances(centres)
    return CentreGate(distances, t, shares_of(distances(X), t))


def _complete(X: Data, gating: str) -> Any:
    """The features that gates are made of, none of which may be missing."""
    try:
        A = numeric(X)
    except ValueError as error:
        raise ValueError(
            f"gating={gating!r} needs samples whose columns are numbers, and X is a {type(X).__name__} of "
            "which some are not. TablePreparer() makes numbers of a table; gating='kernel-kmeans' asks the "
            "kernels alone, whatever samples are."
        ) from error
    if not sparse.issparse(A) and np.isnan(A).any():
        raise ValueError(
            f"gating={gating!r} takes the columns of X as they are, and values are missing (NaN). Take "
            "gating='kernel-kmeans', which sees prepared columns, or impute them."
        )
    return A


def _in_feature_space(
    temperature: float,
    n_clusters: int,
    X: Data,
    rows: Rows,
    gram: Gram,
    kernel: Kernel,
    rng: np.random.RandomState,
) -> Gate:
    """Kernel k-means on the uniform combination, hard at temperature 0."""
    K, weight = gram.combine(np.full(gram.n_kernels, 1.0 / gram.n_kernels)), rows.weight
    labels, inertia = kernel_kmeans(K, n_clusters, rng, weight)
    R = np.eye(n_clusters)[labels]
    t = temperature * inertia / float(weight.sum())
    if t > 0.0:
        R = soften(K, R, t, weight)
    R = centre_weights(R, weight)
    squares = np.einsum("ij,ik,kj->j", R, K, R, optimize=True)
    training = shares_of(squares - 2.0 * K @ R, t)
    empty = n_clusters - int(np.count_nonzero(training.any(axis=0)))
    if empty:
        raise ValueError(
            f"{empty} of n_clusters={n_clusters} clusters are empty: there are not as many different samples "
            "in the feature space. Take fewer clusters."
        )
    if is_stack(X):  # new stacks hold products with all samples that were given
        full = np.zeros((rows.owner.size, n_clusters))
        full[rows.first] = R
        X, R = np.arange(rows.owner.size), full
    return CentreGate(KernelDistances(kernel, X, R, squares), t, training)


def check_gates(gates: Any, n: int, n_clusters: int | None, shared: bool = True) -> Array:
    """Shares (n, l): not negative, a sum of one in every row (where they are `shared`)."""
    c = as_numbers(gates, "gating", "shares of shape (n_samples, n_clusters)")
    if c.dtype.kind == "c":
        raise ValueError("gating holds complex numbers; expected shares from 0 to 1.")
    c = c.astype(float)
    if c.ndim != 2 or len(c) != n or (n_clusters is not None and c.shape[1] != n_clusters):
        expected = f"({n}, {n_clusters or 'n_clusters'})"
        raise ValueError(f"gates of shape {c.shape} were given; expected {expected}, a row per sample.")
    if not np.isfinite(c).all() or c.min() < 0.0:
        i, j = (int(axis[0]) for axis in np.nonzero(~(c >= 0.0) | ~np.isfinite(c)))
        raise ValueError(f"gates hold {c[i, j]} for sample {i} and cluster {j}; expected shares from 0 to 1.")
    worst = int(np.abs(c.sum(axis=1) - 1.0).argmax())
    if shared and abs(c[worst].sum() - 1.0) > 1e-6:
        raise ValueError(
            f"the gates of sample {worst} sum to {c[worst].sum():.6g}; expected 1: divide rows by their sums."
        )
    return c


def _filled(c: Array) -> Array:
    """Shares of the training samples, with some in every cluster."""
    if not c.any(axis=0).all():
        empty = int(np.argmin(c.any(axis=0)))
        raise ValueError(f"cluster {empty} is empty: no sample has a share in it. Leave its column out.")
    return c

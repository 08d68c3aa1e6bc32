"""Convex localized multiple kernel learning: weights of kernels that differ by region (003)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ..families import Family
from ..grams.gated import GatedGram
from ..grams.memory import DESCENT, SOLVER
from ..kernels import Mixture, evaluate
from ..kernels.gated import GatedMixture
from ..losses import Loss
from ..penalties import BallProduct, LpBall, resolve_penalty
from ..solvers import Result
from ._base import BaseMKL
from ._constants import constants_count, with_constants
from ._data import read_new, require_finite, take
from ._fit import Problem
from ._gates import Gate, GivenGate, KnownGate, TrainedGate, fit_gate
from ._rows import Rows
from .mkl import MKLClassifier, MKLRegressor, _is_logistic

Array = NDArray[np.float64]


class Localized(BaseMKL):
    """What both estimators share: gates, and one problem over the kernels behind every gate."""

    n_clusters: int
    gating: Any
    temperature: float
    _gate: Gate

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Cluster the samples, then learn the weights of the kernels in every cluster and the machine.

        Parameters
        ----------
        X : array, CSR matrix, frame, list of strings, or stack (n_samples, n_train, n_kernels)
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        """
        self._check_gating()
        alone = self.n_clusters == 1 if isinstance(self.gating, str) else np.shape(self.gating)[1:] == (1,)
        with constants_count(not alone):
            super().fit(X, y)
        return self

    def _check_gating(self) -> None:
        given = self.n_clusters
        if not isinstance(given, Integral) or isinstance(given, bool) or given < 1:
            raise ValueError(f"n_clusters={given!r} was given; expected a whole number, at least 1.")
        t = self.temperature
        if not isinstance(t, Real) or isinstance(t, bool) or not 0.0 < t < np.inf:
            raise ValueError(
                f"temperature={t!r} was given; expected a positive number, the width of the borders between "
                "clusters in units of the mean squared distance of samples from their centre."
            )
        if isinstance(self.kernels, Family) and not self.kernels.listed:
            raise ValueError(
                f"kernels={self.kernels!r} stands for more kernels than can be listed, and every cluster "
                "weighs all of them. Give a list such as gaussian_grid(low, high, n)."
            )
        if not isinstance(resolve_penalty(self.norm), LpBall):
            raise ValueError(
                f"norm={self.norm!r} was given; expected a number p ≥ 1, the same in all clusters."
            )

    # -- fitting --------------------------------------------------------------------------------
    def _work(self, loss: Loss, outputs: int) -> int:
        return super()._work(loss, outputs) + DESCENT - SOLVER

    def _previous(self) -> tuple[Array, Array] | None:
        before = super()._previous()
        return None if before is None else (before[0].reshape(1, -1), before[1])

    def _solve(self, problem: Problem, rows: Rows, previous: tuple[Array, Array] | None) -> list[Result]:
        found = problem.dictionary
        M = found.gram.n_kernels
        self._gate = fit_gate(
            self.gating,
            int(self.n_clusters),
            float(self.temperature),
            found.X,
            rows,
            found.gram,
            Mixture(found.kernels, np.full(M, 1.0 / M)),
            check_random_state(self.random_state),
        )
        gates = self._gate.training
        if gates.shape[1] == 1:
            return super()._solve(problem, rows, previous)
        problem = with_constants(self, problem)
        found.gram.names = found.names  # a stack without some of its samples has lost them
        gram, norm = GatedGram(found.gram, gates), resolve_penalty(self.norm)
        assert isinstance(norm, LpBall) and gram.names is not None
        problem = replace(
            problem,
            dictionary=replace(found, gram=gram, names=gram.names),
            useless=np.tile(problem.useless, gates.shape[1]),
            penalty=BallProduct(float(norm.p), gates.shape[1]),
        )
        return super()._solve(problem, rows, previous)

    def _mixture(self, weights: Array) -> Any:
        return GatedMixture(self.kernels_, weights.reshape(-1, len(self.kernels_)), self._gate)

    def _store(self, X: Any, rows: Rows, theta: Array, results: Sequence[Result]) -> None:
        super()._store(X, rows, theta, results)
        self.kernel_.gate = TrainedGate(self._gate, self.X_fit_, self.gates_)
        self.weights_ = theta.reshape(-1, len(self.kernels_))
        self.active_ = np.flatnonzero(self.weights_.any(axis=0))

    def _remember(self, X: Any, rows: Rows, alpha: Array) -> None:
        super()._remember(X, rows, alpha)
        gates = self._gate.training
        self.gates_ = gates[rows.owner]
        left_out = np.flatnonzero(rows.owner < 0)  # samples of classes that cost nothing
        if left_out.size:
            gate = self._gate
            given = gate.given[left_out] if isinstance(gate, GivenGate) else gate(take(X, left_out))
            self.gates_[left_out] = given
        if self._kind == "stack":
            self._support_gates = self.gates_
        elif self.kernels_[0].X_fit_ is not None:
            self._support_gates = gates
        else:
            used = np.flatnonzero(alpha.any(axis=1))
            self._support_gates = gates[used if used.size else np.arange(1)]

    # -- deciding -------------------------------------------------------------------------------
    def gate(self, X: Any) -> Array:
        """(n_samples, n_clusters): the share of each sample in each cluster."""
        check_is_fitted(self)
        return self._gate(read_new(self, X, self._kind))

    def contributions(self, X: Any, by: Literal["kernel", "view"] = "kernel", gates: Any = None) -> Array:
        """What each kernel adds in all clusters together; see :meth:`MKLClassifier.contributions`."""
        return BaseMKL.contributions(self._behind(gates), X, by)

    def _behind(self, gates: Any) -> Self:
        """The model with these gates in place of its own, for one call."""
        if gates is None:
            return self
        check_is_fitted(self)
        twin = copy(self)
        twin._gate = KnownGate(gates, self._gate.training)
        return twin

    def _decide(self, X: Any) -> Array:
        check_is_fitted(self)
        X = read_new(self, X, self._kind)
        return require_finite(self._parts(X).sum(axis=1) + self._intercept, "decision")

    def _parts(self, X: Any) -> Array:
        """(n_samples, active kernels, outputs): what each kernel adds in all clusters together."""
        n, (l, _) = _num_samples(X), self.weights_.shape
        outputs = self._coefficients.shape[1]
        parts = np.zeros((n, self.active_.size, outputs))
        behind = (self._support_gates[:, :, None] * self._coefficients[:, None]).reshape(-1, l * outputs)
        active = [self.kernels_[m] for m in self.active_]
        with threads(self.n_jobs):
            shares = self._gate(X)
            for rows, part in self._blocks(X, n):
                for i, K in evaluate(active, part, self._support):
                    terms = (K @ behind).reshape(-1, l, outputs)
                    weights = shares[rows] * self.weights_[:, self.active_[i]]
                    parts[rows, i] = np.einsum("nl,nlk->nk", weights, terms)
        return parts

    @property
    def coef_(self) -> Array:
        """Not defined: the function is not linear in X, whatever the kernels."""
        raise AttributeError(
            "a localized model has no coef_: its weights change with x. See contributions(X)."
        )


class LocalizedMKLClassifier(Localized, MKLClassifier):
    """Classification with kernels whose weights differ by region (convex localized MKL, 003).

    Samples belong to clusters with shares c_j(x), found before anything is learned; then one convex problem,

        P = ½ Σ_j Σ_m ‖w_jm‖²/β_jm + Σ_i C_i ℓ(y_i, f(x_i)),    f(x) = Σ_j c_j(x) Σ_m ⟨w_jm, φ_m(x)⟩ + b,

    over β_j ≥ 0, ‖β_j‖_p ≤ 1 for every cluster j, w and b, with a duality gap of its own.

    Parameters
    ----------
    kernels, loss, C, solver, center, normalize, fit_intercept, tol, max_iter, class_weight, memory_limit,
    warm_start, random_state, n_jobs, verbose : as for :class:`MKLClassifier`; kernels must be listed.
    n_clusters : int
        One cluster is :class:`MKLClassifier`.
    gating : "kernel-kmeans", "kmeans", "hard", array (n_samples, n_clusters) or function of X
        How samples are shared out: by soft kernel k-means on the uniform combination of the kernels, soft
        k-means on X, kernel k-means with no sharing (HLMKL), or as given. An array says nothing about new
        samples: ``predict`` then needs their gates.
    temperature : float
        How soft the borders between clusters are: shares are softmax(−d_j(x)/t), d_j the squared distance
        from the centre of cluster j and t this number times the mean of the samples' own.
    norm : float in [1, inf]
        p, in every cluster.

    Attributes
    ----------
    weights_ : (n_clusters, n_kernels).
    gates_ : (n_samples, n_clusters), shares of the training samples; ``gate(X)`` gives those of others.
    Others as for :class:`MKLClassifier`; ``kernel_`` is Σ_j c_j(x) c_j(x') Σ_m β_jm k_m(x, x').
    """

    multi_class = "shared"
    approx = None

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        n_clusters: int = 2,
        gating: Any = "kernel-kmeans",
        temperature: float = 0.1,
        norm: Any = 2.0,
        loss: Any = "hinge",
        C: float = 1.0,
        solver: Any = "auto",
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        memory_limit: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.n_clusters = n_clusters
        self.gating = gating
        self.temperature = temperature
        self.norm = norm
        self.loss = loss
        self.C = C
        self.solver = solver
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def decision_function(self, X: Any, gates: Any = None) -> Array:
        """(n_samples,), positive for ``classes_[1]``; (n_samples, n_classes) for more than two classes."""
        f = self._behind(gates)._decide(X)
        return f[:, 0] if f.shape[1] == 1 else f

    def predict(self, X: Any, gates: Any = None) -> NDArray[Any]:
        """The class of each sample; ``gates`` in place of the model's own."""
        f = self._behind(gates)._decide(X)
        return np.asarray(self.classes_[f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)])

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, gates: Any = None) -> Array:
        """(n_samples, n_classes): the logistic function of the decision, normalised over several classes."""
        return np.asarray(np.exp(self.predict_log_proba(X, gates)))

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, gates: Any = None) -> Array:
        """Logarithms of ``predict_proba``, exact also where probabilities are tiny."""
        return np.asarray(super(LocalizedMKLClassifier, self._behind(gates)).predict_log_proba(X))


class LocalizedMKLRegressor(Localized, MKLRegressor):
    """Regression with kernels whose weights differ by region (convex localized MKL, 003).

    Parameters and attributes are those of :class:`LocalizedMKLClassifier`, except that ``loss`` is "squared",
    "epsilon_insensitive" or a regression loss and there are no classes.
    """

    approx = None

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        n_clusters: int = 2,
        gating: Any = "kernel-kmeans",
        temperature: float = 0.1,
        norm: Any = 2.0,
        loss: Any = "squared",
        C: float = 1.0,
        solver: Any = "auto",
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.n_clusters = n_clusters
        self.gating = gating
        self.temperature = temperature
        self.norm = norm
        self.loss = loss
        self.C = C
        self.solver = solver
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: Any, gates: Any = None) -> Array:
        """(n_samples,), or (n_samples, n_outputs) where y had two dimensions."""
        f = self._behind(gates)._decide(X)
        return f if self.dual_coef_.ndim == 2 else f[:, 0]

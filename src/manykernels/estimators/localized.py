"""Localized multiple kernel learning: weights of kernels that differ by region."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..families import Family
from ..fitting.functions import GatedFunction
from ..fitting.gates import LEARNED, Gating
from ..fitting.targets import log_probabilities
from ..penalties import LpBall, resolve_penalty
from ..solvers.gate_descent import GateDescent
from ._base import BaseMKL, MKLClassification, MKLRegression, is_logistic, mkl_parts

Array = NDArray[np.float64]


class Localized(BaseMKL):
    """What both estimators share: gates, and one problem over the kernels behind every gate."""

    n_clusters: int
    gating: Any
    temperature: float
    norm: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Cluster the samples, then learn the weights of the kernels in every cluster and the machine.

        Parameters
        ----------
        X : array, CSR matrix, frame, list of strings, stack (n_samples, n_train, n_kernels), or dict
            A dict {name: samples × features} holds views, which get kernels of their own; with
            ``kernels="precomputed"`` it holds kernel matrices by name.
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples, one of weight 0 as none.
        covariates : array or frame of shape (n_samples, n_covariates), optional
            Enter unpenalised beside the kernels; ``predict`` then takes those of the new samples.
        """
        super().fit(X, y, sample_weight, covariates)
        return self

    def _parts(self) -> dict[str, Any]:
        self._check_gating()
        gating = Gating(self.gating, int(self.n_clusters), float(self.temperature), _means)
        parts = mkl_parts(self._given()) | {"gating": gating}
        return parts | {"solver": GateDescent(self.gating)} if gating.learned else parts

    def _fills_gaps(self) -> bool:
        in_features = isinstance(self.gating, str) and self.gating in ("kmeans", *LEARNED)
        return super()._fills_gaps() and not in_features

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
        if isinstance(self.gating, str) and self.gating in LEARNED and self.solver != "auto":
            raise ValueError(
                f"solver={self.solver!r} was given with gating={self.gating!r}, which is learned by gradient "
                "steps of its own; expected solver='auto'."
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

    # -- deciding -------------------------------------------------------------------------------
    def gate(self, X: Any) -> Array:
        """(n_samples, n_clusters): the share of each sample in each cluster."""
        check_is_fitted(self)
        return self._function(None).gate(self._model.layout.read(X))

    def contributions(
        self, X: Any, by: Literal["kernel", "view"] = "kernel", gates: Any = None, *, outputs: Any = None
    ) -> Array:
        """What each kernel adds in all clusters together; see :meth:`MKLClassifier.contributions`."""
        check_is_fitted(self)
        return self._added(X, by, outputs, self._function(gates))

    def _decide(self, X: Any, gates: Any = None, covariates: Any = None) -> Array:
        check_is_fitted(self)
        return self._model.decide(X, self._function(gates), covariates)

    def _function(self, gates: Any) -> GatedFunction:
        """What decides, with these gates in place of its own where they are given."""
        function = self._model.function
        assert isinstance(function, GatedFunction)
        return function.behind(gates)


def _means(
    X: Any, weight: Array, n_clusters: int, n_starts: int, rng: np.random.RandomState
) -> tuple[Array, float]:
    """The centres of k-means, and the sum of squares that they leave."""
    found = KMeans(n_clusters, n_init=n_starts, random_state=rng).fit(X, sample_weight=weight)
    return np.asarray(found.cluster_centers_), float(found.inertia_)


class LocalizedMKLClassifier(Localized, MKLClassification):
    """Classification with kernels whose weights differ by region (convex localized MKL, Lei et al. 2016).

    Samples belong to clusters with shares c_j(x), found before anything is learned; then one convex problem,

        P = ½ Σ_j Σ_m ‖w_jm‖²/β_jm + Σ_i C_i ℓ(y_i, f(x_i)),    f(x) = Σ_j c_j(x) Σ_m ⟨w_jm, φ_m(x)⟩ + b,

    over β_j ≥ 0, ‖β_j‖_p ≤ 1 for every cluster j, w and b, with a duality gap of its own.

    With ``gating="softmax"`` or ``"sigmoid"`` every kernel has a gate that is learned with the machine (Gönen
    and Alpaydın 2008, 2013): k(x, x') = Σ_m η_m(x) k_m(x, x') η_m(x'), where η is the softmax, or the
    sigmoid, of ⟨v_m, x⟩ + v_m0. That problem is not convex: ``certified_`` is False, ``dual_gap_`` is NaN,
    and only a stationary point is looked for.

    Parameters
    ----------
    kernels, loss, C, solver, center, normalize, fit_intercept, tol, max_iter, class_weight, memory_limit,
    warm_start, random_state, n_jobs, verbose : as for :class:`MKLClassifier`; kernels must be listed.
    n_clusters : int
        One cluster is :class:`MKLClassifier`.
    gating : "kernel-kmeans", "kmeans", "hard", "softmax", "sigmoid", array or function of X
        How samples are shared out: by soft kernel k-means on the uniform combination of the kernels, soft
        k-means on X, kernel k-means with no sharing (HLMKL), or as given. An array says nothing about new
        samples: ``predict`` then needs their gates. "softmax" and "sigmoid" are learned, one gate for each
        kernel, linear in the standardised columns of X. ``n_clusters``, ``temperature`` and ``norm`` then
        mean nothing, and learning ends where an iteration lowers the objective by less than ``tol`` of it.
    temperature : float
        How soft the borders between clusters are: shares are softmax(−d_j(x)/t), d_j the squared distance
        from the centre of cluster j and t this number times the mean of the samples' own.
    norm : float in [1, inf]
        p, in every cluster.

    Attributes
    ----------
    present_ : dict view -> how many training samples have it, where kernels are of views.
    weights_ : (n_clusters, n_kernels); the identity where gates are learned, since each belongs to a kernel.
    gates_ : (n_samples, n_clusters), shares of the training samples; ``gate(X)`` gives those of others.
    Others as for :class:`MKLClassifier`; ``kernel_`` is Σ_j c_j(x) c_j(x') Σ_m β_jm k_m(x, x').
    """

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

    def decision_function(self, X: Any, gates: Any = None, covariates: Any = None) -> Array:
        """(n_samples,), positive for ``classes_[1]``; (n_samples, n_classes) for more than two classes."""
        return self._single(self._decide(X, gates, covariates))

    def predict(self, X: Any, gates: Any = None, covariates: Any = None) -> NDArray[Any]:
        """The class of each sample; ``gates`` in place of the model's own."""
        f = self._decide(X, gates, covariates)
        assert self._model.target is not None
        return np.asarray(self._model.target.predict(f))

    @available_if(lambda self: is_logistic(self.loss))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, gates: Any = None, covariates: Any = None) -> Array:
        """(n_samples, n_classes): the logistic function of the decision, normalised over several classes."""
        return np.asarray(np.exp(log_probabilities(self._decide(X, gates, covariates))))

    @available_if(lambda self: is_logistic(self.loss))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, gates: Any = None, covariates: Any = None) -> Array:
        """Logarithms of ``predict_proba``, exact also where probabilities are tiny."""
        return log_probabilities(self._decide(X, gates, covariates))


class LocalizedMKLRegressor(Localized, MKLRegression):
    """Regression with kernels whose weights differ by region (convex localized MKL, Lei et al. 2016).

    Parameters and attributes are those of :class:`LocalizedMKLClassifier`, except that ``loss`` is "squared",
    "epsilon_insensitive", "pinball", "huber" or a regression loss and there are no classes.
    """

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

    def predict(self, X: Any, gates: Any = None, covariates: Any = None) -> Array:
        """(n_samples,), or (n_samples, n_outputs) where y had two dimensions."""
        return self._single(self._decide(X, gates, covariates))

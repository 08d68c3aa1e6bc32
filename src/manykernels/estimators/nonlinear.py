"""Powers of a learned combination of kernels: non-linear multiple kernel learning (Cortes et al. 2009)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from ..families import Family
from ..penalties import L2Ball
from ..solvers.nonlinear import ProjectedGradient
from ._base import BaseMKL, MKLClassification, MKLRegression

Array = NDArray[np.float64]


class Nonlinear(BaseMKL):
    """What both estimators share: the checks, the descent, and what a power does not have."""

    degree: int
    mu0: Any
    radius: float
    n_starts: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn the weights of the kernels together with the machine that uses a power of their sum.

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
        self._check_power()
        solver = ProjectedGradient(int(self.degree), int(self.n_starts))
        return {"penalty": L2Ball(self.mu0, self.radius), "solver": solver}

    def _check_power(self) -> None:
        for name in ("degree", "n_starts"):
            given = getattr(self, name)
            if not isinstance(given, Integral) or isinstance(given, bool) or given < 1:
                raise ValueError(f"{name}={given!r} was given; expected a whole number, at least 1.")
        if (
            not isinstance(self.radius, Real)
            or isinstance(self.radius, bool)
            or not 0 <= self.radius < np.inf
        ):
            raise ValueError(f"radius={self.radius!r} was given; expected a finite number ≥ 0.")
        mu0 = np.asarray(self.mu0)
        if mu0.dtype.kind not in "iuf" or not np.all((mu0 >= 0) & np.isfinite(mu0)):
            raise ValueError(
                f"mu0={self.mu0!r} was given; expected finite weights ≥ 0, one or one per kernel."
            )
        if self.radius == 0 and not mu0.any():
            raise ValueError("radius=0 was given with mu0=0, which leaves no kernel; give a radius above 0.")
        if isinstance(self.kernels, Family) and not self.kernels.listed:
            raise ValueError(
                f"kernels={self.kernels!r} stands for more kernels than can be listed, and a power of their "
                "sum needs a weight for each. Give a list such as gaussian_grid(low, high, n)."
            )

    # -- explaining -----------------------------------------------------------------------------
    def contributions(self, X: Any, by: Any = "kernel", *, outputs: Any = None) -> NoReturn:
        """Not defined: a power of a sum has no part that belongs to one kernel."""
        raise AttributeError(
            f"{type(self).__name__} has no contributions: its kernel is a power of a sum, whose parts belong "
            "to several kernels at once. weights_ says what each one weighs in the sum."
        )

    @property
    def coef_(self) -> Array:
        """Not defined for powers."""
        raise AttributeError(f"{type(self).__name__} has no coef_: a power of kernels is not linear in X.")


class NonlinearMKLClassifier(Nonlinear, MKLClassification):
    """Classification with a power of a learned combination of kernels (Cortes et al. 2009; 000 Eq. 2.16).

    The kernel is k_μ(x, x') = (Σ_m μ_m k_m(x, x'))^D, all products of D kernels, weighted by products of
    μ; μ ≥ 0 in the ball ‖μ − μ₀‖₂ ≤ Λ minimises

        J(μ) = min_{f, b} ½‖f‖² + Σ_i C_i ℓ(y_i, f(x_i) + b).

    For D > 1 this is not convex. What is found is a stationary point, the best of several starts: no gap
    certifies it, and ``spread_`` says how far apart the starts ended.

    Parameters
    ----------
    kernels, C, center, normalize, fit_intercept, class_weight, memory_limit, n_jobs, verbose : as for
        :class:`MKLClassifier`; kernels must be listed, and positive semi-definite each.
    degree : int
        D; 1 is :class:`MKLClassifier` with ``norm=L2Ball(mu0, radius)``.
    mu0 : float or array (n_kernels,)
        The centre of the ball, ≥ 0.
    radius : float
        Λ.
    loss : "squared" (of the labels ±1), "hinge", "squared_hinge", "logistic" or Loss
    n_starts : int
        One with equal weights, the others random.
    tol : float
        A start is finished where the projected gradient is this small relative to the gradient.
    max_iter : int
        Steps of each start.
    warm_start : bool
        The first start is the last fit.
    random_state : int, RandomState or None
        Of the random starts.

    Attributes
    ----------
    weights_ : (n_kernels,), μ.
    kernel_ : the power of their mixture, callable on new data.
    starts_ : a table, as columns: start, objective, iterations, residual, converged.
    spread_ : (worst − best)/best of the objectives that the starts reached.
    dual_gap_, certified_ : nan and False.
    history_ : of the best start; ``residual`` is the relative projected gradient.
    Others as for :class:`MKLClassifier`. There are no ``contributions``.
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        degree: int = 2,
        mu0: Any = 0.0,
        radius: float = 1.0,
        C: float = 1.0,
        n_starts: int = 5,
        loss: Any = "squared",
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 500,
        class_weight: Any = None,
        memory_limit: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.degree = degree
        self.mu0 = mu0
        self.radius = radius
        self.C = C
        self.n_starts = n_starts
        self.loss = loss
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


class NonlinearMKLRegressor(Nonlinear, MKLRegression):
    """Regression with a power of a learned combination of kernels (Cortes et al. 2009; 000 Eqs 2.16, 2.17).

    With ``loss="squared"`` and ``fit_intercept=False`` the objective is half of Eq. 2.17 with λ = 1/C.
    Parameters and attributes are those of :class:`NonlinearMKLClassifier`, except that ``loss`` is "squared",
    "epsilon_insensitive", "pinball", "huber" or a regression loss and there are no classes; several outputs
    share μ.
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        degree: int = 2,
        mu0: Any = 0.0,
        radius: float = 1.0,
        C: float = 1.0,
        n_starts: int = 5,
        loss: Any = "squared",
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 500,
        memory_limit: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.degree = degree
        self.mu0 = mu0
        self.radius = radius
        self.C = C
        self.n_starts = n_starts
        self.loss = loss
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

"""Times to an event with a learned combination of kernels."""

from __future__ import annotations

from typing import Any, Self

from ..fitting.targets import Target
from ..fitting.times import TimeToEvent
from ..losses import Criterion, PartialLikelihood
from ._base import BaseMKL, mkl_parts
from ._survival import SurvivalFace


class MKLSurvival(SurvivalFace, BaseMKL):
    """Survival analysis with a learned combination of kernels: Cox's proportional hazards.

    The hazard of a sample is h₀(t)·exp(f(x)), f a function of the learned kernel. It minimises the negative
    logarithm of Cox's partial likelihood,

        ½ Σ_m ‖w_m‖²/θ_m + C Σ_i [log Σ_{j at risk at t_i} exp f(x_j) − f(x_i)]      over the events i,

    over f and the weights θ of the kernels together, and says how near to the optimum it is.

    Parameters
    ----------
    kernels, norm, C, solver, approx, center, normalize, tol, max_iter, memory_limit, warm_start,
    random_state, n_jobs, verbose, covariates
        As in :class:`MKLClassifier`. There is no intercept: a constant in f changes nothing.
    ties : "breslow" or "efron"
        How events at the same time are counted. "efron" is nearer to the truth where they are many; a weight
        of 2 is then not a sample given twice, since the tied are weighed by their mean.

    Attributes
    ----------
    kernels_, kernel_names_, weights_, active_, kernel_, X_fit_, dual_coef_, intercept_, covariate_coef_,
    covariate_names_, features_, feature_coef_, objective_, dual_gap_, certified_, dual_point_, n_iter_,
    history_, present_
        As in :class:`MKLClassifier`. ``intercept_`` makes the mean risk of the training samples 0.
    event_times_ : times at which events were observed, growing.
    baseline_ : `manykernels.survival.Baseline`
        Breslow's estimate of the hazard of a sample with risk 0, for each stratum.
    censoring_ : `manykernels.survival.StepFunctions`
        The chance to be still observed at each time, by which Uno's C and the Brier score weigh.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLSurvival
    >>> from manykernels.kernels import Linear, OnColumns
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(200, 4)
    >>> time, seen = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2.0, 200)
    >>> y = np.column_stack([time <= seen, np.minimum(time, seen)])
    >>> views = {"clinic": OnColumns(Linear(), [0, 1]), "noise": OnColumns(Linear(), [2, 3])}
    >>> model = MKLSurvival(views).fit(X, y)
    >>> bool(model.weights_[0] > 0.5), bool(model.score(X, y) > 0.7)
    (True, True)
    >>> model.predict_survival_function(X[:2], times=[0.5, 1.0]).shape
    (2, 2)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        norm: Any = 1.0,
        ties: str = "breslow",
        C: float = 1.0,
        solver: Any = "auto",
        approx: Any = None,
        center: bool = False,
        normalize: str | None = "trace",
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        covariates: Any = None,
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.ties = ties
        self.C = C
        self.solver = solver
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.covariates = covariates

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn the weights of the kernels together with the function of risk.

        Parameters
        ----------
        X : as in :class:`MKLClassifier`
        y : structured array, frame, or array of shape (n_samples, 2)
            Whether the event was observed, and the time until then or until the sample was last seen:
            scikit-survival's structured arrays, or fields ``event`` and ``time``. Two more fields are read
            where there are such: ``entry``, the time from which on a sample was seen (left truncation), and
            ``stratum``: samples are compared within strata, each of which has a hazard of its own.
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples, one of weight 0 as none.
        covariates : array or frame of shape (n_samples, n_covariates), optional
            Enter unpenalised, as in :class:`MKLClassifier`.
        """
        super().fit(X, y, sample_weight, covariates)
        self._learn_baseline(X, y, sample_weight, covariates, self.ties)
        return self

    def _loss(self) -> Criterion:
        return PartialLikelihood(self.ties).checked()

    def _target(self) -> Target:
        return TimeToEvent(self.ties)

    def _parts(self) -> dict[str, Any]:
        return mkl_parts(self._given())

"""Survival analysis with model selection."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..fitting.times import TimeToEvent
from ..losses import PartialLikelihood
from ..selection.data import Data
from ..selection.search import Outcome
from ._search import Search
from ._survival import SurvivalFace
from .survival import MKLSurvival

_PASSED = "ties center normalize tol max_iter memory_limit random_state approx covariates".split()


class MKLSurvivalCV(SurvivalFace, Search):
    """Survival analysis with a learned kernel, where kernels, norm and C are chosen by cross-validation.

    With nothing given it does what a practitioner would: kernels for the table at hand, scaled; kernels with
    a width per feature; each along a path in C, all in the same folds; and the best of them fitted on all
    samples. Models are compared by the partial likelihood of the risks of all samples, each
    from the model of the fold that held it out (Dai and Breheny 2019). Of times to an event little can be
    known, so that candidates are few, and where "auto" has a linear kernel, the best linear model is taken
    unless another one is better by more than the standard error of the difference over folds.

    Parameters
    ----------
    kernels, norm, ties, approx, center, normalize, tol, max_iter, memory_limit, random_state, verbose,
    covariates
        As in :class:`MKLSurvival`. Covariates are in every strategy, and are learned anew in every fold.
    strategy : "auto", "finite", "continuous", "products", or a list of these and of estimators
        As in :class:`MKLClassifierCV`; "auto" does without products.
    norms : sequence of float or Penalty
        The norms to try.
    Cs : None, int or list
        The values of C to try, how many of them, or None for a good choice.
    cv : None, int, splitter or iterable of splits
        As in scikit-learn; None is five folds with equal shares of events, shuffled by ``random_state`` (None
        as 0), in which models are learned from at most 1,000 samples: of more, only the chosen model is
        learned from all.
    scoring : None, str or callable
        None scores by Harrell's C and chooses by the partial likelihood, which tells models apart far better.
        Else the best score is chosen: ``manykernels.survival.UnoScorer()``, say.
    refit : bool
        Whether the best model is fitted on all samples; without it there is only the comparison.
    n_jobs : int or None
        Folds and strategies at a time, as in scikit-learn.
    checkpoint : None, path of a folder or Checkpoint
        Where finished work is kept, so that the same fit goes on after a crash; as in
        :class:`MKLClassifierCV`.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, comparison_, finalists_, path_
        As in :class:`MKLClassifierCV`; scores are Harrell's C.
    weights_, active_, kernels_, kernel_names_, kernel_, X_fit_, dual_coef_, intercept_, objective_,
    dual_gap_, certified_, history_, covariate_coef_, covariate_names_, baseline_, censoring_
        Those of ``best_estimator_``.
    event_times_ : times at which events were observed, growing.
    present_ : dict view -> how many training samples have it, where kernels are of views.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLSurvivalCV
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(80, 3)
    >>> time, seen = rng.exponential(np.exp(-2 * X[:, 0])), rng.exponential(2.0, 80)
    >>> y = np.column_stack([time <= seen, np.minimum(time, seen)])
    >>> model = MKLSurvivalCV(strategy="finite", random_state=0).fit(X, y)
    >>> bool(model.best_score_ > 0.7)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        strategy: Any = "auto",
        norms: Any = (1.0, 2.0),
        Cs: Any = None,
        ties: str = "breslow",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        approx: Any = None,
        center: bool = False,
        normalize: str | None = "trace",
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        covariates: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.kernels = kernels
        self.strategy = strategy
        self.norms = norms
        self.Cs = Cs
        self.ties = ties
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.covariates = covariates
        self.checkpoint = checkpoint

    def _own(self, kernels: Any) -> BaseEstimator:
        return MKLSurvival(kernels, **{name: getattr(self, name) for name in _PASSED})

    def _aligned(self) -> BaseEstimator:
        raise NotImplementedError("there is no alignment with times to an event.")

    def _target(self) -> TimeToEvent:
        PartialLikelihood(self.ties).checked()
        return TimeToEvent(self.ties)

    def _scorer(self, weighted: bool, classes: NDArray[Any] | None) -> Any:
        if isinstance(self.scoring, str):
            raise ValueError(
                f"scoring={self.scoring!r} was given; expected None, which chooses by the partial "
                "likelihood, or a scorer of times to an event, such as manykernels.survival.UnoScorer()."
            )
        return super()._scorer(weighted, classes)

    def _refit(self, outcome: Outcome, data: Data) -> BaseEstimator:
        model: Any = super()._refit(outcome, data)
        if "baseline_" not in vars(model) and isinstance(model, MKLSurvival):
            model._learn_baseline(data.X, data.y, data.weight, data.covariates, self.ties)
        return model

    predict = Search.predict

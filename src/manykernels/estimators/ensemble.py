"""Ensembles of kernel predictors: one machine a kernel, combined by cross-fitting (Rostamizadeh 2010)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._arguments import as_numbers, number_of, shown
from .._fast.threads import threads
from ..fitting.options import Options
from ..fitting.samples import Given, read
from ..fitting.targets import require_target
from ..penalties import Simplex
from ..selection.data import Data
from ..selection.ensembles import learn_ensemble
from ..selection.splits import Folds, make_folds
from ._base import BaseMKL, MKLClassification, MKLRegression


class Ensemble(BaseMKL):
    """What both tasks share: the checks, the folds, and what an ensemble does not have."""

    combination: str
    lam: Any
    Cs: Any
    cv: Any
    C: float
    random_state: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn a predictor for each kernel, and combine them by what they decide on held-out samples.

        Parameters
        ----------
        X : array, CSR matrix, frame, list of strings, stack (n_samples, n_train, n_kernels), or dict
            A dict {name: samples × features} holds views, which get kernels of their own; with
            ``kernels="precomputed"`` it holds kernel matrices by name.
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples in both stages, one of weight 0 as none.
        groups : array of shape (n_samples,), optional
            For ``cv`` that keeps groups together, such as GroupKFold().
        """
        require_target(type(self).__name__, y)
        options = self._options()
        with threads(self.n_jobs):
            given = read(options, X, y, sample_weight, self._target())
            folds = self._folds(given, groups)
            norm: Any = self.combination
            self._publish(learn_ensemble(options, given, folds, self._costs(), norm, self.lam))
        return self

    def _parts(self) -> dict[str, Any]:
        if self.combination not in ("l1", "l2"):
            raise ValueError(f"combination={shown(self.combination)} was given; expected 'l1' or 'l2'.")
        numeric = isinstance(self.lam, Real) and not isinstance(self.lam, bool)
        if not (isinstance(self.lam, str) and self.lam == "auto") and not (
            numeric and 0 <= float(self.lam) < np.inf
        ):
            raise ValueError(
                f"lam={shown(self.lam)} was given; expected a finite number ≥ 0, what the norm of the "
                "weights costs, or 'auto'."
            )
        return {"penalty": Simplex(), "solver": "active-set"}

    def _options(self) -> Options:
        options = super()._options()
        self._costs()
        if not options.listed:
            raise ValueError(
                f"kernels={self.kernels!r} stands for more kernels than can be listed, and an ensemble has a "
                "predictor for each. Give a list such as gaussian_grid(low, high, n)."
            )
        return options

    def _costs(self) -> list[float]:
        """The values of C to choose from."""
        if self.Cs is None:
            return [float(self.C)]
        Cs = np.atleast_1d(as_numbers(self.Cs, "Cs", "a list of numbers above 0"))
        if Cs.ndim != 1 or not Cs.size or not np.all((Cs > 0) & np.isfinite(Cs)):
            raise ValueError(f"Cs={shown(self.Cs)} was given; expected a list of numbers above 0, or None.")
        return [float(C) for C in np.unique(Cs)]

    def _folds(self, given: Given, groups: Any) -> Folds:
        """The folds, or an error where there are fewer samples than folds."""
        counts = np.ones(given.n) if given.weight is None else given.weight
        y = given.y[counts > 0]
        if isinstance(self.cv, Integral) and not isinstance(self.cv, bool) and int(self.cv) > len(y):
            raise ValueError(
                f"cv={self.cv} was given with {number_of(len(y), 'sample')} (n_samples = {len(y)}); "
                "predictors are combined by what they say of held-out samples, and each fold needs at least "
                "one. Give more samples, or fewer folds."
            )
        target = given.target.learn(y)
        data = Data(
            given.X,
            given,
            given.y,
            given.weight,
            getattr(target, "classes", None),
            getattr(self, "class_weight", None),
            None,
            target=target,
        )
        return make_folds(self.cv, np.zeros((given.n, 1)), data, groups, self.random_state)

    @property
    def kernel_(self) -> NoReturn:
        """Not defined: predictors are combined, not kernels."""
        check_is_fitted(self)
        raise AttributeError(
            f"{type(self).__name__} has no kernel_: every kernel has a predictor of its own, and these are "
            "combined. kernels_ are the kernels, contributions(X) what each predictor adds."
        )


class KernelEnsembleClassifier(Ensemble, MKLClassification):
    """Classification by an ensemble of kernel predictors (Rostamizadeh 2010, Eq. 3.6).

    One machine h_m is learned with each kernel alone, and f(x) = Σ_m μ_m h_m(x) + b. The weights μ, of any
    sign, are least squares on what machines decide on samples held out of their training (cross-fitting),
    under ``λ‖μ‖₁`` or ``½λ‖μ‖²``. These functions are more than those of one learned kernel, whose
    coefficients all kernels share; there is no certificate, since no single problem is solved.

    Parameters
    ----------
    kernels, center, normalize, fit_intercept, tol, class_weight, memory_limit, n_jobs, verbose :
        as for :class:`MKLClassifier`; kernels must be listed.
    combination : "l2" or "l1"
        The norm of μ: "l1" leaves out most of the predictors, "l2" none.
    lam : float or "auto"
        λ, in units of the variance of y. "auto" takes that of 12 values from 1e-5 to 3 which predicts each
        fold best from the others.
    loss : "squared", "hinge", "squared_hinge", "logistic" or Loss
        That of the machines. "squared" is kernel ridge regression on the labels ±1.
    C : float
        What errors of the machines cost.
    Cs : None or list of floats
        Values in place of C, of which each machine takes the best on held-out samples.
    cv : None, int, splitter or iterable of (train, test)
        The folds; None is five of them, stratified, or fewer where there are fewer samples.
    random_state : int, RandomState or None
        Of the folds where ``cv`` is None.

    Attributes
    ----------
    weights_ : (n_kernels,), μ; classes share it. ``active_`` are the places that are not zero.
    lam_ : λ. ``path_`` has the error on held-out folds for each value that was tried.
    cv_errors_ : (n_kernels,), the mean squared error of each predictor by itself on held-out samples.
    predictor_C_ : (n_kernels,), the C of each.
    intercept_ : b and the intercepts of the machines, added up.
    kernels_, kernel_names_, view_weights_, classes_ : as for :class:`MKLClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from manykernels import KernelEnsembleClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = KernelEnsembleClassifier(gaussian_grid(1.0, 20.0, 6), combination="l1").fit(X[::2], y[::2])
    >>> model.weights_.shape, bool(model.score(X[1::2], y[1::2]) > 0.9)
    ((6,), True)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        combination: str = "l2",
        lam: Any = "auto",
        loss: Any = "squared",
        C: float = 1.0,
        Cs: Any = None,
        cv: Any = None,
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        class_weight: Any = None,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.combination = combination
        self.lam = lam
        self.loss = loss
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KernelEnsembleRegressor(Ensemble, MKLRegression):
    """Regression by an ensemble of kernel predictors (Rostamizadeh 2010, Eq. 3.6).

    Parameters and attributes are those of :class:`KernelEnsembleClassifier`, except that ``loss`` is
    "squared", "epsilon_insensitive", "pinball", "huber" or a regression loss, that y is (n_samples,) or
    (n_samples, n_outputs), and that there are no classes; several outputs share μ.
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        combination: str = "l2",
        lam: Any = "auto",
        loss: Any = "squared",
        C: float = 1.0,
        Cs: Any = None,
        cv: Any = None,
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.combination = combination
        self.lam = lam
        self.loss = loss
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

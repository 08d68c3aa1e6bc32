"""One machine for each kernel, and weights that combine what they predict (Rostamizadeh 2010, Eq. 3.6)."""

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
    """Base class of the ensembles: checks, folds and the fit."""

    combination: str
    lam: Any
    Cs: Any
    cv: Any
    C: float
    random_state: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn a predictor for each kernel, then combine them by their held-out decisions.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, of shape (n_samples, n_features). A dict {name: samples × features} holds views,
            which get kernels of their own. With ``kernels="precomputed"`` it is a stack of kernel matrices,
            of shape (n_samples, n_train, n_kernels), or a dict of them by name.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets: labels for a classifier, numbers for a regressor. Only a regressor takes several
            outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples, in both stages. A sample of weight 2 counts as two samples, one of
            weight 0 as none.
        groups : array-like of shape (n_samples,), default=None
            The groups of the samples, for a ``cv`` that keeps groups together, such as ``GroupKFold()``.

        Returns
        -------
        self : estimator
            The fitted estimator.
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
        """Return the values of C to choose from."""
        if self.Cs is None:
            return [float(self.C)]
        Cs = np.atleast_1d(as_numbers(self.Cs, "Cs", "a list of numbers above 0"))
        if Cs.ndim != 1 or not Cs.size or not np.all((Cs > 0) & np.isfinite(Cs)):
            raise ValueError(f"Cs={shown(self.Cs)} was given; expected a list of numbers above 0, or None.")
        return [float(C) for C in np.unique(Cs)]

    def _folds(self, given: Given, groups: Any) -> Folds:
        """Make the folds, or raise an error if there are fewer samples than folds."""
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
        """Not defined: predictors are combined, and not kernels."""
        check_is_fitted(self)
        raise AttributeError(
            f"{type(self).__name__} has no kernel_: every kernel has a predictor of its own, and these are "
            "combined. kernels_ are the kernels, contributions(X) what each predictor adds."
        )


class KernelEnsembleClassifier(Ensemble, MKLClassification):
    """Classification by an ensemble of kernel machines, one for each kernel.

    One machine h_m is learned with each kernel alone, and f(x) = Σ_m μ_m h_m(x) + b (Rostamizadeh 2010, Eq.
    3.6). The weights μ, of any sign, are least squares on what the machines decide on samples held out of
    their training (cross-fitting), with the penalty λ‖μ‖₁ or ½λ‖μ‖². These functions are more than those of
    one learned kernel, whose coefficients all kernels share. There is no certificate, since no single problem
    is solved.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from, as in :class:`MKLClassifier`. Families that are too large to list, such as
        ``Gaussians()``, are refused: give a grid, such as ``gaussian_grid(1.0, 9.0, 5)``.
    combination : {"l2", "l1"}, default="l2"
        The norm of the weights μ. "l1" leaves most of the predictors out, "l2" none.
    lam : float or "auto", default="auto"
        The strength λ of the penalty on the weights, in units of the variance of y. "auto" tries 12 values
        from 1e-5 to 3 and takes the one that predicts each fold best from the others.
    loss : {"squared", "hinge", "squared_hinge", "logistic"} or Loss, default="squared"
        The loss of the single machines. "squared" is kernel ridge regression on the labels ±1.
    C : float, default=1.0
        The cost of training errors of the single machines. A larger C fits the training samples more closely.
    Cs : list of float or None, default=None
        Values of C to try in place of ``C``. Each machine takes the one that is best on held-out samples.
    cv : int, splitter, iterable of splits or None, default=None
        The folds, as in scikit-learn. None makes five, stratified for classes, or fewer if there are fewer
        samples.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        The relative duality gap at which each machine stops.
    class_weight : {"balanced"}, dict or None, default=None
        The weight of each class in C_i. "balanced" weighs classes by the inverse of their frequency.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    random_state : int, RandomState or None, default=None
        The seed of the folds if ``cv`` is None.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    verbose : int, default=0
        With 1 a progress bar is shown.

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,)
        The weights μ of the predictors. Classes and outputs share them.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : None
        There is no learned kernel, since predictors are combined and not kernels. Reading it raises
        AttributeError.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    lam_ : float
        The strength λ that was used.
    path_ : dict
        The error on held-out folds for each value of λ that was tried, as columns.
    cv_errors_ : ndarray of shape (n_kernels,)
        The mean squared error of each predictor by itself on held-out samples.
    predictor_C_ : ndarray of shape (n_kernels,)
        The C of each predictor.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b and the intercepts of the machines, added up.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        The weights of the features, if all active kernels are linear: ``X @ coef_.T + intercept_`` decides.
    classes_ : ndarray of shape (n_classes,)
        The labels of the classes.
    present_ : dict
        The number of training samples that have each view. Only if kernels belong to views.
    checks_ : list of Check
        Reasons to be careful with this model, each with a code, a sentence and advice; empty if there are
        none.
    n_features_in_ : int
        The number of columns of X in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of X in ``fit``, if all of them are strings.

    See Also
    --------
    KernelEnsembleRegressor : Learns numbers in place of classes.
    MKLClassifier : Learns one kernel and one machine.

    References
    ----------
    - Rostamizadeh (2010), Theoretical foundations and algorithms for learning with multiple kernels, PhD
      thesis, New York University.

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
    """Regression by an ensemble of kernel machines, one for each kernel.

    One machine h_m is learned with each kernel alone, and f(x) = Σ_m μ_m h_m(x) + b (Rostamizadeh 2010, Eq.
    3.6). The weights μ, of any sign, are least squares on what the machines decide on samples held out of
    their training (cross-fitting), with the penalty λ‖μ‖₁ or ½λ‖μ‖². These functions are more than those of
    one learned kernel, whose coefficients all kernels share. There is no certificate, since no single problem
    is solved.

    y has shape (n_samples,) or (n_samples, n_outputs); several outputs share μ.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from, as in :class:`MKLClassifier`. Families that are too large to list, such as
        ``Gaussians()``, are refused: give a grid, such as ``gaussian_grid(1.0, 9.0, 5)``.
    combination : {"l2", "l1"}, default="l2"
        The norm of the weights μ. "l1" leaves most of the predictors out, "l2" none.
    lam : float or "auto", default="auto"
        The strength λ of the penalty on the weights, in units of the variance of y. "auto" tries 12 values
        from 1e-5 to 3 and takes the one that predicts each fold best from the others.
    loss : {"squared", "epsilon_insensitive", "pinball", "huber"} or Loss, default="squared"
        The loss of one sample. "squared" is kernel ridge regression, "epsilon_insensitive" a support vector
        machine. "huber" is robust against outliers, and "pinball" learns a quantile, by default the median.
        Objects such as ``Pinball(0.9)`` of ``manykernels.losses`` have parameters.
    C : float, default=1.0
        The cost of training errors of the single machines. A larger C fits the training samples more closely.
    Cs : list of float or None, default=None
        Values of C to try in place of ``C``. Each machine takes the one that is best on held-out samples.
    cv : int, splitter, iterable of splits or None, default=None
        The folds, as in scikit-learn. None makes five, stratified for classes, or fewer if there are fewer
        samples.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        The relative duality gap at which each machine stops.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    random_state : int, RandomState or None, default=None
        The seed of the folds if ``cv`` is None.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    verbose : int, default=0
        With 1 a progress bar is shown.

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,)
        The weights μ of the predictors. Classes and outputs share them.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : None
        There is no learned kernel, since predictors are combined and not kernels. Reading it raises
        AttributeError.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    lam_ : float
        The strength λ that was used.
    path_ : dict
        The error on held-out folds for each value of λ that was tried, as columns.
    cv_errors_ : ndarray of shape (n_kernels,)
        The mean squared error of each predictor by itself on held-out samples.
    predictor_C_ : ndarray of shape (n_kernels,)
        The C of each predictor.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b and the intercepts of the machines, added up.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        The weights of the features, if all active kernels are linear: ``X @ coef_.T + intercept_`` decides.
    present_ : dict
        The number of training samples that have each view. Only if kernels belong to views.
    checks_ : list of Check
        Reasons to be careful with this model, each with a code, a sentence and advice; empty if there are
        none.
    n_features_in_ : int
        The number of columns of X in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of X in ``fit``, if all of them are strings.

    See Also
    --------
    KernelEnsembleClassifier : Learns classes in place of numbers.
    MKLRegressor : Learns one kernel and one machine.

    References
    ----------
    - Rostamizadeh (2010), Theoretical foundations and algorithms for learning with multiple kernels, PhD
      thesis, New York University.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from manykernels import KernelEnsembleRegressor
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelEnsembleRegressor([Linear(), Gaussian(0.2)]).fit(X[::2], y[::2])
    >>> model.cv_errors_.shape, model.score(X[1::2], y[1::2]) > 0.3
    ((2,), True)
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

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
    """Base class of the nonlinear estimators: checks, and attributes that a power of kernels lacks."""

    degree: int
    mu0: Any
    radius: float
    n_starts: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn the weights of the kernels together with the machine that uses a power of their sum.

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
            The weights of the samples. A sample of weight 2 counts as two samples, one of weight 0 as none.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            Covariates that enter unpenalised beside the kernels, if X has no columns that ``covariates`` of
            the estimator could name. ``predict`` then needs those of the new samples.

        Returns
        -------
        self : estimator
            The fitted estimator.
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
        """Raise an error: no part of a power of a sum belongs to one kernel.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        by : {"kernel", "view"}, default="kernel"
            With "view" the kernels of each view are added up.
        outputs : list of int, slice or None, default=None
            The positions of some outputs, for models with so many that all of them do not fit into memory.

        Raises
        ------
        AttributeError
            Always. ``weights_`` has the weight of each kernel in the sum.
        """
        raise AttributeError(
            f"{type(self).__name__} has no contributions: its kernel is a power of a sum, whose parts belong "
            "to several kernels at once. weights_ says what each one weighs in the sum."
        )

    @property
    def coef_(self) -> Array:
        """Not defined for powers of kernels, which are not linear in X."""
        raise AttributeError(f"{type(self).__name__} has no coef_: a power of kernels is not linear in X.")


class NonlinearMKLClassifier(Nonlinear, MKLClassification):
    """Classification with a power of a learned combination of kernels.

    The kernel is k_μ(x, x') = (Σ_m μ_m k_m(x, x'))^D: all products of D kernels, weighted by products of μ.
    The weights μ ≥ 0 in the ball ‖μ − μ₀‖₂ ≤ Λ minimise

        J(μ) = min_{f, b} ½‖f‖² + Σ_i C_i ℓ(y_i, f(x_i) + b)

    (Cortes et al. 2009; Afkanpour 2013, Eqs 2.16 and 2.17). For D > 1 this is not convex. The result is a
    stationary point, the best of several starts: no gap certifies it, and ``spread_`` says how far apart the
    starts ended.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from, as in :class:`MKLClassifier`. Families that are too large to list, such as
        ``Gaussians()``, are refused: give a grid, such as ``gaussian_grid(1.0, 9.0, 5)``.
    degree : int, default=2
        The power D of the combination. 1 is :class:`MKLClassifier` with ``norm=L2Ball(mu0, radius)``.
    mu0 : float or ndarray of shape (n_kernels,), default=0.0
        The centre μ₀ ≥ 0 of the ball of weights.
    radius : float, default=1.0
        The radius Λ of the ball of weights. A larger one lets the weights differ more.
    C : float, default=1.0
        The cost of training errors, C_i = C · sample_weight_i · class weight. A larger C fits the training
        samples more closely.
    n_starts : int, default=5
        The number of starts: one with equal weights, the others random. The best result is kept.
    loss : {"hinge", "squared_hinge", "logistic", "squared"} or Loss, default="squared"
        The loss of one sample. "hinge" is that of a support vector machine. "logistic" gives probabilities.
        "squared" is least squares on the labels ±1: it is the fastest, since one factorisation serves all
        classes.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        A start ends when its projected gradient is this small, relative to the gradient.
    max_iter : int, default=500
        The largest number of steps of each start.
    class_weight : {"balanced"}, dict or None, default=None
        The weight of each class in C_i. "balanced" weighs classes by the inverse of their frequency.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    warm_start : bool, default=False
        Whether the first start is the result of the last fit.
    random_state : int, RandomState or None, default=None
        The seed of the random starts.
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
        The weights μ.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Kernel
        The power of the mixture, callable on new data.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    starts_ : dict
        A table as columns, with a row for each start: start, objective, iterations, residual, converged.
    spread_ : float
        (worst − best)/best of the objectives that the starts reached.
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples, in the form in which they were given. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples: ``kernel_(X, X_fit_) @ dual_coef_ + intercept_`` decides,
        with covariates also ``+ Z @ covariate_coef_``. Not with ``approx``.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b of the decision.
    coef_ : None
        There are no weights of features, since a power of kernels is not linear in X. Reading it raises
        AttributeError.
    covariate_coef_ : ndarray of shape (n_covariates,) or (n_covariates, n_outputs)
        The coefficients of the covariates, in the units in which they were given. Only with covariates.
    covariate_names_ : list of str
        The names of the columns of Z: ``site=B`` is the indicator of a category. Only with covariates.
    objective_ : float
        The objective J(μ) of the best start.
    dual_gap_ : float
        NaN: there is no lower bound.
    certified_ : bool
        False: the problem is not convex.
    dual_point_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The α whose dual value is D; :func:`manykernels.inspection.certificate` computes P and D anew from it.
        Not with ``approx``.
    n_iter_ : int
        The number of steps of the best start.
    history_ : dict
        Columns with the progress of the best start; ``residual`` is the relative projected gradient.
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
    NonlinearMKLRegressor : Learns numbers in place of classes.
    MKLClassifier : Learns a sum of kernels, with a certificate.

    References
    ----------
    - Cortes, Mohri and Rostamizadeh (2009), Learning non-linear combinations of kernels, NIPS.
    - Afkanpour (2013), Multiple kernel learning with many kernels, PhD thesis, University of Alberta.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import NonlinearMKLClassifier
    >>> from manykernels.kernels import Linear, OnColumns
    >>> X = np.random.RandomState(0).randn(80, 2)
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> kernels = {"first": OnColumns(Linear(), [0]), "second": OnColumns(Linear(), [1])}
    >>> model = NonlinearMKLClassifier(kernels, degree=2, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9, bool((model.weights_ > 0.1).all())
    (True, True)
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
    """Regression with a power of a learned combination of kernels.

    The kernel is k_μ(x, x') = (Σ_m μ_m k_m(x, x'))^D: all products of D kernels, weighted by products of μ.
    The weights μ ≥ 0 in the ball ‖μ − μ₀‖₂ ≤ Λ minimise

        J(μ) = min_{f, b} ½‖f‖² + Σ_i C_i ℓ(y_i, f(x_i) + b)

    (Cortes et al. 2009; Afkanpour 2013, Eqs 2.16 and 2.17). For D > 1 this is not convex. The result is a
    stationary point, the best of several starts: no gap certifies it, and ``spread_`` says how far apart the
    starts ended.

    With ``loss="squared"`` and ``fit_intercept=False`` the objective is half of Eq. 2.17 with λ = 1/C.
    Several outputs share μ.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from, as in :class:`MKLClassifier`. Families that are too large to list, such as
        ``Gaussians()``, are refused: give a grid, such as ``gaussian_grid(1.0, 9.0, 5)``.
    degree : int, default=2
        The power D of the combination. 1 is :class:`MKLRegressor` with ``norm=L2Ball(mu0, radius)``.
    mu0 : float or ndarray of shape (n_kernels,), default=0.0
        The centre μ₀ ≥ 0 of the ball of weights.
    radius : float, default=1.0
        The radius Λ of the ball of weights. A larger one lets the weights differ more.
    C : float, default=1.0
        The cost of training errors, C_i = C · sample_weight_i. A larger C fits the training samples more
        closely.
    n_starts : int, default=5
        The number of starts: one with equal weights, the others random. The best result is kept.
    loss : {"squared", "epsilon_insensitive", "pinball", "huber"} or Loss, default="squared"
        The loss of one sample. "squared" is kernel ridge regression, "epsilon_insensitive" a support vector
        machine. "huber" is robust against outliers, and "pinball" learns a quantile, by default the median.
        Objects such as ``Pinball(0.9)`` of ``manykernels.losses`` have parameters.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        A start ends when its projected gradient is this small, relative to the gradient.
    max_iter : int, default=500
        The largest number of steps of each start.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    warm_start : bool, default=False
        Whether the first start is the result of the last fit.
    random_state : int, RandomState or None, default=None
        The seed of the random starts.
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
        The weights μ.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Kernel
        The power of the mixture, callable on new data.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    starts_ : dict
        A table as columns, with a row for each start: start, objective, iterations, residual, converged.
    spread_ : float
        (worst − best)/best of the objectives that the starts reached.
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples, in the form in which they were given. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples: ``kernel_(X, X_fit_) @ dual_coef_ + intercept_`` decides,
        with covariates also ``+ Z @ covariate_coef_``. Not with ``approx``.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b of the decision.
    coef_ : None
        There are no weights of features, since a power of kernels is not linear in X. Reading it raises
        AttributeError.
    covariate_coef_ : ndarray of shape (n_covariates,) or (n_covariates, n_outputs)
        The coefficients of the covariates, in the units in which they were given. Only with covariates.
    covariate_names_ : list of str
        The names of the columns of Z: ``site=B`` is the indicator of a category. Only with covariates.
    objective_ : float
        The objective J(μ) of the best start.
    dual_gap_ : float
        NaN: there is no lower bound.
    certified_ : bool
        False: the problem is not convex.
    dual_point_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The α whose dual value is D; :func:`manykernels.inspection.certificate` computes P and D anew from it.
        Not with ``approx``.
    n_iter_ : int
        The number of steps of the best start.
    history_ : dict
        Columns with the progress of the best start; ``residual`` is the relative projected gradient.
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
    NonlinearMKLClassifier : Learns classes in place of numbers.
    MKLRegressor : Learns a sum of kernels, with a certificate.

    References
    ----------
    - Cortes, Mohri and Rostamizadeh (2009), Learning non-linear combinations of kernels, NIPS.
    - Afkanpour (2013), Multiple kernel learning with many kernels, PhD thesis, University of Alberta.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import NonlinearMKLRegressor
    >>> from manykernels.kernels import Linear, OnColumns
    >>> X = np.random.RandomState(0).randn(80, 2)
    >>> y = X[:, 0] * X[:, 1]
    >>> kernels = {"first": OnColumns(Linear(), [0]), "second": OnColumns(Linear(), [1])}
    >>> model = NonlinearMKLRegressor(kernels, degree=2, C=100.0, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9, len(model.starts_["objective"])
    (True, 5)
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

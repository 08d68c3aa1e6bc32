"""Times to an event with a learned combination of kernels."""

from __future__ import annotations

from typing import Any, Self

from ..fitting.targets import Target
from ..fitting.times import TimeToEvent
from ..losses import Criterion, PartialLikelihood
from ._base import BaseMKL, ProductTable, mkl_parts
from ._survival import SurvivalFace


class MKLSurvival(SurvivalFace, ProductTable, BaseMKL):
    """Survival analysis with a learned combination of kernels: Cox's proportional hazards.

    The hazard of a sample is h₀(t)·exp(f(x)), where f is a function of the learned kernel. The estimator
    minimises the penalised negative logarithm of Cox's partial likelihood,

        ½ Σ_m ‖w_m‖²/θ_m + C Σ_i [log Σ_{j at risk at t_i} exp f(x_j) − f(x_i)]      over the events i,

    over f and the weights θ of the kernels together, until the duality gap is below ``tol``. There is no
    intercept to learn, since a constant in f changes nothing.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from. "auto" suits a table with any kind of columns: a linear, a polynomial and
        several Gaussian kernels (see :class:`~manykernels.families.Auto`). A dict gives the kernels names. A
        family stands for kernels that depend on the data, or that are too many to list, such as
        ``Products(degree=2)``. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train,
        n_kernels).
    norm : float in [1, inf] or Penalty, default=1.0
        The p of the constraint ‖θ‖_p ≤ 1 on the weights. With 1 few kernels have weight. With ``inf`` all
        kernels have the same weight, which is their plain sum. Values in between are a compromise. A penalty
        object, such as ``L2Ball(mu0, radius)`` or ``ElasticNet(0.5)``, replaces the constraint.
    ties : {"breslow", "efron"}, default="breslow"
        How events at the same time are counted. "efron" is nearer to the truth if they are many. A weight of
        2 is then not the same as a sample given twice, since tied events are weighed by their mean.
    C : float, default=1.0
        The cost of the negative log partial likelihood. A larger C fits the training samples more closely.
    solver : str or Solver, default="auto"
        The algorithm that moves the weights. "auto" chooses by kernels, norm and loss. A solver that does not
        serve the problem is refused, with the names of those that do. "active-set", "alternating" and
        "group-descent" are for lists of kernels. "corrective", "greedy" and "stochastic" are for families.
        "blockwise" is for the squared loss without n × n matrices. "silp", "simplemkl" and "hessian" are
        solvers of other papers, at norm 1, for comparison.
    approx : {"features"}, Nystroem, RandomFeatures or None, default=None
        Explicit features (:mod:`manykernels.approx`) in place of n × n matrices, so that time grows in
        proportion to n. "features" uses the finite maps that kernels have themselves.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    tol : float, default=0.001
        The relative duality gap (P − D)/|P| at which learning stops. A smaller value takes longer.
    max_iter : int, default=1000
        The largest number of machines to solve. A fit that reaches it warns that the gap is not reached.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    warm_start : bool, default=False
        Whether a fit starts from the result of the last one, if the numbers of samples and kernels are the
        same.
    random_state : int, RandomState or None, default=None
        The seed of everything that is random: features, solvers that draw kernels.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    verbose : int, default=0
        With 1 a progress bar shows the gap and the number of kernels; 2 adds a line for each look at the
        whole family.
    covariates : list, str, int, slice, mask or None, default=None
        The columns of X to adjust for, such as age, sex and site. They enter the decision as a linear part
        that is not penalised: numbers as they are, categories as indicators. Kernels without columns of their
        own see the other columns. For X without columns give ``covariates`` to ``fit``.
    storage : {"float64", "float32"}, default="float64"
        The type of the kernel matrices that are kept. With "float32" they take half of the memory; a
        fit takes about as long. The duality gap is that of the kernels themselves, with everything that
        rounding may do. Matrices that are given as X keep their own type.

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,)
        The weights θ of the kernels.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Mixture or list of Mixture
        The learned kernel, callable on new data. It is a list with one for each row of ``weights_`` if these
        are several.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    selected_products_ : dict
        The products with weight, as columns of a table: product, degree, weight and contribution, the largest
        contribution first. Only for ``kernels=Products(...)``.
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples, in the form in which they were given. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples: ``kernel_(X, X_fit_) @ dual_coef_ + intercept_`` decides,
        with covariates also ``+ Z @ covariate_coef_``. Not with ``approx``.
    intercept_ : float
        The constant of the decision, which makes the mean risk of the training samples 0.
    features_ : Features
        The explicit features, in place of ``X_fit_``. Only with ``approx``, and for products of columns if n
        × n matrices do not fit into memory.
    feature_coef_ : ndarray of shape (n_components,) or (n_components, n_outputs)
        The coefficients of the features: ``features_.transform(X) @ feature_coef_ + intercept_`` decides.
        Only with ``features_``.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        The weights of the features, if all active kernels are linear: ``X @ coef_.T + intercept_`` decides.
    covariate_coef_ : ndarray of shape (n_covariates,) or (n_covariates, n_outputs)
        The coefficients of the covariates, in the units in which they were given. Only with covariates.
    covariate_names_ : list of str
        The names of the columns of Z: ``site=B`` is the indicator of a category. Only with covariates.
    objective_ : float
        The objective P of the decision function, at the weights that suit it best and with what rounding
        errors may add to it.
    dual_gap_ : float
        The relative gap (P − D)/|P|. D is the best lower bound that the fit met: no weights and no machine
        have a smaller objective.
    certified_ : bool
        Whether D is a lower bound for the whole family of kernels.
    dual_point_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The α whose dual value is D; :func:`manykernels.inspection.certificate` computes P and D anew from it.
        Not with ``approx``.
    n_iter_ : int
        The number of machines that were solved.
    history_ : dict
        The objective, gap, seconds and number of active kernels at each look, as columns. Solvers that draw
        kernels also have how many draws of a batch count.
    event_times_ : ndarray of shape (n_times,)
        The times at which events were observed, in increasing order.
    unique_times_ : ndarray of shape (n_times,)
        The same as ``event_times_``, by the name that scikit-survival uses.
    baseline_ : Baseline
        Breslow's estimate of the hazard of a sample with risk 0, for each stratum.
    censoring_ : StepFunctions
        The probability to be still observed at each time, by which Uno's C and the Brier score weigh.
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
    MKLSurvivalCV : Chooses kernels, norm and C by cross-validation.
    manykernels.survival : Curves and scores of times to an event.

    References
    ----------
    - Cox (1972), Regression models and life-tables, Journal of the Royal Statistical Society B 34.
    - Kloft, Brefeld, Sonnenburg and Zien (2011), lp-norm multiple kernel learning, Journal of Machine
      Learning Research 12.

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
        storage: str = "float64",
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
        self.storage = storage

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn the weights of the kernels together with the function of risk.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, of shape (n_samples, n_features). A dict {name: samples × features} holds views,
            which get kernels of their own. With ``kernels="precomputed"`` it is a stack of kernel matrices,
            of shape (n_samples, n_train, n_kernels), or a dict of them by name.
        y : structured array, frame or array-like of shape (n_samples, 2)
            Whether the event was observed, and the time until then or until the sample was last seen:
            structured arrays as in scikit-survival, or fields ``event`` and ``time``. Two more fields are
            read if they are there: ``entry``, the time from which on a sample was observed (left truncation),
            and ``stratum``; samples are compared within strata, each of which has a hazard of its own.
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
        self._learn_baseline(X, y, sample_weight, covariates, self.ties)
        return self

    def _loss(self) -> Criterion:
        return PartialLikelihood(self.ties).checked()

    def _target(self) -> Target:
        return TimeToEvent(self.ties)

    def _parts(self) -> dict[str, Any]:
        return mkl_parts(self._given())

"""One-stage multiple kernel learning: the weights of the kernels and the machine, in one convex problem."""

from __future__ import annotations

from typing import Any

from .._arguments import shown
from ..losses import Hinge
from ._base import MKLClassification, MKLRegression, ProductTable, mkl_parts


class MKLClassifier(ProductTable, MKLClassification):
    """Classification with a learned combination of kernels.

    The weights θ of the kernels and the machine that uses them are learned together. The estimator minimises

        P = ½ Σ_m ‖w_m‖²/θ_m + Σ_i C_i ℓ(y_i, f(x_i)),      f(x) = Σ_m ⟨w_m, φ_m(x)⟩ + b,

    over θ ≥ 0 with ‖θ‖_p ≤ 1, over w and over b, where φ_m is the feature map of kernel m and ℓ the loss.
    Learning stops when the duality gap proves that P is within a relative ``tol`` of its minimum.

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
    loss : {"hinge", "squared_hinge", "logistic", "squared"} or Loss, default="hinge"
        The loss of one sample. "hinge" is that of a support vector machine. "logistic" gives probabilities.
        "squared" is least squares on the labels ±1: it is the fastest, since one factorisation serves all
        classes.
    C : float, default=1.0
        The cost of training errors, C_i = C · sample_weight_i · class weight. A larger C fits the training
        samples more closely.
    solver : str or Solver, default="auto"
        The algorithm that moves the weights. "auto" chooses by kernels, norm and loss. A solver that does not
        serve the problem is refused, with the names of those that do. "active-set", "alternating" and
        "group-descent" are for lists of kernels. "corrective", "greedy" and "stochastic" are for families.
        "blockwise" is for the squared loss without n × n matrices, "dual-ascent" for products of columns from
        blocks of rows at norms above 1. "silp", "simplemkl" and "hessian" are solvers of other papers, at
        norm 1, for comparison.
    multi_class : {"shared", "ovr", "crammer-singer"}, default="shared"
        How more than two classes are learned. With "shared" one-vs-rest machines share the weights of the
        kernels; with "ovr" each has its own. "crammer-singer" learns all classes in one problem, Σ_i C_i
        max_c (1 − [c = y_i] + f_c(x_i) − f_y_i(x_i)) (Crammer and Singer 2001); it needs the hinge loss and
        no ``approx``. Two classes are one machine with any of the three.
    approx : {"features"}, Nystroem, RandomFeatures or None, default=None
        Explicit features (:mod:`manykernels.approx`) in place of n × n matrices. Time then grows in
        proportion to n, and ``loss="squared"`` needs one pass over the samples only. "features" uses the
        finite maps that kernels have themselves, and learns products of columns from blocks of rows, exactly.
        Continua such as ``Gaussians()`` need ``RandomFeatures(...)``.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        The relative duality gap (P − D)/|P| at which learning stops. A smaller value takes longer.
    max_iter : int, default=1000
        The largest number of machines to solve. A fit that reaches it warns that the gap is not reached.
    class_weight : {"balanced"}, dict or None, default=None
        The weight of each class in C_i. "balanced" weighs classes by the inverse of their frequency.
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
    checkpoint : str, path, Checkpoint or None, default=None
        A folder that keeps finished passes over the rows, for samples that are read in blocks (``approx``,
        products of columns, Dask). After a crash the same fit with the same folder goes on from there, to the
        same model. Other samples, parameters or versions are refused by name. Other fits keep nothing.
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
    weights_ : ndarray of shape (n_kernels,) or (n_classes, n_kernels)
        The weights θ of the kernels. With ``multi_class="ovr"`` and more than two classes there is a row for
        each class.
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
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b of the decision.
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
    MKLClassifierCV : Chooses kernels, norm and C by cross-validation.
    MKLRegressor : Learns numbers in place of classes.
    AlignMKLClassifier : Learns the weights first, then any classifier.
    UFOMKLClassifier : Learns online, for streams of samples.

    Notes
    -----
    With q_m(α) = αᵀK_mα the dual problem is to maximise D(α) = −Σ_i C_i ℓ*(y_i, −α_i/C_i) − ½ max_θ θᵀq(α),
    with Σ_i α_i = 0 if there is an intercept. D ≤ P for all α and all θ, so that ``dual_gap_`` needs no
    second solver. Several classes that share weights have q_m = Σ_k α_kᵀK_mα_k.

    At p = 1 this is the problem of Lanckriet et al. (2004) and of SimpleMKL, at p > 1 that of Kloft et al.
    (2011).

    References
    ----------
    - Lanckriet, Cristianini, Bartlett, El Ghaoui and Jordan (2004), Learning the kernel matrix with
      semidefinite programming, Journal of Machine Learning Research 5.
    - Kloft, Brefeld, Sonnenburg and Zien (2011), lp-norm multiple kernel learning, Journal of Machine
      Learning Research 12.
    - Crammer and Singer (2001), On the algorithmic implementation of multiclass kernel-based vector
      machines, Journal of Machine Learning Research 2.
    - Afkanpour (2013), Multiple kernel learning with many kernels, PhD thesis, University of Alberta.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = MKLClassifier({"linear": Linear(), "wide": Gaussian(5.0), "narrow": Gaussian(0.1)})
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    >>> model.weights_.shape, bool(model.dual_gap_ < 1e-3), model.certified_
    ((3,), True, True)
    >>> model.contributions(X[:5]).shape == (5, len(model.active_), 3)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        norm: Any = 1.0,
        loss: Any = "hinge",
        C: float = 1.0,
        solver: Any = "auto",
        multi_class: str = "shared",
        approx: Any = None,
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
        covariates: Any = None,
        checkpoint: Any = None,
        storage: str = "float64",
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.loss = loss
        self.C = C
        self.solver = solver
        self.multi_class = multi_class
        self.approx = approx
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
        self.covariates = covariates
        self.checkpoint = checkpoint
        self.storage = storage

    def _parts(self) -> dict[str, Any]:
        return mkl_parts(self._given()) | several_classes(self._given())


class MKLRegressor(ProductTable, MKLRegression):
    """Regression with a learned combination of kernels, for one output or several.

    The weights θ of the kernels and the machine that uses them are learned together. The estimator minimises

        P = ½ Σ_m ‖w_m‖²/θ_m + Σ_i C_i ℓ(y_i, f(x_i)),      f(x) = Σ_m ⟨w_m, φ_m(x)⟩ + b,

    over θ ≥ 0 with ‖θ‖_p ≤ 1, over w and over b, where φ_m is the feature map of kernel m and ℓ the loss.
    Learning stops when the duality gap proves that P is within a relative ``tol`` of its minimum. y has shape
    (n_samples,) or (n_samples, n_outputs).

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
    loss : {"squared", "epsilon_insensitive", "pinball", "huber"} or Loss, default="squared"
        The loss of one sample. "squared" is kernel ridge regression, "epsilon_insensitive" a support vector
        machine. "huber" is robust against outliers, and "pinball" learns a quantile, by default the median.
        Objects such as ``Pinball(0.9)`` of ``manykernels.losses`` have parameters.
    C : float, default=1.0
        The cost of training errors, C_i = C · sample_weight_i. A larger C fits the training samples more
        closely.
    solver : str or Solver, default="auto"
        The algorithm that moves the weights. "auto" chooses by kernels, norm and loss. A solver that does not
        serve the problem is refused, with the names of those that do. "active-set", "alternating" and
        "group-descent" are for lists of kernels. "corrective", "greedy" and "stochastic" are for families.
        "blockwise" is for the squared loss without n × n matrices, "dual-ascent" for products of columns from
        blocks of rows at norms above 1. "silp", "simplemkl" and "hessian" are solvers of other papers, at
        norm 1, for comparison.
    approx : {"features"}, Nystroem, RandomFeatures or None, default=None
        Explicit features (:mod:`manykernels.approx`) in place of n × n matrices. Time then grows in
        proportion to n, and ``loss="squared"`` needs one pass over the samples only. "features" uses the
        finite maps that kernels have themselves, and learns products of columns from blocks of rows, exactly.
        Continua such as ``Gaussians()`` need ``RandomFeatures(...)``.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
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
    multi_output : {"shared", "own"}, default="shared"
        Whether several outputs share the weights of the kernels, or each output has its own: one problem for
        each, on the same kernel matrices.
    covariates : list, str, int, slice, mask or None, default=None
        The columns of X to adjust for, such as age, sex and site. They enter the decision as a linear part
        that is not penalised: numbers as they are, categories as indicators. Kernels without columns of their
        own see the other columns. For X without columns give ``covariates`` to ``fit``.
    checkpoint : str, path, Checkpoint or None, default=None
        A folder that keeps finished passes over the rows, for samples that are read in blocks (``approx``,
        products of columns, Dask). After a crash the same fit with the same folder goes on from there, to the
        same model. Other samples, parameters or versions are refused by name. Other fits keep nothing.
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
    weights_ : ndarray of shape (n_kernels,) or (n_outputs, n_kernels)
        The weights θ of the kernels. With ``multi_output="own"`` and y of two dimensions there is a row for
        each output.
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
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b of the decision.
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
    objective_ : float or ndarray of shape (n_outputs,)
        The objective P of the decision function, at the weights that suit it best and with what rounding
        errors may add to it; one for each output with ``multi_output="own"``.
    dual_gap_ : float or ndarray of shape (n_outputs,)
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
    MKLRegressorCV : Chooses kernels, norm and C by cross-validation.
    MKLClassifier : Learns classes in place of numbers.
    AlignMKLRegressor : Learns the weights first, then any regressor.
    UFOMKLRegressor : Learns online, for streams of samples.

    Notes
    -----
    With q_m(α) = αᵀK_mα the dual problem is to maximise D(α) = −Σ_i C_i ℓ*(y_i, −α_i/C_i) − ½ max_θ θᵀq(α),
    with Σ_i α_i = 0 if there is an intercept. D ≤ P for all α and all θ, so that ``dual_gap_`` needs no
    second solver. Several outputs that share weights have q_m = Σ_k α_kᵀK_mα_k.

    With the squared loss and ``norm=L2Ball(mu0, radius)`` this is the problem of Cortes et al. (2009).

    References
    ----------
    - Kloft, Brefeld, Sonnenburg and Zien (2011), lp-norm multiple kernel learning, Journal of Machine
      Learning Research 12.
    - Cortes, Mohri and Rostamizadeh (2009), L2 regularization for learning kernels, UAI.
    - Rostamizadeh (2010), Theoretical foundations and algorithms for learning with multiple kernels, PhD
      thesis, New York University.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import Linear, OnColumns
    >>> X = np.random.RandomState(0).randn(50, 4)
    >>> Y = np.c_[X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]]
    >>> bands = {"left": OnColumns(Linear(), [0, 1]), "right": OnColumns(Linear(), [2, 3])}
    >>> model = MKLRegressor(bands, C=100.0).fit(X, Y)
    >>> np.round(model.weights_, 1)
    array([0.5, 0.5])

    With weights of its own every output uses the kernel that it needs:

    >>> model = MKLRegressor(bands, C=100.0, multi_output="own").fit(X, Y)
    >>> model.weights_.argmax(axis=1).tolist()
    [0, 1]
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        norm: Any = 1.0,
        loss: Any = "squared",
        C: float = 1.0,
        solver: Any = "auto",
        approx: Any = None,
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
        multi_output: str = "shared",
        covariates: Any = None,
        checkpoint: Any = None,
        storage: str = "float64",
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.loss = loss
        self.C = C
        self.solver = solver
        self.approx = approx
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
        self.multi_output = multi_output
        self.covariates = covariates
        self.checkpoint = checkpoint
        self.storage = storage

    def _parts(self) -> dict[str, Any]:
        return mkl_parts(self._given()) | {"own_weights": has_own_weights(self.multi_output)}


def several_classes(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `multi_class`, or raise an error if it does not fit the other parameters."""
    multi_class, loss = given["multi_class"], given["loss"]
    if multi_class not in ("shared", "ovr", "crammer-singer"):
        raise ValueError(
            f"multi_class={shown(multi_class)} was given; expected 'shared', 'ovr' or 'crammer-singer'."
        )
    if multi_class != "crammer-singer":
        return {"own_weights": multi_class == "ovr"}
    hinge = isinstance(loss, Hinge) or (isinstance(loss, str) and loss == "hinge")
    for name, expected, fine in (
        ("loss", "'hinge'", hinge),
        ("approx", "None", given.get("approx") is None),
        ("covariates", "None", given.get("covariates") is None),
    ):
        if not fine:
            raise ValueError(
                f"{name}={shown(given[name])} was given with multi_class='crammer-singer', the hinge of "
                f"all classes in one problem; expected {name}={expected}. Take multi_class='shared' or "
                f"'ovr' with this {name}."
            )
    return {"joint": True}


def has_own_weights(multi_output: Any) -> bool:
    """Tell whether every output has weights of its own; raise an error for an unknown value."""
    if not isinstance(multi_output, str) or multi_output not in ("shared", "own"):
        raise ValueError(f"multi_output={shown(multi_output)} was given; expected 'shared' or 'own'.")
    return multi_output == "own"

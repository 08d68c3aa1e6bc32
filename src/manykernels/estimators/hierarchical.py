"""Hierarchical multiple kernel learning: kernels of a graph, each only with its ancestors (Bach 2008)."""

from __future__ import annotations

from typing import Any, Self

from ..families import DAG, AnovaDAG, PolynomialDAG
from ..solvers import Hierarchical, Solver
from ._base import BaseMKL, MKLClassification, MKLRegression


class Graded(BaseMKL):
    """Base class of the hierarchical estimators: the graph, and one problem over all of it."""

    solver: Any
    hull_: list[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn which kernels of the graph are needed, their weights and the machine.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The samples, as numbers.
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
        return {"kernels": self._graph(), "solver": self._solver()}

    def _fills_gaps(self) -> bool:
        return False  # a graph multiplies columns as they are

    def _graph(self) -> PolynomialDAG | AnovaDAG | DAG:
        given = self.kernels
        if isinstance(given, str) and given == "auto":
            return PolynomialDAG(degree=3)
        if not isinstance(given, PolynomialDAG | AnovaDAG | DAG):
            raise ValueError(
                f"kernels={given!r} was given; expected 'auto', PolynomialDAG(degree), AnovaDAG(width) or "
                "DAG(parents), which say which kernels are above which. Kernels without an order are for "
                "MKLClassifier and MKLRegressor."
            )
        return given

    def _solver(self) -> Solver:
        if isinstance(self.solver, str) and self.solver == "auto":
            return Hierarchical()
        if not isinstance(self.solver, Solver) or self.solver.serves.problem != "hull":
            raise ValueError(
                f"solver={self.solver!r} was given; expected 'auto', or Hierarchical(max_active=...) of "
                "manykernels.solvers."
            )
        return self.solver


class HierarchicalMKLClassifier(Graded, MKLClassification):
    """Classification with kernels of a graph, each used only with its ancestors.

    A kernel of the graph is used only together with all of its ancestors. The estimator minimises

        P = ½ (Σ_v d_v ‖w_{D(v)}‖)² + Σ_i C_i ℓ(y_i, f(x_i)),      f(x) = Σ_v ⟨w_v, φ_v(x)⟩ + b,

    over w and b (Bach 2008; Afkanpour 2013, Eq. 2.14), where D(v) is node v with all nodes below it. The
    nodes with w_v ≠ 0 then contain the parents of each of them. The graph may have exponentially many nodes:
    only those that matter are visited, and the duality gap is that of the whole graph nevertheless.

    Several classes share the weights.

    Parameters
    ----------
    kernels : {"auto"}, PolynomialDAG, AnovaDAG or DAG, default="auto"
        The graph of kernels. "auto" is ``PolynomialDAG(degree=3)``: all products of powers of the features.
        Scale the features first.
    loss : {"hinge", "squared_hinge", "logistic", "squared"} or Loss, default="hinge"
        The loss of one sample. "hinge" is that of a support vector machine. "logistic" gives probabilities.
        "squared" is least squares on the labels ±1: it is the fastest, since one factorisation serves all
        classes.
    C : float, default=1.0
        The cost of training errors, C_i = C · sample_weight_i · class weight. A larger C fits the training
        samples more closely.
    solver : {"auto"} or Hierarchical, default="auto"
        The algorithm. "auto" is ``Hierarchical()``; ``Hierarchical(max_active=..., max_visited=...)`` limits
        how many nodes of the graph it keeps and visits.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled. It applies to each power of a feature by itself, where only "trace", "max"
        and None are possible; kernels of a ``DAG`` also take "cosine" and "frobenius".
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
        Whether a fit starts from the nodes that had weight in the last one.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    verbose : int, default=0
        With 1 a progress bar shows the gap and the number of kernels; 2 adds a line for each look at the
        whole family.

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_active,)
        The weights ζ_v of the nodes in ``hull_``, larger for kernels further up.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Mixture or list of Mixture
        The learned kernel, callable on new data. It is a list with one for each row of ``weights_`` if these
        are several.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    hull_ : list
        The nodes with weight. For products each is a tuple of (column, power).
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples, in the form in which they were given. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples: ``kernel_(X, X_fit_) @ dual_coef_ + intercept_`` decides,
        with covariates also ``+ Z @ covariate_coef_``. Not with ``approx``.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b of the decision.
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
        The relative gap (P − D)/|P| over the whole graph, or over the kernels that were visited if
        ``certified_`` is False.
    certified_ : bool
        Whether ``dual_gap_`` ≤ tol is proven for the whole graph.
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
    checks_ : list of Check
        Reasons to be careful with this model, each with a code, a sentence and advice; empty if there are
        none.
    n_features_in_ : int
        The number of columns of X in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of X in ``fit``, if all of them are strings.

    See Also
    --------
    HierarchicalMKLRegressor : Learns numbers in place of classes.
    MKLClassifier : Learns weights of kernels without an order.

    References
    ----------
    - Bach (2008), Exploring large feature spaces with hierarchical multiple kernel learning, NIPS.
    - Afkanpour (2013), Multiple kernel learning with many kernels, PhD thesis, University of Alberta.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import HierarchicalMKLClassifier
    >>> X = np.random.RandomState(0).uniform(-1, 1, (80, 3))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = HierarchicalMKLClassifier(C=10.0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> () in model.hull_, len(model.hull_) == len(model.weights_)
    (True, True)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        loss: Any = "hinge",
        C: float = 1.0,
        solver: Any = "auto",
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        memory_limit: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.C = C
        self.solver = solver
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


class HierarchicalMKLRegressor(Graded, MKLRegression):
    """Regression with kernels of a graph, each used only with its ancestors.

    A kernel of the graph is used only together with all of its ancestors. The estimator minimises

        P = ½ (Σ_v d_v ‖w_{D(v)}‖)² + Σ_i C_i ℓ(y_i, f(x_i)),      f(x) = Σ_v ⟨w_v, φ_v(x)⟩ + b,

    over w and b (Bach 2008; Afkanpour 2013, Eq. 2.14), where D(v) is node v with all nodes below it. The
    nodes with w_v ≠ 0 then contain the parents of each of them. The graph may have exponentially many nodes:
    only those that matter are visited, and the duality gap is that of the whole graph nevertheless.

    Several outputs share the weights.

    Parameters
    ----------
    kernels : {"auto"}, PolynomialDAG, AnovaDAG or DAG, default="auto"
        The graph of kernels. "auto" is ``PolynomialDAG(degree=3)``: all products of powers of the features.
        Scale the features first.
    loss : {"squared", "epsilon_insensitive", "pinball", "huber"} or Loss, default="squared"
        The loss of one sample. "squared" is kernel ridge regression, "epsilon_insensitive" a support vector
        machine. "huber" is robust against outliers, and "pinball" learns a quantile, by default the median.
        Objects such as ``Pinball(0.9)`` of ``manykernels.losses`` have parameters.
    C : float, default=1.0
        The cost of training errors, C_i = C · sample_weight_i. A larger C fits the training samples more
        closely.
    solver : {"auto"} or Hierarchical, default="auto"
        The algorithm. "auto" is ``Hierarchical()``; ``Hierarchical(max_active=..., max_visited=...)`` limits
        how many nodes of the graph it keeps and visits.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled. It applies to each power of a feature by itself, where only "trace", "max"
        and None are possible; kernels of a ``DAG`` also take "cosine" and "frobenius".
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
        Whether a fit starts from the nodes that had weight in the last one.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    verbose : int, default=0
        With 1 a progress bar shows the gap and the number of kernels; 2 adds a line for each look at the
        whole family.

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_active,)
        The weights ζ_v of the nodes in ``hull_``, larger for kernels further up.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Mixture or list of Mixture
        The learned kernel, callable on new data. It is a list with one for each row of ``weights_`` if these
        are several.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    hull_ : list
        The nodes with weight. For products each is a tuple of (column, power).
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples, in the form in which they were given. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples: ``kernel_(X, X_fit_) @ dual_coef_ + intercept_`` decides,
        with covariates also ``+ Z @ covariate_coef_``. Not with ``approx``.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b of the decision.
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
        The relative gap (P − D)/|P| over the whole graph, or over the kernels that were visited if
        ``certified_`` is False.
    certified_ : bool
        Whether ``dual_gap_`` ≤ tol is proven for the whole graph.
    dual_point_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The α whose dual value is D; :func:`manykernels.inspection.certificate` computes P and D anew from it.
        Not with ``approx``.
    n_iter_ : int
        The number of machines that were solved.
    history_ : dict
        The objective, gap, seconds and number of active kernels at each look, as columns. Solvers that draw
        kernels also have how many draws of a batch count.
    checks_ : list of Check
        Reasons to be careful with this model, each with a code, a sentence and advice; empty if there are
        none.
    n_features_in_ : int
        The number of columns of X in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of X in ``fit``, if all of them are strings.

    See Also
    --------
    HierarchicalMKLClassifier : Learns classes in place of numbers.
    MKLRegressor : Learns weights of kernels without an order.

    References
    ----------
    - Bach (2008), Exploring large feature spaces with hierarchical multiple kernel learning, NIPS.
    - Afkanpour (2013), Multiple kernel learning with many kernels, PhD thesis, University of Alberta.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import HierarchicalMKLRegressor
    >>> X = np.random.RandomState(0).uniform(-1, 1, (80, 3))
    >>> y = X[:, 0] * X[:, 1]
    >>> model = HierarchicalMKLRegressor(C=100.0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> () in model.hull_, bool(model.dual_gap_ < 1e-3)
    (True, True)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        loss: Any = "squared",
        C: float = 1.0,
        solver: Any = "auto",
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.C = C
        self.solver = solver
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

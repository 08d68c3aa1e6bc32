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
    """Base class of the localized estimators: gates, and one problem over the kernels behind them."""

    n_clusters: int
    gating: Any
    temperature: float
    norm: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Cluster the samples, then learn the weights in every cluster and the machine.

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
        """Compute the share of each sample in each cluster.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The shares, which are positive; for clusters they sum to 1.

        Examples
        --------
        A sample half-way between the clusters belongs to both alike:

        >>> import numpy as np
        >>> from manykernels import LocalizedMKLRegressor
        >>> from manykernels.kernels import Linear
        >>> X = np.array([[-6.0], [-5.0], [-4.0], [4.0], [5.0], [6.0]])
        >>> model = LocalizedMKLRegressor([Linear()], n_clusters=2, random_state=0).fit(X, np.abs(X[:, 0]))
        >>> np.sort(model.gate([[-5.0], [0.0], [5.0]]).round(2))
        array([[0. , 1. ],
               [0.5, 0.5],
               [0. , 1. ]])
        """
        check_is_fitted(self)
        return self._function(None).gate(self._model.layout.read(X))

    def contributions(
        self, X: Any, by: Literal["kernel", "view"] = "kernel", gates: Any = None, *, outputs: Any = None
    ) -> Array:
        """Compute what each kernel adds to the decision in all clusters together.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        by : {"kernel", "view"}, default="kernel"
            With "view" the kernels of each view are added up.
        gates : ndarray of shape (n_samples, n_clusters), default=None
            The shares of the samples in the clusters, in place of the model's own. Needed if ``gating`` was
            an array.
        outputs : list of int, slice or None, default=None
            The positions of some outputs, for models with so many that all of them do not fit into memory.

        Returns
        -------
        ndarray of shape (n_samples, n_active) or (n_samples, n_views)
            The contributions, in the order of ``active_``, or of ``view_weights_`` with ``by="view"``. Models
            of several outputs have these on a last axis.
        """
        check_is_fitted(self)
        return self._added(X, by, outputs, self._function(gates))

    def _decide(self, X: Any, gates: Any = None, covariates: Any = None) -> Array:
        check_is_fitted(self)
        return self._model.decide(X, self._function(gates), covariates)

    def _function(self, gates: Any) -> GatedFunction:
        """Return the decision function, with these gates in place of its own if they are given."""
        function = self._model.function
        assert isinstance(function, GatedFunction)
        return function.behind(gates)


def _means(
    X: Any, weight: Array, n_clusters: int, n_starts: int, rng: np.random.RandomState
) -> tuple[Array, float]:
    """Compute the centres of k-means, and the remaining sum of squares."""
    found = KMeans(n_clusters, n_init=n_starts, random_state=rng).fit(X, sample_weight=weight)
    return np.asarray(found.cluster_centers_), float(found.inertia_)


class LocalizedMKLClassifier(Localized, MKLClassification):
    """Classification with kernels whose weights differ by region.

    Samples belong to clusters with shares c_j(x), which are found before anything is learned. Then one convex
    problem (Lei et al. 2016, Problem 1) is solved,

        P = ½ Σ_j Σ_m ‖w_jm‖²/β_jm + Σ_i C_i ℓ(y_i, f(x_i)),    f(x) = Σ_j c_j(x) Σ_m ⟨w_jm, φ_m(x)⟩ + b,

    over β_j ≥ 0 with ‖β_j‖_p ≤ 1 for every cluster j, over w and over b, with a duality gap of its own.

    With ``gating="softmax"`` or ``gating="sigmoid"`` every kernel has a gate that is learned with the machine
    (Gönen and Alpaydın 2008, 2013): k(x, x') = Σ_m η_m(x) k_m(x, x') η_m(x'), where η is the softmax or the
    sigmoid of ⟨v_m, x⟩ + v_m0. That problem is not convex: ``certified_`` is False, ``dual_gap_`` is NaN, and
    the result is a stationary point.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from, as in :class:`MKLClassifier`. Families that are too large to list, such as
        ``Gaussians()``, are refused: give a grid, such as ``gaussian_grid(1.0, 9.0, 5)``.
    n_clusters : int, default=2
        The number of clusters. With 1 it is :class:`MKLClassifier`.
    gating : str, ndarray or callable, default="kernel-kmeans"
        How samples are shared out among clusters. "kernel-kmeans": soft kernel k-means on the uniform
        combination of the kernels. "kmeans": soft k-means on X. "hard": kernel k-means without sharing. An
        array of shape (n_samples, n_clusters) or a function of X gives the shares; with an array ``predict``
        needs the gates of new samples. "softmax" and "sigmoid" learn one gate for each kernel, linear in the
        standardised columns of X; ``n_clusters``, ``temperature`` and ``norm`` then have no effect.
    temperature : float, default=0.1
        The softness of the borders between clusters. Shares are softmax(−d_j(x)/t), with d_j the squared
        distance from the centre of cluster j, and t this number times the mean of the samples' own. A larger
        value shares samples more evenly.
    norm : float in [1, inf], default=2.0
        The p of the constraint ‖β_j‖_p ≤ 1 on the weights of each cluster. With 1 few kernels have weight;
        larger values spread the weights.
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
        "blockwise" is for the squared loss without n × n matrices. "silp", "simplemkl" and "hessian" are
        solvers of other papers, at norm 1, for comparison.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        The relative duality gap (P − D)/|P| at which learning stops. With learned gates it is the relative
        decrease of the objective in one iteration.
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
        The seed of the clusters and of learned gates.
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
    weights_ : ndarray of shape (n_clusters, n_kernels)
        The weights β_jm of kernel m in cluster j; the identity if gates are learned, since each gate belongs
        to a kernel.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Kernel
        The learned kernel Σ_j c_j(x) c_j(x') Σ_m β_jm k_m(x, x'), callable on new data.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    gates_ : ndarray of shape (n_samples, n_clusters)
        The shares of the training samples in the clusters; ``gate(X)`` computes those of others.
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
        The relative gap (P − D)/|P|; NaN if gates are learned.
    certified_ : bool
        Whether ``dual_gap_`` is proven; False if gates are learned.
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
    LocalizedMKLRegressor : Learns numbers in place of classes.
    MKLClassifier : Learns one set of weights for all samples.

    References
    ----------
    - Lei, Binder, Dogan and Kloft (2016), Localized multiple kernel learning: a convex approach, ACML.
    - Gönen and Alpaydın (2008), Localized multiple kernel learning, ICML.
    - Gönen and Alpaydın (2013), Localized algorithms for multiple kernel learning, Pattern Recognition
      46.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from manykernels import LocalizedMKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = LocalizedMKLClassifier([Linear(), Gaussian(0.5)], n_clusters=2, random_state=0).fit(X, y)
    >>> model.weights_.shape, model.gate(X[:3]).shape, model.score(X, y) > 0.9
    ((2, 2), (3, 2), True)
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
        """Compute the decision on each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        gates : ndarray of shape (n_samples, n_clusters), default=None
            The shares of the samples in the clusters, in place of the model's own. Needed if ``gating`` was
            an array.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The decisions: for two classes one number, positive for ``classes_[1]``; else one for each class.
        """
        return self._single(self._decide(X, gates, covariates))

    def predict(self, X: Any, gates: Any = None, covariates: Any = None) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        gates : ndarray of shape (n_samples, n_clusters), default=None
            The shares of the samples in the clusters, in place of the model's own. Needed if ``gating`` was
            an array.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        f = self._decide(X, gates, covariates)
        assert self._model.target is not None
        return np.asarray(self._model.target.predict(f))

    @available_if(lambda self: is_logistic(self.loss))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, gates: Any = None, covariates: Any = None) -> Array:
        """Predict the probabilities of the classes; only with the logistic loss.

        They are the logistic function of the decision, normalised over several classes.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        gates : ndarray of shape (n_samples, n_clusters), default=None
            The shares of the samples in the clusters, in place of the model's own. Needed if ``gating`` was
            an array.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        return np.asarray(np.exp(log_probabilities(self._decide(X, gates, covariates))))

    @available_if(lambda self: is_logistic(self.loss))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, gates: Any = None, covariates: Any = None) -> Array:
        """Predict the logarithms of the probabilities; only with the logistic loss.

        They are exact also if probabilities are tiny.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        gates : ndarray of shape (n_samples, n_clusters), default=None
            The shares of the samples in the clusters, in place of the model's own. Needed if ``gating`` was
            an array.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithms of the probabilities, in the order of ``classes_``.
        """
        return log_probabilities(self._decide(X, gates, covariates))


class LocalizedMKLRegressor(Localized, MKLRegression):
    """Regression with kernels whose weights differ by region.

    Samples belong to clusters with shares c_j(x), which are found before anything is learned. Then one convex
    problem (Lei et al. 2016, Problem 1) is solved,

        P = ½ Σ_j Σ_m ‖w_jm‖²/β_jm + Σ_i C_i ℓ(y_i, f(x_i)),    f(x) = Σ_j c_j(x) Σ_m ⟨w_jm, φ_m(x)⟩ + b,

    over β_j ≥ 0 with ‖β_j‖_p ≤ 1 for every cluster j, over w and over b, with a duality gap of its own.

    With ``gating="softmax"`` or ``gating="sigmoid"`` every kernel has a gate that is learned with the machine
    (Gönen and Alpaydın 2008, 2013): k(x, x') = Σ_m η_m(x) k_m(x, x') η_m(x'), where η is the softmax or the
    sigmoid of ⟨v_m, x⟩ + v_m0. That problem is not convex: ``certified_`` is False, ``dual_gap_`` is NaN, and
    the result is a stationary point.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from, as in :class:`MKLClassifier`. Families that are too large to list, such as
        ``Gaussians()``, are refused: give a grid, such as ``gaussian_grid(1.0, 9.0, 5)``.
    n_clusters : int, default=2
        The number of clusters. With 1 it is :class:`MKLRegressor`.
    gating : str, ndarray or callable, default="kernel-kmeans"
        How samples are shared out among clusters. "kernel-kmeans": soft kernel k-means on the uniform
        combination of the kernels. "kmeans": soft k-means on X. "hard": kernel k-means without sharing. An
        array of shape (n_samples, n_clusters) or a function of X gives the shares; with an array ``predict``
        needs the gates of new samples. "softmax" and "sigmoid" learn one gate for each kernel, linear in the
        standardised columns of X; ``n_clusters``, ``temperature`` and ``norm`` then have no effect.
    temperature : float, default=0.1
        The softness of the borders between clusters. Shares are softmax(−d_j(x)/t), with d_j the squared
        distance from the centre of cluster j, and t this number times the mean of the samples' own. A larger
        value shares samples more evenly.
    norm : float in [1, inf], default=2.0
        The p of the constraint ‖β_j‖_p ≤ 1 on the weights of each cluster. With 1 few kernels have weight;
        larger values spread the weights.
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
        "blockwise" is for the squared loss without n × n matrices. "silp", "simplemkl" and "hessian" are
        solvers of other papers, at norm 1, for comparison.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        The relative duality gap (P − D)/|P| at which learning stops. With learned gates it is the relative
        decrease of the objective in one iteration.
    max_iter : int, default=1000
        The largest number of machines to solve. A fit that reaches it warns that the gap is not reached.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    warm_start : bool, default=False
        Whether a fit starts from the result of the last one, if the numbers of samples and kernels are the
        same.
    random_state : int, RandomState or None, default=None
        The seed of the clusters and of learned gates.
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
    weights_ : ndarray of shape (n_clusters, n_kernels)
        The weights β_jm of kernel m in cluster j; the identity if gates are learned, since each gate belongs
        to a kernel.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Kernel
        The learned kernel Σ_j c_j(x) c_j(x') Σ_m β_jm k_m(x, x'), callable on new data.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    gates_ : ndarray of shape (n_samples, n_clusters)
        The shares of the training samples in the clusters; ``gate(X)`` computes those of others.
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
        The relative gap (P − D)/|P|; NaN if gates are learned.
    certified_ : bool
        Whether ``dual_gap_`` is proven; False if gates are learned.
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
    LocalizedMKLClassifier : Learns classes in place of numbers.
    MKLRegressor : Learns one set of weights for all samples.

    References
    ----------
    - Lei, Binder, Dogan and Kloft (2016), Localized multiple kernel learning: a convex approach, ACML.
    - Gönen and Alpaydın (2008), Localized multiple kernel learning, ICML.
    - Gönen and Alpaydın (2013), Localized algorithms for multiple kernel learning, Pattern Recognition
      46.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import LocalizedMKLRegressor
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X = np.linspace(-3, 3, 80).reshape(-1, 1)
    >>> y = np.where(X[:, 0] < 0, X[:, 0], np.sin(4 * X[:, 0]))
    >>> model = LocalizedMKLRegressor([Linear(), Gaussian(0.3)], C=100.0, random_state=0).fit(X, y)
    >>> model.weights_.shape, model.score(X, y) > 0.9
    ((2, 2), True)
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
        """Predict the target of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        gates : ndarray of shape (n_samples, n_clusters), default=None
            The shares of the samples in the clusters, in place of the model's own. Needed if ``gating`` was
            an array.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions, with two dimensions if y of ``fit`` had two.
        """
        return self._single(self._decide(X, gates, covariates))

"""Two-stage multiple kernel learning: learn the kernel by alignment, then hand it to a learner."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.svm import SVC
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._arguments import shown
from .._fast.threads import threads
from ..fitting.aligning import ridge_from_sums
from ..fitting.functions import FeatureFunction, Function, KernelFunction
from ..fitting.layout import is_lazy, require_finite, take
from ..fitting.targets import Labels, Numbers, Similarity
from ..grams.memory import LEARNER
from ..kernels import Linear
from ._dask import LazyScore, over_blocks
from ._explain import Array, Explained
from ._second_stage import as_ridge, check_learner, dual_of, require_feature_learner, takes_weights
from ._two_stage import TwoStage
from .mkl import MKLClassifier, MKLRegressor


def _offers(method: str) -> Any:
    """Make a check that the learner has this method; the fitted learner is asked if there is one."""

    def check(model: Any) -> bool:
        getattr(model.__dict__.get("estimator_", model._learner()), method)
        return True

    return check


class _AlignMKL(TwoStage, Explained):
    """Base class of the two-stage classifier and regressor: the second stage."""

    estimator: Any
    estimator_: Any
    _for: str  # the task of the learner

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        weighting: Any = "alignf",
        center: bool = True,
        normalize: str | None = "trace",
        target: str = "auto",
        estimator: Any = None,
        memory_limit: Any = None,
        n_jobs: int | None = None,
        approx: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        covariates: Any = None,
    ) -> None:
        self.kernels = kernels
        self.weighting = weighting
        self.center = center
        self.normalize = normalize
        self.target = target
        self.estimator = estimator
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.approx = approx
        self.random_state = random_state
        self.verbose = verbose
        self.covariates = covariates

    def _default(self) -> Any:
        raise NotImplementedError

    def _learner(self) -> Any:
        if self.estimator is None and self.approx is not None:
            return Ridge() if self._for == "regression" else RidgeClassifier()
        return self._default() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn the weights of the kernels, then the learner that uses the learned kernel.

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
            The weights of the samples, in both stages. A sample of weight 2 counts as two samples. The
            learner must take weights too.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            Covariates that enter the second stage unpenalised, if X has no columns that ``covariates`` of the
            estimator could name. The kernels are aligned with what they leave of the target.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has a value that it cannot have, if samples and targets do not fit together, if
            all targets are the same, or if a kernel is not finite or not
            positive semidefinite.
        TypeError
            If an argument is of a type that it cannot be of.
        MemoryError
            If the kernels do not fit into ``memory_limit``; the message says what does.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import AlignMKLRegressor
        >>> from manykernels.kernels import Linear, OnColumns
        >>> X = np.random.RandomState(0).randn(30, 2)
        >>> model = AlignMKLRegressor({"age": OnColumns(Linear(), [0]), "noise": OnColumns(Linear(), [1])})
        >>> model.fit(X, 2.0 * X[:, 0]).weights_.round(1).tolist()
        [1.0, 0.0]
        >>> model.estimator_
        KernelRidge(kernel='precomputed')
        """
        self.__dict__.pop("_offset", None)
        if covariates is not None or self.covariates is not None:
            return self._fit_adjusted(X, y, sample_weight, covariates)
        self._beside = None
        learner = self._learner()
        if not hasattr(learner, "get_params") or isinstance(learner, type):
            raise TypeError(
                f"estimator={shown(learner)} was given; expected a scikit-learn learner, such as "
                "SVC(kernel='precomputed') or KernelRidge(kernel='precomputed'), or None."
            )
        learner = clone(learner)
        if self.approx is not None:
            return self._fit_features(X, y, sample_weight, learner)
        check_learner(learner, self._for)
        counts = takes_weights(learner, sample_weight)
        with threads(self.n_jobs):
            y, found = self._learn(X, y, LEARNER, sample_weight, merged=counts)
            assert found.gram is not None
            K, rows = found.gram.combine(self.weights_), self._samples
        weight = rows.weight if counts and not np.all(rows.weight == 1.0) else None
        options = {} if weight is None else {"sample_weight": weight}
        self.estimator_ = learner.fit(K, self._second_target(y[rows.first], weight), **options)
        self._describe()
        return self

    def _fit_adjusted(self, X: Any, y: Any, sample_weight: Any, covariates: Any) -> Self:
        """Fit both stages with covariates: a machine of this package takes the place of the learner."""
        refused = {
            "estimator": (self.estimator is not None, "other learners cannot leave covariates unpenalised"),
            "sample_weight": (sample_weight is not None, "alignment with covariates counts each sample once"),
            "target": (not self.target == "auto", "covariates belong to the target that is predicted"),
        }
        for name, (given, why) in refused.items():
            if given:
                raise ValueError(
                    f"{name} was given together with covariates: {why}. Leave {name} out, or learn in one "
                    "stage: MKLClassifier, MKLRegressor."
                )
        classes = self._for == "classification"
        with threads(self.n_jobs):
            y, found = self._learn(X, y, LEARNER, covariates=covariates)
            rows = self._samples.first
            if self._map is None:
                assert found.gram is not None
                seen = found.gram.combine(self.weights_)[:, :, None]
                loss = "hinge" if classes else "squared"
                machine: dict[str, Any] = {"kernels": "precomputed", "loss": loss}
            else:
                seen = self._map(self._model.layout, take(X, rows), self.n_jobs)
                machine = {"kernels": [Linear()], "loss": "squared", "approx": "features"}
            face = MKLClassifier if classes else MKLRegressor
            learner = face(**machine, normalize=None, memory_limit=self.memory_limit, n_jobs=self.n_jobs)
            self.estimator_ = learner.fit(seen, y[rows], covariates=self._beside)
        self._describe()
        self.covariate_coef_ = self.estimator_.covariate_coef_
        self.covariate_names_ = self.estimator_.covariate_names_
        return self

    def _fit_features(self, X: Any, y: Any, sample_weight: Any, learner: Any) -> Self:
        """Fit the second stage on features: a learner of them, or ridge from the sums of the first stage."""
        require_feature_learner(learner, self._for)
        if is_lazy(X) and (self.estimator is not None or self.target not in ("auto", self._for)):
            raise ValueError(
                f"estimator={self.estimator!r} and target={self.target!r} were given with X in a Dask "
                "collection: such a learner needs the features of all samples in memory. Take estimator=None "
                "and target='auto' (ridge regression, from sums over the rows), or call X.compute() first."
            )
        counts = self.estimator is None or takes_weights(learner, sample_weight)
        with threads(self.n_jobs):
            y, found = self._learn(X, y, 0, sample_weight, merged=counts)
            assert self._map is not None and found.reduced is not None and found.model.target is not None
            if self.estimator is None and found.model.target.task == self._for:
                coef, intercept = ridge_from_sums(found.reduced, self._map.root)
                labels = found.model.classes if self._for == "classification" else None
                self.estimator_ = as_ridge(coef, intercept, labels, y.ndim == 1)
            else:
                rows = self._samples
                Z, weight = self._new(take(X, rows.first)), rows.weight
                options = {} if np.all(weight == 1.0) else {"sample_weight": weight}
                self.estimator_ = learner.fit(Z, y[rows.first], **options)
        self._describe()
        return self

    def _target(self) -> Similarity:
        return Similarity(self._for if self.target == "auto" else self.target, self._given_target())

    def _given_target(self) -> Labels | Numbers:
        raise NotImplementedError

    def _second_target(self, y: NDArray[Any], weight: Array | None) -> NDArray[Any]:
        """Return the target of the learner."""
        return y

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__  # not where a second stage failed

    def _ask(self, method: str, X: Any, covariates: Any = None) -> Any:
        check_is_fitted(self)
        beside, seen = self._model.layout.beside(X, covariates), self._new(X)
        if beside is None:
            said = getattr(self.estimator_, method)(seen)
        else:
            seen = seen[:, :, None] if self._map is None else seen
            said = getattr(self.estimator_, method)(seen, covariates=beside)
        return require_finite(said, "decision") if np.asarray(said).dtype.kind == "f" else said

    # -- f(x) = Σ θ_m k_m(x, X_fit_) dual_coef_ + intercept_, where the learner is of that form ---
    def _describe(self) -> None:
        """Give the model the function of the learner, if it is linear in the kernel or in features."""
        function: Function | None = None
        with suppress(AttributeError):
            function = self._function()
        part = None if self._beside is None else self.estimator_._model.covariates
        self._model = replace(self._model, function=function, covariates=part)

    def _function(self) -> Function:
        model, intercept = self._model, np.atleast_1d(self.intercept_)
        if self._map is not None:
            coef = np.reshape(self.feature_coef_, (self._map.root.size, -1))
            return FeatureFunction(self._map.features, coef, model.active, intercept)
        dual = np.reshape(self.dual_coef_, (_num_samples(model.X_fit), -1))
        intercept = np.broadcast_to(intercept, dual.shape[1:])
        theta = np.atleast_2d(model.weights)
        return KernelFunction(
            model.kernels, theta, model.active, [model.kernel], model.X_fit, dual, intercept
        )

    @property
    def feature_coef_(self) -> Array:
        """The coefficients of the features, with ``approx`` and a learner that is linear.

        The shape is (n_components,) or (n_components, n_outputs), and ``features_.transform(X) @
        feature_coef_ + intercept_`` decides.
        """
        if "estimator_" not in self.__dict__ or self._map is None:
            raise AttributeError(f"{type(self).__name__} has feature_coef_ only after a fit with approx.")
        own = self.estimator_.coef_ if self._beside is None else np.transpose(self.estimator_.feature_coef_)
        inner, root, used = np.asarray(own).T, self._map.root, self._map.used
        coef = np.zeros((root.size, *inner.shape[1:]))
        coef[used] = (root[used] * inner.T).T
        return coef[:, 0] if coef.ndim == 2 and coef.shape[1] == 1 and self._for != "regression" else coef

    @property
    def dual_coef_(self) -> Array:
        """The coefficients of the training samples, if the learner is linear in the kernel."""
        if "estimator_" not in self.__dict__ or self._map is not None:
            raise AttributeError(f"{type(self).__name__} has no dual_coef_ before it is fitted on kernels.")
        dual, kept = dual_of(self.estimator_, self._samples.first.size)[0], self._samples.first
        if self._model.layout.kind != "stack":
            return dual
        everyone = np.zeros((_num_samples(self.X_fit_), *dual.shape[1:]))
        everyone[kept] = dual
        return everyone

    @property
    def intercept_(self) -> Any:
        """The constant that the decision adds to the part of the kernel."""
        if "estimator_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no intercept_ before it is fitted.")
        if self._map is not None:
            b = np.asarray(self.estimator_.intercept_)
            return float(b.ravel()[0]) if self.feature_coef_.ndim == 1 else b
        return dual_of(self.estimator_, 0)[1] + self._offset

    def _single(self, f: Array) -> Array:
        coef = self.dual_coef_ if self._map is None else self.feature_coef_
        return f[..., 0] if coef.ndim == 1 else f

    def contributions(
        self, X: Any, by: Literal["kernel", "view"] = "kernel", *, outputs: Any = None
    ) -> Array:
        """Compute what each kernel adds to the decision on each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        by : {"kernel", "view"}, default="kernel"
            With "view" the kernels of each view are added up.
        outputs : list of int, slice or None, default=None
            The positions of some outputs, for models with so many that all of them do not fit into memory.

        Returns
        -------
        ndarray of shape (n_samples, n_active) or (n_samples, n_views)
            The contributions, in the order of ``active_``, or of ``view_weights_`` with ``by="view"``. Models
            of several outputs have these on a last axis.
        """
        check_is_fitted(self)
        return self._added(X, by, outputs, self._function())

    @property
    def coef_(self) -> Array:
        """The weights of the features of X, if all active kernels are linear and exact."""
        if "estimator_" in self.__dict__:
            self._function()  # says so where the learner is not linear
        return super().coef_

    _offset: Any = 0.0


class AlignMKLClassifier(LazyScore, ClassifierMixin, _AlignMKL):
    """Two-stage classification: learn a kernel by alignment, then a classifier that uses it.

    The first stage weighs the kernels by their centred alignment with the labels (see
    :class:`KernelAligner`). The second stage fits a classifier with the learned kernel.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from. "auto" suits a table with any kind of columns: a linear, a polynomial and
        several Gaussian kernels (see :class:`~manykernels.families.Auto`). A dict gives the kernels names. A
        family stands for kernels that depend on the data, or that are too many to list, such as
        ``Products(degree=2)``. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train,
        n_kernels).
    weighting : str or Weighting, default="alignf"
        How the weights are chosen. "alignf": the non-negative weights with the largest alignment. "align": in
        proportion to the alignment of each kernel. "uniform": equal weights. "alignf-linear": weights of any
        sign, refused if the combination is indefinite. "greedy": one kernel after the other. "stochastic":
        mirror descent on kernels drawn by the gradient, for products. "easymkl": by how far each kernel keeps
        the classes apart (Aiolli and Donini 2015). "fsm": the smallest spread of classes between their
        centres (Tanabe et al. 2008). "kl": the smallest divergence from the target's kernel (Ying et al.
        2009). Objects of ``manykernels.weightings``, such as ``Alignf(center=False, ridge=0.1)``, have
        parameters.
    center : bool, default=True
        Whether the learned kernel is centred in feature space, by the mean of the training samples. The
        alignment itself always uses centred kernels.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    target : {"auto", "classification", "regression"}, default="auto"
        The target kernel, as in :class:`KernelAligner`. "auto" is the task of the estimator.
    estimator : classifier or None, default=None
        The learner of the second stage, which takes a precomputed kernel; it may be a search, such as
        ``GridSearchCV(SVC(kernel="precomputed"), {"C": [1, 10]})``. None is ``SVC(kernel="precomputed")``.
        With ``approx`` it is a learner of features, such as ``LogisticRegression()``, and None is
        ``RidgeClassifier()``, which needs no second pass over the samples.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    approx : {"features"}, Nystroem, RandomFeatures or None, default=None
        Explicit features (:mod:`manykernels.approx`) in place of n × n matrices, in one pass over the
        samples. X may then be a Dask array or frame, which stays where it is; y is held in memory.
    random_state : int, RandomState or None, default=None
        The seed of random features.
    verbose : int, default=0
        With 1 a progress bar is shown.
    covariates : list, str, int, slice, mask or None, default=None
        The columns of X to adjust for, as in :class:`MKLClassifier`. The kernels are aligned with what the
        covariates leave of the target, and the covariates enter the second stage unpenalised. ``estimator``
        must then be None: a machine of this package with C = 1 is the learner (hinge loss for classes;
        squared loss with ``approx`` and for regression).

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,)
        The weights of the kernels, with Σ_m |θ_m| = 1.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Mixture or list of Mixture
        The learned kernel, callable on new data. It is a list with one for each row of ``weights_`` if these
        are several.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples. If samples were repeated or weighted, each is in it once. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples, if the learner is linear in the kernel. A classifier has
        them for two classes only.
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
    estimator_ : estimator
        The learner, fitted on the learned kernel.
    alignment_ : float
        The alignment on the training data; ``score_alignment`` computes it on other data.
    alignment_bound_ : float or None
        The alignment that no weights exceed which the method allows. Over a family, no combination of its
        kernels exceeds it, if all of the family can be looked at. None for weightings that maximise nothing.
    kkt_residual_ : float or None
        The distance of the weights from the optimality conditions of their problem, with kernels and target
        scaled to norm one.
    unique_ : bool
        Whether no other weights give the same learned kernel.
    certified_ : bool
        Whether every kernel was proven to be the best of the whole family at its step. Only for
        ``weighting="greedy"`` over a family.
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
    KernelAligner : Does the first stage alone, as a transformer.
    MKLClassifier : Learns weights and machine in one problem.

    References
    ----------
    - Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment,
      Journal of Machine Learning Research 13.
    - Rostamizadeh (2010), Theoretical foundations and algorithms for learning with multiple kernels, PhD
      thesis, New York University.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AlignMKLClassifier(gaussian_grid(0.5, 8.0, 5), weighting="align").fit(X[::2], y[::2])
    >>> model.weights_.shape, model.score(X[1::2], y[1::2]) > 0.9
    ((5,), True)
    >>> model.estimator_
    SVC(kernel='precomputed')
    """

    classes_: NDArray[Any]
    _for = "classification"

    def _default(self) -> Any:
        return SVC(kernel="precomputed")

    def _given_target(self) -> Labels:
        return Labels()

    @over_blocks
    def predict(self, X: Any, covariates: Any = None) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the samples lack columns or views that the model needs, or cells hold something else than in
            training.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import AlignMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> model = AlignMKLClassifier([Linear(), Gaussian(1.0)]).fit(X, y)
        >>> model.predict([[0.5], [2.5]]).tolist()
        ['cold', 'warm']
        """
        return np.asarray(self._ask("predict", X, covariates))

    @available_if(_offers("decision_function"))  # type: ignore[untyped-decorator]
    @over_blocks
    def decision_function(self, X: Any, covariates: Any = None) -> Array:
        """Compute the decisions of the learner.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The decisions: for two classes one number, positive for ``classes_[1]``; else one for each class.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import AlignMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> model = AlignMKLClassifier([Linear(), Gaussian(1.0)]).fit(X, y)
        >>> model.decision_function([[0.5], [2.5]]) > 0
        array([False,  True])
        """
        return np.asarray(self._ask("decision_function", X, covariates))

    @available_if(_offers("predict_proba"))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_proba(self, X: Any, covariates: Any = None) -> Array:
        """Predict the probabilities of the classes, if the learner does.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import AlignMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> from sklearn.linear_model import LogisticRegression
        >>> from manykernels.approx import Nystroem
        >>> kernels, learner = [Linear(), Gaussian(1.0)], LogisticRegression()
        >>> model = AlignMKLClassifier(kernels, estimator=learner, approx=Nystroem(4)).fit(X, y)
        >>> model.predict_proba([[1.5]]).round(2).tolist()
        [[0.5, 0.5]]
        """
        return np.asarray(self._ask("predict_proba", X, covariates))

    @available_if(_offers("predict_log_proba"))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_log_proba(self, X: Any, covariates: Any = None) -> Array:
        """Predict the logarithms of the probabilities, if the learner does.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithms of the probabilities, in the order of ``classes_``.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import AlignMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> from sklearn.linear_model import LogisticRegression
        >>> from manykernels.approx import Nystroem
        >>> kernels, learner = [Linear(), Gaussian(1.0)], LogisticRegression()
        >>> model = AlignMKLClassifier(kernels, estimator=learner, approx=Nystroem(4)).fit(X, y)
        >>> np.exp(model.predict_log_proba([[1.5]])).round(2).tolist()
        [[0.5, 0.5]]
        """
        return np.asarray(self._ask("predict_log_proba", X, covariates))


class AlignMKLRegressor(LazyScore, RegressorMixin, _AlignMKL):
    """Two-stage regression: learn a kernel by alignment, then a regressor that uses it.

    The first stage weighs the kernels by their centred alignment with the targets (see
    :class:`KernelAligner`). The second stage fits a regressor with the learned kernel. It learns the targets
    minus their means, which are added to its predictions: kernel ridge regression has no intercept, and a
    centred kernel no constant. y has shape (n_samples,) or (n_samples, n_outputs).

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from. "auto" suits a table with any kind of columns: a linear, a polynomial and
        several Gaussian kernels (see :class:`~manykernels.families.Auto`). A dict gives the kernels names. A
        family stands for kernels that depend on the data, or that are too many to list, such as
        ``Products(degree=2)``. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train,
        n_kernels).
    weighting : str or Weighting, default="alignf"
        How the weights are chosen. "alignf": the non-negative weights with the largest alignment. "align": in
        proportion to the alignment of each kernel. "uniform": equal weights. "alignf-linear": weights of any
        sign, refused if the combination is indefinite. "greedy": one kernel after the other. "stochastic":
        mirror descent on kernels drawn by the gradient, for products. "easymkl": by how far each kernel keeps
        the classes apart (Aiolli and Donini 2015). "fsm": the smallest spread of classes between their
        centres (Tanabe et al. 2008). "kl": the smallest divergence from the target's kernel (Ying et al.
        2009). Objects of ``manykernels.weightings``, such as ``Alignf(center=False, ridge=0.1)``, have
        parameters.
    center : bool, default=True
        Whether the learned kernel is centred in feature space, by the mean of the training samples. The
        alignment itself always uses centred kernels.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    target : {"auto", "classification", "regression"}, default="auto"
        The target kernel, as in :class:`KernelAligner`. "auto" is the task of the estimator.
    estimator : regressor or None, default=None
        The learner of the second stage, which takes a precomputed kernel; it may be a search over its
        parameters. None is ``KernelRidge(kernel="precomputed")``. With ``approx`` it is a learner of
        features, and None is ``Ridge()``, which needs no second pass over the samples.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    approx : {"features"}, Nystroem, RandomFeatures or None, default=None
        Explicit features (:mod:`manykernels.approx`) in place of n × n matrices, in one pass over the
        samples. X may then be a Dask array or frame, which stays where it is; y is held in memory.
    random_state : int, RandomState or None, default=None
        The seed of random features.
    verbose : int, default=0
        With 1 a progress bar is shown.
    covariates : list, str, int, slice, mask or None, default=None
        The columns of X to adjust for, as in :class:`MKLClassifier`. The kernels are aligned with what the
        covariates leave of the target, and the covariates enter the second stage unpenalised. ``estimator``
        must then be None: a machine of this package with C = 1 is the learner (hinge loss for classes;
        squared loss with ``approx`` and for regression).

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,)
        The weights of the kernels, with Σ_m |θ_m| = 1.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Mixture or list of Mixture
        The learned kernel, callable on new data. It is a list with one for each row of ``weights_`` if these
        are several.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples. If samples were repeated or weighted, each is in it once. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples, if the learner is linear in the kernel. A classifier has
        them for two classes only.
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
    estimator_ : estimator
        The learner, fitted on the learned kernel.
    alignment_ : float
        The alignment on the training data; ``score_alignment`` computes it on other data.
    alignment_bound_ : float or None
        The alignment that no weights exceed which the method allows. Over a family, no combination of its
        kernels exceeds it, if all of the family can be looked at. None for weightings that maximise nothing.
    kkt_residual_ : float or None
        The distance of the weights from the optimality conditions of their problem, with kernels and target
        scaled to norm one.
    unique_ : bool
        Whether no other weights give the same learned kernel.
    certified_ : bool
        Whether every kernel was proven to be the best of the whole family at its step. Only for
        ``weighting="greedy"`` over a family.
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
    KernelAligner : Does the first stage alone, as a transformer.
    MKLRegressor : Learns weights and machine in one problem.

    References
    ----------
    - Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment,
      Journal of Machine Learning Research 13.
    - Rostamizadeh (2010), Theoretical foundations and algorithms for learning with multiple kernels, PhD
      thesis, New York University.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from manykernels import AlignMKLRegressor
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AlignMKLRegressor([Linear(), Gaussian(0.2)]).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.3
    True
    >>> round(float(model.weights_.sum()), 6)
    1.0
    """

    _for = "regression"

    def _default(self) -> Any:
        return KernelRidge(kernel="precomputed")

    def _given_target(self) -> Numbers:
        return Numbers()

    def _second_target(self, y: NDArray[Any], weight: Array | None) -> NDArray[Any]:
        self._offset = np.average(y, axis=0, weights=weight)
        return np.asarray(y - self._offset)

    @over_blocks
    def predict(self, X: Any, covariates: Any = None) -> Array:
        """Predict the target of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions, with two dimensions if y of ``fit`` had two.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the samples lack columns or views that the model needs, or cells hold something else than in
            training.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.kernel_ridge import KernelRidge
        >>> from manykernels import AlignMKLRegressor
        >>> from manykernels.kernels import Linear
        >>> X = np.arange(6.0).reshape(-1, 1)
        >>> model = AlignMKLRegressor(Linear(), estimator=KernelRidge(alpha=1e-6, kernel="precomputed"))
        >>> model.fit(X, 3.0 * X[:, 0] + 1.0).predict([[2.5], [10.0]]).round(1)
        array([ 8.5, 31. ])
        """
        said = self._ask("predict", X, covariates)
        return np.asarray(said if self._map is not None else said + self._offset)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self._learner()).target_tags.multi_output
        return tags

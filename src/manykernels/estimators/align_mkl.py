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
    """Whether the learner has this method, asked of the fitted one where there is one."""

    def check(model: Any) -> bool:
        getattr(model.__dict__.get("estimator_", model._learner()), method)
        return True

    return check


class _AlignMKL(TwoStage, Explained):
    """What both tasks share: the second stage."""

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
        """Learn the weights of the kernels from samples X and targets y, then the learner.

        Parameters
        ----------
        X : array, CSR matrix, frame, list of strings, stack (n_samples, n_train, n_kernels), or dict
            A dict {name: samples × features} holds views, which get kernels of their own; with
            ``kernels="precomputed"`` it holds kernel matrices by name.
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples, in both stages. The learner must take weights too.
        covariates : array or frame of shape (n_samples, n_covariates), optional
            Enter unpenalised in the second stage, and kernels are aligned with what they leave of the target,
            where X has no columns that ``covariates`` of the estimator could name.
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
        """Both stages with covariates: a machine of this package takes the place of the learner."""
        refused = {
            "estimator": (self.estimator is not None, "a learner of another kind has no unpenalised part"),
            "sample_weight": (sample_weight is not None, "kernels are aligned with every sample once then"),
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
        """The second stage on features: a learner of them, or ridge from the sums of the first stage."""
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
        """What the learner is to learn."""
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
        """Tell the model what the learner decides by, where it is linear in the kernel or in features."""
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
        """(n_features,) or (n_features, n_outputs), with ``approx`` and a learner that is linear:
        features_.transform(X) @ feature_coef_ + intercept_ decides."""
        if "estimator_" not in self.__dict__ or self._map is None:
            raise AttributeError(f"{type(self).__name__} has feature_coef_ once fitted with approx.")
        own = self.estimator_.coef_ if self._beside is None else np.transpose(self.estimator_.feature_coef_)
        inner, root, used = np.asarray(own).T, self._map.root, self._map.used
        coef = np.zeros((root.size, *inner.shape[1:]))
        coef[used] = (root[used] * inner.T).T
        return coef[:, 0] if coef.ndim == 2 and coef.shape[1] == 1 and self._for != "regression" else coef

    @property
    def dual_coef_(self) -> Array:
        """(n_train,) or (n_train, n_outputs), where the learner is linear in the kernel."""
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
        """What the decision adds to the kernel's part."""
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
        """What each kernel adds to the decision; see :meth:`MKLClassifier.contributions`."""
        check_is_fitted(self)
        return self._added(X, by, outputs, self._function())

    @property
    def coef_(self) -> Array:
        """Weights of the features of X, where all active kernels are linear and exact."""
        if "estimator_" in self.__dict__:
            self._function()  # says so where the learner is not linear
        return super().coef_

    _offset: Any = 0.0


class AlignMKLClassifier(LazyScore, ClassifierMixin, _AlignMKL):
    """Two-stage classification: a kernel of large alignment with the labels, and a learner that uses it.

    Parameters
    ----------
    kernels, weighting, center, normalize, target, memory_limit, n_jobs : as in :class:`KernelAligner`.
    estimator : a classifier that takes a precomputed kernel, or None for ``SVC(kernel="precomputed")``
        Also a search over its parameters: ``GridSearchCV(SVC(kernel="precomputed"), {"C": [1, 10]})``. With
        ``approx`` a learner of features, such as LogisticRegression(), or None for ``RidgeClassifier()``,
        which needs no more than the one pass of the first stage.
    approx, random_state, verbose : as in :class:`KernelAligner`.
    covariates : None, or columns of X
        Columns to adjust for, as in :class:`MKLClassifier`: kernels are aligned with what they leave of the
        target, and they enter the second stage unpenalised. A machine of this package (hinge loss, or the
        squared one with ``approx`` and for regression, C = 1) is then the learner, and ``estimator`` is None.

    Attributes
    ----------
    present_ : dict view -> how many training samples have it, where kernels are of views.
    kernels_, kernel_names_, weights_, active_, kernel_, X_fit_, alignment_, alignment_bound_, kkt_residual_,
    unique_ : as in :class:`KernelAligner`; where samples were repeated or weighted, X_fit_ holds each once.
    estimator_ : the learner, fitted on the learned kernel.
    dual_coef_, intercept_ : of a learner of two classes that is linear in the kernel.
    features_, feature_coef_ : with ``approx``, in place of X_fit_ and dual_coef_.
    covariate_coef_, covariate_names_ : with covariates.
    classes_ : labels.
    """

    classes_: NDArray[Any]
    _for = "classification"

    def _default(self) -> Any:
        return SVC(kernel="precomputed")

    def _given_target(self) -> Labels:
        return Labels()

    @over_blocks
    def predict(self, X: Any, covariates: Any = None) -> NDArray[Any]:
        """The class of each sample."""
        return np.asarray(self._ask("predict", X, covariates))

    @available_if(_offers("decision_function"))  # type: ignore[untyped-decorator]
    @over_blocks
    def decision_function(self, X: Any, covariates: Any = None) -> Array:
        """What the learner decides by."""
        return np.asarray(self._ask("decision_function", X, covariates))

    @available_if(_offers("predict_proba"))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_proba(self, X: Any, covariates: Any = None) -> Array:
        """(n_samples, n_classes): the learner's probabilities."""
        return np.asarray(self._ask("predict_proba", X, covariates))

    @available_if(_offers("predict_log_proba"))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_log_proba(self, X: Any, covariates: Any = None) -> Array:
        """Logarithms of the learner's probabilities."""
        return np.asarray(self._ask("predict_log_proba", X, covariates))


class AlignMKLRegressor(LazyScore, RegressorMixin, _AlignMKL):
    """Two-stage regression: a kernel of large alignment with the targets, and a learner that uses it.

    Parameters and attributes are those of :class:`AlignMKLClassifier`, with ``KernelRidge`` as the default
    learner; y is (n_samples,) or (n_samples, n_outputs). The learner is given the targets less their means,
    which are added to its predictions: kernel ridge has no intercept, and a centred kernel no constant.
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
        """(n_samples,), or (n_samples, n_outputs) where y had two dimensions."""
        said = self._ask("predict", X, covariates)
        return np.asarray(said if self._map is not None else said + self._offset)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self._learner()).target_tags.multi_output
        return tags

"""Two-stage multiple kernel learning: learn the kernel by alignment, then hand it to a learner."""

from __future__ import annotations

from typing import Any, Self

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
from ..grams.memory import LEARNER
from ._approx_lazy import LazyScore, over_blocks
from ._data import is_lazy, require_finite
from ._explain import Array, Explained
from ._feature_model import no_coef, parts
from ._params import check_two_stage
from ._second_stage import check_learner, dual_of
from ._targets import encode, read_labels, read_numbers
from ._two_stage import TwoStage
from ._two_stage_features import as_ridge, require_learner, ridge_from_sums


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

    def _default(self) -> Any:
        raise NotImplementedError

    def _learner(self) -> Any:
        if self.estimator is None and self.approx is not None:
            return Ridge() if self._for == "regression" else RidgeClassifier()
        return self._default() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights of the kernels from samples X and targets y, then the learner."""
        check_two_stage(self)
        learner = self._learner()
        if not hasattr(learner, "get_params") or isinstance(learner, type):
            raise TypeError(
                f"estimator={shown(learner)} was given; expected a scikit-learn learner, such as "
                "SVC(kernel='precomputed') or KernelRidge(kernel='precomputed'), or None."
            )
        learner = clone(learner)
        self.__dict__.pop("estimator_", None)
        if self.approx is not None:
            return self._fit_features(X, y, learner)
        check_learner(learner, self._for)
        with threads(self.n_jobs):
            y, gram = self._learn(X, y, work=LEARNER)
            K = gram.combine(self.weights_)
        self.estimator_ = learner.fit(K, self._second_target(y))
        return self

    def _fit_features(self, X: Any, y: Any, learner: Any) -> Self:
        """The second stage on features: a learner of them, or ridge from the sums of the first stage."""
        require_learner(learner, self._for)
        if is_lazy(X) and (self.estimator is not None or self.target not in ("auto", self._for)):
            raise ValueError(
                f"estimator={self.estimator!r} and target={self.target!r} were given with X in a Dask "
                "collection: such a learner needs the features of all samples in memory. Take estimator=None "
                "and target='auto' (ridge regression, from sums over the rows), or call X.compute() first."
            )
        with threads(self.n_jobs):
            y, _ = self._learn(X, y, work=0)
            found = self.__dict__.pop("_features_found")
            if self.estimator is None and self._task == self._for:
                coef, intercept = ridge_from_sums(found, self._root)
                labels = y if self._for == "classification" else None
                self.estimator_ = as_ridge(coef, intercept, labels, y.ndim == 1)
                return self
            Z = self._map(X)
        self.estimator_ = learner.fit(Z, y)
        return self

    def _which_task(self, y: NDArray[Any]) -> str:
        return self._for if self.target == "auto" else self.target

    def _second_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """What the learner is to learn."""
        return y

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__  # not where a second stage failed

    def _ask(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        K = self._map(X) if "features_" in self.__dict__ else self._against_training(X)
        said = getattr(self.estimator_, method)(K)
        return require_finite(said, "decision") if np.asarray(said).dtype.kind == "f" else said

    @property
    def feature_coef_(self) -> Array:
        """(n_features,) or (n_features, n_outputs), with ``approx`` and a learner that is linear:
        features_.transform(X) @ feature_coef_ + intercept_ decides."""
        if "estimator_" not in self.__dict__ or "features_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has feature_coef_ once fitted with approx.")
        inner = np.asarray(self.estimator_.coef_).T
        coef = np.zeros((self._root.size, *inner.shape[1:]))
        used = self._root > 0.0
        coef[used] = (self._root[used] * inner.T).T
        return coef[:, 0] if coef.ndim == 2 and coef.shape[1] == 1 and self._for != "regression" else coef

    # -- f(x) = Σ θ_m k_m(x, X_fit_) dual_coef_ + intercept_, where the learner is of that form ---
    @property
    def dual_coef_(self) -> Array:
        """(n_train,) or (n_train, n_outputs), where the learner is linear in the kernel."""
        if "estimator_" not in self.__dict__ or "features_" in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no dual_coef_ before it is fitted on kernels.")
        return dual_of(self.estimator_, _num_samples(self.X_fit_))[0]

    @property
    def intercept_(self) -> Any:
        """What the decision adds to the kernel's part."""
        if "estimator_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no intercept_ before it is fitted.")
        if "features_" in self.__dict__:
            b = np.asarray(self.estimator_.intercept_)
            return float(b.ravel()[0]) if self._one_output() else b
        return dual_of(self.estimator_, 0)[1] + self._offset

    @property
    def _coefficients(self) -> Array:  # type: ignore[override]
        dual = self.dual_coef_
        return dual[:, None] if dual.ndim == 1 else dual

    def _parts(self, X: Any) -> Array:
        if "features_" not in self.__dict__:
            return super()._parts(X)
        coef = self.feature_coef_
        with threads(self.n_jobs):
            return parts(self.features_, coef[:, None] if coef.ndim == 1 else coef, self.active_, X)

    def _one_output(self) -> bool:
        coef = self.feature_coef_ if "features_" in self.__dict__ else self.dual_coef_
        return bool(coef.ndim == 1)

    @property
    def coef_(self) -> Array:
        """Weights of the features of X, where all active kernels are linear and exact."""
        if "features_" in self.__dict__:
            raise no_coef()
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

    Attributes
    ----------
    kernels_, kernel_names_, weights_, active_, kernel_, X_fit_, alignment_, alignment_bound_, kkt_residual_,
    unique_ : as in :class:`KernelAligner`.
    estimator_ : the learner, fitted on the learned kernel.
    dual_coef_, intercept_ : of a learner of two classes that is linear in the kernel.
    features_, feature_coef_ : with ``approx``, in place of X_fit_ and dual_coef_.
    classes_ : labels.
    """

    classes_: NDArray[Any]
    _for = "classification"

    def _default(self) -> Any:
        return SVC(kernel="precomputed")

    def _read_target(self, y: Any) -> NDArray[Any]:
        labels = read_labels(y)
        self.classes_, _ = encode(labels)
        return labels

    @over_blocks
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each sample."""
        return np.asarray(self._ask("predict", X))

    @available_if(_offers("decision_function"))  # type: ignore[untyped-decorator]
    @over_blocks
    def decision_function(self, X: Any) -> Array:
        """What the learner decides by."""
        return np.asarray(self._ask("decision_function", X))

    @available_if(_offers("predict_proba"))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_proba(self, X: Any) -> Array:
        """(n_samples, n_classes): the learner's probabilities."""
        return np.asarray(self._ask("predict_proba", X))

    @available_if(_offers("predict_log_proba"))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the learner's probabilities."""
        return np.asarray(self._ask("predict_log_proba", X))


class AlignMKLRegressor(LazyScore, RegressorMixin, _AlignMKL):
    """Two-stage regression: a kernel of large alignment with the targets, and a learner that uses it.

    Parameters and attributes are those of :class:`AlignMKLClassifier`, with ``KernelRidge`` as the default
    learner; y is (n_samples,) or (n_samples, n_outputs). The learner is given the targets less their means,
    which are added to its predictions: kernel ridge has no intercept, and a centred kernel no constant.
    """

    _for = "regression"

    def _default(self) -> Any:
        return KernelRidge(kernel="precomputed")

    def _read_target(self, y: Any) -> NDArray[Any]:
        return np.asarray(read_numbers(y))

    def _second_target(self, y: NDArray[Any]) -> NDArray[Any]:
        self._offset = y.mean(axis=0)
        return np.asarray(y - self._offset)

    @over_blocks
    def predict(self, X: Any) -> Array:
        """(n_samples,), or (n_samples, n_outputs) where y had two dimensions."""
        offset = 0.0 if "features_" in self.__dict__ else self._offset
        return np.asarray(self._ask("predict", X) + offset)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self._learner()).target_tags.multi_output
        return tags

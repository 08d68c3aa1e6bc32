"""What the one-stage estimators share: their road from parameters and data to a model, and its decisions."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._fast.threads import threads
from ..approx import Features, resolve_approx
from ..families import Products
from ..fitting.lazy import pose
from ..fitting.learning import learn
from ..fitting.options import Options
from ..fitting.targets import Labels, Numbers, Target, log_probabilities
from ..losses import Criterion, Loss, resolve_loss
from ..penalties import resolve_penalty
from ..selection.checkpoint import keeping, prints_of
from ..solvers import resolve_solver
from ._dask import LazyScore, over_blocks
from ._explain import Explained
from ._params import check_learning

Array = NDArray[np.float64]
_SHARED = (
    "C center normalize fit_intercept tol max_iter memory_limit random_state n_jobs verbose covariates"
).split()  # options that are called as the parameters are


class BaseMKL(Explained):
    """Fits a combination of kernels and the machine that uses it; see the estimators for the parameters."""

    loss: Any
    intercept_: Any
    dual_coef_: Array
    features_: Features  # with approx, in place of X_fit_ and dual_coef_
    feature_coef_: Array
    warm_start: bool

    # -- what an estimator supplies -------------------------------------------------------------
    @abstractmethod
    def _loss(self) -> Criterion:
        """The loss, checked to be one for the task."""

    @abstractmethod
    def _target(self) -> Target:
        """What y holds."""

    def _parts(self) -> dict[str, Any]:
        """Options that are not called as the parameters are, beside loss and kernels."""
        return {}

    # -- the road -------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn the weights of the kernels together with the machine that uses them.

        Parameters
        ----------
        X : array, CSR matrix, frame, list of strings, stack (n_samples, n_train, n_kernels), or dict
            The samples; a stack only with ``kernels="precomputed"`` or ``from_distances(...)``. A dict {name:
            samples × features} holds views, which get kernels of their own; with ``kernels="precomputed"``
            it holds kernel matrices by name.
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples, one of weight 0 as none.
        covariates : array or frame of shape (n_samples, n_covariates), optional
            Enter unpenalised beside the kernels, where X has no columns that could be named by
            ``covariates`` of the estimator: stacks, strings, or a table of their own. ``predict`` and the
            like then take those of the new samples.
        """
        options = self._options()
        previous = self.__dict__.get("_model") if self.warm_start else None
        given = {"X": X, "y": y, "sample_weight": sample_weight, "covariates": covariates}
        prints, own = partial(prints_of, self, given | {"an earlier fit": previous}), self._given().values()
        folder = getattr(self, "checkpoint", None)
        with keeping(folder, type(self).__name__, prints, own), threads(self.n_jobs):
            samples = pose(options, X, y, sample_weight, self._target(), covariates=covariates, learns=True)
            self._publish(learn(options, samples, previous))
        return self

    def _options(self) -> Options:
        """Everything that was asked, checked and resolved."""
        given = self._given()
        check_learning(given)
        self._check_types()
        shared = {name: given[name] for name in _SHARED if name in given}
        parts = {"kernels": self.kernels, **self._parts()}
        return Options(type(self).__name__, loss=self._loss(), **parts, **shared)

    # -- deciding -------------------------------------------------------------------------------
    def _decide(self, X: Any, *, covariates: Any = None) -> Array:
        """(n, outputs)."""
        check_is_fitted(self)
        return self._model.decide(X, covariates=covariates)

    @property
    def selected_products_(self) -> dict[str, list[Any]]:
        """The products with weight, as columns of a table: product, degree, weight, contribution.

        For ``kernels=Products(...)``, largest contribution first. A contribution is the root mean square,
        over the training samples, of what the product adds to the decision. ``pandas.DataFrame`` takes it as
        it is.
        """
        if "weights_" not in self.__dict__ or not isinstance(self._model.layout.kernels, Products):
            raise AttributeError(
                f"{type(self).__name__} has selected_products_ once fitted on Products(...)."
            )
        model = self._model
        assert model.function is not None and model.atoms is not None
        if model.sizes is not None:
            size = model.sizes[model.active]
        else:
            size = np.sqrt(np.mean(np.sum(model.function.parts(model.X_fit) ** 2, axis=2), axis=0))
        order = np.argsort(-size, kind="stable")
        weights, active = np.atleast_2d(model.weights).sum(axis=0), model.active
        return {
            "product": [model.names[active[i]] for i in order],
            "degree": [len(model.atoms[active[i]]) for i in order],
            "weight": [float(weights[active[i]]) for i in order],
            "contribution": [float(size[i]) for i in order],
        }


def mkl_parts(given: dict[str, Any]) -> dict[str, Any]:
    """The options of MKLClassifier and MKLRegressor that have names of their own."""
    resolve_solver(given["solver"])  # says so if there is no such solver
    return {
        "penalty": resolve_penalty(given["norm"]),
        "solver": given["solver"],
        "approx": resolve_approx(given.get("approx")),
    }


def is_logistic(loss: Any) -> bool:
    """Whether decisions have probabilities, or an AttributeError that says how to get some."""
    if (isinstance(loss, str) and loss == "logistic") or getattr(loss, "probabilistic", False):
        return True
    raise AttributeError(
        f"probabilities need loss='logistic', and loss={loss!r}; or calibrate: "
        "sklearn.calibration.CalibratedClassifierCV(model)."
    )


class MKLClassification(LazyScore, ClassifierMixin, BaseMKL):
    """Decisions about classes."""

    classes_: NDArray[Any]
    class_weight: Any

    def _loss(self) -> Loss:
        return resolve_loss(self.loss, "classification", also=("squared",))

    def _target(self) -> Labels:
        return Labels(self.class_weight)

    def _options(self) -> Options:
        return super()._options().replace(counts_classes=self.class_weight is not None)

    @over_blocks
    def decision_function(self, X: Any, covariates: Any = None) -> Array:
        """(n_samples,), positive for ``classes_[1]``; (n_samples, n_classes) for more than two classes.

        ``covariates`` are those of the samples, where ``fit`` was given them beside X.
        """
        return self._single(self._decide(X, covariates=covariates))

    @over_blocks
    def predict(self, X: Any, covariates: Any = None) -> NDArray[Any]:
        """The class of each sample; ``covariates`` where ``fit`` was given them beside X."""
        f = self._decide(X, covariates=covariates)
        assert self._model.target is not None
        return np.asarray(self._model.target.predict(f))

    @available_if(lambda self: is_logistic(self.loss))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_proba(self, X: Any, covariates: Any = None) -> Array:
        """(n_samples, n_classes): the logistic function of the decision, normalised over several classes."""
        return np.asarray(np.exp(log_probabilities(self._decide(X, covariates=covariates))))

    @available_if(lambda self: is_logistic(self.loss))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_log_proba(self, X: Any, covariates: Any = None) -> Array:
        """Logarithms of ``predict_proba``, exact also where probabilities are tiny."""
        return log_probabilities(self._decide(X, covariates=covariates))


class MKLRegression(LazyScore, RegressorMixin, BaseMKL):
    """Decisions about numbers."""

    def _loss(self) -> Loss:
        return resolve_loss(self.loss, "regression")

    def _target(self) -> Numbers:
        return Numbers()

    @over_blocks
    def predict(self, X: Any, covariates: Any = None) -> Array:
        """(n_samples,), or (n_samples, n_outputs) where y had two dimensions.

        ``covariates`` are those of the samples, where ``fit`` was given them beside X.
        """
        return self._single(self._decide(X, covariates=covariates))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

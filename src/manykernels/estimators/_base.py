"""Base classes of the one-stage estimators: from parameters and data to a model, and its decisions."""

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
from ..fitting.model import Model
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
    "C center normalize fit_intercept tol max_iter memory_limit random_state n_jobs verbose covariates "
    "storage"
).split()  # options that are called as the parameters are


class BaseMKL(Explained):
    """Base class of the one-stage estimators, which document the parameters."""

    loss: Any
    intercept_: Any
    dual_coef_: Array
    features_: Features  # with approx, in place of X_fit_ and dual_coef_
    feature_coef_: Array
    warm_start: bool

    # -- what an estimator supplies -------------------------------------------------------------
    @abstractmethod
    def _loss(self) -> Criterion:
        """Return the loss, or raise an error if it is not one for the task."""

    @abstractmethod
    def _target(self) -> Target:
        """Return the kind of target that y holds."""

    def _parts(self) -> dict[str, Any]:
        """Return the options whose names differ from those of the parameters, except loss and kernels."""
        return {}

    # -- the road -------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Self:
        """Learn the weights of the kernels together with the machine that uses them.

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

        Raises
        ------
        ValueError
            If an argument has a value that it cannot have, if samples and targets do not fit together, if
            a classifier gets only one class, or if a kernel is not finite or not
            positive semidefinite.
        TypeError
            If an argument is of a type that it cannot be of.
        MemoryError
            If the kernels do not fit into ``memory_limit``; the message says what does.

        Examples
        --------
        Only the first column matters, and its kernel gets the weight:

        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Linear, OnColumns
        >>> X = np.random.RandomState(0).randn(30, 2)
        >>> model = MKLRegressor({"age": OnColumns(Linear(), [0]), "noise": OnColumns(Linear(), [1])})
        >>> model.fit(X, 2.0 * X[:, 0]).weights_.round(2).tolist()
        [1.0, 0.0]
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
        """Return all parameters, checked and resolved."""
        given = self._given()
        check_learning(given)
        self._check_types()
        shared = {name: given[name] for name in _SHARED if name in given}
        parts = {"kernels": self.kernels, **self._parts()}
        return Options(type(self).__name__, loss=self._loss(), **parts, **shared)

    # -- deciding -------------------------------------------------------------------------------
    def _decide(self, X: Any, *, covariates: Any = None) -> Array:
        """Compute the decisions, of shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        return self._model.decide(X, covariates=covariates)


class ProductTable:
    """A table of the products with weight, for estimators that learn from ``Products(...)``."""

    _model: Model

    @property
    def selected_products_(self) -> dict[str, list[Any]]:
        """The products with weight, as columns of a table: product, degree, weight, contribution.

        It exists for ``kernels=Products(...)``, with the largest contribution first. A contribution is the
        root mean square, over the training samples, of what the product adds to the decision.
        ``pandas.DataFrame`` takes the table as it is.
        """
        if "weights_" not in self.__dict__ or not isinstance(self._model.layout.kernels, Products):
            raise AttributeError(
                f"{type(self).__name__} has selected_products_ only after a fit with kernels=Products(...)."
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
    """Return the options of the one-stage estimators whose names differ from those of the parameters."""
    resolve_solver(given["solver"])  # says so if there is no such solver
    return {
        "penalty": resolve_penalty(given["norm"]),
        "solver": given["solver"],
        "approx": resolve_approx(given.get("approx")),
    }


def is_logistic(loss: Any) -> bool:
    """Tell whether the loss gives probabilities; raise an AttributeError if it does not."""
    if (isinstance(loss, str) and loss == "logistic") or getattr(loss, "probabilistic", False):
        return True
    raise AttributeError(
        f"loss={loss!r} was given; probabilities need loss='logistic', or a calibration: "
        "sklearn.calibration.CalibratedClassifierCV(model)."
    )


class MKLClassification(LazyScore, ClassifierMixin, BaseMKL):
    """Base class of the one-stage classifiers."""

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
        """Compute the decision on each sample.

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
        The decision is positive for the second of the sorted labels:

        >>> import numpy as np
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> model = MKLClassifier(Linear(), C=10.0).fit(X, y)
        >>> model.classes_.tolist(), model.decision_function(X) > 0
        (['cold', 'warm'], array([False, False,  True,  True]))
        """
        return self._single(self._decide(X, covariates=covariates))

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
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> model = MKLClassifier([Linear(), Gaussian(1.0)], C=10.0).fit(X, y)
        >>> model.predict([[0.5], [2.5]]).tolist()
        ['cold', 'warm']
        """
        f = self._decide(X, covariates=covariates)
        assert self._model.target is not None
        return np.asarray(self._model.target.predict(f))

    @available_if(lambda self: is_logistic(self.loss))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_proba(self, X: Any, covariates: Any = None) -> Array:
        """Predict the probabilities of the classes; only with the logistic loss.

        They are the logistic function of the decision, normalised over several classes.

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
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="logistic", C=10.0).fit(X, y)
        >>> model.predict_proba([[1.5]]).round(2).tolist()
        [[0.5, 0.5]]
        """
        return np.asarray(np.exp(log_probabilities(self._decide(X, covariates=covariates))))

    @available_if(lambda self: is_logistic(self.loss))  # type: ignore[untyped-decorator]
    @over_blocks
    def predict_log_proba(self, X: Any, covariates: Any = None) -> Array:
        """Predict the logarithms of the probabilities; only with the logistic loss.

        They are exact also if probabilities are tiny.

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
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="logistic", C=10.0).fit(X, y)
        >>> np.exp(model.predict_log_proba([[1.5]])).round(2).tolist()
        [[0.5, 0.5]]
        """
        return log_probabilities(self._decide(X, covariates=covariates))


class MKLRegression(LazyScore, RegressorMixin, BaseMKL):
    """Base class of the one-stage regressors."""

    def _loss(self) -> Loss:
        return resolve_loss(self.loss, "regression")

    def _target(self) -> Numbers:
        return Numbers()

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
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Linear
        >>> X = np.arange(6.0).reshape(-1, 1)
        >>> model = MKLRegressor(Linear(), C=1e4).fit(X, 3.0 * X[:, 0] + 1.0)
        >>> model.predict([[2.5], [10.0]]).round(1)
        array([ 8.5, 31. ])
        """
        return self._single(self._decide(X, covariates=covariates))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

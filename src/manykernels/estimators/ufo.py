"""UFO-MKL: kernels and machine learned online, one sample at a time (Orabona and Jie 2011)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from ..fitting.targets import Labels, encode, read_labels, signs
from ..losses import Logistic, MulticlassHinge, MulticlassLogistic, StructuredLoss, resolve_loss
from ..losses.structured import PerScore, decoded
from ._dask import MatchedScore
from ._online import BaseUFO
from .ufo_regressor import UFOMKLRegressor

__all__ = ["UFOMKLClassifier", "UFOMKLRegressor"]

Array = NDArray[np.float64]


def _has_probabilities(model: Any) -> bool:
    if model.loss == "logistic" or getattr(model.loss, "probabilistic", False):
        return True
    raise AttributeError(
        f"loss={model.loss!r} was given; probabilities need loss='logistic', or a calibration: "
        "sklearn.calibration.CalibratedClassifierCV(model)."
    )


class UFOMKLClassifier(MatchedScore, ClassifierMixin, BaseUFO):
    """Online classification with a learned, sparse combination of kernels.

    The estimator minimises

        ½ λ ‖w‖²_{2,p} + α Σ_j ‖w^j‖ + (1/N) Σ_i ℓ(y_i, f(x_i)),      f(x) = Σ_j ⟨w^j, φ^j(x)⟩,

    where p is the conjugate of q = 2 log F for F kernels, by one stochastic step for each sample (Orabona and
    Jie 2011, Alg. 1). Several classes are learned together, with one set of kernels. ``partial_fit`` learns
    from a stream.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from; a family must be one that can be listed. Widths of "auto" come from the
        first data seen. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train, n_kernels).
    loss : {"hinge", "logistic", "multiclass_hinge"}, Loss or StructuredLoss, default="hinge"
        The loss of one sample. "hinge" and "logistic" stand for their multiclass forms if there are more than
        two classes. "logistic" gives probabilities.
    lam : float, default=0.001
        The strength λ of the p-norm, about 1/(C N) in terms of a cost C of errors on N samples. A larger λ
        gives a smoother decision.
    alpha : float, default=0.001
        The sparsity α ≥ 0. Kernels whose ‖θ^j‖ stays below α a step have exactly no weight.
    epochs : int, default=10
        The number of passes of ``fit`` over the data.
    average : bool, default=False
        Whether predictions use the mean of all iterates in place of the last one. Each kernel then has
        coefficients of its own, and a kernel is unused only if it never had any weight.
    shuffle : bool, default=True
        Whether every pass of ``fit`` has a new random order. ``partial_fit`` takes samples as they come.
    normalize : {"max", "trace", "cosine", "frobenius"} or None, default="max"
        How the kernels are scaled. With "max" the largest k(x, x) of the first data seen is 1, which
        ``bound_`` assumes.
    approx : {"features"}, RandomFeatures, Nystroem, OwnFeatures or None, default=None
        Explicit features (:mod:`manykernels.approx`). None keeps exact kernel expansions, whose cost grows
        with the samples. With explicit features the cost of a step stays the same; "features" uses the finite
        maps that kernels have themselves.
    fit_intercept : bool, default=True
        Whether a constant kernel 1 is added. It is regularised like the others.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the state of the last fit.
    random_state : int, RandomState or None, default=None
        The seed of the order of the samples and of random features.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    verbose : int, default=0
        With 1 a progress bar over the passes is shown; 2 adds a line for each pass.

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,)
        The weights of the kernels, w^j = weights_[j] θ^j, with exact zeros.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Mixture or list of Mixture
        The learned kernel, callable on new data. It is a list with one for each row of ``weights_`` if these
        are several.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples, in the form in which they were given. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples: ``kernel_(X, X_fit_) @ dual_coef_ + intercept_`` decides.
        With ``average=True`` the kernels are on a first axis. Not with ``approx``.
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
    objective_ : float
        The objective on the training data. NaN after ``partial_fit``, which does not see all data;
        ``objective(X, y)`` measures it on any.
    dual_gap_ : float
        The relative distance of ``objective_`` from a lower bound on the minimum. NaN after ``partial_fit``.
    certified_ : bool
        Whether there is a lower bound. False after ``partial_fit``.
    bound_ : float
        The bound e L² (1 + log T) log F / (λ T) on the expected excess of the objective, at an iterate drawn
        at random and for samples drawn with replacement (Orabona and Jie 2011, Theorem 2). Divide it by δ for
        a probability of 1 − δ. ``inf`` for losses of unbounded slope.
    t_ : int
        The number of steps taken.
    n_iter_ : int
        The number of passes over the data.
    history_ : dict
        The seconds, dual bound and number of active kernels at the end of each pass, as columns. Only after
        ``fit``.
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
    UFOMKLRegressor : Learns numbers in place of classes.
    MKLClassifier : Learns from all samples at once, with a certificate.

    References
    ----------
    - Orabona and Jie (2011), Ultra-fast optimization algorithm for sparse multi kernel learning, ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import UFOMKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> model = UFOMKLClassifier(gaussian_grid(0.5, 8.0, 5), random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.85
    True
    >>> model.partial_fit(X[1::2], y[1::2]).t_
    825
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        loss: Any = "hinge",
        lam: float = 1e-3,
        alpha: float = 1e-3,
        epochs: int = 10,
        average: bool = False,
        shuffle: bool = True,
        normalize: str | None = "max",
        approx: Any = None,
        fit_intercept: bool = True,
        memory_limit: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.lam = lam
        self.alpha = alpha
        self.epochs = epochs
        self.average = average
        self.shuffle = shuffle
        self.normalize = normalize
        self.approx = approx
        self.fit_intercept = fit_intercept
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Make one step for each of these samples, in their order.

        The first call resolves ``kernels``, normalises them and chooses features from the data that it gets.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, of shape (n_samples, n_features). A dict {name: samples × features} holds views,
            which get kernels of their own. With ``kernels="precomputed"`` it is a stack of kernel matrices,
            of shape (n_samples, n_train, n_kernels), or a dict of them by name.
        y : array-like of shape (n_samples,)
            The labels of the samples.
        classes : array-like of shape (n_classes,), default=None
            All labels that there will be. The first call needs them.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Examples
        --------
        The first samples are all of one class, so that ``classes`` must name the other one:

        >>> import numpy as np
        >>> from manykernels import UFOMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array(["cold", "cold", "warm", "warm"])
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> model = UFOMKLClassifier(kernels)
        >>> model = model.partial_fit(X[:2], y[:2], classes=["cold", "warm"])
        >>> model.partial_fit(X[2:], y[2:]).t_
        4
        """
        self._asked(y)
        labels = read_labels(y)
        if classes is not None:
            read_labels(classes)  # says what is wrong with them
        if _check_partial_fit_first_call(self, classes):
            self._forget()
            if len(self.classes_) < 2:
                only = self.__dict__.pop("classes_")
                raise ValueError(f"classes={only.tolist()!r} was given: expected at least two classes.")
        return self._stream(X, labels)

    # -- what the base asks -----------------------------------------------------------------------
    def _read_y(self, y: Any) -> NDArray[Any]:
        return read_labels(y)

    def _learn_targets(self, y: NDArray[Any]) -> None:
        classes, _ = encode(y)
        if self._going_on() is not None and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start goes on with classes {self.classes_.tolist()!r}, and y holds "
                f"{classes.tolist()!r}. Use partial_fit with all classes named, or set warm_start=False."
            )
        self.classes_ = classes

    def _target(self) -> Labels:
        return Labels(classes=self.classes_)

    def _structured_loss(self) -> StructuredLoss:
        n, spec = len(self.classes_), self.loss
        if isinstance(spec, StructuredLoss):
            return spec
        if isinstance(spec, str) and (spec == "multiclass_hinge" or (spec == "hinge" and n > 2)):
            return MulticlassHinge()
        if isinstance(spec, type) and issubclass(spec, StructuredLoss):
            name = spec.__name__
            raise TypeError(f"loss={name} is a class; give an object: loss={name}().")
        try:
            loss = resolve_loss(spec, "classification")
        except (TypeError, ValueError) as error:
            more = "For several classes at once: 'multiclass_hinge', or a StructuredLoss object."
            raise type(error)(f"{error} {more}") from None
        if n > 2 and type(loss) is Logistic:
            return MulticlassLogistic()
        return PerScore(loss, 1 if n == 2 else n)

    def _outputs(self, loss: StructuredLoss) -> int:
        return loss.n_outputs if isinstance(loss, PerScore) else int(loss.outputs(len(self.classes_)))

    def _encode(self, y: NDArray[Any], loss: StructuredLoss) -> Array:
        strange = ~np.isin(y, self.classes_)
        if np.any(strange):
            raise ValueError(
                f"y holds {y[strange].tolist()[0]!r}, which is not among the classes "
                f"{self.classes_.tolist()!r} that the first call named; name all classes there, by classes=."
            )
        codes = np.searchsorted(self.classes_, y)
        if isinstance(loss, PerScore):
            return signs(codes, len(self.classes_))
        return codes[:, None].astype(float)

    def _count(self, y: NDArray[Any]) -> None:
        codes = np.searchsorted(self.classes_, y)
        self._counts = getattr(self, "_counts", 0) + np.bincount(codes, minlength=len(self.classes_))

    def _constant(self, k: int) -> Array:
        """Return the decision of the majority, for a model in which no kernel has weight."""
        share = self._counts / self._counts.sum()
        if k == share.size:
            return np.asarray(share - share.mean())
        return np.array([share[1] - share[0]]) if k == 1 and share.size == 2 else np.zeros(k)

    # -- deciding -----------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> Array:
        """Compute the decision on each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The decisions: for two classes one number, positive for ``classes_[1]``; else one for each class.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import UFOMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["cold", "cold", "warm", "warm"]
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> model = UFOMKLClassifier(kernels, random_state=0).fit(X, y)
        >>> model.decision_function(X) > 0
        array([False, False,  True,  True])
        """
        check_is_fitted(self)
        return self._single(self._model.decide(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.

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
        >>> from manykernels import UFOMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["cold", "cold", "warm", "warm"]
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> model = UFOMKLClassifier(kernels, random_state=0).fit(X, y)
        >>> model.predict([[0.5], [5.5]]).tolist()
        ['cold', 'warm']
        """
        check_is_fitted(self)
        assert self._state is not None
        found = decoded(self._state.loss, self._model.decide(X), len(self.classes_))
        return np.asarray(self.classes_[found])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Predict the probabilities of the classes; only with the logistic loss.

        They are the logistic function of the decision, or the softmax of several.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import UFOMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["cold", "cold", "warm", "warm"]
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> model = UFOMKLClassifier(kernels, loss="logistic", random_state=0).fit(X, y)
        >>> (model.predict_proba(X)[:, 1] > 0.5).tolist()
        [False, False, True, True]
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the probabilities; only with the logistic loss.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithms of the probabilities, in the order of ``classes_``.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import UFOMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["cold", "cold", "warm", "warm"]
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> model = UFOMKLClassifier(kernels, loss="logistic", random_state=0).fit(X, y)
        >>> model.predict_log_proba(X).argmax(axis=1).tolist()
        [0, 0, 1, 1]
        """
        check_is_fitted(self)
        f = self._model.decide(X)
        if f.shape[1] == 1:
            return np.column_stack([log_expit(-f[:, 0]), log_expit(f[:, 0])])
        return np.asarray(log_softmax(f, axis=1))

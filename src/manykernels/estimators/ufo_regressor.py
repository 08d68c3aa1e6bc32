"""UFO-MKL for numbers: kernels and machine learned online, one sample at a time (Orabona and Jie 2011)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..fitting.targets import Numbers, read_numbers
from ..losses import StructuredLoss, resolve_loss
from ..losses.structured import PerScore
from ._dask import MatchedScore
from ._online import BaseUFO

Array = NDArray[np.float64]


class UFOMKLRegressor(MatchedScore, RegressorMixin, BaseUFO):
    """Online regression with a learned, sparse combination of kernels.

    The estimator minimises

        ½ λ ‖w‖²_{2,p} + α Σ_j ‖w^j‖ + (1/N) Σ_i ℓ(y_i, f(x_i)),      f(x) = Σ_j ⟨w^j, φ^j(x)⟩,

    where p is the conjugate of q = 2 log F for F kernels, by one stochastic step for each sample (Orabona and
    Jie 2011, Alg. 1). Several outputs share the weights. ``partial_fit`` learns from a stream.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from; a family must be one that can be listed. Widths of "auto" come from the
        first data seen. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train, n_kernels).
    loss : {"squared", "epsilon_insensitive", "pinball", "huber"} or Loss, default="squared"
        The loss of one sample. "squared" is kernel ridge regression, "epsilon_insensitive" a support vector
        machine. "huber" is robust against outliers, and "pinball" learns a quantile, by default the median.
        Objects such as ``Pinball(0.9)`` of ``manykernels.losses`` have parameters.
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
        Whether a constant kernel 1 is added, regularised like the others. The mean of the targets in the
        first data seen is then subtracted from all targets.
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
    UFOMKLClassifier : Learns classes in place of numbers.
    MKLRegressor : Learns from all samples at once, with a certificate.

    Notes
    -----
    The squared loss has no bound on its slope, so that the first steps of Alg. 1 would have the size 1/λ. The
    regulariser therefore counts some more steps than were taken, as many as keep the steps stable.

    References
    ----------
    - Orabona and Jie (2011), Ultra-fast optimization algorithm for sparse multi kernel learning, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import UFOMKLRegressor
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X = np.random.RandomState(0).randn(200, 2)
    >>> y = X[:, 0] - 2 * X[:, 1]
    >>> model = UFOMKLRegressor([Linear(), Gaussian(1.0), Gaussian(4.0)], random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.t_
    2000
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        loss: Any = "squared",
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

    _shape: tuple[int, ...]
    _offset: Array

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Make one step for each of these samples, in their order.

        The first call resolves ``kernels``, normalises them and chooses features from the data that it gets.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, of shape (n_samples, n_features). A dict {name: samples × features} holds views,
            which get kernels of their own. With ``kernels="precomputed"`` it is a stack of kernel matrices,
            of shape (n_samples, n_train, n_kernels), or a dict of them by name.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets of the samples.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import UFOMKLRegressor
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X = np.random.RandomState(0).randn(60, 1)
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> model = UFOMKLRegressor(kernels)
        >>> for first in (0, 20, 40):
        ...     part = X[first : first + 20]
        ...     model = model.partial_fit(part, 2.0 * part[:, 0])
        >>> model.t_
        60
        """
        self._asked(y)
        numbers = read_numbers(y)
        if self._going_on() is None:
            self._forget()
            self._learn_targets(numbers)
        return self._stream(X, numbers)

    # -- what the base asks -----------------------------------------------------------------------
    def _read_y(self, y: Any) -> NDArray[Any]:
        return read_numbers(y)

    def _learn_targets(self, y: NDArray[Any]) -> None:
        shape = y.shape[1:]
        if self._going_on() is not None:
            if shape != self._shape:
                raise ValueError(f"y has outputs of shape {shape}; the model was started with {self._shape}.")
            return
        self._shape = shape
        self._offset = y.mean(axis=0).reshape(-1) if self.fit_intercept else np.zeros(max(1, *shape, 1))

    def _structured_loss(self) -> StructuredLoss:
        return PerScore(resolve_loss(self.loss, "regression"), self._offset.size)

    def _outputs(self, loss: StructuredLoss) -> int:
        return self._offset.size

    def _encode(self, y: NDArray[Any], loss: StructuredLoss) -> Array:
        if y.shape[1:] != self._shape:
            raise ValueError(
                f"y has outputs of shape {y.shape[1:]}; the model was started with {self._shape}."
            )
        return np.asarray(y.reshape(len(y), -1) - self._offset)

    def _constant(self, outputs: int) -> Array:
        return np.zeros(outputs)

    def _shift(self) -> Array:
        return self._offset

    def _target(self) -> Numbers:
        return Numbers(flat=not self._shape, outputs=self._offset.size)

    def predict(self, X: Any) -> Array:
        """Predict the target of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.

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
        >>> from manykernels import UFOMKLRegressor
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X = np.linspace(-1.0, 1.0, 50).reshape(-1, 1)
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> model = UFOMKLRegressor(kernels, random_state=0).fit(X, 2.0 * X[:, 0])
        >>> low, high = model.predict([[-1.0], [1.0]])
        >>> bool(low < -1.0), bool(high > 1.0)
        (True, True)
        """
        check_is_fitted(self)
        return self._single(self._model.decide(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

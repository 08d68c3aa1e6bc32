"""UFO-MKL: kernels and machine learned online, one sample at a time (002)."""

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
from ..losses.structured import PerScore
from ._dask import MatchedScore
from ._online import BaseUFO
from .ufo_regressor import UFOMKLRegressor

__all__ = ["UFOMKLClassifier", "UFOMKLRegressor"]

Array = NDArray[np.float64]


def _has_probabilities(model: Any) -> bool:
    if model.loss == "logistic" or getattr(model.loss, "probabilistic", False):
        return True
    raise AttributeError(
        f"probabilities need loss='logistic', and loss={model.loss!r}; or calibrate: "
        "sklearn.calibration.CalibratedClassifierCV(model)."
    )


class UFOMKLClassifier(MatchedScore, ClassifierMixin, BaseUFO):
    """Online classification with a learned, sparse combination of kernels.

    Minimises ½ λ ‖w‖²_{2,p} + α Σ_j ‖w^j‖ + (1/N) Σ_i ℓ(y_i, f(x_i)) with f(x) = Σ_j ⟨w^j, φ^j(x)⟩, p the
    conjugate of q = 2 log F for F kernels, by one stochastic step a sample (002 Alg. 1). Several classes are
    learned together, with one set of kernels.

    Parameters
    ----------
    kernels : "auto", list, dict name -> kernel, family of listed kernels, kernel or "precomputed"
        What there is to choose from; widths of "auto" come from the first data seen.
    loss : "hinge", "logistic", "multiclass_hinge", Loss or StructuredLoss
        "hinge" and "logistic" mean their multiclass forms for more than two classes.
    lam : float
        λ, the strength of the p-norm; 1/(C N) in terms of a cost C of errors on N samples.
    alpha : float
        α ≥ 0: kernels whose ‖θ^j‖ stays below α a step get exactly no weight.
    epochs : int
        Passes of ``fit`` over the data.
    average : bool
        Predict with the mean of all iterates instead of the last one. Each kernel then has coefficients of
        its own, and a kernel has no part in it only if it never had any.
    shuffle : bool
        A new random order for every pass of ``fit``; ``partial_fit`` takes samples as they come.
    normalize : "max", "trace", "cosine", "frobenius" or None
        "max": the largest k(x, x) of the first data seen is 1, which the bound assumes.
    approx : None, RandomFeatures, Nystroem, OwnFeatures or "features"
        None keeps kernel expansions, exact, whose cost grows with the samples. With explicit features the
        cost of a step does not grow; "features" takes the finite maps that kernels have themselves.
    fit_intercept : bool
        Add the constant kernel 1, regularised like the others.
    memory_limit : int, str such as "2GB" or None
    warm_start : bool
        ``fit`` goes on from the state of the last fit.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads of compiled passes; None is all.
    verbose : int
        1 shows a bar over the passes, 2 also a line per pass.

    Attributes
    ----------
    kernels_, kernel_names_, active_, kernel_, X_fit_, dual_coef_, intercept_ : as for MKLClassifier:
        decision_function(X) == kernel_(X, X_fit_) @ dual_coef_ + intercept_. With ``average=True``
        ``dual_coef_`` has the kernels on a first axis.
    weights_ : (n_kernels,), w^j = weights_[j] θ^j, with exact zeros.
    features_, feature_coef_ : with ``approx``, in place of ``dual_coef_`` and ``X_fit_``:
        decision_function(X) == features_.transform(X) @ feature_coef_ + intercept_.
    t_ : steps taken.
    objective_, dual_gap_, certified_ : after ``fit``, the objective on the training data, its relative
        distance from a lower bound on the minimum, and whether there is such a bound. NaN and False after
        ``partial_fit``, which does not see all data; ``objective(X, y)`` measures on any.
    bound_ : e L² (1 + log T) log F / (λ T), what 002 Theorem 2 promises of the expected excess at an iterate
        drawn at random, for samples drawn with replacement; divide it by δ for a probability of 1 − δ. inf
        for losses of unbounded slope.
    history_ : after ``fit``, seconds, dual bound and active kernels at the end of each pass.
    classes_ : labels.
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
        """One step for each of these samples, in their order.

        The first call resolves ``kernels``, normalises them and chooses features from the data it gets, and
        must name all ``classes`` that there will be.
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
        """The majority's, where no kernel has any weight and there is one score a class."""
        share = self._counts / self._counts.sum()
        if k == share.size:
            return np.asarray(share - share.mean())
        return np.array([share[1] - share[0]]) if k == 1 and share.size == 2 else np.zeros(k)

    # -- deciding -----------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> Array:
        """(n_samples,), positive for ``classes_[1]``; (n_samples, n_classes) for more than two classes."""
        check_is_fitted(self)
        return self._single(self._model.decide(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each sample."""
        check_is_fitted(self)
        assert self._state is not None
        return np.asarray(self.classes_[self._state.loss.decode(self._model.decide(X))])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """(n_samples, n_classes): the logistic function of the decision, or softmax of several."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of ``predict_proba``."""
        check_is_fitted(self)
        f = self._model.decide(X)
        if f.shape[1] == 1:
            return np.column_stack([log_expit(-f[:, 0]), log_expit(f[:, 0])])
        return np.asarray(log_softmax(f, axis=1))

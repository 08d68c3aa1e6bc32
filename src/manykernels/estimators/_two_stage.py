"""The first stage of two-stage learning: weigh the kernels by their alignment with the target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from .._warn import warn
from ..approx import Features
from ..families import Family
from ..grams import Gram, build_from_stack, build_gram
from ..kernels import Kernel, Mixture
from ..measures import target_factor
from ..objectives import Alignment
from ..weightings import Weighting, resolve_weighting
from ..weightings.base import Weighted
from ._approx_data import read_features
from ._approx_fit import forget
from ._approx_lazy import in_memory, read_new_rows
from ._data import is_lazy, read_new, read_training, require_finite
from ._explain import Array, LearnedKernel
from ._fit import build_dictionary, require_definite
from ._progress import watched_pass
from ._rows import Rows
from ._spec import may_be_indefinite
from ._stack import check_training_stack
from ._targets import as_target, check_length, require_target
from ._two_stage_family import learn_over_family
from ._two_stage_features import align_features, alignment_of_new, roots

_TASKS = ("classification", "regression")
_SAMPLES_A_CLASS = 4  # with fewer, whole numbers may well be quantities; two values are the same as either


class TwoStage(LearnedKernel):
    """Learns a combination of kernels by its alignment with the target; see the estimators for parameters."""

    weighting: Any
    center: bool
    normalize: Any
    target: str
    memory_limit: Any
    approx: Any
    random_state: Any
    verbose: int

    features_: Features  # with approx, in place of X_fit_
    alignment_: float
    alignment_bound_: float | None
    kkt_residual_: float | None
    unique_: bool

    def _read_target(self, y: Any) -> NDArray[Any]:
        """y as an array; what it may be is looked at where its kernel is made."""
        return as_target(y)

    def _learn(self, X: Any, y: Any, work: int) -> tuple[NDArray[Any], Gram]:
        """Fit the kernel; y as it was read, and the Gram of the kernels."""
        forget(self, ("features_", "_features_found", "_root"))
        weighting = resolve_weighting(self.weighting)
        require_target(self, y)
        X, kind = read_training(self, X) if self.approx is None else read_features(self, X)
        (y,) = in_memory(y)
        n, y = _num_samples(X), self._read_target(y)
        check_length(n, y)
        self._task = self._which_task(y)
        Y = target_factor(y, self._task)
        self._kind, self._n_layers = kind, X.shape[2] if kind == "stack" else 0
        names_in = getattr(self, "feature_names_in_", None) if kind == "array" else None
        if isinstance(self.kernels, Family) and not self.kernels.listed:
            return y, self._learn_over_family(X, Y, names_in, weighting)
        if self.approx is not None:
            return y, self._learn_features(X, Y, names_in, weighting)
        everyone = Rows(np.arange(n), np.arange(n), np.ones(n), np.ones(n))
        pairs = weighting.pairs
        dictionary = build_dictionary(self, X, kind, everyone, np.ones(n), names_in, work, pairs=pairs)
        alignment = Alignment(dictionary.gram, Y)
        with watched_pass(self, dictionary.gram):
            found = weighting.weigh(alignment)
        if may_be_indefinite(self.kernels) and np.all(found.theta >= 0):
            require_definite(dictionary, found.theta)
        self.kernels_, self.kernel_names_ = dictionary.kernels, dictionary.names
        self._store(X, found.theta, alignment.value(found.theta))
        self._judge(found)
        return y, dictionary.gram

    def _learn_features(self, X: Any, Y: Array, names_in: Any, weighting: Weighting) -> Gram:
        """With explicit features, from sums over the samples, which are then forgotten."""
        aligned = align_features(self, X, self._kind, Y, names_in)
        found = weighting.weigh(aligned.alignment)
        self._root = roots(aligned.features, found.theta, aligned.reduced.constants.scale)
        self.features_, self._features_found = aligned.features, aligned
        self.kernels_, self.kernel_names_ = aligned.fitted_kernels(self.normalize), aligned.chosen.names
        self._store(X, found.theta, aligned.alignment.value(found.theta))
        del self.X_fit_, self._support
        self._judge(found)
        return aligned.alignment.gram

    def _judge(self, found: Weighted) -> None:
        """How good the weights are, as far as the weighting tells."""
        self.alignment_bound_ = None if found.bound is None else max(found.bound, self.alignment_)
        self.kkt_residual_, self.unique_ = found.residual, found.unique
        if not found.unique:
            warn(
                "some kernels are linear combinations of others, so that several sets of weights give the "
                "same learned kernel: do not read a meaning into single weights. Leave such kernels out (see "
                "manykernels.measures.kernel_similarity), or take weighting='align'.",
                UserWarning,
            )

    def _map(self, X: Any) -> Array:
        """(n_samples, features): z(x), with ⟨z(x), z(x')⟩ the learned kernel."""
        X = read_new(self, X, self._kind)
        used = self._root > 0.0
        with threads(self.n_jobs):
            Z = np.asarray(self.features_.transform(X)[:, used] * self._root[used])
        return require_finite(Z, "features")

    def _learn_over_family(self, X: Any, Y: Array, names_in: Any, weighting: Weighting) -> Gram:
        found = learn_over_family(self, X, Y, names_in, weighting)
        self.kernels_, self.kernel_names_ = found.kernels, found.names
        self._store(X, found.theta, found.alignment)
        self.alignment_bound_, self.kkt_residual_, self.unique_ = None, None, True
        return found.gram

    def _store(self, X: Any, theta: Array, alignment: float) -> None:
        self.weights_, self.active_ = theta, np.flatnonzero(theta)
        self.kernel_ = Mixture([self.kernels_[m] for m in self.active_], theta[self.active_])
        self.alignment_ = alignment
        self.X_fit_ = np.arange(len(X)) if self._kind == "stack" else X
        self._support = self.X_fit_

    def _which_task(self, y: NDArray[Any]) -> str:
        """What the target is, settled at fit so that new data are read in the same way."""
        if self.target != "auto":
            return self.target
        with np.errstate(invalid="ignore"):  # it casts to int, which large numbers do not survive
            found = type_of_target(y, input_name="y")
        if found not in ("binary", "multiclass"):
            return _TASKS[1]
        classes = len(np.unique(y))
        if len(y) < classes * _SAMPLES_A_CLASS and classes > 2 and y.dtype.kind in "iuf":
            warn(
                f"y holds {classes} different whole numbers in {len(y)} samples, and target='auto' reads "
                "them as classes. If y is a quantity, give target='regression'; else 'classification'.",
                UserWarning,
            )
        return _TASKS[0]

    def score_alignment(self, X: Any, y: Any) -> float:
        """The centred alignment of the learned kernel with the target on other data.

        Compare it with ``alignment_``: a first stage that fits its training data too closely shows as a large
        drop (000 §6.2.2). Where the model was fitted on a stack, X holds the kernels of the new samples among
        themselves, of shape (n_samples, n_samples, n_kernels).
        """
        check_is_fitted(self)
        require_target(self, y)
        used = self.active_
        with threads(self.n_jobs):
            if "features_" in self.__dict__:
                X = (read_new_rows if is_lazy(X) else read_new)(self, X, self._kind)
                y = as_target(*in_memory(y))
                check_length(_num_samples(X), y)
                scale = np.array([kernel.scale_ for kernel in self.kernels_])
                Y = target_factor(y, self._task)
                return alignment_of_new(self.features_, scale, X, Y, self.weights_)
            gram = self._gram_of_new(X)
            y = as_target(y)
            check_length(gram.n, y)
            return Alignment(gram, target_factor(y, self._task)).value(self.weights_[used])

    def _gram_of_new(self, X: Any) -> Gram:
        """The active kernels on new samples, without the centring of training, since alignment centres."""
        names = [self.kernel_names_[m] for m in self.active_]
        options: dict[str, Any] = {
            "center": False,
            "normalize": None,
            "sample_weight": None,
            "memory_limit": self.memory_limit,
            "work": 0,
        }
        scale = np.array([self.kernels_[m].scale_ for m in self.active_])
        X = self._read_square(X) if self._kind == "stack" else read_new(self, X, self._kind)
        if self._kind == "stack" and isinstance(self.kernels, str):
            gram, _ = build_from_stack(X[:, :, self.active_], names=names, **options)
        else:
            kernels: list[Kernel] = [self.kernels_[m].kernel for m in self.active_]
            factors = isinstance(self.kernels, Family) and self.kernels.factors
            if factors:
                X = self._features(X)
            elif self.normalize == "cosine":  # not linear in the kernel
                kernels = [self.kernels_[m] for m in self.active_]
            gram, _ = build_gram(dict(zip(names, kernels, strict=True)), X, factors=factors, **options)
        gram.scale = scale  # of one for "cosine"
        return gram

    def _features(self, X: Any) -> Any:
        """The columns of X that are an active kernel of rank one each: their signs where that is x/|x|."""
        X = X[:, self.active_]
        if self.normalize != "cosine":
            return X
        if self.center:
            X = (X.toarray() if sparse.issparse(X) else X) - np.ravel(self.X_fit_.mean(axis=0))[self.active_]
        return X.sign() if sparse.issparse(X) else np.sign(X)

    def _read_square(self, X: Any) -> NDArray[Any]:
        shape = np.shape(X)
        if len(shape) != 3 or shape[0] != shape[1] or shape[2] != self._n_layers:
            raise ValueError(
                f"X of shape {shape} was given; expected the kernels of the new samples among themselves, of "
                f"shape (n_samples, n_samples, {self._n_layers})."
            )
        return check_training_stack(X, self.kernels)

    def _against_training(self, X: Any) -> Array:
        """(n_samples, n_train): the learned kernel between new samples and the training samples."""
        check_is_fitted(self)
        X = read_new(self, X, self._kind)
        K = np.empty((_num_samples(X), _num_samples(self._support)))
        with threads(self.n_jobs):
            for rows, part in self._blocks(X, len(K)):
                K[rows] = self.kernel_(part, self._support)
        return require_finite(K, "learned kernel")

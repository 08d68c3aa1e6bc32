"""Base class of the two-stage estimators: the first stage, and the learned kernel on new samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ..approx import Features, resolve_approx
from ..families import Family
from ..fitting.aligning import Aligned, FeatureMap, align, alignment_in_features
from ..fitting.functions import blocks
from ..fitting.layout import is_lazy, require_finite
from ..fitting.lazy import in_memory, pose_known, pose_new
from ..fitting.matching import matched
from ..fitting.options import Options
from ..fitting.rows import Rows
from ..fitting.samples import MERGED, AnySamples, Given, read
from ..fitting.stacks import check_training_stack
from ..fitting.targets import Similarity, as_target, check_length, require_target
from ..grams import Gram, build_from_stack, build_gram
from ..kernels import Kernel
from ..objectives import Alignment
from ..weightings import resolve_weighting
from ._explain import Array, LearnedKernel
from ._params import check_two_stage

_SHARED = "center normalize memory_limit random_state n_jobs verbose".split()


class TwoStage(LearnedKernel):
    """Base class of the two-stage estimators, which document the parameters."""

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
    _map: FeatureMap | None
    _beside: Any = None  # covariates of the samples that were learned from
    _samples: Rows  # which given samples were learned from, and how much each counts

    def _target(self) -> Similarity:
        """Return the kind of target that y may hold."""
        return Similarity(self.target)

    def _options(self) -> Options:
        given = self._given()
        check_two_stage(given)
        self._check_types()
        shared = {name: given[name] for name in _SHARED}
        approx = resolve_approx(self.approx)
        covariates = given.get("covariates")
        return Options(
            type(self).__name__, kernels=self.kernels, approx=approx, covariates=covariates, **shared
        )

    def _learn(
        self,
        X: Any,
        y: Any,
        work: int,
        sample_weight: Any = None,
        merged: bool = False,
        covariates: Any = None,
    ) -> tuple[NDArray[Any], Aligned]:
        """Learn the kernel; return y as it was read, and the result of the first stage.

        Equal samples are `merged` where the second stage can count them. Covariates stay in `_beside`, for
        the second stage.
        """
        options, weighting = self._options(), resolve_weighting(self.weighting)
        require_target(options.title, y)
        samples: AnySamples
        if options.approx is not None and is_lazy(X):
            samples, y = pose_known(options, X, y, sample_weight, self._target())
        else:
            given = read(options, X, y, sample_weight, self._target(), covariates=covariates)
            features = options.approx is not None  # whose landmarks are drawn in an order of their own
            few = MERGED if features else np.inf
            samples = given.samples(few if merged and options.listed else 0, in_order=not features)
            y, self._samples = given.y, samples.rows
            self._beside = given.new_beside(samples.rows.first)
        found = align(options, samples, weighting, self.weighting, work)
        self._publish(found.model)
        self._map = found.map
        if found.model.X_fit is not None:
            self.X_fit_ = found.model.X_fit
        return y, found

    def score_alignment(self, X: Any, y: Any) -> float:
        """Compute the centred alignment of the learned kernel with the target on other data.

        Compare it with ``alignment_``: a first stage that fits its training data too closely shows as a large
        drop (Afkanpour 2013, §6.2.2).

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples. If the model was fitted on a stack, the kernels of these samples among themselves, of
            shape (n_samples, n_samples, n_kernels).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets of the samples.

        Returns
        -------
        float
            The alignment, at most 1.

        Examples
        --------
        The kernel of the first column is perfectly aligned with that column, on new samples too:

        >>> import numpy as np
        >>> from manykernels import KernelAligner
        >>> from manykernels.kernels import Linear, OnColumns
        >>> X = np.random.RandomState(0).randn(30, 2)
        >>> model = KernelAligner(OnColumns(Linear(), [0])).fit(X[:20], X[:20, 0])
        >>> round(model.score_alignment(X[20:], X[20:, 0]), 3)
        1.0
        >>> model.score_alignment(X[20:], X[20:, 1]) < 0.5
        True
        """
        check_is_fitted(self)
        if self._beside is not None:
            raise ValueError(
                "score_alignment was asked of a model with covariates: kernels are aligned with the part "
                "of the target that covariates do not explain, which is not known for other "
                "samples. Read alignment_, or score predictions."
            )
        require_target(type(self).__name__, y)
        X = matched(X, y, quiet=True)
        target, layout = self._model.target, self._model.layout
        assert target is not None
        with threads(self.n_jobs):
            if self._map is not None:
                if is_lazy(X):
                    samples = pose_new(layout, X, y, target)
                else:
                    read_X, y = layout.read(X), as_target(*in_memory(y))
                    check_length(_num_samples(read_X), y)
                    samples = Given(read_X, layout, y, None, target).known()
                scale = np.array([kernel.scale_ for kernel in self.kernels_])
                return alignment_in_features(self._map.features, scale, samples, self.weights_)
            gram = self._gram_of_new(X)
            y = as_target(y)
            check_length(gram.n, y)
            Y = target.encode(y, np.ones(len(y)))[0]
            return Alignment(gram, Y).value(self.weights_[self.active_])

    def _gram_of_new(self, X: Any) -> Gram:
        """Evaluate the active kernels on new samples, not centred, since the alignment centres them."""
        names = [self.kernel_names_[m] for m in self.active_]
        options: dict[str, Any] = {
            "center": False,
            "normalize": None,
            "sample_weight": None,
            "memory_limit": self.memory_limit,
            "work": 0,
            "spread": self._model.target is not None and self._model.target.task == "classification",
        }
        scale = np.array([self.kernels_[m].scale_ for m in self.active_])
        layout = self._model.layout
        X = self._read_square(layout.joined(X), layout.n_layers) if layout.kind == "stack" else layout.read(X)
        if layout.kind == "stack" and isinstance(self.kernels, str):
            gram, _ = build_from_stack(X[:, :, self.active_], names=names, **options)
        else:
            kernels: list[Kernel] = [self.kernels_[m].kernel for m in self.active_]
            factors = isinstance(self.kernels, Family) and self.kernels.factors
            if factors:
                X = self._columns(X)
            elif self.normalize == "cosine":  # not linear in the kernel
                kernels = [self.kernels_[m] for m in self.active_]
            gram, _ = build_gram(dict(zip(names, kernels, strict=True)), X, factors=factors, **options)
        gram.scale = scale  # of one for "cosine"
        return gram

    def _columns(self, X: Any) -> Any:
        """Return the columns of X that are active kernels of rank one; their signs for normalize="cosine"."""
        X = X[:, self.active_]
        if self.normalize != "cosine":
            return X
        if self.center:
            X = (X.toarray() if sparse.issparse(X) else X) - np.ravel(self.X_fit_.mean(axis=0))[self.active_]
        return X.sign() if sparse.issparse(X) else np.sign(X)

    def _read_square(self, X: Any, layers: int) -> NDArray[Any]:
        shape = np.shape(X)
        if len(shape) != 3 or shape[0] != shape[1] or shape[2] != layers:
            raise ValueError(
                f"X of shape {shape} was given; expected the kernels of the new samples among themselves, of "
                f"shape (n_samples, n_samples, {layers})."
            )
        return check_training_stack(X, self.kernels)

    def _new(self, X: Any) -> Array:
        """Compute what the learner sees of new samples: the kernel with the training samples, or features."""
        model = self._model
        if self._map is not None:
            return self._map(model.layout, X, self.n_jobs)
        X = model.layout.read(X)
        # a stack has columns for all samples that were given, also for those that count nothing
        kept = self._samples.first if model.layout.kind == "stack" else slice(None)
        K = np.empty((_num_samples(X), self._samples.first.size))
        with threads(self.n_jobs):
            for rows, part in blocks(X, model.X_fit):
                K[rows] = self.kernel_(part, model.X_fit)[:, kept]
        return require_finite(K, "learned kernel")

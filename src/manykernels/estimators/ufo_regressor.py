"""UFO-MKL for numbers: kernels and machine learned online, one sample at a time (002)."""

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
    """Online regression with a learned, sparse combination of kernels; several outputs share its weights.

    Parameters and attributes are those of :class:`~manykernels.UFOMKLClassifier`, except that ``loss`` is
    "squared", "epsilon_insensitive", "pinball", "huber" or a regression loss. With ``fit_intercept``
    targets are taken from their mean in the first data seen. The squared loss has no bound on its slope, and
    Alg. 1 would take first steps of size 1/λ: the regulariser counts some steps more than were taken, as many
    as keep steps stable.
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
        """One step for each of these samples, in their order; the first call settles kernels and features."""
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
        """(n_samples,), or (n_samples, n_outputs) where y had two dimensions."""
        check_is_fitted(self)
        return self._single(self._model.decide(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
